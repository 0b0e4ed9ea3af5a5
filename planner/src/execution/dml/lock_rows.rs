//! [`LockRowsExec`]: buffers a lock-only record for each row that passes (FOR UPDATE and its kin).

use super::run::hold_table;
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::execution::Slots;
use crate::execution::detached::detached;
use bytes::Bytes;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;
use txn::{LockStrength, Transaction, Write, WriteKind};

/// Passes its input through and locks each row.
#[derive(Debug)]
pub struct LockRowsExec {
    table: Arc<TableDescriptor>,
    input: Arc<dyn ExecutionPlan>,
    key_column: usize,
    strength: LockStrength,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
}

impl LockRowsExec {
    /// Locks the rows whose keys are in `key_column` of the input.
    pub fn new(
        table: Arc<TableDescriptor>,
        input: Arc<dyn ExecutionPlan>,
        key_column: usize,
        strength: LockStrength,
        slots: Arc<Slots>,
    ) -> Self {
        let properties =
            Arc::new(input.properties().as_ref().clone().with_partitioning(Partitioning::UnknownPartitioning(1)));
        LockRowsExec { table, input, key_column, strength, slots, properties }
    }
    fn with_input(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input =
            children.into_iter().next().ok_or_else(|| DataFusionError::Internal("a lock has one input".into()))?;
        Ok(Arc::new(LockRowsExec::new(self.table.clone(), input, self.key_column, self.strength, self.slots.clone())))
    }
}

async fn lock(transaction: &Transaction, batch: &RecordBatch, column: usize, strength: LockStrength) -> Result<()> {
    let keys = batch
        .columns()
        .get(column)
        .and_then(|column| column.as_binary_opt::<i32>())
        .ok_or_else(|| SqlError::internal("the rows to lock have no key"))?;
    let writes: Vec<Write> = keys
        .iter()
        .flatten()
        .map(|key| Write { key: Bytes::copy_from_slice(key), kind: WriteKind::Lock, strength })
        .collect();
    if !writes.is_empty() {
        transaction.write(writes).await.map_err(SqlError::from)?;
    }
    Ok(())
}

impl DisplayAs for LockRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockRows: {} {:?}", self.table.name, self.strength)
    }
}

impl ExecutionPlan for LockRowsExec {
    fn name(&self) -> &str {
        "LockRows"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_input(children)
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_input(children)
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema: SchemaRef = self.schema();
        let context = self.slots.get()?;
        let input = detached(self.input.execute(0, task)?, &context.session.workers(), &self.slots, false);
        let (table, key_column, strength) = (self.table.clone(), self.key_column, self.strength);
        let stream = futures::stream::once(async move {
            hold_table(&context, &table).await?;
            let transaction = context.transaction.clone();
            Ok::<_, DataFusionError>(input.and_then(move |batch| {
                let transaction = transaction.clone();
                async move {
                    lock(&transaction, &batch, key_column, strength).await?;
                    Ok(batch)
                }
            }))
        })
        .try_flatten()
        .boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
