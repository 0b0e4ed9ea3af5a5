//! [`Snapshot`]: reads at one timestamp (Percolator paper, section 2.2, `Get`). Must not know
//! the transaction's own writes.
//!
//! On an engine whose one log holds every row a snapshot is what has been published, and a read
//! touches one cell of the write family: no lock can hide a commit from it, unless a two-phase
//! commit below it is not finished (see [`crate::intents`]). Elsewhere each read looks at the
//! locks too, and pushes live ones above itself.

use crate::data::{RecordKind, decode_data};
use crate::error::{Result, TxnError};
use crate::lock::Lock;
use crate::resolver::Status;
use crate::store::TransactionStore;
use crate::write::{Visible, visible};
use bytes::Bytes;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::{
    Cell, CommitBatch, Family, ReadFilter, Row, RowRange, ScanOptions, SnapshotGuard, StoreError, Timestamp,
    TimestampRange,
};

/// What readers did, for statistics.
#[derive(Default)]
pub(crate) struct ReadCounts {
    pub(crate) keys: AtomicU64,
    pub(crate) locks: AtomicU64,
}

/// Readers whose snapshots the engine does not know of: those in the past, and all of them where
/// the engine registers none.
#[derive(Default)]
pub(crate) struct Readers(Arc<Mutex<BTreeMap<Timestamp, usize>>>);

impl Readers {
    fn register(&self, ts: Timestamp) -> SnapshotGuard {
        *self.0.lock().entry(ts).or_default() += 1;
        let readers = self.0.clone();
        let release = move |ts: Timestamp| {
            let mut readers = readers.lock();
            if let Some(count) = readers.get_mut(&ts) {
                *count -= 1;
                if *count == 0 {
                    readers.remove(&ts);
                }
            }
        };
        SnapshotGuard::new(ts, Some(Arc::new(release)))
    }

    /// The oldest registered snapshot.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.0.lock().keys().next().copied()
    }
}

/// A registered snapshot. Dropping it lets garbage collection go on.
pub(crate) struct Snapshot {
    ts: Timestamp,
    /// Whether locks need not be looked at. Once true, always true.
    lean: AtomicBool,
    lean_filter: ReadFilter,
    full_filter: ReadFilter,
    _guards: (Option<SnapshotGuard>, Option<SnapshotGuard>),
}

impl Snapshot {
    fn new(ts: Timestamp, guards: (Option<SnapshotGuard>, Option<SnapshotGuard>), atomic: bool) -> Self {
        let range = TimestampRange::up_to(ts);
        let lean_filter = ReadFilter::new().with(Family::Write, range, 1);
        let mut full_filter = ReadFilter::new().with(Family::Lock, range, usize::MAX).with(Family::Write, range, 1);
        if !atomic {
            full_filter = full_filter.with(Family::Data, range, 1);
        }
        Snapshot { ts, lean: AtomicBool::new(false), lean_filter, full_filter, _guards: guards }
    }

    /// What it reads at.
    pub(crate) fn ts(&self) -> Timestamp {
        self.ts
    }
}

/// What a row looks like from a snapshot.
enum Seen {
    Value(Option<Bytes>),
    /// A lock was in the way and is gone: read the row again.
    Again,
}

impl TransactionStore {
    /// Takes a snapshot of the newest, or of `as_of`.
    pub(crate) async fn take_snapshot(&self, as_of: Option<Timestamp>) -> Result<Snapshot> {
        if let Some(ts) = as_of {
            return self.take_past_snapshot(ts).await;
        }
        if let Some(atomic) = self.store.atomic() {
            let guard = atomic.snapshot();
            return Ok(Snapshot::new(guard.timestamp(), (Some(guard), None), true));
        }
        let ts = self.oracle.timestamp().await?.timestamp;
        let guard = self.readers.register(ts);
        self.check_safe_point(ts)?;
        Ok(Snapshot::new(ts, (Some(guard), None), false))
    }

    async fn take_past_snapshot(&self, ts: Timestamp) -> Result<Snapshot> {
        if ts.0 > self.oracle.physical_now().max(self.oracle.last().0) {
            return Err(TxnError::Invalid("a snapshot in the future cannot be read"));
        }
        // Registered first, checked then: the safe point cannot pass it in between.
        let reader = self.readers.register(ts);
        self.check_safe_point(ts)?;
        // No later commit may land at or below what is read.
        self.oracle.advance_to(ts);
        let Some(atomic) = self.store.atomic() else {
            return Ok(Snapshot::new(ts, (Some(reader), None), false));
        };
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

    fn is_lean(&self, snapshot: &Snapshot) -> bool {
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
    pub(crate) async fn read(&self, snapshot: &Snapshot, key: &Bytes, counts: &ReadCounts) -> Result<Option<Bytes>> {
        counts.keys.fetch_add(1, Ordering::Relaxed);
        if self.is_lean(snapshot) {
            let rows = self.store.read(std::slice::from_ref(key), &snapshot.lean_filter).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            return self.written(row).await;
        }
        self.read_past_locks(snapshot, key, counts, false).await
    }

    async fn read_past_locks(
        &self,
        snapshot: &Snapshot,
        key: &Bytes,
        counts: &ReadCounts,
        mut second_look: bool,
    ) -> Result<Option<Bytes>> {
        loop {
            let rows = self.store.read(std::slice::from_ref(key), &snapshot.full_filter).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            match self.seen(snapshot, row, counts, second_look).await? {
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
        let lean = self.is_lean(snapshot);
        let filter = if lean { &snapshot.lean_filter } else { &snapshot.full_filter };
        let rows = self.store.read(keys, filter).await?;
        let mut values = Vec::with_capacity(keys.len());
        let mut rest = rows.iter().peekable();
        let mut last: Option<&Row> = None;
        for key in keys {
            if rest.peek().is_some_and(|row| row.key == *key) {
                last = rest.next();
            }
            values.push(match last.filter(|row| row.key == *key) {
                None => None,
                Some(row) => self.row_value(snapshot, row, counts, lean).await?,
            });
        }
        Ok(values)
    }

    async fn row_value(
        &self,
        snapshot: &Snapshot,
        row: &Row,
        counts: &ReadCounts,
        lean: bool,
    ) -> Result<Option<Bytes>> {
        if lean {
            return self.written(row).await;
        }
        match self.seen(snapshot, row, counts, false).await? {
            Seen::Value(value) => Ok(value),
            Seen::Again => self.read_past_locks(snapshot, &row.key, counts, true).await,
        }
    }

    /// Streams the raw rows of `range` that `snapshot` has to look at, for
    /// [`TransactionStore::visible_pairs`], and whether locks are left out.
    pub(crate) fn scan_rows(
        &self,
        snapshot: &Snapshot,
        range: RowRange,
        options: ScanOptions,
    ) -> (BoxStream<'_, storage::Result<Vec<Row>>>, bool) {
        let lean = self.is_lean(snapshot);
        let filter = if lean { &snapshot.lean_filter } else { &snapshot.full_filter };
        (self.store.scan(range, filter.clone(), options), lean)
    }

    /// What `snapshot` sees of rows that a scan returned. A lock half way is settled on its own
    /// row; the scan goes on behind it, so that no row is lost or repeated.
    pub(crate) async fn visible_pairs(
        &self,
        snapshot: &Snapshot,
        rows: Vec<Row>,
        counts: &ReadCounts,
        lean: bool,
    ) -> Result<Vec<(Bytes, Bytes)>> {
        counts.keys.fetch_add(rows.len() as u64, Ordering::Relaxed);
        let mut pairs = Vec::with_capacity(rows.len());
        for row in rows {
            // The common case without an asynchronous call: an inlined value, no lock.
            let value = match row.cells.as_slice() {
                [Cell { family: Family::Write, value, .. }] => match visible(value)? {
                    Visible::Absent => None,
                    Visible::Inlined(value) => Some(value),
                    Visible::At(_) => self.row_value(snapshot, &row, counts, lean).await?,
                },
                _ => self.row_value(snapshot, &row, counts, lean).await?,
            };
            if let Some(value) = value {
                pairs.push((row.key, value));
            }
        }
        Ok(pairs)
    }

    /// What the newest write of `row` left.
    async fn written(&self, row: &Row) -> Result<Option<Bytes>> {
        let Some(cell) = row.newest(Family::Write) else { return Ok(None) };
        match visible(&cell.value)? {
            Visible::Absent => Ok(None),
            Visible::Inlined(value) => Ok(Some(value)),
            Visible::At(start_ts) => match row.newest(Family::Data) {
                Some(data) if data.timestamp == start_ts => Ok(Some(decode_data(&data.value)?)),
                _ => self.read_data(&row.key, start_ts).await.map(Some),
            },
        }
    }

    /// The long value at `d@start_ts`.
    async fn read_data(&self, key: &Bytes, start_ts: Timestamp) -> Result<Bytes> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(start_ts), 1);
        let rows = self.store.read(std::slice::from_ref(key), &filter).await?;
        match rows.first().and_then(|row| row.newest(Family::Data)) {
            Some(cell) => Ok(decode_data(&cell.value)?),
            None => {
                let what = format!("key {key:?} has no data at {start_ts} though a write points there");
                Err(TxnError::Store(StoreError::Corrupted(what)))
            }
        }
    }

    /// What a snapshot sees of a row, locks considered.
    async fn seen(&self, snapshot: &Snapshot, row: &Row, counts: &ReadCounts, second_look: bool) -> Result<Seen> {
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
                    if self.store.atomic().is_none() {
                        self.resolve_lock(&row.key, cell, &lock, Status::Committed(commit_ts)).await?;
                        return Ok(Seen::Again);
                    }
                    return Ok(Seen::Value(match (lock.kind, lock.inlined) {
                        (RecordKind::Put, Some(value)) => Some(value),
                        (RecordKind::Put, None) => Some(self.read_data(&row.key, start_ts).await?),
                        (RecordKind::Delete | RecordKind::Lock, _) => None,
                    }));
                }
                // Committed above the snapshot, or not at all: beneath the lock.
                status @ (Status::Committed(_) | Status::RolledBack) => {
                    if self.store.atomic().is_none() {
                        self.resolve_lock(&row.key, cell, &lock, status).await?;
                    }
                }
                Status::Live => {
                    if self.store.atomic().is_none() && !self.push(&lock.primary, start_ts, snapshot.ts).await? {
                        return Ok(Seen::Again);
                    }
                }
            }
        }
        Ok(Seen::Value(self.written(row).await?))
    }
}
