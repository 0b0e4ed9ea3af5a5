//! [`MemoryStore`]: the whole contract over ordered maps, with the real committer. It keeps nothing durably and
//! otherwise behaves like the embedded engine. For tests and explorers.

mod bulk;

use crate::bulk::{CellBlock, Medium};
use crate::committer::snapshots::SnapshotRegistry;
use crate::committer::{
    Answer, Change, CommitLog, Committer, LogRecord, Recovered, Request, Settlement, VersionReader,
};
use crate::contract::{
    AtomicCommit, BulkCommit, BulkLoad, COMPARED_BYTES, Cell, Cells, CommitBatch, Condition, FailedCondition, Family,
    FamilyFilter, Mutation, Plain, PreparedCells, ReadFilter, Row, RowMutation, RowRange, ScanOptions, SnapshotGuard,
    Store, TabletInfo, TimestampRange, Validator, Watch,
};
use crate::env::BoxFuture;
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
use crate::timestamp::{Timestamp, TimestampSource};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::{Mutex, RwLock};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Versions = BTreeMap<Reverse<Timestamp>, Bytes>;
type Rows = BTreeMap<Bytes, [Versions; Family::ALL.len()]>;

/// Ranges with at most this many rows are short.
const SHORT_ROWS: usize = 256;

/// The behaviour of a [`MemoryStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// Whether the store offers [`Store::atomic`]. False drives the two-phase path.
    pub atomic: bool,
    /// Whether the store supports [`ScanOptions::reverse`]. Bigtable's emulator does not.
    pub reverse: bool,
    /// Whether requests wait for [`MemoryStore::step`] instead of running at once. An explorer then decides which
    /// requests form a group.
    pub stepped: bool,
    /// Memory for recent commits in the committer, in bytes. Small values exercise its floor.
    pub recent_bytes: usize,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        MemoryOptions { atomic: true, reverse: true, stepped: false, recent_bytes: 64 << 20 }
    }
}

#[derive(Default)]
struct MemoryLog {
    rows: Arc<RwLock<Rows>>,
    /// The error of the next write, and whether it comes after the write was applied.
    fail: Option<(StoreError, bool)>,
    full: bool,
}

/// Reads the rows of a [`MemoryStore`] for the committer.
pub struct MemoryReader(Arc<RwLock<Rows>>);

impl VersionReader for MemoryReader {
    fn versions(
        &mut self,
        key: &[u8],
        family: Family,
        range: TimestampRange,
        visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
    ) -> Result<()> {
        let rows = self.0.read();
        if let Some(versions) = rows.get(key).and_then(|families| families.get(family as usize)) {
            for (timestamp, value) in in_range(versions, range) {
                if !visit(timestamp, value) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn rows(
        &mut self,
        rows: &RowRange,
        family: Family,
        visit: &mut dyn FnMut(&[u8], Timestamp, &[u8]) -> bool,
    ) -> Result<()> {
        let all = self.0.read();
        for (key, families) in all.iter().filter(|(key, _)| rows.contains(key)) {
            let versions = families.get(family as usize);
            let mut cells = versions.into_iter().flat_map(|versions| in_range(versions, TimestampRange::ALL));
            if !cells.all(|(timestamp, value)| visit(key, timestamp, value)) {
                break;
            }
        }
        Ok(())
    }
}

impl CommitLog for MemoryLog {
    type Reader<'a> = MemoryReader;

    fn reader(&self) -> MemoryReader {
        MemoryReader(self.rows.clone())
    }

    fn reserve(&self, _bytes: u64) -> Result<()> {
        match self.full {
            true => Err(StoreError::DiskFull("no memory left".to_owned())),
            false => Ok(()),
        }
    }

    fn write(&mut self, record: &LogRecord<'_>, _sync: bool) -> Result<()> {
        let fail = self.fail.take();
        if !matches!(fail, Some((_, false))) {
            let mut rows = self.rows.write();
            for change in record.changes {
                apply(&mut rows, change);
            }
        }
        fail.map_or(Ok(()), |(error, _)| Err(error))
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_in(&mut self, cells: &[PreparedCells], _: Timestamp, _: &LogRecord<'_>) -> Result<()> {
        let fail = self.fail.take();
        if !matches!(fail, Some((_, false))) {
            let mut rows = self.rows.write();
            for PreparedCells { family, timestamp, medium, .. } in cells {
                let Medium::Block(block) = &**medium else {
                    return Err(StoreError::Unsupported("cells that lie in a file".to_owned()));
                };
                set_block(&mut rows, *family, *timestamp, block);
            }
        }
        fail.map_or(Ok(()), |(error, _)| Err(error))
    }
}

fn set_block(rows: &mut Rows, family: Family, timestamp: Timestamp, block: &CellBlock) {
    for (key, value) in block.iter() {
        let (key, value) = (Bytes::copy_from_slice(key), value.to_bytes());
        apply(rows, &Change::Set { key, family, timestamp, value });
    }
}

fn apply(rows: &mut Rows, change: &Change) {
    match change {
        Change::Set { key, family, timestamp, value } => {
            if let Some(versions) = rows.entry(key.clone()).or_default().get_mut(*family as usize) {
                versions.insert(Reverse(*timestamp), value.clone());
            }
        }
        Change::Remove { key, family, timestamp } => {
            if let Some(families) = rows.get_mut(key) {
                if let Some(versions) = families.get_mut(*family as usize) {
                    versions.remove(&Reverse(*timestamp));
                }
                if families.iter().all(BTreeMap::is_empty) {
                    rows.remove(key);
                }
            }
        }
        Change::RemoveRange(range) => rows.retain(|key, _| !range.contains(key)),
    }
}

fn in_range(versions: &Versions, range: TimestampRange) -> impl Iterator<Item = (Timestamp, &Bytes)> {
    let bounds = (range.from <= range.to).then_some((Reverse(range.to), Reverse(range.from)));
    bounds
        .into_iter()
        .flat_map(|(first, last)| versions.range(first..=last))
        .map(|(timestamp, value)| (timestamp.0, value))
}

fn filtered(key: &Bytes, families: &[Versions; Family::ALL.len()], filter: &ReadFilter) -> Option<Row> {
    let mut cells = Cells::new();
    for family in Family::ALL {
        let Some(wanted) = filter.families.iter().find(|wanted| wanted.family == family) else {
            continue;
        };
        let Some(versions) = families.get(family as usize) else {
            continue;
        };
        cells.extend(in_range(versions, wanted.range).take(wanted.cells).map(|(timestamp, value)| Cell {
            family,
            timestamp,
            value: value.clone(),
        }));
    }
    (!cells.is_empty()).then(|| Row { key: key.clone(), cells })
}

type Waiting = (Request, oneshot::Sender<Answer>);

/// A store in memory. See the module documentation.
pub struct MemoryStore {
    rows: Arc<RwLock<Rows>>,
    committer: Mutex<Committer<MemoryLog>>,
    queue: Mutex<Vec<Waiting>>,
    snapshots: Arc<SnapshotRegistry>,
    /// While publishing is held: the ordered groups that are not published.
    held: Mutex<Option<Vec<(Settlement, oneshot::Sender<Answer>)>>>,
    meta: Mutex<BTreeMap<String, Bytes>>,
    /// First keys of all tablets but the first.
    splits: Mutex<BTreeSet<Bytes>>,
    reads: AtomicU64,
    writes: AtomicU64,
    options: MemoryOptions,
}

impl MemoryStore {
    /// An empty store with the default options.
    pub fn new(timestamps: Arc<dyn TimestampSource>) -> Arc<MemoryStore> {
        MemoryStore::with_options(timestamps, MemoryOptions::default())
    }

    /// An empty store with these options.
    pub fn with_options(timestamps: Arc<dyn TimestampSource>, options: MemoryOptions) -> Arc<MemoryStore> {
        let rows = Arc::new(RwLock::new(Rows::new()));
        let snapshots = SnapshotRegistry::new(Timestamp::ZERO);
        let log = MemoryLog { rows: rows.clone(), ..MemoryLog::default() };
        let committer = Committer::new(
            log,
            timestamps,
            snapshots.clone(),
            Recovered { empty: [true; Family::ALL.len()], ..Recovered::default() },
            options.recent_bytes,
        );
        Arc::new(MemoryStore {
            rows,
            committer: Mutex::new(committer),
            queue: Mutex::default(),
            snapshots,
            held: Mutex::default(),
            meta: Mutex::default(),
            splits: Mutex::default(),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            options,
        })
    }

    /// Makes `key` the first key of a tablet.
    pub fn split_at(&self, key: Bytes) {
        if !key.is_empty() {
            self.splits.lock().insert(key);
        }
    }

    /// Undoes [`MemoryStore::split_at`], which merges two tablets.
    pub fn merge_at(&self, key: &Bytes) {
        self.splits.lock().remove(key);
    }

    /// The number of requests waiting for [`MemoryStore::step`].
    pub fn waiting(&self) -> usize {
        self.queue.lock().len()
    }

    /// Runs the oldest `count` waiting requests as one group. Answers how many there were.
    pub fn step(&self, count: usize) -> usize {
        let group: Vec<Waiting> = {
            let mut queue = self.queue.lock();
            let count = count.min(queue.len());
            queue.drain(..count).collect()
        };
        let (requests, senders): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let answers = self.committer.lock().run(&requests);
        for (sender, answer) in senders.into_iter().zip(answers) {
            // The caller may have stopped waiting for the answer.
            let _ = sender.send(answer);
        }
        requests.len()
    }

    /// Holds publishing: commits are ordered but not published until [`MemoryStore::publish`].
    pub fn hold_publishing(&self) {
        self.held.lock().get_or_insert_default();
    }

    /// Publishes all ordered commits, and later ones at once.
    pub fn publish(&self) {
        for (settlement, sender) in self.held.lock().take().unwrap_or_default() {
            let answer = settlement.settle(&Ok(()), &self.snapshots).pop();
            let _ = answer.map(|answer| sender.send(answer));
        }
    }

    /// Orders a commit while publishing is held. Returns the pending answer.
    fn order(&self, batch: CommitBatch, ordered: oneshot::Sender<Timestamp>) -> oneshot::Receiver<Answer> {
        let settlement = self.committer.lock().order(&[Request::Commit(batch)]);
        if let Some(Ok(Ok(timestamp))) = settlement.answers.first() {
            let _ = ordered.send(*timestamp);
        }
        let (sender, receiver) = oneshot::channel();
        match &mut *self.held.lock() {
            Some(held) => held.push((settlement, sender)),
            None => {
                let answer = settlement.settle(&Ok(()), &self.snapshots).pop();
                let _ = answer.map(|answer| sender.send(answer));
            }
        }
        receiver
    }

    /// Makes the next group fail with `error`, before or after it is applied. The store then refuses writes, as
    /// after a failed sync.
    pub fn fail_next_write(&self, error: StoreError, applied: bool) {
        self.committer.lock().log_mut().fail = Some((error, applied));
    }

    /// Sets whether writes that add data are refused with `DiskFull`.
    pub fn set_full(&self, full: bool) {
        self.committer.lock().log_mut().full = full;
    }

    /// Every row with every cell, for tests that inspect the cells a transaction left.
    pub fn dump(&self) -> Vec<Row> {
        let mut filter = ReadFilter::new();
        for family in Family::ALL {
            filter = filter.with(family, TimestampRange { from: Timestamp::ZERO, to: Timestamp(u64::MAX) }, usize::MAX);
        }
        self.rows.read().iter().filter_map(|(key, families)| filtered(key, families, &filter)).collect()
    }

    /// Sends a request to the committer. The answer comes at once, or after [`MemoryStore::step`].
    pub async fn request(&self, request: Request) -> Answer {
        self.writes.fetch_add(1, Ordering::Relaxed);
        if !self.options.stepped {
            let mut answers = self.committer.lock().run(std::slice::from_ref(&request));
            return answers.pop().unwrap_or_else(|| Err(StoreError::Unavailable("no answer".to_owned())));
        }
        let (sender, receiver) = oneshot::channel();
        self.queue.lock().push((request, sender));
        receiver.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the store was closed".to_owned())))
    }

    fn scan_batch(&self, range: &RowRange, filter: &ReadFilter, options: &ScanOptions, limit: usize) -> Vec<Row> {
        if range.is_empty() {
            return Vec::new();
        }
        let end = range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.rows.read();
        let inside = rows.range::<Bytes, _>((Bound::Included(&range.start), end));
        let wanted = |(key, families): (&Bytes, &[Versions; Family::ALL.len()])| filtered(key, families, filter);
        match options.reverse {
            true => inside.rev().filter_map(wanted).take(limit).collect(),
            false => inside.filter_map(wanted).take(limit).collect(),
        }
    }
}

impl Store for MemoryStore {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        async move {
            self.reads.fetch_add(keys.len() as u64, Ordering::Relaxed);
            let rows = self.rows.read();
            Ok(keys
                .iter()
                .filter_map(|key| rows.get(key).and_then(|families| filtered(key, families, filter)))
                .collect())
        }
        .boxed()
    }

    /// Only while publishing is held. Otherwise every read is an asynchronous call, so that explorers
    /// can interleave other work.
    fn read_at_once(&self, key: &[u8], wanted: &FamilyFilter) -> Option<Result<Option<Cell>>> {
        self.held.lock().as_ref()?;
        let rows = self.rows.read();
        let versions = rows.get(key).and_then(|families| families.get(wanted.family as usize));
        let newest = versions.and_then(|versions| in_range(versions, wanted.range).next());
        Some(Ok(newest.map(|(timestamp, value)| Cell { family: wanted.family, timestamp, value: value.clone() })))
    }

    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        if options.reverse && !self.options.reverse {
            let error = StoreError::Unsupported("reverse scans".to_owned());
            return stream::once(async move { Err(error) }).boxed();
        }
        let left = options.limit.unwrap_or(usize::MAX);
        stream::unfold((range, left), move |(mut range, left)| {
            let limit = options.batch_rows.max(1).min(left);
            let rows = match limit {
                0 => Vec::new(),
                _ => self.scan_batch(&range, &filter, &options, limit),
            };
            self.reads.fetch_add(rows.len() as u64, Ordering::Relaxed);
            async move {
                let last = rows.last()?.key.clone();
                match options.reverse {
                    true => range.end = Some(last),
                    false => range.start = [&last[..], &[0]].concat().into(),
                }
                let left = left - rows.len();
                Some((Ok(rows), (range, left)))
            }
        })
        .boxed()
    }

    fn scan_but_plain(
        &self,
        range: RowRange,
        filter: ReadFilter,
        options: ScanOptions,
        plain: Plain,
    ) -> BoxStream<'_, Result<Vec<Row>>> {
        let is_plain =
            move |row: &Row| matches!(&row.cells[..], [cell] if cell.family == Family::Write && plain(&cell.value));
        let but_plain = move |rows: Vec<Row>| rows.into_iter().filter(|row| !is_plain(row)).collect();
        self.scan(range, filter, options).map_ok(but_plain).boxed()
    }

    fn scan_short<'a>(
        &'a self,
        ranges: &'a [RowRange],
        wanted: FamilyFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<(PackedRows, usize)>> {
        async move {
            let filter = ReadFilter::new().with(wanted.family, wanted.range, 1);
            let (mut rows, mut complete) = (Vec::new(), 0);
            for range in ranges.iter().take_while(|range| !range.is_empty()) {
                let most = SHORT_ROWS.min(limit - rows.len());
                let found = self.scan_batch(range, &filter, &ScanOptions::default(), most.saturating_add(1));
                if found.len() > most {
                    break;
                }
                rows.extend(found);
                complete += 1;
            }
            self.reads.fetch_add(rows.len() as u64, Ordering::Relaxed);
            Ok((PackedRows::of_rows(&rows), complete))
        }
        .boxed()
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
            let long = |condition: &Condition| matches!(condition, Condition::CellEquals { value, .. } if value.len() > COMPARED_BYTES);
            if conditions.iter().any(long) {
                return Err(StoreError::TooLarge("a value to be compared".to_owned()));
            }
            Ok(self.request(Request::Rows { conditions, rows }).await?.is_ok())
        }
        .boxed()
    }

    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        async move { self.request(Request::Rows { conditions: Vec::new(), rows }).await.map(|_| ()) }.boxed()
    }

    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        async move { self.request(Request::RemoveRange(range)).await.map(|_| ()) }.boxed()
    }

    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>> {
        async move {
            let mut starts = vec![Bytes::new()];
            starts.extend(self.splits.lock().iter().cloned());
            let ends = starts.iter().skip(1).cloned().map(Some).chain([None]);
            let tablets = starts.iter().cloned().zip(ends).enumerate().map(|(id, (start, end))| TabletInfo {
                id: id as u64,
                range: RowRange { start, end },
                bytes: 0,
                reads: self.reads.load(Ordering::Relaxed),
                writes: self.writes.load(Ordering::Relaxed),
            });
            Ok(tablets.filter(|tablet| !tablet.range.intersect(range).is_empty()).collect())
        }
        .boxed()
    }

    fn can_scan_reverse(&self) -> bool {
        self.options.reverse
    }

    fn bulk(&self) -> Option<&dyn BulkLoad> {
        (self.options.atomic && !self.options.stepped).then_some(self)
    }

    fn atomic(&self) -> Option<&dyn AtomicCommit> {
        self.options.atomic.then_some(self as &dyn AtomicCommit)
    }

    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>> {
        async move { Ok(self.meta.lock().get(name).cloned()) }.boxed()
    }

    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>> {
        async move {
            self.meta.lock().insert(name.to_owned(), value);
            Ok(())
        }
        .boxed()
    }

    fn recovered_max_timestamp(&self) -> Timestamp {
        Timestamp::ZERO
    }

    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>> {
        async move {
            let rows = self.rows.read();
            let inside = rows.iter().filter(|(key, _)| range.contains(key));
            let size = |key: &Bytes, versions: &Versions| -> usize {
                versions.values().map(|value| key.len() + 8 + value.len()).sum()
            };
            Ok(inside.map(|(key, families)| families.iter().map(|v| size(key, v)).sum::<usize>() as u64).sum())
        }
        .boxed()
    }
}

impl AtomicCommit for MemoryStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.request(Request::Commit(batch)).boxed()
    }

    fn commit_ordered(
        &self,
        batch: CommitBatch,
        ordered: oneshot::Sender<Timestamp>,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        if self.held.lock().is_none() {
            return self.commit_atomic(batch);
        }
        let answer = self.order(batch, ordered);
        async move { answer.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the store was closed".to_owned()))) }
            .boxed()
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

    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        Some(self)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#[path = "memory_tests.rs"]
mod tests;
