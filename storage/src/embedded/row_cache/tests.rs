//! Tests of the cache of rows, single ones and leaves.

use super::shard::{MISSES_PER_LEAF, MOST_LEAF_VALUE_BYTES, MOST_VALUE_BYTES, PAID_BY_FOUND, PRICE_OF_LEAF};
use super::*;
use crate::contract::{RowRange, TimestampRange};
use crate::packed::{PackedRows, plain};
use crate::timestamp::Timestamp;
use bytes::Bytes;

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
    // A late older cell, and the removal of an older cell, leave the newest one.
    rows.changed(&[set("a", 6, "six"), remove("a", 5)]);
    assert_eq!(found(&rows, "a", 9), "seven");
    rows.changed(&[remove("a", 7)]);
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
        assert!(packed.push(plain(format!("{PREFIX}{last}").as_bytes()), Timestamp(*timestamp), value.as_bytes()));
    }
    Leaf::of(PREFIX.as_bytes(), &packed)
}

/// Misses rows one after the other until their leaf is wanted.
fn wanted(rows: &HotRows) -> Missed {
    let mut word = missed(rows, "a table\0:1");
    for _ in 1..MISSES_PER_LEAF {
        assert!(!rows.wants_leaf(word, PREFIX.as_bytes(), 0));
        word = missed(rows, "a table\0:2");
    }
    assert!(!rows.wants_leaf(word, PREFIX.as_bytes(), MOST_LEAF_VALUE_BYTES + 1));
    assert!(rows.wants_leaf(word, PREFIX.as_bytes(), 9));
    word
}

fn forget_asked(rows: &HotRows) {
    rows.shards.iter().for_each(|shard| shard.lock().forget_asked());
}

fn keep_leaf(rows: &HotRows) {
    let word = wanted(rows);
    rows.keep_leaf(word, PREFIX.as_bytes(), leaf(&[("1", 5, "one"), ("3", 7, "three")]));
    // A request for many rows may have missed several rows of one leaf.
    assert!(!rows.wants_leaf(word, PREFIX.as_bytes(), 9));
}

fn all(rows: &HotRows, at: u64) -> [String; 3] {
    ["1", "2", "3"].map(|last| found(rows, &format!("{PREFIX}{last}"), at))
}

fn remove(key: &'static str, timestamp: u64) -> Change {
    Change::Remove { key: Bytes::from_static(key.as_bytes()), family: Family::Write, timestamp: Timestamp(timestamp) }
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
    // A key that cannot be a row of this leaf.
    rows.changed(&["a table\0", "a table\0;1"].map(|key| set(key, 9, "another")));
    rows.changed(&[remove("a table\0:3", 6), remove("a table\0:4", 7)]);
    assert_eq!(all(&rows, 9), ["longer", "two", "three"]);
}

/// Every key that begins with a leaf's prefix is in the leaf, or the leaf is not cached: scans of ranges rely on it.
#[test]
fn a_key_of_another_length_ends_a_leaf() {
    let rows = HotRows::new(64 << 20);
    for other in ["a table\0:", "a table\0:1x", "a table\0:3xyz"] {
        keep_leaf(&rows);
        rows.changed(&[
            set("a table\0", 9, "shorter"),
            set("a table\0;1x", 9, "another's"),
            set("b table\0:1x", 9, "another's"),
        ]);
        assert_eq!(all(&rows, 9), ["one", "Nothin", "three"]);
        rows.changed(&[set(other, 9, "another's")]);
        missed(&rows, "a table\0:1");
        forget_asked(&rows);
        // Also while the leaf is being read.
        let word = wanted(&rows);
        rows.changed(&[set(other, 9, "another's")]);
        rows.keep_leaf(word, PREFIX.as_bytes(), leaf(&[("1", 5, "one"), ("3", 7, "three")]));
        missed(&rows, "a table\0:1");
        forget_asked(&rows);
    }
    // Keys that are too long for a leaf never want one.
    let long = format!("a table\0:{}", "1".repeat(80));
    for _ in 0..2 * MISSES_PER_LEAF {
        assert!(!rows.wants_leaf(missed(&rows, &long), &long.as_bytes()[..long.len() - 1], 9));
    }
}

#[test]
fn rows_are_forgotten_together() {
    let rows = HotRows::new(64 << 20);
    let everything = Change::RemoveRange(RowRange::prefix(Bytes::from_static(b"x")));
    let long = Bytes::from(vec![0; block::MOST_BYTES]);
    let long = Change::Set { key: "a table\0:3".into(), family: Family::Write, timestamp: Timestamp(9), value: long };
    for change in [remove("a table\0:3", 7), everything, long] {
        keep_leaf(&rows);
        rows.changed(&[change]);
        missed(&rows, "a table\0:1");
        assert_eq!(rows.bytes(), 0);
        forget_asked(&rows);
    }
    keep_leaf(&rows);
    for (first, last) in [("a table", "a table\0"), ("a table\0;", "b"), ("a table", "a table\09")] {
        rows.loaded(first.as_bytes(), last.as_bytes());
        assert_eq!(all(&rows, 9), ["one", "Nothin", "three"]);
    }
    for (first, last) in [("a", "a table\0:"), ("a table\0:5", "a table\0:6"), ("a table\0:1", "b"), ("a", "b")] {
        rows.loaded(first.as_bytes(), last.as_bytes());
        missed(&rows, "a table\0:1");
        forget_asked(&rows);
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
    let long = "v".repeat(block::MOST_BYTES);
    for none in [leaf(&[("1", 5, "one"), ("11", 5, "longer")]), leaf(&[("1", 5, &long)])] {
        let word = wanted(&rows);
        rows.keep_leaf(word, PREFIX.as_bytes(), none);
        let again = missed(&rows, "a table\0:1");
        // Also for rows that were missed in the same request.
        for word in [word, again] {
            assert!(!rows.wants_leaf(word, PREFIX.as_bytes(), 9));
        }
        forget_asked(&rows);
    }
}

#[test]
fn where_there_is_no_room_a_leaf_is_paid_for() {
    let rows = HotRows::new(SHARDS as u64 * block::MOST_BYTES as u64 / 2);
    let key = "a table\0:1";
    let mut asked = 1;
    let mut word = missed(&rows, key);
    while !rows.wants_leaf(word, PREFIX.as_bytes(), 9) {
        word = missed(&rows, key);
        asked += 1;
    }
    assert_eq!(asked, PRICE_OF_LEAF);
    rows.keep(word, key.as_bytes(), &cell(5, "five"));
    let mut finds = 0;
    while !rows.wants_leaf(word, PREFIX.as_bytes(), 9) {
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
