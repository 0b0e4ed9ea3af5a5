//! [`selectivity`]: which share of a table's rows filters leave, by what ANALYZE found out.
//!
//! Columns are taken to be independent of each other (the manual's chapter 76.1 tells how PostgreSQL estimates; what is not known here
//! either is guessed as there). A value that is only known when the statement runs counts as an average one.

use crate::catalog::{ColumnId, ColumnStatistics, StoredValue, TableDescriptor};
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

/// A value to compare with.
enum Constant {
    Key(Vec<u8>),
    /// Below all values of the type.
    Below,
    /// Above all of them.
    Above,
    Null,
}

impl ColumnStatistics {
    /// The share of all rows that have this value.
    fn share_equal(&self, value: &Constant, rows: f64) -> f64 {
        let Constant::Key(key) = value else { return 0.0 };
        if let Some((_, share)) = self.common.iter().find(|(common, _)| common.key == *key) {
            return *share;
        }
        // What is not common is at most as common as the least common of those that are.
        let rest = (1.0 - self.null_fraction - self.common_share()).max(0.0);
        let others = self.distinct_among(rows) - self.common.len() as f64;
        let least = self.common.last().map_or(1.0, |(_, share)| *share);
        if others < 1.0 { rest.min(1.0 / rows.max(1.0)) } else { (rest / others).min(least) }
    }

    /// The share of all rows that have an average value.
    fn share_equal_unknown(&self, rows: f64) -> f64 {
        let average = (1.0 - self.null_fraction) / self.distinct_among(rows);
        self.common.first().map_or(average, |(_, most)| average.min(*most))
    }

    fn common_share(&self) -> f64 {
        self.common.iter().map(|(_, share)| share).sum()
    }

    /// The share of values, those that are NULL aside, below this one, or equal to it.
    fn share_below(&self, value: &Constant, with_equal: bool) -> Option<f64> {
        let key = match value {
            Constant::Key(key) => key,
            Constant::Below => return Some(0.0),
            Constant::Above => return Some(1.0),
            Constant::Null => return None,
        };
        if self.common.is_empty() && self.histogram.len() < 2 {
            return None;
        }
        let inside = |common: &StoredValue| common.key < *key || (with_equal && common.key == *key);
        let common: f64 = self.common.iter().filter(|(common, _)| inside(common)).map(|(_, share)| share).sum();
        let present = (1.0 - self.null_fraction).max(f64::MIN_POSITIVE);
        let others = (present - self.common_share()).max(0.0);
        Some(((common + others * self.place(key)) / present).clamp(0.0, 1.0))
    }

    /// Where in the histogram a value lies, 0 to 1.
    fn place(&self, key: &[u8]) -> f64 {
        let parts = self.histogram.len().saturating_sub(1);
        let after = self.histogram.partition_point(|bound| bound.key.as_slice() < key);
        let (Some(part), Some(high)) = (after.checked_sub(1), self.histogram.get(after)) else {
            return if after == 0 { 0.0 } else { 1.0 };
        };
        let low = self.histogram.get(part).map_or(&[][..], |bound| &bound.key);
        (part as f64 + between(low, key, &high.key)) / parts.max(1) as f64
    }
}

/// How far `key` is on the way from `low` to `high`, which are in this order: by the bytes behind what all begin with.
fn between(low: &[u8], key: &[u8], high: &[u8]) -> f64 {
    let same = low.iter().zip(high).take_while(|(low, high)| low == high).count();
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .skip(same)
            .copied()
            .chain(std::iter::repeat(0))
            .take(8)
            .fold(0.0, |number, byte| number * 256.0 + f64::from(byte))
    };
    let (low, key, high) = (number(low), number(key), number(high));
    if high > low { ((key - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
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
