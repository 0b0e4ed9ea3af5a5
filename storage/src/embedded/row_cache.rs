//! [`HotRows`]: a cache of the newest cells of recently read rows, so that they are found without a seek. Readers of
//! older versions go to the database.
//!
//! A row is cached by itself. When several rows were missed whose keys differ only in the last byte, all such rows
//! are cached together as a [`Leaf`]. A leaf also tells which of these rows do not exist.
//!
//! Invariant: a cached cell is the row's newest [`Family::Write`] cell in the database. A change that is being
//! written is exempt: no snapshot shows it before [`HotRows::changed`] was told of it. Two rules keep the invariant:
//!
//! - The committer reports each change, and a load its range of rows, after the database has it and
//!   before it is published.
//! - On a miss, the reader notes the change count of the row's place and reads the newest cell. It caches the cell
//!   only if the count is still the same. All rows of a leaf share a place.
//!
//! A second invariant: if a leaf is cached, every row whose key begins with the leaf's prefix is in the leaf. A write
//! with a key of another length would break it, so such a write evicts the leaf. To find the leaf, the writer uses
//! the lengths of prefixes in its table, which are noted before any leaf is read.

pub mod block;
mod name;
mod shard;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
pub mod walk;

use crate::committer::Change;
use crate::contract::{Cell, Family, FamilyFilter, ReadFilter, TimestampRange};
use crate::embedded::key::HEAD_BYTES;
use crate::timestamp::Timestamp;
use block::Leaf;
use foldhash::fast::RandomState;
use name::Name;
use parking_lot::{Mutex, MutexGuard};
use shard::{Place, Shard};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

pub use shard::Missed;

/// The number of groups of tables whose lengths of leaf prefixes are noted separately.
const TABLES: usize = 256;
/// Shards, each with its own lock.
const SHARDS: usize = 64;

/// A cache of the newest cells of rows. See the module documentation.
pub struct HotRows {
    shards: Vec<Mutex<Shard>>,
    /// One bitmap per group of tables: the lengths of leaf prefixes beyond [`HEAD_BYTES`]. A hash of the head selects
    /// it, so tables may share it.
    lengths: Vec<AtomicU64>,
    hasher: RandomState,
}

/// The result of a look-up.
#[derive(Debug)]
pub enum Known {
    /// The newest cell, which the filter asks for.
    Cell(Cell),
    /// The row has no cell in the filter's range.
    Nothing,
    /// The newest cell lies above the filter's range, so the database must be searched for an older one.
    Newer,
    /// The row is not cached. The reader may cache its newest cell.
    Missed(Missed),
}

impl Known {
    /// Whether the database must be read.
    pub fn is_sought(&self) -> bool {
        matches!(self, Known::Newer | Known::Missed(_))
    }

    /// The range of timestamps to read from the database. After a miss it has no upper limit, so that the newest
    /// cell can be cached.
    pub fn range(&self, wanted: &FamilyFilter) -> TimestampRange {
        match self {
            Known::Missed(_) => TimestampRange::ALL,
            _ => wanted.range,
        }
    }
}

/// The part of a read that the newest cells of rows may answer: one cell of [`Family::Write`].
/// `None` for other reads.
pub fn of_newest(filter: &ReadFilter) -> Option<&FamilyFilter> {
    match filter.families.as_slice() {
        [only] if only.family == Family::Write && only.cells == 1 => Some(only),
        _ => None,
    }
}

/// The answer of a row's newest cell to a read of one cell.
pub fn answer(newest: &Cell, wanted: &FamilyFilter) -> Known {
    answer_of(newest.timestamp, wanted, || Some(newest.clone()))
}

/// Like [`answer`], but makes the cell only if it is asked for.
fn answer_of(newest: Timestamp, wanted: &FamilyFilter, cell: impl FnOnce() -> Option<Cell>) -> Known {
    if newest > wanted.range.to {
        Known::Newer
    } else if newest < wanted.range.from {
        Known::Nothing
    } else {
        cell().map_or(Known::Nothing, Known::Cell)
    }
}

/// The prefix of the leaf that a key belongs to, or the whole key if it belongs to none.
fn leaf_of(key: &[u8]) -> &[u8] {
    block::split(key).map_or(key, |(prefix, _)| prefix)
}

/// The bit for a length of leaf prefixes. `None` if keys with such a prefix are too short or too long for a leaf.
fn length_bit(length: usize) -> Option<u64> {
    1_u64.checked_shl(u32::try_from(length.checked_sub(HEAD_BYTES)?).ok()?)
}

impl HotRows {
    /// A cache of about `bytes` bytes. With 0 it caches nothing.
    pub fn new(bytes: u64) -> HotRows {
        let shard = || Mutex::new(Shard::new(bytes / SHARDS as u64));
        HotRows {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            lengths: (0..TABLES).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::default(),
        }
    }

    fn place(&self, leaf: &[u8]) -> Place {
        Place::new(self.hasher.hash_one(leaf), SHARDS)
    }

    /// The bitmap of prefix lengths for the key's table.
    fn lengths(&self, key: &[u8]) -> Option<&AtomicU64> {
        let hash = self.hasher.hash_one(key.get(..HEAD_BYTES)?);
        self.lengths.get(hash as usize % TABLES)
    }

    fn locked(&self, place: Place) -> Option<MutexGuard<'_, Shard>> {
        self.shards.get(place.shard).map(Mutex::lock)
    }

    /// Looks a row up, for a read of one cell.
    pub fn find(&self, key: &[u8], wanted: &FamilyFilter) -> Known {
        let place = self.place(leaf_of(key));
        let Some(mut shard) = self.locked(place) else { return Known::Newer };
        match shard.find(key, wanted) {
            Some(known) => known,
            None => Known::Missed(shard.miss(place)),
        }
    }

    /// Caches the newest cell of a row, which was read from the database after `missed` was given.
    pub fn keep(&self, missed: Missed, key: &[u8], newest: &Cell) {
        if let Some(mut shard) = self.locked(missed.place) {
            shard.keep(missed, key, newest);
        }
    }

    /// Whether the caller should read the leaf of the keys with `prefix`. One of its rows was missed, and its
    /// value has `bytes` bytes.
    pub fn wants_leaf(&self, missed: Missed, prefix: &[u8], bytes: usize) -> bool {
        // Most leaves are not wanted. This check spares them another lock.
        if !missed.is_wanted() {
            return false;
        }
        let (Some(lengths), Some(bit)) = (self.lengths(prefix), length_bit(prefix.len())) else { return false };
        let wants = self.locked(missed.place).is_some_and(|mut shard| shard.wants_leaf(missed, prefix, bytes));
        if wants {
            // Noted before the leaf is read, so that a writer of a key with another length finds the leaf.
            lengths.fetch_or(bit, Ordering::SeqCst);
        }
        wants
    }

    /// Caches a leaf, which was read from the database after `missed` was given. `None` if its rows form no leaf.
    pub fn keep_leaf(&self, missed: Missed, prefix: &[u8], leaf: Option<Leaf>) {
        if let Some(mut shard) = self.locked(missed.place) {
            shard.keep_leaf(missed, prefix, leaf);
        }
    }

    /// Applies changes that are in the database and not published yet.
    pub fn changed(&self, changes: &[Change]) {
        for change in changes {
            let (key, timestamp, value) = match change {
                Change::Set { key, family: Family::Write, timestamp, value } => (key, *timestamp, Some(value)),
                Change::Remove { key, family: Family::Write, timestamp } => (key, *timestamp, None),
                Change::Set { .. } | Change::Remove { .. } => continue,
                Change::RemoveRange(_) => {
                    self.forget(|_| true);
                    continue;
                }
            };
            let place = self.place(leaf_of(key));
            if let Some(mut shard) = self.locked(place) {
                shard.change(place, key, timestamp, value);
            }
            self.end_leaves(key);
        }
    }

    /// Evicts leaves whose prefix the key has but which cannot contain the key, because its length differs.
    fn end_leaves(&self, key: &[u8]) {
        let Some(lengths) = self.lengths(key) else { return };
        let mut bits = lengths.load(Ordering::SeqCst);
        if let Some(own) = key.len().checked_sub(1).and_then(length_bit) {
            bits &= !own;
        }
        while bits != 0 {
            let length = HEAD_BYTES + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            // A longer prefix cannot be a prefix of this key.
            let Some(prefix) = key.get(..length) else { return };
            let place = self.place(prefix);
            if let Some(mut shard) = self.locked(place) {
                shard.end_leaf(place, prefix);
            }
        }
    }

    /// Notes that the database ingested rows between these keys, both included. Evicts the rows
    /// and leaves between them.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        self.forget(|name| match name.leaf {
            false => (first..=last).contains(&name.bytes),
            true => name.bytes <= last && (name.bytes >= first || first.starts_with(name.bytes)),
        });
    }

    fn forget(&self, which: impl Fn(Name<'_>) -> bool) {
        for shard in &self.shards {
            shard.lock().forget(&which);
        }
    }

    /// The approximate memory of the cached rows, in bytes.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().bytes()).sum()
    }
}
