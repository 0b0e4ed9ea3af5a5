//! [`HotRows`]: the newest cell of rows that were read lately, so that they are found without a seek. Must not know
//! snapshots: whoever asks for an older version reads the database.
//!
//! A row is kept by itself; when a second one is missed whose key differs from its in the last byte alone, all such rows are, as a
//! [`Leaf`], and with them the knowledge that there are no others.
//!
//! Invariant: what is kept of a row is the newest cell of [`Family::Write`] in the database, but for a change that is being
//! written, which no snapshot shows before [`HotRows::changed`] was told of it. Two rules keep it. The committer tells of each
//! change, and who loads rows of their range, after the database has it and before it is published. A reader that did not find a row notes how many changes its
//! place had seen, reads the newest cell there is, and keeps it only if there were no more changes meanwhile. All rows of a leaf
//! have the same place.

use super::hot_leaf::{self, Leaf};
use crate::committer::Change;
use crate::contract::{Cell, Family, FamilyFilter, ReadFilter, TimestampRange};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use quick_cache::unsync::Cache;
use quick_cache::{Equivalent, Weighter};
use std::hash::{BuildHasher, Hash, Hasher};

/// Parts that are locked apart from each other.
const SHARDS: usize = 64;
/// Changes are counted for so many groups of rows in each part.
const PLACES: usize = 256;
/// Leaves of which a row was missed are remembered, in so many places of each part.
const ASKED: usize = 1024;
/// Longer values are not kept.
const MOST_VALUE_BYTES: usize = 4 << 10;
/// Leaves are not made of rows that are longer than this: few of them would be kept.
const MOST_LEAF_VALUE_BYTES: usize = hot_leaf::MOST_BYTES / hot_leaf::MOST_ROWS;
/// What a row takes beside its key and value, about.
const ROW_BYTES: u64 = 160;
/// To read a leaf takes about as long as to read eight rows. Where there is no more room it is paid for with what was asked since
/// the one before, so that who reads more rows than there is room for is not much slower for it: a row that was found pays
const PAID_BY_FOUND: u32 = 4;
/// and one that was missed
const PAID_BY_MISSED: u32 = 1;
/// of
const PRICE_OF_LEAF: u32 = 64;
/// So much is saved at most.
const MOST_SAVED: u32 = 64 * PRICE_OF_LEAF;

/// By which something is kept: a row by its key, a leaf by what its keys begin with.
#[derive(Clone, Copy, Debug)]
struct Name<'n> {
    bytes: &'n [u8],
    leaf: bool,
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

#[derive(Debug)]
struct OwnName {
    bytes: Box<[u8]>,
    leaf: bool,
}

impl OwnName {
    fn name(&self) -> Name<'_> {
        Name { bytes: &self.bytes, leaf: self.leaf }
    }
}

impl Hash for OwnName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl PartialEq for OwnName {
    fn eq(&self, other: &OwnName) -> bool {
        self.leaf == other.leaf && self.bytes == other.bytes
    }
}

impl Eq for OwnName {}

impl Equivalent<OwnName> for Name<'_> {
    fn equivalent(&self, own: &OwnName) -> bool {
        self.leaf == own.leaf && *self.bytes == *own.bytes
    }
}

impl<'n> Name<'n> {
    fn row(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: false }
    }

    fn leaf(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: true }
    }

    /// A copy: the one at hand may be part of a larger piece of memory.
    fn own(self) -> OwnName {
        OwnName { bytes: self.bytes.into(), leaf: self.leaf }
    }
}

#[derive(Clone, Debug)]
enum Kept {
    Row(Cell),
    Leaf(Box<Leaf>),
}

#[derive(Clone)]
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

struct Shard {
    kept: Cache<OwnName, Kept, Weight>,
    changes: [u32; PLACES],
    asked: Box<[u32]>,
    /// What was paid for leaves.
    saved: u32,
}

/// See the head of the module.
pub struct HotRows {
    shards: Vec<Mutex<Shard>>,
    share: u64,
    hasher: RandomState,
}

/// The word that a row was not there.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    place: Place,
    changes: u32,
    /// Whether another row of its leaf was missed before.
    again: bool,
}

/// Where a row, and all of its leaf, belongs.
#[derive(Clone, Copy, Debug)]
struct Place {
    shard: usize,
    changes: usize,
    asked: usize,
    /// By which a leaf is known among those that were asked for. Even.
    mark: u32,
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

/// What the keys of a row's leaf begin with, or all of a key that is in none.
fn leaf_of(key: &[u8]) -> &[u8] {
    hot_leaf::split(key).map_or(key, |(prefix, _)| prefix)
}

impl HotRows {
    /// Room for about `bytes`; with 0 nothing is kept.
    pub fn new(bytes: u64) -> HotRows {
        let share = bytes / SHARDS as u64;
        let items = usize::try_from(share / (ROW_BYTES + 64)).unwrap_or(0);
        let shard = || Shard {
            kept: Cache::with_weighter(items, share, Weight),
            changes: [0; PLACES],
            asked: vec![0; ASKED].into(),
            saved: 0,
        };
        HotRows { shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect(), share, hasher: RandomState::default() }
    }

    fn place(&self, key: &[u8]) -> Place {
        let hash = self.hasher.hash_one(leaf_of(key));
        let (low, high) = (hash as usize, (hash >> 32) as usize);
        Place { shard: low % SHARDS, changes: high % PLACES, asked: low / SHARDS % ASKED, mark: high as u32 & !1 }
    }

    /// Looks a row up.
    pub fn find(&self, key: &[u8], wanted: &FamilyFilter) -> Known {
        let place = self.place(key);
        let Some(shard) = self.shards.get(place.shard) else { return Known::Newer };
        let mut shard = shard.lock();
        if let Some(known) = shard.find(key, wanted) {
            shard.pay(PAID_BY_FOUND);
            return known;
        }
        shard.pay(PAID_BY_MISSED);
        let changes = shard.changes.get(place.changes).copied().unwrap_or(0);
        let again = match shard.asked.get_mut(place.asked) {
            Some(asked) => place.was_asked(asked),
            None => false,
        };
        Known::Missed(Missed { place, changes, again })
    }

    /// Keeps the newest cell of a row, read from the database after `missed` was given.
    pub fn keep(&self, missed: Missed, key: &[u8], newest: &Cell) {
        if newest.value.len() > MOST_VALUE_BYTES {
            return;
        }
        let Some(shard) = self.shards.get(missed.place.shard) else { return };
        let mut shard = shard.lock();
        if shard.is_as_it_was(missed) {
            shard.kept.insert(Name::row(key).own(), Kept::Row(newest.clone()));
        }
    }

    /// Whether all rows of the leaf of a row that was missed should be read, for others of them may be asked for, too; `bytes`: of
    /// the value that was read of that one. What their keys begin with.
    pub fn wanted_leaf<'k>(&self, missed: Missed, key: &'k [u8], bytes: usize) -> Option<&'k [u8]> {
        let (prefix, _) = hot_leaf::split(key).filter(|_| missed.again && bytes <= MOST_LEAF_VALUE_BYTES)?;
        let mut shard = self.shards.get(missed.place.shard)?.lock();
        // Of many keys that are asked for at once several may be in one.
        if shard.kept.peek(&Name::leaf(prefix)).is_some() {
            return None;
        }
        if shard.asked.get(missed.place.asked) == Some(&missed.place.refused()) {
            return None;
        }
        if shard.kept.weight() + hot_leaf::MOST_BYTES as u64 > self.share {
            shard.saved = shard.saved.checked_sub(PRICE_OF_LEAF)?;
        }
        Some(prefix)
    }

    /// Keeps all rows of a leaf, read from the database after `missed` was given. `None`: they are no leaf.
    pub fn keep_leaf(&self, missed: Missed, prefix: &[u8], leaf: Option<Leaf>) {
        let Some(shard) = self.shards.get(missed.place.shard) else { return };
        let mut shard = shard.lock();
        match leaf.filter(|leaf| leaf.bytes() <= hot_leaf::MOST_BYTES) {
            Some(leaf) if shard.is_as_it_was(missed) => {
                shard.kept.insert(Name::leaf(prefix).own(), Kept::Leaf(Box::new(leaf)));
            }
            Some(_) => {}
            None => {
                if let Some(asked) = shard.asked.get_mut(missed.place.asked) {
                    *asked = missed.place.refused();
                }
            }
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
            let place = self.place(key);
            let Some(shard) = self.shards.get(place.shard) else { continue };
            let mut shard = shard.lock();
            if let Some(seen) = shard.changes.get_mut(place.changes) {
                *seen = seen.wrapping_add(1);
            }
            shard.change_row(key, timestamp, value);
            if let Some((prefix, last)) = hot_leaf::split(key) {
                shard.change_leaf(prefix, last, timestamp, value, self.share);
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

    /// Forgets rows and leaves, and what is being read of any.
    fn forget(&self, which: impl Fn(Name<'_>) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.kept.retain(|name, _| !which(name.name()));
            shard.changes.iter_mut().for_each(|seen| *seen = seen.wrapping_add(1));
        }
    }

    /// Bytes that rows take, about.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().kept.weight()).sum()
    }
}

impl Place {
    /// Whether a row of this leaf was missed before, which it now was. What was refused is not wanted again.
    fn was_asked(&self, asked: &mut u32) -> bool {
        let before = *asked;
        if before == self.refused() {
            return false;
        }
        *asked = self.mark;
        before == self.mark && before != 0
    }

    fn refused(&self) -> u32 {
        self.mark | 1
    }
}

impl Shard {
    fn is_as_it_was(&self, missed: Missed) -> bool {
        self.changes.get(missed.place.changes) == Some(&missed.changes)
    }

    fn pay(&mut self, paid: u32) {
        self.saved = self.saved.saturating_add(paid).min(MOST_SAVED);
    }

    fn find(&self, key: &[u8], wanted: &FamilyFilter) -> Option<Known> {
        if let Some((prefix, last)) = hot_leaf::split(key)
            && let Some(Kept::Leaf(leaf)) = self.kept.get(&Name::leaf(prefix))
        {
            return Some(match leaf.timestamp(last) {
                Some(newest) if newest > wanted.range.to => Known::Newer,
                Some(newest) if newest >= wanted.range.from => leaf.cell(last).map_or(Known::Nothing, Known::Cell),
                _ => Known::Nothing,
            });
        }
        match self.kept.get(&Name::row(key)) {
            Some(Kept::Row(newest)) => Some(answer(newest, wanted)),
            _ => None,
        }
    }

    /// A cell of a row was written, or removed when there is no value.
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

    fn change_leaf(&mut self, prefix: &[u8], last: u8, timestamp: Timestamp, value: Option<&Bytes>, share: u64) {
        let name = Name::leaf(prefix);
        let Some(mut kept) = self.kept.peek_mut(&name) else { return };
        let Kept::Leaf(leaf) = &mut *kept else { return };
        let goes_on = match value {
            Some(value) => {
                leaf.set(last, timestamp, value);
                leaf.bytes() <= hot_leaf::MOST_BYTES
            }
            // Garbage collection removes what lies beneath the newest cells, too.
            None => leaf.timestamp(last) != Some(timestamp),
        };
        drop(kept);
        // What is kept makes room for what comes new, not for what grows.
        if !goes_on || self.kept.weight() > share {
            self.kept.remove(&name);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::contract::{RowRange, TimestampRange};
    use crate::packed::PackedRows;

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

    const PREFIX: &str = "a table\0:";

    fn leaf(rows: &[(&str, u64, &str)]) -> Option<Leaf> {
        let mut packed = PackedRows::default();
        for (last, timestamp, value) in rows {
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(format!("{PREFIX}{last}").as_bytes());
                true
            };
            assert!(packed.push(put, Timestamp(*timestamp), value.as_bytes()));
        }
        Leaf::of(PREFIX.as_bytes(), &packed)
    }

    /// Two rows are missed, and so the leaf that they are in is wanted.
    fn wanted(rows: &HotRows) -> Missed {
        let (first, second) = ("a table\0:1", "a table\0:2");
        let word = missed(rows, first);
        let again = missed(rows, second);
        assert_eq!(rows.wanted_leaf(word, first.as_bytes(), 0), None);
        assert_eq!(rows.wanted_leaf(again, second.as_bytes(), MOST_LEAF_VALUE_BYTES + 1), None);
        assert_eq!(rows.wanted_leaf(again, second.as_bytes(), 9), Some(PREFIX.as_bytes()));
        again
    }

    fn keep_leaf(rows: &HotRows) {
        let word = wanted(rows);
        rows.keep_leaf(word, PREFIX.as_bytes(), leaf(&[("1", 5, "one"), ("3", 7, "three")]));
        // Who asks for many rows at once may have missed several of them.
        assert_eq!(rows.wanted_leaf(word, b"a table\0:2", 9), None);
    }

    fn all(rows: &HotRows, at: u64) -> [String; 3] {
        ["1", "2", "3"].map(|last| found(rows, &format!("{PREFIX}{last}"), at))
    }

    fn remove(key: &'static str, timestamp: u64) -> Change {
        Change::Remove {
            key: Bytes::from_static(key.as_bytes()),
            family: Family::Write,
            timestamp: Timestamp(timestamp),
        }
    }

    #[test]
    fn rows_beside_each_other_are_kept_together() {
        let rows = HotRows::new(64 << 20);
        keep_leaf(&rows);
        assert_eq!(all(&rows, 9), ["one", "Nothin", "three"]);
        assert_eq!(all(&rows, 6), ["one", "Nothin", "Newer"]);
        let later = FamilyFilter { range: TimestampRange::from(Timestamp(6)), ..up_to(9) };
        assert!(matches!(rows.find(b"a table\0:1", &later), Known::Nothing));
        rows.changed(&[set("a table\0:2", 8, "two"), set("a table\0:1", 9, "longer"), set("a table\0:3", 6, "six")]);
        assert_eq!(all(&rows, 9), ["longer", "two", "three"]);
        assert_eq!(all(&rows, 8), ["Newer", "two", "three"]);
        // What is no row of it.
        rows.changed(&["a table\0:", "a table\0:1\0", "a table\0;1"].map(|key| set(key, 9, "another")));
        rows.changed(&[remove("a table\0:3", 6), remove("a table\0:4", 7)]);
        assert_eq!(all(&rows, 9), ["longer", "two", "three"]);
    }

    #[test]
    fn rows_are_forgotten_together() {
        let rows = HotRows::new(64 << 20);
        let everything = Change::RemoveRange(RowRange::prefix(Bytes::from_static(b"x")));
        let long = Bytes::from(vec![0; hot_leaf::MOST_BYTES]);
        let long =
            Change::Set { key: "a table\0:3".into(), family: Family::Write, timestamp: Timestamp(9), value: long };
        for change in [remove("a table\0:3", 7), everything, long] {
            keep_leaf(&rows);
            rows.changed(&[change]);
            missed(&rows, "a table\0:1");
            assert_eq!(rows.bytes(), 0);
            // Forget what was asked for.
            missed(&rows, "a table\0:1");
            rows.keep_leaf(missed(&rows, "a table\0:1"), b"", None);
            rows.shards.iter().for_each(|shard| shard.lock().asked.fill(0));
        }
        keep_leaf(&rows);
        for (first, last) in [("a table", "a table\0"), ("a table\0;", "b"), ("a table", "a table\09")] {
            rows.loaded(first.as_bytes(), last.as_bytes());
            assert_eq!(all(&rows, 9), ["one", "Nothin", "three"]);
        }
        for (first, last) in [("a", "a table\0:"), ("a table\0:5", "a table\0:6"), ("a table\0:1", "b"), ("a", "b")] {
            rows.loaded(first.as_bytes(), last.as_bytes());
            missed(&rows, "a table\0:1");
            rows.shards.iter().for_each(|shard| shard.lock().asked.fill(0));
            keep_leaf(&rows);
        }
    }

    #[test]
    fn a_leaf_that_changed_while_it_was_read_is_not_kept() {
        let rows = HotRows::new(64 << 20);
        let word = wanted(&rows);
        rows.changed(&[set("a table\0:9", 8, "nine")]);
        rows.keep_leaf(word, PREFIX.as_bytes(), leaf(&[("1", 5, "one")]));
        let word = missed(&rows, "a table\0:1");
        rows.loaded(b"a", b"b");
        rows.keep_leaf(word, PREFIX.as_bytes(), leaf(&[("1", 5, "one")]));
        missed(&rows, "a table\0:1");
    }

    #[test]
    fn what_is_no_leaf_is_not_read_again() {
        let rows = HotRows::new(64 << 20);
        let long = "v".repeat(hot_leaf::MOST_BYTES);
        for none in [leaf(&[("1", 5, "one"), ("11", 5, "longer")]), leaf(&[("1", 5, &long)])] {
            let word = wanted(&rows);
            rows.keep_leaf(word, PREFIX.as_bytes(), none);
            let again = missed(&rows, "a table\0:1");
            // Of those that were missed at once, either.
            for word in [word, again] {
                assert_eq!(rows.wanted_leaf(word, b"a table\0:1", 9), None);
            }
            rows.shards.iter().for_each(|shard| shard.lock().asked.fill(0));
        }
    }

    #[test]
    fn where_there_is_no_room_a_leaf_is_paid_for() {
        let rows = HotRows::new(SHARDS as u64 * hot_leaf::MOST_BYTES as u64 / 2);
        let key = "a table\0:1";
        let mut asked = 1;
        let mut word = missed(&rows, key);
        while rows.wanted_leaf(word, key.as_bytes(), 9).is_none() {
            word = missed(&rows, key);
            asked += 1;
        }
        assert_eq!(asked, PRICE_OF_LEAF);
        rows.keep(word, key.as_bytes(), &cell(5, "five"));
        let mut finds = 0;
        while rows.wanted_leaf(word, key.as_bytes(), 9).is_none() {
            assert_eq!(found(&rows, key, 9), "five");
            finds += 1;
        }
        assert_eq!(finds, PRICE_OF_LEAF / PAID_BY_FOUND);
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
