//! DISTINCT, and our own aggregates that it and scalar subqueries need.

use super::binder::{Binder, column};
use super::query::BoundQuery;
use super::scope::ScopeColumn;
use crate::error::{Result, SqlError, state};
use crate::types::Datum;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, LogicalPlanBuilder, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};

impl Binder<'_> {
    /// Removes duplicate rows. Of equal values that look different (numeric 1.0 and 1.00) one is shown.
    pub fn distinct(&self, bound: BoundQuery) -> Result<BoundQuery> {
        if bound.columns.is_empty() {
            // All rows without columns are equal.
            let plan = LogicalPlanBuilder::from(bound.plan).limit(0, Some(1))?.build()?;
            return Ok(BoundQuery { plan, columns: bound.columns });
        }
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut columns = Vec::new();
        for old in &bound.columns {
            let key = self.resolver.group_key(old.typed())?;
            let key_name = self.unique("k");
            let name = if key == old.expr {
                key_name.clone()
            } else {
                let name = self.unique("a");
                values.push(first_value_udaf().call(vec![old.expr.clone()]).alias(&name));
                name
            };
            keys.push(key.alias(&key_name));
            columns.push(ScopeColumn { expr: column(name), ..old.clone() });
        }
        let plan = LogicalPlanBuilder::from(bound.plan).aggregate(keys, values)?.build()?;
        Ok(BoundQuery { plan, columns })
    }
}

pub use crate::execution::subquery::SINGLE_VALUE;

/// The value of a subquery's single row. NULL without rows. Errors: 21000 for more rows.
pub fn single_value(expr: Expr) -> Expr {
    static SINGLE: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| Arc::new(AggregateUDF::from(SingleValue::new())));
    SINGLE.call(vec![expr])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SingleValue {
    signature: Signature,
}

impl SingleValue {
    fn new() -> Self {
        SingleValue { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for SingleValue {
    fn name(&self) -> &str {
        SINGLE_VALUE
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, types: &[DataType]) -> datafusion::common::Result<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> datafusion::common::Result<Box<dyn Accumulator>> {
        let value = Datum::try_from(args.return_field.data_type())?;
        Ok(Box::new(SingleAccumulator { value, rows: 0 }))
    }
    fn state_fields(
        &self,
        args: StateFieldsArgs<'_>,
    ) -> datafusion::common::Result<Vec<datafusion::arrow::datatypes::FieldRef>> {
        use datafusion::arrow::datatypes::Field;
        Ok(vec![
            Arc::new(Field::new(format!("{}[value]", args.name), args.return_field.data_type().clone(), true)),
            Arc::new(Field::new(format!("{}[rows]", args.name), DataType::Int64, true)),
        ])
    }
}

#[derive(Debug)]
struct SingleAccumulator {
    value: Datum,
    rows: i64,
}

fn too_many() -> datafusion::error::DataFusionError {
    SqlError::new(state::CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression").into()
}

impl Accumulator for SingleAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> datafusion::common::Result<()> {
        let Some(array) = values.first() else { return Ok(()) };
        self.rows += i64::try_from(array.len()).unwrap_or(i64::MAX);
        if self.rows > 1 {
            return Err(too_many());
        }
        if !array.is_empty() {
            self.value = Datum::try_from_array(array, 0)?;
        }
        Ok(())
    }
    fn evaluate(&mut self) -> datafusion::common::Result<Datum> {
        Ok(self.value.clone())
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.value.size()
    }
    fn state(&mut self) -> datafusion::common::Result<Vec<Datum>> {
        Ok(vec![self.value.clone(), Datum::Int64(Some(self.rows))])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> datafusion::common::Result<()> {
        let (Some(values), Some(rows)) = (states.first(), states.get(1)) else { return Ok(()) };
        for at in 0..rows.len() {
            let Datum::Int64(Some(count)) = Datum::try_from_array(rows, at)? else { continue };
            if count == 0 {
                continue;
            }
            self.rows += count;
            if self.rows > 1 {
                return Err(too_many());
            }
            self.value = Datum::try_from_array(values, at)?;
        }
        Ok(())
    }
}
