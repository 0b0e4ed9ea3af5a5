//! [`plain_call`] makes a function call as the parser does. Must not know which functions exist.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
};

/// `name(argument)`, without any other clause of a call.
pub fn plain_call(name: Ident, argument: Expr) -> Function {
    let args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))];
    Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}
