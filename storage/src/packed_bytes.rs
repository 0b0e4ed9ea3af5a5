//! [`Strings`]: many byte strings in one allocation.

use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Byte strings that lie one after the other in one allocation. Clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: Bytes,
    ends: Arc<[u32]>,
}

impl Strings {
    /// Splits `bytes` into strings that end at `ends`. Each begins where the one before it ends. `None` if `ends` are
    /// not ascending positions in `bytes`, or lie beyond 4 GB.
    pub fn new(bytes: Bytes, ends: &[usize]) -> Option<Strings> {
        let ascend = ends.is_sorted() && ends.last().is_none_or(|last| *last <= bytes.len());
        let ends = ends.iter().map(|end| u32::try_from(*end).ok()).collect::<Option<_>>()?;
        ascend.then_some(Strings { bytes, ends })
    }

    /// Copies the strings into one allocation. `None` if they exceed 4 GB.
    pub fn copied<'a>(strings: impl ExactSizeIterator<Item = &'a [u8]> + Clone) -> Option<Strings> {
        let mut bytes = Vec::with_capacity(strings.clone().map(<[u8]>::len).sum());
        let mut ends = Vec::with_capacity(strings.len());
        for string in strings {
            bytes.extend_from_slice(string);
            ends.push(bytes.len());
        }
        Strings::new(bytes.into(), &ends)
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn place(&self, at: usize) -> Option<(usize, usize)> {
        let end = *self.ends.get(at)? as usize;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        Some((start, end))
    }

    /// The string at index `at`, if there are so many.
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let (start, end) = self.place(at)?;
        self.bytes.get(start..end)
    }

    /// The string at index `at` as [`Bytes`] that share the allocation.
    pub fn share(&self, at: usize) -> Option<Bytes> {
        let (start, end) = self.place(at)?;
        Some(self.bytes.slice(start..end))
    }

    /// Iterates over the strings in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// All strings as separate [`Bytes`] that share the allocation.
    pub fn list(&self) -> Vec<Bytes> {
        (0..self.len()).filter_map(|at| self.share(at)).collect()
    }

    /// The total length of the strings in bytes.
    pub fn bytes(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Whether each string is greater than the one before it.
    pub fn is_ascending(&self) -> bool {
        self.iter().is_sorted_by(|one, next| one < next)
    }

    /// The longest stretches of ascending strings, as ranges of indexes.
    pub fn ascending_runs(&self) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let (mut begin, mut before) = (0, None);
        for (at, string) in self.iter().enumerate() {
            if before.is_some_and(|before| string <= before) {
                runs.push(begin..at);
                begin = at;
            }
            before = Some(string);
        }
        if begin < self.len() {
            runs.push(begin..self.len());
        }
        runs
    }

    /// The strings with indexes in `range`, sharing the allocation. `None` if `range` is out of bounds.
    pub fn part(&self, range: Range<usize>) -> Option<Strings> {
        if range == (0..self.len()) {
            return Some(self.clone());
        }
        let ends = self.ends.get(range.clone())?;
        let Some(last) = ends.last() else { return Some(Strings::default()) };
        let (start, _) = self.place(range.start)?;
        // All these ends are at least `start`.
        let moved = ends.iter().map(|end| end - start as u32).collect();
        Some(Strings { bytes: self.bytes.slice(start..*last as usize), ends: moved })
    }

    /// The number of strings less than `key`. The strings must ascend.
    pub fn before(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(|found| found < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Strings {
        let ends: Vec<usize> = list
            .iter()
            .scan(0, |end, string| {
                *end += string.len();
                Some(*end)
            })
            .collect();
        Strings::new(Bytes::from(list.concat()), &ends).unwrap()
    }

    #[test]
    fn strings_are_what_was_put_in() {
        let some = strings(&["a", "", "bc", "d"]);
        assert_eq!(some.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bc", b"d"]);
        assert_eq!(some.list(), ["a", "", "bc", "d"].map(Bytes::from));
        assert_eq!((some.len(), some.bytes(), some.get(4), some.is_ascending()), (4, 4, None, false));
        assert!(strings(&[]).is_empty() && strings(&["", "a", "ab"]).is_ascending());
        assert!(!strings(&["a", "a"]).is_ascending());
        assert_eq!(Strings::copied([&b"a"[..], b"", b"bc", b"d"].into_iter()), Some(some));
        assert_eq!(Strings::new(Bytes::from_static(b"ab"), &[1, 3]), None);
        assert_eq!(Strings::new(Bytes::from_static(b"ab"), &[2, 1]), None);
        assert_eq!(strings(&[]).ascending_runs(), []);
        let some = strings(&["b", "d", "", "bc", "bc", "c"]);
        let runs = some.ascending_runs();
        assert_eq!(runs, [0..2, 2..4, 4..6]);
        let parts: Vec<Strings> = runs.into_iter().map(|run| some.part(run).unwrap()).collect();
        assert_eq!(parts, [strings(&["b", "d"]), strings(&["", "bc"]), strings(&["bc", "c"])]);
        assert_eq!((some.part(0..6), some.part(3..3), some.part(5..7)), (Some(some.clone()), Some(strings(&[])), None));
        let sorted = strings(&["b", "d", "f"]);
        assert_eq!(["a", "b", "c", "f", "g"].map(|key| sorted.before(key.as_bytes())), [0, 0, 1, 2, 3]);
    }
}
