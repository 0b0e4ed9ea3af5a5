//! [`Order`]: the order in which expressions over the same rows are evaluated.

use super::short_circuit_bool::has_effects;
use super::value::as_slot;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::concat;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use sql_error::value_size::repeated;
use std::sync::Arc;

/// The evaluation order of expressions over the same rows. Expressions with side effects (`nextval`) follow those that
/// can only fail. So a failing statement has no side effects, as in PostgreSQL, which evaluates constants first. If one
/// expression's sequence call affects another's, these are evaluated row by row.
#[derive(Clone, Debug)]
pub struct Order {
    places: Option<Arc<[usize]>>,
    by_row: Option<Arc<[usize]>>,
    /// Whether an expression has side effects, so that it must be evaluated only once.
    effects: bool,
    /// One-row arrays of short constants, by position of their expression.
    constants: Arc<[Option<ArrayRef>]>,
}

/// Longer constants are not cached: plans live long, and such constants are rare.
const KEPT_BYTES: usize = 512;

/// The one-row array of an expression that is a short constant.
fn constant(expression: &Arc<dyn PhysicalExpr>) -> Option<ArrayRef> {
    let value = expression.downcast_ref::<Literal>()?.value();
    (value.size() <= KEPT_BYTES).then(|| value.to_array().ok()).flatten()
}

impl Order {
    /// Determines the order for some expressions.
    pub fn of(expressions: &[Arc<dyn PhysicalExpr>]) -> Order {
        let volatile: Vec<bool> = expressions.iter().map(has_effects).collect();
        let by_row = row_wise(expressions).map(Into::into);
        let constants = expressions.iter().map(constant).collect();
        let effects = volatile.contains(&true);
        if volatile.is_sorted() {
            return Order { places: None, by_row, effects, constants };
        }
        let mut places: Vec<usize> = (0..expressions.len()).collect();
        places.sort_by_key(|at| volatile.get(*at));
        Order { places: Some(places.into()), by_row, effects, constants }
    }

    /// Whether the expressions may be evaluated again for the same rows.
    pub fn is_repeatable(&self) -> bool {
        !self.effects
    }

    /// The one-row value of a constant or parameter, which most expressions of INSERT and UPDATE are. DataFusion would
    /// make a value, check it and convert it to an array each time.
    fn of_one_row(&self, at: usize, expression: &Arc<dyn PhysicalExpr>) -> Option<Result<ArrayRef>> {
        if let Some(constant) = self.constants.get(at)? {
            return Some(Ok(Arc::clone(constant)));
        }
        let slot = as_slot(expression.downcast_ref::<ScalarFunctionExpr>()?.fun())?;
        Some(slot.value().map_err(Into::into).and_then(|value| value.to_array()))
    }

    /// Evaluates the expressions over a batch, in their original positions.
    pub fn evaluate(
        &self,
        expressions: &[Arc<dyn PhysicalExpr>],
        batch: &RecordBatch,
        rows: usize,
    ) -> Result<Vec<ArrayRef>> {
        let value = |(at, expression): (usize, &Arc<dyn PhysicalExpr>)| {
            let ready = if rows == 1 { self.of_one_row(at, expression) } else { None };
            ready.unwrap_or_else(|| Ok(repeated(expression.evaluate(batch)?, rows)?))
        };
        let by_row = self.by_row.as_deref().filter(|_| rows > 1).unwrap_or_default();
        if self.places.is_none() && by_row.is_empty() {
            return expressions.iter().enumerate().map(value).collect();
        }
        let place = |turn: usize| self.places.as_ref().map_or(Some(turn), |places| places.get(turn).copied());
        let mut found: Vec<(usize, ArrayRef)> = Vec::with_capacity(expressions.len());
        for at in (0..expressions.len()).filter_map(place).filter(|at| !by_row.contains(at)) {
            if let Some(expression) = expressions.get(at) {
                found.push((at, value((at, expression))?));
            }
        }
        if !by_row.is_empty() {
            found.extend(one_by_one(expressions, by_row, batch)?);
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, values)| values).collect())
    }
}

/// Evaluates the expressions at `places` row by row.
fn one_by_one(
    expressions: &[Arc<dyn PhysicalExpr>],
    places: &[usize],
    batch: &RecordBatch,
) -> Result<Vec<(usize, ArrayRef)>> {
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::with_capacity(batch.num_rows()); places.len()];
    for row in 0..batch.num_rows() {
        let one = batch.slice(row, 1);
        for (at, parts) in places.iter().zip(&mut parts) {
            if let Some(expression) = expressions.get(*at) {
                parts.push(expression.evaluate(&one)?.into_array(1)?);
            }
        }
    }
    let joined = |(at, parts): (&usize, Vec<ArrayRef>)| {
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok((*at, concat(&parts)?))
    };
    places.iter().zip(parts).map(joined).collect()
}

/// The positions of expressions with sequence calls, if one call changes another's result. They must be evaluated row
/// by row.
fn row_wise(expressions: &[Arc<dyn PhysicalExpr>]) -> Option<Vec<usize>> {
    let (mut calls, mut places): (Vec<(bool, Option<String>)>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, expression) in expressions.iter().enumerate() {
        let before = calls.len();
        // The visitor cannot fail.
        let _ = expression.apply(|part| {
            let call = part.downcast_ref::<ScalarFunctionExpr>();
            let name = call.map_or("", |call| call.fun().name());
            if matches!(name, "nextval" | "setval" | "currval" | "lastval") {
                let sequence = call.and_then(|call| call.args().first()).filter(|argument| argument.is::<Literal>());
                calls.push((matches!(name, "nextval" | "setval"), sequence.map(ToString::to_string)));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        if calls.len() > before {
            places.push(at);
        }
    }
    let meet = |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
    let changes = calls.iter().enumerate().any(|(at, (writes, sequence))| {
        *writes && calls.iter().enumerate().any(|(other, (_, asked))| other != at && meet(sequence, asked))
    });
    changes.then_some(places)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int32Array;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::{Column, lit};
    use types::Datum;

    #[test]
    fn one_row_has_the_values_of_many() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true)]));
        let batch = RecordBatch::try_new(schema, vec![Arc::new(Int32Array::from(vec![7, 8]))]).unwrap();
        let constants = [
            Datum::Int32(Some(5)),
            Datum::Int32(None),
            Datum::Utf8(Some("text".into())),
            Datum::TimestampMicrosecond(None, Some("+00:00".into())),
            Datum::Decimal128(Some(105), 10, 2),
            Datum::Utf8(Some("long".repeat(KEPT_BYTES))),
            Datum::Null,
        ];
        let mut expressions: Vec<Arc<dyn PhysicalExpr>> = constants.into_iter().map(lit).collect();
        expressions.push(Arc::new(Column::new("a", 0)));
        let order = Order::of(&expressions);
        let two = order.evaluate(&expressions, &batch, 2).unwrap();
        for row in 0..2 {
            let one = order.evaluate(&expressions, &batch.slice(row, 1), 1).unwrap();
            assert_eq!(one.len(), expressions.len());
            for (one, two) in one.iter().zip(&two) {
                assert_eq!((two.len(), one), (2, &two.slice(row, 1)));
            }
        }
    }
}
