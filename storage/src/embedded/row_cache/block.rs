//! [`Leaf`]: the newest cells of all rows whose keys differ only in their last byte, in one allocation. In a table
//! with numeric keys these are some two hundred consecutive rows.

use crate::contract::{Cell, Family};
use crate::embedded::key::HEAD_BYTES;
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::ops::RangeInclusive;

/// The most rows in a leaf: one for each last byte.
pub const MOST_ROWS: usize = 256;
/// The largest leaf that is cached, in bytes.
pub const MOST_BYTES: usize = 128 << 10;
/// Approximate memory of a leaf beside its rows, in bytes.
const LEAF_BYTES: usize = 224;
/// Bytes of replaced values that are tolerated, beside as many bytes in use. Beyond that the leaf is compacted.
const SLACK_BYTES: usize = 4 << 10;

/// The position and timestamp of a row's cell.
#[derive(Clone, Copy, Debug)]
struct Slot {
    timestamp: Timestamp,
    start: u32,
    length: u32,
}

/// The newest cells of all rows with a common key prefix. See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    /// One bit for each last byte: whether that row exists.
    present: [u64; 4],
    /// The slots of the existing rows, in key order.
    slots: Vec<Slot>,
    values: Vec<u8>,
    /// Bytes of `values` in use.
    used: usize,
}

/// Splits a key into its leaf's prefix and its last byte. `None` if the key is no longer than a head ([`HEAD_BYTES`])
/// and so belongs to no leaf.
pub fn split(key: &[u8]) -> Option<(&[u8], u8)> {
    let (last, prefix) = key.split_last()?;
    (prefix.len() >= HEAD_BYTES).then_some((prefix, *last))
}

impl Leaf {
    /// A leaf of all rows whose keys begin with `prefix`, in key order. `None` if the length of a key does not fit.
    pub fn of(prefix: &[u8], rows: &PackedRows) -> Option<Leaf> {
        let mut leaf = Leaf { slots: Vec::with_capacity(rows.len()), ..Leaf::default() };
        leaf.values.reserve(rows.bytes().saturating_sub(rows.len() * (prefix.len() + 1)));
        for (key, timestamp, value) in rows.cells() {
            match key.strip_prefix(prefix) {
                Some([last]) => leaf.set(*last, timestamp, value),
                _ => return None,
            }
        }
        Some(leaf)
    }

    /// Whether the row with this last byte exists, and the index of its slot.
    fn place(&self, last: u8) -> (bool, usize) {
        let (word, bit) = (usize::from(last / 64), 1_u64 << (last % 64));
        let before: u32 = self.present.iter().take(word).map(|bits| bits.count_ones()).sum();
        let bits = self.present.get(word).copied().unwrap_or(0);
        (bits & bit != 0, (before + (bits & (bit - 1)).count_ones()) as usize)
    }

    fn slot(&self, last: u8) -> Option<&Slot> {
        let (present, at) = self.place(last);
        self.slots.get(at).filter(|_| present)
    }

    fn value(&self, slot: &Slot) -> &[u8] {
        let start = slot.start as usize;
        self.values.get(start..start + slot.length as usize).unwrap_or_default()
    }

    /// The timestamp of the newest cell of the row with this last byte. `None` if the row has none.
    pub fn timestamp(&self, last: u8) -> Option<Timestamp> {
        self.slot(last).map(|slot| slot.timestamp)
    }

    /// The newest cell of the row with this last byte. Its value is a copy, because a read must not keep the
    /// whole leaf in memory.
    pub fn cell(&self, last: u8) -> Option<Cell> {
        let slot = self.slot(last)?;
        let value = Bytes::copy_from_slice(self.value(slot));
        Some(Cell { family: Family::Write, timestamp: slot.timestamp, value })
    }

    /// Calls `visit` with the last byte, timestamp and value of each row in the range `lasts`, until it answers
    /// false. In key order, or backwards if `reverse`.
    pub fn visit(&self, lasts: RangeInclusive<u8>, reverse: bool, mut visit: impl FnMut(u8, Timestamp, &[u8]) -> bool) {
        let (_, mut at) = self.place(*lasts.start());
        let (present_at_end, end) = self.place(*lasts.end());
        let mut behind = end + usize::from(present_at_end);
        let mut go = |last: u8| {
            let bits = self.present.get(usize::from(last / 64)).copied().unwrap_or(0);
            if bits & (1 << (last % 64)) == 0 {
                return true;
            }
            let slot = match reverse {
                true => {
                    behind -= 1;
                    self.slots.get(behind)
                }
                false => {
                    at += 1;
                    self.slots.get(at - 1)
                }
            };
            slot.is_none_or(|slot| visit(last, slot.timestamp, self.value(slot)))
        };
        match reverse {
            true => lasts.rev().all(&mut go),
            false => lasts.into_iter().all(&mut go),
        };
    }

    /// Sets the cell of a row unless the row has a newer one.
    pub fn set(&mut self, last: u8, timestamp: Timestamp, value: &[u8]) {
        let (present, at) = self.place(last);
        let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
        if present {
            let Some(slot) = self.slots.get_mut(at).filter(|slot| slot.timestamp <= timestamp) else { return };
            slot.timestamp = timestamp;
            let start = slot.start as usize;
            if slot.length == length {
                // Updated rows of a table mostly keep their length.
                if let Some(old) = self.values.get_mut(start..start + value.len()) {
                    old.copy_from_slice(value);
                }
                return;
            }
            self.used -= slot.length as usize;
            (slot.start, slot.length) = (u32::try_from(self.values.len()).unwrap_or(u32::MAX), length);
        } else {
            let start = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
            self.slots.insert(at, Slot { timestamp, start, length });
            if let Some(bits) = self.present.get_mut(usize::from(last / 64)) {
                *bits |= 1 << (last % 64);
            }
        }
        self.values.extend_from_slice(value);
        self.used += value.len();
        if self.values.len() > 2 * self.used + SLACK_BYTES {
            self.pack();
        }
    }

    /// Compacts `values`, leaving out the replaced ones.
    fn pack(&mut self) {
        let mut values = Vec::with_capacity(self.used);
        for slot in &mut self.slots {
            let start = slot.start as usize;
            slot.start = u32::try_from(values.len()).unwrap_or(u32::MAX);
            values.extend_from_slice(self.values.get(start..start + slot.length as usize).unwrap_or_default());
        }
        self.values = values;
    }

    /// The approximate memory of the leaf, in bytes.
    pub fn bytes(&self) -> usize {
        LEAF_BYTES + self.slots.capacity() * size_of::<Slot>() + self.values.capacity()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::packed::plain;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const PREFIX: &[u8] = b"a table\0:12";

    fn packed(rows: &[(&[u8], u64, &str)]) -> PackedRows {
        let mut packed = PackedRows::default();
        for (key, timestamp, value) in rows {
            assert!(packed.push(plain(key), Timestamp(*timestamp), value.as_bytes()));
        }
        packed
    }

    #[test]
    fn keys_are_split_where_they_tell_more_than_whose_they_are() {
        assert_eq!(split(b"a table\0:1"), Some((&b"a table\0:"[..], b'1')));
        assert_eq!((split(b"a table\0:"), split(b"")), (None, None));
    }

    #[test]
    fn rows_with_longer_keys_are_in_no_leaf() {
        let mut rows = vec![(&b"a table\0:12\0"[..], 5, "zero"), (b"a table\0:12\xff", 7, "")];
        let leaf = Leaf::of(PREFIX, &packed(&rows)).unwrap();
        assert_eq!((leaf.cell(0).unwrap().value, leaf.cell(0xff).unwrap().timestamp), ("zero".into(), Timestamp(7)));
        assert!(leaf.cell(1).is_none() && leaf.timestamp(0xfe).is_none());
        for other in [&b"a table\0:12"[..], b"a table\0:12ab", b"a table\0:13"] {
            rows.push((other, 8, "other"));
            assert!(Leaf::of(PREFIX, &packed(&rows)).is_none());
            rows.pop();
        }
    }

    proptest! {
        #[test]
        fn it_is_a_map(
            steps in prop::collection::vec((prop_oneof![any::<u8>(), 60..70u8], 0..20u64, 0..40usize), 0..400),
            ends in any::<(u8, u8)>(),
            most in 1..300usize,
        ) {
            let (mut leaf, mut expected) = (Leaf::default(), BTreeMap::new());
            for (last, timestamp, length) in steps {
                let value = vec![timestamp as u8; length];
                leaf.set(last, Timestamp(timestamp), &value);
                let row = expected.entry(last).or_insert((timestamp, value.clone()));
                if row.0 <= timestamp {
                    *row = (timestamp, value);
                }
                prop_assert!(leaf.values.len() <= 2 * leaf.used + SLACK_BYTES);
            }
            prop_assert_eq!(leaf.used, expected.values().map(|(_, value)| value.len()).sum::<usize>());
            for last in 0..=0xff {
                let found = leaf.cell(last).map(|cell| (cell.timestamp.0, cell.value.to_vec()));
                prop_assert_eq!(leaf.timestamp(last).map(|at| at.0), found.as_ref().map(|(at, _)| *at));
                prop_assert_eq!(found, expected.get(&last).cloned());
            }
            let mut rows: Vec<_> = expected.range(ends.0..=ends.1.max(ends.0)).map(|(last, row)| (*last, row.clone())).collect();
            for reverse in [false, true] {
                let mut found = Vec::new();
                leaf.visit(ends.0..=ends.1.max(ends.0), reverse, |last, timestamp, value| {
                    found.push((last, (timestamp.0, value.to_vec())));
                    found.len() < most
                });
                prop_assert_eq!(&found, &rows[..rows.len().min(most)]);
                rows.reverse();
            }
        }
    }

    #[test]
    fn what_was_replaced_takes_no_more_room_than_what_there_is() {
        let mut leaf = Leaf::default();
        for round in 0..10_000 {
            leaf.set(7, Timestamp(round), &vec![1; 100 + round as usize % 50]);
        }
        assert!(leaf.bytes() < 4 * SLACK_BYTES, "{}", leaf.bytes());
        assert_eq!(leaf.cell(7).unwrap().value.len(), 100 + 9_999 % 50);
    }
}
