//! Variance and standard deviation, bit_and, bit_or and bit_xor, min and max of floats.

use super::fold::{Fold, FoldAggregate};
use super::own;
use super::sum::{Float, take};
use crate::arithmetic::overflow;
use crate::typed::{Float4, Float8, Int2, Int4, Int8, Numeric, SqlRead, SqlWrite};
use datafusion::logical_expr::AggregateUDF;
use sql_error::Result;
use std::fmt;
use std::sync::Arc;
use types::numeric::Numeric as NumericValue;
use types::{BaseType, SqlType};

const POPULATION: u8 = 1;
const ROOT: u8 = 2;

/// The function of stddev, variance and similar names over numeric or float8.
pub(super) fn spread(name: &str, base: BaseType, distinct: bool) -> Arc<AggregateUDF> {
    let parameter =
        if name.ends_with("_pop") { POPULATION } else { 0 } | if name.starts_with("stddev") { ROOT } else { 0 };
    let name = match parameter {
        0 => "var_samp",
        POPULATION => "var_pop",
        ROOT => "stddev_samp",
        _ => "stddev_pop",
    };
    match base {
        BaseType::Numeric => {
            own(FoldAggregate::<NumericSpread>::new(name, parameter, SqlType::NUMERIC, SqlType::NUMERIC)
                .distinct(distinct))
        }
        _ => {
            own(FoldAggregate::<FloatSpread>::new(name, parameter, SqlType::FLOAT8, SqlType::FLOAT8).distinct(distinct))
        }
    }
}

/// The state over numerics: exact sums of values and squares.
#[derive(Clone, Debug)]
struct NumericSpread {
    parameter: u8,
    count: u64,
    sum: NumericValue,
    squares: NumericValue,
}

impl Fold for NumericSpread {
    type In = Numeric;
    type Out = Numeric;
    fn start(parameter: u8) -> Self {
        NumericSpread { parameter, count: 0, sum: NumericValue::zero(), squares: NumericValue::zero() }
    }
    fn add(&mut self, value: NumericValue) -> Result<()> {
        self.sum = self.sum.add(&value);
        self.squares = self.squares.add(&value.mul(&value));
        self.count += 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        let sum = self.sum.to_bytes();
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&(sum.len() as u64).to_le_bytes());
        out.extend_from_slice(&sum);
        self.squares.write_bytes(out);
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        self.count += u64::from_le_bytes(take(&mut state)?);
        let length = u64::from_le_bytes(take(&mut state)?) as usize;
        let (sum, squares) = state.split_at_checked(length).ok_or_else(super::sum::foreign_state)?;
        self.sum = self.sum.add(&NumericValue::from_bytes(sum)?);
        self.squares = self.squares.add(&NumericValue::from_bytes(squares)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<NumericValue>> {
        let population = self.parameter & POPULATION != 0;
        if self.count == 0 || (!population && self.count == 1) {
            return Ok(None);
        }
        if !self.sum.is_finite() {
            return Ok(Some(NumericValue::NaN));
        }
        let n = NumericValue::new(i128::from(self.count), 0);
        let of = NumericValue::new(i128::from(if population { self.count } else { self.count - 1 }), 0);
        // (n * sum of squares - square of the sum) / (n * of)
        let numerator = n.mul(&self.squares).sub(&self.sum.mul(&self.sum));
        if numerator.signum() <= 0 {
            return Ok(Some(NumericValue::zero()));
        }
        let variance = numerator.div(&n.mul(&of))?;
        let places = i64::from(variance.scale());
        Ok(Some(if self.parameter & ROOT != 0 { variance.sqrt()?.round(places) } else { variance }))
    }
}

/// The state over floats, by the algorithm of Youngs and Cramer as in PostgreSQL.
#[derive(Clone, Debug)]
struct FloatSpread {
    parameter: u8,
    count: f64,
    sum: f64,
    deviation: f64,
}

impl Fold for FloatSpread {
    type In = Float8;
    type Out = Float8;
    fn start(parameter: u8) -> Self {
        FloatSpread { parameter, count: 0.0, sum: 0.0, deviation: 0.0 }
    }
    fn add(&mut self, value: f64) -> Result<()> {
        let before = self.sum;
        self.count += 1.0;
        self.sum += value;
        if self.count > 1.0 {
            let difference = value * self.count - self.sum;
            self.deviation += difference * difference / (self.count * (self.count - 1.0));
            if self.sum.is_infinite() || self.deviation.is_infinite() {
                if !before.is_infinite() && !value.is_infinite() {
                    return Err(overflow());
                }
                self.deviation = f64::NAN;
            }
        } else if !value.is_finite() {
            self.deviation = f64::NAN;
        }
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        for value in [self.count, self.sum, self.deviation] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        let mut next = || take(&mut state).map(f64::from_le_bytes);
        let (count, sum, deviation) = (next()?, next()?, next()?);
        if count == 0.0 {
            return Ok(());
        }
        if self.count == 0.0 {
            (self.count, self.sum, self.deviation) = (count, sum, deviation);
            return Ok(());
        }
        let together = self.count + count;
        let difference = self.sum / self.count - sum / count;
        self.deviation += deviation + self.count * count * difference * difference / together;
        self.sum += sum;
        self.count = together;
        Ok(())
    }
    fn finish(&self) -> Result<Option<f64>> {
        let population = self.parameter & POPULATION != 0;
        let of = if population { self.count } else { self.count - 1.0 };
        if of <= 0.0 {
            return Ok(None);
        }
        let variance = self.deviation / of;
        Ok(Some(if self.parameter & ROOT != 0 { variance.sqrt() } else { variance }))
    }
}

/// bit_and, bit_or, bit_xor over an integer type.
pub(super) fn bits(name: &str, base: BaseType) -> Option<Arc<AggregateUDF>> {
    let (name, parameter) = match name {
        "bit_and" => ("bit_and", 0),
        "bit_or" => ("bit_or", 1),
        _ => ("bit_xor", 2),
    };
    Some(match base {
        BaseType::Int2 => own(FoldAggregate::<Bits<Int2>>::new(name, parameter, SqlType::INT2, SqlType::INT2)),
        BaseType::Int4 => own(FoldAggregate::<Bits<Int4>>::new(name, parameter, SqlType::INT4, SqlType::INT4)),
        BaseType::Int8 => own(FoldAggregate::<Bits<Int8>>::new(name, parameter, SqlType::INT8, SqlType::INT8)),
        _ => return None,
    })
}

struct Bits<T> {
    parameter: u8,
    value: Option<i64>,
    marker: std::marker::PhantomData<fn() -> T>,
}
impl<T> Clone for Bits<T> {
    fn clone(&self) -> Self {
        Bits { ..*self }
    }
}
impl<T> fmt::Debug for Bits<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value)
    }
}
impl<T> Bits<T> {
    fn combine(&mut self, value: i64) {
        self.value = Some(match self.value {
            None => value,
            Some(held) => match self.parameter {
                0 => held & value,
                1 => held | value,
                _ => held ^ value,
            },
        });
    }
}
impl<T> Fold for Bits<T>
where
    T: SqlRead + SqlWrite,
    for<'a> i64: From<T::Item<'a>>,
    T::Owned: TryFrom<i64>,
{
    type In = T;
    type Out = T;
    fn start(parameter: u8) -> Self {
        Bits { parameter, value: None, marker: std::marker::PhantomData }
    }
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        self.combine(i64::from(value));
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        if let Some(value) = self.value {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        if !state.is_empty() {
            self.combine(i64::from_le_bytes(take(&mut state)?));
        }
        Ok(())
    }
    fn finish(&self) -> Result<Option<T::Owned>> {
        Ok(self.value.and_then(|value| T::Owned::try_from(value).ok()))
    }
}

/// min and max of floats. NaN is greater than every other value.
pub(super) fn float_extreme(max: bool, ty: SqlType) -> Arc<AggregateUDF> {
    let (name, parameter) = if max { ("max", 1) } else { ("min", 0) };
    match ty.base {
        BaseType::Float4 => own(FoldAggregate::<Extreme<Float4>>::new(name, parameter, ty, ty)),
        _ => own(FoldAggregate::<Extreme<Float8>>::new(name, parameter, ty, ty)),
    }
}

struct Extreme<T> {
    max: bool,
    value: Option<f64>,
    marker: std::marker::PhantomData<fn() -> T>,
}
impl<T> Clone for Extreme<T> {
    fn clone(&self) -> Self {
        Extreme { ..*self }
    }
}
impl<T> fmt::Debug for Extreme<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value)
    }
}
impl<T> Extreme<T> {
    fn combine(&mut self, value: f64) {
        let above = |a: f64, b: f64| !b.is_nan() && (a.is_nan() || a > b);
        // Of equal values (0 and -0) the last one is shown.
        let better = |held: f64| {
            if self.max { !above(held, value) } else { !above(value, held) }
        };
        if self.value.is_none_or(better) {
            self.value = Some(value);
        }
    }
}
impl<T> Fold for Extreme<T>
where
    T: SqlRead + SqlWrite,
    for<'a> T::Item<'a>: Float,
    T::Owned: Float,
{
    type In = T;
    type Out = T;
    fn start(parameter: u8) -> Self {
        Extreme { max: parameter == 1, value: None, marker: std::marker::PhantomData }
    }
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        self.combine(value.wide());
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        if let Some(value) = self.value {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        if !state.is_empty() {
            self.combine(f64::from_le_bytes(take(&mut state)?));
        }
        Ok(())
    }
    fn finish(&self) -> Result<Option<T::Owned>> {
        Ok(self.value.map(T::Owned::narrow))
    }
}
