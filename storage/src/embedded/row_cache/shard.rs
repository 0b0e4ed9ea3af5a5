//! [`Shard`]: a part of the cache with its own lock. A leaf and its rows are in the same shard.

use super::block::{self, Leaf};
use super::name::{Name, OwnName};
use super::{Known, answer, answer_of};
use crate::contract::{Cell, Family, FamilyFilter};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

/// Places per shard, each with its own count of changes.
const PLACES: usize = 256;
/// Slots per shard that count missed rows.
const ASKED: usize = 1024;
/// A leaf is read after this many misses in its slot. Reading a leaf takes about as long as these misses (some 100
/// µs, against 5 µs for a seek). So a client that reads few rows of each leaf does not pay much for leaves.
pub(super) const MISSES_PER_LEAF: u32 = 16;
/// The longest value that is cached, in bytes.
pub(super) const MOST_VALUE_BYTES: usize = 4 << 10;
/// The longest value of a row that triggers reading its leaf, in bytes. Few leaves of longer rows would fit.
pub(super) const MOST_LEAF_VALUE_BYTES: usize = block::MOST_BYTES / block::MOST_ROWS;
/// Approximate memory of a row beside its key and value, in bytes.
const ROW_BYTES: u64 = 160;
/// In a full shard, reading a leaf also costs credit, which look-ups earn. This bounds the slowdown when a client
/// reads more rows than the cache holds. Credit for a row that was found:
pub(super) const PAID_BY_FOUND: u32 = 4;
/// Credit for a row that was missed.
const PAID_BY_MISSED: u32 = 1;
/// The price of reading a leaf.
pub(super) const PRICE_OF_LEAF: u32 = 256;
/// The most credit that a shard saves up.
const MOST_SAVED: u32 = 16 * PRICE_OF_LEAF;

/// A cached row or leaf.
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

/// A part of the cache. See the module documentation.
pub struct Shard {
    kept: Cache<OwnName, Kept, Weight>,
    /// The capacity in bytes.
    share: u64,
    changes: [u32; PLACES],
    asked: Box<[Asked]>,
    /// Credit for reading leaves.
    saved: u32,
}

/// The misses of rows in several leaves that share a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// The number of misses, up to [`MISSES_PER_LEAF`].
    misses: u32,
    /// The [`Place::mark`] of a prefix whose rows form no leaf.
    refused: u32,
}

/// Proof of a miss, with the place's change count at that moment.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    pub(super) place: Place,
    changes: u32,
    /// Whether enough rows were missed before, so that the leaf should be read.
    again: bool,
}

/// The shard, change counter and miss slot of a row and of its whole leaf.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(super) shard: usize,
    changes: usize,
    asked: usize,
    /// Tells the leaves of one slot apart. Never 0.
    mark: u32,
}

impl Missed {
    /// Whether the leaf of the missed row is worth reading.
    pub fn is_wanted(&self) -> bool {
        self.again
    }
}

impl Place {
    /// The place of a leaf, from the hash of its prefix and the number of shards.
    pub fn new(hash: u64, shards: usize) -> Place {
        let (low, high) = (hash as usize, (hash >> 32) as u32);
        Place { shard: low % shards, changes: high as usize % PLACES, asked: low / shards % ASKED, mark: high | 1 }
    }
}

impl Shard {
    /// A shard with a capacity of about `share` bytes.
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

    /// Looks a row up. `None` if neither the row nor its leaf is cached.
    pub fn find(&mut self, key: &[u8], wanted: &FamilyFilter) -> Option<Known> {
        let known = match block::split(key).and_then(|(prefix, last)| Some((self.leaf(prefix)?, last))) {
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

    /// The cached leaf with this prefix.
    pub fn leaf(&self, prefix: &[u8]) -> Option<&Leaf> {
        match self.kept.get(&Name::leaf(prefix)) {
            Some(Kept::Leaf(leaf)) => Some(leaf),
            _ => None,
        }
    }

    /// Counts a miss of a row.
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

    /// Caches the newest cell of a missed row.
    pub fn keep(&mut self, missed: Missed, key: &[u8], newest: &Cell) {
        if newest.value.len() <= MOST_VALUE_BYTES && self.is_as_it_was(missed) {
            self.kept.insert(Name::row(key).own(), Kept::Row(newest.clone()));
        }
    }

    /// Whether the leaf with this prefix should be read. One of its rows was missed, and its value has `bytes` bytes.
    pub fn wants_leaf(&mut self, missed: Missed, prefix: &[u8], bytes: usize) -> bool {
        let Some(asked) = self.asked.get_mut(missed.place.asked) else { return false };
        // One request for many keys may miss several rows of the same leaf.
        let is_known = asked.refused == missed.place.mark || self.kept.contains_key(&Name::leaf(prefix));
        if !missed.is_wanted() || bytes > MOST_LEAF_VALUE_BYTES || is_known {
            return false;
        }
        if self.kept.weight() + block::MOST_BYTES as u64 > self.share {
            let Some(left) = self.saved.checked_sub(PRICE_OF_LEAF) else { return false };
            self.saved = left;
        }
        asked.misses = 0;
        true
    }

    /// Caches the leaf of a missed row. `None` if the rows with this prefix form no leaf.
    pub fn keep_leaf(&mut self, missed: Missed, prefix: &[u8], leaf: Option<Leaf>) {
        match leaf.filter(|leaf| leaf.bytes() <= block::MOST_BYTES) {
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

    /// Applies a written cell of a row, or a removed one if there is no value.
    pub fn change(&mut self, place: Place, key: &[u8], timestamp: Timestamp, value: Option<&Bytes>) {
        self.count_change(place);
        self.change_row(key, timestamp, value);
        if let Some((prefix, last)) = block::split(key) {
            self.change_leaf(prefix, last, timestamp, value);
        }
    }

    fn change_row(&mut self, key: &[u8], timestamp: Timestamp, value: Option<&Bytes>) {
        let name = Name::row(key);
        let Some(Kept::Row(newest)) = self.kept.peek(&name) else { return };
        match value {
            Some(_) if newest.timestamp > timestamp => {}
            Some(value) if value.len() <= MOST_VALUE_BYTES => {
                // A copy, because the value may be a slice of a whole batch.
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
            // A value that is too long is not even copied.
            Some(value) if value.len() > block::MOST_BYTES => false,
            Some(value) => {
                leaf.set(last, timestamp, value);
                leaf.bytes() <= block::MOST_BYTES
            }
            // Garbage collection also removes cells beneath the newest ones.
            None => leaf.timestamp(last) != Some(timestamp),
        };
        drop(kept);
        // A full cache evicts entries for new ones, but not for one that grows.
        if !goes_on || self.kept.weight() > self.share {
            self.kept.remove(&name);
        }
    }

    /// Evicts the leaf with this prefix, because a key of another length begins with it.
    pub fn end_leaf(&mut self, place: Place, prefix: &[u8]) {
        self.count_change(place);
        self.kept.remove(&Name::leaf(prefix));
    }

    fn count_change(&mut self, place: Place) {
        if let Some(seen) = self.changes.get_mut(place.changes) {
            *seen = seen.wrapping_add(1);
        }
    }

    /// Evicts rows and leaves, and invalidates the reads under way.
    pub fn forget(&mut self, which: impl Fn(Name<'_>) -> bool) {
        self.kept.retain(|name, _| !which(name.name()));
        self.changes.iter_mut().for_each(|seen| *seen = seen.wrapping_add(1));
    }

    /// The approximate memory in use, in bytes.
    pub fn bytes(&self) -> u64 {
        self.kept.weight()
    }

    /// Forgets the counted misses.
    #[cfg(test)]
    pub fn forget_asked(&mut self) {
        self.asked.fill(Asked::default());
    }
}
