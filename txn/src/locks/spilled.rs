//! [`SpilledLocks`]: the row locks of one large transaction that the lock table does not list. They are in a buffer,
//! which goes to disk when it is large. So a transaction may lock any number of rows.
//!
//! Let `L` be the transaction that spills the lock of row `K`, and `M` another that wants it:
//!
//! - `L` takes `K` in the table, adds it here, then releases `K` in the table.
//! - `M` takes `K` in the table, then looks here. If it finds `K`, it lists `L` as a holder in the table, releases
//!   `K`, and takes it again. So it waits in the table's queue, where deadlocks are found.
//!
//! The table's mutex orders the two. If `M` is first, `L` waits in the table until `M` ends. If `L` is
//! first, `M` gets `K` only after `L` has released it, and `L` had added it here before. So both never hold
//! `K` at the same time.

use super::locker::LockerId;
use super::mode::{LockMode, LockName};
use super::table::LockFailure;
use crate::buffer::Buffer;
use crate::error::TxnError;
use crate::transaction::{CommandNumber, Write, WriteKind};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use storage::StoreError;

/// The spilled row locks of one transaction. See the module documentation.
pub(crate) struct SpilledLocks {
    owner: LockerId,
    rows: RwLock<Buffer>,
    listed: Mutex<Listed>,
}

/// The spilled locks that the table lists, because others wait for them.
#[derive(Default)]
struct Listed {
    /// Whether all locks were released, so that nothing may be listed any more.
    over: bool,
    /// The newest command that added a lock.
    last: CommandNumber,
    rows: Vec<ListedRow>,
}

/// A row that the table lists as held.
pub(super) struct ListedRow {
    key: Bytes,
    pub(super) name: LockName,
    pub(super) mode: LockMode,
}

fn not_spilled(error: &TxnError) -> LockFailure {
    LockFailure::NotSpilled { full: matches!(error, TxnError::Store(StoreError::DiskFull(_))) }
}

impl SpilledLocks {
    /// Without locks yet. `rows` will hold the locks of `owner`.
    pub(super) fn new(owner: LockerId, rows: Buffer) -> Arc<SpilledLocks> {
        Arc::new(SpilledLocks { owner, rows: RwLock::new(rows), listed: Mutex::default() })
    }

    /// Adds a row that `command` has locked. Errors: [`LockFailure::NotSpilled`].
    pub(super) fn add(&self, command: CommandNumber, key: &Bytes, mode: LockMode) -> Result<(), LockFailure> {
        let mut listed = self.listed.lock();
        listed.last = listed.last.max(command);
        let write = Write { key: key.clone(), kind: WriteKind::Lock, strength: mode.strength() };
        self.rows.write().write(command, write).map_err(|error| not_spilled(&error))
    }

    /// The mode in which a row is held, if it is. Errors: [`LockFailure::NotSpilled`].
    fn mode_of(&self, key: &[u8]) -> Result<Option<LockMode>, LockFailure> {
        let strength = self.rows.read().strength_of(key).map_err(|error| not_spilled(&error))?;
        Ok(strength.map(LockMode::of_row))
    }

    /// If the row is held in a mode that excludes `mode`, calls `list` with the holder and the held mode. Answers
    /// whether it did. Errors: [`LockFailure::NotSpilled`].
    fn list(
        &self,
        (name, key): (LockName, &Bytes),
        mode: LockMode,
        list: impl Fn(LockerId, LockMode) -> bool,
    ) -> Result<bool, LockFailure> {
        let mut listed = self.listed.lock();
        let held = if listed.over { None } else { self.mode_of(key)? };
        let Some(held) = held.filter(|held| mode.excludes_mode(*held)) else { return Ok(false) };
        if list(self.owner, held) {
            listed.rows.push(ListedRow { key: key.clone(), name, mode: held });
        }
        Ok(true)
    }

    /// Drops the locks of `command` and later commands. Answers the rows that the table must no longer list.
    pub(super) fn drop_from(&self, command: CommandNumber) -> Vec<ListedRow> {
        let mut listed = self.listed.lock();
        let last = listed.last;
        if last < command {
            return Vec::new();
        }
        self.rows.write().rollback_to(command, last);
        // A row that cannot be read stays listed until all are released.
        let is_held = |row: &ListedRow| match self.mode_of(&row.key) {
            Ok(held) => held.is_some_and(|held| held.strength() >= row.mode.strength()),
            Err(_) => true,
        };
        listed.rows.extract_if(.., |row| !is_held(row)).collect()
    }

    /// Drops all locks. Answers the rows that the table must no longer list.
    pub(super) fn end(&self) -> Vec<ListedRow> {
        let mut listed = self.listed.lock();
        listed.over = true;
        std::mem::take(&mut listed.rows)
    }
}

/// The spilled locks of all transactions.
#[derive(Default)]
pub(super) struct AllSpilled {
    all: RwLock<Vec<Arc<SpilledLocks>>>,
    /// The length of `all`. It changes only under the lock of `all`.
    count: AtomicUsize,
}

impl AllSpilled {
    /// Whether any transaction has spilled locks.
    pub(super) fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    pub(super) fn enter(&self, locks: Arc<SpilledLocks>) {
        let mut all = self.all.write();
        all.push(locks);
        self.count.store(all.len(), Ordering::SeqCst);
    }

    pub(super) fn leave(&self, locks: &Arc<SpilledLocks>) {
        let mut all = self.all.write();
        all.retain(|other| !Arc::ptr_eq(other, locks));
        self.count.store(all.len(), Ordering::SeqCst);
    }

    /// If another locker than `id` excludes `mode` of a row, lets `list` list it in the table. Answers whether
    /// any did. Errors: [`LockFailure::NotSpilled`].
    pub(super) fn list(
        &self,
        id: LockerId,
        row: (LockName, &Bytes),
        mode: LockMode,
        list: impl Fn(LockerId, LockMode) -> bool,
    ) -> Result<bool, LockFailure> {
        // The list is not locked during the look-up, which may read from disk.
        let all = self.all.read().clone();
        for locks in all.iter().filter(|locks| locks.owner != id) {
            if locks.list(row, mode, &list)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
