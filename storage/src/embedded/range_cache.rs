//! [`HotRanges`]: a cache of short ranges that were read more than once. It holds the newest cells of their rows, so
//! a read needs no cursor. Readers of older versions go to the database.
//!
//! Invariant: a cached range holds the newest [`Family::Write`] cell of each of its rows in the database. Changes
//! that are being written are exempt: no snapshot shows them before [`HotRanges::changed`] was told of them. Two
//! rules keep it, as for single rows ([`HotRows`](super::row_cache::HotRows)):
//!
//! - The committer reports each change, and a load its range of rows, after the database has it and
//!   before it is published.
//! - On a miss, the reader notes its shard's change count and reads the newest cells. It caches them only if the
//!   count is still the same.
//!
//! Cached ranges do not overlap, so a changed row is in one at most. A range that is read between two changes is
//! updated in place; otherwise it is evicted.

use super::key::{self, HEAD_BYTES};
use super::reader::{SHORT_ROWS, ScanBounds};
use crate::committer::Change;
use crate::contract::{Family, RowRange, TimestampRange, prefix_end};
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::Arc;

/// Shards, each with its own lock. The head of a range's keys selects the shard.
const SHARDS: usize = 64;
/// Slots per shard that remember misses.
const ASKED: usize = 512;
/// The largest range that is cached, in bytes.
const MOST_BYTES: usize = 32 << 10;
/// Approximate memory of a range and of each of its rows, beside keys and values.
const RANGE_BYTES: usize = 256;
const ROW_BYTES: usize = 32;

/// Which rows of a range are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All rows of the range.
    All,
    /// The first rows of the range.
    First,
    /// The last rows of the range.
    Last,
}

#[derive(Debug)]
struct Range {
    upper: Box<[u8]>,
    rows: Arc<PackedRows>,
    extent: Extent,
    /// The newest timestamp of its cells. An older snapshot may see other cells.
    newest: Timestamp,
    /// Whether the range was used since the eviction hand last passed it.
    used: bool,
    /// Whether the range was read since one of its rows last changed.
    read: bool,
    bytes: usize,
}

#[derive(Debug)]
struct Shard {
    /// Ranges by their lower bounds.
    ranges: BTreeMap<Box<[u8]>, Range>,
    bytes: usize,
    changes: u64,
    asked: Box<[u32]>,
    /// The clock hand of the eviction: the lower bound of the range it stopped at.
    hand: Box<[u8]>,
}

/// A cache of short ranges. See the module documentation.
#[derive(Debug)]
pub struct HotRanges {
    shards: Vec<Mutex<Shard>>,
    most_bytes: usize,
    hasher: RandomState,
}

/// Proof of a miss, with the shard's change count at that moment.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    shard: usize,
    changes: u64,
    /// Whether the range was missed before.
    again: bool,
}

impl Missed {
    /// Whether the range is worth caching: it was missed before.
    pub fn is_wanted(&self) -> bool {
        self.again
    }
}

/// The result of a look-up.
#[derive(Debug)]
pub enum Known {
    /// The cached rows in key order: all of the range, or at least as many of its first or last rows
    /// as were asked for.
    Rows(Arc<PackedRows>, Extent),
    /// The reader must use the database and must not cache what it finds.
    Nothing,
    /// The reader must use the database and may cache what it finds.
    Missed(Missed),
}

/// The first bytes of the row key that begins with these escaped bytes. `None` if it is shorter.
fn head_of(escaped: &[u8]) -> Option<[u8; HEAD_BYTES]> {
    let mut head = [0; HEAD_BYTES];
    let mut bytes = escaped.iter();
    for byte in &mut head {
        *byte = *bytes.next()?;
        if *byte == 0 && bytes.next() != Some(&0xff) {
            return None;
        }
    }
    Some(head)
}

/// The head that all row keys of a range share. `None` if they may differ in it.
fn common_head(lower: &[u8], upper: &[u8]) -> Option<[u8; HEAD_BYTES]> {
    let head = head_of(lower)?;
    let alike = head_of(upper) == Some(head) || prefix_end(&head).is_some_and(|end| key::bound(&end) == upper);
    alike.then_some(head)
}

impl HotRanges {
    /// A cache of about `bytes` bytes. With 0 it caches nothing.
    pub fn new(bytes: u64) -> HotRanges {
        let shard = || Shard {
            ranges: BTreeMap::new(),
            bytes: 0,
            changes: 0,
            asked: vec![0; ASKED].into(),
            hand: Box::default(),
        };
        HotRanges {
            shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect(),
            most_bytes: usize::try_from(bytes).unwrap_or(usize::MAX) / SHARDS,
            hasher: RandomState::default(),
        }
    }

    fn place(&self, head: [u8; HEAD_BYTES]) -> usize {
        self.hasher.hash_one(head) as usize % SHARDS
    }

    /// Looks up a range, for a read of each row's newest cell with a timestamp in `wanted`. The read takes at most
    /// `limit` rows, from the end if `reverse`.
    pub fn find(&self, bounds: &ScanBounds, wanted: TimestampRange, reverse: bool, limit: usize) -> Known {
        let Some(upper) = &bounds.upper else { return Known::Nothing };
        if self.most_bytes == 0 || wanted.from > Timestamp::ZERO {
            return Known::Nothing;
        }
        let Some(head) = common_head(&bounds.lower, upper) else { return Known::Nothing };
        let number = self.place(head);
        let Some(shard) = self.shards.get(number) else { return Known::Nothing };
        let mut shard = shard.lock();
        if let Some(range) = shard.ranges.get_mut(&bounds.lower[..])
            && *range.upper == **upper
        {
            let enough = match range.extent {
                Extent::All => true,
                Extent::First => !reverse && range.rows.len() >= limit,
                Extent::Last => reverse && range.rows.len() >= limit,
            };
            if enough {
                if range.newest > wanted.to {
                    return Known::Nothing;
                }
                (range.used, range.read) = (true, true);
                return Known::Rows(range.rows.clone(), range.extent);
            }
        }
        let hash = self.hasher.hash_one((&bounds.lower, upper));
        let (place, mark) = (hash as usize % ASKED, (hash >> 32) as u32 | 1);
        let again = match shard.asked.get_mut(place) {
            Some(asked) => std::mem::replace(asked, mark) == mark,
            None => false,
        };
        Known::Missed(Missed { shard: number, changes: shard.changes, again })
    }

    /// Caches the newest cell of each row of a range, in key order. They must have been read from the database after
    /// `missed` was given. `extent` says which rows of the range they are.
    pub fn keep(&self, missed: Missed, bounds: &ScanBounds, rows: PackedRows, extent: Extent) {
        let ScanBounds { lower, upper: Some(upper) } = bounds else { return };
        let bytes = bytes_of(lower, upper, &rows);
        if !is_short(&rows) || bytes > self.most_bytes / 2 {
            return;
        }
        let Some(shard) = self.shards.get(missed.shard) else { return };
        let mut shard = shard.lock();
        if shard.changes != missed.changes {
            return;
        }
        shard.forget(lower, Bound::Excluded(upper));
        let range = Range {
            upper: upper.as_slice().into(),
            newest: rows.newest_timestamp(),
            rows: Arc::new(rows),
            extent,
            used: false,
            read: true,
            bytes,
        };
        shard.bytes += bytes;
        shard.ranges.insert(lower.as_slice().into(), range);
        while shard.bytes > self.most_bytes {
            shard.let_one_go();
        }
    }

    /// Applies changes that are in the database and not published yet.
    pub fn changed(&self, changes: &[Change]) {
        let mut at = Vec::with_capacity(64);
        for change in changes {
            let (row, cell) = match change {
                Change::Set { key, family: Family::Write, timestamp, value } => (key, (*timestamp, Some(value))),
                Change::Remove { key, family: Family::Write, timestamp } => (key, (*timestamp, None)),
                Change::Set { .. } | Change::Remove { .. } => continue,
                Change::RemoveRange(RowRange { start, end }) => {
                    let upper = end.as_ref().map(|end| key::bound(end));
                    let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                    self.forget(&key::bound(start), upper);
                    continue;
                }
            };
            at.clear();
            key::push_bound(row, &mut at);
            let Some(head) = head_of(&at) else { continue };
            let Some(shard) = self.shards.get(self.place(head)) else { continue };
            shard.lock().changed(&at, row, cell, self.most_bytes);
        }
    }

    /// Notes that the database ingested rows between these keys, both included. Evicts the ranges
    /// that may contain them.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        self.forget(&key::bound(first), Bound::Included(&key::bound(last)));
    }

    fn forget(&self, lower: &[u8], upper: Bound<&[u8]>) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.changes += 1;
            shard.forget(lower, upper);
        }
    }

    /// The approximate memory of the cached ranges, in bytes.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().bytes as u64).sum()
    }
}

fn bytes_of(lower: &[u8], upper: &[u8], rows: &PackedRows) -> usize {
    RANGE_BYTES + lower.len() + upper.len() + rows.bytes() + rows.len() * ROW_BYTES
}

fn is_short(rows: &PackedRows) -> bool {
    rows.bytes() <= MOST_BYTES && rows.len() <= SHORT_ROWS
}

impl Range {
    /// Applies a written cell of one of its rows, or a removed one if there is no value. False if the range
    /// is no longer valid.
    fn change(&mut self, row: &[u8], timestamp: Timestamp, value: Option<&[u8]>) -> bool {
        let Some(value) = value else {
            // Garbage collection also removes cells beneath the newest ones.
            return self.rows.timestamp_of(row) != Some(timestamp);
        };
        let beyond = match self.extent {
            Extent::All => false,
            Extent::First => self.rows.last_key().is_some_and(|last| row > last),
            Extent::Last => self.rows.first_key().is_some_and(|first| row < first),
        };
        if beyond {
            return true;
        }
        // A range that is not read between two changes is not worth updating.
        if !std::mem::take(&mut self.read) {
            return false;
        }
        Arc::make_mut(&mut self.rows).set(row, timestamp, value);
        self.newest = self.newest.max(timestamp);
        is_short(&self.rows)
    }
}

impl Shard {
    /// Applies a written cell of the row with the escaped key `at`, or a removed one if there is no value.
    fn changed(&mut self, at: &[u8], row: &[u8], (timestamp, value): (Timestamp, Option<&Bytes>), most_bytes: usize) {
        self.changes += 1;
        let before = (Bound::Unbounded, Bound::Included(at));
        let Some((lower, range)) = self.ranges.range_mut::<[u8], _>(before).next_back() else { return };
        if *range.upper <= *at {
            return;
        }
        if !range.change(row, timestamp, value.map(|value| &value[..])) {
            let lower = lower.clone();
            self.remove(&lower);
            return;
        }
        self.bytes -= range.bytes;
        range.bytes = bytes_of(lower, &range.upper, &range.rows);
        self.bytes += range.bytes;
        while self.bytes > most_bytes {
            self.let_one_go();
        }
    }

    /// Evicts the ranges that may contain keys from `lower` to `upper`.
    fn forget(&mut self, lower: &[u8], upper: Bound<&[u8]>) {
        while let Some((start, range)) = self.ranges.range::<[u8], _>((Bound::Unbounded, upper)).next_back() {
            // Ranges do not overlap, so all earlier ranges end before this one begins.
            if *range.upper <= *lower {
                return;
            }
            let start = start.clone();
            self.remove(&start);
        }
    }

    fn remove(&mut self, lower: &[u8]) {
        if let Some(range) = self.ranges.remove(lower) {
            self.bytes -= range.bytes;
        }
    }

    /// Evicts the next range that was not used since the hand last passed it.
    fn let_one_go(&mut self) {
        loop {
            let next = self.ranges.range_mut::<[u8], _>((Bound::Excluded(&*self.hand), Bound::Unbounded)).next();
            let Some((lower, range)) = next else {
                if self.ranges.is_empty() {
                    self.bytes = 0;
                    return;
                }
                self.hand = Box::default();
                continue;
            };
            self.hand = lower.clone();
            if !std::mem::take(&mut range.used) {
                let lower = self.hand.clone();
                self.remove(&lower);
                return;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::packed::plain;

    /// The key of a row in a table whose keys begin with `table` eight times and a zero byte.
    fn key(table: char, row: &str) -> Bytes {
        format!("{}\0{row}", table.to_string().repeat(HEAD_BYTES - 1)).into()
    }

    fn bounds(from: &Bytes, to: &Bytes) -> ScanBounds {
        ScanBounds { lower: key::bound(from), upper: Some(key::bound(to)) }
    }

    fn range(from: &str, to: &str) -> ScanBounds {
        bounds(&key('t', from), &key('t', to))
    }

    fn rows(rows: &[(&str, u64)]) -> PackedRows {
        let mut packed = PackedRows::default();
        for (row, timestamp) in rows {
            assert!(packed.push(plain(&key('t', row)), Timestamp(*timestamp), b"value"));
        }
        packed
    }

    fn at(timestamp: u64) -> TimestampRange {
        TimestampRange::up_to(Timestamp(timestamp))
    }

    fn set(key: Bytes) -> Change {
        Change::Set { key, family: Family::Write, timestamp: Timestamp(50), value: Bytes::from_static(b"new") }
    }

    fn remove(key: Bytes, timestamp: u64) -> Change {
        Change::Remove { key, family: Family::Write, timestamp: Timestamp(timestamp) }
    }

    /// Misses a range twice, so that it is worth caching.
    fn missed(ranges: &HotRanges, bounds: &ScanBounds) -> Missed {
        let ask = || match ranges.find(bounds, at(100), false, 10) {
            Known::Missed(missed) => missed,
            other => panic!("{other:?}"),
        };
        ask();
        assert!(ask().is_wanted());
        ask()
    }

    fn keep(ranges: &HotRanges, bounds: &ScanBounds, kept: &[(&str, u64)], extent: Extent) {
        ranges.keep(missed(ranges, bounds), bounds, rows(kept), extent);
    }

    fn is_known(ranges: &HotRanges, bounds: &ScanBounds) -> bool {
        matches!(ranges.find(bounds, at(100), false, 10), Known::Rows(..))
    }

    #[test]
    fn a_range_is_kept_when_it_is_asked_for_again() {
        let ranges = HotRanges::new(8 << 20);
        let Known::Missed(first) = ranges.find(&range("a", "b"), at(9), false, 10) else { panic!() };
        assert!(!first.is_wanted());
        keep(&ranges, &range("a", "b"), &[("a1", 5), ("a2", 7)], Extent::All);
        let Known::Rows(found, Extent::All) = ranges.find(&range("a", "b"), at(7), true, 1) else { panic!() };
        assert_eq!(found.len(), 2);
        // A snapshot older than its newest cell may see another one, so it neither uses nor replaces the range.
        assert!(matches!(ranges.find(&range("a", "b"), at(6), false, 10), Known::Nothing));
        let later = TimestampRange { from: Timestamp(6), to: Timestamp(9) };
        assert!(matches!(ranges.find(&range("a", "b"), later, false, 10), Known::Nothing));
        assert!(!is_known(&ranges, &range("a", "bb")));
        let open = ScanBounds { upper: None, ..range("a", "b") };
        assert!(matches!(ranges.find(&open, at(9), false, 10), Known::Nothing));
    }

    #[test]
    fn a_change_within_a_range_ends_what_is_known_of_it() {
        let ranges = HotRanges::new(8 << 20);
        let kept = || keep(&ranges, &range("b", "c"), &[("b1", 5), ("b3", 7)], Extent::All);
        kept();
        // Rows beside the range and in another table, and short keys.
        let others = [key('t', "a"), key('t', "c"), key('u', "b1"), Bytes::from_static(b"t"), Bytes::new()];
        ranges.changed(&others.map(set));
        let data = Change::Set {
            key: key('t', "b1"),
            family: Family::Data,
            timestamp: Timestamp(50),
            value: Bytes::from_static(b"data"),
        };
        ranges.changed(&[data, remove(key('t', "b1"), 4), remove(key('t', "b2"), 5)]);
        assert!(is_known(&ranges, &range("b", "c")));
        let everything = Change::RemoveRange(RowRange::all());
        let part = Change::RemoveRange(RowRange { start: key('t', "a"), end: Some(key('t', "b0")) });
        for change in [remove(key('t', "b3"), 7), everything, part] {
            ranges.changed(&[change]);
            assert!(!is_known(&ranges, &range("b", "c")));
            assert_eq!(ranges.bytes(), 0);
            kept();
        }
        ranges.loaded(&key('t', "c"), &key('t', "d"));
        assert!(is_known(&ranges, &range("b", "c")));
        ranges.loaded(&key('t', "a"), &key('t', "b"));
        assert!(!is_known(&ranges, &range("b", "c")));
    }

    /// The cached rows of a range, with their timestamps.
    fn known(ranges: &HotRanges, bounds: &ScanBounds, reverse: bool, limit: usize) -> Option<Vec<(String, u64)>> {
        let Known::Rows(rows, _) = ranges.find(bounds, at(100), reverse, limit) else { return None };
        let row = |(row, _): (&[u8], &[u8])| {
            let timestamp = rows.timestamp_of(row).unwrap();
            (String::from_utf8(row[HEAD_BYTES..].to_vec()).unwrap(), timestamp.0)
        };
        Some(rows.iter().map(row).collect())
    }

    #[test]
    fn what_is_read_between_changes_follows_them() {
        let ranges = HotRanges::new(8 << 20);
        let whole = range("b", "c");
        let shown =
            |rows: &[(&str, u64)]| Some(rows.iter().map(|(row, at)| (row.to_string(), *at)).collect::<Vec<_>>());
        keep(&ranges, &whole, &[("b1", 5), ("b3", 7)], Extent::All);
        let change = |row| ranges.changed(&[set(key('t', row))]);
        change("b3");
        assert_eq!(known(&ranges, &whole, false, 10), shown(&[("b1", 5), ("b3", 50)]));
        assert!(matches!(ranges.find(&whole, at(49), false, 10), Known::Nothing));
        change("b");
        assert_eq!(known(&ranges, &whole, true, 10), shown(&[("b", 50), ("b1", 5), ("b3", 50)]));
        change("b2");
        change("b4");
        assert_eq!(known(&ranges, &whole, false, 10), None);
        assert_eq!(ranges.bytes(), 0);
        // A change outside the cached part does not affect it.
        keep(&ranges, &whole, &[("b3", 5), ("b5", 7)], Extent::First);
        change("b6");
        assert_eq!(known(&ranges, &whole, false, 2), shown(&[("b3", 5), ("b5", 7)]));
        change("b4");
        assert_eq!(known(&ranges, &whole, false, 2), shown(&[("b3", 5), ("b4", 50), ("b5", 7)]));
        change("b4");
        keep(&ranges, &whole, &[("b3", 5), ("b5", 7)], Extent::Last);
        for row in ["b2", "b4"] {
            change(row);
        }
        assert_eq!(known(&ranges, &whole, true, 2), shown(&[("b3", 5), ("b4", 50), ("b5", 7)]));
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let ranges = HotRanges::new(8 << 20);
        let load = |ranges: &HotRanges| ranges.loaded(&key('u', "a"), &key('u', "b"));
        let change = |ranges: &HotRanges| ranges.changed(&[set(key('t', "b1"))]);
        let removal = |ranges: &HotRanges| ranges.changed(&[Change::RemoveRange(RowRange::all())]);
        for change in [load as fn(&HotRanges), change, removal] {
            let before = missed(&ranges, &range("b", "c"));
            change(&ranges);
            ranges.keep(before, &range("b", "c"), rows(&[("b2", 5)]), Extent::All);
            assert!(!is_known(&ranges, &range("b", "c")));
        }
    }

    #[test]
    fn the_ends_of_a_range_answer_who_asks_for_no_more() {
        let ranges = HotRanges::new(8 << 20);
        for (extent, reverse) in [(Extent::First, false), (Extent::Last, true)] {
            keep(&ranges, &range("b", "c"), &[("b1", 5), ("b3", 7)], extent);
            let known =
                |reverse, limit| matches!(ranges.find(&range("b", "c"), at(9), reverse, limit), Known::Rows(..));
            assert!(known(reverse, 1) && known(reverse, 2) && !known(reverse, 3) && !known(!reverse, 1));
        }
    }

    #[test]
    fn ranges_that_are_kept_do_not_overlap() {
        let ranges = HotRanges::new(8 << 20);
        for part in [range("a", "b"), range("b", "c"), range("c", "d"), range("d", "e")] {
            keep(&ranges, &part, &[], Extent::All);
        }
        keep(&ranges, &range("bb", "cc"), &[], Extent::All);
        assert!(is_known(&ranges, &range("a", "b")) && is_known(&ranges, &range("d", "e")));
        assert!(!is_known(&ranges, &range("b", "c")) && !is_known(&ranges, &range("c", "d")));
        // A whole table, which ends where the next one begins.
        let table = ScanBounds { lower: key::bound(&key('t', "")), upper: Some(key::bound(b"tttttttt\x01")) };
        keep(&ranges, &table, &[], Extent::All);
        assert!(is_known(&ranges, &table) && !is_known(&ranges, &range("a", "b")));
        ranges.changed(&[set(key('t', "x"))]);
        assert_eq!(known(&ranges, &table, false, 1).unwrap().len(), 1);
    }

    #[test]
    fn ranges_of_several_tables_are_not_kept() {
        let ranges = HotRanges::new(8 << 20);
        let short = |from: &'static str, to: &'static str| bounds(&from.into(), &to.into());
        for bounds in [bounds(&key('t', "a"), &key('u', "")), short("a", "b"), short("", "tttttttttt")] {
            assert!(matches!(ranges.find(&bounds, at(9), false, 10), Known::Nothing), "{bounds:?}");
        }
    }

    #[test]
    fn memory_is_bounded_and_what_is_used_stays() {
        let ranges = HotRanges::new((64 << 10) * SHARDS as u64);
        let named = |number: u32| range(&format!("{number:05}"), &format!("{number:05}x"));
        keep(&ranges, &named(0), &[("00000", 5)], Extent::All);
        for number in 1..2000 {
            assert!(is_known(&ranges, &named(0)), "{number}");
            keep(&ranges, &named(number), &[(&format!("{number:05}"), 5)], Extent::All);
        }
        assert!(ranges.bytes() <= 64 << 10 && ranges.bytes() > 32 << 10, "{}", ranges.bytes());
        let long = vec![("a", 5); SHORT_ROWS + 1];
        keep(&ranges, &range("a", "b"), &long, Extent::All);
        assert!(!is_known(&ranges, &range("a", "b")));
        let none = HotRanges::new(0);
        assert!(matches!(none.find(&range("a", "b"), at(9), false, 10), Known::Nothing));
    }
}
