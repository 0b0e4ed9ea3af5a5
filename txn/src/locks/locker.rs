//! [`Locker`]: an owner of locks: a session, or a commit without a session. Its locks are in this process's table, or
//! another node keeps them. [`Acquired`]: the locks that one of its transactions took, for releasing them together or
//! from a command on.

use super::call::{Taken, WantedLock};
use super::lock_client::LockAgent;
use super::mode::{LockMode, LockName, ROW};
use super::spilled::SpilledLocks;
use super::table::{LockFailure, LockTable, LockWait};
use crate::buffer::Buffer;
use crate::transaction::CommandNumber;
use bytes::Bytes;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Identifies a locker in its process.
pub(crate) type LockerId = u64;

/// The keeper of a locker's locks.
pub(super) enum Home {
    /// In this process's table.
    Here(Arc<LockTable>),
    /// At the oracle's node, for all nodes of a store.
    Kept(Arc<LockAgent>),
}

/// An owner of locks. The locks of its transactions never conflict with each other.
pub struct Locker {
    home: Home,
    id: LockerId,
    /// The label that others see: the session's process id, or 0 for none.
    label: i32,
}

impl Locker {
    pub(super) fn new(home: Home, id: LockerId, label: i32) -> Arc<Locker> {
        Arc::new(Locker { home, id, label })
    }

    pub(crate) fn id(&self) -> LockerId {
        self.id
    }

    pub(crate) fn label(&self) -> i32 {
        self.label
    }

    /// Takes a name, and waits as `wait` says. `tag` describes the name to others. Answers whether it is newly held
    /// in this mode, so that the caller must release it.
    pub async fn acquire(
        &self,
        name: LockName,
        mode: LockMode,
        tag: &Bytes,
        wait: LockWait,
    ) -> Result<bool, LockFailure> {
        match &self.home {
            Home::Here(table) => table.acquire(self, name, mode, tag, wait).await,
            Home::Kept(agent) => {
                let wanted = vec![WantedLock { name, mode, tag: tag.clone() }];
                match agent.acquire(self.id, wanted, wait, |_| ()).await {
                    (_, Some(failure)) => Err(failure),
                    (taken, None) if taken.first() == Some(&Taken::Held) => Err(LockFailure::Held),
                    (taken, None) => Ok(taken.first() == Some(&Taken::Newly)),
                }
            }
        }
    }

    /// Takes names for a command of a transaction, one after the other, and notes the newly held ones in `acquired`.
    /// `wait` applies to each name. `spill` makes a buffer for row locks once there are many; `None` keeps them all
    /// in memory. Answers the results up to the first failure.
    pub(crate) async fn acquire_all(
        &self,
        wanted: Vec<WantedLock>,
        wait: LockWait,
        acquired: &Acquired,
        command: CommandNumber,
        spill: impl Fn() -> Option<Buffer>,
    ) -> (Vec<Taken>, Option<LockFailure>) {
        let note = |lock: &WantedLock| acquired.note(command, lock.name, lock.mode);
        match &self.home {
            Home::Here(table) => {
                let mut taken = Vec::with_capacity(wanted.len());
                for lock in &wanted {
                    taken.push(match table.acquire(self, lock.name, lock.mode, &lock.tag, wait).await {
                        Ok(true) => match acquired.spill(self, table, command, lock, &spill) {
                            Ok(true) => Taken::Newly,
                            Ok(false) => {
                                note(lock);
                                Taken::Newly
                            }
                            Err(failure) => {
                                note(lock);
                                return (taken, Some(failure));
                            }
                        },
                        Ok(false) => Taken::Already,
                        Err(LockFailure::Held) => Taken::Held,
                        Err(failure) => return (taken, Some(failure)),
                    });
                }
                (taken, None)
            }
            Home::Kept(agent) => agent.acquire(self.id, wanted, wait, note).await,
        }
    }

    /// The agent that asks for its locks, if another node keeps them.
    fn agent(&self) -> Option<&Arc<LockAgent>> {
        match &self.home {
            Home::Here(_) => None,
            Home::Kept(agent) => Some(agent),
        }
    }

    /// Releases a mode of a name.
    pub fn release(&self, name: LockName, mode: LockMode) {
        self.release_all(&[(name, mode)]);
    }

    fn release_all(&self, given_back: &[(LockName, LockMode)]) {
        match &self.home {
            Home::Here(table) => table.release(self.id, given_back),
            Home::Kept(agent) => agent.release(self.id, given_back),
        }
    }

    /// Notes that a transaction is about to take its first lock that commits elsewhere must look for.
    pub(crate) fn begin_row_locks(&self) {
        match &self.home {
            Home::Here(table) => table.begin_row_locks(),
            Home::Kept(agent) => agent.begin_row_locks(self.id),
        }
    }

    /// Notes that such a transaction holds no lock any more.
    pub(crate) fn end_row_locks(&self) {
        match &self.home {
            Home::Here(table) => table.end_row_locks(),
            Home::Kept(agent) => agent.end_row_locks(self.id),
        }
    }

    /// Whether it has lost locks, other than on rows, that it has not released since. The keeper missed this node's
    /// heartbeats, or died while another node got the locks.
    pub fn has_lost_locks(&self) -> bool {
        self.agent().is_some_and(|agent| agent.has_lost(self.id))
    }

    /// Waits until its releases have taken effect, for a second at most. A client that was told of its COMMIT may
    /// tell another, which then asks without waiting (NOWAIT). If the keeper does not answer for longer, nobody gets
    /// locks meanwhile, and its successor does not learn of the released ones.
    pub async fn has_given_back(&self) {
        if let Some(agent) = self.agent() {
            agent.has_given_back(self.id).await;
        }
    }

    /// Waits until it is certain that it has all its locks now. Errors: some were lost, or nobody can tell.
    pub(crate) async fn confirm(&self) -> Result<(), Lost> {
        match &self.home {
            Home::Here(_) => Ok(()),
            Home::Kept(agent) => agent.confirm(self.id).await,
        }
    }
}

/// The error of a locker that has lost locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

impl fmt::Debug for Locker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "locker {} of process {}", self.id, self.label)
    }
}

/// The most locks that a crowded table lists for one transaction.
const MOST_LISTED_IN_CROWD: usize = 1 << 10;

/// The locks that a transaction has acquired.
pub(crate) struct Acquired {
    /// The most locks that the table lists for it before row locks are spilled.
    most_listed: usize,
    /// The locks with the commands that took them, oldest first.
    taken: Mutex<Vec<(CommandNumber, LockName, LockMode)>>,
    spilled: Mutex<Option<Arc<SpilledLocks>>>,
}

impl Acquired {
    /// No locks yet. Beyond `most_listed` locks, row locks are spilled.
    pub(crate) fn new(most_listed: usize) -> Acquired {
        Acquired { most_listed, taken: Mutex::default(), spilled: Mutex::default() }
    }

    pub(crate) fn note(&self, command: CommandNumber, name: LockName, mode: LockMode) {
        self.taken.lock().push((command, name, mode));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken.lock().is_empty() && self.spilled.lock().is_none()
    }

    /// Spills a lock that the table has just granted, if it is a row lock and there are many. Answers whether it did.
    /// Errors: [`LockFailure::NotSpilled`]; the table then still lists it.
    fn spill(
        &self,
        locker: &Locker,
        table: &LockTable,
        command: CommandNumber,
        lock: &WantedLock,
        buffer: impl Fn() -> Option<Buffer>,
    ) -> Result<bool, LockFailure> {
        if lock.name.kind() != ROW {
            return Ok(false);
        }
        let count = self.taken.lock().len();
        let few = count < self.most_listed.min(MOST_LISTED_IN_CROWD);
        if few || count < self.most_listed && !table.is_crowded() {
            return Ok(false);
        }
        let Some(spilled) = self.spilled(locker, table, buffer) else { return Ok(false) };
        spilled.add(command, &lock.tag, lock.mode)?;
        table.release(locker.id, &[(lock.name, lock.mode)]);
        Ok(true)
    }

    fn spilled(
        &self,
        locker: &Locker,
        table: &LockTable,
        buffer: impl Fn() -> Option<Buffer>,
    ) -> Option<Arc<SpilledLocks>> {
        let mut spilled = self.spilled.lock();
        if spilled.is_none() {
            let new = SpilledLocks::new(locker.id, buffer()?);
            table.begin_spilled(&new);
            *spilled = Some(new);
        }
        spilled.clone()
    }

    /// Releases the locks of `command` and later commands.
    pub(crate) fn release_from(&self, locker: &Locker, command: CommandNumber) {
        let mut taken = self.taken.lock();
        let first = taken.partition_point(|(taken, ..)| *taken < command);
        let undone: Vec<(LockName, LockMode)> = taken.drain(first..).map(|(_, name, mode)| (name, mode)).collect();
        drop(taken);
        locker.release_all(&undone);
        if command == 0 {
            self.release_spilled(locker);
        } else if let (Some(spilled), Home::Here(table)) = (self.spilled.lock().clone(), &locker.home) {
            table.release_listed(locker.id, spilled.drop_from(command));
        }
    }

    fn release_spilled(&self, locker: &Locker) {
        if let (Some(spilled), Home::Here(table)) = (self.spilled.lock().take(), &locker.home) {
            table.end_spilled(locker.id, &spilled);
        }
    }

    /// Releases the row locks only.
    pub(crate) fn release_rows(&self, locker: &Locker) {
        let mut rows = Vec::new();
        self.taken.lock().retain(|(_, name, mode)| {
            let row = name.kind() == ROW;
            if row {
                rows.push((*name, *mode));
            }
            !row
        });
        locker.release_all(&rows);
        self.release_spilled(locker);
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        match &self.home {
            Home::Here(table) => table.forget(self.id),
            Home::Kept(agent) => agent.forget(self.id),
        }
    }
}
