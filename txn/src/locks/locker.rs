//! [`Locker`]: who holds locks and waits for them: a session, or a commit that nobody's session runs. [`Acquired`]: what one
//! of its transactions took, to be given back together or from a command on.

use super::mode::{LockMode, LockName};
use super::table::{LockFailure, LockTable, LockWait};
use crate::transaction::CommandNumber;
use bytes::Bytes;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Identity of a locker.
pub(crate) type LockerId = u64;

/// One holder of locks. What one of its transactions holds never excludes another of them.
pub struct Locker {
    table: Arc<LockTable>,
    id: LockerId,
    /// As others are told of it: the session's process id; 0 for none.
    label: i32,
}

impl Locker {
    pub(super) fn new(table: Arc<LockTable>, id: LockerId, label: i32) -> Arc<Locker> {
        Arc::new(Locker { table, id, label })
    }

    pub(crate) fn id(&self) -> LockerId {
        self.id
    }

    pub(crate) fn label(&self) -> i32 {
        self.label
    }

    /// Takes a name, waiting as `wait` says. `tag`: what others are told it is. Answers whether it is newly held in this
    /// mode, so that it has to be released.
    pub async fn acquire(
        &self,
        name: LockName,
        mode: LockMode,
        tag: &Bytes,
        wait: LockWait,
    ) -> Result<bool, LockFailure> {
        self.table.acquire(self, name, mode, tag, wait).await
    }

    /// Gives a mode of a name back.
    pub fn release(&self, name: LockName, mode: LockMode) {
        self.table.release(self.id, &[(name, mode)]);
    }
}

impl fmt::Debug for Locker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "locker {} of process {}", self.id, self.label)
    }
}

/// What a transaction acquired, oldest first.
#[derive(Default)]
pub(crate) struct Acquired {
    taken: Mutex<Vec<(CommandNumber, LockName, LockMode)>>,
}

impl Acquired {
    pub(crate) fn note(&self, command: CommandNumber, name: LockName, mode: LockMode) {
        self.taken.lock().push((command, name, mode));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken.lock().is_empty()
    }

    /// Gives back what was taken by `command` and later ones.
    pub(crate) fn release_from(&self, locker: &Locker, command: CommandNumber) {
        let mut taken = self.taken.lock();
        let first = taken.partition_point(|(taken, ..)| *taken < command);
        let undone: Vec<(LockName, LockMode)> = taken.drain(first..).map(|(_, name, mode)| (name, mode)).collect();
        drop(taken);
        locker.table.release(locker.id, &undone);
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.table.forget(self.id);
    }
}
