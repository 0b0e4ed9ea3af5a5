//! [`Walk`]: a read of a short range of rows, from leaf to adjacent leaf.

use super::shard::Missed;
use super::{HotRows, block};
use crate::contract::{RowRange, TimestampRange};
use crate::embedded::key::HEAD_BYTES;
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use smallvec::SmallVec;
use std::ops::RangeInclusive;

/// The most leaves that a walk visits. If keys are further apart, a cursor is faster.
const MOST_LEAVES: usize = 4;

/// The common prefix of a leaf's keys.
pub type Prefix = SmallVec<[u8; 32]>;

/// A read of the newest cells of rows in a range.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'w> {
    /// The keys to read. A range without end is not walked.
    pub range: &'w RowRange,
    /// The timestamps that the cells may have.
    pub wanted: TimestampRange,
    /// Whether to walk from the end to the start.
    pub reverse: bool,
    /// The most rows to return.
    pub limit: usize,
}

/// How far a walk came.
#[derive(Debug)]
pub enum Walked {
    /// True: to the end of the range. False: to `limit` rows.
    Through(bool),
    /// To a leaf that is not cached. No row was returned.
    Missed(Missed, Prefix),
    /// The range cannot be walked. No row was returned.
    Nowhere,
}

impl Walk<'_> {
    /// The last bytes of the range's keys in the leaf `prefix`.
    fn lasts(&self, prefix: &[u8], end: &[u8]) -> Option<RangeInclusive<u8>> {
        let first = match self.range.start.strip_prefix(prefix) {
            Some([]) => 0,
            Some([first]) => *first,
            Some([before, ..]) => before.checked_add(1)?,
            None if *self.range.start < *prefix => 0,
            None => return None,
        };
        let last = match end.strip_prefix(prefix) {
            Some([]) => return None,
            Some([behind]) => behind.checked_sub(1)?,
            Some([last, ..]) => *last,
            None if *end > *prefix => u8::MAX,
            None => return None,
        };
        Some(first..=last)
    }

    /// Whether no row of the range lies beyond the leaf `prefix`, in the direction of the walk.
    fn ends_within(&self, prefix: &[u8], end: &[u8]) -> bool {
        match self.reverse {
            true => *self.range.start >= *prefix,
            false => *end <= *prefix || end.starts_with(prefix),
        }
    }
}

/// Moves to the prefix of the adjacent leaf, if no row can lie between the two. Keys of another length with a shorter
/// prefix could lie there, unless the two prefixes differ only in their last byte.
fn step(prefix: &mut Prefix, reverse: bool) -> bool {
    if prefix.len() <= HEAD_BYTES {
        return false;
    }
    let Some(last) = prefix.last_mut() else { return false };
    let next = if reverse { last.checked_sub(1) } else { last.checked_add(1) };
    match next {
        Some(next) => {
            *last = next;
            true
        }
        None => false,
    }
}

impl HotRows {
    /// Appends the rows of a range to `rows`, in the order of the walk.
    pub fn walk(&self, walk: Walk<'_>, rows: &mut PackedRows) -> Walked {
        let Walk { range, wanted, reverse, limit } = walk;
        let Some(end) = range.end.as_deref() else { return Walked::Nowhere };
        if wanted.from > Timestamp::ZERO || range.is_empty() {
            return Walked::Nowhere;
        }
        let Some((prefix, _)) = block::split(if reverse { end } else { &range.start }) else { return Walked::Nowhere };
        let mut prefix = Prefix::from_slice(prefix);
        let before = rows.len();
        let mut are_newest = true;
        for _ in 0..MOST_LEAVES {
            let place = self.place(&prefix);
            let Some(mut shard) = self.locked(place) else { break };
            let Some(leaf) = shard.leaf(&prefix) else {
                rows.truncate(before);
                return Walked::Missed(shard.miss(place), prefix);
            };
            if let Some(lasts) = walk.lasts(&prefix, end) {
                leaf.visit(lasts, reverse, |last, timestamp, value| {
                    are_newest = timestamp <= wanted.to;
                    let key = |out: &mut Vec<u8>| {
                        out.extend_from_slice(&prefix);
                        out.push(last);
                        true
                    };
                    are_newest && rows.push(key, timestamp, value) && rows.len() - before < limit
                });
            }
            if !are_newest {
                break;
            }
            if rows.len() - before >= limit {
                return Walked::Through(false);
            }
            if walk.ends_within(&prefix, end) {
                return Walked::Through(true);
            }
            if !step(&mut prefix, reverse) {
                break;
            }
            if !reverse && *end <= *prefix {
                return Walked::Through(true);
            }
        }
        rows.truncate(before);
        Walked::Nowhere
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::block::Leaf;
    use super::*;
    use crate::contract::{Family, FamilyFilter};
    use crate::embedded::row_cache::Known;
    use crate::packed::plain;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Key endings, mostly of two bytes, so that leaves meet keys of other lengths.
    fn ends() -> impl Strategy<Value = Vec<u8>> {
        let byte = || prop_oneof![Just(0u8), Just(1), Just(2), Just(0xfe), Just(0xff)];
        prop_oneof![
            8 => (byte(), byte()).prop_map(|(a, b)| vec![a, b]),
            1 => prop::collection::vec(byte(), 0..4),
        ]
    }

    fn key(end: &[u8]) -> Bytes {
        [b"a table\0:", end].concat().into()
    }

    type Truth = BTreeMap<Bytes, u64>;

    fn packed<'a>(rows: impl Iterator<Item = (&'a Bytes, &'a u64)>) -> PackedRows {
        let mut packed = PackedRows::default();
        for (key, at) in rows {
            assert!(packed.push(plain(key), Timestamp(*at), &at.to_be_bytes()));
        }
        packed
    }

    /// Caches all leaves with these first bytes that form leaves.
    fn keep(hot: &HotRows, truth: &Truth, firsts: &[u8]) {
        for first in firsts {
            let (prefix, row) = (key(&[*first]), key(&[*first, 0]));
            let filter = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(Timestamp(100)), cells: 1 };
            if let Known::Missed(missed) = hot.find(&row, &filter) {
                let rows = packed(truth.iter().filter(|(key, _)| key.starts_with(&prefix)));
                hot.keep_leaf(missed, &prefix, Leaf::of(&prefix, &rows));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn what_it_finds_is_what_there_is(
            truth in prop::collection::btree_map(ends().prop_map(|end| key(&end)), 1..20u64, 0..20),
            firsts in prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(2), Just(0xfe), Just(0xff)], 1..8),
            range in (ends(), ends()),
            reverse in any::<bool>(),
            (limit, to) in (1..12usize, 10..20u64),
        ) {
            let hot = HotRows::new(64 << 20);
            keep(&hot, &truth, &firsts);
            let (start, end) = if range.0 <= range.1 { range } else { (range.1, range.0) };
            let range = RowRange { start: key(&start), end: Some(key(&end)) };
            let wanted = TimestampRange::up_to(Timestamp(to));
            let mut rows = packed([(&key(b"before"), &1)].into_iter());
            let walked = hot.walk(Walk { range: &range, wanted, reverse, limit }, &mut rows);
            let mut expected: Vec<(Bytes, u64)> = match range.is_empty() {
                true => Vec::new(),
                false => truth.range(range.start.clone()..key(&end)).map(|(key, at)| (key.clone(), *at)).collect(),
            };
            if reverse {
                expected.reverse();
            }
            let more = expected.len() > limit;
            expected.truncate(limit);
            let found: Vec<(Bytes, u64)> =
                rows.cells().skip(1).map(|(key, at, _)| (Bytes::copy_from_slice(key), at.0)).collect();
            match walked {
                Walked::Through(all) => {
                    prop_assert!(!(all && more));
                    prop_assert!(all || expected.len() == limit);
                    prop_assert!(expected.iter().all(|(_, at)| *at <= to));
                    prop_assert_eq!(found, expected);
                }
                Walked::Missed(_, prefix) => {
                    prop_assert!(prefix.len() != HEAD_BYTES + 1 || !firsts.contains(prefix.last().unwrap())
                        || truth.keys().any(|key| key.starts_with(&prefix) && key.len() != prefix.len() + 1));
                    prop_assert!(found.is_empty());
                }
                Walked::Nowhere => prop_assert!(found.is_empty()),
            }
        }
    }

    #[test]
    fn it_goes_from_leaf_to_leaf() {
        let hot = HotRows::new(64 << 20);
        let truth: Truth = (1..6).flat_map(|first| [0, 7, 0xff].map(|last| (key(&[first, last]), 5))).collect();
        keep(&hot, &truth, &[1, 2, 3, 4, 5]);
        let walked = |start: &[u8], end: &[u8], reverse, limit| {
            let range = RowRange { start: key(start), end: Some(key(end)) };
            let walk = Walk { range: &range, wanted: TimestampRange::up_to(Timestamp(9)), reverse, limit };
            let mut rows = PackedRows::default();
            let walked = hot.walk(walk, &mut rows);
            let found: Vec<Vec<u8>> = rows.cells().map(|(key, ..)| key[HEAD_BYTES..].to_vec()).collect();
            (format!("{walked:?}").chars().take(13).collect::<String>(), found)
        };
        let (through, first) = ("Through(true)".to_owned(), "Through(false".to_owned());
        assert_eq!(
            walked(&[1, 7], &[3, 0], false, 9),
            (through.clone(), vec![vec![1, 7], vec![1, 0xff], vec![2, 0], vec![2, 7], vec![2, 0xff]])
        );
        assert_eq!(walked(&[1, 7], &[2, 7], true, 9), (through.clone(), vec![vec![2, 0], vec![1, 0xff], vec![1, 7]]));
        assert_eq!(walked(&[], &[3, 1], true, 2), (first.clone(), vec![vec![3, 0], vec![2, 0xff]]));
        // The walk ends at the start of the next leaf and looks no further.
        assert_eq!(walked(&[5, 7], &[6], false, 9), (through.clone(), vec![vec![5, 7], vec![5, 0xff]]));
        assert_eq!(walked(&[5, 7], &[6, 1], false, 9).0, "Missed(Missed");
        // Rows before the first leaf may exist.
        assert_eq!(walked(&[], &[1, 1], true, 2).0, "Missed(Missed");
        // The number of leaves between distant rows is unknown.
        assert_eq!(walked(&[1, 7], &[5, 9], false, 99).0, "Nowhere");
    }
}
