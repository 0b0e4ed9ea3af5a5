//! [`selectivity`]: estimates the share of a table's rows that filters keep, by ANALYZE's statistics.
//!
//! Columns are assumed to be independent. Without statistics, the guesses are PostgreSQL's (manual, 76.1). A value that
//! is known only at run time counts as an average one.

use crate::condition::{Condition, Test, conditions};
use crate::value::{Fitted, fit};
use catalog::encoding::{KeyColumn, KeyEncoder};
use catalog::{ColumnId, ColumnStatistics, Constant, TableDescriptor};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use functions::in_list;
use std::collections::BTreeMap;
use types::SqlType;

/// Estimated share of rows on one side of an unknown value.
const ONE_SIDE: f64 = 1.0 / 3.0;
/// Estimated share of rows between two unknown values.
const BETWEEN: f64 = 0.005;
/// Estimated share of rows that match a pattern.
const PATTERN: f64 = 0.005;
/// Estimated share of rows for a condition without a better estimate.
const SOME: f64 = 1.0 / 3.0;
/// Estimated number of elements of an unknown array.
const ELEMENTS: f64 = 10.0;

/// The share of rows that filters keep (a conjunction, with unqualified columns), 0 to 1. `None` without statistics.
pub fn selectivity(table: &TableDescriptor, filters: &[Expr]) -> Option<f64> {
    let mut all = Vec::new();
    let mut left = 1.0;
    for filter in filters {
        match conditions(filter, table) {
            Some(conditions) => all.extend(conditions),
            None => left *= of_expression(table, filter),
        }
    }
    Some((left * selectivity_of(table, all.iter())?).clamp(0.0, 1.0))
}

/// The share of rows that satisfy all conditions. `None` without statistics.
pub fn selectivity_of<'a>(table: &TableDescriptor, all: impl Iterator<Item = &'a Condition>) -> Option<f64> {
    table.statistics.as_ref()?;
    let mut sides: BTreeMap<ColumnId, Sides> = BTreeMap::new();
    let mut left = 1.0;
    for condition in all {
        match &condition.test {
            Test::Above { .. } | Test::Below { .. } => {
                sides.entry(condition.column).or_default().note(table, condition)
            }
            _ => left *= of_condition(table, condition),
        }
    }
    let between = |(column, sides): (&ColumnId, &Sides)| sides.share(known(table, *column).map(|(known, _)| known));
    Some((left * sides.iter().map(between).product::<f64>()).clamp(0.0, 1.0))
}

/// The number of rows that filters keep, at least one. `None` without statistics.
pub fn rows_left(table: &TableDescriptor, filters: &[Expr]) -> Option<f64> {
    let rows = table.statistics.as_ref()?.rows;
    Some((rows * selectivity(table, filters)?).max(1.0))
}

fn known(table: &TableDescriptor, column: ColumnId) -> Option<(&ColumnStatistics, f64)> {
    let statistics = table.statistics.as_deref()?;
    let ty = table.column(column)?.ty;
    Some((statistics.column(column, ty)?, statistics.rows))
}

/// The bounds on a column's values.
#[derive(Default)]
struct Sides {
    /// The share of values below the lower bound, if that is known.
    below: Option<Option<f64>>,
    /// The share of values above the upper bound, if that is known.
    above: Option<Option<f64>>,
}

impl Sides {
    fn note(&mut self, table: &TableDescriptor, condition: &Condition) {
        let share = |value: &Expr, with_equal: bool| {
            let (known, _) = known(table, condition.column)?;
            known.share_below(&constant(table, condition, value)?, with_equal)
        };
        // Of several bounds on one side, the last known one counts.
        match &condition.test {
            Test::Above { value, inclusive } => {
                let outside = share(value, !inclusive);
                self.below = Some(outside.or(self.below.flatten()));
            }
            Test::Below { value, inclusive } => {
                let inside = share(value, *inclusive);
                self.above = Some(inside.map(|share| 1.0 - share).or(self.above.flatten()));
            }
            _ => {}
        }
    }

    fn share(&self, known: Option<&ColumnStatistics>) -> f64 {
        let present = known.map_or(1.0, |known| 1.0 - known.null_fraction);
        let share = match (self.below, self.above) {
            (None, None) => 1.0,
            (Some(None), Some(None)) => BETWEEN,
            (Some(outside), None) | (None, Some(outside)) => outside.map_or(ONE_SIDE, |outside| 1.0 - outside),
            (Some(below), Some(above)) => {
                let one = |outside: Option<f64>| outside.unwrap_or(1.0 - ONE_SIDE);
                1.0 - one(below) - one(above)
            }
        };
        // Never zero: the histogram's ends are those of a sample.
        share.clamp(1e-9, 1.0) * present
    }
}

/// A constant in the column's type, encoded as an ascending key. `None` if it is known only at run time.
fn constant(table: &TableDescriptor, condition: &Condition, value: &Expr) -> Option<Constant> {
    let Expr::Literal(value, _) = value else { return None };
    let ty = table.column(condition.column)?.ty;
    match fit(value.clone(), &ty.arrow(), condition.conversion).ok()? {
        Fitted::Is(value) if value.is_null() => Some(Constant::Null),
        Fitted::Is(value) => {
            let mut key = Vec::new();
            KeyEncoder::new(vec![KeyColumn::ascending(ty)]).encode_datums(&[value], &mut key).ok()?;
            Some(Constant::Key(key))
        }
        Fitted::Below => Some(Constant::Below),
        Fitted::Above => Some(Constant::Above),
    }
}

fn of_condition(table: &TableDescriptor, condition: &Condition) -> f64 {
    let Some((known, rows)) = known(table, condition.column) else {
        return match condition.test {
            Test::Equal(_) | Test::OneOf(_) | Test::AnyOf(_) | Test::IsNull => PATTERN,
            _ => ONE_SIDE,
        };
    };
    let equal = |value: &Expr| match constant(table, condition, value) {
        Some(value) => known.share_equal(&value, rows),
        None => known.share_equal_unknown(rows),
    };
    let share = match &condition.test {
        Test::Equal(value) => equal(value),
        Test::OneOf(values) => values.iter().map(equal).sum(),
        Test::AnyOf(_) => ELEMENTS * known.share_equal_unknown(rows),
        Test::IsNull => known.null_fraction,
        Test::Above { .. } | Test::Below { .. } => ONE_SIDE,
    };
    share.clamp(0.0, 1.0)
}

/// The share of rows for which an expression is true.
fn of_expression(table: &TableDescriptor, expression: &Expr) -> f64 {
    let of = |expression: &Expr| selectivity(table, std::slice::from_ref(expression)).unwrap_or(SOME);
    let present = |expression: &Expr| {
        let Expr::Column(column) = expression else { return 1.0 };
        let id = table.column_named(&column.name).map(|column| column.id);
        id.and_then(|id| known(table, id)).map_or(1.0, |(known, _)| 1.0 - known.null_fraction)
    };
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => of(left) * of(right),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let (left, right) = (of(left), of(right));
            left + right - left * right
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::NotEq, right }) => {
            let equal = Expr::BinaryExpr(BinaryExpr { left: left.clone(), op: Operator::Eq, right: right.clone() });
            (present(left).min(present(right)) - of(&equal)).clamp(0.0, 1.0)
        }
        Expr::Not(inner) => match in_list::parts(inner) {
            Some((value, _)) => (present(value) - of(inner)).clamp(0.0, 1.0),
            None => 1.0 - of(inner),
        },
        Expr::IsNotNull(inner) => present(inner),
        Expr::InList(list) if list.negated => {
            let mut listed = list.clone();
            listed.negated = false;
            (present(&list.expr) - of(&Expr::InList(listed))).clamp(0.0, 1.0)
        }
        Expr::Like(like) => {
            if like.negated {
                1.0 - PATTERN
            } else {
                PATTERN
            }
        }
        Expr::Literal(value, _) => match value {
            datafusion::scalar::ScalarValue::Boolean(Some(true)) => 1.0,
            _ => 0.0,
        },
        _ => SOME,
    }
}

/// Number of distinct values of a table's column. `None` if unknown.
pub fn distinct_values(table: &TableDescriptor, column: ColumnId, ty: SqlType) -> Option<f64> {
    let statistics = table.statistics.as_deref()?;
    Some(statistics.column(column, ty)?.distinct_among(statistics.rows))
}

#[cfg(test)]
mod tests;
