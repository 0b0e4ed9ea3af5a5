//! [`LookupScanExec`]: the probe side of a join by key: reads the rows of a table that the keys of the
//! build side name, by the primary key or a secondary index, or the whole table when they are too many.

use super::key_tap::KeyTap;
use super::leaf::{self, leaf_methods};
use super::output::ScanOutput;
use super::range_reader::{ReadOptions, read_ranges};
use super::slots::{Slots, StatementContext};
use super::table_scan::TableScanExec;
use super::{index_scan, point_get};
use crate::catalog::IndexDescriptor;
use crate::encoding::{KeyEncoder, table_prefix};
use crate::error::Result;
use bytes::Bytes;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Statistics;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;
use storage::RowRange;
use txn::OwnWrites;

/// Keys read in one call to the store, at most.
const KEYS_AT_ONCE: usize = 1024;

/// Reads the rows that joined keys name.
#[derive(Clone, Debug)]
pub struct LookupScanExec {
    output: ScanOutput,
    index: Arc<IndexDescriptor>,
    encoder: Arc<KeyEncoder>,
    /// For each leading key column of the index, which of the tap's arrays holds its values.
    arrays: Vec<usize>,
    tap: Arc<KeyTap>,
    whole: Arc<dyn ExecutionPlan>,
    estimate: usize,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl LookupScanExec {
    /// In place of `whole`, a full scan: by the leading columns of `index`, whose values are the
    /// tap's arrays at `arrays`.
    pub fn new(whole: &TableScanExec, index: &IndexDescriptor, arrays: Vec<usize>, tap: Arc<KeyTap>) -> Self {
        let output = whole.output().clone();
        let columns = super::access_path::key_columns(&output.table, index);
        let encoder = KeyEncoder::new(columns.into_iter().map(|(_, column)| column).collect());
        // By the primary key, rows come in the order of the scan of the whole table, which may take its place.
        let ordering = if index.primary { output.ordering(index, &[], false) } else { vec![] };
        LookupScanExec {
            properties: leaf::properties(&output.schema, ordering, &[], 1),
            output,
            index: Arc::new(index.clone()),
            encoder: Arc::new(encoder),
            arrays,
            tap,
            estimate: whole.expected_rows(),
            whole: Arc::new(whole.clone()),
            slots: Arc::clone(whole.slots()),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    fn forget(&mut self) {
        self.metrics = ExecutionPlanMetricsSet::new();
        if let Ok(fresh) = Arc::clone(&self.whole).reset_state() {
            self.whole = fresh;
        }
    }

    /// Name of the table.
    pub fn table_name(&self) -> &str {
        &self.output.table.name
    }

    /// Name of the index.
    pub fn index_name(&self) -> &str {
        &self.index.name
    }

    /// Names of the key columns looked up.
    pub fn key_names(&self) -> Vec<String> {
        let columns = self.index.columns.iter().take(self.arrays.len());
        columns.filter_map(|key| Some(self.output.table.column(key.column)?.name.clone())).collect()
    }

    /// The encoded keys, in order, each once.
    fn keys(&self, batches: &[Vec<ArrayRef>]) -> Result<Vec<Bytes>> {
        let prefix = table_prefix(self.index.storage_id);
        let mut keys = Vec::new();
        for batch in batches {
            let arrays: Vec<ArrayRef> =
                self.arrays.iter().filter_map(|position| batch.get(*position).cloned()).collect();
            let rows = arrays.first().map_or(0, |array| array.len());
            for row in 0..rows {
                // NULL joins with nothing.
                if arrays.iter().any(|array| array.is_null(row)) {
                    continue;
                }
                let mut key = prefix.to_vec();
                self.encoder.encode_row(&arrays, row, &mut key)?;
                keys.push(Bytes::from(key));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The rows that the keys noted name; the whole table when they were too many to note.
    fn read(
        &self,
        context: &StatementContext,
        task: Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let Some(batches) = self.tap.keys() else {
            let whole = self.whole.execute(0, task)?;
            return Ok(whole.map_err(crate::SqlError::from).boxed());
        };
        let keys = self.keys(&batches)?;
        let own = OwnWrites::Before(context.command);
        let transaction = Arc::clone(&context.transaction);
        let output = self.output.clone();
        let whole_key = self.arrays.len() == self.index.columns.len();
        if self.index.primary && whole_key {
            let chunks: Vec<Vec<Bytes>> = keys.chunks(KEYS_AT_ONCE).map(<[Bytes]>::to_vec).collect();
            let batches = stream::iter(chunks).then(move |keys| {
                let (output, transaction) = (output.clone(), Arc::clone(&transaction));
                async move { point_get::read(&output, &transaction, own, &keys).await }
            });
            return Ok(batches.boxed());
        }
        let ranges = keys.into_iter().map(RowRange::prefix).collect();
        let options = ReadOptions { reverse: false, fetch: None, own };
        let pairs = read_ranges(Arc::clone(&transaction), ranges, options);
        if self.index.primary {
            let batches = pairs.map(move |pairs| {
                let pairs = pairs?;
                output.decode(pairs.iter().map(|(key, value)| (key, value)))
            });
            return Ok(batches.boxed());
        }
        let index = Arc::clone(&self.index);
        let index_only = index_scan::covers(&output, &index);
        let batches = pairs.then(move |entries| {
            let (output, index, transaction) = (output.clone(), Arc::clone(&index), Arc::clone(&transaction));
            async move { index_scan::read(&output, &index, index_only, &transaction, own, entries?).await }
        });
        Ok(batches.boxed())
    }

    fn lookup(&self, task: Arc<TaskContext>, rows: Count) -> Result<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let this = self.clone();
        // At the first poll the build side has been read to its end, not before.
        let batches = stream::once(async move { this.read(&context, task) }).try_flatten();
        let batches = batches.try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
        Ok(leaf::stream(&self.output.schema, batches, rows))
    }
}

impl DisplayAs for LookupScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "LookupScanExec: {} on {} ({})", self.index_name(), self.table_name(), self.key_names().join(", "))
    }
}

impl ExecutionPlan for LookupScanExec {
    leaf_methods!("LookupScanExec");

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> datafusion::error::Result<Arc<Statistics>> {
        Ok(leaf::estimate(&self.output.schema, self.estimate))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        Ok(self.lookup(context, rows)?)
    }
}
