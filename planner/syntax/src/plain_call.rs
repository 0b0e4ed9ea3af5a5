//! [`plain_call`]: a call as the parser would have made it.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
};

/// `name(argument)`, with nothing else that may stand in or behind a call.
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
