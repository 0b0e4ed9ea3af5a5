//! The storage contract: rows of timestamped cells in families, with atomic conditional mutation
//! of one row. This is Bigtable's vocabulary, and both engines honour it natively.
//!
//! Locks and records are values here: a class is only the first byte of a value.

pub use crate::atomic::{
    AtomicCommit, CommitBatch, CommitCell, CommitCondition, FailedCondition, LogStatistics, ReadCondition, Stamp,
};
pub use crate::bulk::{BulkCommit, BulkLoad, ClaimedKey, ClaimedKeys, ClaimedRun, PreparedCells, PreparedCommit};
pub use crate::committer::claims::Claim;
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

/// A column family: a locality group of cells. What each holds is `txn`'s business; the names
/// are the Percolator paper's columns (section 2.2).
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

/// The cells of a row: most have one, which takes no memory of its own.
pub type Cells = SmallVec<[Cell; 1]>;

/// A row as read: its key and the cells that the filter let through, ordered by family
/// ([`Family::ALL`]) and within a family by descending timestamp. A row without cells is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Row key.
    pub key: Bytes,
    /// Cells, ordered.
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
    /// Smallest timestamp inside.
    pub from: Timestamp,
    /// Greatest timestamp inside.
    pub to: Timestamp,
}

impl TimestampRange {
    /// All timestamps.
    pub const ALL: TimestampRange = TimestampRange { from: Timestamp::ZERO, to: Timestamp::MAX };
    /// `ts` alone.
    pub fn at(ts: Timestamp) -> Self {
        TimestampRange { from: ts, to: ts }
    }
    /// Up to and including `ts`.
    pub fn up_to(ts: Timestamp) -> Self {
        TimestampRange { from: Timestamp::ZERO, to: ts }
    }
    /// Strictly after `ts`.
    pub fn after(ts: Timestamp) -> Self {
        TimestampRange { from: ts.next(), to: Timestamp::MAX }
    }
    /// From `ts` on, inclusive.
    pub fn from(ts: Timestamp) -> Self {
        TimestampRange { from: ts, to: Timestamp::MAX }
    }
    /// Whether `ts` lies inside.
    pub fn contains(&self, ts: Timestamp) -> bool {
        self.from <= ts && ts <= self.to
    }
}

/// What to return of one family of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyFilter {
    /// The family.
    pub family: Family,
    /// Versions wanted.
    pub range: TimestampRange,
    /// At most this many cells of the family per row, newest first. At least 1.
    pub cells: usize,
}

/// What to return of each row: families that are not named are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFilter {
    /// One entry a family, at most.
    pub families: SmallVec<[FamilyFilter; 3]>,
}

impl ReadFilter {
    /// Nothing yet.
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
    /// First key inside.
    pub start: Bytes,
    /// First key behind, or `None` when the range has no end.
    pub end: Option<Bytes>,
}

impl RowRange {
    /// Every row.
    pub fn all() -> Self {
        RowRange { start: Bytes::new(), end: None }
    }
    /// Every row whose key begins with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start: Bytes = prefix.into();
        let end = prefix_end(&start);
        RowRange { start, end }
    }
    /// The row `key` alone.
    pub fn only(key: &Bytes) -> Self {
        // No key lies between one and the same with a zero behind it.
        RowRange { start: key.clone(), end: Some([&key[..], &[0]].concat().into()) }
    }
    /// Whether `key` lies inside.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }
    /// Whether no key can lie inside.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end[..] <= self.start[..])
    }
    /// The keys in both ranges.
    #[must_use]
    pub fn intersect(&self, other: &RowRange) -> RowRange {
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        RowRange { start: self.start.clone().max(other.start.clone()), end }
    }
}

/// The smallest key greater than every key with this prefix; `None` when there is none.
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let keep = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix.get(..=keep)?.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    Some(end.into())
}

/// The classes of a value: the values of its first byte, `from..=to`. Cells with an empty value
/// have class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRange {
    /// Smallest class inside.
    pub from: u8,
    /// Greatest class inside.
    pub to: u8,
}

impl ClassRange {
    /// Every class.
    pub const ANY: ClassRange = ClassRange { from: 0, to: u8::MAX };
    /// Whether a cell with this `value` is of a class inside.
    pub fn contains(&self, value: &[u8]) -> bool {
        let class = value.first().copied().unwrap_or(0);
        self.from <= class && class <= self.to
    }
}

/// What must hold of a row for a conditional mutation: any number of absences, or one presence. Never both:
/// Bigtable's predicate is a filter that finds cells or does not, and cannot say "this one, and none of those".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The row has no cell of this family, range and class, other than at `except`.
    NoCell {
        /// Family looked at.
        family: Family,
        /// Versions looked at.
        range: TimestampRange,
        /// Classes looked at.
        class: ClassRange,
        /// A version that does not count (a transaction's own lock).
        except: Option<Timestamp>,
    },
    /// The row has exactly this cell with exactly this value.
    CellEquals {
        /// Family looked at.
        family: Family,
        /// Version looked at.
        timestamp: Timestamp,
        /// Its value, to the byte; at most [`COMPARED_BYTES`] where Bigtable is to take it.
        value: Bytes,
    },
}

/// The longest value, in bytes, that every engine compares: Bigtable takes 20 KiB for a filter, in which the value stands twice.
pub const COMPARED_BYTES: usize = 9 << 10;

impl Condition {
    /// Whether every engine can check these together; `StoreError::Unsupported` otherwise.
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
    /// Writes a cell, in place of one with the same family and timestamp.
    Set {
        /// Family written.
        family: Family,
        /// Version written.
        timestamp: Timestamp,
        /// Content.
        value: Bytes,
    },
    /// Removes the cells of a family in a range of versions.
    Delete {
        /// Family.
        family: Family,
        /// Versions removed.
        range: TimestampRange,
    },
}

/// The mutations of one row; applied atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowMutation {
    /// Row key.
    pub key: Bytes,
    /// Changes, in order.
    pub mutations: Vec<Mutation>,
}

/// How a scan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Rows from the end of the range to its start. Refused by engines that cannot
    /// (`StoreError::Unsupported`); see [`Store::can_scan_reverse`].
    pub reverse: bool,
    /// Rows in one item of the stream, at most. At least 1.
    pub batch_rows: usize,
    /// Rows in all, at most; `None` for no limit.
    pub limit: Option<usize>,
    /// Whether what is read may take the place of something else in the engine's caches: not for who reads a table once.
    pub cached: bool,
}

/// What tells by a cell's value that a row which has it alone is not looked for, see [`Store::scan_but_plain`].
pub type Plain = fn(&[u8]) -> bool;

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions { reverse: false, batch_rows: 1024, limit: None, cached: true }
    }
}

/// A contiguous range of rows, as the engine keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabletInfo {
    /// Stable identity of the tablet within the store.
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

/// The contract. Every engine passes the same suite (`testing::contract`).
pub trait Store: Send + Sync + 'static {
    /// Reads the rows with these keys; absent rows are left out, the order is that of `keys`.
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>>;

    /// The cell of one row that `wanted` chooses, of one family and one cell, where the engine has it or its absence at hand, or on a
    /// medium of its own, so that nobody else is waited for. `None`: it is to be asked by [`Store::read`].
    fn read_at_once(&self, _key: &[u8], _wanted: &FamilyFilter) -> Option<Result<Option<Cell>>> {
        None
    }

    /// Streams the rows of a range in key order. Not a snapshot of the store: each row is read
    /// atomically, rows are read at different moments. Rows are neither lost nor repeated while
    /// tablets split or merge.
    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>>;

    /// [`Store::scan`] that may leave out rows of which one cell comes back and is `plain` by its value: for who looks for the
    /// few others. An engine that cannot tell them at less cost leaves none out.
    fn scan_but_plain(
        &self,
        range: RowRange,
        filter: ReadFilter,
        options: ScanOptions,
        _plain: Plain,
    ) -> BoxStream<'_, Result<Vec<Row>>> {
        self.scan(range, filter, options)
    }

    /// [`Store::scan`] of one family and one cell a row, as packed rows.
    fn scan_packed(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        let filter = ReadFilter::new().with(wanted.family, wanted.range, 1);
        self.scan(range, filter, options).map_ok(|rows| PackedRows::of_rows(&rows)).boxed()
    }

    /// [`Store::scan_packed`] that may leave out rows whose cell is `dead` by its value. An engine that cannot leave them out at less
    /// cost leaves none out.
    fn scan_packed_but_dead(
        &self,
        range: RowRange,
        wanted: FamilyFilter,
        _dead: Plain,
        options: ScanOptions,
    ) -> BoxStream<'_, Result<PackedRows>> {
        self.scan_packed(range, wanted, options)
    }

    /// Reads the rows of short ranges, in key order and disjoint, forwards: of each row the newest of one family's cells that
    /// `wanted` chooses. Answers how many of the ranges were read, from the first on: it ends before one that is not short to this engine, and before one
    /// with which there would be more than `limit` rows. Who is answered none reads the first by [`Store::scan_packed`], and may ask
    /// again for the others.
    fn scan_short<'a>(
        &'a self,
        _ranges: &'a [RowRange],
        _wanted: FamilyFilter,
        _limit: usize,
    ) -> BoxFuture<'a, Result<(PackedRows, usize)>> {
        Box::pin(std::future::ready(Ok((PackedRows::default(), 0))))
    }

    /// Applies `mutations` to one row when every condition holds, as one atomic step.
    /// Answers whether it did. Durable when it answers. See [`Condition`] for what goes together.
    ///
    /// An engine behind a network repeats a request whose answer was lost. When the repetition finds that a
    /// condition does not hold, that may be the first request's own effect, or anyone's: the answer is
    /// `StoreError::Undetermined`, never false. Ask for what is idempotent, so that a repetition which
    /// holds again does no harm, and let the row tell what happened: a prewrite that is refused looks for its own lock
    /// there; a commit whose lock is gone reads its write record.
    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>>;

    /// Applies mutations blindly, each row atomically. For idempotent work only. Durable when it
    /// answers.
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>>;

    /// Removes every cell of every row in a range. For ranges that no transaction can reach.
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>>;

    /// The tablets that hold `range`, in key order, clipped to nothing: their own ranges.
    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>>;

    /// Keys that divide a range into at most `pieces` of about the same size, as far as the engine knows sizes within a tablet: none
    /// where it does not.
    fn divide<'a>(&'a self, _range: &'a RowRange, _pieces: usize) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Whether [`ScanOptions::reverse`] works.
    fn can_scan_reverse(&self) -> bool;

    /// The capability to commit across rows in one step, where the engine has it.
    fn atomic(&self) -> Option<&dyn AtomicCommit>;

    /// The capability to take many cells at once beside the log, where the engine has it.
    fn bulk(&self) -> Option<&dyn BulkLoad> {
        None
    }

    /// A named durable value beside the rows: the oracle's high-water mark, the GC safe point. `None`
    /// when it was never put.
    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>>;

    /// Puts a named value, in place of the earlier one. Durable when it answers. Never waits for the
    /// committer, so that a [`TimestampSource`](crate::TimestampSource) may wait for it. A put that failed may still
    /// land later on an engine behind a network: who must exclude that, or other nodes, keeps a row by
    /// [`Store::check_and_mutate`].
    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>>;

    /// The greatest timestamp of any cell found when the store was opened
    /// ([`Timestamp::ZERO`] in an empty store): the oracle starts above it. An engine that many nodes
    /// share cannot know and answers zero: there, every timestamp lies below the oracle's durable mark.
    fn recovered_max_timestamp(&self) -> Timestamp;

    /// The memory that the engine holds, as far as it knows.
    fn memory(&self) -> Vec<MemoryUse> {
        Vec::new()
    }

    /// The size of the range on the medium in bytes, roughly; where the engine only samples, a small range
    /// may be zero.
    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>>;
}

/// What a part of the program holds in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// What for, in lower case.
    pub area: &'static str,
    /// Bytes held.
    pub used: u64,
    /// Bytes that it may hold.
    pub limit: u64,
}

/// Shared handle to a store.
pub type StoreRef = Arc<dyn Store>;
