//! [`plain_call`] makes a function call as the parser does. Must not know which functions exist.

use grammar::tree::{Argument, Call, Expr, Ident, Name};

/// `name(argument)`, without any other clause of a call.
pub fn plain_call(name: Ident, argument: Expr) -> Call {
    let span = name.span;
    Call {
        name: Name { parts: vec![name], span },
        arguments: vec![Argument { name: None, value: argument }],
        variadic: false,
        star: false,
        distinct: false,
        order_by: Vec::new(),
        within_group: Vec::new(),
        filter: None,
        over: None,
    }
}
