//! Decides the fate of a lock's owner, and resolves the lock (Percolator paper, section 2.2: the primary decides).
//!
//! The verdict follows from one read of the primary's `l@start` and all its `w` and `r` cells at or above start:
//!
//! | seen | verdict |
//! |---|---|
//! | a `w` or lock-only `r` that points at start | committed: roll forward |
//! | rollback `r@start` | rolled back |
//! | `l@start`, alive | live: push it, or wait |
//! | `l@start`, expired | remove exactly that lock and its data, set `r@start` |
//! | nothing, but another's `r@start` | rolled back: it can never prewrite |
//! | nothing at all | once the lock has expired, set `r@start` if still nothing |
//!
//! A later `w` of another transaction says nothing about a transaction that has not locked its primary yet. At READ
//! COMMITTED it may have read that `w`, above its own start_ts, and lock the row nevertheless.

use crate::backoff::Backoff;
use crate::commit::STORE_PATIENCE;
use crate::error::Result;
use crate::intents::IntentState;
use crate::lock::{Lock, LockStrength};
use crate::store::TransactionStore;
use crate::write::{Record, WriteRecord, decode_record, encode_rollback};
use bytes::Bytes;
use storage::{
    Cell, ClassRange, CommitBatch, CommitCell, Condition, Family, Mutation, ReadFilter, Stamp, StoreError, Timestamp,
    TimestampRange,
};

/// How far above its own snapshot a reader pushes a commit that was pushed before, in microseconds. For that time no
/// reader disturbs the owner, whose heartbeats and commit change the same cell.
fn push_ahead(read_ts: Timestamp, start_ts: Timestamp) -> u64 {
    // In proportion to the owner's age, and so to the latency of its calls. An owner on a slow store gets its turn,
    // and waits for the oracle only a fraction of the time it took already.
    (read_ts.0.saturating_sub(start_ts.0) / 4).clamp(20_000, 1_000_000)
}

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Committed at this timestamp. Final.
    Committed(Timestamp),
    /// Rolled back. This is final.
    RolledBack,
    /// Its owner is at work.
    Live,
    /// Ended, with its locks removed. The lock in question is no longer there.
    Gone,
}

/// The state of a transaction in its primary's row.
pub(crate) struct PrimaryRow {
    /// The lock cell at start_ts.
    pub(crate) lock: Option<Cell>,
    /// The commit timestamp, if it committed.
    pub(crate) committed: Option<Timestamp>,
    pub(crate) rolled_back: bool,
    /// Whether another transaction's record is at the place of this one's rollback record. It refuses this
    /// one's prewrite as well.
    excluded: bool,
    /// The newest write or rollback record seen.
    pub(crate) newest: Timestamp,
}

/// Whether a writer may try again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cleared {
    /// No conflicting lock is left.
    Yes,
    /// A live transaction with this start_ts holds the key, by this lock.
    HeldBy(Timestamp, Cell),
}

impl TransactionStore {
    /// Reads the state of the transaction `start_ts` from the row of `primary`.
    pub(crate) async fn read_primary(&self, primary: &Bytes, start_ts: Timestamp) -> Result<PrimaryRow> {
        let filter = ReadFilter::new()
            .with(Family::Lock, TimestampRange::at(start_ts), 1)
            .with(Family::Write, TimestampRange::from(start_ts), usize::MAX)
            .with(Family::Rollback, TimestampRange::from(start_ts), usize::MAX);
        let rows = self.store.read(std::slice::from_ref(primary), &filter).await?;
        let mut seen = PrimaryRow {
            lock: None,
            committed: None,
            rolled_back: false,
            excluded: false,
            newest: start_ts.previous(),
        };
        let Some(row) = rows.first() else { return Ok(seen) };
        seen.lock = row.newest(Family::Lock).cloned();
        for cell in row.family(Family::Write).chain(row.family(Family::Rollback)) {
            seen.newest = seen.newest.max(cell.timestamp);
            match decode_record(cell)? {
                Record::Committed(record) if record.start_ts == start_ts => seen.committed = Some(cell.timestamp),
                Record::Committed(_) => {
                    seen.excluded |= cell.family == Family::Rollback && cell.timestamp == start_ts;
                }
                Record::RolledBack => seen.rolled_back |= cell.timestamp == start_ts,
            }
        }
        Ok(seen)
    }

    /// The fate of a lock's owner. `second_look`: the lock was read again after the answer [`Status::Gone`]. If it is
    /// still there, it is an orphan of a finished owner.
    pub(crate) async fn lock_status(&self, start_ts: Timestamp, lock: &Lock, second_look: bool) -> Result<Status> {
        if self.store.atomic().is_none() {
            return self.primary_status(start_ts, lock, false, None).await;
        }
        match self.intents.state(start_ts) {
            Some(IntentState::Prewriting) => Ok(Status::Live),
            Some(IntentState::Committed(commit_ts)) => Ok(Status::Committed(commit_ts)),
            Some(IntentState::RolledBack) => Ok(Status::RolledBack),
            Some(IntentState::Committing) => {
                let row = self.read_primary(&lock.primary, start_ts).await?;
                Ok(row.committed.map_or(Status::Live, Status::Committed))
            }
            None if !second_look => Ok(Status::Gone),
            None => self.primary_status(start_ts, lock, true, None).await,
        }
    }

    /// The fate of a transaction by its primary's row. Ends the transaction there if its owner is dead. Pushes the
    /// commit of a live one above the snapshot `push_above`, so that a reader need not wait.
    pub(crate) async fn primary_status(
        &self,
        start_ts: Timestamp,
        lock: &Lock,
        owner_is_dead: bool,
        push_above: Option<Timestamp>,
    ) -> Result<Status> {
        if let Some(status) = self.final_states.get(start_ts) {
            return Ok(status);
        }
        let primary = &lock.primary;
        let mut patience = Backoff::within(self.env.clone(), STORE_PATIENCE);
        for attempt in 0u32.. {
            // The row has changed meanwhile: a push, a heartbeat, or a change of ours whose answer was lost.
            if attempt > 0 && !patience.pause().await {
                break;
            }
            let row = self.read_primary(primary, start_ts).await?;
            if let Some(commit_ts) = row.committed {
                return Ok(self.is_final(start_ts, Status::Committed(commit_ts)));
            }
            if row.rolled_back || (row.lock.is_none() && row.excluded) {
                return Ok(self.is_final(start_ts, Status::RolledBack));
            }
            let of_primary = row.lock.as_ref().map(|cell| Lock::decode(&cell.value)).transpose()?;
            let expires_at = of_primary.as_ref().map_or(lock.expires_at, |lock| lock.expires_at);
            if !owner_is_dead && !self.has_expired(expires_at).await? {
                let (Some(read_ts), Some(cell), Some(mut lock)) = (push_above, row.lock, of_primary) else {
                    // The primary is not locked, so commit_ts is not taken yet. It will lie
                    // above every current snapshot.
                    return Ok(Status::Live);
                };
                if lock.min_commit_ts > read_ts {
                    self.pushed.remember(start_ts, lock.min_commit_ts);
                    return Ok(Status::Live);
                }
                // It was pushed before, so it has many readers. Each push would make the owner's
                // commit fail once more.
                let ahead = if lock.min_commit_ts > Timestamp::ZERO { push_ahead(read_ts, start_ts) } else { 0 };
                lock.min_commit_ts = Timestamp(read_ts.next().0.saturating_add(ahead));
                let set = Mutation::Set { family: Family::Lock, timestamp: start_ts, value: lock.encode() };
                if self.change_row(primary, vec![exactly(&cell)], vec![set]).await? {
                    self.pushed.remember(start_ts, lock.min_commit_ts);
                    return Ok(Status::Live);
                }
                continue;
            }
            let conditions = match row.lock {
                Some(cell) => vec![exactly(&cell)],
                None => nothing_since(start_ts, row.newest),
            };
            if self.change_row(primary, conditions, roll_back_mutations(start_ts)).await? {
                return Ok(self.is_final(start_ts, Status::RolledBack));
            }
        }
        Err(StoreError::Unavailable(format!("the fate of transaction {start_ts} could not be learned")).into())
    }

    /// Whether a lock with this expiry is dead, by the oracle's clock. Our own estimate of that clock
    /// only saves the question.
    pub(crate) async fn has_expired(&self, expires_at: u64) -> Result<bool> {
        if self.oracle.physical_now() <= expires_at {
            return Ok(false);
        }
        Ok(self.oracle.timestamp().await?.physical_micros > expires_at)
    }

    /// Ends the live owner of a lock in favour of a transaction that goes first, unless it has committed, and removes
    /// the lock. The owner's COMMIT finds itself rolled back, as after a long silence.
    pub(crate) async fn wound(&self, key: &Bytes, cell: &Cell, lock: &Lock) -> Result<()> {
        let status = self.primary_status(cell.timestamp, lock, true, None).await?;
        tracing::debug!(start_ts = %cell.timestamp, ?status, "ended a transaction that was in the way of an earlier one");
        self.resolve_lock(key, cell, lock, status).await.map(drop)
    }

    fn is_final(&self, start_ts: Timestamp, status: Status) -> Status {
        self.final_states.remember(start_ts, status);
        status
    }

    /// Removes a lock whose owner's fate is final: rolls it forward or back. False if the lock may still be there,
    /// or was already removed.
    pub(crate) async fn resolve_lock(&self, key: &Bytes, cell: &Cell, lock: &Lock, status: Status) -> Result<bool> {
        let start_ts = cell.timestamp;
        let mutations = match status {
            Status::Committed(commit_ts) => roll_forward_mutations(start_ts, commit_ts, lock),
            Status::RolledBack => roll_back_mutations(start_ts),
            Status::Live | Status::Gone => return Ok(false),
        };
        self.change_row(key, vec![exactly(cell)], mutations).await
    }

    /// Removes locks whose owners' fates are final in one request, if the store can commit across rows. Answers false
    /// and changes nothing if it cannot, or if one of the locks has gone.
    pub(crate) async fn resolve_together(&self, locks: &[(Bytes, Cell, Status)]) -> Result<bool> {
        let Some(atomic) = self.store.atomic() else { return Ok(false) };
        let mut batch = CommitBatch::default();
        for (key, cell, status) in locks {
            let mutations = match status {
                Status::Committed(commit_ts) => {
                    roll_forward_mutations(cell.timestamp, *commit_ts, &Lock::decode(&cell.value)?)
                }
                Status::RolledBack => roll_back_mutations(cell.timestamp),
                Status::Live | Status::Gone => continue,
            };
            batch.row_conditions.push((key.clone(), exactly(cell)));
            batch.cells.extend(commit_cells(key, mutations)?);
        }
        Ok(atomic.commit_atomic(batch).await?.is_ok())
    }

    /// Removes every lock at `key` that excludes `strength` and whose owner is finished.
    pub(crate) async fn clear_locks(
        &self,
        key: &Bytes,
        strength: LockStrength,
        own: Option<Timestamp>,
    ) -> Result<Cleared> {
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let mut second_look = false;
        loop {
            let rows = self.store.read(std::slice::from_ref(key), &filter).await?;
            let Some(row) = rows.first() else { return Ok(Cleared::Yes) };
            let mut again = false;
            for cell in row.family(Family::Lock) {
                let lock = Lock::decode(&cell.value)?;
                if own == Some(cell.timestamp) || !strength.conflicts_with(lock.strength) {
                    continue;
                }
                match self.lock_status(cell.timestamp, &lock, second_look).await? {
                    Status::Live => return Ok(Cleared::HeldBy(cell.timestamp, cell.clone())),
                    Status::Gone => again = true,
                    status => self.resolve_from(key, cell, &lock, status).await?,
                }
            }
            if !again {
                return Ok(Cleared::Yes);
            }
            second_look = true;
        }
    }

    /// Changes one row if every condition holds. If there is a committer, the change passes it, so that later
    /// validations see it. False: a condition failed, or the answer was lost.
    pub(crate) async fn change_row(
        &self,
        key: &Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> Result<bool> {
        let Some(atomic) = self.store.atomic() else {
            // The caller then looks again, and the row tells what the lost answer would have told.
            return match self.store.check_and_mutate(key.clone(), conditions, mutations).await {
                Err(StoreError::Undetermined(_)) => Ok(false),
                answer => Ok(answer?),
            };
        };
        let cells = commit_cells(key, mutations)?;
        let batch = CommitBatch {
            row_conditions: conditions.into_iter().map(|condition| (key.clone(), condition)).collect(),
            cells,
            ..CommitBatch::default()
        };
        Ok(atomic.commit_atomic(batch).await?.is_ok())
    }
}

/// Converts the mutations of a row to cells of a batch. Errors: a mutation removes several versions.
fn commit_cells(key: &Bytes, mutations: Vec<Mutation>) -> Result<Vec<CommitCell>> {
    let mut cells = Vec::with_capacity(mutations.len());
    for mutation in mutations {
        let (family, timestamp, value) = match mutation {
            Mutation::Set { family, timestamp, value } => (family, timestamp, Some(value)),
            Mutation::Delete { family, range } if range.from == range.to => (family, range.from, None),
            Mutation::Delete { .. } => {
                return Err(StoreError::Unsupported("removing several versions in a commit".into()).into());
            }
        };
        cells.push(CommitCell { key: key.clone(), family, stamp: Stamp::At(timestamp), value });
    }
    Ok(cells)
}

/// The condition that a row still has exactly this cell.
pub(crate) fn exactly(cell: &Cell) -> Condition {
    Condition::CellEquals { family: cell.family, timestamp: cell.timestamp, value: cell.value.clone() }
}

/// The conditions that a primary is unchanged since it was read. It had no cell of `start_ts`, and its newest
/// record was at `newest`.
pub(crate) fn nothing_since(start_ts: Timestamp, newest: Timestamp) -> Vec<Condition> {
    let none = |family, range| Condition::NoCell { family, range, class: ClassRange::ANY, except: None };
    vec![
        none(Family::Lock, TimestampRange::at(start_ts)),
        none(Family::Write, TimestampRange::after(newest)),
        none(Family::Rollback, TimestampRange::after(newest)),
    ]
}

/// The mutations that turn a lock into its record, after its transaction committed.
pub(crate) fn roll_forward_mutations(start_ts: Timestamp, commit_ts: Timestamp, lock: &Lock) -> Vec<Mutation> {
    let record = WriteRecord { strength: lock.strength, kind: lock.kind, start_ts, inlined: lock.inlined.clone() };
    vec![
        Mutation::Set { family: record.family(), timestamp: commit_ts, value: record.encode() },
        Mutation::Delete { family: Family::Lock, range: TimestampRange::at(start_ts) },
    ]
}

/// The mutations that remove a lock after its transaction was rolled back, and leave a rollback record.
pub(crate) fn roll_back_mutations(start_ts: Timestamp) -> Vec<Mutation> {
    vec![
        Mutation::Delete { family: Family::Lock, range: TimestampRange::at(start_ts) },
        Mutation::Delete { family: Family::Data, range: TimestampRange::at(start_ts) },
        Mutation::Set { family: Family::Rollback, timestamp: start_ts, value: encode_rollback(start_ts) },
    ]
}
