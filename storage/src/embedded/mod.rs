//! [`EmbeddedStore`]: the engine for one machine, over RocksDB.
//!
//! It has a column family for each [`Family`], one write-ahead log, and keys as in [`key`]. Every change of rows
//! passes the committer ([`committer`]). Reads go straight to RocksDB ([`reader`]). Tablets are metadata
//! ([`tablets`], [`maintenance`]). FORMAT.md, beside this crate's sources, documents the bytes.

mod arena;
mod bulk;
pub mod committer;
mod dead_runs;
pub mod folder;
pub mod hot;
mod iterator_pool;
pub mod key;
mod leaf_reader;
pub mod log;
pub mod maintenance;
mod multi_get;
mod newest;
pub mod options;
pub mod range_cache;
pub mod reader;
pub mod row_cache;
mod split_points;
pub mod sst_ingest;
pub mod tablets;
mod wal_preallocate;
mod wal_reader;
pub mod wal_recovery;
mod wal_trailer;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod fault_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod hot_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod read_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;

use crate::committer::snapshots::SnapshotRegistry;
use crate::committer::{Answer, Committer, Recovered, Request};
use crate::contract::{
    AtomicCommit, BulkCommit, BulkLoad, Cell, CommitBatch, Condition, FailedCondition, Family, FamilyFilter,
    LogStatistics, MemoryUse, Mutation, Plain, ReadFilter, Row, RowMutation, RowRange, ScanOptions, SnapshotGuard,
    Store, TabletInfo, Validator, Watch,
};
use crate::env::{BoxFuture, EnvRef};
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
use crate::timestamp::{Timestamp, TimestampSource};
use bytes::Bytes;
use committer::CommitterThread;
use folder::Folder;
use futures::channel::oneshot;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use hot::Hot;
use iterator_pool::KeptCursors;
use log::{Database, RocksLog};
use maintenance::{Maintenance, TabletKeeper};
use newest::Newest;
pub use options::EmbeddedOptions;
use reader::{ScanBounds, Scanner};
use sst_ingest::{Loader, Loads};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use tablets::{Tablet, TabletDirectory};

/// A store in a directory. Dropping it finishes the requests under way, syncs the log and closes the store.
pub struct EmbeddedStore {
    // Fields are dropped in this order: first the threads, then the database, then the folder's lock.
    _maintenance: Maintenance,
    committer: CommitterThread,
    loads: Loads,
    keeper: Arc<TabletKeeper>,
    cursors: Arc<KeptCursors>,
    database: Arc<Database>,
    hot: Arc<Hot>,
    directory: Arc<TabletDirectory>,
    snapshots: Arc<SnapshotRegistry>,
    recovered: Recovered,
    env: EnvRef,
    _folder: Folder,
}

impl EmbeddedStore {
    /// Opens the store in a directory, and creates it if there is none. `timestamps` stamps commits
    /// from the first one on. Its owner may call [`Store::recovered_max_timestamp`] first. Errors:
    /// `InUse`, `Format`, `Corrupted`, `Io`.
    pub fn open(
        path: &Path,
        timestamps: Arc<dyn TimestampSource>,
        env: EnvRef,
        options: EmbeddedOptions,
    ) -> Result<Arc<EmbeddedStore>> {
        let folder = Folder::open(path)?;
        wal_recovery::check(&folder.database())?;
        let rocks = rocksdb::DB::open_cf_descriptors(
            &options::database(&options),
            folder.database(),
            options::families(&options),
        )
        .map_err(database_error)?;
        folder.sync_names()?;
        let database = Database::new(rocks, (env.random() as u32).max(1));
        let recovered = database.recovered()?;
        let directory = match database.get_meta(maintenance::DIRECTORY_NAME)? {
            Some(bytes) => TabletDirectory::decode(&bytes)?,
            None => TabletDirectory::new(),
        };
        let directory = Arc::new(directory);
        let snapshots = SnapshotRegistry::new(recovered.visible);
        let c_path = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| StoreError::Io(format!("{} is no path", path.display())))?;
        let hot = Arc::new(Hot::new(&options));
        let loader = Loader::new(database.clone(), hot.clone(), &folder.loads(), c_path.clone(), options.reserve_bytes)
            .map_err(|error| StoreError::Io(format!("cannot empty {}: {error}", folder.loads().display())))?;
        let log = RocksLog::new(database.clone(), hot.clone(), c_path, options.reserve_bytes);
        let sync = log.syncer();
        let committer = Committer::new(log, timestamps, snapshots.clone(), recovered, options.recent_bytes);
        let cursors = Arc::new(KeptCursors::new(database.clone()));
        let keeper = Arc::new(TabletKeeper {
            database: database.clone(),
            cursors: cursors.clone(),
            directory: directory.clone(),
            options,
        });
        Ok(Arc::new(EmbeddedStore {
            _maintenance: Maintenance::start(keeper.clone(), &env),
            committer: CommitterThread::start(committer, sync, &env, options.sync_interval),
            keeper,
            cursors,
            database,
            hot,
            directory,
            snapshots,
            loads: Loads::new(loader),
            recovered,
            env,
            _folder: folder,
        }))
    }

    /// Starts a tablet at each of `keys`, durably. For loads whose keys are known in advance.
    pub fn split_at(&self, keys: &[Bytes]) -> Result<()> {
        for key in keys {
            let range = RowRange { start: key.clone(), end: None };
            if let Some(tablet) = self.directory.overlapping(&range).first() {
                self.directory.split(tablet.id, std::slice::from_ref(key));
            }
        }
        self.keeper.store()
    }

    /// Makes a pass over the tablets now. Answers whether any changed.
    pub fn maintain_tablets(&self) -> Result<bool> {
        self.keeper.pass(self.keeper.options.tablet_interval)
    }

    /// Flushes the memtables, so that sizes are known and reopening has nothing to replay.
    pub fn flush(&self) -> Result<()> {
        for family in Family::ALL {
            self.database.rocks().flush_cf(self.database.family(family)?).map_err(database_error)?;
        }
        self.database.rocks().flush().map_err(database_error)
    }

    /// Compacts the whole store, which frees the space of removed cells.
    pub fn compact(&self) -> Result<()> {
        for family in Family::ALL {
            self.database.rocks().compact_range_cf(self.database.family(family)?, None::<&[u8]>, None::<&[u8]>);
        }
        Ok(())
    }

    /// The write or sync failure that stops writes until the store is reopened, if there was one.
    pub fn failure(&self) -> Option<String> {
        self.committer.failure().or_else(|| self.database.failure().map(|error| error.to_string()))
    }

    /// The batches of a scan. `next` reads a batch of at most the given number of rows; `count` counts its rows.
    fn batches<'a, T: Send + 'a>(
        &'a self,
        scanner: Scanner<'a>,
        options: ScanOptions,
        next: impl Fn(&mut Scanner<'a>, usize) -> Result<T> + Copy + Send + 'a,
        count: impl Fn(&T) -> usize + Copy + Send + 'a,
    ) -> BoxStream<'a, Result<T>> {
        let left = options.limit.unwrap_or(usize::MAX);
        stream::unfold((scanner, left), move |(mut scanner, left)| async move {
            while left > 0 && !scanner.ended() {
                match next(&mut scanner, options.batch_rows.max(1).min(left)).map(|rows| (count(&rows), rows)) {
                    // A consumer takes a pending stream for a slow one, so an empty scan of a short
                    // range must not pause.
                    Ok((0, _)) if scanner.ended() => break,
                    Ok((0, _)) => {}
                    Ok((rows, batch)) => return Some((Ok(batch), (scanner, left - rows))),
                    Err(error) => return Some((Err(error), (scanner, 0))),
                }
                // Many rows were read and none found. Yield, so that other tasks run and the scan can be dropped.
                yield_once().await;
            }
            None
        })
        .boxed()
    }

    /// The batches of a scan as packed rows.
    fn packed<'a>(&'a self, scanner: Scanner<'a>, options: ScanOptions) -> BoxStream<'a, Result<PackedRows>> {
        self.batches(scanner, options, Scanner::next_packed, |rows: &PackedRows| {
            self.directory.count_ordered(rows.iter().map(|(key, _)| key), Tablet::count_reads);
            rows.len()
        })
    }

    /// The batches of a scan as rows.
    fn rows<'a>(&'a self, scanner: Scanner<'a>, options: ScanOptions) -> BoxStream<'a, Result<Vec<Row>>> {
        self.batches(scanner, options, Scanner::next, |rows: &Vec<Row>| {
            self.directory.count_ordered(rows.iter().map(|row| &row.key[..]), Tablet::count_reads);
            rows.len()
        })
    }

    async fn request(&self, request: Request, ordered: Option<oneshot::Sender<Timestamp>>) -> Answer {
        match &request {
            Request::Commit(batch) => {
                self.directory.count(batch.cells.iter().map(|cell| &cell.key[..]), Tablet::count_writes);
            }
            Request::Rows { rows, .. } => {
                self.directory.count(rows.iter().map(|row| &row.key[..]), Tablet::count_writes);
            }
            // Prepared cells were counted when they were made.
            Request::RemoveRange(_) | Request::Claim(_) | Request::Prepared(_) => {}
        }
        self.committer.request(request, ordered).await
    }
}

/// A future that is ready at its second poll.
async fn yield_once() {
    let mut polled = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// Maps RocksDB's errors to store errors, by what the caller should do.
pub(crate) fn database_error(error: rocksdb::Error) -> StoreError {
    let text = error.to_string();
    match error.kind() {
        rocksdb::ErrorKind::Corruption => StoreError::Corrupted(text),
        rocksdb::ErrorKind::IOError if text.contains("No space left") => StoreError::DiskFull(text),
        rocksdb::ErrorKind::IOError if text.contains("LOCK:") => StoreError::InUse(text),
        // RocksDB misses a file that its manifest names.
        rocksdb::ErrorKind::IOError if text.contains("No such file") => StoreError::Corrupted(text),
        rocksdb::ErrorKind::Busy | rocksdb::ErrorKind::TryAgain | rocksdb::ErrorKind::TimedOut => {
            StoreError::Unavailable(text)
        }
        _ => StoreError::Io(text),
    }
}

/// Approximate bytes of one family's SSTables between two cell keys.
pub(crate) fn approximate_family_bytes(database: &Database, family: Family, bounds: &ScanBounds) -> Result<u64> {
    let beyond = [0xff; 64];
    let upper = bounds.upper.as_deref().unwrap_or(&beyond);
    if upper <= &bounds.lower[..] {
        return Ok(0);
    }
    let range = rocksdb::Range::new(&bounds.lower, upper);
    Ok(database.rocks().get_approximate_sizes_cf(database.family(family)?, &[range]).iter().sum())
}

/// Up to this many cells of a range are counted instead of estimated.
const COUNTED_CELLS: usize = 2048;

/// Approximate bytes of a range of rows, memtables included. RocksDB knows the sizes of ranges in SSTables
/// only. So a few cells are counted. For more cells, the estimate lies between the bytes of those counted and
/// the bytes of the memtables.
fn estimated_bytes(database: &Database, range: &RowRange) -> Result<u64> {
    let mut total = 0;
    for family in Family::ALL {
        let handle = database.family(family)?;
        let in_memory = database.rocks().property_int_value_cf(handle, "rocksdb.cur-size-all-mem-tables");
        let in_memory = in_memory.map_err(database_error)?.unwrap_or(0);
        let bounds = maintenance::bounds(range);
        let on_disk = approximate_family_bytes(database, family, &bounds)?;
        let (mut cells, mut counted) = (0, 0);
        reader::sizes(database, family, bounds, &mut |_, bytes| {
            cells += 1;
            counted += bytes as u64;
            cells < COUNTED_CELLS
        })?;
        total += match cells < COUNTED_CELLS {
            true => counted,
            false => on_disk.max(counted) + ((counted as f64 * in_memory as f64).sqrt() as u64).min(in_memory),
        };
    }
    Ok(total)
}

/// Approximate bytes of the SSTables of a range of rows.
pub(crate) fn approximate_bytes(database: &Database, range: &RowRange) -> Result<u64> {
    let bounds = maintenance::bounds(range);
    Family::ALL.iter().map(|family| approximate_family_bytes(database, *family, &bounds)).sum()
}

impl EmbeddedStore {
    /// A RocksDB property in bytes: summed over the families if `each`, else shared by all.
    fn property(&self, name: &str, each: bool) -> u64 {
        let families = Family::ALL.iter().take(if each { Family::ALL.len() } else { 1 });
        let told = families.filter_map(|family| {
            self.database.rocks().property_int_value_cf(self.database.family(*family).ok()?, name).ok()?
        });
        told.sum()
    }
}

impl Store for EmbeddedStore {
    fn memory(&self) -> Vec<MemoryUse> {
        let options = &self.keeper.options;
        let memtables = self.property("rocksdb.cur-size-all-mem-tables", true);
        vec![
            MemoryUse {
                area: "block cache",
                used: self.property("rocksdb.block-cache-usage", false),
                limit: options.cache_bytes as u64,
            },
            MemoryUse { area: "hot rows", used: self.hot.rows.bytes(), limit: options.hot_row_bytes },
            MemoryUse { area: "hot ranges", used: self.hot.ranges.bytes(), limit: options.hot_range_bytes },
            MemoryUse { area: "memtables", used: memtables, limit: options.memtable_bytes as u64 },
        ]
    }

    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        async move {
            self.directory.count(keys.iter().map(|key| &key[..]), Tablet::count_reads);
            match row_cache::of_newest(filter) {
                Some(wanted) => self.read_newest(keys, wanted),
                _ => reader::read(&self.database, keys, filter),
            }
        }
        .boxed()
    }

    fn read_at_once(&self, key: &[u8], wanted: &FamilyFilter) -> Option<Result<Option<Cell>>> {
        if wanted.family != Family::Write || wanted.cells != 1 {
            return None;
        }
        self.directory.count(std::iter::once(key), Tablet::count_reads);
        Some(self.newest_cell(key, wanted))
    }

    fn scan_packed(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        let filter = ReadFilter::new().with(wanted.family, wanted.range, 1);
        let scanner = Scanner::new(&self.database, maintenance::bounds(&range), &filter, &options);
        self.packed(scanner.beginning_with(&self.hot, &self.cursors, range), options)
    }

    fn scan_packed_but_dead(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        dead: Plain,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        let filter = ReadFilter::new().with(wanted.family, wanted.range, 1);
        let scanner = Scanner::new(&self.database, maintenance::bounds(&range), &filter, &options);
        let scanner = scanner.beginning_with(&self.hot, &self.cursors, range).leaving_out_dead(dead, &self.hot.dead);
        self.packed(scanner, options)
    }

    fn scan_short<'a>(
        &'a self,
        ranges: &'a [RowRange],
        wanted: FamilyFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<(PackedRows, usize)>> {
        async move {
            // Kept cursors read only this family.
            if wanted.family != Family::Write {
                return Ok((PackedRows::default(), 0));
            }
            let hot = &self.hot.ranges;
            // Looked up before the cursor is taken: the cursor must see all changes up to the miss.
            let known: Vec<(ScanBounds, range_cache::Known)> = ranges
                .iter()
                .map(|range| {
                    let bounds = maintenance::bounds(range);
                    let known = hot.find(&bounds, wanted.range, false, usize::MAX);
                    (bounds, known)
                })
                .collect();
            let mut newest = Newest::default();
            newest.begin(limit);
            let complete = match known.iter().all(|(_, known)| matches!(known, range_cache::Known::Rows(..))) {
                true => newest.collect_short(None, &known, hot, wanted.range, limit)?,
                false => self
                    .cursors
                    .range(|iterator| newest.collect_short(Some(iterator), &known, hot, wanted.range, limit))?,
            };
            let rows = newest.rows();
            self.directory.count_ordered(rows.iter().map(|(key, _)| key), Tablet::count_reads);
            Ok((rows, complete))
        }
        .boxed()
    }

    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        self.rows(Scanner::new(&self.database, maintenance::bounds(&range), &filter, &options), options)
    }

    fn scan_but_plain(
        &self,
        range: RowRange,
        filter: ReadFilter,
        options: ScanOptions,
        plain: Plain,
    ) -> BoxStream<'_, Result<Vec<Row>>> {
        let scanner = Scanner::new(&self.database, maintenance::bounds(&range), &filter, &options);
        self.rows(scanner.leaving_out(plain), options)
    }

    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        let rows = vec![RowMutation { key, mutations }];
        async move {
            Condition::check_expressible(&conditions)?;
            Ok(self.request(Request::Rows { conditions, rows }, None).await?.is_ok())
        }
        .boxed()
    }

    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        async move { self.request(Request::Rows { conditions: Vec::new(), rows }, None).await.map(|_| ()) }.boxed()
    }

    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        async move {
            if range.is_empty() {
                return Ok(());
            }
            self.request(Request::RemoveRange(range), None).await.map(|_| ())
        }
        .boxed()
    }

    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>> {
        async move { Ok(self.directory.overlapping(range).iter().map(|tablet| tablet.info()).collect()) }.boxed()
    }

    fn divide<'a>(&'a self, range: &'a RowRange, pieces: usize) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        async move { split_points::divide(&self.database, &maintenance::bounds(range), pieces) }.boxed()
    }

    fn can_scan_reverse(&self) -> bool {
        true
    }

    fn atomic(&self) -> Option<&dyn AtomicCommit> {
        Some(self)
    }

    fn bulk(&self) -> Option<&dyn BulkLoad> {
        Some(self)
    }

    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>> {
        async move { Ok(self.database.get_meta(name)?.map(Bytes::from)) }.boxed()
    }

    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>> {
        // Putting a value waits for a sync, and the caller's thread also serves other clients.
        let name = name.to_owned();
        self.beside(self.loads.begin(), move |load| load.put_meta(&name, &value)).boxed()
    }

    fn recovered_max_timestamp(&self) -> Timestamp {
        self.recovered.max_timestamp
    }

    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>> {
        async move { estimated_bytes(&self.database, range) }.boxed()
    }
}

impl AtomicCommit for EmbeddedStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.request(Request::Commit(batch), None).boxed()
    }

    fn commit_ordered(
        &self,
        batch: CommitBatch,
        ordered: oneshot::Sender<Timestamp>,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.request(Request::Commit(batch), Some(ordered)).boxed()
    }

    fn when_published(&self, timestamp: Timestamp) -> BoxFuture<'_, Result<()>> {
        self.snapshots.when_published(timestamp).boxed()
    }

    fn ordered_snapshot(&self) -> SnapshotGuard {
        self.snapshots.ordered_snapshot()
    }

    fn published(&self) -> Timestamp {
        self.snapshots.published()
    }

    fn snapshot(&self) -> SnapshotGuard {
        self.snapshots.snapshot()
    }

    fn oldest_snapshot(&self) -> Timestamp {
        self.snapshots.oldest()
    }

    fn watch(&self, range: RowRange) -> Arc<Watch> {
        self.snapshots.watch(range)
    }

    fn validator(&self) -> Validator {
        self.snapshots.validators().join()
    }

    fn log_statistics(&self) -> LogStatistics {
        self.database.log_statistics()
    }

    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        Some(self)
    }
}
