//! Splits a function call in FROM into its name and arguments, as written.

use super::binder::span_of;
use super::clauses::check_alias;
use super::column_name::column_name;
use super::from::TableFunction;
use super::view_function::as_view;
use sql_error::{Result, SqlError};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, TableFactor};
use sqlparser::tokenizer::Span;
use syntax::{VALUE_IN_FROM, VARIADIC, fold, fold_name};

/// Positional arguments, then named ones.
pub type TableArguments<'t> = (Vec<&'t ast::Expr>, Vec<(String, &'t ast::Expr)>);

/// Splits arguments into positional and named ones. Errors: 42601, 0A000.
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

/// The function that an item of FROM calls. `None` for other items.
pub fn table_function(factor: &TableFactor) -> Result<Option<TableFunction<'_>>> {
    if as_view(factor).is_some() {
        return Ok(None);
    }
    let ((schema, name), place, (args, named), alias, ordinality) = match factor {
        TableFactor::Table {
            name,
            alias,
            args: Some(ast::TableFunctionArgs { args, settings: None }),
            with_hints,
            version: None,
            with_ordinality,
            partitions,
            json_path: None,
            sample: None,
            index_hints,
        } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
            (fold_name(name)?, span_of(name), table_arguments(args)?, alias, *with_ordinality)
        }
        TableFactor::Function { lateral: _, name, args, with_ordinality, alias } => {
            (fold_name(name)?, span_of(name), table_arguments(args)?, alias, *with_ordinality)
        }
        TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_offset_alias: None, with_ordinality } => (
            (None, "unnest".to_string()),
            Span::empty(),
            (array_exprs.iter().collect(), Vec::new()),
            alias,
            *with_ordinality,
        ),
        _ => return Ok(None),
    };
    let mut named_as = (schema, name);
    if let (VALUE_IN_FROM, [value]) = (named_as.1.as_str(), args.as_slice()) {
        // The name that the expression would have in a select list.
        named_as = (Some(VALUE_IN_FROM.to_string()), column_name(value));
    }
    let (schema, name) = named_as;
    let alias = alias.as_ref();
    check_alias(alias)?;
    Ok(Some(TableFunction { schema, name, args, named, place, alias, ordinality, outer: false }))
}
