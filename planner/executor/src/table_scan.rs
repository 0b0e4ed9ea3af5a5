//! [`TableScanExec`]: reads a table's rows in key order: all rows, or ranges of the primary key.

use super::access_path::{Saying, key_columns};
use super::bounds::KeyBounds;
use super::first_rows::FirstRows;
use super::index_scan::{self, IndexScanExec};
use super::leaf::{self, Estimate, leaf_methods};
use super::output::ScanOutput;
use super::range_reader::{Pieces, ReadOptions, read_ranges};
use super::row_counter::Returned;
use super::slots::Slots;
use catalog::{ColumnId, IndexState};
use datafusion::common::{Result as DataFusionResult, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use sql_error::{Result, SqlError};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;
use txn::OwnWrites;

/// The state that the partitions of one execution share.
#[derive(Debug, Default)]
struct Execution {
    /// The pieces to read. The first partition determines them.
    pieces: Arc<OnceCell<Pieces>>,
    /// Partitions that have started. One that starts again belongs to another execution.
    begun: HashSet<usize>,
}

type Shares = Arc<Mutex<Execution>>;

/// Reads a table's rows in key order.
#[derive(Clone, Debug)]
pub struct TableScanExec {
    output: ScanOutput,
    bounds: Arc<KeyBounds>,
    constants: Vec<ColumnId>,
    reverse: bool,
    fetch: Option<usize>,
    partitions: usize,
    estimate: Estimate,
    unused: Arc<[(ColumnId, Saying)]>,
    large: bool,
    slots: Arc<Slots>,
    shares: Shares,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl TableScanExec {
    /// Reads the keys in `bounds`, in `partitions` groups of tablets.
    pub fn new(
        output: ScanOutput,
        bounds: Arc<KeyBounds>,
        constants: Vec<ColumnId>,
        slots: Arc<Slots>,
        partitions: usize,
        estimate: Estimate,
    ) -> Self {
        let properties = Self::properties(&output, &constants, false, partitions);
        TableScanExec {
            output,
            bounds,
            constants,
            reverse: false,
            fetch: None,
            partitions,
            estimate,
            unused: Arc::default(),
            large: false,
            slots,
            shares: Arc::default(),
            properties,
            returned: Returned::default(),
        }
    }

    fn properties(
        output: &ScanOutput,
        constants: &[ColumnId],
        reverse: bool,
        partitions: usize,
    ) -> Arc<PlanProperties> {
        let ordering = output.table.primary_key().map(|key| output.ordering(key, constants, reverse));
        leaf::properties(&output.schema, ordering.unwrap_or_default(), &output.positions(constants), partitions)
    }

    /// Sets the filters' conditions on columns that the bounds do not use.
    pub fn knowing(mut self, unused: Vec<(ColumnId, Saying)>) -> Self {
        self.unused = unused.into();
        self
    }

    /// The filters' conditions on columns that the bounds do not use.
    pub fn unused(&self) -> &[(ColumnId, Saying)] {
        &self.unused
    }

    /// Marks the scan as large enough for parallel reading.
    pub fn large(mut self) -> Self {
        self.large = true;
        self
    }

    /// Whether the scan is large enough for parallel reading.
    pub fn is_large(&self) -> bool {
        self.large && self.fetch.is_none() && !self.reverse
    }

    /// The same scan in reverse order.
    pub fn reversed(&self) -> Self {
        let mut reversed = self.clone();
        reversed.reverse = !self.reverse;
        // The order must hold for all rows, so there is one partition.
        reversed.partitions = 1;
        reversed.properties = Self::properties(&self.output, &self.constants, reversed.reverse, 1);
        reversed
    }

    /// Full index scans that return the same rows in other orders. The index must hold all columns needed, unless
    /// `first_rows` says that only a few rows are wanted. Empty if the bounds use the primary key.
    pub fn index_alternatives(&self, first_rows: bool) -> Vec<IndexScanExec> {
        let table = &self.output.table;
        if !self.bounds.is_full() {
            return vec![];
        }
        table
            .secondary_indexes()
            .filter(|index| index.state == IndexState::Public && index.predicate.is_none())
            .filter(|index| first_rows || index_scan::covers(&self.output, index))
            .map(|index| {
                let bounds = KeyBounds::new(index.storage_id, key_columns(table, index), vec![], vec![]);
                let (output, slots) = (self.output.clone(), Arc::clone(&self.slots));
                IndexScanExec::new(
                    output,
                    Arc::new(index.clone()),
                    Arc::new(bounds),
                    vec![],
                    slots,
                    self.estimate.clone(),
                )
            })
            .collect()
    }

    fn begin(&self, partition: usize) -> Arc<OnceCell<Pieces>> {
        let mut execution = self.shares.lock();
        if !execution.begun.insert(partition) {
            *execution = Execution { begun: HashSet::from([partition]), ..Execution::default() };
        }
        Arc::clone(&execution.pieces)
    }

    /// Drops the pieces of the last execution.
    fn forgotten(&self) -> Option<TableScanExec> {
        (self.partitions > 1).then(|| TableScanExec { shares: Shares::default(), ..self.clone() })
    }

    /// The reader without streams, if it returns few rows.
    pub fn first_rows(&self) -> Option<FirstRows> {
        let fetch = self.fetch.filter(|_| self.partitions == 1)?;
        FirstRows::new(self.output.clone(), Arc::clone(&self.bounds), self.reverse, fetch)
    }

    /// Name of the table.
    pub fn table_name(&self) -> &str {
        &self.output.table.name
    }

    /// The bounds of the keys read.
    pub fn bounds(&self) -> &Arc<KeyBounds> {
        &self.bounds
    }

    /// Whether it reads from the last key to the first.
    pub fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// The columns that it returns.
    pub fn output(&self) -> &ScanOutput {
        &self.output
    }

    /// The slots that it reads.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Expected number of rows.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// Number of partitions of the scan.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// Name of the primary key, if there is one.
    pub fn index_name(&self) -> Option<&str> {
        self.output.table.primary_key().map(|key| key.name.as_str())
    }
}

impl DisplayAs for TableScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "TableScanExec: {}", self.output.table.name)?;
        if !self.bounds.is_full() {
            write!(f, " {}", self.bounds)?;
        }
        if self.reverse {
            f.write_str(" reverse")?;
        }
        if let Some(fetch) = self.fetch {
            write!(f, " fetch={fetch}")?;
        }
        if self.partitions > 1 {
            write!(f, " partitions={}", self.partitions)?;
        }
        Ok(())
    }
}

impl ExecutionPlan for TableScanExec {
    leaf_methods!("TableScanExec", Self::forgotten);

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let mut limited = self.clone();
        limited.fetch = fetch;
        limited.shares = Shares::default();
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

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let ranges = self.bounds.ranges(&context)?;
        let options = ReadOptions { reverse: self.reverse, fetch: self.fetch, own: OwnWrites::Before(context.command) };
        let transaction = Arc::clone(&context.transaction);
        let rows = self.returned.counter();
        let output = self.output.clone();
        let pairs = if self.partitions > 1 {
            let (pieces, partitions) = (self.begin(partition), self.partitions);
            let read = async move {
                let pieces = pieces.get_or_try_init(|| Pieces::of(&transaction, &ranges, partitions)).await?;
                Ok::<_, SqlError>(pieces.read(Arc::clone(&transaction), options))
            };
            futures::stream::once(read).try_flatten().boxed()
        } else {
            read_ranges(transaction, ranges, options)
        };
        let batches = pairs.map(move |pairs| -> Result<_> {
            let pairs = pairs?;
            output.decode(pairs.iter())
        });
        Ok(leaf::stream(&self.output.schema, batches, rows))
    }
}
