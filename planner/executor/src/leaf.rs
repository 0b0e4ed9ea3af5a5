//! Common parts of leaves: properties, batches, and the one-row batch for expressions without columns. Also common
//! parts of operators with one input.

use super::interrupt::paced;
use super::row_counter::Counter;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::compute::prep_null_mask_filter;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    AcrossPartitions, ConstExpr, EquivalenceProperties, Partitioning, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PlanProperties, SendableRecordBatchStream};
use futures::{Stream, StreamExt};
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// Properties of a leaf: its partitions, the order of rows in each, and the columns (positions in `schema`) that have
/// one value in the whole output.
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
    // Adding constants fails only for expressions outside the schema. These are its own columns.
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

/// A batch of `rows` rows, also for schemas without columns.
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

/// The methods of `ExecutionPlan` that all leaves share. `$name` is the leaf's name. Its field `properties` holds its
/// properties, and its field `returned` counts rows. A leaf without state of an execution is reused as it is. Otherwise
/// `$forgotten` is a function that makes a leaf without that state, or `None` if there is none.
macro_rules! leaf_methods {
    ($name:literal) => {
        crate::leaf::leaf_methods!($name, |_: &Self| None);
    };
    ($name:literal, $forgotten:expr) => {
        fn name(&self) -> &str {
            $name
        }
        fn properties(&self) -> &std::sync::Arc<datafusion::physical_plan::PlanProperties> {
            &self.properties
        }
        fn children(&self) -> Vec<&std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            vec![]
        }
        fn replace_children(
            self: std::sync::Arc<Self>,
            _children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
            _options: datafusion::physical_plan::ReplaceChildrenOptions,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(self)
        }
        fn with_new_children(
            self: std::sync::Arc<Self>,
            _children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(self)
        }
        fn apply_expressions(
            &self,
            _f: &mut dyn FnMut(
                &std::sync::Arc<dyn datafusion::physical_expr::PhysicalExpr>,
            ) -> datafusion::error::Result<datafusion::common::tree_node::TreeNodeRecursion>,
        ) -> datafusion::error::Result<datafusion::common::tree_node::TreeNodeRecursion> {
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        }
        fn reset_state(
            self: std::sync::Arc<Self>,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            self.returned.clear();
            let forgotten: Option<Self> = $forgotten(&self);
            Ok(match forgotten {
                Some(fresh) => std::sync::Arc::new(fresh),
                None => self,
            })
        }
        fn metrics(&self) -> Option<datafusion::physical_plan::metrics::MetricsSet> {
            Some(self.returned.metrics())
        }
    };
}
pub(crate) use leaf_methods;

/// The methods of `ExecutionPlan` that operators with one input share. The field `input` is the input. `fn
/// with_input(&self, input) -> Self` makes the same operator over another input.
#[macro_export]
macro_rules! input_methods {
    () => {
        $crate::input_methods!(children);
        fn replace_children(
            self: std::sync::Arc<Self>,
            children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
            _options: datafusion::physical_plan::ReplaceChildrenOptions,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(std::sync::Arc::new(self.with_input($crate::leaf::one_input(children)?)))
        }
        fn with_new_children(
            self: std::sync::Arc<Self>,
            children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(std::sync::Arc::new(self.with_input($crate::leaf::one_input(children)?)))
        }
    };
    // For an operator whose properties stay valid if the input's do. Then `with_like_input` applies, otherwise
    // `with_other_input` computes them again.
    (keeping) => {
        $crate::input_methods!(children);
        fn replace_children(
            self: std::sync::Arc<Self>,
            children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
            options: datafusion::physical_plan::ReplaceChildrenOptions,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            use datafusion::physical_plan::ChildrenPropertiesMode;
            let input = $crate::leaf::one_input(children)?;
            Ok(std::sync::Arc::new(match options.children_properties {
                ChildrenPropertiesMode::Keep => self.with_like_input(input),
                ChildrenPropertiesMode::Recompute => self.with_other_input(input)?,
            }))
        }
        fn with_new_children(
            self: std::sync::Arc<Self>,
            children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::error::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(std::sync::Arc::new(self.with_other_input($crate::leaf::one_input(children)?)?))
        }
    };
    (children) => {
        fn children(&self) -> Vec<&std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            vec![&self.input]
        }
        fn benefits_from_input_partitioning(&self) -> Vec<bool> {
            vec![false]
        }
    };
}

/// The input of an operator that has one. Errors: there is not exactly one.
pub fn one_input(children: Vec<Arc<dyn ExecutionPlan>>) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
    let missing = || datafusion::error::DataFusionError::Internal("an operator lacks its input".into());
    children.into_iter().next().ok_or_else(missing)
}

/// The rows for which a condition is true; NULL is not true.
pub fn true_rows(condition: &Arc<dyn PhysicalExpr>, rows: &RecordBatch) -> datafusion::error::Result<BooleanArray> {
    let kept = condition.evaluate(rows)?.into_array(rows.num_rows())?;
    Ok(match kept.as_boolean() {
        kept if kept.null_count() > 0 => prep_null_mask_filter(kept),
        kept => kept.clone(),
    })
}

/// Expected numbers of rows of a leaf.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Rows that it reads.
    pub read: usize,
    /// Rows that the filter right above it keeps. Equal to `read` if unknown.
    pub left: usize,
    /// Number of distinct values by output position. `None` if unknown.
    pub distinct: Arc<[Option<usize>]>,
}

impl Estimate {
    /// An estimate of `rows` rows without statistics.
    pub fn guess(rows: usize) -> Estimate {
        Estimate { read: rows, left: rows, distinct: Arc::default() }
    }

    /// The estimate as DataFusion's statistics. `fetch` is the most rows that are returned.
    pub fn statistics(&self, schema: &SchemaRef, fetch: Option<usize>) -> Arc<Statistics> {
        let mut statistics = Statistics::new_unknown(schema);
        statistics.num_rows = Precision::Inexact(fetch.map_or(self.left, |fetch| fetch.min(self.left)));
        for (column, distinct) in statistics.column_statistics.iter_mut().zip(self.distinct.iter()) {
            if let Some(distinct) = distinct {
                column.distinct_count = Precision::Inexact((*distinct).min(self.left));
            }
        }
        Arc::new(statistics)
    }
}

/// Statistics of a leaf that returns about `rows` rows.
pub fn estimate(schema: &SchemaRef, rows: usize) -> Arc<Statistics> {
    let mut statistics = Statistics::new_unknown(schema);
    statistics.num_rows = Precision::Inexact(rows);
    Arc::new(statistics)
}

/// Makes a stream of batches that counts rows and yields periodically.
pub fn stream(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
    rows: Counter,
) -> SendableRecordBatchStream {
    let counted = batches.map(move |batch| {
        let batch = batch?;
        rows.add(batch.num_rows());
        Ok(batch)
    });
    paced(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(schema), counted)))
}
