//! [`Fold`]: an aggregate as a small state machine, wrapped for DataFusion: one state, one state per group, and
//! distinct values.

use crate::array::key::one_form_of;
use crate::typed::{SqlRead, SqlWrite};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::expr::AggregateFunctionParams;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::udaf_default_schema_name;
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, TypeSignature, Volatility,
};
use sql_error::{Result, SqlError};
use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;
use types::SqlType;

/// An aggregate over values of one type.
pub(super) trait Fold: Clone + fmt::Debug + Send + Sync + 'static {
    /// The type of the argument.
    type In: SqlRead;
    /// The type of the result.
    type Out: SqlWrite;
    /// The state before the first value.
    fn start(parameter: u8) -> Self;
    /// Adds a value, which is not NULL.
    fn add(&mut self, value: <Self::In as SqlRead>::Item<'_>) -> Result<()>;
    /// Removes a value as the window frame moves on. Only called if `REMOVES`.
    fn remove(&mut self, _value: <Self::In as SqlRead>::Item<'_>) -> Result<()> {
        Err(SqlError::internal("this aggregate cannot take a value out"))
    }
    /// Whether `remove` is implemented.
    const REMOVES: bool = false;
    /// Serializes the state to `out`.
    fn save(&self, out: &mut Vec<u8>);
    /// Adds a state that `save` wrote.
    fn merge(&mut self, state: &[u8]) -> Result<()>;
    /// The result. `None` for NULL.
    fn finish(&self) -> Result<Option<<Self::Out as SqlWrite>::Owned>>;
}

/// The aggregate function that runs a [`Fold`].
pub(super) struct FoldAggregate<F: Fold> {
    name: &'static str,
    parameter: u8,
    input: SqlType,
    result: SqlType,
    signature: Signature,
    /// Whether each distinct value counts once. DataFusion's own DISTINCT first groups by bytes. Equal numerics may
    /// have different bytes, and its groups have no order.
    distinct: bool,
    fold: PhantomData<F>,
}

impl<F: Fold> FoldAggregate<F> {
    /// `parameter` is passed to [`Fold::start`].
    pub(super) fn new(name: &'static str, parameter: u8, input: SqlType, result: SqlType) -> Self {
        FoldAggregate {
            name,
            parameter,
            input,
            result,
            signature: Signature::new(TypeSignature::Exact(vec![input.arrow()]), Volatility::Immutable),
            distinct: false,
            fold: PhantomData,
        }
    }
    /// The same aggregate over distinct values.
    pub(super) fn distinct(self, distinct: bool) -> Self {
        FoldAggregate { distinct, ..self }
    }
}

impl<F: Fold> fmt::Debug for FoldAggregate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.input.name())
    }
}
impl<F: Fold> PartialEq for FoldAggregate<F> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.input == other.input
            && self.parameter == other.parameter
            && self.distinct == other.distinct
    }
}
impl<F: Fold> Eq for FoldAggregate<F> {}
impl<F: Fold> Hash for FoldAggregate<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.input, self.parameter, self.distinct).hash(state);
    }
}

impl<F: Fold> AggregateUDFImpl for FoldAggregate<F> {
    fn name(&self) -> &str {
        self.name
    }
    fn schema_name(&self, params: &AggregateFunctionParams) -> DataFusionResult<String> {
        Ok(format!("{}{}", if self.distinct { "distinct " } else { "" }, udaf_default_schema_name(self, params)?))
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> DataFusionResult<DataType> {
        Ok(self.result.arrow())
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> DataFusionResult<Vec<FieldRef>> {
        let ty = if args.is_distinct || self.distinct {
            DataType::List(Arc::new(Field::new_list_field(self.input.arrow(), true)))
        } else {
            DataType::Binary
        };
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "state"), ty, true))])
    }
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> DataFusionResult<Box<dyn Accumulator>> {
        if args.is_distinct || self.distinct {
            return Ok(Box::new(DistinctFold::<F> {
                input: self.input,
                parameter: self.parameter,
                seen: HashSet::new(),
                values: Vec::new(),
                bytes: 0,
                fold: PhantomData,
            }));
        }
        Ok(Box::new(OneFold { fold: F::start(self.parameter) }))
    }
    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> DataFusionResult<Box<dyn Accumulator>> {
        if F::REMOVES {
            return self.accumulator(args);
        }
        Ok(Box::new(FrameFold::<F> {
            parameter: self.parameter,
            input: self.input,
            values: VecDeque::new(),
            fold: PhantomData,
        }))
    }
    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct && !self.distinct
    }
    fn create_groups_accumulator(&self, _: AccumulatorArgs<'_>) -> DataFusionResult<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(ManyFolds::<F> { parameter: self.parameter, folds: Vec::new() }))
    }
}

fn typed<F: Fold>(array: &ArrayRef) -> Result<&<F::In as SqlRead>::Array> {
    array
        .as_any()
        .downcast_ref::<<F::In as SqlRead>::Array>()
        .ok_or_else(|| SqlError::internal(format!("an aggregate got {}", array.data_type())))
}

fn first(arrays: &[ArrayRef]) -> Result<&ArrayRef> {
    arrays.first().ok_or_else(|| SqlError::internal("an aggregate lacks its argument"))
}

fn result_of<F: Fold>(fold: &F) -> Result<ScalarValue> {
    let mut builder = F::Out::builder(1);
    F::Out::append(&mut builder, fold.finish()?)?;
    Ok(ScalarValue::try_from_array(&F::Out::finish(builder), 0)?)
}

fn states(array: &ArrayRef) -> Result<&datafusion::arrow::array::BinaryArray> {
    array.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("an aggregate got a foreign state"))
}

#[derive(Debug)]
struct OneFold<F> {
    fold: F,
}

impl<F: Fold> Accumulator for OneFold<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        let array = typed::<F>(first(values)?)?;
        for row in 0..array.len() {
            if !array.is_null(row) {
                self.fold.add(F::In::item(array, row)?)?;
            }
        }
        Ok(())
    }
    fn evaluate(&mut self) -> DataFusionResult<ScalarValue> {
        Ok(result_of(&self.fold)?)
    }
    fn size(&self) -> usize {
        size_of_val(self)
    }
    fn state(&mut self) -> DataFusionResult<Vec<ScalarValue>> {
        let mut state = Vec::new();
        self.fold.save(&mut state);
        Ok(vec![ScalarValue::Binary(Some(state))])
    }
    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> DataFusionResult<()> {
        for state in states(first(arrays)?)?.iter().flatten() {
            self.fold.merge(state)?;
        }
        Ok(())
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        let array = typed::<F>(first(values)?)?;
        for row in 0..array.len() {
            if !array.is_null(row) {
                self.fold.remove(F::In::item(array, row)?)?;
            }
        }
        Ok(())
    }
    fn supports_retract_batch(&self) -> bool {
        F::REMOVES
    }
}

/// Collects distinct values and folds them at the end.
struct DistinctFold<F> {
    input: SqlType,
    parameter: u8,
    /// Keys of the values seen so far.
    seen: HashSet<ScalarValue>,
    /// The first value of each set of equals.
    values: Vec<ScalarValue>,
    bytes: usize,
    fold: PhantomData<F>,
}

impl<F> fmt::Debug for DistinctFold<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} distinct values", self.values.len())
    }
}

impl<F: Fold> DistinctFold<F> {
    fn take(&mut self, array: &ArrayRef) -> DataFusionResult<()> {
        for row in 0..array.len() {
            if !array.is_null(row) {
                let value = ScalarValue::try_from_array(array, row)?.compacted();
                let key = match &value {
                    ScalarValue::Binary(Some(bytes)) if self.input == SqlType::INTERVAL => {
                        ScalarValue::Binary(Some(types::interval::key_of(bytes).to_vec()))
                    }
                    ScalarValue::Binary(Some(bytes)) => {
                        ScalarValue::Binary(Some(types::numeric::key_of(bytes).to_vec()))
                    }
                    other => one_form_of(other.clone()),
                };
                if self.seen.insert(key) {
                    self.bytes += value.size();
                    self.values.push(value);
                }
            }
        }
        Ok(())
    }
}

impl<F: Fold> Accumulator for DistinctFold<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        self.take(first(values)?)
    }
    fn evaluate(&mut self) -> DataFusionResult<ScalarValue> {
        let mut fold = F::start(self.parameter);
        if !self.values.is_empty() {
            // Sorted as in PostgreSQL: the sum of floats depends on the order.
            self.values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            let array = ScalarValue::iter_to_array(self.values.iter().cloned())?;
            let array = typed::<F>(&array)?;
            for row in 0..array.len() {
                fold.add(F::In::item(array, row)?)?;
            }
        }
        Ok(result_of(&fold)?)
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.bytes * 2
    }
    fn state(&mut self) -> DataFusionResult<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&self.values, &self.input.arrow()))])
    }
    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> DataFusionResult<()> {
        let lists = first(arrays)?
            .as_list_opt::<i32>()
            .ok_or_else(|| SqlError::internal("an aggregate got a foreign state"))?
            .clone();
        for list in lists.iter().flatten() {
            self.take(&list)?;
        }
        Ok(())
    }
}

/// Runs a fold that cannot remove values over a moving frame. It keeps the frame's values and folds them again for each
/// row.
struct FrameFold<F> {
    parameter: u8,
    input: SqlType,
    values: VecDeque<ScalarValue>,
    fold: PhantomData<F>,
}

impl<F> fmt::Debug for FrameFold<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values in a frame", self.values.len())
    }
}

impl<F: Fold> Accumulator for FrameFold<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        let array = first(values)?;
        for row in 0..array.len() {
            self.values.push_back(ScalarValue::try_from_array(array, row)?);
        }
        Ok(())
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        // A moving frame only loses rows at its start.
        let gone = first(values)?.len().min(self.values.len());
        self.values.drain(..gone);
        Ok(())
    }
    fn supports_retract_batch(&self) -> bool {
        true
    }
    fn evaluate(&mut self) -> DataFusionResult<ScalarValue> {
        let mut fold = F::start(self.parameter);
        if !self.values.is_empty() {
            let array = ScalarValue::iter_to_array(self.values.iter().cloned())?;
            let array = typed::<F>(&array)?;
            for row in 0..array.len() {
                if !array.is_null(row) {
                    fold.add(F::In::item(array, row)?)?;
                }
            }
        }
        Ok(result_of(&fold)?)
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.values.iter().map(ScalarValue::size).sum::<usize>()
    }
    fn state(&mut self) -> DataFusionResult<Vec<ScalarValue>> {
        Err(SqlError::internal(format!("a frame of {} has no state", self.input.name())).into())
    }
    fn merge_batch(&mut self, _: &[ArrayRef]) -> DataFusionResult<()> {
        Err(SqlError::internal(format!("a frame of {} has no state", self.input.name())).into())
    }
}

#[derive(Debug)]
struct ManyFolds<F> {
    parameter: u8,
    folds: Vec<F>,
}

impl<F: Fold> ManyFolds<F> {
    fn grow(&mut self, groups: usize) {
        let parameter = self.parameter;
        self.folds.resize_with(groups, || F::start(parameter));
    }
}

impl<F: Fold> GroupsAccumulator for ManyFolds<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        groups: usize,
    ) -> DataFusionResult<()> {
        self.grow(groups);
        let array = typed::<F>(first(values)?)?;
        for (row, group) in group_indices.iter().enumerate() {
            if array.is_null(row) || filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                continue;
            }
            if let Some(fold) = self.folds.get_mut(*group) {
                fold.add(F::In::item(array, row)?)?;
            }
        }
        Ok(())
    }
    fn evaluate(&mut self, emit: EmitTo) -> DataFusionResult<ArrayRef> {
        let folds = emit.take_needed(&mut self.folds);
        let mut builder = F::Out::builder(folds.len());
        for fold in folds {
            F::Out::append(&mut builder, fold.finish()?)?;
        }
        Ok(F::Out::finish(builder))
    }
    fn state(&mut self, emit: EmitTo) -> DataFusionResult<Vec<ArrayRef>> {
        let folds = emit.take_needed(&mut self.folds);
        let mut builder = BinaryBuilder::with_capacity(folds.len(), folds.len() * 16);
        let mut state = Vec::new();
        for fold in folds {
            state.clear();
            fold.save(&mut state);
            builder.append_value(&state);
        }
        Ok(vec![Arc::new(builder.finish())])
    }
    fn merge_batch(&mut self, arrays: &[ArrayRef], group_indices: &[usize], groups: usize) -> DataFusionResult<()> {
        self.grow(groups);
        let states = states(first(arrays)?)?;
        for (row, group) in group_indices.iter().enumerate() {
            if let Some(fold) = self.folds.get_mut(*group)
                && !states.is_null(row)
            {
                fold.merge(states.value(row))?;
            }
        }
        Ok(())
    }
    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> DataFusionResult<Vec<ArrayRef>> {
        let array = typed::<F>(first(values)?)?;
        let mut builder = BinaryBuilder::with_capacity(array.len(), array.len() * 16);
        let mut state = Vec::new();
        for row in 0..array.len() {
            let mut fold = F::start(self.parameter);
            if !array.is_null(row) && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row)) {
                fold.add(F::In::item(array, row)?)?;
            }
            state.clear();
            fold.save(&mut state);
            builder.append_value(&state);
        }
        Ok(vec![Arc::new(builder.finish())])
    }
    fn size(&self) -> usize {
        self.folds.capacity() * size_of::<F>()
    }
}
