//! [`HotRows`]: the newest cell of rows that were read lately, so that they are found without a seek. A reader of an
//! older version reads the database.
//!
//! A row is kept by itself; when several were missed whose keys differ in the last byte alone, all such rows are, as a [`Leaf`],
//! and with them the knowledge that there are no others.
//!
//! Invariant: what is kept of a row is the newest cell of [`Family::Write`] in the database, but for a change that is being
//! written, which no snapshot shows before [`HotRows::changed`] was told of it. Two rules keep it. The committer tells of each
//! change, and who loads rows of their range, after the database has it and before it is published. A reader that did not find a row notes how many changes its
//! place had seen, reads the newest cell there is, and keeps it only if there were no more changes meanwhile. All rows of a leaf
//! have the same place.
//!
//! And: no row that is not in a leaf has a key that begins as those of the leaf do. What may break it, a key of another length,
//! ends the leaf: of each table is known how long what the keys of its leaves begin with is, before any of them is read.

pub mod leaf;
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
use foldhash::fast::RandomState;
use leaf::Leaf;
use name::Name;
use parking_lot::{Mutex, MutexGuard};
use shard::{Place, Shard};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

pub use shard::Missed;

/// Lengths of leaves' keys are known apart for so many groups of tables.
const TABLES: usize = 256;
/// Parts that are locked apart from each other.
const SHARDS: usize = 64;

/// See the head of the module.
pub struct HotRows {
    shards: Vec<Mutex<Shard>>,
    /// Bits: how long what the keys of leaves begin with is, beyond [`HEAD_BYTES`]; by a hash of those, so perhaps of other tables'.
    lengths: Vec<AtomicU64>,
    hasher: RandomState,
}

/// What is known of a row.
#[derive(Debug)]
pub enum Known {
    /// The cell that the filter asks for.
    Cell(Cell),
    /// There is none in its range.
    Nothing,
    /// There is a newer one: an older one may be in its range.
    Newer,
    /// Nothing is known.
    Missed(Missed),
}

impl Known {
    /// Whether the database has to be asked.
    pub fn is_sought(&self) -> bool {
        matches!(self, Known::Newer | Known::Missed(_))
    }

    /// Which cells to ask it for when `wanted` is: of a row that was missed the newest, to keep it.
    pub fn range(&self, wanted: &FamilyFilter) -> TimestampRange {
        match self {
            Known::Missed(_) => TimestampRange::ALL,
            _ => wanted.range,
        }
    }
}

/// The filter of a read that the newest cell may answer.
pub fn of_newest(filter: &ReadFilter) -> Option<&FamilyFilter> {
    match filter.families.as_slice() {
        [only] if only.family == Family::Write && only.cells == 1 => Some(only),
        _ => None,
    }
}

/// What the newest cell of a row says to a read of one cell.
pub fn answer(newest: &Cell, wanted: &FamilyFilter) -> Known {
    answer_of(newest.timestamp, wanted, || Some(newest.clone()))
}

/// The same, the cell made where it is asked for.
fn answer_of(newest: Timestamp, wanted: &FamilyFilter, cell: impl FnOnce() -> Option<Cell>) -> Known {
    if newest > wanted.range.to {
        Known::Newer
    } else if newest < wanted.range.from {
        Known::Nothing
    } else {
        cell().map_or(Known::Nothing, Known::Cell)
    }
}

/// What the keys of a row's leaf begin with, or all of a key that is in none.
fn leaf_of(key: &[u8]) -> &[u8] {
    leaf::split(key).map_or(key, |(prefix, _)| prefix)
}

/// The bit of a length of what a leaf's keys begin with; `None` for those that are too short or too long for a leaf.
fn length_bit(length: usize) -> Option<u64> {
    1_u64.checked_shl(u32::try_from(length.checked_sub(HEAD_BYTES)?).ok()?)
}

impl HotRows {
    /// Room for about `bytes`; with 0 nothing is kept.
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

    /// The lengths of the table that a key is in.
    fn lengths(&self, key: &[u8]) -> Option<&AtomicU64> {
        let hash = self.hasher.hash_one(key.get(..HEAD_BYTES)?);
        self.lengths.get(hash as usize % TABLES)
    }

    fn locked(&self, place: Place) -> Option<MutexGuard<'_, Shard>> {
        self.shards.get(place.shard).map(Mutex::lock)
    }

    /// Looks a row up.
    pub fn find(&self, key: &[u8], wanted: &FamilyFilter) -> Known {
        let place = self.place(leaf_of(key));
        let Some(mut shard) = self.locked(place) else { return Known::Newer };
        match shard.find(key, wanted) {
            Some(known) => known,
            None => Known::Missed(shard.miss(place)),
        }
    }

    /// Keeps the newest cell of a row, read from the database after `missed` was given.
    pub fn keep(&self, missed: Missed, key: &[u8], newest: &Cell) {
        if let Some(mut shard) = self.locked(missed.place) {
            shard.keep(missed, key, newest);
        }
    }

    /// Whether all rows of the leaf should be read whose keys begin with `prefix`: one of them was missed, whose value has so many
    /// bytes, and others may be asked for, too.
    pub fn wants_leaf(&self, missed: Missed, prefix: &[u8], bytes: usize) -> bool {
        // Most are not, and take no lock again.
        if !missed.is_wanted() {
            return false;
        }
        let (Some(lengths), Some(bit)) = (self.lengths(prefix), length_bit(prefix.len())) else { return false };
        let wants = self.locked(missed.place).is_some_and(|mut shard| shard.wants_leaf(missed, prefix, bytes));
        if wants {
            // Before it is read: who writes a longer key behind that sees it.
            lengths.fetch_or(bit, Ordering::SeqCst);
        }
        wants
    }

    /// Keeps all rows of a leaf, read from the database after `missed` was given. `None`: they are no leaf.
    pub fn keep_leaf(&self, missed: Missed, prefix: &[u8], leaf: Option<Leaf>) {
        if let Some(mut shard) = self.locked(missed.place) {
            shard.keep_leaf(missed, prefix, leaf);
        }
    }

    /// The database has these changes, and nobody was told of them yet.
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

    /// A row was changed: leaves that it is not in, but whose keys begin as its, are none any more.
    fn end_leaves(&self, key: &[u8]) {
        let Some(lengths) = self.lengths(key) else { return };
        let mut bits = lengths.load(Ordering::SeqCst);
        if let Some(own) = key.len().checked_sub(1).and_then(length_bit) {
            bits &= !own;
        }
        while bits != 0 {
            let length = HEAD_BYTES + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            // Longer ones are no beginning of this key.
            let Some(prefix) = key.get(..length) else { return };
            let place = self.place(prefix);
            if let Some(mut shard) = self.locked(place) {
                shard.end_leaf(place, prefix);
            }
        }
    }

    /// The database took in cells of rows between these keys, both included, beside the committer.
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

    /// Bytes that rows take, about.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().bytes()).sum()
    }
}
