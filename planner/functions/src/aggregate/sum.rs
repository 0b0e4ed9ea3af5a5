//! The aggregates sum and avg over numbers.

use super::fold::{Fold, FoldAggregate};
use super::own;
use crate::arithmetic::overflow;
use crate::typed::{Float4, Float8, Int2, Int4, Int8, Numeric, SqlRead, SqlWrite};
use datafusion::logical_expr::AggregateUDF;
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;
use types::numeric::Numeric as NumericValue;
use types::{BaseType, SqlType};

const AVERAGE: u8 = 1;

/// The function for an argument's type, and its result type. With `distinct`, only numerics and floats need a function
/// of their own.
pub(super) fn function(name: &str, base: BaseType, distinct: bool) -> Option<(Arc<AggregateUDF>, SqlType)> {
    let (int2, int4, int8) = (SqlType::INT2, SqlType::INT4, SqlType::INT8);
    let (float4, float8, numeric) = (SqlType::FLOAT4, SqlType::FLOAT8, SqlType::NUMERIC);
    Some(if name == "sum" {
        match base {
            BaseType::Int2 => (own(FoldAggregate::<IntegerSum<Int2>>::new("sum_int2", 0, int2, int8)), int8),
            BaseType::Int4 => (own(FoldAggregate::<IntegerSum<Int4>>::new("sum_int4", 0, int4, int8)), int8),
            BaseType::Int8 => (own(FoldAggregate::<WideSum<Int8>>::new("sum_int8", 0, int8, numeric)), numeric),
            BaseType::Numeric => {
                (own(FoldAggregate::<NumericSum>::new("sum_numeric", 0, numeric, numeric).distinct(distinct)), numeric)
            }
            BaseType::Float4 => (
                own(FoldAggregate::<FloatSum<Float4>>::new("sum_float4", 0, float4, float4).distinct(distinct)),
                float4,
            ),
            BaseType::Float8 => (
                own(FoldAggregate::<FloatSum<Float8>>::new("sum_float8", 0, float8, float8).distinct(distinct)),
                float8,
            ),
            _ => return None,
        }
    } else {
        match base {
            BaseType::Int2 => (own(FoldAggregate::<WideSum<Int2>>::new("avg_int2", AVERAGE, int2, numeric)), numeric),
            BaseType::Int4 => (own(FoldAggregate::<WideSum<Int4>>::new("avg_int4", AVERAGE, int4, numeric)), numeric),
            BaseType::Int8 => (own(FoldAggregate::<WideSum<Int8>>::new("avg_int8", AVERAGE, int8, numeric)), numeric),
            BaseType::Numeric => (
                own(FoldAggregate::<NumericSum>::new("avg_numeric", AVERAGE, numeric, numeric).distinct(distinct)),
                numeric,
            ),
            BaseType::Float4 => (
                own(FoldAggregate::<FloatAverage<Float4>>::new("avg_float4", 0, float4, float8).distinct(distinct)),
                float8,
            ),
            BaseType::Float8 => (
                own(FoldAggregate::<FloatAverage<Float8>>::new("avg_float8", 0, float8, float8).distinct(distinct)),
                float8,
            ),
            _ => return None,
        }
    })
}

pub(super) fn foreign_state() -> SqlError {
    SqlError::internal("an aggregate got a foreign state")
}

/// Takes `N` bytes from the start of a state.
pub(super) fn take<const N: usize>(state: &mut &[u8]) -> Result<[u8; N]> {
    let (bytes, rest) = state.split_first_chunk::<N>().ok_or_else(foreign_state)?;
    *state = rest;
    Ok(*bytes)
}

/// sum(int2) and sum(int4), with the result int8.
pub(super) struct IntegerSum<T> {
    sum: i64,
    count: u64,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T> Clone for IntegerSum<T> {
    fn clone(&self) -> Self {
        IntegerSum { ..*self }
    }
}
impl<T> fmt::Debug for IntegerSum<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sum)
    }
}

impl<T> Fold for IntegerSum<T>
where
    T: SqlRead,
    for<'a> i64: From<T::Item<'a>>,
{
    type In = T;
    type Out = Int8;
    const REMOVES: bool = true;
    fn start(_: u8) -> Self {
        IntegerSum { sum: 0, count: 0, marker: std::marker::PhantomData }
    }
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        self.sum = self.sum.checked_add(i64::from(value)).ok_or_else(|| crate::cast_kernel::out_of_range("bigint"))?;
        self.count += 1;
        Ok(())
    }
    fn remove(&mut self, value: T::Item<'_>) -> Result<()> {
        self.sum = self.sum.wrapping_sub(i64::from(value));
        self.count -= 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        let sum = i64::from_le_bytes(take(&mut state)?);
        self.sum = self.sum.checked_add(sum).ok_or_else(|| crate::cast_kernel::out_of_range("bigint"))?;
        self.count += u64::from_le_bytes(take(&mut state)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<i64>> {
        Ok((self.count > 0).then_some(self.sum))
    }
}

/// sum(int8) and avg of integers, with the result numeric.
pub(super) struct WideSum<T> {
    average: bool,
    sum: i128,
    count: u64,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T> Clone for WideSum<T> {
    fn clone(&self) -> Self {
        WideSum { ..*self }
    }
}
impl<T> fmt::Debug for WideSum<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sum)
    }
}

impl<T> Fold for WideSum<T>
where
    T: SqlRead,
    for<'a> i128: From<T::Item<'a>>,
{
    type In = T;
    type Out = Numeric;
    const REMOVES: bool = true;
    fn start(parameter: u8) -> Self {
        WideSum { average: parameter == AVERAGE, sum: 0, count: 0, marker: std::marker::PhantomData }
    }
    // The sum of 2^64 values of 64 bits fits 128 bits.
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        self.sum += i128::from(value);
        self.count += 1;
        Ok(())
    }
    fn remove(&mut self, value: T::Item<'_>) -> Result<()> {
        self.sum -= i128::from(value);
        self.count -= 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        self.sum += i128::from_le_bytes(take(&mut state)?);
        self.count += u64::from_le_bytes(take(&mut state)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<NumericValue>> {
        let sum = NumericValue::new(self.sum, 0);
        match (self.count, self.average) {
            (0, _) => Ok(None),
            (_, false) => Ok(Some(sum)),
            (count, true) => sum.div(&NumericValue::new(<i128 as From<u64>>::from(count), 0)).map(Some),
        }
    }
}

/// The state of sum and avg of numeric.
#[derive(Clone, Debug)]
pub(super) struct NumericSum {
    average: bool,
    sum: NumericValue,
    count: u64,
}

impl Fold for NumericSum {
    type In = Numeric;
    type Out = Numeric;
    fn start(parameter: u8) -> Self {
        NumericSum { average: parameter == AVERAGE, sum: NumericValue::zero(), count: 0 }
    }
    fn add(&mut self, value: NumericValue) -> Result<()> {
        self.sum = self.sum.add(&value);
        self.count += 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_le_bytes());
        self.sum.write_bytes(out);
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        self.count += u64::from_le_bytes(take(&mut state)?);
        self.sum = self.sum.add(&NumericValue::from_bytes(state)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<NumericValue>> {
        match (self.count, self.average) {
            (0, _) => Ok(None),
            (_, false) => Ok(Some(self.sum.clone())),
            (count, true) => self.sum.div(&NumericValue::new(i128::from(count), 0)).map(Some),
        }
    }
}

/// A float type that sums read and write.
pub(super) trait Float: Copy + Send + Sync + fmt::Debug + 'static {
    fn wide(self) -> f64;
    fn narrow(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
}
impl Float for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn narrow(value: f64) -> f32 {
        value as f32
    }
    fn plus(self, other: f32) -> f32 {
        self + other
    }
}
impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> f64 {
        value
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
}

fn checked(sum: f64, infinite: bool) -> Result<f64> {
    if sum.is_infinite() && !infinite {
        return Err(overflow());
    }
    Ok(sum)
}

/// sum of floats, added in input order.
pub(super) struct FloatSum<T: SqlWrite> {
    sum: f64,
    any: bool,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T: SqlWrite> Clone for FloatSum<T> {
    fn clone(&self) -> Self {
        FloatSum { ..*self }
    }
}
impl<T: SqlWrite> fmt::Debug for FloatSum<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sum)
    }
}

impl<T> Fold for FloatSum<T>
where
    T: SqlWrite + SqlRead,
    T::Owned: Float,
    for<'a> T::Item<'a>: Float,
{
    type In = T;
    type Out = T;
    fn start(_: u8) -> Self {
        // -0 is the neutral element: the sum of just -0 is -0.
        FloatSum { sum: -0.0, any: false, marker: std::marker::PhantomData }
    }
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        let value = value.wide();
        let narrow = T::Owned::narrow(self.sum).plus(T::Owned::narrow(value)).wide();
        self.sum = checked(narrow, value.is_infinite() || self.sum.is_infinite())?;
        self.any = true;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.any));
        out.extend_from_slice(&self.sum.to_le_bytes());
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        if take::<1>(&mut state)? == [1] {
            let value = f64::from_le_bytes(take(&mut state)?);
            self.sum = checked(self.sum + value, value.is_infinite() || self.sum.is_infinite())?;
            self.any = true;
        }
        Ok(())
    }
    fn finish(&self) -> Result<Option<T::Owned>> {
        Ok(self.any.then(|| T::Owned::narrow(if self.sum.is_nan() { f64::NAN } else { self.sum })))
    }
}

/// avg of floats, with the result float8.
pub(super) struct FloatAverage<T> {
    sum: f64,
    count: u64,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T> Clone for FloatAverage<T> {
    fn clone(&self) -> Self {
        FloatAverage { ..*self }
    }
}
impl<T> fmt::Debug for FloatAverage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.sum, self.count)
    }
}

impl<T> Fold for FloatAverage<T>
where
    T: SqlRead,
    for<'a> T::Item<'a>: Float,
{
    type In = T;
    type Out = Float8;
    fn start(_: u8) -> Self {
        FloatAverage { sum: 0.0, count: 0, marker: std::marker::PhantomData }
    }
    fn add(&mut self, value: T::Item<'_>) -> Result<()> {
        let value = value.wide();
        self.sum = checked(self.sum + value, value.is_infinite() || self.sum.is_infinite())?;
        self.count += 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        self.sum += f64::from_le_bytes(take(&mut state)?);
        self.count += u64::from_le_bytes(take(&mut state)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<f64>> {
        let sum = if self.sum.is_nan() { f64::NAN } else { self.sum };
        Ok((self.count > 0).then(|| sum / self.count as f64))
    }
}
