//! Assignments to elements and slices of array columns: `SET a[1] = x`.

use super::assignment::is_default;
use super::binder::Binder;
use super::expression::Env;
use crate::catalog::ColumnDescriptor;
use crate::error::{Result, SqlError, state};
use crate::functions::array_element::{with_element, with_slice};
use crate::functions::jsonb_with_part;
use crate::functions::{CastContext, TypedExpr};
use crate::parse::ELEMENT;
use crate::types::{BaseType, SqlType};
use sqlparser::ast::{self, AccessExpr, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned, Subscript};

/// What is assigned to which element.
pub struct ElementValue<'v> {
    value: &'v ast::Expr,
    chain: &'v [AccessExpr],
}

/// The parts of a value as the parser leaves them for an element: `function(value, column[…])`.
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

impl Binder<'_> {
    /// A column's array with what is assigned to an element of it. `array`: as the assignments before leave it.
    pub fn assign_element(
        &self,
        array: TypedExpr,
        column: &ColumnDescriptor,
        assigned: &ElementValue<'_>,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if !column.ty.array && column.ty.base == BaseType::Jsonb {
            let subscripts: Vec<&Subscript> = assigned
                .chain
                .iter()
                .map(|access| match access {
                    AccessExpr::Subscript(subscript) => Ok(subscript),
                    AccessExpr::Dot(_) => Err(SqlError::unsupported("a field of a row")),
                })
                .collect::<Result<_>>()?;
            let (steps, of_array) = self.jsonb_subscripts(&subscripts, env)?;
            let typed = self.expr(assigned.value, env)?;
            let value = self.resolver.cast(typed, SqlType::JSONB, CastContext::Assignment)?;
            return Ok(jsonb_with_part(array, steps, value, of_array));
        }
        if !column.ty.array {
            let message =
                format!("cannot subscript type {} because it does not support subscripting", column.ty.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        if is_default(assigned.value) {
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT"));
        }
        let [AccessExpr::Subscript(subscript)] = assigned.chain else {
            return Err(SqlError::unsupported("an array of several dimensions"));
        };
        let place = |index: &ast::Expr| -> Result<TypedExpr> {
            let typed = self.expr(index, env)?;
            if !typed.is_unknown() && !typed.ty.is_number() {
                return Err(SqlError::new(state::DATATYPE_MISMATCH, "array subscript must have type integer"));
            }
            self.resolver.cast(typed, SqlType::INT4, CastContext::Assignment)
        };
        let value = |ty: SqlType| -> Result<TypedExpr> {
            let typed = self.expr(assigned.value, env)?;
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
                self.at(error, assigned.value.span())
            })
        };
        match subscript {
            Subscript::Index { index } => {
                let place = place(index)?;
                Ok(with_element(array, place, value(column.ty.element())?))
            }
            Subscript::Slice { lower_bound: Some(from), upper_bound: Some(to), stride: None } => {
                let (from, to) = (place(from)?, place(to)?);
                Ok(with_slice(array, from, to, value(column.ty)?))
            }
            Subscript::Slice { .. } => Err(SqlError::unsupported("assignment to a slice without both bounds")),
        }
    }
}
