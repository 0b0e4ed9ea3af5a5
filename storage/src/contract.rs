//! The storage contract: rows of timestamped cells in families, with atomic conditional mutation of one row. This is
//! Bigtable's vocabulary, and both engines honour it natively. A class is the first byte of a value; the contract
//! attaches no meaning to it.

pub use crate::atomic::{
    AtomicCommit, CommitBatch, CommitCell, CommitCondition, FailedCondition, LogStatistics, ReadCondition, Stamp,
};
pub use crate::bulk::{BulkCommit, BulkLoad, ClaimedKey, ClaimedKeys, ClaimedRun, PreparedCells, PreparedCommit};
pub use crate::committer::key_reservations::Claim;
pub use crate::committer::recent_writes::Validator;
pub use crate::committer::watch::Watch;
use crate::env::BoxFuture;
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
pub use crate::snapshot_guard::{Registered, SnapshotGuard};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use smallvec::SmallVec;
use std::sync::Arc;

/// A column family: a locality group of cells. The crate `txn` defines their meaning. The names are the columns of
/// the Percolator paper (section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `d`: values of transactions, at start_ts.
    Data,
    /// `l`: locks, at start_ts.
    Lock,
    /// `w`: committed writes, at commit_ts.
    Write,
    /// `r`: rollback and lock-only records.
    Rollback,
}

impl Family {
    /// Every family, in the order in which cells of a row are returned.
    pub const ALL: [Family; 4] = [Family::Data, Family::Lock, Family::Write, Family::Rollback];
}

/// One version of one family of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Family of the cell.
    pub family: Family,
    /// Version of the cell.
    pub timestamp: Timestamp,
    /// Content; its first byte is its class.
    pub value: Bytes,
}

/// The cells of a row. Most rows have one, which needs no allocation of its own.
pub type Cells = SmallVec<[Cell; 1]>;

/// A row as read: its key and the cells that passed the filter. Cells are ordered by family ([`Family::ALL`]), and
/// within a family by descending timestamp. A row without cells is not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key that identifies the row.
    pub key: Bytes,
    /// The cells, ordered as [`Row`] says.
    pub cells: Cells,
}

impl Row {
    /// The newest cell of `family`, if any came back.
    pub fn newest(&self, family: Family) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.family == family)
    }
    /// The cells of `family`, newest first.
    pub fn family(&self, family: Family) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| cell.family == family)
    }
}

/// An inclusive range of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampRange {
    /// The smallest timestamp in the range.
    pub from: Timestamp,
    /// The greatest timestamp in the range.
    pub to: Timestamp,
}

impl TimestampRange {
    /// The range of all timestamps.
    pub const ALL: TimestampRange = TimestampRange { from: Timestamp::ZERO, to: Timestamp::MAX };
    /// The range of `ts` alone.
    pub fn at(ts: Timestamp) -> Self {
        TimestampRange { from: ts, to: ts }
    }
    /// Up to and including `ts`.
    pub fn up_to(ts: Timestamp) -> Self {
        TimestampRange { from: Timestamp::ZERO, to: ts }
    }
    /// The range strictly after `ts`.
    pub fn after(ts: Timestamp) -> Self {
        TimestampRange { from: ts.next(), to: Timestamp::MAX }
    }
    /// From `ts` on, inclusive.
    pub fn from(ts: Timestamp) -> Self {
        TimestampRange { from: ts, to: Timestamp::MAX }
    }
    /// Whether `ts` lies in the range.
    pub fn contains(&self, ts: Timestamp) -> bool {
        self.from <= ts && ts <= self.to
    }
}

/// Which cells of one family a read returns for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyFilter {
    /// The family that the filter applies to.
    pub family: Family,
    /// The versions that may be returned.
    pub range: TimestampRange,
    /// At most this many cells of the family per row, newest first. At least 1.
    pub cells: usize,
}

/// Which cells a read returns for each row. Families that are not named are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFilter {
    /// The filters, at most one per family.
    pub families: SmallVec<[FamilyFilter; 3]>,
}

impl ReadFilter {
    /// A filter without families, for [`ReadFilter::with`].
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds `cells` versions of `family` in `range`.
    #[must_use]
    pub fn with(mut self, family: Family, range: TimestampRange, cells: usize) -> Self {
        self.families.push(FamilyFilter { family, range, cells });
        self
    }
}

/// Row keys from `start` (inclusive) to `end` (exclusive); `None` as end is unbounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// The first key in the range.
    pub start: Bytes,
    /// The first key behind the range, or `None` if the range has no end.
    pub end: Option<Bytes>,
}

impl RowRange {
    /// The range of all rows.
    pub fn all() -> Self {
        RowRange { start: Bytes::new(), end: None }
    }
    /// The range of all keys that begin with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start: Bytes = prefix.into();
        let end = prefix_end(&start);
        RowRange { start, end }
    }
    /// The range of the row `key` alone.
    pub fn only(key: &Bytes) -> Self {
        // No key lies between a key and the same key with a zero byte appended.
        RowRange { start: key.clone(), end: Some([&key[..], &[0]].concat().into()) }
    }
    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }
    /// Whether no key can lie in the range.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end[..] <= self.start[..])
    }
    /// The range of the keys in both ranges.
    #[must_use]
    pub fn intersect(&self, other: &RowRange) -> RowRange {
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        RowRange { start: self.start.clone().max(other.start.clone()), end }
    }
}

/// The smallest key greater than every key with this prefix. `None` if there is none.
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let keep = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix.get(..=keep)?.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    Some(end.into())
}

/// An inclusive range of classes. The class of a value is its first byte; an empty value has class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRange {
    /// The smallest class in the range.
    pub from: u8,
    /// The greatest class in the range.
    pub to: u8,
}

impl ClassRange {
    /// The range of all classes.
    pub const ANY: ClassRange = ClassRange { from: 0, to: u8::MAX };
    /// Whether the class of `value` lies in the range.
    pub fn contains(&self, value: &[u8]) -> bool {
        let class = value.first().copied().unwrap_or(0);
        self.from <= class && class <= self.to
    }
}

/// A condition on a row for a conditional mutation. A request has any number of absences or one presence, never both:
/// Bigtable's predicate is one filter that finds cells or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The row has no cell of this family, range and class, other than at `except`.
    NoCell {
        /// The family that must have no such cell.
        family: Family,
        /// The versions that count.
        range: TimestampRange,
        /// The classes that count.
        class: ClassRange,
        /// A version that does not count, such as a transaction's own lock.
        except: Option<Timestamp>,
    },
    /// The row has exactly this cell with exactly this value.
    CellEquals {
        /// The family of the expected cell.
        family: Family,
        /// The version of the expected cell.
        timestamp: Timestamp,
        /// The expected value, to the byte. Bigtable accepts at most [`COMPARED_BYTES`].
        value: Bytes,
    },
}

/// The longest value, in bytes, that every engine can compare. Bigtable limits a filter to 20 KiB, and the filter
/// contains the value twice.
pub const COMPARED_BYTES: usize = 9 << 10;

impl Condition {
    /// Checks that every engine can test these conditions together. Errors: `StoreError::Unsupported`.
    pub fn check_expressible(conditions: &[Condition]) -> Result<()> {
        let presences = conditions.iter().filter(|condition| matches!(condition, Condition::CellEquals { .. }));
        match presences.count() {
            0 => Ok(()),
            1 if conditions.len() == 1 => Ok(()),
            _ => Err(StoreError::Unsupported("a condition that a cell is there, beside others".to_owned())),
        }
    }
}

/// One change of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Writes a cell. It replaces a cell with the same family and timestamp.
    Set {
        /// The family that the cell is written to.
        family: Family,
        /// The timestamp of the cell.
        timestamp: Timestamp,
        /// The value, whose first byte is its class.
        value: Bytes,
    },
    /// Removes the cells of a family in a range of timestamps.
    Delete {
        /// The family that cells are removed from.
        family: Family,
        /// The timestamps of the cells to remove.
        range: TimestampRange,
    },
}

/// The mutations of one row, applied atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowMutation {
    /// The key of the mutated row.
    pub key: Bytes,
    /// The mutations, applied in this order.
    pub mutations: Vec<Mutation>,
}

/// How a scan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Whether the scan runs from the end of the range to its start. Only if [`Store::can_scan_reverse`];
    /// other engines answer `StoreError::Unsupported`.
    pub reverse: bool,
    /// Rows in one item of the stream, at most. At least 1.
    pub batch_rows: usize,
    /// Rows in all, at most; `None` for no limit.
    pub limit: Option<usize>,
    /// Whether the scan may evict other data from the engine's caches. False for a caller that reads a table once.
    pub cached: bool,
}

/// A predicate on a cell's value: a row with only this cell may be skipped by [`Store::scan_but_plain`].
pub type Plain = fn(&[u8]) -> bool;

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions { reverse: false, batch_rows: 1024, limit: None, cached: true }
    }
}

/// A contiguous range of rows that the engine keeps together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabletInfo {
    /// Identifies the tablet within the store, and never changes.
    pub id: u64,
    /// Rows of the tablet.
    pub range: RowRange,
    /// Approximate size on the medium, in bytes.
    pub bytes: u64,
    /// Reads of rows since the server started; zero where the engine does not know.
    pub reads: u64,
    /// Writes of rows since the server started; zero where the engine does not know.
    pub writes: u64,
}

/// A store of rows. Every engine passes the same suite (`testing::contract`).
pub trait Store: Send + Sync + 'static {
    /// Reads the rows with these keys, in the order of `keys`. Absent rows are left out.
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>>;

    /// Reads one cell of one row if the engine can answer from memory or from its own disk, without waiting for
    /// others. `wanted` must ask for one cell of one family. `None` means that the caller must use [`Store::read`].
    fn read_at_once(&self, _key: &[u8], _wanted: &FamilyFilter) -> Option<Result<Option<Cell>>> {
        None
    }

    /// Streams the rows of a range in key order. A scan is not a snapshot: each row is read atomically, but different
    /// rows at different moments. Splits and merges of tablets neither lose nor repeat rows.
    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>>;

    /// Like [`Store::scan`], but may leave out rows with a single returned cell whose value is `plain`. An engine
    /// that cannot skip them cheaply leaves none out.
    fn scan_but_plain(
        &self,
        range: RowRange,
        filter: ReadFilter,
        options: ScanOptions,
        _plain: Plain,
    ) -> BoxStream<'_, Result<Vec<Row>>> {
        self.scan(range, filter, options)
    }

    /// Like [`Store::scan`] for one cell of one family per row, but answers packed rows.
    fn scan_packed(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        let filter = ReadFilter::new().with(wanted.family, wanted.range, 1);
        self.scan(range, filter, options).map_ok(|rows| PackedRows::of_rows(&rows)).boxed()
    }

    /// Like [`Store::scan_packed`], but may leave out rows whose cell's value is `dead`. An engine that cannot skip
    /// them cheaply leaves none out.
    fn scan_packed_but_dead(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        _dead: Plain,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        self.scan_packed(range, wanted, options)
    }

    /// Reads the rows of short, disjoint ranges in key order, forwards. For each row it returns the newest
    /// cell that `wanted` selects.
    ///
    /// Answers the rows and how many of the ranges it read, from the first on. It stops before a range that is not
    /// short for this engine, or that would bring the rows to more than `limit`. If it read none, the caller scans
    /// the first range by [`Store::scan_packed`] and may call again for the rest.
    fn scan_short<'a>(
        &'a self,
        _ranges: &'a [RowRange],
        _wanted: FamilyFilter,
        _limit: usize,
    ) -> BoxFuture<'a, Result<(PackedRows, usize)>> {
        Box::pin(std::future::ready(Ok((PackedRows::default(), 0))))
    }

    /// Applies `mutations` to one row if every condition holds, as one atomic step, and answers whether it did. The
    /// change is durable when it answers. [`Condition`] says which conditions may be combined.
    ///
    /// An engine behind a network repeats a request whose answer was lost. If the repetition finds that a condition
    /// does not hold, the cause may be the first request's own effect. The answer is then `StoreError::Undetermined`,
    /// never false. Requests should therefore be idempotent, and the row should tell what happened. A refused
    /// prewrite looks for its own lock; a commit whose lock is gone reads its write record.
    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>>;

    /// Applies mutations unconditionally, each row atomically. They must be idempotent. Durable when it answers.
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>>;

    /// Removes every cell of every row in a range. The caller guarantees that no transaction can reach the range.
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>>;

    /// The tablets that overlap `range`, in key order. Their ranges are not clipped to it.
    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>>;

    /// Keys that divide a range into at most `pieces` pieces of about the same size. Empty if the engine does not
    /// know sizes within a tablet.
    fn divide<'a>(&'a self, _range: &'a RowRange, _pieces: usize) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Whether the engine supports [`ScanOptions::reverse`].
    fn can_scan_reverse(&self) -> bool;

    /// The capability to commit across rows in one step, if the engine has it.
    fn atomic(&self) -> Option<&dyn AtomicCommit>;

    /// The capability to write many cells at once beside the log, if the engine has it.
    fn bulk(&self) -> Option<&dyn BulkLoad> {
        None
    }

    /// Reads a named durable value beside the rows, such as the oracle's high-water mark. `None` if it was never put.
    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>>;

    /// Puts a named value in place of the earlier one. Durable when it answers. It never waits for the committer, so
    /// a [`TimestampSource`](crate::TimestampSource) may wait for it.
    ///
    /// On an engine behind a network, a put that failed may still take effect later. A caller that must exclude that,
    /// or other nodes, uses a row and [`Store::check_and_mutate`] instead.
    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>>;

    /// The greatest timestamp of any cell found when the store was opened; the oracle starts above it.
    /// [`Timestamp::ZERO`] for an empty store. An engine that several nodes share also answers zero: there, every
    /// timestamp lies below the oracle's durable high-water mark.
    fn recovered_max_timestamp(&self) -> Timestamp;

    /// The memory that the engine uses, by area, as far as it knows.
    fn memory(&self) -> Vec<MemoryUse> {
        Vec::new()
    }

    /// The approximate size of the range on disk, in bytes. An engine that only samples may answer zero
    /// for a small range.
    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>>;
}

/// The memory that one part of the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The purpose of the memory, in lower case.
    pub area: &'static str,
    /// The bytes in use.
    pub used: u64,
    /// The limit in bytes.
    pub limit: u64,
}

/// A shared handle to a store.
pub type StoreRef = Arc<dyn Store>;
