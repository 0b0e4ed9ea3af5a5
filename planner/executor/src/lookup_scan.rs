//! [`LookupScanExec`]: the probe side of a join by key. It reads the table's rows with the keys of the build side, by
//! the primary key or a secondary index. If there are too many keys, it reads the whole table.

use super::bounds::KeyBounds;
use super::index_scan::IndexScanExec;
use super::key_lookup::{Everything, KeyLookup, LookupKey, NamedRows};
use super::key_range::{Limit, Limits};
use super::leaf::{self, Estimate, leaf_methods};
use super::output::ScanOutput;
use super::range_reader::{ReadOptions, read_ranges};
use super::row_counter::{Counter, Returned, let_go};
use super::runtime_join_filter::KeyTap;
use super::slots::{Slots, StatementContext};
use super::table_scan::TableScanExec;
use super::{index_scan, point_get};
use bytes::Bytes;
use catalog::IndexDescriptor;
use catalog::encoding::{KeyEncoder, table_prefix};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Statistics;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;
use storage::RowRange;
use txn::OwnWrites;

/// Most keys read in one call to the store.
const KEYS_AT_ONCE: usize = 1024;

/// The part of an index's key that is looked up.
#[derive(Clone, Debug)]
pub struct LookupKeys {
    /// Sources of the leading columns.
    pub columns: Vec<LookupKey>,
    /// Bounds of the next column.
    pub limits: Vec<Limit>,
}

/// A scan that a lookup may replace.
#[derive(Clone, Copy)]
pub enum Scan<'a> {
    /// A scan of a table or of a range of its primary key.
    Table(&'a TableScanExec),
    /// A scan of a range of an index.
    Index(&'a IndexScanExec),
}

impl Scan<'_> {
    /// The columns that it returns.
    pub fn output(&self) -> &ScanOutput {
        match self {
            Scan::Table(scan) => scan.output(),
            Scan::Index(scan) => scan.output(),
        }
    }

    /// Expected number of rows.
    pub fn estimate(&self) -> &Estimate {
        match self {
            Scan::Table(scan) => scan.estimate(),
            Scan::Index(scan) => scan.estimate(),
        }
    }

    /// Whether a lookup by `index` can tell the scan's rows from others. A scan in reverse order cannot be replaced:
    /// lookups return rows in forward order.
    pub fn can_be_looked_up_by(&self, index: &IndexDescriptor) -> bool {
        match self {
            Scan::Table(scan) => (self.is_whole() || scan.bounds().is_one_range()) && !scan.is_reverse(),
            Scan::Index(scan) => {
                scan.index().storage_id == index.storage_id && scan.bounds().is_one_range() && !scan.is_reverse()
            }
        }
    }

    fn slots(&self) -> &Arc<Slots> {
        match self {
            Scan::Table(scan) => scan.slots(),
            Scan::Index(scan) => scan.slots(),
        }
    }

    fn plan(&self) -> Arc<dyn ExecutionPlan> {
        match *self {
            Scan::Table(scan) => Arc::new(scan.clone()),
            Scan::Index(scan) => Arc::new(scan.clone()),
        }
    }

    fn bounds(&self) -> &Arc<KeyBounds> {
        match self {
            Scan::Table(scan) => scan.bounds(),
            Scan::Index(scan) => scan.bounds(),
        }
    }

    /// Whether it reads the whole table.
    pub fn is_whole(&self) -> bool {
        self.bounds().is_full()
    }

    /// Whether the amount of data is known: a range of parameters may include few rows or all.
    pub fn is_range_known(&self) -> bool {
        self.bounds().has_constant_limits()
    }
}

/// An empty range of keys.
fn nowhere() -> RowRange {
    RowRange { start: Bytes::new(), end: Some(Bytes::new()) }
}

/// Reads the rows whose keys come from the other side of a join.
#[derive(Clone, Debug)]
pub struct LookupScanExec {
    lookup: KeyLookup,
    limits: Limits,
    /// The range of the replaced scan, in the index or primary key. `None` if it reads the whole table.
    within: Option<Arc<KeyBounds>>,
    tap: Arc<KeyTap>,
    whole: Arc<dyn ExecutionPlan>,
    estimate: Estimate,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl LookupScanExec {
    /// Replaces `whole`, a scan below the filters whose values are in `keys`. It uses the leading columns of `index`,
    /// by which `whole` [can be looked up](Scan::can_be_looked_up_by).
    pub fn new(whole: Scan<'_>, index: &IndexDescriptor, keys: LookupKeys, tap: Arc<KeyTap>) -> Self {
        let output = whole.output().clone();
        let columns = super::access_path::key_columns(&output.table, index);
        let encoder = KeyEncoder::new(columns.into_iter().map(|(_, column)| column).collect());
        let LookupKeys { columns, limits } = keys;
        let limits = Limits::new(limits, encoder.columns().get(columns.len()).copied());
        // With the primary key, rows come in the order of the full scan, which may replace the lookup.
        let ordering = if index.primary { output.ordering(index, &[], false) } else { vec![] };
        LookupScanExec {
            properties: leaf::properties(&output.schema, ordering, &[], 1),
            lookup: KeyLookup { output, index: Arc::new(index.clone()), encoder: Arc::new(encoder), columns },
            limits,
            tap,
            within: (!whole.is_whole()).then(|| Arc::clone(whole.bounds())),
            estimate: whole.estimate().clone(),
            whole: whole.plan(),
            slots: Arc::clone(whole.slots()),
            returned: Returned::default(),
        }
    }

    /// Drops the state of the replaced scan, which may have run.
    fn forgotten(&self) -> Option<LookupScanExec> {
        let whole = let_go(&self.whole).ok()?;
        (!Arc::ptr_eq(&whole, &self.whole)).then(|| LookupScanExec { whole, ..self.clone() })
    }

    /// Name of the table.
    pub fn table_name(&self) -> &str {
        &self.lookup.output.table.name
    }

    /// Name of the index.
    pub fn index_name(&self) -> &str {
        &self.lookup.index.name
    }

    /// The looked-up key columns for EXPLAIN: names of joined columns, and conditions of filters on others.
    pub fn key_names(&self) -> String {
        fmt::from_fn(|f| {
            let mut first = true;
            let mut comma =
                |f: &mut fmt::Formatter<'_>| f.write_str(if std::mem::take(&mut first) { "" } else { ", " });
            let mut names = self.lookup.index.columns.iter().map(|key| self.lookup.output.table.column(key.column));
            for (source, column) in self.lookup.columns.iter().zip(&mut names) {
                let name = column.map_or("", |column| column.name.as_str());
                comma(f)?;
                match source {
                    LookupKey::Joined(_) => f.write_str(name)?,
                    LookupKey::Fixed(value) => write!(f, "({name} = {value})")?,
                }
            }
            if let Some(column) = names.next().flatten() {
                self.limits.describe(&column.name, f, &mut comma)?;
            }
            if let Some(bounds) = &self.within {
                comma(f)?;
                write!(f, "{bounds}")?;
            }
            Ok(())
        })
        .to_string()
    }

    /// The slots that it reads.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Whether each key identifies at most one row.
    pub fn names_rows(&self) -> bool {
        self.lookup.names_rows()
    }

    /// Whether the join key at this position is looked up, rather than only compared.
    pub fn looks_up(&self, position: usize) -> bool {
        self.lookup.columns.iter().any(|column| matches!(column, LookupKey::Joined(of) if *of == position))
    }

    /// Approximate number of rows that the replaced scan would read.
    pub fn rows_to_read(&self) -> usize {
        self.estimate.read
    }

    /// Resets the row count.
    pub fn forget_counts(&self) {
        self.returned.clear();
    }

    /// Finds the rows of whole primary keys, given as one array per join column.
    pub async fn find(&self, context: &StatementContext, joined: &[ArrayRef]) -> Result<NamedRows> {
        let range = match &self.within {
            None => None,
            Some(bounds) => Some(bounds.ranges(context)?.into_iter().next().unwrap_or_else(nowhere)),
        };
        let named = self.lookup.find(context, joined, range.as_ref()).await?;
        self.returned.counter().add(named.batch.num_rows());
        Ok(named)
    }

    /// All rows of the replaced scan. `None` if there are more than `most`, or if `memory` is exhausted.
    pub async fn everything(
        &self,
        context: &StatementContext,
        memory: &MemoryReservation,
        most: usize,
    ) -> Result<Option<Everything>> {
        let ranges = match &self.within {
            None => vec![RowRange::prefix(table_prefix(self.lookup.index.storage_id))],
            Some(bounds) => bounds.ranges(context)?,
        };
        let everything = self.lookup.everything(context, ranges, memory, most).await?;
        self.returned.counter().add(everything.as_ref().map_or(0, Everything::len));
        Ok(everything)
    }

    /// Finds rows by whole primary keys among those that are held.
    pub fn find_in(
        &self,
        everything: &Everything,
        context: &StatementContext,
        joined: &[ArrayRef],
    ) -> Result<NamedRows> {
        self.lookup.find_in(everything, context, joined)
    }

    /// The rows of the recorded keys. If there were too many keys to record, the whole table.
    fn read(
        &self,
        context: &StatementContext,
        task: Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let Some(batches) = self.tap.keys() else {
            let whole = self.whole.execute(0, task)?;
            return Ok(whole.map_err(sql_error::SqlError::from).boxed());
        };
        let mut keys = self.lookup.keys(context, &batches)?;
        let within = match &self.within {
            None => None,
            Some(bounds) => match bounds.ranges(context)?.as_slice() {
                [] => return Ok(stream::empty().boxed()),
                [range] => Some(range.clone()),
                _ => return Err(SqlError::internal("a look-up within several ranges")),
            },
        };
        let own = OwnWrites::Before(context.command);
        let transaction = Arc::clone(&context.transaction);
        let output = self.lookup.output.clone();
        if self.lookup.names_rows() {
            if let Some(range) = &within {
                keys.retain(|key| range.contains(key));
            }
            let chunks: Vec<Vec<Bytes>> = keys.chunks(KEYS_AT_ONCE).map(<[Bytes]>::to_vec).collect();
            let batches = stream::iter(chunks).then(move |keys| {
                let (output, transaction) = (output.clone(), Arc::clone(&transaction));
                async move { point_get::read(&output, &transaction, own, &keys).await }
            });
            return Ok(batches.boxed());
        }
        let ranges: Vec<RowRange> = match self.limits.evaluate(context)? {
            Some(limits) => keys.into_iter().filter_map(|key| limits.behind(key)).collect(),
            None => vec![],
        };
        // A range of the same index, or a range of the primary key, which the entries contain.
        let of_index = |range: &RowRange| range.start.starts_with(&table_prefix(self.lookup.index.storage_id));
        let (of_index, of_rows): (Option<RowRange>, Option<RowRange>) = match within {
            Some(range) if of_index(&range) => (Some(range), None),
            within => (None, within),
        };
        let ranges = match of_index {
            Some(within) => {
                ranges.iter().map(|range| range.intersect(&within)).filter(|range| !range.is_empty()).collect()
            }
            None => ranges,
        };
        let options = ReadOptions { reverse: false, fetch: None, own };
        let pairs = read_ranges(Arc::clone(&transaction), ranges, options);
        if self.lookup.index.primary {
            let batches = pairs.map(move |pairs| {
                let pairs = pairs?;
                output.decode(pairs.iter())
            });
            return Ok(batches.boxed());
        }
        let index = Arc::clone(&self.lookup.index);
        let index_only = index_scan::covers(&output, &index);
        let batches = pairs.then(move |entries| {
            let (output, index, transaction) = (output.clone(), Arc::clone(&index), Arc::clone(&transaction));
            let of_rows = of_rows.clone();
            async move {
                let entries = match of_rows {
                    Some(range) => index_scan::pointing_into(&output, &index, entries?, &range)?,
                    None => entries?,
                };
                index_scan::read(&output, &index, index_only, &transaction, own, entries).await
            }
        });
        Ok(batches.boxed())
    }

    fn lookup(&self, task: Arc<TaskContext>, rows: Counter) -> Result<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let this = self.clone();
        // At the first poll, and not before, the build side has been read to its end.
        let batches = stream::once(async move { this.read(&context, task) }).try_flatten();
        let batches = batches.try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
        Ok(leaf::stream(&self.lookup.output.schema, batches, rows))
    }
}

impl DisplayAs for LookupScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "LookupScanExec: {} on {} ({})", self.index_name(), self.table_name(), self.key_names())
    }
}

impl ExecutionPlan for LookupScanExec {
    leaf_methods!("LookupScanExec", Self::forgotten);

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> datafusion::error::Result<Arc<Statistics>> {
        Ok(self.estimate.statistics(&self.lookup.output.schema, None))
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        let rows = self.returned.counter();
        Ok(self.lookup(context, rows)?)
    }
}
