//! array_agg: it converts the list of DataFusion's array_agg to an array. Arrays become an array of one more dimension.

use crate::array::nested::collected;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use sql_error::SqlError;
use std::sync::Arc;
use types::array::{ArrayValue, of_elements};
use types::{Datum, SqlType};

/// array_agg over values of type `element`.
pub(super) fn function(element: SqlType) -> Arc<AggregateUDF> {
    super::own(ArrayAgg::around(array_agg_udaf().as_ref().clone(), element))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayAgg {
    inner: AggregateUDF,
    element: SqlType,
    signature: Signature,
}

impl ArrayAgg {
    fn around(inner: AggregateUDF, element: SqlType) -> Self {
        ArrayAgg { inner, element, signature: Signature::any(1, Volatility::Immutable) }
    }
}

/// Converts a collected list to an array. `None` for NULL.
fn array_of(list: &ListArray, row: usize, element: SqlType) -> sql_error::Result<Option<ArrayValue>> {
    if list.is_null(row) {
        return Ok(None);
    }
    if element.array { collected(&list.value(row)) } else { Ok(Some(list.value(row).into())) }
}

fn foreign() -> SqlError {
    SqlError::internal("array_agg collected no list")
}

impl AggregateUDFImpl for ArrayAgg {
    fn name(&self) -> &str {
        "array_agg"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.element.array_of().arrow())
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }
    fn with_beneficial_ordering(self: Arc<Self>, beneficial: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = self.inner.clone().with_beneficial_ordering(beneficial)?;
        Ok(inner.map(|inner| Arc::new(ArrayAgg::around(inner, self.element)) as Arc<dyn AggregateUDFImpl>))
    }
    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Reversed(function(self.element))
    }
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let backwards = is_backwards(&args);
        Ok(Box::new(One { inner: self.inner.accumulator(args)?, element: self.element, backwards }))
    }
    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let backwards = is_backwards(&args);
        Ok(Box::new(One { inner: self.inner.create_sliding_accumulator(args)?, element: self.element, backwards }))
    }
    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }
    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups { inner: self.inner.create_groups_accumulator(args)?, element: self.element }))
    }
}

/// Whether a window delivers the rows from last to first, which it does if its input has the opposite order.
/// DataFusion's function handles that only if the call has ORDER BY.
fn is_backwards(args: &AccumulatorArgs<'_>) -> bool {
    args.is_reversed && args.order_bys.is_empty()
}

#[derive(Debug)]
struct One {
    inner: Box<dyn Accumulator>,
    element: SqlType,
    backwards: bool,
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }
    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ScalarValue::List(mut list) = self.inner.evaluate()? else { return Err(foreign().into()) };
        if self.backwards && !list.is_null(0) {
            let values = list.value(0);
            let places: UInt32Array = (0..u32::try_from(values.len()).unwrap_or(u32::MAX)).rev().collect();
            let turned = take(values.as_ref(), &places, None)?;
            list = Arc::new(SingleRowListArrayBuilder::new(turned).with_nullable(true).build_list_array());
        }
        Ok(match array_of(&list, 0, self.element)? {
            Some(array) => array.into_datum()?,
            None => Datum::try_from(&self.element.array_of().arrow())?,
        })
    }
    fn size(&self) -> usize {
        self.inner.size()
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }
}

struct Groups {
    inner: Box<dyn GroupsAccumulator>,
    element: SqlType,
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.inner.update_batch(values, groups, filter, total)
    }
    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let made = self.inner.evaluate(emit)?;
        let lists = made.as_list_opt::<i32>().ok_or_else(foreign)?;
        if !self.element.array {
            return Ok(of_elements(lists.clone())?);
        }
        let mut builder = catalog::encoding::ColumnBuilder::new(self.element, lists.len());
        for row in 0..lists.len() {
            match array_of(lists, row, self.element)? {
                Some(array) => builder.append(&types::value::ValueRef::Array(array))?,
                None => builder.append_null(),
            }
        }
        Ok(builder.finish()?)
    }
    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit)
    }
    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.inner.merge_batch(values, groups, total)
    }
    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(values, filter)
    }
    fn size(&self) -> usize {
        self.inner.size()
    }
}
