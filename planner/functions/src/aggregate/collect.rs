//! The aggregate string_agg, without DISTINCT.
//!
//! It sorts by itself. The sort keys are further arguments, and each value is stored with the bytes of its sort key. So
//! several calls in one query may have different orders.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, TypeSignature, Volatility};
use sql_error::SqlError;
use sql_error::value_size::room;
use std::sync::Arc;
use types::SqlType;

/// string_agg(text, delimiter). The first value's delimiter is not used.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct StringAgg {
    signature: Signature,
}

impl StringAgg {
    pub(super) fn new() -> Self {
        let exact = TypeSignature::Exact(vec![SqlType::TEXT.arrow(), SqlType::TEXT.arrow()]);
        StringAgg { signature: Signature::new(exact, Volatility::Immutable) }
    }
}

fn list_of(ty: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(ty, true)))
}

impl AggregateUDFImpl for StringAgg {
    fn name(&self) -> &str {
        "string_agg"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |part: &str, ty| Arc::new(Field::new(format_state_name(args.name, part), list_of(ty), true));
        Ok(vec![
            field("values", DataType::Utf8),
            field("delimiters", DataType::Utf8),
            field("sort_keys", DataType::Binary),
        ])
    }
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        // The sort keys are arguments, so the input need not be sorted.
        AggregateOrderSensitivity::SoftRequirement
    }
    fn with_beneficial_ordering(self: Arc<Self>, _: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        // The function sorts by itself, whether or not the input is in order.
        Ok(Some(self))
    }
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let fields = args
            .order_bys
            .iter()
            .map(|sort| Ok(SortField::new_with_options(sort.expr.data_type(args.schema)?, sort.options)))
            .collect::<Result<Vec<_>>>()?;
        let sorter = if fields.is_empty() { None } else { Some(RowConverter::new(fields)?) };
        Ok(Box::new(Strings { values: Vec::new(), bytes: 0, sorter }))
    }
}

/// A value, its delimiter, and the bytes of its sort key.
#[derive(Clone, Debug)]
struct Part {
    value: String,
    delimiter: String,
    sort_key: Vec<u8>,
}

impl Part {
    fn bytes(&self) -> usize {
        self.value.len() + self.delimiter.len() + self.sort_key.len() + size_of::<Part>()
    }
}

#[derive(Debug)]
struct Strings {
    values: Vec<Part>,
    bytes: usize,
    sorter: Option<RowConverter>,
}

fn texts(array: &ArrayRef) -> Result<StringArray> {
    Ok(array.as_string_opt::<i32>().cloned().ok_or_else(|| SqlError::internal("string_agg got something else"))?)
}

impl Strings {
    fn take(&mut self, part: Part) {
        self.bytes += part.bytes();
        self.values.push(part);
    }
}

impl Accumulator for Strings {
    fn update_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let [values, delimiters, keys @ ..] = arrays else {
            return Err(SqlError::internal("string_agg lacks an argument").into());
        };
        let (values, delimiters) = (texts(values)?, texts(delimiters)?);
        let rows = match &mut self.sorter {
            Some(sorter) => Some(sorter.convert_columns(keys)?),
            None => None,
        };
        for row in 0..values.len() {
            if values.is_null(row) {
                continue;
            }
            let delimiter = if delimiters.is_null(row) { "" } else { delimiters.value(row) };
            self.take(Part {
                value: values.value(row).to_string(),
                delimiter: delimiter.to_string(),
                sort_key: rows.as_ref().map(|rows| rows.row(row).as_ref().to_vec()).unwrap_or_default(),
            });
        }
        Ok(())
    }
    fn retract_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        // Only called for a moving frame, which loses rows at its start and has no order of its own.
        let Some(values) = arrays.first() else { return Ok(()) };
        let gone = (values.len() - values.null_count()).min(self.values.len());
        for part in self.values.drain(..gone) {
            self.bytes = self.bytes.saturating_sub(part.bytes());
        }
        Ok(())
    }
    fn supports_retract_batch(&self) -> bool {
        self.sorter.is_none()
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.values.is_empty() {
            return Ok(ScalarValue::Utf8(None));
        }
        if self.sorter.is_some() {
            self.values.sort_by(|a, b| a.sort_key.cmp(&b.sort_key));
        }
        let all: usize = self.values.iter().map(|part| part.value.len() + part.delimiter.len()).sum();
        // The first delimiter is not written.
        let bytes = all - self.values.first().map_or(0, |part| part.delimiter.len());
        room(bytes)?;
        let mut text = String::with_capacity(bytes);
        for (at, part) in self.values.iter().enumerate() {
            if at > 0 {
                text.push_str(&part.delimiter);
            }
            text.push_str(&part.value);
        }
        Ok(ScalarValue::Utf8(Some(text)))
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |ty: DataType, pick: fn(&Part) -> ScalarValue| {
            let values: Vec<ScalarValue> = self.values.iter().map(pick).collect();
            ScalarValue::List(ScalarValue::new_list_nullable(&values, &ty))
        };
        Ok(vec![
            list(DataType::Utf8, |part| ScalarValue::Utf8(Some(part.value.clone()))),
            list(DataType::Utf8, |part| ScalarValue::Utf8(Some(part.delimiter.clone()))),
            list(DataType::Binary, |part| ScalarValue::Binary(Some(part.sort_key.clone()))),
        ])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let foreign = || SqlError::internal("string_agg got a foreign state");
        let [values, delimiters, keys, ..] = states else { return Err(foreign().into()) };
        let list = |array: &ArrayRef| array.as_list_opt::<i32>().cloned().ok_or_else(foreign);
        let (values, delimiters, keys) = (list(values)?, list(delimiters)?, list(keys)?);
        for row in 0..values.len() {
            let (values, delimiters) = (texts(&values.value(row))?, texts(&delimiters.value(row))?);
            let keys = keys.value(row);
            let keys = keys.as_binary_opt::<i32>().ok_or_else(foreign)?;
            for at in 0..values.len() {
                self.take(Part {
                    value: values.value(at).to_string(),
                    delimiter: delimiters.value(at).to_string(),
                    sort_key: keys.value(at).to_vec(),
                });
            }
        }
        Ok(())
    }
}
