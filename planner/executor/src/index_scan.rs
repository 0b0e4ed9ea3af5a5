//! [`IndexScanExec`]: reads ranges of a secondary index in its order. It also reads the rows, unless the entries hold
//! all columns needed.

use super::bounds::KeyBounds;
use super::leaf::{self, Estimate, leaf_methods};
use super::output::ScanOutput;
use super::range_reader::{ReadOptions, read_ranges};
use super::row_counter::Returned;
use super::slots::Slots;
use bytes::Bytes;
use catalog::encoding::IndexDecoder;
use catalog::{ColumnId, IndexDescriptor};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result as DataFusionResult, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;
use sql_error::state;
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;
use storage::RowRange;
use txn::{OwnWrites, Pairs, Transaction};

/// Reads rows through a secondary index.
#[derive(Clone, Debug)]
pub struct IndexScanExec {
    output: ScanOutput,
    index: Arc<IndexDescriptor>,
    bounds: Arc<KeyBounds>,
    constants: Vec<ColumnId>,
    reverse: bool,
    index_only: bool,
    fetch: Option<usize>,
    estimate: Estimate,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl IndexScanExec {
    /// Makes a scan of the entries in `bounds`.
    pub fn new(
        output: ScanOutput,
        index: Arc<IndexDescriptor>,
        bounds: Arc<KeyBounds>,
        constants: Vec<ColumnId>,
        slots: Arc<Slots>,
        estimate: Estimate,
    ) -> Self {
        let index_only = covers(&output, &index);
        let properties = Self::properties(&output, &index, &constants, false);
        IndexScanExec {
            output,
            index,
            bounds,
            constants,
            reverse: false,
            index_only,
            fetch: None,
            estimate,
            slots,
            properties,
            returned: Returned::default(),
        }
    }

    fn properties(
        output: &ScanOutput,
        index: &IndexDescriptor,
        constants: &[ColumnId],
        reverse: bool,
    ) -> Arc<PlanProperties> {
        let ordering = output.ordering(index, constants, reverse);
        leaf::properties(&output.schema, ordering, &output.positions(constants), 1)
    }

    /// The same scan in reverse order.
    pub fn reversed(&self) -> Self {
        let mut reversed = self.clone();
        reversed.reverse = !self.reverse;
        reversed.properties = Self::properties(&self.output, &self.index, &self.constants, reversed.reverse);
        reversed
    }

    /// Name of the table.
    pub fn table_name(&self) -> &str {
        &self.output.table.name
    }

    /// The columns that it returns.
    pub fn output(&self) -> &ScanOutput {
        &self.output
    }

    /// Descriptor of the index.
    pub fn index(&self) -> &Arc<IndexDescriptor> {
        &self.index
    }

    /// The slots that it reads.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Expected number of rows.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// The bounds of the keys read.
    pub fn bounds(&self) -> &Arc<KeyBounds> {
        &self.bounds
    }

    /// Whether it reads from the last key to the first.
    pub fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// Name of the index.
    pub fn index_name(&self) -> &str {
        &self.index.name
    }

    /// Whether only entries are read, not rows.
    pub fn is_index_only(&self) -> bool {
        self.index_only
    }
}

/// Whether an index's entries hold all columns of an output.
pub fn covers(output: &ScanOutput, index: &IndexDescriptor) -> bool {
    output.columns.iter().all(|column| IndexDecoder::covers(&output.table, index, *column))
}

/// The rows of a batch of entries. They come from the entries alone if these hold all columns.
pub(super) async fn read(
    output: &ScanOutput,
    index: &IndexDescriptor,
    index_only: bool,
    transaction: &Transaction,
    own: OwnWrites,
    entries: Pairs,
) -> Result<RecordBatch> {
    if index_only {
        entries_of(output, index, &entries)
    } else {
        rows_of(output, index, transaction, own, entries).await
    }
}

/// The entries of a batch that refer to a row whose key is in `range`.
pub(super) fn pointing_into(
    output: &ScanOutput,
    index: &IndexDescriptor,
    entries: Pairs,
    range: &RowRange,
) -> Result<Pairs> {
    let mut decoder = IndexDecoder::new(&output.table, index, &[], false)?;
    let mut kept = Vec::with_capacity(entries.len());
    for (key, value) in entries.into_list() {
        if range.contains(&decoder.row_key(&key, &value)?) {
            kept.push((key, value));
        }
    }
    Ok(kept.into())
}

/// The rows to which a batch of entries refers.
async fn rows_of(
    output: &ScanOutput,
    index: &IndexDescriptor,
    transaction: &Transaction,
    own: OwnWrites,
    entries: Pairs,
) -> Result<RecordBatch> {
    let mut decoder = IndexDecoder::new(&output.table, index, &[], false)?;
    let keys: Vec<Bytes> = entries.iter().map(|(key, value)| decoder.row_key(key, value)).collect::<Result<_>>()?;
    let values = transaction.get_many(&keys, own).await?;
    if values.len() != keys.len() || values.iter().any(Option::is_none) {
        return Err(SqlError::new(
            state::DATA_CORRUPTED,
            format!("index \"{}\" of table \"{}\" points at a row that is not there", index.name, output.table.name),
        )
        .hint(format!("CHECK INDEX {} lists what is wrong.", index.name)));
    }
    output.decode(keys.iter().zip(&values).filter_map(|(key, value)| Some((&key[..], value.as_deref()?))))
}

fn entries_of(output: &ScanOutput, index: &IndexDescriptor, entries: &Pairs) -> Result<RecordBatch> {
    let mut decoder = IndexDecoder::new(&output.table, index, &output.columns, output.key_position.is_some())?;
    for (key, value) in entries.iter() {
        decoder.push(key, value)?;
    }
    let columns = decoder.finish()?;
    output.batch(columns, entries.len())
}

impl DisplayAs for IndexScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let only = if self.index_only { " only" } else { "" };
        write!(f, "IndexScanExec:{only} {} on {} {}", self.index.name, self.output.table.name, self.bounds)?;
        if self.reverse {
            f.write_str(" reverse")?;
        }
        if let Some(fetch) = self.fetch {
            write!(f, " fetch={fetch}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for IndexScanExec {
    leaf_methods!("IndexScanExec");

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let mut limited = self.clone();
        limited.fetch = fetch;
        Some(Arc::new(limited))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> DataFusionResult<Arc<Statistics>> {
        Ok(self.estimate.statistics(&self.output.schema, self.fetch))
    }

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let own = OwnWrites::Before(context.command);
        let options = ReadOptions { reverse: self.reverse, fetch: self.fetch, own };
        let transaction = Arc::clone(&context.transaction);
        let pairs = read_ranges(Arc::clone(&transaction), self.bounds.ranges(&context)?, options);
        let rows = self.returned.counter();
        let (output, index, index_only) = (self.output.clone(), Arc::clone(&self.index), self.index_only);
        let batches = pairs.then(move |entries| {
            let (output, index, transaction) = (output.clone(), Arc::clone(&index), Arc::clone(&transaction));
            async move { read(&output, &index, index_only, &transaction, own, entries?).await }
        });
        Ok(leaf::stream(&self.output.schema, batches, rows))
    }
}
