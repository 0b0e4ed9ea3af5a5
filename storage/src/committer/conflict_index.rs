//! [`RecentCommits`]: the newest timestamp of each class, for each row and family that was written lately. With it,
//! validating a commit needs no read of the store.
//!
//! The memory is bounded by two generations of half the size each. When the younger is full, the elder is dropped,
//! and each family's floor rises to the greatest timestamp in it. Every cell above its family's floor is known here.
//! At or below the floor the store must be asked. A family that was empty when the store was opened has no floor at
//! first, so looking for locks is cheap while there are none.

use crate::contract::{ClassRange, Family, RowRange};
use crate::timestamp::Timestamp;
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::collections::HashMap;

/// For each family, the greatest timestamp up to which cells may be unknown. `None` if every cell is known.
pub type Floors = [Option<Timestamp>; Family::ALL.len()];

/// Approximate memory per row in bytes, besides its key: a map entry and an allocation.
const ROW_BYTES: usize = 136;
/// Approximate memory in bytes per class of a family that does not fit into the row's entry.
const NOTED_BYTES: usize = 32;
/// How many classes of a row's families fit into its entry.
const INSIDE: usize = 2;

/// The knowledge about a row's cells from a given timestamp on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// There is such a cell, and this is the newest known timestamp.
    Newest(Timestamp),
    /// The row has no such cell.
    None,
    /// The cell is not known here, so the store must be asked.
    AskStore,
}

/// The newest timestamp of one class of one family.
#[derive(Clone, Copy)]
struct Noted {
    family: Family,
    class: u8,
    timestamp: Timestamp,
}

/// The known timestamps of a row. A list, since a row has few families and classes.
#[derive(Default)]
struct Entry {
    newest: SmallVec<[Noted; INSIDE]>,
    /// One bit per family, set if a noted cell was removed. The store must then be asked for the family.
    removed: u8,
}

const fn bit(family: Family) -> u8 {
    1 << family as u8
}

impl Entry {
    fn of(&self, family: Family) -> impl Iterator<Item = &Noted> {
        self.newest.iter().filter(move |noted| noted.family == family)
    }
    /// Notes a written cell of this class, which may replace a noted cell of another class.
    fn overwrite(&mut self, family: Family, class: u8, timestamp: Timestamp) {
        if self.of(family).any(|noted| noted.class != class && noted.timestamp == timestamp) {
            self.removed |= bit(family);
        }
    }
}

#[derive(Default)]
struct Generation {
    entries: HashMap<Box<[u8]>, Entry, RandomState>,
    bytes: usize,
    /// The greatest timestamp of each family.
    greatest: Floors,
}

impl Generation {
    /// Whether all cells noted here are older than `from`. Then a look-up from `from` on can skip the keys.
    fn is_older(&self, family: Family, from: Timestamp) -> bool {
        self.greatest.get(family as usize).copied().flatten().is_none_or(|greatest| greatest < from)
    }

    /// Marks noted cells that cells of this timestamp may have replaced. If all noted cells are older, as usual for a
    /// fresh timestamp, no entry is visited.
    fn replaced(&mut self, family: Family, timestamp: Timestamp) {
        if !self.is_older(family, timestamp) {
            let noted = |entry: &Entry| entry.of(family).any(|noted| noted.timestamp == timestamp);
            self.entries.values_mut().filter(|entry| noted(entry)).for_each(|entry| entry.removed |= bit(family));
        }
    }
}

/// The newest timestamps of recently written rows. See the module documentation.
pub struct RecentCommits {
    younger: Generation,
    elder: Generation,
    floors: Floors,
    limit: usize,
}

impl RecentCommits {
    /// Starts with nothing known at or below each family's floor. Uses about `bytes` bytes at most.
    pub fn new(floors: Floors, bytes: usize) -> Self {
        RecentCommits { younger: Generation::default(), elder: Generation::default(), floors, limit: bytes }
    }

    /// Notes a written cell.
    pub fn note(&mut self, key: &[u8], family: Family, class: u8, timestamp: Timestamp) {
        // The cell may replace a noted cell of another class.
        if let Some(entry) = self.elder.entries.get_mut(key) {
            entry.overwrite(family, class, timestamp);
        }
        let generation = &mut self.younger;
        if let Some(greatest) = generation.greatest.get_mut(family as usize) {
            *greatest = (*greatest).max(Some(timestamp));
        }
        let entry = match generation.entries.get_mut(key) {
            Some(entry) => entry,
            None => {
                generation.bytes += key.len() + ROW_BYTES;
                generation.entries.entry(key.into()).or_default()
            }
        };
        entry.overwrite(family, class, timestamp);
        match entry.newest.iter_mut().find(|noted| noted.family == family && noted.class == class) {
            Some(noted) => noted.timestamp = timestamp.max(noted.timestamp),
            None => {
                if entry.newest.len() >= INSIDE {
                    generation.bytes += NOTED_BYTES;
                }
                entry.newest.push(Noted { family, class, timestamp });
            }
        }
    }

    /// Notes a removed cell.
    pub fn forget(&mut self, key: &[u8], family: Family, timestamp: Timestamp) {
        for generation in [&mut self.younger, &mut self.elder] {
            if let Some(entry) = generation.entries.get_mut(key)
                && entry.of(family).any(|noted| noted.timestamp == timestamp)
            {
                entry.removed |= bit(family);
            }
        }
    }

    /// Notes that every cell of these rows was removed.
    pub fn forget_range(&mut self, range: &RowRange) {
        for generation in [&mut self.younger, &mut self.elder] {
            generation.entries.retain(|key, _| !range.contains(key));
        }
    }

    /// The newest cell of the given classes of a row, at or above `from`.
    pub fn newest_from(&self, key: &[u8], family: Family, from: Timestamp, class: ClassRange) -> Known {
        let mut found = None;
        for generation in [&self.younger, &self.elder] {
            if generation.is_older(family, from) {
                continue;
            }
            if let Some(entry) = generation.entries.get(key) {
                if entry.removed & bit(family) != 0 {
                    return Known::AskStore;
                }
                let classes = entry.of(family).filter(|noted| class.from <= noted.class && noted.class <= class.to);
                found = found.max(classes.map(|noted| noted.timestamp).max());
            }
        }
        match found {
            Some(newest) if newest >= from => Known::Newest(newest),
            _ if self.is_above_floor(family, from) => Known::None,
            _ => Known::AskStore,
        }
    }

    /// Whether no row is known to have, or can have, a cell at or above `from`.
    pub fn is_nothing_from(&self, family: Family, from: Timestamp) -> bool {
        [&self.younger, &self.elder].into_iter().all(|generation| generation.is_older(family, from))
            && self.is_above_floor(family, from)
    }

    fn is_above_floor(&self, family: Family, from: Timestamp) -> bool {
        self.floor(family).is_none_or(|floor| from > floor)
    }

    /// Notes that unnamed rows were written at `timestamp`, and raises the floors to it.
    pub fn raise(&mut self, timestamp: Timestamp) {
        for family in [Family::Write, Family::Rollback] {
            for generation in [&mut self.younger, &mut self.elder] {
                generation.replaced(family, timestamp);
            }
            if let Some(floor) = self.floors.get_mut(family as usize) {
                *floor = (*floor).max(Some(timestamp));
            }
        }
    }

    /// Enforces the memory limit. Call it when all noted cells have been written.
    pub fn trim(&mut self) {
        if self.younger.bytes > self.limit / 2 {
            for (floor, greatest) in self.floors.iter_mut().zip(self.elder.greatest) {
                *floor = (*floor).max(greatest);
            }
            self.elder = std::mem::take(&mut self.younger);
        }
    }

    /// The timestamp at or below which the store must be asked. `None` if every cell of the family is known.
    pub fn floor(&self, family: Family) -> Option<Timestamp> {
        self.floors.get(family as usize).copied().flatten()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use bytes::Bytes;

    const WRITE: Family = Family::Write;

    #[test]
    fn knows_what_is_above_the_floor_by_class() {
        let mut recent = RecentCommits::new([Some(Timestamp(10)); 4], 1 << 20);
        let key = Bytes::from_static(b"k");
        let from = |recent: &RecentCommits, from, class| recent.newest_from(b"k", WRITE, Timestamp(from), class);
        let any = ClassRange::ANY;
        assert_eq!(from(&recent, 10, any), Known::AskStore);
        assert_eq!(from(&recent, 11, any), Known::None);
        recent.note(&key, WRITE, 2, Timestamp(20));
        recent.note(&key, WRITE, 1, Timestamp(15));
        assert_eq!(from(&recent, 11, any), Known::Newest(Timestamp(20)));
        assert!(recent.is_nothing_from(WRITE, Timestamp(21)) && !recent.is_nothing_from(WRITE, Timestamp(20)));
        assert!(
            recent.is_nothing_from(Family::Lock, Timestamp(11)) && !recent.is_nothing_from(Family::Lock, Timestamp(10))
        );
        let weak = ClassRange { from: 0, to: 1 };
        assert_eq!(from(&recent, 15, weak), Known::Newest(Timestamp(15)));
        assert_eq!(from(&recent, 16, weak), Known::None);
        assert_eq!(recent.newest_from(b"k", Family::Lock, Timestamp(11), any), Known::None);
        recent.forget(b"k", WRITE, Timestamp(20));
        assert_eq!(from(&recent, 11, any), Known::AskStore);
    }

    #[test]
    fn what_cells_beside_the_log_may_replace_is_not_known() {
        let mut recent = RecentCommits::new([Some(Timestamp(10)); 4], 1 << 20);
        let from = |recent: &RecentCommits, key| recent.newest_from(key, WRITE, Timestamp(11), ClassRange::ANY);
        recent.note(b"elder", WRITE, 1, Timestamp(20));
        recent.elder = std::mem::take(&mut recent.younger);
        recent.note(b"younger", WRITE, 1, Timestamp(20));
        recent.note(b"later", WRITE, 1, Timestamp(21));
        recent.raise(Timestamp(20));
        assert_eq!([from(&recent, b"elder"), from(&recent, b"younger")], [Known::AskStore; 2]);
        assert_eq!(from(&recent, b"later"), Known::Newest(Timestamp(21)));
        recent.raise(Timestamp(30));
        assert_eq!(from(&recent, b"later"), Known::Newest(Timestamp(21)));
    }

    #[test]
    fn the_floor_rises_over_what_is_dropped() {
        let mut recent = RecentCommits::new([None; 4], 64 << 10);
        for number in 1..=10_000u64 {
            recent.note(&Bytes::from(number.to_be_bytes().to_vec()), WRITE, 0, Timestamp(number));
            recent.trim();
        }
        assert!(recent.younger.bytes + recent.elder.bytes <= (64 << 10) + 2 * (ROW_BYTES + NOTED_BYTES + 8));
        assert_eq!(recent.floor(Family::Lock), None);
        assert_eq!(recent.newest_from(b"x", Family::Lock, Timestamp::ZERO, ClassRange::ANY), Known::None);
        let floor = recent.floor(WRITE).unwrap();
        assert!(floor > Timestamp::ZERO && floor < Timestamp(10_000));
        for number in 1..=10_000u64 {
            let known = recent.newest_from(&number.to_be_bytes(), WRITE, Timestamp(number), ClassRange::ANY);
            match Timestamp(number) <= floor {
                true => assert_eq!(known, Known::AskStore),
                false => assert_eq!(known, Known::Newest(Timestamp(number))),
            }
        }
    }
}
