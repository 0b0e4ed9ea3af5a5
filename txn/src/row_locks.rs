//! [`RowLocks`]: the row locks of a transaction, and for each command the timestamp since which its rows must
//! be unchanged; see [`crate::locks`].
//!
//! At READ COMMITTED a row is locked, then read at its newest version, then written. No transaction that looks
//! for locks changes it in between. So COMMIT validates such a write against commits since that read, not since
//! the statement's snapshot. A write without a lock is validated against commits since the snapshot. Each command
//! has one such timestamp. A command that locks raises it to its newest read, at which everything that it read
//! before was still locked.
//!
//! If another node keeps the locks, they may be lost. There, each row lock at READ COMMITTED is also a lock-only
//! write, validated against commits since that read. At other levels COMMIT requires that the row is unchanged since
//! the snapshot. So if a lock is lost and another transaction changes the row, COMMIT finds the conflict.

use crate::buffer::FinalWrite;
use crate::error::{Conflict, ConflictKind, TxnError};
use crate::lock::LockStrength;
use crate::locks::{Acquired, LockFailure, LockMode, LockName, LockWait, Locker, Taken, WantedLock};
use crate::snapshot::Snapshot;
use crate::store::TransactionStore;
use crate::transaction::{CommandNumber, Isolation, Shared, Transaction, Write, WriteKind};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use storage::{Family, ReadFilter, Timestamp, TimestampRange};

type Result<T, E = TxnError> = std::result::Result<T, E>;

/// The most writes whose rows are locked in one step, and their bytes.
pub(crate) const LOCKED_AT_ONCE: usize = 1024;
pub(crate) const LOCKED_BYTES: usize = 1 << 20;

/// The result of locking a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedRow {
    /// The row is locked, and its newest version is the one that the statement's snapshot sees.
    Same,
    /// The row is locked, and a newer version than the statement's snapshot sees was committed.
    Changed,
    /// Another transaction holds the lock, and the caller did not want to wait.
    Held,
}

/// The row locks of a transaction.
pub(crate) struct RowLocks {
    /// The locker that others see: the session, or one made on first use.
    locker: Mutex<Option<Arc<Locker>>>,
    acquired: Acquired,
    /// Names that COMMIT must lock if it looks for locks.
    at_commit: Mutex<Vec<(CommandNumber, WantedLock)>>,
    /// By command: rows that COMMIT must find unchanged since the snapshot, in case their locks are lost.
    guarded: Mutex<Vec<(CommandNumber, Bytes)>>,
    /// Whether the lock table counts this transaction among the holders of row locks.
    counted: Mutex<bool>,
    /// By command: since when the rows it writes must be unchanged. Empty at snapshot level.
    bases: Mutex<Vec<(CommandNumber, Timestamp)>>,
    /// The session's `lock_timeout`, for locks taken at COMMIT.
    timeout: Mutex<Option<Duration>>,
    counts: Mutex<LockCounts>,
}

/// Counts of locked rows, for statistics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LockCounts {
    pub(crate) locked: u64,
    pub(crate) changed: u64,
    pub(crate) skipped: u64,
    pub(crate) waited: Duration,
}

impl LockCounts {
    /// Counts rows, each with whether it is newly locked. A row that is locked again counts once.
    fn add<'a>(&mut self, rows: impl Iterator<Item = (bool, &'a LockedRow)>, waited: Duration) {
        for (newly, state) in rows {
            self.locked += u64::from(newly);
            self.changed += u64::from(newly && *state == LockedRow::Changed);
            self.skipped += u64::from(*state == LockedRow::Held);
        }
        self.waited += waited;
    }
}

impl RowLocks {
    /// No locks yet. `most_listed` as in [`Acquired::new`].
    pub(crate) fn new(locker: Option<Arc<Locker>>, most_listed: usize) -> RowLocks {
        RowLocks {
            locker: Mutex::new(locker),
            acquired: Acquired::new(most_listed),
            at_commit: Mutex::default(),
            guarded: Mutex::default(),
            counted: Mutex::default(),
            bases: Mutex::default(),
            timeout: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> LockCounts {
        *self.counts.lock()
    }

    fn locker(&self, store: &TransactionStore) -> Arc<Locker> {
        self.locker.lock().get_or_insert_with(|| store.locker(0)).clone()
    }

    /// The locker of the locks, if there are any.
    pub(crate) fn holder(&self) -> Option<Arc<Locker>> {
        self.locker.lock().clone()
    }

    /// Errors: locks that only another node knows of were lost.
    pub(crate) async fn confirm(&self) -> Result<()> {
        match self.holder() {
            Some(locker) => locker.confirm().await.map_err(|_| TxnError::LocksLost),
            None => Ok(()),
        }
    }

    /// Notes that `command` reads, and writes without locks, as of `snapshot_ts`. A later call for the
    /// same command raises it.
    pub(crate) fn reads_at(&self, command: CommandNumber, snapshot_ts: Timestamp) {
        let mut bases = self.bases.lock();
        match bases.last_mut() {
            Some((last, base)) if *last == command => *base = snapshot_ts.max(*base),
            _ => bases.push((command, snapshot_ts)),
        }
    }

    /// Requires that the rows that `command` writes are unchanged since `base`, at any isolation level.
    pub(crate) fn based_at(&self, command: CommandNumber, base: Timestamp) {
        self.bases.lock().push((command, base));
    }

    pub(crate) fn bases(&self) -> Vec<(CommandNumber, Timestamp)> {
        self.bases.lock().clone()
    }

    /// Releases the locks of `command` and later commands.
    pub(crate) fn undo_from(&self, command: CommandNumber) {
        self.at_commit.lock().retain(|(taken, _)| *taken < command);
        self.guarded.lock().retain(|(taken, _)| *taken < command);
        if let Some(locker) = self.holder() {
            self.acquired.release_from(&locker, command);
        }
    }

    /// The rows that COMMIT must find unchanged since the snapshot.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = (Bytes, Timestamp)> {
        std::mem::take(&mut *self.guarded.lock()).into_iter().map(|(_, key)| (key, Timestamp::ZERO))
    }

    pub(crate) fn guards_any(&self) -> bool {
        !self.guarded.lock().is_empty()
    }

    pub(crate) fn holds_any(&self) -> bool {
        !self.acquired.is_empty()
    }

    /// Releases the row locks and keeps the other names.
    pub(crate) fn give_up_rows(&self) {
        if let Some(locker) = self.holder() {
            self.acquired.release_rows(&locker);
        }
    }

    /// Releases all locks, at the end of the transaction.
    pub(crate) fn end(&self) {
        if !self.acquired.is_empty() {
            self.undo_from(0);
        }
        if std::mem::take(&mut *self.counted.lock())
            && let Some(locker) = self.holder()
        {
            locker.end_row_locks();
        }
    }

    /// Must be called before the transaction takes a lock that commits must look for.
    fn begin(&self, locker: &Locker) {
        let mut counted = self.counted.lock();
        if !std::mem::replace(&mut *counted, true) {
            locker.begin_row_locks();
        }
    }

    /// Takes names for `command`, and answers the result for each. Errors: [`TxnError::NotLocked`] for
    /// the first that failed.
    async fn take(
        &self,
        store: &TransactionStore,
        command: CommandNumber,
        wanted: Vec<WantedLock>,
        wait: LockWait,
    ) -> Result<Vec<Taken>> {
        let tags: Vec<Bytes> = wanted.iter().map(|lock| lock.tag.clone()).collect();
        let spill = || store.buffer_of_locks();
        match self.locker(store).acquire_all(wanted, wait, &self.acquired, command, spill).await {
            (taken, None) => Ok(taken),
            (taken, Some(failure)) => {
                Err(TxnError::NotLocked { key: tags.get(taken.len()).cloned().unwrap_or_default(), failure })
            }
        }
    }
}

/// The lock to take on a row.
fn wanted_row(key: &Bytes, strength: LockStrength) -> WantedLock {
    WantedLock { name: LockName::row(key), mode: LockMode::of_row(strength), tag: key.clone() }
}

/// The timestamp since which a key that `command` wrote must be unchanged.
pub(crate) fn base_of(
    bases: &[(CommandNumber, Timestamp)],
    command: CommandNumber,
    snapshot_ts: Timestamp,
) -> Timestamp {
    let after = bases.partition_point(|(from, _)| *from <= command);
    bases.get(after.saturating_sub(1)).filter(|_| after > 0).map_or(snapshot_ts, |(_, base)| *base)
}

impl Transaction {
    /// Whether other transactions wait for the rows that this one locks.
    pub fn can_lock_rows(&self) -> bool {
        self.shared.store.can_lock_rows()
    }

    /// Sets how long COMMIT waits for rows that others have locked (`lock_timeout`). `None` means without limit.
    pub fn set_lock_timeout(&self, timeout: Option<Duration>) {
        *self.shared.row_locks.timeout.lock() = timeout;
    }

    /// Locks rows one after the other, until the transaction ends or is rolled back to before the current command.
    /// Tells for each row whether a newer version than the statement sees was committed. With one snapshot per
    /// transaction such a version is a conflict. Errors: [`TxnError::NotLocked`].
    pub async fn lock_rows(&self, rows: &[(Bytes, LockStrength)], wait: LockWait) -> Result<Vec<LockedRow>> {
        let snapshot = self.snapshot().await?;
        let shared = &self.shared;
        let locks = &shared.row_locks;
        let (locker, command) = (locks.locker(&shared.store), self.command());
        let began = shared.store.env.monotonic();
        locks.begin(&locker);
        let fresh = self.fresh();
        let is_fresh = |key: &Bytes| fresh.iter().any(|range| range.contains(key));
        let wanted = rows.iter().filter(|(key, _)| !is_fresh(key)).map(|(key, strength)| wanted_row(key, *strength));
        let taken = locks.take(&shared.store, command, wanted.collect(), wait).await?;
        let mut answers = taken.iter();
        let of = |(key, _): &(Bytes, LockStrength)| match if is_fresh(key) { None } else { answers.next() } {
            Some(Taken::Held) => LockedRow::Held,
            _ => LockedRow::Same,
        };
        let mut states: Vec<LockedRow> = rows.iter().map(of).collect();
        if shared.store.agent.is_some() {
            match self.isolation() {
                Isolation::ReadCommitted => {
                    let locked = rows
                        .iter()
                        .zip(&states)
                        .filter(|((key, _), state)| **state == LockedRow::Same && !is_fresh(key));
                    let write = |(key, strength): &(Bytes, LockStrength)| Write {
                        key: key.clone(),
                        kind: WriteKind::Lock,
                        strength: *strength,
                    };
                    let writes: Vec<Write> = locked.map(|(row, _)| write(row)).collect();
                    Box::pin(self.write(writes)).await?;
                }
                // COMMIT only checks that nobody changed the rows. A lock-only record would also refuse transactions
                // that just locked them.
                _ => {
                    let mut answers = taken.iter();
                    // A lock that was held before is guarded by the command that took it.
                    let newly = |key: &Bytes| !is_fresh(key) && answers.next() == Some(&Taken::Newly);
                    let guarded = rows.iter().map(|(key, strength)| (key, *strength >= LockStrength::Share));
                    let newly = guarded.zip(rows.iter().map(|(key, _)| key).map(newly));
                    let guarded = newly.filter(|((_, guards), newly)| *guards && *newly);
                    locks.guarded.lock().extend(guarded.map(|((key, _), _)| (command, key.clone())));
                }
            }
        }
        let waited = shared.store.env.monotonic().saturating_sub(began);
        let newest = self.newest().await?;
        if self.isolation() == Isolation::ReadCommitted {
            locks.reads_at(command, newest.ts());
        }
        if newest.ts() > snapshot.ts() {
            Box::pin(self.compare(rows, &mut states, &snapshot, &newest)).await?;
        }
        let mut answers = taken.iter();
        let newly = |key| !is_fresh(key) && answers.next() == Some(&Taken::Newly);
        locks.counts.lock().add(rows.iter().map(|(key, _)| key).map(newly).zip(&states), waited);
        Ok(states)
    }

    /// Waits for a row that another transaction holds, for a quiet statement with its own snapshot that is about to
    /// update the row by key. The statement then sees the newest version and need not look at the row again. A row
    /// that does not exist is left alone, as if the statement had looked first. Errors: [`TxnError::NotLocked`].
    pub async fn lock_contended(&self, key: &Bytes, strength: LockStrength, wait: LockWait) -> Result<()> {
        let shared = &self.shared;
        let (store, locks) = (&shared.store, &shared.row_locks);
        if self.isolation().has_one_snapshot() || !self.is_quiet() || !store.has_one_log() {
            return Ok(());
        }
        let (locker, command) = (locks.locker(store), self.command());
        let wanted = wanted_row(key, strength);
        if !store.locks.is_contended(&locker, wanted.name, wanted.mode) {
            return Ok(());
        }
        let snapshot = self.snapshot().await?;
        if store.read(&snapshot, key, &shared.counts).await?.is_none() {
            return Ok(());
        }
        let began = store.env.monotonic();
        locks.begin(&locker);
        let taken = locks.take(store, command, vec![wanted], wait).await?;
        let waited = store.env.monotonic().saturating_sub(began);
        let newly = taken.iter().map(|taken| (*taken == Taken::Newly, &LockedRow::Same));
        locks.counts.lock().add(newly, waited);
        let newest = self.newest().await?;
        self.looks_at(&newest);
        self.see(command, newest)
    }

    /// Locks a name until the transaction ends or is rolled back to before the current command. If another
    /// node keeps the locks and all statements share one snapshot, a weak mode is deferred. COMMIT takes it
    /// if it looks for locks.
    pub async fn lock_name(
        &self,
        name: LockName,
        mode: LockMode,
        tag: &Bytes,
        wait: LockWait,
    ) -> Result<(), LockFailure> {
        let (store, locks) = (&self.shared.store, &self.shared.row_locks);
        if store.agent.is_some() && mode.is_weak() && self.isolation().has_one_snapshot() {
            let wanted = WantedLock { name, mode, tag: tag.clone() };
            let mut at_commit = locks.at_commit.lock();
            if !at_commit.iter().any(|(_, other)| *other == wanted) {
                at_commit.push((self.command(), wanted));
            }
            return Ok(());
        }
        let locker = locks.locker(store);
        if store.agent.is_some() && !mode.is_weak() {
            // A commit that has not looked for locks must not bypass this one.
            locks.begin(&locker);
        }
        if locker.acquire(name, mode, tag, wait).await? {
            locks.acquired.note(self.command(), name, mode);
        }
        Ok(())
    }

    /// Marks the locked rows that changed between two snapshots, except those that the
    /// transaction has written itself.
    async fn compare(
        &self,
        rows: &[(Bytes, LockStrength)],
        states: &mut [LockedRow],
        snapshot: &Arc<Snapshot>,
        newest: &Arc<Snapshot>,
    ) -> Result<()> {
        let keys: Vec<Bytes> = rows.iter().map(|(key, _)| key.clone()).collect();
        let own = self.own_writes(&keys)?;
        let changed = self.shared.changed_since(&keys, snapshot, newest).await?;
        for (((key, state), own), changed) in keys.iter().zip(states).zip(own).zip(changed) {
            if *state != LockedRow::Same || own.is_some() {
                continue;
            }
            let Some(found) = changed else { continue };
            // An unchanged row is as it was published, so only a changed one makes the transaction
            // depend on ordered commits.
            self.looks_at(newest);
            if self.isolation().has_one_snapshot() {
                let conflict =
                    Conflict { key: key.clone(), snapshot_ts: snapshot.ts(), found, kind: ConflictKind::Write };
                return Err(TxnError::Conflict(conflict));
            }
            *state = LockedRow::Changed;
        }
        Ok(())
    }
}

impl Transaction {
    /// Whether COMMIT must look for rows that others have locked, at a level where writes take no locks earlier.
    pub fn waits_at_commit(&self) -> bool {
        let store = &self.shared.store;
        store.can_lock_rows()
            && self.isolation().has_one_snapshot()
            && if store.agent.is_some() { store.oracle.saw_locks() } else { store.locks.has_row_lockers() }
            && self.has_writes()
    }

    /// Locks every row that a COMMIT would write now, so that COMMIT need not wait. May be dropped at any point.
    pub async fn lock_writes(&self) -> Result<()> {
        self.shared.lock_writes(|from| self.buffer().read().final_writes(from, LOCKED_AT_ONCE, LOCKED_BYTES)).await
    }
}

impl Shared {
    /// For each key, the timestamp of a write that `newest` sees and `snapshot` does not, if there is one.
    async fn changed_since(
        &self,
        keys: &[Bytes],
        snapshot: &Snapshot,
        newest: &Snapshot,
    ) -> Result<Vec<Option<Timestamp>>> {
        let store = &self.store;
        let range = TimestampRange { from: snapshot.ts().next(), to: newest.ts() };
        let filter = ReadFilter::new().with(Family::Write, range, 1);
        // Asked before the read. If a commit ends meanwhile, the read may have met a lock where a record is now.
        let lean = store.is_lean(newest);
        let written = store.store.read(keys, &filter).await?;
        let written: HashMap<&Bytes, Timestamp> =
            written.iter().filter_map(|row| Some((&row.key, row.newest(Family::Write)?.timestamp))).collect();
        let mut found: Vec<Option<Timestamp>> = keys.iter().map(|key| written.get(key).copied()).collect();
        if lean {
            return Ok(found);
        }
        // Locks of two-phase commits may still hide writes.
        let before = store.read_many(snapshot, keys, &self.counts).await?;
        let after = store.read_many(newest, keys, &self.counts).await?;
        for ((found, before), after) in found.iter_mut().zip(before).zip(after) {
            if found.is_none() && before != after {
                *found = Some(newest.ts());
            }
        }
        Ok(found)
    }

    /// Locks every row that a commit with one snapshot is about to write, while others hold row locks.
    pub(crate) async fn lock_writes(
        &self,
        step: impl Fn(&Bytes) -> Result<(Vec<FinalWrite>, Option<Bytes>)>,
    ) -> Result<()> {
        let locks = &self.row_locks;
        let wait = LockWait::For(*locks.timeout.lock());
        let names = locks.at_commit.lock().clone();
        let names = names.into_iter().map(|(_, lock)| lock).collect();
        locks.take(&self.store, CommandNumber::MAX, names, wait).await?;
        let fresh = self.fresh_ranges();
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (mut writes, next) = step(&start)?;
            writes.retain(|write| !fresh.iter().any(|range| range.contains(&write.key)));
            let rows = writes.iter().map(|write| wanted_row(&write.key, write.strength)).collect();
            locks.take(&self.store, CommandNumber::MAX, rows, wait).await?;
            from = next;
        }
        Ok(())
    }
}
