//! [`Shard`]: a part of the rows that are kept, locked by itself. A leaf and all of its rows are in the same.

use super::leaf::{self, Leaf};
use super::name::{Name, OwnName};
use super::{Known, answer, answer_of};
use crate::contract::{Cell, Family, FamilyFilter};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

/// Changes are counted for so many groups of rows in each part.
const PLACES: usize = 256;
/// Rows that were missed are counted in so many places of each part.
const ASKED: usize = 1024;
/// So many in one place, and the leaf of the last of them is read: which takes about as long as they took (some 100 µs, and a seek
/// 5), so that who asks for few rows of each leaf does not pay for all.
pub(super) const MISSES_PER_LEAF: u32 = 16;
/// Longer values are not kept.
pub(super) const MOST_VALUE_BYTES: usize = 4 << 10;
/// Leaves are not made of rows that are longer than this: few of them would be kept.
pub(super) const MOST_LEAF_VALUE_BYTES: usize = leaf::MOST_BYTES / leaf::MOST_ROWS;
/// What a row takes beside its key and value, about.
const ROW_BYTES: u64 = 160;
/// Where there is no more room a leaf is paid for with what was asked since the one before, too, so that who reads more rows than
/// there is room for is not much slower for it: a row that was found pays
pub(super) const PAID_BY_FOUND: u32 = 4;
/// and one that was missed
const PAID_BY_MISSED: u32 = 1;
/// of
pub(super) const PRICE_OF_LEAF: u32 = 256;
/// So much is saved at most.
const MOST_SAVED: u32 = 16 * PRICE_OF_LEAF;

/// What is kept by a name.
#[derive(Debug)]
enum Kept {
    Row(Cell),
    Leaf(Box<Leaf>),
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<OwnName, Kept> for Weight {
    fn weight(&self, name: &OwnName, kept: &Kept) -> u64 {
        let bytes = match kept {
            Kept::Row(cell) => cell.value.len(),
            Kept::Leaf(leaf) => leaf.bytes(),
        };
        ROW_BYTES + name.bytes.len() as u64 + bytes as u64
    }
}

/// See the head of the module.
pub struct Shard {
    kept: Cache<OwnName, Kept, Weight>,
    /// Bytes that there is room for.
    share: u64,
    changes: [u32; PLACES],
    asked: Box<[Asked]>,
    /// What was paid for leaves.
    saved: u32,
}

/// What is known of rows that were missed, of several leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// How many, up to [`MISSES_PER_LEAF`].
    misses: u32,
    /// [`Place::mark`] of what turned out to be no leaf.
    refused: u32,
}

/// The word that a row was not there.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    pub(super) place: Place,
    changes: u32,
    /// Whether rows were missed before it, so that its leaf is wanted.
    again: bool,
}

/// Where a row, and all of its leaf, belongs.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(super) shard: usize,
    changes: usize,
    asked: usize,
    /// By which a leaf is known among those of its place. Never 0.
    mark: u32,
}

impl Missed {
    /// Whether its leaf is worth reading.
    pub fn is_wanted(&self) -> bool {
        self.again
    }
}

impl Place {
    /// By the hash of what the keys of the leaf begin with, in one of so many shards.
    pub fn new(hash: u64, shards: usize) -> Place {
        let (low, high) = (hash as usize, (hash >> 32) as u32);
        Place { shard: low % shards, changes: high as usize % PLACES, asked: low / shards % ASKED, mark: high | 1 }
    }
}

impl Shard {
    /// Room for about `share` bytes.
    pub fn new(share: u64) -> Shard {
        let items = usize::try_from(share / (ROW_BYTES + 64)).unwrap_or(0);
        Shard {
            kept: Cache::with_weighter(items, share, Weight),
            share,
            changes: [0; PLACES],
            asked: vec![Asked::default(); ASKED].into(),
            saved: 0,
        }
    }

    /// What is known of a row.
    pub fn find(&mut self, key: &[u8], wanted: &FamilyFilter) -> Option<Known> {
        let known = match leaf::split(key).and_then(|(prefix, last)| Some((self.leaf(prefix)?, last))) {
            Some((leaf, last)) => {
                leaf.timestamp(last).map_or(Known::Nothing, |newest| answer_of(newest, wanted, || leaf.cell(last)))
            }
            None => match self.kept.get(&Name::row(key)) {
                Some(Kept::Row(newest)) => answer(newest, wanted),
                _ => return None,
            },
        };
        self.pay(PAID_BY_FOUND);
        Some(known)
    }

    /// The leaf whose keys begin with `prefix`.
    pub fn leaf(&self, prefix: &[u8]) -> Option<&Leaf> {
        match self.kept.get(&Name::leaf(prefix)) {
            Some(Kept::Leaf(leaf)) => Some(leaf),
            _ => None,
        }
    }

    /// A row of which nothing is known was asked for.
    pub fn miss(&mut self, place: Place) -> Missed {
        self.pay(PAID_BY_MISSED);
        let changes = self.changes.get(place.changes).copied().unwrap_or(0);
        let again = match self.asked.get_mut(place.asked) {
            Some(asked) if asked.refused != place.mark => {
                asked.misses = (asked.misses + 1).min(MISSES_PER_LEAF);
                asked.misses == MISSES_PER_LEAF
            }
            _ => false,
        };
        Missed { place, changes, again }
    }

    fn pay(&mut self, paid: u32) {
        self.saved = self.saved.saturating_add(paid).min(MOST_SAVED);
    }

    fn is_as_it_was(&self, missed: Missed) -> bool {
        self.changes.get(missed.place.changes) == Some(&missed.changes)
    }

    /// Keeps the newest cell of a row that was missed.
    pub fn keep(&mut self, missed: Missed, key: &[u8], newest: &Cell) {
        if newest.value.len() <= MOST_VALUE_BYTES && self.is_as_it_was(missed) {
            self.kept.insert(Name::row(key).own(), Kept::Row(newest.clone()));
        }
    }

    /// Whether the leaf is to be read whose keys begin with `prefix`: one of its rows was missed, whose value has so many bytes.
    pub fn wants_leaf(&mut self, missed: Missed, prefix: &[u8], bytes: usize) -> bool {
        let Some(asked) = self.asked.get_mut(missed.place.asked) else { return false };
        // Of many keys that are asked for at once several may be in one.
        let is_known = asked.refused == missed.place.mark || self.kept.contains_key(&Name::leaf(prefix));
        if !missed.is_wanted() || bytes > MOST_LEAF_VALUE_BYTES || is_known {
            return false;
        }
        if self.kept.weight() + leaf::MOST_BYTES as u64 > self.share {
            let Some(left) = self.saved.checked_sub(PRICE_OF_LEAF) else { return false };
            self.saved = left;
        }
        asked.misses = 0;
        true
    }

    /// Keeps a leaf of which a row was missed. `None`: the rows that begin with `prefix` are none.
    pub fn keep_leaf(&mut self, missed: Missed, prefix: &[u8], leaf: Option<Leaf>) {
        match leaf.filter(|leaf| leaf.bytes() <= leaf::MOST_BYTES) {
            Some(leaf) if self.is_as_it_was(missed) => {
                self.kept.insert(Name::leaf(prefix).own(), Kept::Leaf(Box::new(leaf)));
            }
            Some(_) => {}
            None => {
                if let Some(asked) = self.asked.get_mut(missed.place.asked) {
                    asked.refused = missed.place.mark;
                }
            }
        }
    }

    /// A cell of a row was written, or removed when there is no value.
    pub fn change(&mut self, place: Place, key: &[u8], timestamp: Timestamp, value: Option<&Bytes>) {
        self.count_change(place);
        self.change_row(key, timestamp, value);
        if let Some((prefix, last)) = leaf::split(key) {
            self.change_leaf(prefix, last, timestamp, value);
        }
    }

    fn change_row(&mut self, key: &[u8], timestamp: Timestamp, value: Option<&Bytes>) {
        let name = Name::row(key);
        let Some(Kept::Row(newest)) = self.kept.peek(&name) else { return };
        match value {
            Some(_) if newest.timestamp > timestamp => {}
            Some(value) if value.len() <= MOST_VALUE_BYTES => {
                // A copy: the one at hand may be part of a whole batch.
                let cell = Cell { family: Family::Write, timestamp, value: Bytes::copy_from_slice(value) };
                self.kept.insert(name.own(), Kept::Row(cell));
            }
            None if newest.timestamp != timestamp => {}
            _ => {
                self.kept.remove(&name);
            }
        }
    }

    fn change_leaf(&mut self, prefix: &[u8], last: u8, timestamp: Timestamp, value: Option<&Bytes>) {
        let name = Name::leaf(prefix);
        let Some(mut kept) = self.kept.peek_mut(&name) else { return };
        let Kept::Leaf(leaf) = &mut *kept else { return };
        let goes_on = match value {
            // Not even copied.
            Some(value) if value.len() > leaf::MOST_BYTES => false,
            Some(value) => {
                leaf.set(last, timestamp, value);
                leaf.bytes() <= leaf::MOST_BYTES
            }
            // Garbage collection removes what lies beneath the newest cells, too.
            None => leaf.timestamp(last) != Some(timestamp),
        };
        drop(kept);
        // What is kept makes room for what comes new, not for what grows.
        if !goes_on || self.kept.weight() > self.share {
            self.kept.remove(&name);
        }
    }

    /// A key of another length begins as those of a leaf do.
    pub fn end_leaf(&mut self, place: Place, prefix: &[u8]) {
        self.count_change(place);
        self.kept.remove(&Name::leaf(prefix));
    }

    fn count_change(&mut self, place: Place) {
        if let Some(seen) = self.changes.get_mut(place.changes) {
            *seen = seen.wrapping_add(1);
        }
    }

    /// Forgets rows and leaves, and what is being read of any.
    pub fn forget(&mut self, which: impl Fn(Name<'_>) -> bool) {
        self.kept.retain(|name, _| !which(name.name()));
        self.changes.iter_mut().for_each(|seen| *seen = seen.wrapping_add(1));
    }

    /// Bytes that are taken, about.
    pub fn bytes(&self) -> u64 {
        self.kept.weight()
    }

    /// Forgets which rows were missed.
    #[cfg(test)]
    pub fn forget_asked(&mut self) {
        self.asked.fill(Asked::default());
    }
}
