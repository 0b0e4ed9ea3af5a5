//! Garbage collection (docs/protocol.md, section 6): versions that no snapshot can reach are removed.
//!
//! The safe point is min(now - history, oldest live snapshot). It only moves forward, and is durable before the first
//! removal. A pass sees all versions of a row and removes the shadowed ones in one atomic mutation. So a delete
//! marker goes only together with everything beneath it.

use crate::backoff::Backoff;
use crate::commit::STORE_PATIENCE;
use crate::data::{RecordKind, decode_data};
use crate::error::Result;
use crate::gc_lease::GcLease;
use crate::intents::IntentState;
use crate::lock::Lock;
use crate::resolver::Status;
use crate::store::TransactionStore;
use crate::transaction::GcReport;
use crate::write::{Record, Seen, decode_record, seen};
use crate::{cas_cell, system};
use bytes::Bytes;
use futures::StreamExt;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{
    AtomicCommit, Cell, Family, Mutation, Plain, ReadFilter, Row, RowMutation, RowRange, ScanOptions, StoreError,
    Timestamp, TimestampRange,
};

/// How many times longer than a pass the rest after it is. A pass looks at every row, and others use the store too.
const REST_AFTER_PASS: u32 = 19;
/// The most rows changed in one request.
const BATCH_ROWS: usize = 512;
/// The most versions of one row that are examined and removed at a time, at least two. A row with
/// more is examined again.
const ROW_VERSIONS: usize = if cfg!(test) { 3 } else { 1024 };

impl TransactionStore {
    /// Moves the safe point as far as possible, durably. Answers its position.
    async fn advance_safe_point(&self) -> Result<Timestamp> {
        let Some(atomic) = self.store.atomic() else { return self.advance_safe_point_by_row().await };
        let history = self.options.history.as_micros() as u64;
        let mut target = Timestamp(self.oracle.physical_now().saturating_sub(history));
        target = target.min(AtomicCommit::oldest_snapshot(atomic));
        if let Some(oldest) = self.oldest_hold().await? {
            target = target.min(oldest);
        }
        if let Some(oldest) = self.readers.oldest() {
            target = target.min(oldest);
        }
        if target <= self.safe_point() {
            // An earlier call may have announced it and failed to save it. Nothing may be removed
            // until it is durable.
            if self.safe_point_unsaved.load(Ordering::SeqCst) {
                system::save(&self.store, system::SAFE_POINT, self.safe_point()).await?;
                self.safe_point_unsaved.store(false, Ordering::SeqCst);
            }
            return Ok(self.safe_point());
        }
        self.safe_point_unsaved.store(true, Ordering::SeqCst);
        // Announced before the second check. A reader registers first and then checks the safe point. So a reader
        // that registered before this line is seen now, and a later one sees the new safe point.
        let before = self.safe_point.swap(target.0, Ordering::SeqCst);
        if let Some(oldest) = self.readers.oldest().filter(|oldest| *oldest < target) {
            target = oldest.max(Timestamp(before));
            self.safe_point.store(target.0, Ordering::SeqCst);
        }
        if let Some(oldest) = self.oldest_hold().await?.filter(|oldest| *oldest < target) {
            target = oldest.max(Timestamp(before));
            self.safe_point.store(target.0, Ordering::SeqCst);
        }
        system::save(&self.store, system::SAFE_POINT, target).await?;
        self.safe_point_unsaved.store(false, Ordering::SeqCst);
        Ok(target)
    }

    /// Moves the safe point on a store that several nodes share, by a conditional mutation. Answers the bound up to
    /// which versions may be removed.
    ///
    /// Ordinary readers of other nodes need not be asked. Each node ends its transactions after half the history, and
    /// the safe point passes only aged timestamps ([`crate::aged`]). A node that is alone knows all readers. Rows
    /// hold readers of the past and named snapshots.
    ///
    /// The bound is lower than the safe point if such a row or a reader appeared during the move. It was then held
    /// first and checked later, and is respected.
    async fn advance_safe_point_by_row(&self) -> Result<Timestamp> {
        let history = self.options.history.as_micros() as u64;
        let key = system::safe_point_key();
        let mut patience = Backoff::within(self.env.clone(), STORE_PATIENCE);
        loop {
            let stored = self.load_safe_point().await?;
            let reading = self.oracle.timestamp().await?;
            self.aged.note(self.env.monotonic(), reading.timestamp);
            let mut target = Timestamp(reading.physical_micros.saturating_sub(history)).min(self.oldest_ordinary());
            if let Some(oldest) = self.oldest_hold().await? {
                target = target.min(oldest);
            }
            if target <= self.safe_point() {
                break;
            }
            let next = cas_cell::cell(&target.0.to_be_bytes());
            let (conditions, mutations) = cas_cell::change(stored.as_ref(), Some(&next));
            if self.change_row(&key, conditions, mutations).await? {
                self.safe_point.fetch_max(target.0, Ordering::SeqCst);
                break;
            }
            if !patience.pause().await {
                return Err(StoreError::Unavailable("the safe point could not be moved".into()).into());
            }
        }
        let mut bound = self.safe_point();
        if self.options.alone {
            bound = bound.min(self.oldest_ordinary());
        }
        Ok(self.oldest_hold().await?.map_or(bound, |oldest| oldest.min(bound)))
    }

    /// A lower bound of all ordinary snapshots of all nodes.
    fn oldest_ordinary(&self) -> Timestamp {
        let aged = self.aged.newest(self.env.monotonic()).unwrap_or(Timestamp::ZERO);
        match self.options.alone {
            // A reader that is idle for long ends like those of other nodes.
            true => self.readers.oldest().unwrap_or(Timestamp::MAX).max(aged),
            false => aged,
        }
    }

    /// Reloads the safe point if other nodes may have moved it.
    pub(crate) async fn reload_safe_point(&self) -> Result<()> {
        if self.store.atomic().is_none() {
            self.load_safe_point().await?;
        }
        Ok(())
    }

    /// Reads the safe point from its row, which other nodes may have changed. Answers the cell.
    pub(crate) async fn load_safe_point(&self) -> Result<Option<Cell>> {
        let found = cas_cell::read(&*self.store, &system::safe_point_key()).await?;
        let Some(cell) = &found else { return Ok(None) };
        let bytes = <[u8; 8]>::try_from(&decode_data(&cell.value)?[..]);
        let bytes = bytes.map_err(|_| StoreError::Corrupted("the safe point".into()))?;
        self.safe_point.fetch_max(u64::from_be_bytes(bytes), Ordering::SeqCst);
        Ok(found)
    }

    /// Removes the rows of a range once no live snapshot can reach them: the storage ids of dropped and truncated
    /// tables. `since` is the commit that dropped them. To survive restarts, the caller passes the same range again
    /// until this answers true. False means that the safe point has not passed `since`.
    pub async fn remove_range(&self, range: RowRange, since: Timestamp) -> Result<bool> {
        let _one_at_a_time = self.collecting.lock().await;
        if self.advance_safe_point().await? < since {
            return Ok(false);
        }
        self.store.delete_range(range).await?;
        Ok(true)
    }

    /// Makes one pass of garbage collection over every tablet (docs/protocol.md, section 6). Does nothing
    /// while another node collects.
    pub async fn collect_garbage(&self) -> Result<GcReport> {
        self.collect_garbage_after(Duration::ZERO).await
    }

    /// Like [`TransactionStore::collect_garbage`], unless another node finished a pass less than `pause` ago.
    async fn collect_garbage_after(&self, pause: Duration) -> Result<GcReport> {
        let _one_at_a_time = self.collecting.lock().await;
        if self.store.atomic().is_some() {
            return self.collect(&mut None).await;
        }
        let Some(lease) = self.begin_collecting(pause).await? else {
            self.load_safe_point().await?;
            return Ok(GcReport { safe_point: self.safe_point(), ..GcReport::default() });
        };
        let mut lease = Some(lease);
        let report = self.collect(&mut lease).await;
        let ended = match lease {
            Some(lease) => self.end_collecting(lease, report.is_ok()).await,
            None => Ok(()),
        };
        let report = report?;
        ended?;
        Ok(report)
    }

    /// Makes a pass. If it started with a `lease`, it stops when the lease is lost.
    async fn collect(&self, lease: &mut Option<GcLease>) -> Result<GcReport> {
        let mut bound = self.advance_safe_point().await?;
        let mut report = GcReport { safe_point: bound, ..GcReport::default() };
        report.locks = self.finish_intents().await?;
        let tablets = self.store.tablets(&RowRange::all()).await?;
        // All locks first: the fate of a lock may be recorded in another tablet, where the pass would remove it.
        for tablet in &tablets {
            let (resolved, left) = self.resolve_below(tablet.range.clone(), bound).await?;
            report.locks += resolved;
            if let Some(left) = left.filter(|_| self.store.atomic().is_none()) {
                bound = bound.min(left.previous());
            }
            if !self.keep(lease).await? {
                return Ok(report);
            }
        }
        // Whatever an outcome says, it is removed once nobody can ask for it any more.
        if !self.collect_range(system::outcomes(), bound, &mut report, lease, |_| false).await? {
            return Ok(report);
        }
        for tablet in tablets {
            if !self.collect_range(tablet.range, bound, &mut report, lease, is_kept_alone).await? {
                break;
            }
        }
        Ok(report)
    }

    /// Renews the lease, if there was one. False if it is lost.
    async fn keep(&self, lease: &mut Option<GcLease>) -> Result<bool> {
        let Some(held) = lease.take() else { return Ok(self.store.atomic().is_some()) };
        *lease = self.go_on_collecting(held).await?;
        Ok(lease.is_some())
    }

    /// Collects garbage every `interval` until the store is dropped, more rarely if a pass takes long. Skips a pass
    /// if the last one could have removed everything, and nothing was committed since.
    pub fn collect_garbage_every(&self, interval: Duration) {
        let this = self.this.clone();
        let env = self.env.clone();
        let work = async move {
            let mut collected = Timestamp::ZERO;
            let mut rest = interval;
            loop {
                env.sleep(rest).await;
                let Some(store) = this.upgrade() else { return };
                if store.nothing_since(collected) {
                    continue;
                }
                let begun = env.monotonic();
                let result = store.collect_garbage_after(rest / 2).await;
                rest = interval.max(env.monotonic().saturating_sub(begun) * REST_AFTER_PASS);
                match result {
                    Ok(report) => {
                        collected = report.safe_point;
                        tracing::debug!(?report, "garbage collected");
                    }
                    Err(error) => tracing::warn!(%error, "garbage collection failed"),
                }
            }
        };
        self.env.spawn("garbage-collector", Box::pin(work));
    }

    fn nothing_since(&self, collected: Timestamp) -> bool {
        let published = self.store.atomic().map(AtomicCommit::published);
        published.is_some_and(|published| published <= collected) && self.intents.finished().is_empty()
    }

    /// Resolves every lock of a finished owner, for tests that inspect the remaining cells.
    #[cfg(test)]
    pub(crate) async fn resolve_everything(&self) -> Result<u64> {
        let finished = self.finish_intents().await?;
        Ok(finished + self.resolve_below(RowRange::all(), Timestamp::MAX).await?.0)
    }

    /// Resolves the locks of owners that began at or below `bound`. Answers their number, and the oldest live owner.
    async fn resolve_below(&self, range: RowRange, bound: Timestamp) -> Result<(u64, Option<Timestamp>)> {
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::up_to(bound), usize::MAX);
        let mut rows = self.store.scan(range, filter, ScanOptions::default());
        let (mut resolved, mut left) = (0, None);
        while let Some(batch) = rows.next().await {
            for row in batch? {
                for cell in &row.cells {
                    let lock = Lock::decode(&cell.value)?;
                    let second_look = self.intents.state(cell.timestamp) != Some(IntentState::Prewriting);
                    let is_resolved = match self.lock_status(cell.timestamp, &lock, second_look).await? {
                        // A record that decides a lock's fate must not be removed before the lock.
                        status @ (Status::Committed(_) | Status::RolledBack) => {
                            self.resolve_lock(&row.key, cell, &lock, status).await?
                                || !self.is_locked(&row.key, cell).await?
                        }
                        Status::Live => false,
                        Status::Gone => continue,
                    };
                    if is_resolved {
                        resolved += 1;
                    } else {
                        left = Some(left.map_or(cell.timestamp, |left: Timestamp| left.min(cell.timestamp)));
                    }
                }
            }
        }
        Ok((resolved, left))
    }

    /// Whether the lock is still there. Asked after a change whose answer may have been lost.
    async fn is_locked(&self, key: &Bytes, cell: &Cell) -> Result<bool> {
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::at(cell.timestamp), 1);
        let rows = self.store.read(std::slice::from_ref(key), &filter).await?;
        Ok(rows.first().is_some_and(|row| row.newest(Family::Lock).is_some()))
    }

    /// Removes the shadowed versions in a range. May skip rows with one version if `kept` says that it stays. Answers
    /// false if the lease was lost.
    async fn collect_range(
        &self,
        range: RowRange,
        bound: Timestamp,
        report: &mut GcReport,
        lease: &mut Option<GcLease>,
        kept: Plain,
    ) -> Result<bool> {
        let below = TimestampRange::up_to(bound);
        let filter = ReadFilter::new()
            .with(Family::Lock, below, usize::MAX)
            .with(Family::Write, below, ROW_VERSIONS)
            .with(Family::Rollback, below, ROW_VERSIONS);
        let options = ScanOptions { batch_rows: BATCH_ROWS, cached: false, ..ScanOptions::default() };
        let mut rows = self.store.scan_but_plain(range, filter, options, kept);
        while let Some(batch) = rows.next().await {
            let (mut changes, mut cut) = (Vec::new(), Vec::new());
            for row in batch? {
                report.rows += 1;
                let mutations = shadowed(&row)?;
                if !mutations.is_empty() {
                    if is_cut(&row) {
                        cut.push(row.key.clone());
                    }
                    report.removed += mutations.len() as u64;
                    changes.push(RowMutation { key: row.key, mutations });
                }
            }
            if !changes.is_empty() {
                if !self.keep(lease).await? {
                    return Ok(false);
                }
                self.store.mutate_rows(changes).await?;
            }
            for key in cut {
                report.rows -= 1;
                // Of the versions seen, all but one are removed now, so the recursion ends.
                if !Box::pin(self.collect_range(RowRange::only(&key), bound, report, lease, kept)).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Whether a write cell stays if its row has no other version. It does unless it is a delete.
fn is_kept_alone(cell: &[u8]) -> bool {
    seen(cell).is_ok_and(|seen| seen != Seen::Absent)
}

/// Whether a row may have more versions than it shows.
fn is_cut(row: &Row) -> bool {
    [Family::Write, Family::Rollback].into_iter().any(|family| row.family(family).count() >= ROW_VERSIONS)
}

/// The versions of a row that can be removed. The row shows its newest cells at or below the safe point.
fn shadowed(row: &Row) -> Result<Vec<Mutation>> {
    let mut mutations = Vec::new();
    if row.newest(Family::Lock).is_some() {
        // A transaction below the safe point is not finished here yet, so the row waits for the next pass.
        return Ok(mutations);
    }
    // While older versions remain, the newest one must keep hiding them.
    let cut = is_cut(row);
    let remove = |family, ts| Mutation::Delete { family, range: TimestampRange::at(ts) };
    for cell in row.family(Family::Rollback) {
        mutations.push(remove(Family::Rollback, cell.timestamp));
    }
    for (age, cell) in row.family(Family::Write).enumerate() {
        let Record::Committed(record) = decode_record(cell)? else { continue };
        // Every snapshot from the safe point on sees the newest version, so it stays unless it is a delete.
        if age == 0 && (cut || record.kind != RecordKind::Delete && !system::is_outcome(&row.key)) {
            continue;
        }
        mutations.push(remove(Family::Write, cell.timestamp));
        if record.kind == RecordKind::Put && record.inlined.is_none() {
            mutations.push(remove(Family::Data, record.start_ts));
        }
    }
    Ok(mutations)
}
