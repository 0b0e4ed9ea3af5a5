//! [`ReadSet`]: the ranges of keys that a transaction at [`Isolation::Serializable`](crate::Isolation::Serializable)
//! has read, for validation at COMMIT (docs/protocol.md, section 8).
//!
//! It includes keys that were looked for and not found, and the gaps between the rows of a scan. That prevents
//! phantoms. The memory is bounded: a set that exceeds it widens. The half of the neighbours with the longest common
//! prefixes are merged, repeatedly until the set fits. So it loses precision, but never a read.

use crate::scan::successor;
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use storage::RowRange;

/// Approximate memory per range in bytes, besides its keys.
const RANGE_BYTES: usize = 96;

/// Disjoint ranges by their first key, each with the first key behind it (`None`: no end). They do not touch.
#[derive(Default)]
struct Ranges {
    ends: BTreeMap<Bytes, Option<Bytes>>,
    bytes: usize,
}

/// The ranges that a transaction has read. See the module documentation.
pub(crate) struct ReadSet {
    ranges: Mutex<Ranges>,
    limit: usize,
    /// Reads outside this range are not noted.
    within: RowRange,
}

impl ReadSet {
    /// An empty set that uses about `limit` bytes, for reads that lie `within`.
    pub(crate) fn new(limit: usize, within: RowRange) -> ReadSet {
        ReadSet { ranges: Mutex::default(), limit, within }
    }

    /// Notes that one row was looked for.
    pub(crate) fn note_key(&self, key: &[u8]) {
        if !self.within.contains(key) {
            return;
        }
        let key = Bytes::copy_from_slice(key);
        let end = Some(successor(&key));
        self.note(RowRange { start: key, end });
    }

    /// Notes that the rows of a range were looked for.
    pub(crate) fn note(&self, range: RowRange) {
        let range = range.intersect(&self.within);
        if range.is_empty() {
            return;
        }
        let mut ranges = self.ranges.lock();
        ranges.add(range);
        if ranges.bytes > self.limit {
            ranges.widen(self.limit / 2);
        }
    }

    /// The ranges that were read, in key order. They do not touch.
    pub(crate) fn ranges(&self) -> Vec<RowRange> {
        let ranges = self.ranges.lock();
        ranges.ends.iter().map(|(start, end)| RowRange { start: start.clone(), end: end.clone() }).collect()
    }
}

fn cost(start: &Bytes, end: &Option<Bytes>) -> usize {
    start.len() + end.as_ref().map_or(0, Bytes::len) + RANGE_BYTES
}

impl Ranges {
    fn add(&mut self, range: RowRange) {
        let RowRange { mut start, mut end } = range;
        if let Some((before, its_end)) = self.ends.range(..=start.clone()).next_back() {
            match its_end {
                None => return,
                Some(its_end) if end.as_ref().is_some_and(|end| end <= its_end) => return,
                Some(its_end) if *its_end >= start => start = before.clone(),
                Some(_) => {}
            }
        }
        // Ranges that begin inside it or right behind it become part of it.
        while let Some((next, its_end)) = self.ends.range(start.clone()..).next() {
            if end.as_ref().is_some_and(|end| next > end) {
                break;
            }
            end = match (end, its_end) {
                (Some(end), Some(its_end)) => Some(end.max(its_end.clone())),
                _ => None,
            };
            let (next, its_end) = (next.clone(), its_end.clone());
            self.bytes -= cost(&next, &its_end);
            self.ends.remove(&next);
        }
        self.bytes += cost(&start, &end);
        self.ends.insert(start, end);
    }

    /// Merges neighbours until the set takes at most `bytes`.
    fn widen(&mut self, bytes: usize) {
        while self.bytes > bytes && self.ends.len() > 1 {
            let mut common: Vec<usize> = self.neighbours().map(|(one, next)| in_common(one, next)).collect();
            // Half of the gaps: those between the keys with the longest common prefixes.
            let middle = common.len() / 2;
            let (_, least, _) = common.select_nth_unstable(middle);
            let least = *least;
            let mut wider: Vec<(Bytes, Option<Bytes>)> = Vec::with_capacity(self.ends.len() / 2 + 1);
            for (start, end) in std::mem::take(&mut self.ends) {
                match wider.last_mut() {
                    Some((before, its_end)) if in_common(before, &start) >= least => *its_end = end,
                    _ => wider.push((start, end)),
                }
            }
            self.bytes = wider.iter().map(|(start, end)| cost(start, end)).sum();
            self.ends = wider.into_iter().collect();
        }
    }

    fn neighbours(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.ends.keys().zip(self.ends.keys().skip(1))
    }
}

/// The length in bytes of the common prefix of two keys.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(set: &ReadSet) -> Vec<(String, Option<String>)> {
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        set.ranges().iter().map(|range| (text(&range.start), range.end.as_ref().map(text))).collect()
    }

    fn range(start: &str, end: &str) -> RowRange {
        RowRange { start: start.to_owned().into(), end: Some(end.to_owned().into()) }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let set = ReadSet::new(1 << 20, RowRange::all());
        set.note(range("b", "d"));
        set.note(range("f", "h"));
        set.note(range("d", "e"));
        set.note_key(b"a");
        let of = |ends: &[(&str, Option<&str>)]| -> Vec<(String, Option<String>)> {
            ends.iter().map(|(start, end)| ((*start).to_owned(), end.map(str::to_owned))).collect()
        };
        assert_eq!(shown(&set), of(&[("a", Some("a\0")), ("b", Some("e")), ("f", Some("h"))]));
        set.note(range("c", "g"));
        assert_eq!(shown(&set), of(&[("a", Some("a\0")), ("b", Some("h"))]));
        set.note(RowRange { start: "g".into(), end: None });
        assert_eq!(shown(&set), of(&[("a", Some("a\0")), ("b", None)]));
        set.note(range("x", "z"));
        assert_eq!(set.ranges().len(), 2);
    }

    proptest! {
        #[test]
        fn every_read_stays_inside(
            keys in prop::collection::vec(prop::collection::vec(0u8..4, 1..5), 1..200),
            limit in 200usize..4000,
        ) {
            let set = ReadSet::new(limit, RowRange::all());
            for key in &keys {
                set.note_key(key);
            }
            let ranges = set.ranges();
            for key in &keys {
                prop_assert!(ranges.iter().any(|range| range.contains(key)));
            }
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].end.as_ref().is_some_and(|end| *end < pair[1].start));
            }
            let bytes: usize = ranges.iter().map(|range| cost(&range.start, &range.end)).sum();
            prop_assert_eq!(bytes, set.ranges.lock().bytes);
            prop_assert!(bytes <= limit.max(RANGE_BYTES + 12));
        }
    }

    #[test]
    fn what_has_most_in_common_grows_together_first() {
        let set = ReadSet::new(40 * (RANGE_BYTES + 22), RowRange::all());
        for table in ["table one ", "table two "] {
            for number in 0..100 {
                set.note_key(format!("{table}{:03}", number * 2).as_bytes());
            }
        }
        let ranges = set.ranges();
        assert!(ranges.len() >= 2, "{ranges:?}");
        let crosses = |range: &RowRange| range.start.starts_with(b"table one") && range.contains(b"table two 000");
        assert!(!ranges.iter().any(crosses), "{ranges:?}");
    }
}
