//! The arguments of a function in FROM, as they were written. Must not know the function.

use crate::error::{Result, SqlError};
use crate::parse::{VARIADIC, fold};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr};

/// Arguments given by place, and behind them those given by name.
pub type TableArguments<'t> = (Vec<&'t ast::Expr>, Vec<(String, &'t ast::Expr)>);

/// Takes them apart. Errors: 42601, 0A000.
pub fn table_arguments(args: &[FunctionArg]) -> Result<TableArguments<'_>> {
    let (mut placed, mut named): TableArguments<'_> = (Vec::new(), Vec::new());
    for arg in args {
        match arg {
            FunctionArg::Unnamed(_) if !named.is_empty() => {
                return Err(SqlError::syntax("positional argument cannot follow named argument"));
            }
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => placed.push(expr),
            FunctionArg::ExprNamed { name: ast::Expr::Identifier(name), arg: FunctionArgExpr::Expr(expr), .. }
            | FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. }
                if name.value != VARIADIC || name.quote_style.is_some() =>
            {
                let name = fold(name);
                if named.iter().any(|(known, _)| *known == name) {
                    return Err(SqlError::syntax(format!("argument name \"{name}\" used more than once")));
                }
                named.push((name, expr));
            }
            other => return Err(SqlError::unsupported(format!("the argument {other}"))),
        }
    }
    Ok((placed, named))
}
