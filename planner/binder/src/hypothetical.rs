//! Hypothetical-set aggregates: the rank that a row would have among the others. They are expressed by counting.

use super::binder::Binder;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, Operator, lit};
use functions::{AggregateCall, CastContext, TypedExpr, balanced, record};
use sql_error::{Result, SqlError, state};
use types::SqlType;

/// Whether an aggregate is a hypothetical-set aggregate.
pub fn is_hypothetical(name: &str) -> bool {
    matches!(name, "rank" | "dense_rank" | "percent_rank" | "cume_dist")
}

impl Binder<'_> {
    /// Binds `name(values) WITHIN GROUP (ORDER BY keys)`. Errors: 42883 if the numbers of values and keys differ,
    /// 42804.
    pub fn hypothetical(
        &self,
        name: &str,
        values: Vec<TypedExpr>,
        keys: Vec<(TypedExpr, Sort)>,
        filter: Option<Expr>,
    ) -> Result<TypedExpr> {
        if values.len() != keys.len() {
            let all: Vec<TypedExpr> = values.iter().cloned().chain(keys.iter().map(|(key, _)| key.clone())).collect();
            let (given, wanted) = (values.len(), keys.len());
            return Err(self.resolver.no_function(name, &all).hint(format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {given}) must match the number of ordering columns (here {wanted})."
            )));
        }
        let (mut before, mut equal) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        for (value, (key, sort)) in values.into_iter().zip(keys) {
            let ty = self.resolver.common_type("WITHIN GROUP", &[key.ty, value.ty])?;
            let (key, value) = (self.coerce(key, ty)?, self.coerce(value, ty)?);
            let value = TypedExpr { expr: asked(value.expr), ty };
            let symbol = if sort.asc { "<" } else { ">" };
            let less = self.resolver.operator(symbol, Some(key.clone()), value.clone())?.expr;
            let (key_null, value_null) = (key.expr.clone().is_null(), value.expr.clone().is_null());
            let by_null = if sort.nulls_first {
                key_null.and(Expr::Not(Box::new(value_null)))
            } else {
                value_null.and(Expr::Not(Box::new(key_null)))
            };
            before.push(functions::coalesce(vec![less, lit(false)]).or(by_null));
            equal.push(self.resolver.operator("IS NOT DISTINCT FROM", Some(key.clone()), value)?.expr);
            row.push((String::new(), key));
        }
        // The first key decides unless it is equal.
        let all_equal = balanced(equal.clone(), Operator::And);
        let mut stands_before: Option<Expr> = None;
        for (before, equal) in before.into_iter().zip(equal).rev() {
            stands_before = Some(match stands_before {
                None => before,
                Some(rest) => before.or(equal.and(rest)),
            });
        }
        let Some(stands_before) = stands_before else {
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, format!("function {name}() does not exist")));
        };
        let count = |of: Option<Expr>, distinct: Option<TypedExpr>| {
            let filter = match (of, filter.clone()) {
                (Some(of), Some(filter)) => Some(of.and(filter)),
                (of, filter) => of.or(filter),
            };
            let call = AggregateCall {
                distinct: distinct.is_some(),
                args: distinct.into_iter().collect(),
                filter,
                order_by: Vec::new(),
            };
            self.resolver.aggregate("count", call)
        };
        let plus_one = |number: TypedExpr| self.resolver.operator("+", Some(number), self.number("1")?);
        let float = |number: TypedExpr| self.resolver.cast(number, SqlType::FLOAT8, CastContext::Explicit);
        match name {
            "rank" => plus_one(count(Some(stands_before), None)?),
            "dense_rank" => {
                let keys = record::row(row);
                plus_one(count(Some(stands_before), Some(keys))?)
            }
            "percent_rank" => {
                let (before, all) = (float(count(Some(stands_before), None)?)?, float(count(None, None)?)?);
                let zero = float(self.number("0")?)?;
                let share = self.resolver.operator(
                    "/",
                    Some(before),
                    TypedExpr { expr: nonzero(&all)?, ty: SqlType::FLOAT8 },
                )?;
                let expr = functions::coalesce(vec![share.expr, zero.expr]);
                Ok(TypedExpr { expr, ty: SqlType::FLOAT8 })
            }
            _ => {
                let upto = count(Some(stands_before.or(all_equal)), None)?;
                let (upto, all) = (float(plus_one(upto)?)?, float(plus_one(count(None, None)?)?)?);
                self.resolver.operator("/", Some(upto), all)
            }
        }
    }
}

/// Name of the alias that marks a direct argument.
const ASKED: &str = "\0asked about";

/// A marked direct argument, as it stands in the call until the rows are grouped. It has one value per group.
fn asked(value: Expr) -> Expr {
    // An expression without columns is the same for all rows.
    match value.column_refs().is_empty() {
        true => value,
        false => value.alias(ASKED),
    }
}

/// The direct arguments of a call.
pub fn asked_about(call: &Expr) -> Result<Vec<Expr>> {
    let mut found = Vec::new();
    call.apply(|part| {
        if let Expr::Alias(alias) = part
            && alias.name == ASKED
        {
            found.push(alias.expr.as_ref().clone());
            return Ok(TreeNodeRecursion::Jump);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Converts a call's direct arguments to values of the group. `keys` are pairs of a key's expression and its value.
pub fn of_group(call: Expr, keys: &[(Expr, Expr)]) -> Result<Expr> {
    let replaced = call.transform_down(|part| match part {
        Expr::Alias(alias) if alias.name == ASKED => {
            let value = super::select::replace(*alias.expr, keys)?;
            Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(replaced.data)
}

/// The number, or NULL for 0.
fn nonzero(number: &TypedExpr) -> Result<Expr> {
    use datafusion::logical_expr::when;
    Ok(when(number.expr.clone().not_eq(lit(0.0f64)), number.expr.clone()).end()?)
}
