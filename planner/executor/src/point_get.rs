//! [`PointGetExec`]: reads rows by their primary key: a single one, or the few of IN lists.

use super::batch_decoder::BatchDecoder;
use super::bounds::KeyBounds;
use super::leaf::{self, leaf_methods};
use super::output::ScanOutput;
use super::projection::Projector;
use super::row_counter::Returned;
use super::slots::{Slots, StatementContext};
use bytes::Bytes;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result as DataFusionResult, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt, stream};
use sql_error::Result;
use std::fmt;
use std::sync::Arc;
use txn::OwnWrites;
use types::Oid;

/// Most rows read in one call to the store.
const KEYS_AT_ONCE: usize = 1024;

/// Reads the rows whose whole primary key is given.
#[derive(Clone, Debug)]
pub struct PointGetExec {
    output: ScanOutput,
    index: usize,
    bounds: Arc<KeyBounds>,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl PointGetExec {
    /// Makes a read of the keys in `bounds`. The primary key is the table's index number `index`.
    pub fn new(
        output: ScanOutput,
        index: usize,
        bounds: Arc<KeyBounds>,
        constants: &[catalog::ColumnId],
        slots: Arc<Slots>,
    ) -> Self {
        let ordering = output.table.indexes.get(index).map(|key| output.ordering(key, constants, false));
        let positions = output.positions(constants);
        let properties = leaf::properties(&output.schema, ordering.unwrap_or_default(), &positions, 1);
        PointGetExec { output, index, bounds, slots, properties, returned: Returned::default() }
    }

    /// Name of the table.
    pub fn table_name(&self) -> &str {
        &self.output.table.name
    }

    /// OID of the table.
    pub fn table_oid(&self) -> Oid {
        self.output.table.oid
    }

    /// The bounds of the keys read.
    pub fn bounds(&self) -> &Arc<KeyBounds> {
        &self.bounds
    }

    /// The reader without streams, if there is at most one key.
    pub fn reader(&self) -> Option<PointReader> {
        let one = self.bounds.single_values() == self.bounds.equalities();
        one.then(|| PointReader { rows: BatchDecoder::new(self.output.clone()), bounds: Arc::clone(&self.bounds) })
    }

    /// Name of the primary key.
    pub fn index_name(&self) -> &str {
        self.output.table.indexes.get(self.index).map_or("", |index| &index.name)
    }
}

/// Reads the row of a single key, for one execution after another.
pub struct PointReader {
    rows: BatchDecoder,
    bounds: Arc<KeyBounds>,
}

impl PointReader {
    /// A reader of only the columns that a projection keeps. `None` if the projection computes anything.
    pub fn narrowed(&self, projector: &Projector) -> Option<PointReader> {
        Some(PointReader { rows: self.rows.narrowed(projector)?, bounds: Arc::clone(&self.bounds) })
    }

    /// The row with this execution's key, if there is one.
    pub async fn read(&mut self, context: &StatementContext) -> Result<Option<RecordBatch>> {
        let Some(key) = self.bounds.point(context)? else { return Ok(None) };
        let Some(value) = context.transaction.get(&key, OwnWrites::Before(context.command)).await? else {
            return Ok(None);
        };
        self.rows.decode(1, [(&key[..], &value[..])]).map(Some)
    }
}

/// Reads and decodes rows by key. Missing rows are left out.
pub(super) async fn read(
    output: &ScanOutput,
    transaction: &txn::Transaction,
    own: OwnWrites,
    keys: &[Bytes],
) -> Result<RecordBatch> {
    if let [key] = keys {
        let value = transaction.get(key, own).await?;
        return output.decode(value.iter().map(|value| (&key[..], &value[..])));
    }
    let values = Box::pin(transaction.get_many(keys, own)).await?;
    output.decode(keys.iter().zip(&values).filter_map(|(key, value)| Some((&key[..], value.as_deref()?))))
}

impl DisplayAs for PointGetExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "PointGetExec: {} using {} {}", self.output.table.name, self.index_name(), self.bounds)
    }
}

impl ExecutionPlan for PointGetExec {
    leaf_methods!("PointGetExec");

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> DataFusionResult<Arc<Statistics>> {
        let single = self.bounds.single_values() == self.bounds.equalities();
        Ok(leaf::estimate(&self.output.schema, if single { 1 } else { 10 }))
    }

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let keys = self.bounds.points(&context)?;
        let rows = self.returned.counter();
        let output = self.output.clone();
        let own = OwnWrites::Before(context.command);
        let transaction = Arc::clone(&context.transaction);
        let chunks: Vec<Vec<Bytes>> = keys.chunks(KEYS_AT_ONCE).map(<[Bytes]>::to_vec).collect();
        let batches = stream::iter(chunks).then(move |keys| {
            let (output, transaction) = (output.clone(), Arc::clone(&transaction));
            async move { read(&output, &transaction, own, &keys).await }
        });
        let batches = batches.try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
        Ok(leaf::stream(&self.output.schema, batches, rows))
    }
}
