//! [`RowLocks`]: the rows that a transaction has locked for others to wait, and from when on its writes must be the only
//! ones; see [`crate::locks`].
//!
//! At READ COMMITTED a row is locked, then read at its newest, then written. Nobody who looks for locks changes it in
//! between, so at COMMIT such a write is held against commits since that read, not since the statement's snapshot; whatever a
//! statement wrote without a lock is held against commits since its snapshot. Both are one timestamp a command: a
//! command that locks raises it to its newest read, at which everything that it read before was still locked.
//!
//! Where another node keeps the locks they may be lost. So there each lock of a row at READ COMMITTED is also a write that only
//! locks, held against commits since that read, and at the other levels COMMIT requires that nobody changed the row since
//! the snapshot: should the lock be lost and another change the row, COMMIT finds the conflict.

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
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use storage::{Family, ReadFilter, Timestamp, TimestampRange};

type Result<T, E = TxnError> = std::result::Result<T, E>;

/// Writes whose rows are locked one after the other before the next are looked for, and their bytes.
pub(crate) const LOCKED_AT_ONCE: usize = 1024;
pub(crate) const LOCKED_BYTES: usize = 1 << 20;

/// What became of a row that was to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedRow {
    /// It is locked, and what the statement's snapshot sees of it is the newest.
    Same,
    /// It is locked; a newer version than the statement's snapshot sees has been committed.
    Changed,
    /// Another has it locked, and nobody wanted to wait.
    Held,
}

/// A transaction's row locks.
pub(crate) struct RowLocks {
    /// Who it is to others: a session, or made when it is needed.
    locker: Mutex<Option<Arc<Locker>>>,
    acquired: Acquired,
    /// Names to be locked by a COMMIT that looks for locks.
    at_commit: Mutex<Vec<(CommandNumber, WantedLock)>>,
    /// Whether the lock table counts it among those who hold row locks.
    counted: AtomicBool,
    /// Taking the first.
    beginning: tokio::sync::Mutex<()>,
    /// By command: since when what it writes must be unchanged. Empty at snapshot level.
    bases: Mutex<Vec<(CommandNumber, Timestamp)>>,
    /// `lock_timeout`, for COMMIT.
    timeout: Mutex<Option<Duration>>,
    counts: Mutex<LockCounts>,
}

/// What locking rows came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LockCounts {
    pub(crate) locked: u64,
    pub(crate) changed: u64,
    pub(crate) skipped: u64,
    pub(crate) waited: Duration,
}

impl LockCounts {
    /// Adds rows with whether they are newly locked: who looks at a changed row again locks it again.
    fn add(&mut self, states: &[LockedRow], newly: &[bool], waited: Duration) {
        for (state, newly) in states.iter().zip(newly) {
            self.locked += u64::from(*newly);
            self.changed += u64::from(*newly && *state == LockedRow::Changed);
            self.skipped += u64::from(*state == LockedRow::Held);
        }
        self.waited += waited;
    }
}

impl RowLocks {
    pub(crate) fn new(locker: Option<Arc<Locker>>) -> RowLocks {
        RowLocks {
            locker: Mutex::new(locker),
            acquired: Acquired::default(),
            at_commit: Mutex::default(),
            counted: AtomicBool::new(false),
            beginning: tokio::sync::Mutex::new(()),
            bases: Mutex::default(),
            timeout: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// What locking rows came to so far.
    pub(crate) fn counts(&self) -> LockCounts {
        *self.counts.lock()
    }

    fn locker(&self, store: &TransactionStore) -> Arc<Locker> {
        self.locker.lock().get_or_insert_with(|| store.locker(0)).clone()
    }

    /// Who holds its locks, where there is somebody.
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

    /// What `command` reads and writes without locks is as of `snapshot_ts`, or of what it locked later.
    pub(crate) fn reads_at(&self, command: CommandNumber, snapshot_ts: Timestamp) {
        let mut bases = self.bases.lock();
        match bases.last_mut() {
            Some((last, base)) if *last == command => *base = snapshot_ts.max(*base),
            _ => bases.push((command, snapshot_ts)),
        }
    }

    pub(crate) fn bases(&self) -> Vec<(CommandNumber, Timestamp)> {
        self.bases.lock().clone()
    }

    /// Gives back what was locked by `command` and later ones.
    pub(crate) fn undo_from(&self, command: CommandNumber) {
        self.at_commit.lock().retain(|(taken, _)| *taken < command);
        if let Some(locker) = self.holder() {
            self.acquired.release_from(&locker, command);
        }
    }

    /// Gives everything back.
    pub(crate) fn end(&self) {
        if !self.acquired.is_empty() {
            self.undo_from(0);
        }
        if self.counted.swap(false, Ordering::SeqCst)
            && let Some(locker) = self.holder()
        {
            locker.end_row_locks();
        }
    }

    async fn begin(&self, locker: &Locker) {
        if self.counted.load(Ordering::SeqCst) {
            return;
        }
        let _beginning = self.beginning.lock().await;
        if !self.counted.load(Ordering::SeqCst) {
            locker.begin_row_locks().await;
            self.counted.store(true, Ordering::SeqCst);
        }
    }

    /// Locks rows for `command` at the node that keeps the locks; what became of those up to the first that failed.
    async fn lock_elsewhere(
        &self,
        locker: &Locker,
        command: CommandNumber,
        rows: Vec<(Bytes, LockStrength)>,
        wait: LockWait,
    ) -> Result<Vec<Taken>> {
        let Some(agent) = locker.agent() else { return Ok(Vec::new()) };
        let wanted = |(key, strength): &(Bytes, LockStrength)| WantedLock {
            name: LockName::row(key),
            mode: LockMode::of_row(*strength),
            tag: key.clone(),
        };
        let (taken, failure) = agent.acquire(locker.id(), rows.iter().map(wanted).collect(), wait).await;
        for ((key, strength), _) in rows.iter().zip(&taken).filter(|(_, taken)| **taken == Taken::Newly) {
            self.acquired.note(command, LockName::row(key), LockMode::of_row(*strength));
        }
        match failure {
            Some(failure) => {
                Err(failed(failure, &rows.get(taken.len()).map(|(key, _)| key.clone()).unwrap_or_default()))
            }
            None => Ok(taken),
        }
    }
}

/// Since when a key that `command` wrote must be unchanged.
pub(crate) fn base_of(
    bases: &[(CommandNumber, Timestamp)],
    command: CommandNumber,
    snapshot_ts: Timestamp,
) -> Timestamp {
    let after = bases.partition_point(|(from, _)| *from <= command);
    bases.get(after.saturating_sub(1)).filter(|_| after > 0).map_or(snapshot_ts, |(_, base)| *base)
}

fn failed(failure: LockFailure, key: &Bytes) -> TxnError {
    TxnError::NotLocked { key: key.clone(), failure }
}

impl Transaction {
    /// Whether others wait for rows that this transaction locks.
    pub fn can_lock_rows(&self) -> bool {
        self.shared.store.can_lock_rows()
    }

    /// How long COMMIT waits for rows that others have locked (`lock_timeout`); `None`: as long as it takes.
    pub fn set_lock_timeout(&self, timeout: Option<Duration>) {
        *self.shared.row_locks.timeout.lock() = timeout;
    }

    /// Locks rows until the transaction ends or is rolled back to before the current command, one after the other,
    /// and tells of each whether a newer version than the statement sees was committed. At a level of one snapshot that
    /// is a conflict. Errors: [`TxnError::NotLocked`].
    pub async fn lock_rows(&self, rows: &[(Bytes, LockStrength)], wait: LockWait) -> Result<Vec<LockedRow>> {
        let snapshot = self.snapshot().await?;
        let shared = &self.shared;
        let locks = &shared.row_locks;
        let (locker, command) = (locks.locker(&shared.store), self.command());
        let began = shared.store.env.monotonic();
        locks.begin(&locker).await;
        let fresh = self.fresh();
        let is_fresh = |key: &Bytes| fresh.iter().any(|range| range.contains(key));
        let mut states = Vec::with_capacity(rows.len());
        let mut newly = vec![false; rows.len()];
        if shared.store.agent.is_some() {
            let wanted = rows.iter().filter(|(key, _)| !is_fresh(key)).cloned().collect();
            let mut taken = locks.lock_elsewhere(&locker, command, wanted, wait).await?.into_iter();
            let mut writes = Vec::new();
            for ((key, strength), newly) in rows.iter().zip(&mut newly) {
                if is_fresh(key) {
                    states.push(LockedRow::Same);
                    continue;
                }
                let taken = taken.next();
                *newly = taken == Some(Taken::Newly);
                if taken == Some(Taken::Held) {
                    states.push(LockedRow::Held);
                } else {
                    states.push(LockedRow::Same);
                    writes.push(Write { key: key.clone(), kind: WriteKind::Lock, strength: *strength });
                }
            }
            match self.isolation() {
                Isolation::ReadCommitted => self.write(writes).await?,
                // That nobody changed them is all there is to know; a record would refuse those who only locked them.
                _ => {
                    let guarded = writes.into_iter().filter(|write| write.strength >= LockStrength::Share);
                    shared.unchanged.lock().extend(guarded.map(|write| (write.key, Timestamp::ZERO)));
                }
            }
        } else {
            for ((key, strength), newly) in rows.iter().zip(&mut newly) {
                if is_fresh(key) {
                    states.push(LockedRow::Same);
                    continue;
                }
                let (name, mode) = (LockName::row(key), LockMode::of_row(*strength));
                match locker.acquire(name, mode, key, wait).await {
                    Ok(true) => {
                        locks.acquired.note(command, name, mode);
                        *newly = true;
                        states.push(LockedRow::Same);
                    }
                    Ok(false) => states.push(LockedRow::Same),
                    Err(LockFailure::Held) => states.push(LockedRow::Held),
                    Err(failure) => return Err(failed(failure, key)),
                }
            }
        }
        let waited = shared.store.env.monotonic().saturating_sub(began);
        let newest = Arc::new(shared.store.take_snapshot(None).await?);
        if self.isolation() == Isolation::ReadCommitted {
            locks.reads_at(command, newest.ts());
        }
        if newest.ts() > snapshot.ts() {
            self.compare(rows, &mut states, &snapshot, &newest).await?;
        }
        locks.counts.lock().add(&states, &newly, waited);
        Ok(states)
    }

    /// Locks a name until the transaction ends or is rolled back to before the current command. A weak mode, where another node
    /// keeps the locks, at a level whose writes lock nothing before COMMIT: when COMMIT looks for locks.
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
            // Who commits without having looked must not pass it.
            locks.begin(&locker).await;
        }
        if locker.acquire(name, mode, tag, wait).await? {
            locks.acquired.note(self.command(), name, mode);
        }
        Ok(())
    }

    /// Marks the locked rows that changed between two snapshots and that the transaction has not written itself.
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
    /// Whether COMMIT has to look for rows that others have locked, at a level where writes lock nothing before.
    pub fn waits_at_commit(&self) -> bool {
        let store = &self.shared.store;
        store.can_lock_rows()
            && self.isolation().has_one_snapshot()
            && if store.agent.is_some() { store.oracle.saw_locks() } else { store.locks.has_row_lockers() }
            && self.has_writes()
    }

    /// Locks every row that a COMMIT of now would write, so that it need not wait. To be dropped safely.
    pub async fn lock_writes(&self) -> Result<()> {
        self.shared.lock_writes(|from| self.buffer().read().final_writes(from, LOCKED_AT_ONCE, LOCKED_BYTES)).await
    }
}

impl Shared {
    /// Of each key the timestamp of a write that `newest` sees and `snapshot` does not, if there is one.
    async fn changed_since(
        &self,
        keys: &[Bytes],
        snapshot: &Snapshot,
        newest: &Snapshot,
    ) -> Result<Vec<Option<Timestamp>>> {
        let store = &self.store;
        let range = TimestampRange { from: snapshot.ts().next(), to: newest.ts() };
        let filter = ReadFilter::new().with(Family::Write, range, 1);
        let written = store.store.read(keys, &filter).await?;
        let written: HashMap<&Bytes, Timestamp> =
            written.iter().filter_map(|row| Some((&row.key, row.newest(Family::Write)?.timestamp))).collect();
        let mut found: Vec<Option<Timestamp>> = keys.iter().map(|key| written.get(key).copied()).collect();
        if store.is_lean(newest) {
            return Ok(found);
        }
        // Writes may still be hidden behind locks of a commit in two phases.
        let before = store.read_many(snapshot, keys, &self.counts).await?;
        let after = store.read_many(newest, keys, &self.counts).await?;
        for ((found, before), after) in found.iter_mut().zip(before).zip(after) {
            if found.is_none() && before != after {
                *found = Some(newest.ts());
            }
        }
        Ok(found)
    }

    /// Locks every row that a commit of one snapshot is about to write, while others hold row locks.
    pub(crate) async fn lock_writes(
        &self,
        step: impl Fn(&Bytes) -> Result<(Vec<FinalWrite>, Option<Bytes>)>,
    ) -> Result<()> {
        let locks = &self.row_locks;
        let locker = locks.locker(&self.store);
        let wait = LockWait::For(*locks.timeout.lock());
        let names = locks.at_commit.lock().clone();
        for (_, WantedLock { name, mode, tag }) in names {
            match locker.acquire(name, mode, &tag, wait).await {
                Ok(true) => locks.acquired.note(CommandNumber::MAX, name, mode),
                Ok(false) => {}
                Err(failure) => return Err(failed(failure, &tag)),
            }
        }
        let fresh = self.fresh_ranges();
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (mut writes, next) = step(&start)?;
            writes.retain(|write| !fresh.iter().any(|range| range.contains(&write.key)));
            if self.store.agent.is_some() {
                let rows = writes.into_iter().map(|write| (write.key, write.strength)).collect();
                locks.lock_elsewhere(&locker, CommandNumber::MAX, rows, wait).await?;
                from = next;
                continue;
            }
            for write in writes {
                let (name, mode) = (LockName::row(&write.key), LockMode::of_row(write.strength));
                match locker.acquire(name, mode, &write.key, wait).await {
                    Ok(true) => locks.acquired.note(CommandNumber::MAX, name, mode),
                    Ok(false) => {}
                    Err(failure) => return Err(failed(failure, &write.key)),
                }
            }
            from = next;
        }
        Ok(())
    }
}
