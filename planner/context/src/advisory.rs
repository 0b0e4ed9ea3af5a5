//! [`AdvisoryLocks`]: the advisory locks of a session (PostgreSQL's manual, chapters 13.3.5 and 9.27.10). A lock
//! belongs to the session, once for each time it was taken, or to the transaction. Must not know functions.

use super::lock_tag;
use super::notice::Notice;
use bytes::Bytes;
use parking_lot::Mutex;
use sql_error::{Result, state};
use std::collections::HashMap;
use std::sync::Arc;
use txn::CommandNumber;
use txn::locks::{LockFailure, LockMode, LockName, LockWait, Locker};
use types::Oid;

/// The lock-name kind of advisory locks.
pub const ADVISORY: u8 = 1;

/// The name of an advisory lock: one or two numbers in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AdvisoryKey {
    /// The OID of the database.
    pub database: Oid,
    /// The first of two numbers, or the upper half of a single one.
    pub class: u32,
    /// The second of two numbers, or the lower half of a single one.
    pub object: u32,
    /// 1 for a single number, 2 for two numbers, as in `pg_locks.objsubid`.
    pub numbers: u8,
}

impl AdvisoryKey {
    /// The key of a single 64-bit number.
    pub fn one(database: Oid, number: i64) -> AdvisoryKey {
        let bits = number as u64;
        AdvisoryKey { database, class: (bits >> 32) as u32, object: bits as u32, numbers: 1 }
    }
    /// The key of two 32-bit numbers.
    pub fn two(database: Oid, first: i32, second: i32) -> AdvisoryKey {
        AdvisoryKey { database, class: first as u32, object: second as u32, numbers: 2 }
    }
    /// The key as a tag that other servers can decode.
    pub fn tag(&self) -> Bytes {
        lock_tag::of(ADVISORY, &[self.database, self.class, self.object, u32::from(self.numbers)])
    }
    /// Decodes a tag. `None` if it names another kind of lock.
    pub fn from_tag(tag: &[u8]) -> Option<AdvisoryKey> {
        let [database, class, object, numbers] = lock_tag::numbers(tag, ADVISORY)?;
        Some(AdvisoryKey { database, class, object, numbers: u8::try_from(numbers).ok()? })
    }
}

/// The lock mode of a shared or exclusive advisory lock.
pub const fn mode(shared: bool) -> LockMode {
    if shared { LockMode::new(0, 0b10) } else { LockMode::new(1, 0b11) }
}

/// How often the session and its transaction hold one key in one mode.
#[derive(Default)]
struct Held {
    by_session: u64,
    /// The first command of the transaction that took the lock. Later ones add nothing until that command is undone.
    by_command: Option<CommandNumber>,
}

impl Held {
    fn is_free(&self) -> bool {
        self.by_session == 0 && self.by_command.is_none()
    }
}

/// The advisory locks of a session. Dropping it releases them.
pub struct AdvisoryLocks {
    locker: Arc<Locker>,
    held: Mutex<HashMap<(AdvisoryKey, bool), Held>>,
}

impl AdvisoryLocks {
    /// An empty set of locks.
    pub fn new(locker: Arc<Locker>) -> AdvisoryLocks {
        AdvisoryLocks { locker, held: Mutex::default() }
    }
    /// The owner of these locks and of the session's row locks.
    pub fn locker(&self) -> &Arc<Locker> {
        &self.locker
    }

    /// Whether the session may have lost a session-level lock.
    pub fn are_lost(&self) -> bool {
        self.locker.has_lost_locks() && self.held.lock().values().any(|held| held.by_session > 0)
    }

    /// Takes a lock for the session, or for its transaction at `command`. Returns false if another session holds it and
    /// `wait` says not to wait. Errors: 55P03 after `lock_timeout`, 40P01, 53200.
    pub async fn lock(
        &self,
        key: AdvisoryKey,
        shared: bool,
        command: Option<CommandNumber>,
        wait: LockWait,
    ) -> Result<bool> {
        let tag = key.tag();
        match self.locker.acquire(LockName::new(ADVISORY, &tag), mode(shared), &tag, wait).await {
            Ok(_) => {}
            Err(LockFailure::Held) => return Ok(false),
            Err(failure) => return Err(failure.into()),
        }
        let mut held = self.held.lock();
        let held = held.entry((key, shared)).or_default();
        match command {
            Some(command) => held.by_command = Some(held.by_command.map_or(command, |first| first.min(command))),
            None => held.by_session += 1,
        }
        Ok(true)
    }

    /// Releases a session-level lock once. False if the session does not hold it.
    pub fn unlock(&self, key: AdvisoryKey, shared: bool) -> bool {
        let mut all = self.held.lock();
        let Some(held) = all.get_mut(&(key, shared)).filter(|held| held.by_session > 0) else { return false };
        held.by_session -= 1;
        if held.is_free() {
            all.remove(&(key, shared));
            self.release(key, shared);
        }
        true
    }

    /// Releases all session-level locks.
    pub fn unlock_all(&self) {
        self.keep(|held| held.by_session = 0);
    }

    /// Releases the transaction's locks at its end.
    pub fn end_transaction(&self) {
        self.keep(|held| held.by_command = None);
    }

    /// Releases the locks taken by `command` and later ones, after ROLLBACK TO SAVEPOINT.
    pub fn rolled_back_to(&self, command: CommandNumber) {
        self.keep(|held| held.by_command = held.by_command.filter(|taken| *taken < command));
    }

    fn keep(&self, change: impl Fn(&mut Held)) {
        self.held.lock().retain(|(key, shared), held| {
            change(held);
            if held.is_free() {
                self.release(*key, *shared);
            }
            !held.is_free()
        });
    }

    fn release(&self, key: AdvisoryKey, shared: bool) {
        self.locker.release(LockName::new(ADVISORY, &key.tag()), mode(shared));
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.keep(|held| *held = Held::default());
    }
}

/// The warning for releasing a lock that the session does not hold.
pub fn not_owned(shared: bool) -> Notice {
    let mode = if shared { "ShareLock" } else { "ExclusiveLock" };
    Notice::warning(state::WARNING, format!("you don't own a lock of type {mode}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_the_key() {
        for key in [AdvisoryKey::one(5, -1), AdvisoryKey::one(5, 1 << 40), AdvisoryKey::two(7, -3, 9)] {
            assert_eq!(AdvisoryKey::from_tag(&key.tag()), Some(key));
        }
        assert_ne!(AdvisoryKey::one(5, 0).tag(), AdvisoryKey::two(5, 0, 0).tag());
        assert_eq!(AdvisoryKey::from_tag(b"\x01short"), None);
    }
}
