//! Aggregates that sort all values at the end: array_agg(DISTINCT), percentile_cont, percentile_disc, mode.

use super::own;
use crate::array::key::one_form_of;
use crate::array::nested::collected;
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use sql_error::{Result as SqlResult, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use types::array::{ArrayValue, Dimension, values_array};
use types::interval::Interval;
use types::{BaseType, Datum, SqlType, interval, json, numeric};

/// One fraction, or an array of fractions, of the way through the sorted values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fractions {
    /// The fractions. `None` for NULL.
    pub values: Vec<Option<f64>>,
    /// Dimensions of the array of fractions, if it is one.
    pub dimensions: Option<Vec<Dimension>>,
}

/// The result that is made of the sorted values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// An array of the distinct values.
    Distinct,
    /// An array of all values except NULL.
    Sorted,
    /// The value at a fraction: percentile_disc.
    Discrete(Fractions),
    /// The value at a fraction, interpolated: percentile_cont.
    Continuous(Fractions),
    /// The most frequent value.
    Mode,
}

/// A sorting aggregate over values of one type.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    kind: Kind,
    input: SqlType,
    result: SqlType,
    options: SortOptions,
    signature: Signature,
    /// The name includes the parameters: a plan merges calls with equal names and arguments.
    name: String,
}

impl Ordered {
    /// The aggregate over values of `input`, sorted by `options`.
    pub(super) fn function(kind: Kind, input: SqlType, result: SqlType, options: SortOptions) -> Arc<AggregateUDF> {
        let order = match (options.descending, options.nulls_first) {
            (false, false) => "",
            (false, true) => " nulls first",
            (true, true) => " desc",
            (true, false) => " desc nulls last",
        };
        let name = match &kind {
            Kind::Distinct => format!("array_agg_distinct{order}"),
            Kind::Sorted => format!("sorted{order}"),
            Kind::Discrete(fractions) => format!("percentile_disc{order} {fractions:?}"),
            Kind::Continuous(fractions) => format!("percentile_cont{order} {fractions:?}"),
            Kind::Mode => format!("mode{order}"),
        };
        own(Ordered { kind, input, result, options, signature: Signature::any(1, Volatility::Immutable), name })
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.input == other.input
            && self.result == other.result
            && self.options == other.options
    }
}
impl Eq for Ordered {}
impl std::hash::Hash for Ordered {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.name(), self.input, self.result).hash(state);
    }
}

impl AggregateUDFImpl for Ordered {
    fn name(&self) -> &str {
        &self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = DataType::List(Arc::new(Field::new_list_field(self.input.arrow(), true)));
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "values"), list, true))])
    }
    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Values { of: self.clone(), values: Vec::new(), seen: HashSet::new(), bytes: 0 }))
    }
    fn create_sliding_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let name = self.name.split(' ').next().unwrap_or_default();
        Err(SqlError::unsupported(format!("{name} over a frame that moves")).into())
    }
}

#[derive(Debug)]
struct Values {
    of: Ordered,
    values: Vec<ScalarValue>,
    seen: HashSet<ScalarValue>,
    bytes: usize,
}

/// The key by which values are compared and sorted.
fn key(value: &ScalarValue, ty: SqlType) -> SqlResult<ScalarValue> {
    Ok(match (ty.base, value) {
        _ if ty.array && !value.is_null() => {
            let mut bytes = Vec::new();
            KeyEncoder::new(vec![KeyColumn::ascending(ty)]).encode_datums(std::slice::from_ref(value), &mut bytes)?;
            ScalarValue::Binary(Some(bytes))
        }
        _ if ty.array => ScalarValue::Binary(None),
        (BaseType::Numeric, ScalarValue::Binary(Some(bytes))) => {
            ScalarValue::Binary(Some(numeric::key_of(bytes).to_vec()))
        }
        (BaseType::Interval, ScalarValue::Binary(Some(bytes))) => {
            ScalarValue::Binary(Some(interval::key_of(bytes).to_vec()))
        }
        (BaseType::Char, ScalarValue::Utf8(Some(text))) => {
            ScalarValue::Utf8(Some(text.trim_end_matches(' ').to_string()))
        }
        (BaseType::Jsonb, ScalarValue::Utf8(text)) => {
            ScalarValue::Binary(text.as_ref().map(|text| json::key(text)).transpose()?)
        }
        _ => one_form_of(value.clone()),
    })
}

impl Values {
    fn take(&mut self, array: &ArrayRef) -> Result<()> {
        let distinct = self.of.kind == Kind::Distinct;
        for row in 0..array.len() {
            if array.is_null(row) && !distinct {
                continue;
            }
            let value = ScalarValue::try_from_array(array, row)?.compacted();
            let bytes = value.size();
            if distinct && !self.seen.insert(key(&value, self.of.input)?) {
                continue;
            }
            self.bytes += bytes * if distinct { 2 } else { 1 };
            self.values.push(value);
        }
        Ok(())
    }

    /// The sorted values, each with the bytes of its sort key.
    fn sorted(&self) -> Result<Vec<(Vec<u8>, ScalarValue)>> {
        if self.values.is_empty() {
            return Ok(Vec::new());
        }
        let keys: SqlResult<Vec<_>> = self.values.iter().map(|value| key(value, self.of.input)).collect();
        let keys = ScalarValue::iter_to_array(keys?)?;
        let field = SortField::new_with_options(keys.data_type().clone(), self.of.options);
        let rows = RowConverter::new(vec![field])?.convert_columns(&[keys])?;
        let mut sorted: Vec<(Vec<u8>, ScalarValue)> =
            rows.iter().zip(&self.values).map(|(row, value)| (row.as_ref().to_vec(), value.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(sorted)
    }

    /// One value, or an array of values with the shape of the fractions.
    fn result(&self, values: Vec<ScalarValue>, fractions: &Fractions) -> Result<ScalarValue> {
        match (values.into_iter(), &fractions.dimensions) {
            (values, Some(dimensions)) => {
                let values: Vec<ScalarValue> = values.collect();
                let elements = values_array(&values, self.of.result.element())?;
                Ok(ArrayValue::new(elements, dimensions)?.into_datum()?)
            }
            // The fractions are NULL as a whole.
            (_, None) if self.of.result.array && !self.of.input.array => self.null(),
            (mut values, None) => values.next().map_or_else(|| self.null(), Ok),
        }
    }

    fn array(&self, values: &[ScalarValue]) -> Result<ScalarValue> {
        if !self.of.input.array {
            return Ok(ArrayValue::datum_of(values, self.of.input)?);
        }
        match collected(&values_array(values, self.of.input)?)? {
            Some(array) => Ok(array.into_datum()?),
            None => self.null(),
        }
    }

    fn null(&self) -> Result<ScalarValue> {
        ScalarValue::try_from(&self.of.result.arrow())
    }
}

/// The interpolated value at a fraction of `count` sorted floats or intervals. `at` gives the value at an index.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn between(count: usize, at: impl Fn(usize) -> Option<Datum>, fraction: f64) -> SqlResult<Datum> {
    let place = fraction * count.saturating_sub(1) as f64;
    let part = place - place.floor();
    match (at(place.floor() as usize), at(place.ceil() as usize)) {
        (Some(low), _) if part == 0.0 => Ok(low),
        (Some(Datum::Float64(Some(low))), Some(Datum::Float64(Some(high)))) => {
            Ok(Datum::Float64(Some(if low == high { low } else { low + part * (high - low) })))
        }
        (Some(Datum::Binary(Some(low))), Some(Datum::Binary(Some(high)))) => {
            let (low, high) = (Interval::from_bytes(&low)?, Interval::from_bytes(&high)?);
            Ok(Datum::Binary(Some(high.sub(&low)?.times(part)?.add(&low)?.to_bytes())))
        }
        _ => Err(SqlError::internal("percentile_cont got something else than floats and intervals")),
    }
}

/// Index of the value at a fraction of `count` sorted values, as percentile_disc defines it.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn place_of(count: usize, fraction: f64) -> usize {
    ((fraction * count as f64).ceil() as usize).max(1) - 1
}

impl Accumulator for Values {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        match values.first() {
            Some(values) => self.take(values),
            None => Err(SqlError::internal("an aggregate lacks its argument").into()),
        }
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sorted = self.sorted()?;
        if sorted.is_empty() {
            return self.null();
        }
        let several = self.of.result.array && !self.of.input.array;
        let element = if several { self.of.result.element() } else { self.of.result };
        let nothing = Datum::try_from(&element.arrow())?;
        match &self.of.kind {
            Kind::Distinct | Kind::Sorted => {
                self.array(&sorted.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
            }
            Kind::Mode => {
                let (mut best, mut run, mut start) = (0, 0, 0);
                for (at, (bytes, _)) in sorted.iter().enumerate() {
                    let same = at > 0 && sorted.get(at - 1).is_some_and(|(before, _)| before == bytes);
                    let length = if same { run + 1 } else { 1 };
                    run = length;
                    if length > best {
                        best = length;
                        start = at + 1 - length;
                    }
                }
                sorted.get(start).map_or_else(|| self.null(), |(_, value)| Ok(value.clone()))
            }
            Kind::Discrete(fractions) => {
                let at = |fraction: f64| sorted.get(place_of(sorted.len(), fraction));
                let pick = |fraction: &Option<f64>| match fraction.and_then(at) {
                    Some((_, value)) => value.clone(),
                    None => nothing.clone(),
                };
                self.result(fractions.values.iter().map(pick).collect(), fractions)
            }
            Kind::Continuous(fractions) => {
                let pick = |fraction: &Option<f64>| match fraction {
                    Some(fraction) => {
                        between(sorted.len(), |at| sorted.get(at).map(|(_, value)| value.clone()), *fraction)
                    }
                    None => Ok(nothing.clone()),
                };
                self.result(fractions.values.iter().map(pick).collect::<SqlResult<Vec<_>>>()?, fractions)
            }
        }
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&self.values, &self.of.input.arrow()))])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states.first().and_then(|state| state.as_list_opt::<i32>());
        let lists = lists.ok_or_else(|| SqlError::internal("an aggregate got a foreign state"))?;
        for list in lists.iter().flatten() {
            self.take(&list)?;
        }
        Ok(())
    }
}

/// Checks that a fraction is between 0 and 1. Errors: 22003.
pub(super) fn fraction(value: f64) -> SqlResult<f64> {
    if value.is_nan() || !(0.0..=1.0).contains(&value) {
        let message = format!("percentile value {value} is not between 0 and 1");
        return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message).of_values());
    }
    Ok(value)
}
