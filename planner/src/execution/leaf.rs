//! What all leaves share: properties, batches, the one-row batch on which expressions without
//! columns are evaluated.

use crate::error::{Result, SqlError};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::physical_expr::equivalence::AcrossPartitions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{ConstExpr, EquivalenceProperties, Partitioning, PhysicalSortExpr};
use datafusion::physical_plan::PlanProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use std::sync::Arc;

/// Properties of a leaf: its partitions, the order in which rows leave each, and the columns
/// (positions in `schema`) that have one value in the whole output.
pub fn properties(
    schema: &SchemaRef,
    ordering: Vec<PhysicalSortExpr>,
    constants: &[usize],
    partitions: usize,
) -> Arc<PlanProperties> {
    let mut equivalences = EquivalenceProperties::new(Arc::clone(schema));
    if !ordering.is_empty() {
        equivalences.add_ordering(ordering);
    }
    let constants = constants.iter().filter_map(|position| {
        let field = schema.fields().get(*position)?;
        let column = Arc::new(Column::new(field.name(), *position));
        Some(ConstExpr::new(column, AcrossPartitions::Uniform(None)))
    });
    // The only error is an expression that does not fit the schema; these are its own columns.
    let _ = equivalences.add_constants(constants.collect::<Vec<_>>());
    Arc::new(
        PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative),
    )
}

/// A batch of `rows` rows; works for schemas without columns too.
pub fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| SqlError::internal(format!("columns do not fit their schema: {error}")))
}

/// A batch of one row without columns.
pub fn one_row() -> RecordBatch {
    static ONE: std::sync::LazyLock<Option<RecordBatch>> =
        std::sync::LazyLock::new(|| batch(&Arc::new(Schema::empty()), vec![], 1).ok());
    ONE.clone().unwrap_or_else(|| RecordBatch::new_empty(Arc::new(Schema::empty())))
}
