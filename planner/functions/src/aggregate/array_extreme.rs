//! min and max of arrays. They compare elements in turn (NULL sorts last), then lengths.

use super::own;
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, TypeSignature, Volatility};
use sql_error::SqlError;
use std::collections::VecDeque;
use std::sync::Arc;
use types::SqlType;

/// min or max over an array type.
pub(super) fn function(max: bool, ty: SqlType) -> Arc<AggregateUDF> {
    let signature = Signature::new(TypeSignature::Exact(vec![ty.arrow()]), Volatility::Immutable);
    own(ArrayExtreme { max, ty, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayExtreme {
    max: bool,
    ty: SqlType,
    signature: Signature,
}

impl AggregateUDFImpl for ArrayExtreme {
    fn name(&self) -> &str {
        if self.max { "max" } else { "min" }
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.ty.arrow())
    }
    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let encoder = KeyEncoder::new(vec![KeyColumn::ascending(self.ty)]);
        Ok(Box::new(Best { max: self.max, encoder, key: None, value: ScalarValue::try_from(&self.ty.arrow())? }))
    }
    fn create_sliding_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let encoder = KeyEncoder::new(vec![KeyColumn::ascending(self.ty)]);
        let none = ScalarValue::try_from(&self.ty.arrow())?;
        Ok(Box::new(InFrame { max: self.max, encoder, values: VecDeque::new(), none }))
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[value]", args.name), self.ty.arrow(), true))])
    }
}

/// The best value so far, and its sort key.
#[derive(Debug)]
struct Best {
    max: bool,
    encoder: KeyEncoder,
    key: Option<Vec<u8>>,
    value: ScalarValue,
}

impl Accumulator for Best {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first() else { return Err(SqlError::internal("min or max of nothing").into()) };
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            let mut key = Vec::new();
            self.encoder.encode_row(std::slice::from_ref(values), row, &mut key)?;
            // Of equal arrays the last one is shown, as for numerics.
            let stays = self.key.as_ref().is_some_and(|best| if self.max { *best > key } else { *best < key });
            if !stays {
                self.value = ScalarValue::try_from_array(values, row)?.compacted();
                self.key = Some(key);
            }
        }
        Ok(())
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.value.clone())
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.key.as_ref().map_or(0, Vec::capacity) + self.value.size()
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value.clone()])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }
}

/// The arrays in a moving frame with their sort keys. `None` for NULL.
#[derive(Debug)]
struct InFrame {
    max: bool,
    encoder: KeyEncoder,
    values: VecDeque<Option<(Vec<u8>, ScalarValue)>>,
    none: ScalarValue,
}

impl Accumulator for InFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first() else { return Err(SqlError::internal("min or max of nothing").into()) };
        for row in 0..values.len() {
            let mut held = None;
            if values.is_valid(row) {
                let mut key = Vec::new();
                self.encoder.encode_row(std::slice::from_ref(values), row, &mut key)?;
                held = Some((key, ScalarValue::try_from_array(values, row)?.compacted()));
            }
            self.values.push_back(held);
        }
        Ok(())
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // A moving frame only loses rows at its start.
        let gone = values.first().map_or(0, |values| values.len()).min(self.values.len());
        self.values.drain(..gone);
        Ok(())
    }
    fn supports_retract_batch(&self) -> bool {
        true
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let held = self.values.iter().flatten();
        let best = if self.max { held.max_by(|a, b| a.0.cmp(&b.0)) } else { held.min_by(|a, b| a.0.cmp(&b.0)) };
        Ok(best.map_or_else(|| self.none.clone(), |(_, value)| value.clone()))
    }
    fn size(&self) -> usize {
        let held = self.values.iter().flatten();
        size_of_val(self) + held.map(|(key, value)| key.capacity() + value.size()).sum::<usize>()
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }
}
