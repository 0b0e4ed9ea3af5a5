//! [`Snapshot`]: reads at one timestamp (Percolator paper, section 2.2, `Get`), without the transaction's own writes.
//!
//! On an engine with one log for all rows, a snapshot is the published state, and a read touches one cell of the
//! write family. No lock can hide a commit from it, unless a two-phase commit below it is unfinished (see
//! [`crate::intents`]). Over rows, each read also looks at the locks and pushes live ones above its snapshot.

use crate::data::{RecordKind, decode_data};
use crate::error::{Result, TxnError};
use crate::lock::Lock;
use crate::lock_resolution::{Met, Owners, Shown};
use crate::pairs::{self, Pairs};
use crate::resolver::Status;
use crate::store::TransactionStore;
use crate::write::{Visible, is_delete, take_visible, visible};
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use smallvec::smallvec;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use storage::{
    AtomicCommit, Cell, CommitBatch, Family, FamilyFilter, PackedRows, ReadFilter, Row, RowRange, ScanOptions,
    SnapshotGuard, StoreError, Timestamp, TimestampRange,
};

/// How many rows of one read are asked about at the same time.
const PARALLEL_ROWS: usize = 32;

/// What readers did, for statistics.
#[derive(Default)]
pub(crate) struct ReadCounts {
    pub(crate) keys: AtomicU64,
    pub(crate) locks: AtomicU64,
    /// Remote calls to the store: reads, scans, and questions about the owners of locks.
    pub(crate) calls: AtomicU64,
    /// Calls that began when no other was under way.
    pub(crate) waves: AtomicU64,
    under_way: AtomicU64,
}

/// A call under way, until it is dropped.
pub(crate) struct CallUnderWay<'a>(&'a ReadCounts);

impl ReadCounts {
    /// Counts a call that begins.
    pub(crate) fn call(&self) -> CallUnderWay<'_> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.under_way.fetch_add(1, Ordering::Relaxed) == 0 {
            self.waves.fetch_add(1, Ordering::Relaxed);
        }
        CallUnderWay(self)
    }
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A registered snapshot. Garbage collection keeps the versions it sees until it is dropped.
pub(crate) struct Snapshot {
    ts: Timestamp,
    /// Whether reads can ignore locks. Once true, always true.
    lean: AtomicBool,
    /// Selects the newest write of a row.
    writes: FamilyFilter,
    /// Whether values may be in the data family.
    by_row: bool,
    /// The known fates of owners of locks.
    pub(crate) owners: Owners,
    /// Until when, by the monotonic clock, it may be used. Set where other nodes collect garbage without
    /// asking for our readers.
    deadline: Option<Duration>,
    /// Whether it may be used only while this node's hold on past snapshots is valid.
    held: bool,
    /// Over rows: the timestamp of the transaction's own locks, if it is not `ts`.
    pub(crate) locks_at: Option<Timestamp>,
    _guards: (Option<SnapshotGuard>, Option<SnapshotGuard>),
}

impl Snapshot {
    fn new(ts: Timestamp, guards: (Option<SnapshotGuard>, Option<SnapshotGuard>), atomic: bool) -> Self {
        let range = TimestampRange::up_to(ts);
        let writes = FamilyFilter { family: Family::Write, range, cells: 1 };
        Snapshot {
            ts,
            lean: AtomicBool::new(false),
            writes,
            by_row: !atomic,
            owners: Owners::default(),
            deadline: None,
            held: false,
            locks_at: None,
            _guards: guards,
        }
    }

    /// A snapshot of everything published, on one log.
    pub(crate) fn newest(atomic: &dyn AtomicCommit) -> Self {
        let guard = atomic.snapshot();
        Snapshot::new(guard.timestamp(), (Some(guard), None), true)
    }

    /// A snapshot at `ts` over rows, which the caller must keep readable by an older snapshot.
    pub(crate) fn of_rows(ts: Timestamp) -> Self {
        Snapshot::new(ts, (None, None), false)
    }

    /// Errors: the snapshot is so old that garbage collection may have passed it. Must be called after each read,
    /// before the result is used.
    pub(crate) fn check_age(&self, store: &TransactionStore) -> Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let is_passed = match self.held {
            // The safe point may pass a held snapshot, because its versions are not removed.
            true => !store.holds_past_readers(),
            false => self.ts < store.safe_point(),
        };
        if is_passed || store.env.monotonic() > deadline {
            let safe_point = self.ts.next().max(store.safe_point());
            return Err(TxnError::SnapshotTooOld { snapshot_ts: self.ts, safe_point });
        }
        Ok(())
    }

    /// Whether a lock at `start_ts` is the transaction's own. Over rows such locks are at its snapshot's timestamp. A
    /// reader of the past writes nothing.
    pub(crate) fn owns(&self, start_ts: Timestamp) -> bool {
        !self.held && start_ts == self.locks_at.unwrap_or(self.ts)
    }

    /// The filter for the newest writes of rows alone.
    fn lean_filter(&self) -> ReadFilter {
        ReadFilter { families: smallvec![self.writes] }
    }

    /// The filter for the newest writes and the locks that may hide newer ones.
    fn full_filter(&self) -> ReadFilter {
        let range = self.writes.range;
        let filter = ReadFilter::new().with(Family::Lock, range, usize::MAX).with(Family::Write, range, 1);
        if self.by_row { filter.with(Family::Data, range, 1) } else { filter }
    }

    /// The timestamp that the snapshot reads at.
    pub(crate) fn ts(&self) -> Timestamp {
        self.ts
    }
}

/// What a row looks like from a snapshot.
enum Seen {
    Value(Option<Bytes>),
    /// A lock was in the way and is gone, so the row must be read again.
    Again,
}

impl TransactionStore {
    /// Takes a snapshot of the newest state, or at `as_of`.
    pub(crate) async fn take_snapshot(&self, as_of: Option<Timestamp>) -> Result<Snapshot> {
        if let Some(ts) = as_of {
            return self.take_past_snapshot(ts).await;
        }
        if let Some(atomic) = self.store.atomic() {
            return Ok(Snapshot::newest(atomic));
        }
        let asked_at = self.env.monotonic();
        let ts = self.oracle.timestamp().await?.timestamp;
        self.aged.note(self.env.monotonic(), ts);
        let guard = self.readers.register(ts);
        self.check_safe_point(ts)?;
        let deadline = Some(asked_at + self.options.history / 2);
        Ok(Snapshot { deadline, ..Snapshot::new(ts, (Some(guard), None), false) })
    }

    /// A snapshot of all ordered commits, to look at a row that the transaction has locked: a commit releases its
    /// rows when it is ordered, before it is published. Over rows it is an ordinary snapshot.
    pub(crate) async fn take_ordered_snapshot(&self) -> Result<Snapshot> {
        match self.store.atomic() {
            Some(atomic) => {
                let guard = atomic.ordered_snapshot();
                Ok(Snapshot::new(guard.timestamp(), (Some(guard), None), true))
            }
            None => self.take_snapshot(None).await,
        }
    }

    /// A snapshot at `ts`, at most now, where other nodes write and collect garbage too.
    async fn take_past_snapshot_by_row(&self, ts: Timestamp) -> Result<Snapshot> {
        let asked_at = self.env.monotonic();
        // Every later commit lies above this timestamp, and so above the snapshot.
        let now = self.oracle.timestamp().await?;
        if ts > now.timestamp {
            return Err(TxnError::Invalid("a snapshot in the future cannot be read"));
        }
        // Registered and held first, checked later, because the collector announces the safe point first.
        let guards = (Some(self.readers.register(ts)), Some(self.past_readers.register(ts)));
        self.hold_past_readers().await?;
        self.load_safe_point().await?;
        self.check_safe_point(ts)?;
        let deadline = Some(asked_at + self.options.history / 2);
        Ok(Snapshot { deadline, held: true, ..Snapshot::new(ts, guards, false) })
    }

    async fn take_past_snapshot(&self, ts: Timestamp) -> Result<Snapshot> {
        let Some(atomic) = self.store.atomic() else { return self.take_past_snapshot_by_row(ts).await };
        if ts.0 > self.oracle.physical_now().max(self.oracle.last().0) {
            return Err(TxnError::Invalid("a snapshot in the future cannot be read"));
        }
        // Registered first, checked later, so that the safe point cannot pass it in between.
        let reader = self.readers.register(ts);
        self.check_safe_point(ts)?;
        // No later commit may land at or below the snapshot.
        self.oracle.advance_to(ts);
        while atomic.published() < ts {
            let empty = CommitBatch { publishes: true, durable: false, ..CommitBatch::default() };
            if atomic.commit_atomic(empty).await?.is_err() {
                return Err(TxnError::Store(StoreError::Unavailable("an empty commit was refused".into())));
            }
        }
        Ok(Snapshot::new(ts, (Some(reader), Some(atomic.snapshot())), true))
    }

    fn check_safe_point(&self, snapshot_ts: Timestamp) -> Result<()> {
        let safe_point = self.safe_point();
        if snapshot_ts < safe_point {
            return Err(TxnError::SnapshotTooOld { snapshot_ts, safe_point });
        }
        Ok(())
    }

    pub(crate) fn is_lean(&self, snapshot: &Snapshot) -> bool {
        if snapshot.lean.load(Ordering::Relaxed) {
            return true;
        }
        let lean = self.store.atomic().is_some() && self.intents.is_lean(snapshot.ts);
        if lean {
            snapshot.lean.store(true, Ordering::Relaxed);
        }
        lean
    }

    /// The value at `key` in `snapshot`.
    pub(crate) async fn read(&self, snapshot: &Snapshot, key: &[u8], counts: &ReadCounts) -> Result<Option<Bytes>> {
        counts.keys.fetch_add(1, Ordering::Relaxed);
        if self.is_lean(snapshot)
            && let Some(cell) = self.store.read_at_once(key, &snapshot.writes)
        {
            let Some(cell) = cell? else { return Ok(None) };
            match visible(&cell.value)? {
                Visible::Absent => return Ok(None),
                Visible::Inlined(value) => return Ok(Some(value)),
                Visible::At(_) => {}
            }
        }
        Box::pin(self.read_by_request(snapshot, Bytes::copy_from_slice(key), counts)).await
    }

    async fn read_by_request(&self, snapshot: &Snapshot, key: Bytes, counts: &ReadCounts) -> Result<Option<Bytes>> {
        if !self.is_lean(snapshot) {
            return self.read_past_locks(snapshot, &key, counts, false).await;
        }
        let rows = self.store.read(std::slice::from_ref(&key), &snapshot.lean_filter()).await?;
        match rows.first() {
            Some(row) => self.written(snapshot, row, counts).await,
            None => Ok(None),
        }
    }

    async fn read_past_locks(
        &self,
        snapshot: &Snapshot,
        key: &Bytes,
        counts: &ReadCounts,
        mut second_look: bool,
    ) -> Result<Option<Bytes>> {
        loop {
            let call = counts.call();
            let rows = self.store.read(std::slice::from_ref(key), &snapshot.full_filter()).await?;
            drop(call);
            snapshot.check_age(self)?;
            let Some(row) = rows.first() else { return Ok(None) };
            let met = Mutex::default();
            let seen = self.seen(snapshot, row, counts, second_look, &met).await;
            self.resolve_later(met.into_inner());
            match seen? {
                Seen::Value(value) => return Ok(value),
                Seen::Again => second_look = true,
            }
        }
    }

    /// The values at `keys` in `snapshot`, in their order.
    pub(crate) async fn read_many(
        &self,
        snapshot: &Snapshot,
        keys: &[Bytes],
        counts: &ReadCounts,
    ) -> Result<Vec<Option<Bytes>>> {
        counts.keys.fetch_add(keys.len() as u64, Ordering::Relaxed);
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let lean = self.is_lean(snapshot);
        let filter = if lean { snapshot.lean_filter() } else { snapshot.full_filter() };
        let call = (!lean).then(|| counts.call());
        let rows = self.store.read(keys, &filter).await?;
        drop(call);
        snapshot.check_age(self)?;
        let values = self.row_values(snapshot, &rows, counts, lean).await?;
        let mut found = Vec::with_capacity(keys.len());
        let mut rest = rows.iter().zip(values).peekable();
        let mut last: Option<(&Row, Option<Bytes>)> = None;
        for key in keys {
            if rest.peek().is_some_and(|(row, _)| row.key == *key) {
                last = rest.next();
            }
            found.push(last.as_ref().filter(|(row, _)| row.key == *key).and_then(|(_, value)| value.clone()));
        }
        Ok(found)
    }

    /// The values that `snapshot` sees of `rows`. Over a network, further calls for several rows run concurrently.
    /// Locks that must be removed are removed together.
    async fn row_values(
        &self,
        snapshot: &Snapshot,
        rows: &[Row],
        counts: &ReadCounts,
        lean: bool,
    ) -> Result<Vec<Option<Bytes>>> {
        let mut values = vec![None; rows.len()];
        let mut slow = Vec::new();
        for ((at, row), value) in rows.iter().enumerate().zip(&mut values) {
            // The common case needs no asynchronous call: there is no lock, and the value is inlined.
            match here(row)?.filter(|_| lean || row.newest(Family::Lock).is_none()) {
                Some(found) => *value = found,
                None => slow.push(at),
            }
        }
        if slow.is_empty() {
            return Ok(values);
        }
        let met = Mutex::default();
        let parallel = if self.store.atomic().is_some() { 1 } else { PARALLEL_ROWS };
        let of_rows = &met;
        // Positions instead of references go into the futures, because the compiler proves more about them.
        let found = stream::iter(slow).map(|at| async move {
            let value = match rows.get(at) {
                Some(row) => Box::pin(self.row_value(snapshot, row, counts, lean, of_rows)).await,
                None => Ok(None),
            };
            value.map(|value| (at, value))
        });
        let found: Result<Vec<_>> = found.buffer_unordered(parallel).try_collect().await;
        self.resolve_later(met.into_inner());
        for (at, value) in found? {
            if let Some(slot) = values.get_mut(at) {
                *slot = value;
            }
        }
        Ok(values)
    }

    async fn row_value(
        &self,
        snapshot: &Snapshot,
        row: &Row,
        counts: &ReadCounts,
        lean: bool,
        met: &Mutex<Vec<Met>>,
    ) -> Result<Option<Bytes>> {
        if lean {
            return self.written(snapshot, row, counts).await;
        }
        match self.seen(snapshot, row, counts, false, met).await? {
            Seen::Value(value) => Ok(value),
            Seen::Again => self.read_past_locks(snapshot, &row.key, counts, true).await,
        }
    }

    /// Streams the raw rows of `range` for `snapshot`, for [`TransactionStore::visible_pairs`].
    pub(crate) fn scan_rows(
        &self,
        snapshot: &Snapshot,
        range: RowRange,
        options: ScanOptions,
        counts: &ReadCounts,
    ) -> RawRows<'_> {
        if !self.is_lean(snapshot) {
            drop(counts.call());
            return RawRows::WithLocks(self.store.scan(range, snapshot.full_filter(), options));
        }
        RawRows::Packed(self.store.scan_packed_but_dead(range, snapshot.writes, is_delete, options))
    }

    /// The raw rows of as many of `ranges` as can be read together, and the number of these ranges: see
    /// [`storage::Store::scan_short`]. `None` if locks must be considered.
    pub(crate) async fn scan_short(
        &self,
        snapshot: &Snapshot,
        ranges: &[RowRange],
        rows: usize,
    ) -> Result<Option<(RawBatch, usize)>> {
        if !self.is_lean(snapshot) {
            return Ok(None);
        }
        let (rows, read) = self.store.scan_short(ranges, snapshot.writes, rows).await?;
        Ok(Some((RawBatch::Packed(rows), read)))
    }

    /// The pairs that `snapshot` sees in rows that a scan returned.
    pub(crate) async fn visible_pairs(
        &self,
        snapshot: &Snapshot,
        rows: RawBatch,
        counts: &ReadCounts,
        reverse: bool,
    ) -> Result<Pairs> {
        let (rows, lean) = match rows {
            RawBatch::WithLocks(rows) => (rows, false),
            RawBatch::Packed(packed) => {
                let count = packed.len() as u64;
                match Pairs::visible(packed)? {
                    pairs::Visible::Pairs(pairs) => {
                        counts.keys.fetch_add(count, Ordering::Relaxed);
                        snapshot.check_age(self)?;
                        return Ok(pairs);
                    }
                    pairs::Visible::Rows(rows) => (rows, true),
                }
            }
        };
        self.visible_rows(snapshot, rows, counts, lean, reverse).await.map(Pairs::from)
    }

    /// Like [`TransactionStore::visible_pairs`], for separate rows. A lock that is met is settled on its own row, so
    /// that the scan neither loses nor repeats a row.
    async fn visible_rows(
        &self,
        snapshot: &Snapshot,
        rows: Vec<Row>,
        counts: &ReadCounts,
        lean: bool,
        reverse: bool,
    ) -> Result<Vec<(Bytes, Bytes)>> {
        counts.keys.fetch_add(rows.len() as u64, Ordering::Relaxed);
        snapshot.check_age(self)?;
        let mut pairs = Vec::with_capacity(rows.len());
        let mut slow = Vec::new();
        for mut row in rows {
            // The common case: an inlined value and no lock.
            match row.cells.as_mut_slice() {
                [Cell { family: Family::Write, value, .. }] => match take_visible(value)? {
                    Visible::Absent => {}
                    Visible::Inlined(value) => pairs.push((row.key, value)),
                    Visible::At(_) => slow.push(row),
                },
                _ => slow.push(row),
            }
        }
        if slow.is_empty() {
            return Ok(pairs);
        }
        let values = self.row_values(snapshot, &slow, counts, lean).await?;
        let slow = slow.into_iter().zip(values).filter_map(|(row, value)| Some((row.key, value?)));
        pairs.extend(slow);
        pairs.sort_unstable_by(|(one, _), (other, _)| if reverse { other.cmp(one) } else { one.cmp(other) });
        Ok(pairs)
    }

    /// The value that the newest write of `row` left.
    async fn written(&self, snapshot: &Snapshot, row: &Row, counts: &ReadCounts) -> Result<Option<Bytes>> {
        if let Some(value) = here(row)? {
            return Ok(value);
        }
        let Some(cell) = row.newest(Family::Write) else { return Ok(None) };
        match visible(&cell.value)? {
            Visible::At(start_ts) => self.read_data(snapshot, &row.key, start_ts, counts).await.map(Some),
            Visible::Absent => Ok(None),
            Visible::Inlined(value) => Ok(Some(value)),
        }
    }

    /// The long value in the cell `d@start_ts`.
    pub(crate) async fn read_data(
        &self,
        snapshot: &Snapshot,
        key: &Bytes,
        start_ts: Timestamp,
        counts: &ReadCounts,
    ) -> Result<Bytes> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(start_ts), 1);
        let call = counts.call();
        let rows = self.store.read(std::slice::from_ref(key), &filter).await?;
        drop(call);
        snapshot.check_age(self)?;
        match rows.first().and_then(|row| row.newest(Family::Data)) {
            Some(cell) => Ok(decode_data(&cell.value)?),
            None => {
                let what = format!("key {key:?} has no data at {start_ts} though a write points there");
                Err(TxnError::Store(StoreError::Corrupted(what)))
            }
        }
    }

    /// The value that a lock at `start_ts` stands for.
    pub(crate) async fn locked_value(
        &self,
        snapshot: &Snapshot,
        row: &Row,
        start_ts: Timestamp,
        lock: Lock,
        counts: &ReadCounts,
    ) -> Result<Option<Bytes>> {
        Ok(match (lock.kind, lock.inlined) {
            (RecordKind::Put, Some(value)) => Some(value),
            (RecordKind::Put, None) => match row.newest(Family::Data) {
                Some(data) if data.timestamp == start_ts => Some(decode_data(&data.value)?),
                _ => Some(self.read_data(snapshot, &row.key, start_ts, counts).await?),
            },
            (RecordKind::Delete | RecordKind::Lock, _) => None,
        })
    }

    /// The value that a snapshot sees of a row, locks included.
    async fn seen(
        &self,
        snapshot: &Snapshot,
        row: &Row,
        counts: &ReadCounts,
        second_look: bool,
        met: &Mutex<Vec<Met>>,
    ) -> Result<Seen> {
        if self.store.atomic().is_none() {
            return Ok(match self.look_past_locks(snapshot, row, counts, second_look, met).await? {
                Shown::Value(value) => Seen::Value(value),
                Shown::Written => Seen::Value(self.written(snapshot, row, counts).await?),
                Shown::Again => Seen::Again,
            });
        }
        for cell in row.family(Family::Lock) {
            let lock = Lock::decode(&cell.value)?;
            if lock.kind == RecordKind::Lock {
                continue;
            }
            counts.locks.fetch_add(1, Ordering::Relaxed);
            let start_ts = cell.timestamp;
            match self.lock_status(start_ts, &lock, second_look).await? {
                Status::Gone => return Ok(Seen::Again),
                Status::Committed(commit_ts) if commit_ts <= snapshot.ts => {
                    return Ok(Seen::Value(self.locked_value(snapshot, row, start_ts, lock, counts).await?));
                }
                // Not committed, or committed above the snapshot: read beneath the lock.
                Status::Committed(_) | Status::RolledBack | Status::Live => {}
            }
        }
        Ok(Seen::Value(self.written(snapshot, row, counts).await?))
    }
}

/// Rows as the store returns them, for [`TransactionStore::visible_pairs`].
pub(crate) enum RawRows<'a> {
    /// The newest writes, when locks cannot hide any write.
    Packed(BoxStream<'a, storage::Result<PackedRows>>),
    /// The newest writes with the locks of their rows.
    WithLocks(BoxStream<'a, storage::Result<Vec<Row>>>),
}

/// A batch of [`RawRows`].
pub(crate) enum RawBatch {
    Packed(PackedRows),
    WithLocks(Vec<Row>),
}

impl RawRows<'_> {
    /// The next batch, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RawBatch>> {
        Ok(match self {
            RawRows::Packed(batches) => batches.try_next().await?.map(RawBatch::Packed),
            RawRows::WithLocks(batches) => batches.try_next().await?.map(RawBatch::WithLocks),
        })
    }
}

/// The value that the newest write of `row` left. The outer `None` means that the value is in the data family.
fn here(row: &Row) -> Result<Option<Option<Bytes>>> {
    let Some(cell) = row.newest(Family::Write) else { return Ok(Some(None)) };
    Ok(match visible(&cell.value)? {
        Visible::Absent => Some(None),
        Visible::Inlined(value) => Some(Some(value)),
        Visible::At(start_ts) => match row.newest(Family::Data) {
            Some(data) if data.timestamp == start_ts => Some(Some(decode_data(&data.value)?)),
            _ => None,
        },
    })
}
