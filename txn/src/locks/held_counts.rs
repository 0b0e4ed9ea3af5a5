//! [`HeldCounts`]: counts held locks and limits them. Row locks have a limit of their own. Other names have a limit
//! for each locker and one for each kind, so that one session cannot exhaust what the others need.

use super::locker::LockerId;
use super::mode::{LockName, ROW};
use super::table::LockFailure;
use std::collections::HashMap;

/// The most held modes of names in all, checked when rows are locked.
const MOST: usize = 8 << 20;
/// Approximate memory of a lock in the table and at its holder, in bytes.
const LOCK_BYTES: usize = 100;
/// From this number on, transactions spill their row locks early.
const CROWDED: usize = 1 << 20;
/// The most held modes of names of one kind other than rows, at about 300 bytes each.
const MOST_OF_KIND: usize = 1 << 18;
/// The most held modes of names other than rows per locker.
const MOST_OF_LOCKER: usize = 1 << 16;

/// Counts of held locks. A name counts once for each holder and mode.
#[derive(Default)]
pub(super) struct HeldCounts {
    all: usize,
    /// Names that are not rows, by kind.
    of_kind: HashMap<u8, usize>,
    /// Names that are not rows, by locker.
    of_locker: HashMap<LockerId, usize>,
}

impl HeldCounts {
    /// The number of all held modes.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// The approximate memory of all locks in bytes, and the limit for row locks.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.all * LOCK_BYTES, MOST * LOCK_BYTES)
    }

    /// Whether there are so many locks that holders of row locks should spill them.
    pub(super) fn is_crowded(&self) -> bool {
        self.all >= CROWDED
    }

    /// Checks that a locker may have one more lock.
    pub(super) fn check_room(&self, id: LockerId, name: LockName) -> Result<(), LockFailure> {
        if name.kind() == ROW {
            return if self.all < MOST { Ok(()) } else { Err(LockFailure::TooMany) };
        }
        let of_kind = self.of_kind.get(&name.kind()).copied().unwrap_or(0);
        let of_locker = self.of_locker.get(&id).copied().unwrap_or(0);
        match of_kind < MOST_OF_KIND && of_locker < MOST_OF_LOCKER {
            true => Ok(()),
            false => Err(LockFailure::TooManyNamed),
        }
    }

    /// Counts one more lock of a locker.
    pub(super) fn add(&mut self, id: LockerId, name: LockName) {
        self.all += 1;
        if name.kind() != ROW {
            *self.of_kind.entry(name.kind()).or_default() += 1;
            *self.of_locker.entry(id).or_default() += 1;
        }
    }

    /// Counts `count` fewer locks of a locker.
    pub(super) fn subtract(&mut self, id: LockerId, name: LockName, count: usize) {
        self.all = self.all.saturating_sub(count);
        if name.kind() == ROW {
            return;
        }
        if let Some(held) = self.of_kind.get_mut(&name.kind()) {
            *held = held.saturating_sub(count);
        }
        if let Some(held) = self.of_locker.get_mut(&id) {
            *held = held.saturating_sub(count);
            if *held == 0 {
                self.of_locker.remove(&id);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn what_one_locker_or_kind_uses_up_others_have() {
        let (advisory, table, row) = (LockName::new(1, b"a"), LockName::new(2, b"t"), LockName::new(ROW, b"r"));
        let mut held = HeldCounts::default();
        (0..MOST_OF_LOCKER).for_each(|_| held.add(1, advisory));
        assert_eq!(held.check_room(1, advisory), Err(LockFailure::TooManyNamed));
        assert_eq!(held.check_room(1, table), Err(LockFailure::TooManyNamed));
        assert_eq!(held.check_room(1, row), Ok(()));
        assert_eq!(held.check_room(2, advisory), Ok(()));
        for locker in 2..=(MOST_OF_KIND / MOST_OF_LOCKER) as u64 {
            (0..MOST_OF_LOCKER).for_each(|_| held.add(locker, advisory));
        }
        assert_eq!(held.check_room(99, advisory), Err(LockFailure::TooManyNamed));
        assert_eq!(held.check_room(99, table), Ok(()));
        assert_eq!(held.check_room(99, row), Ok(()));
        held.subtract(1, advisory, 1);
        assert_eq!(held.check_room(1, advisory), Ok(()));
        assert_eq!(held.check_room(99, advisory), Ok(()));
        assert_eq!(held.all(), MOST_OF_KIND - 1);
        held.subtract(1, advisory, MOST_OF_LOCKER - 1);
        assert!(!held.of_locker.contains_key(&1));
    }
}
