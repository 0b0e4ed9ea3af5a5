//! string_agg.

use crate::error::SqlError;
use crate::types::SqlType;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, TypeSignature, Volatility};
use std::collections::HashSet;
use std::sync::Arc;

/// string_agg(text, delimiter): the delimiter of the first value is not used.
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
        let list = || DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        Ok(["values", "delimiters"]
            .iter()
            .map(|part| Arc::new(Field::new(format_state_name(args.name, part), list(), true)))
            .collect())
    }
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Strings { values: Vec::new(), seen: args.is_distinct.then(HashSet::new), bytes: 0 }))
    }
}

#[derive(Debug)]
struct Strings {
    values: Vec<(String, String)>,
    seen: Option<HashSet<(String, String)>>,
    bytes: usize,
}

impl Strings {
    fn take(&mut self, values: &ArrayRef, delimiters: &ArrayRef) -> Result<()> {
        let text = |array: &ArrayRef| {
            array.as_string_opt::<i32>().cloned().ok_or_else(|| SqlError::internal("string_agg got something else"))
        };
        let (values, delimiters) = (text(values)?, text(delimiters)?);
        for row in 0..values.len() {
            if values.is_null(row) {
                continue;
            }
            let delimiter = if delimiters.is_null(row) { "" } else { delimiters.value(row) };
            let pair = (values.value(row).to_string(), delimiter.to_string());
            if self.seen.as_mut().is_none_or(|seen| seen.insert(pair.clone())) {
                self.bytes += pair.0.len() + pair.1.len() + size_of::<(String, String)>();
                self.values.push(pair);
            }
        }
        Ok(())
    }
}

impl Accumulator for Strings {
    fn update_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        match arrays {
            [values, delimiters, ..] => self.take(values, delimiters),
            _ => Err(SqlError::internal("string_agg lacks an argument").into()),
        }
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.values.is_empty() {
            return Ok(ScalarValue::Utf8(None));
        }
        let mut text = String::with_capacity(self.bytes);
        for (at, (value, delimiter)) in self.values.iter().enumerate() {
            if at > 0 {
                text.push_str(delimiter);
            }
            text.push_str(value);
        }
        Ok(ScalarValue::Utf8(Some(text)))
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.bytes * if self.seen.is_some() { 2 } else { 1 }
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |pick: fn(&(String, String)) -> &String| {
            let values: Vec<ScalarValue> =
                self.values.iter().map(|pair| ScalarValue::Utf8(Some(pick(pair).clone()))).collect();
            ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Utf8))
        };
        Ok(vec![list(|pair| &pair.0), list(|pair| &pair.1)])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let foreign = || SqlError::internal("string_agg got a foreign state");
        let [values, delimiters] = states else {
            return Err(foreign().into());
        };
        let values = values.as_list_opt::<i32>().ok_or_else(foreign)?;
        let delimiters = delimiters.as_list_opt::<i32>().ok_or_else(foreign)?;
        for row in 0..values.len() {
            self.take(&values.value(row), &delimiters.value(row))?;
        }
        Ok(())
    }
}
