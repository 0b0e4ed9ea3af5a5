//! Aggregates of two float8 arguments: corr, covar_pop, covar_samp and the regr_ family, by Youngs and Cramer.

use super::own;
use crate::arithmetic::overflow;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, TypeSignature, Volatility};
use sql_error::SqlError;
use std::collections::VecDeque;
use std::sync::Arc;
use types::SqlType;

/// Names of these aggregates.
pub(super) const NAMES: [&str; 12] = [
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
];

/// The function with this name, its static name, and its result type.
pub(super) fn function(name: &str) -> Option<(&'static str, Arc<AggregateUDF>, SqlType)> {
    let name = NAMES.into_iter().find(|known| *known == name)?;
    let result = if name == "regr_count" { SqlType::INT8 } else { SqlType::FLOAT8 };
    let exact = TypeSignature::Exact(vec![DataType::Float64, DataType::Float64]);
    Some((name, own(Regression { name, signature: Signature::new(exact, Volatility::Immutable) }), result))
}

/// Computes the function with this name over pairs of the first and second argument.
pub(super) fn of_pairs(name: &'static str, pairs: impl Iterator<Item = (f64, f64)>) -> Result<ScalarValue> {
    let mut sums = Sums { name, ..Sums::default() };
    for (y, x) in pairs {
        sums.add(y, x)?;
    }
    sums.evaluate()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Regression {
    name: &'static str,
    signature: Signature,
}

impl AggregateUDFImpl for Regression {
    fn name(&self) -> &str {
        self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.name == "regr_count" { DataType::Int64 } else { DataType::Float64 })
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let parts = ["n", "sx", "sxx", "sy", "syy", "sxy"];
        let field = |part| Arc::new(Field::new(format_state_name(args.name, part), DataType::Float64, true));
        Ok(parts.into_iter().map(field).collect())
    }
    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Sums { name: self.name, ..Sums::default() }))
    }
    fn create_sliding_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(InFrame { name: self.name, pairs: VecDeque::new() }))
    }
}

/// The number of pairs, their sums, and their sums of squared deviations.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    name: &'static str,
    n: f64,
    sx: f64,
    sxx: f64,
    sy: f64,
    syy: f64,
    sxy: f64,
}

impl Sums {
    fn add(&mut self, y: f64, x: f64) -> Result<(), SqlError> {
        let (before, was) = (self.n, *self);
        self.n += 1.0;
        if self.name == "regr_count" {
            // regr_count has no sums that could overflow.
            return Ok(());
        }
        self.sx += x;
        self.sy += y;
        if before > 0.0 {
            let (dx, dy) = (x * self.n - self.sx, y * self.n - self.sy);
            let scale = 1.0 / (self.n * before);
            self.sxx += dx * dx * scale;
            self.syy += dy * dy * scale;
            self.sxy += dx * dy * scale;
            return self.without_infinity(was, y, x);
        }
        if !x.is_finite() {
            self.sxx = f64::NAN;
            self.sxy = f64::NAN;
        }
        if !y.is_finite() {
            self.syy = f64::NAN;
            self.sxy = f64::NAN;
        }
        Ok(())
    }

    /// Checks for overflow. Infinite arguments make the deviations NaN. Errors: 22003 if a sum of finite values is
    /// infinite.
    fn without_infinity(&mut self, was: Sums, y: f64, x: f64) -> Result<(), SqlError> {
        let [of_x, of_y] =
            [[self.sx, self.sxx], [self.sy, self.syy]].map(|sums| sums.iter().any(|sum| sum.is_infinite()));
        let [known_x, known_y] =
            [[was.sx, x], [was.sy, y]].map(|values| values.iter().all(|value| !value.is_infinite()));
        if of_x && known_x || of_y && known_y || self.sxy.is_infinite() && known_x && known_y {
            return Err(overflow());
        }
        for sum in [&mut self.sxx, &mut self.syy, &mut self.sxy] {
            if sum.is_infinite() {
                *sum = f64::NAN;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Sums) {
        if other.n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            *self = Sums { name: self.name, ..other };
            return;
        }
        let n = self.n + other.n;
        let dx = self.sx / self.n - other.sx / other.n;
        let dy = self.sy / self.n - other.sy / other.n;
        let weight = self.n * other.n / n;
        self.sxx += other.sxx + weight * dx * dx;
        self.syy += other.syy + weight * dy * dy;
        self.sxy += other.sxy + weight * dx * dy;
        self.sx += other.sx;
        self.sy += other.sy;
        self.n = n;
    }

    fn finish(&self) -> Option<f64> {
        let some = self.n >= 1.0;
        let sloped = some && self.sxx != 0.0;
        match self.name {
            "regr_sxx" => some.then_some(self.sxx),
            "regr_syy" => some.then_some(self.syy),
            "regr_sxy" => some.then_some(self.sxy),
            "regr_avgx" => some.then(|| self.sx / self.n),
            "regr_avgy" => some.then(|| self.sy / self.n),
            "covar_pop" => some.then(|| self.sxy / self.n),
            "covar_samp" => (self.n >= 2.0).then(|| self.sxy / (self.n - 1.0)),
            "corr" => (sloped && self.syy != 0.0).then(|| self.sxy / (self.sxx * self.syy).sqrt()),
            "regr_r2" if sloped && self.syy == 0.0 => Some(1.0),
            "regr_r2" => sloped.then(|| (self.sxy * self.sxy) / (self.sxx * self.syy)),
            "regr_slope" => sloped.then(|| self.sxy / self.sxx),
            _ => sloped.then(|| (self.sy - self.sx * self.sxy / self.sxx) / self.n),
        }
    }
}

/// The pairs in a moving frame. They are summed again for each row, because subtraction would leave rounding errors.
#[derive(Debug)]
struct InFrame {
    name: &'static str,
    pairs: VecDeque<Option<(f64, f64)>>,
}

impl Accumulator for InFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (ys, xs) = (floats(values, 0)?, floats(values, 1)?);
        self.pairs.extend(ys.iter().zip(xs.iter()).map(|(y, x)| y.zip(x)));
        Ok(())
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // A moving frame only loses rows at its start.
        let gone = values.first().map_or(0, |values| values.len()).min(self.pairs.len());
        self.pairs.drain(..gone);
        Ok(())
    }
    fn supports_retract_batch(&self) -> bool {
        true
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        of_pairs(self.name, self.pairs.iter().flatten().copied())
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.pairs.capacity() * size_of::<Option<(f64, f64)>>()
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Err(SqlError::internal("the state of a frame").into())
    }
    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        Err(SqlError::internal("frames are not merged").into())
    }
}

fn floats(arrays: &[ArrayRef], at: usize) -> Result<&datafusion::arrow::array::Float64Array> {
    let array = arrays.get(at).and_then(|array| array.as_primitive_opt::<Float64Type>());
    Ok(array.ok_or_else(|| SqlError::internal("an aggregate of two floats got something else"))?)
}

impl Accumulator for Sums {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (ys, xs) = (floats(values, 0)?, floats(values, 1)?);
        for (y, x) in ys.iter().zip(xs.iter()) {
            if let (Some(y), Some(x)) = (y, x) {
                self.add(y, x)?;
            }
        }
        Ok(())
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.name == "regr_count" {
            #[allow(clippy::cast_possible_truncation)]
            return Ok(ScalarValue::Int64(Some(self.n as i64)));
        }
        Ok(ScalarValue::Float64(self.finish()))
    }
    fn size(&self) -> usize {
        size_of_val(self)
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let parts = [self.n, self.sx, self.sxx, self.sy, self.syy, self.sxy];
        Ok(parts.into_iter().map(|part| ScalarValue::Float64(Some(part))).collect())
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let columns = (0..6).map(|at| floats(states, at)).collect::<Result<Vec<_>>>()?;
        let rows = columns.first().map_or(0, |column| column.len());
        for row in 0..rows {
            let mut parts = columns.iter().map(|column| column.value(row));
            let mut next = || parts.next().unwrap_or_default();
            let (n, sx, sxx, sy, syy, sxy) = (next(), next(), next(), next(), next(), next());
            self.merge(Sums { name: self.name, n, sx, sxx, sy, syy, sxy });
        }
        Ok(())
    }
}
