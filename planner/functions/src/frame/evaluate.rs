//! Evaluates a function over the frames of a partition.

use super::{Exclude, Framed, Inner, bounds};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array, new_empty_array};
use datafusion::arrow::compute::{filter, take};
use datafusion::arrow::datatypes::{FieldRef, Int64Type, Schema};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::function::{AccumulatorArgs, PartitionEvaluatorArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, PartitionEvaluator};
use datafusion::physical_expr::PhysicalExpr;
use sql_error::{Result, SqlError};
use std::ops::Range;
use std::sync::Arc;

/// Evaluates a [`Framed`] function for whole partitions.
#[derive(Debug)]
pub(super) struct Evaluator {
    of: Framed,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    fields: Vec<FieldRef>,
}

impl Evaluator {
    pub(super) fn new(of: Framed, arguments: &PartitionEvaluatorArgs<'_>) -> Self {
        Evaluator { of, exprs: arguments.input_exprs().to_vec(), fields: arguments.input_fields().to_vec() }
    }

    fn accumulator(&self, function: &AggregateUDF, sliding: bool) -> Result<Box<dyn Accumulator>> {
        let range = self.of.inner_arguments(self.fields.len());
        let fields = self.fields.get(range.clone()).unwrap_or_default();
        let schema = Schema::new(fields.to_vec());
        let arguments = AccumulatorArgs {
            return_field: function.return_field(fields)?,
            schema: &schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: function.name(),
            is_distinct: false,
            exprs: self.exprs.get(range).unwrap_or_default(),
            expr_fields: fields,
        };
        Ok(if sliding { function.create_sliding_accumulator(arguments)? } else { function.accumulator(arguments)? })
    }

    fn aggregated(&self, function: &AggregateUDF, values: &[ArrayRef], frames: &[Range<usize>]) -> Result<ArrayRef> {
        // An aggregate that can remove rows follows the frame. Any other starts again for each row.
        let fresh = || match self.accumulator(function, true) {
            Ok(accumulator) => Ok(accumulator),
            Err(_) => self.accumulator(function, false),
        };
        let mut accumulator = fresh()?;
        let mut current = 0..0;
        let mut results: Vec<ScalarValue> = Vec::with_capacity(frames.len());
        for frame in frames {
            let grows = frame.start == current.start && frame.end >= current.end;
            let slides = accumulator.supports_retract_batch()
                && (current.start..=current.end).contains(&frame.start)
                && frame.end >= current.end;
            if let (true, Some(last)) = (*frame == current, results.last()) {
                results.push(last.clone());
                continue;
            }
            if !grows && !slides {
                accumulator = fresh()?;
                current = frame.start..frame.start;
            }
            if frame.end > current.end {
                accumulator.update_batch(&slices(values, current.end..frame.end))?;
            }
            if frame.start > current.start {
                accumulator.retract_batch(&slices(values, current.start..frame.start))?;
            }
            current = frame.clone();
            results.push(accumulator.evaluate()?);
        }
        if results.is_empty() {
            return Ok(new_empty_array(&self.of.result(&self.fields)?));
        }
        Ok(ScalarValue::iter_to_array(results)?)
    }

    fn over_frames(&self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let mut frames = bounds::frames(self.of.shape, values, rows)?;
        let arguments = values.get(self.of.inner_arguments(values.len())).unwrap_or_default();
        if self.of.shape.exclude != Exclude::NoOthers {
            let peers = bounds::peers(self.of.shape, values, rows)?;
            let pieces = frames
                .into_iter()
                .zip(peers)
                .enumerate()
                .map(|(row, (frame, peers))| bounds::left_of(frame, row, peers, self.of.shape.exclude));
            return self.over_pieces(values, arguments, pieces.collect());
        }
        match &self.of.inner {
            Inner::Aggregate(function) if self.of.filtered => {
                let arguments = pass(values, arguments, &mut frames)?;
                self.aggregated(function, &arguments, &frames)
            }
            Inner::Aggregate(function) => self.aggregated(function, arguments, &frames),
            inner => {
                let value = arguments.first().ok_or_else(|| SqlError::internal("a function lacks its argument"))?;
                let places = frames.iter().enumerate().map(|(row, frame)| {
                    let at = match inner {
                        Inner::Nth => match nth(arguments.get(1), row)? {
                            Some(number) => frame.start.checked_add(number - 1),
                            None => None,
                        },
                        Inner::Last => frame.end.checked_sub(1),
                        _ => Some(frame.start),
                    };
                    Ok(at.filter(|at| frame.contains(at)).and_then(|at| u32::try_from(at).ok()))
                });
                let places: UInt32Array = places.collect::<Result<Vec<Option<u32>>>>()?.into();
                Ok(take(value.as_ref(), &places, None)?)
            }
        }
    }
}

impl Evaluator {
    /// Evaluates an aggregate over the rest of each row's frame after exclusion.
    fn over_pieces(
        &self,
        values: &[ArrayRef],
        arguments: &[ArrayRef],
        mut pieces: Vec<Vec<Range<usize>>>,
    ) -> Result<ArrayRef> {
        if let Inner::Aggregate(function) = &self.of.inner {
            let mut arguments = arguments.to_vec();
            if self.of.filtered {
                arguments = pass(values, &arguments, pieces.iter_mut().flatten())?;
            }
            let mut results: Vec<ScalarValue> = Vec::with_capacity(pieces.len());
            for pieces in pieces {
                let mut accumulator = self.accumulator(function, false)?;
                for piece in pieces.into_iter().filter(|piece| piece.start < piece.end) {
                    accumulator.update_batch(&slices(&arguments, piece))?;
                }
                results.push(accumulator.evaluate()?);
            }
            if results.is_empty() {
                return Ok(new_empty_array(&self.of.result(&self.fields)?));
            }
            return Ok(ScalarValue::iter_to_array(results)?);
        }
        let value = arguments.first().ok_or_else(|| SqlError::internal("a function lacks its argument"))?;
        let places = pieces.into_iter().enumerate().map(|(row, pieces)| {
            let mut rows = pieces.into_iter().flatten();
            let at = match &self.of.inner {
                Inner::Nth => match nth(arguments.get(1), row)? {
                    Some(number) => rows.nth(number - 1),
                    None => None,
                },
                Inner::Last => rows.last(),
                _ => rows.next(),
            };
            Ok(at.and_then(|at| u32::try_from(at).ok()))
        });
        let places: UInt32Array = places.collect::<Result<Vec<Option<u32>>>>()?.into();
        Ok(take(value.as_ref(), &places, None)?)
    }
}

/// The row number of nth_value. Errors: 22016 unless it is positive.
fn nth(numbers: Option<&ArrayRef>, row: usize) -> Result<Option<usize>> {
    let numbers = numbers.and_then(|array| array.as_primitive_opt::<Int64Type>());
    let numbers = numbers.ok_or_else(|| SqlError::internal("a row number of another type"))?;
    if numbers.is_null(row) {
        return Ok(None);
    }
    match usize::try_from(numbers.value(row)) {
        Ok(number @ 1..) => Ok(Some(number)),
        _ => Err(SqlError::new("22016", "argument of nth_value must be greater than zero")),
    }
}

fn slices(values: &[ArrayRef], range: Range<usize>) -> Vec<ArrayRef> {
    values.iter().map(|array| array.slice(range.start, range.len())).collect()
}

/// Applies the filter, which is the last of `values`. It drops the rejected rows and maps the frames to the remaining
/// rows.
fn pass<'r>(
    values: &[ArrayRef],
    arguments: &[ArrayRef],
    ranges: impl IntoIterator<Item = &'r mut Range<usize>>,
) -> Result<Vec<ArrayRef>> {
    let condition = values.last().and_then(|array| array.as_boolean_opt());
    let condition = condition.ok_or_else(|| SqlError::internal("a filter that is no boolean"))?;
    let (kept, passed) = passing(arguments, condition)?;
    let place = |row: usize| passed.get(row).copied().unwrap_or_default();
    for range in ranges {
        *range = place(range.start)..place(range.end);
    }
    Ok(kept)
}

/// The rows for which a condition is true. Also, for each row, how many of them precede it, with one entry more at the
/// end.
fn passing(values: &[ArrayRef], condition: &BooleanArray) -> Result<(Vec<ArrayRef>, Vec<usize>)> {
    let condition: BooleanArray = condition.iter().map(|passes| Some(passes == Some(true))).collect();
    let kept = values.iter().map(|array| filter(array, &condition)).collect::<std::result::Result<Vec<_>, _>>()?;
    let mut before = vec![0];
    let mut count = 0;
    for row in 0..condition.len() {
        count += usize::from(condition.value(row));
        before.push(count);
    }
    Ok((kept, before))
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> DataFusionResult<ArrayRef> {
        Ok(self.over_frames(values, rows)?)
    }
}
