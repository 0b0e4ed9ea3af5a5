//! [`HotRows`]: the newest cell of rows that were read lately, so that they are found without a seek. Must not know
//! snapshots: whoever asks for an older version reads the database.
//!
//! Invariant: what is kept of a row is the newest cell of [`Family::Write`] in the database, but for a change that is being
//! written, which no snapshot shows before [`HotRows::changed`] was told of it. Two rules keep it. The committer tells of each
//! change, and who loads rows of their range, after the database has it and before it is published. A reader that did not find a row notes how many changes its
//! place had seen, reads the newest cell there is, and keeps it only if there were no more changes meanwhile.

use crate::committer::Change;
use crate::contract::{Cell, Family, FamilyFilter, ReadFilter, TimestampRange};
use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::hash::BuildHasher;

/// Parts that are locked apart from each other.
const SHARDS: usize = 64;
/// Changes are counted for so many groups of rows in each part.
const PLACES: usize = 256;
/// Longer values are not kept.
const MOST_VALUE_BYTES: usize = 4 << 10;
/// What a row takes beside its key and value, about.
const ROW_BYTES: u64 = 160;

#[derive(Clone)]
struct Weight;

impl Weighter<Bytes, Cell> for Weight {
    fn weight(&self, key: &Bytes, cell: &Cell) -> u64 {
        ROW_BYTES + key.len() as u64 + cell.value.len() as u64
    }
}

struct Shard {
    rows: Cache<Bytes, Cell, Weight>,
    changes: [u32; PLACES],
}

/// See the head of the module.
pub struct HotRows {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
}

/// The word that a row was not there.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    shard: usize,
    place: usize,
    changes: u32,
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
    if newest.timestamp > wanted.range.to {
        Known::Newer
    } else if newest.timestamp < wanted.range.from {
        Known::Nothing
    } else {
        Known::Cell(newest.clone())
    }
}

impl HotRows {
    /// Room for about `bytes`; with 0 nothing is kept.
    pub fn new(bytes: u64) -> HotRows {
        let share = bytes / SHARDS as u64;
        let items = usize::try_from(share / (ROW_BYTES + 64)).unwrap_or(0);
        let shard = || Shard { rows: Cache::with_weighter(items, share, Weight), changes: [0; PLACES] };
        HotRows { shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect(), hasher: RandomState::default() }
    }

    fn place(&self, key: &[u8]) -> (usize, usize) {
        let hash = self.hasher.hash_one(key);
        (hash as usize % SHARDS, (hash >> 32) as usize % PLACES)
    }

    /// Looks a row up.
    pub fn find(&self, key: &[u8], wanted: &FamilyFilter) -> Known {
        let (shard_number, place) = self.place(key);
        let Some(shard) = self.shards.get(shard_number) else { return Known::Newer };
        let shard = shard.lock();
        match shard.rows.get(key) {
            Some(newest) => answer(newest, wanted),
            None => {
                let changes = shard.changes.get(place).copied().unwrap_or(0);
                Known::Missed(Missed { shard: shard_number, place, changes })
            }
        }
    }

    /// Keeps the newest cell of a row, read from the database after `missed` was given.
    pub fn keep(&self, missed: Missed, key: &[u8], newest: &Cell) {
        if newest.value.len() > MOST_VALUE_BYTES {
            return;
        }
        let Some(shard) = self.shards.get(missed.shard) else { return };
        let mut shard = shard.lock();
        if shard.changes.get(missed.place) == Some(&missed.changes) {
            // The caller's key may be part of a larger piece of memory.
            shard.rows.insert(Bytes::copy_from_slice(key), newest.clone());
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
            let (shard, place) = self.place(key);
            let Some(shard) = self.shards.get(shard) else { continue };
            let mut shard = shard.lock();
            if let Some(seen) = shard.changes.get_mut(place) {
                *seen = seen.wrapping_add(1);
            }
            let Some(newest) = shard.rows.peek(&key[..]) else { continue };
            match value {
                Some(_) if newest.timestamp > timestamp => {}
                Some(value) if value.len() <= MOST_VALUE_BYTES => {
                    // A copy: the one at hand may be part of a whole batch.
                    let cell = Cell { family: Family::Write, timestamp, value: Bytes::copy_from_slice(value) };
                    shard.rows.insert(Bytes::copy_from_slice(key), cell);
                }
                None if newest.timestamp != timestamp => {}
                _ => {
                    shard.rows.remove(&key[..]);
                }
            }
        }
    }

    /// The database took in cells of rows between these keys, both included, beside the committer.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        self.forget(|key| (first..=last).contains(&key));
    }

    /// Forgets rows, and what is being read of any.
    fn forget(&self, which: impl Fn(&[u8]) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.rows.retain(|key, _| !which(key));
            shard.changes.iter_mut().for_each(|seen| *seen = seen.wrapping_add(1));
        }
    }

    /// Bytes that rows take, about.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().rows.weight()).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::contract::{RowRange, TimestampRange};
    use crate::timestamp::Timestamp;

    fn cell(timestamp: u64, value: &'static str) -> Cell {
        Cell { family: Family::Write, timestamp: Timestamp(timestamp), value: Bytes::from_static(value.as_bytes()) }
    }

    fn set(key: &'static str, timestamp: u64, value: &'static str) -> Change {
        let (timestamp, value) = (Timestamp(timestamp), Bytes::from_static(value.as_bytes()));
        Change::Set { key: Bytes::from_static(key.as_bytes()), family: Family::Write, timestamp, value }
    }

    fn up_to(timestamp: u64) -> FamilyFilter {
        FamilyFilter { family: Family::Write, range: TimestampRange::up_to(Timestamp(timestamp)), cells: 1 }
    }

    fn missed(rows: &HotRows, key: &str) -> Missed {
        match rows.find(key.as_bytes(), &up_to(100)) {
            Known::Missed(missed) => missed,
            other => panic!("{other:?}"),
        }
    }

    fn found(rows: &HotRows, key: &str, at: u64) -> String {
        match rows.find(key.as_bytes(), &up_to(at)) {
            Known::Cell(cell) => String::from_utf8(cell.value.to_vec()).unwrap(),
            other => format!("{other:?}").chars().take(6).collect(),
        }
    }

    #[test]
    fn a_row_is_what_was_written_last() {
        let rows = HotRows::new(1 << 20);
        rows.keep(missed(&rows, "a"), b"a", &cell(5, "five"));
        assert_eq!(found(&rows, "a", 9), "five");
        assert_eq!(found(&rows, "a", 4), "Newer");
        let later = FamilyFilter { range: TimestampRange::from(Timestamp(6)), ..up_to(9) };
        assert!(matches!(rows.find(b"a", &later), Known::Nothing));
        rows.changed(&[set("a", 7, "seven"), set("b", 7, "other")]);
        assert_eq!((found(&rows, "a", 9), found(&rows, "a", 6)), ("seven".into(), "Newer".into()));
        // An older cell that comes late, and the removal of one, leave the newest.
        let remove = |timestamp| Change::Remove {
            key: Bytes::from_static(b"a"),
            family: Family::Write,
            timestamp: Timestamp(timestamp),
        };
        rows.changed(&[set("a", 6, "six"), remove(5)]);
        assert_eq!(found(&rows, "a", 9), "seven");
        rows.changed(&[remove(7)]);
        missed(&rows, "a");
        rows.keep(missed(&rows, "a"), b"a", &cell(6, "six"));
        rows.changed(&[Change::RemoveRange(RowRange::prefix(Bytes::from_static(b"x")))]);
        missed(&rows, "a");
        assert_eq!(rows.bytes(), 0);
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let rows = HotRows::new(1 << 20);
        let before = missed(&rows, "a");
        rows.changed(&[set("a", 7, "seven")]);
        rows.keep(before, b"a", &cell(5, "five"));
        missed(&rows, "a");
        let before = missed(&rows, "a");
        rows.changed(&[Change::RemoveRange(RowRange::prefix(Bytes::from_static(b"a")))]);
        rows.keep(before, b"a", &cell(5, "five"));
        missed(&rows, "a");
    }

    #[test]
    fn what_was_known_before_a_load_is_forgotten() {
        let rows = HotRows::new(1 << 20);
        for key in ["a", "b", "c"] {
            rows.keep(missed(&rows, key), key.as_bytes(), &cell(5, "five"));
        }
        let before = missed(&rows, "bb");
        rows.loaded(b"b", b"bb");
        rows.keep(before, b"bb", &cell(5, "five"));
        missed(&rows, "b");
        missed(&rows, "bb");
        assert_eq!((found(&rows, "a", 9), found(&rows, "c", 9)), ("five".into(), "five".into()));
    }

    #[test]
    fn memory_is_bounded() {
        let rows = HotRows::new(64 << 10);
        for number in 0..10_000u32 {
            let key = number.to_string();
            rows.keep(missed(&rows, &key), key.as_bytes(), &cell(1, "value"));
        }
        assert!(rows.bytes() <= 64 << 10 && rows.bytes() > 16 << 10, "{}", rows.bytes());
        let long = Cell { value: Bytes::from(vec![0; MOST_VALUE_BYTES + 1]), ..cell(1, "") };
        rows.keep(missed(&rows, "long"), b"long", &long);
        missed(&rows, "long");
        let none = HotRows::new(0);
        none.keep(missed(&none, "a"), b"a", &cell(1, "value"));
        missed(&none, "a");
    }
}
