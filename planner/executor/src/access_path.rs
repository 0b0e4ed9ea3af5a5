//! [`AccessPath`]: the index that serves a scan's filters, chosen by their conditions on key columns.
//!
//! The preference is: point of the primary key, points of the primary key, points of a unique index, longest prefix of
//! equalities, range, full scan. In an analyzed table, paths other than points are compared by the number of rows they
//! read. Choices are made while planning, so nothing is read here.

use super::bounds::{Equality, KeyBounds};
use super::condition::{Condition, Test, conditions};
use super::key_range::Limit;
use super::value::Value;
use crate::statistics::selectivity::selectivity_of;
use catalog::encoding::KeyColumn;
use catalog::{ColumnId, IndexDescriptor, IndexState, TableDescriptor};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use sql_error::Result;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a scan finds a table's rows.
#[derive(Debug)]
pub struct AccessPath {
    /// Position in the table's `indexes` of the index to read. `None` for the rows of a table without primary key.
    pub index: Option<usize>,
    /// The bounds of the keys to read.
    pub bounds: KeyBounds,
    /// Positions of the filters that the bounds do not decide. They must be applied to the rows.
    pub remaining: Vec<usize>,
    /// Columns that have one value in all rows read.
    pub constants: Vec<ColumnId>,
    /// The share of the table's rows within the bounds, 0 to 1. `None` without statistics.
    pub share: Option<f64>,
    /// Conditions on columns that no index could use. A join may use them if it fixes the preceding columns of an
    /// index.
    pub unused: Vec<(ColumnId, Saying)>,
}

/// A filter's condition on a column, in a form that can bound a key.
#[derive(Clone, Debug)]
pub enum Saying {
    /// The column equals this value.
    Is(Value),
    /// The column is on one side of this limit.
    Within(Limit),
}

/// The columns that an index entry holds: key columns, INCLUDE columns, and the primary key's columns.
pub fn covered_columns(table: &TableDescriptor, index: &IndexDescriptor) -> BTreeSet<ColumnId> {
    let primary = table.primary_key().into_iter().flat_map(|key| key.columns.iter().map(|column| column.column));
    index.columns.iter().map(|column| column.column).chain(index.include.iter().copied()).chain(primary).collect()
}

/// The key columns of an index, with their names.
pub fn key_columns(table: &TableDescriptor, index: &IndexDescriptor) -> Vec<(String, KeyColumn)> {
    index
        .parts()
        .filter_map(|(key, expression)| {
            let (name, ty) = match expression {
                Some(expression) => (expression.text.clone(), expression.ty),
                None => table.column(key.column).map(|column| (column.name.clone(), column.ty))?,
            };
            Some((name, KeyColumn { ty, descending: key.descending, nulls_first: key.nulls_first, in_memory: false }))
        })
        .collect()
}

/// Looking up a row costs about as much as reading this many rows in order.
const LOOKUP: f64 = 4.0;
/// From this many rows on, indexes are compared by statistics. A smaller table may have grown since ANALYZE.
const COMPARED_FROM: f64 = 1000.0;
/// From this many rows on, a full scan may be chosen although an index has bounds.
const SCANNED_FROM: f64 = 10_000.0;

/// The filters of a scan that one index can use.
struct Candidate<'a> {
    index: Option<usize>,
    equalities: Vec<(usize, &'a Condition)>,
    limits: Vec<(usize, &'a Condition)>,
    score: (u8, usize, usize, bool, bool),
    /// The share of the table's rows within its bounds. `None` without statistics.
    share: Option<f64>,
}

impl Candidate<'_> {
    fn is_bounded(&self) -> bool {
        !self.equalities.is_empty() || !self.limits.is_empty()
    }

    /// Whether it finds at most one row by a whole key, or one row for each of several values.
    fn finds_by_key(&self) -> bool {
        self.score.0 >= 3
    }

    /// The cost of reading the rows, in rows read in order.
    fn cost(&self, rows: f64) -> f64 {
        let covering = self.score.3;
        rows * self.share.unwrap_or(1.0) * if covering { 1.0 } else { LOOKUP }
    }
}

/// Chooses the path for `filters` (a conjunction) of a scan. `needed` are all columns of the scan, including the
/// filters'. `physical` converts an expression without columns to a physical one.
pub fn choose(
    table: &TableDescriptor,
    filters: &[Expr],
    needed: &BTreeSet<ColumnId>,
    needs_key: bool,
    physical: &dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>,
) -> Result<AccessPath> {
    let found: Vec<Option<Vec<Condition>>> = filters.iter().map(|filter| conditions(filter, table)).collect();
    let flat: Vec<(usize, &Condition)> = found
        .iter()
        .enumerate()
        .flat_map(|(filter, conditions)| conditions.iter().flatten().map(move |condition| (filter, condition)))
        .collect();
    let mut candidates: Vec<Candidate> = table
        .indexes
        .iter()
        .enumerate()
        .filter(|(_, index)| index.primary || index.state == IndexState::Public)
        .map(|(position, index)| candidate(table, position, index, &flat, needed, needs_key))
        // A full read of an index pays only for its order, which is decided elsewhere.
        .filter(Candidate::is_bounded)
        .collect();
    // The best candidate comes last.
    candidates.sort_by_key(|candidate| candidate.score);
    let rows = table.statistics.as_ref().map(|known| known.rows).filter(|rows| *rows >= COMPARED_FROM);
    let by_cost = rows.filter(|_| !candidates.last().is_some_and(Candidate::finds_by_key));
    let best = match by_cost {
        None => candidates.pop(),
        Some(rows) => {
            let best = candidates.into_iter().rev().min_by(|one, other| one.cost(rows).total_cmp(&other.cost(rows)));
            best.filter(|best| rows < SCANNED_FROM || best.cost(rows) < rows)
        }
    };
    let primary = table.indexes.iter().position(|index| index.primary);
    let (index, equalities, limits, share) = match best {
        Some(best) => (best.index, best.equalities, best.limits, best.share),
        None => (primary, vec![], vec![], table.statistics.as_ref().map(|_| 1.0)),
    };
    let path = build(table, index, &equalities, &limits, &found, physical)?;
    Ok(AccessPath { share, ..path })
}

fn candidate<'a>(
    table: &TableDescriptor,
    position: usize,
    index: &IndexDescriptor,
    conditions: &[(usize, &'a Condition)],
    needed: &BTreeSet<ColumnId>,
    needs_key: bool,
) -> Candidate<'a> {
    let mut equalities = Vec::new();
    let mut limits = Vec::new();
    let mut single = true;
    for key in &index.columns {
        let of_column = || conditions.iter().filter(|(_, condition)| condition.column == key.column);
        let rank = |test: &Test| match test {
            Test::Equal(_) | Test::IsNull => 2,
            Test::OneOf(_) | Test::AnyOf(_) => 1,
            _ => 0,
        };
        match of_column().filter(|(_, c)| rank(&c.test) > 0).max_by_key(|(_, c)| rank(&c.test)) {
            Some((filter, condition)) => {
                single &= rank(&condition.test) == 2;
                equalities.push((*filter, *condition));
            }
            None => {
                limits.extend(of_column().copied());
                break;
            }
        }
    }
    let nulls = equalities.iter().any(|(_, condition)| condition.test == Test::IsNull);
    let points = !index.columns.is_empty() && equalities.len() == index.columns.len() && !nulls;
    let covering = index.primary || (!needs_key && covered_columns(table, index).is_superset(needed));
    let class = match (points, index.primary, index.unique) {
        (true, true, _) if single => 5,
        (true, false, true) if single => 4,
        (true, true, _) => 4,
        (true, false, true) => 3,
        _ if !equalities.is_empty() => 2,
        _ if !limits.is_empty() => 1,
        _ => 0,
    };
    let score = (class, equalities.len(), limits.len().min(2), covering, index.primary);
    let share = match class {
        // A unique key finds one row, whatever the statistics of each column say.
        4.. if single => table.statistics.as_ref().map(|known| 1.0 / known.rows.max(1.0)),
        _ => selectivity_of(table, equalities.iter().chain(&limits).map(|(_, condition)| *condition)),
    };
    Candidate { index: Some(position), equalities, limits, score, share }
}

fn build(
    table: &TableDescriptor,
    index: Option<usize>,
    equalities: &[(usize, &Condition)],
    limits: &[(usize, &Condition)],
    found: &[Option<Vec<Condition>>],
    physical: &dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>,
) -> Result<AccessPath> {
    let descriptor = index.and_then(|index| table.indexes.get(index));
    let (storage_id, columns) = match descriptor {
        Some(index) => (index.storage_id, key_columns(table, index)),
        None => (table.storage_id, vec![]),
    };
    let value = |expression: &Expr, condition: &Condition| {
        let target = table.column(condition.column).map(|column| column.ty.arrow());
        Value::new(
            expression,
            target.unwrap_or(datafusion::arrow::datatypes::DataType::Null),
            condition.conversion,
            physical,
        )
    };
    let fixed = equalities
        .iter()
        .map(|(_, condition)| {
            Ok(match &condition.test {
                Test::Equal(expression) => Equality::Value(value(expression, condition)?),
                Test::OneOf(expressions) => Equality::OneOf(
                    expressions.iter().map(|expression| value(expression, condition)).collect::<Result<_>>()?,
                ),
                Test::AnyOf(expression) => Equality::AnyOf(value(expression, condition)?),
                _ => Equality::Null,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let limit = |condition: &Condition| -> Result<Option<Limit>> {
        let (bound, lower, inclusive) = match &condition.test {
            Test::Above { value, inclusive } => (value, true, *inclusive),
            Test::Below { value, inclusive } => (value, false, *inclusive),
            _ => return Ok(None),
        };
        Ok(Some(Limit { value: value(bound, condition)?, lower, inclusive }))
    };
    let ranged = limits.iter().filter_map(|(_, condition)| limit(condition).transpose()).collect::<Result<Vec<_>>>()?;
    let says = |condition: &Condition| -> Result<Option<(ColumnId, Saying)>> {
        let saying = match &condition.test {
            Test::Equal(expression) => Some(Saying::Is(value(expression, condition)?)),
            _ => limit(condition)?.map(Saying::Within),
        };
        Ok(saying.map(|saying| (condition.column, saying)))
    };
    let unused = match equalities.is_empty() && limits.is_empty() {
        true => found.iter().flatten().flatten().filter_map(|condition| says(condition).transpose()).collect(),
        false => Ok(vec![]),
    };
    // A filter is decided if all of its conditions became bounds.
    let used: Vec<*const Condition> =
        equalities.iter().chain(limits).map(|(_, condition)| std::ptr::from_ref(*condition)).collect();
    let remaining = found
        .iter()
        .enumerate()
        .filter(|(_, conditions)| match conditions {
            Some(conditions) => !conditions.iter().all(|condition| used.contains(&std::ptr::from_ref(condition))),
            None => true,
        })
        .map(|(position, _)| position)
        .collect();
    let constants = equalities
        .iter()
        .filter(|(_, condition)| matches!(condition.test, Test::Equal(_) | Test::IsNull))
        .map(|(_, condition)| condition.column)
        .collect();
    let bounds = KeyBounds::new(storage_id, columns, fixed, ranged);
    Ok(AccessPath { index, bounds, remaining, constants, share: None, unused: unused? })
}
