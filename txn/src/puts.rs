//! [`Strings`] and [`Puts`]: rows that a statement puts, many at a time, in two allocations rather than two for each row: how a load
//! is kept until COMMIT. Must not know what the bytes mean.

use crate::lock::LockStrength;
use crate::transaction::{Write, WriteKind};
use bytes::Bytes;

/// Byte strings, one behind the other in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: Bytes,
    ends: Vec<u32>,
}

impl Strings {
    /// Of strings that end at `ends` and begin where the one before ends. `None` where these are no places in `bytes`, in order, or
    /// lie beyond 4 GB.
    pub fn new(bytes: Bytes, ends: &[usize]) -> Option<Strings> {
        let ascend = ends.is_sorted() && ends.last().is_none_or(|last| *last <= bytes.len());
        let ends = ends.iter().map(|end| u32::try_from(*end).ok()).collect::<Option<_>>()?;
        ascend.then_some(Strings { bytes, ends })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
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

    /// One of them.
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let (start, end) = self.place(at)?;
        self.bytes.get(start..end)
    }

    /// One of them, which shares the allocation.
    pub fn share(&self, at: usize) -> Option<Bytes> {
        let (start, end) = self.place(at)?;
        Some(self.bytes.slice(start..end))
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Each for itself; they share the allocation.
    pub fn list(&self) -> Vec<Bytes> {
        (0..self.len()).filter_map(|at| self.share(at)).collect()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Whether each is greater than the one before.
    pub fn is_ascending(&self) -> bool {
        self.iter().is_sorted_by(|one, next| one < next)
    }

    /// How many of ascending ones are less than `key`.
    pub(crate) fn before(&self, key: &[u8]) -> usize {
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

/// Rows that are put: their keys, ascending, and as many values.
#[derive(Clone, Debug)]
pub struct Puts {
    keys: Strings,
    values: Strings,
    strength: LockStrength,
}

impl Puts {
    /// Errors: the same as writes, each for itself, where the keys do not ascend.
    pub fn new(keys: Strings, values: Strings, strength: LockStrength) -> Result<Puts, Vec<Write>> {
        let puts = Puts { keys, values, strength };
        if puts.keys.is_ascending() && puts.keys.len() == puts.values.len() {
            return Ok(puts);
        }
        Err(puts.into_writes())
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys.
    pub(crate) fn keys(&self) -> &Strings {
        &self.keys
    }

    /// Bytes of keys and values.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.bytes() + self.values.bytes()
    }

    /// How strongly each key is held.
    pub(crate) fn strength(&self) -> LockStrength {
        self.strength
    }

    /// What is put at a row's key.
    pub(crate) fn kind(&self, at: usize) -> WriteKind {
        WriteKind::Put(self.values.share(at).unwrap_or_default())
    }

    /// Each for itself.
    pub(crate) fn into_writes(self) -> Vec<Write> {
        let write = |at| Some(Write { key: self.keys.share(at)?, kind: self.kind(at), strength: self.strength });
        (0..self.len().min(self.values.len())).filter_map(write).collect()
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
        assert_eq!(Strings::new(Bytes::from_static(b"ab"), &[1, 3]), None);
        assert_eq!(Strings::new(Bytes::from_static(b"ab"), &[2, 1]), None);
        let sorted = strings(&["b", "d", "f"]);
        assert_eq!(["a", "b", "c", "f", "g"].map(|key| sorted.before(key.as_bytes())), [0, 0, 1, 2, 3]);
    }

    #[test]
    fn rows_out_of_order_are_writes() {
        let values = strings(&["1", "2"]);
        let puts = Puts::new(strings(&["a", "b"]), values.clone(), LockStrength::Update).unwrap();
        assert_eq!((puts.len(), puts.bytes()), (2, 4));
        let writes = Puts::new(strings(&["b", "a"]), values, LockStrength::Update).unwrap_err();
        let write = |key, value| Write {
            key: Bytes::from_static(key),
            kind: WriteKind::Put(Bytes::from_static(value)),
            strength: LockStrength::Update,
        };
        assert_eq!(writes, [write(b"b", b"1"), write(b"a", b"2")]);
    }
}
