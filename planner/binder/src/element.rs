//! Assignments to elements and slices of array columns: `SET a[1] = x`.

use super::assignment::is_default;
use super::binder::Binder;
use super::expression::Env;
use catalog::ColumnDescriptor;
use functions::array_element::{Subscripts, replaced};
use functions::jsonb_with_part;
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, AccessExpr, FunctionArg, FunctionArgExpr, FunctionArguments, Subscript};
use sqlparser::tokenizer::Span;
use syntax::{ELEMENT, parse_expression};
use types::{BaseType, SqlType};

/// An assignment to an element or slice.
pub struct ElementValue<'v> {
    value: &'v ast::Expr,
    chain: &'v [AccessExpr],
}

/// Splits a value that the parser encodes as `function(value, column[…])` for an element.
pub fn element_value(value: &ast::Expr) -> Option<ElementValue<'_>> {
    let ast::Expr::Function(function) = value else { return None };
    let [ast::ObjectNamePart::Identifier(ident)] = function.name.0.as_slice() else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    if ident.quote_style.is_some() || ident.value != ELEMENT {
        return None;
    }
    match list.args.as_slice() {
        [
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::CompoundFieldAccess { root: _, access_chain })),
        ] => Some(ElementValue { value, chain: access_chain }),
        _ => None,
    }
}

/// Splits an element target of INSERT, as the parser encodes it, into its column and the subscripts.
pub fn element_target(name: &ast::ObjectName) -> Result<Option<(ast::Ident, Vec<AccessExpr>)>> {
    let [ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice() else { return Ok(None) };
    let Some(written) = ident.value.strip_prefix(ELEMENT) else { return Ok(None) };
    match parse_expression(written)?.0 {
        ast::Expr::CompoundFieldAccess { root, access_chain } => match *root {
            ast::Expr::Identifier(column) => Ok(Some((column, access_chain))),
            other => Err(SqlError::syntax(format!("syntax error at or near \"{other}\""))),
        },
        other => Err(SqlError::syntax(format!("syntax error at or near \"{other}\""))),
    }
}

impl Binder<'_> {
    /// The column's array after an assignment to an element. `array` is its value after previous assignments. `target`
    /// is the span of the column's name.
    pub fn assign_element(
        &self,
        array: TypedExpr,
        column: &ColumnDescriptor,
        assigned: &ElementValue<'_>,
        target: Span,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if is_default(assigned.value) && column.ty.array {
            let error = SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT");
            return Err(self.at(error, target));
        }
        let typed = self.expr(assigned.value, env)?;
        let assigned = self.with_part(array, column, assigned.chain, (typed, target), env);
        assigned.map_err(|error| self.at(error, target))
    }

    /// Like [`Binder::assign_element`], for a bound value, and with the span of the column's name.
    pub fn with_part(
        &self,
        array: TypedExpr,
        column: &ColumnDescriptor,
        chain: &[AccessExpr],
        (typed, span): (TypedExpr, Span),
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if !column.ty.array && column.ty.base == BaseType::Jsonb {
            let subscripts: Vec<&Subscript> = chain
                .iter()
                .map(|access| match access {
                    AccessExpr::Subscript(subscript) => Ok(subscript),
                    AccessExpr::Dot(_) => Err(SqlError::unsupported("a field of a row")),
                })
                .collect::<Result<_>>()?;
            let (steps, of_array) = self.jsonb_subscripts(&subscripts, env)?;
            let value = self.resolver.cast(typed, SqlType::JSONB, CastContext::Assignment)?;
            return Ok(jsonb_with_part(array, steps, value, of_array));
        }
        if !column.ty.array {
            let message =
                format!("cannot subscript type {} because it does not support subscripting", column.ty.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        let subscripts: Vec<&Subscript> = chain
            .iter()
            .map(|access| match access {
                AccessExpr::Subscript(subscript) => Ok(subscript),
                AccessExpr::Dot(_) => Err(SqlError::unsupported("a field of an element")),
            })
            .collect::<Result<_>>()?;
        let subscripts = self.array_subscripts(&subscripts, env)?;
        let value = move |ty: SqlType| -> Result<TypedExpr> {
            let from = typed.ty;
            self.resolver.cast(typed, ty, CastContext::Assignment).map_err(|error| {
                if error.state() != state::CANNOT_COERCE && error.state() != state::DATATYPE_MISMATCH {
                    return error;
                }
                let message = format!(
                    "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
                    column.name,
                    ty.name(),
                    from.name()
                );
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.");
                self.at(error, span)
            })
        };
        let sliced = subscripts.iter().any(|subscript| matches!(subscript, Subscripts::Part(..)));
        let value = value(if sliced { column.ty } else { column.ty.element() })?;
        Ok(replaced(array, subscripts, value))
    }
}
