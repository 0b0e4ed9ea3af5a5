//! [`selectivity`]: which share of a table's rows filters leave, by what ANALYZE found out.
//!
//! Columns are taken to be independent of each other (the manual's chapter 76.1 tells how PostgreSQL estimates; what is not known here
//! either is guessed as there). A value that is only known when the statement runs counts as an average one.

use crate::catalog::{ColumnId, ColumnStatistics, Constant, TableDescriptor};
use crate::encoding::{KeyColumn, KeyEncoder};
use crate::execution::condition::{Condition, Test, conditions};
use crate::execution::value::{Fitted, fit};
use crate::functions::one_of;
use crate::types::SqlType;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use std::collections::BTreeMap;

/// Share of rows on one side of a value that is not known.
const ONE_SIDE: f64 = 1.0 / 3.0;
/// Share of rows between two values that are not known.
const BETWEEN: f64 = 0.005;
/// Share of rows that match a pattern.
const PATTERN: f64 = 0.005;
/// Share of rows of which some condition is true that says nothing about their number.
const SOME: f64 = 1.0 / 3.0;
/// Elements of an array that is not known.
const ELEMENTS: f64 = 10.0;

/// The share of rows that are left by filters (a conjunction, columns unqualified), 0 to 1. `None`: nothing is known of the table.
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

/// The same of conditions that all must hold.
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

/// The rows of a table that filters leave; at least one. `None`: nothing is known of the table.
pub fn rows_left(table: &TableDescriptor, filters: &[Expr]) -> Option<f64> {
    let rows = table.statistics.as_ref()?.rows;
    Some((rows * selectivity(table, filters)?).max(1.0))
}

fn known(table: &TableDescriptor, column: ColumnId) -> Option<(&ColumnStatistics, f64)> {
    let statistics = table.statistics.as_deref()?;
    let ty = table.column(column)?.ty;
    Some((statistics.column(column, ty)?, statistics.rows))
}

/// What is said of the two ends of a column's values.
#[derive(Default)]
struct Sides {
    /// The share of values below the least one, where that is known.
    below: Option<Option<f64>>,
    /// The share of values above the greatest one.
    above: Option<Option<f64>>,
}

impl Sides {
    fn note(&mut self, table: &TableDescriptor, condition: &Condition) {
        let share = |value: &Expr, with_equal: bool| {
            let (known, _) = known(table, condition.column)?;
            known.share_below(&constant(table, condition, value)?, with_equal)
        };
        // Of several limits on one side the last that is known counts.
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
        // Never nothing: the ends of the histogram are those of a sample.
        share.clamp(1e-9, 1.0) * present
    }
}

/// A constant in the column's type, as it lies in an ascending key; `None` when it is not known before the statement runs.
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

/// The share of rows of which any expression is true.
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
        Expr::Not(inner) => match one_of::parts(inner) {
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

/// How many different values a column of a table has; `None` when that is not known.
pub fn distinct_values(table: &TableDescriptor, column: ColumnId, ty: SqlType) -> Option<f64> {
    let statistics = table.statistics.as_deref()?;
    Some(statistics.column(column, ty)?.distinct_among(statistics.rows))
}

#[cfg(test)]
mod tests;
