//! [`PackedRows`]: rows of one cell each, whose keys and values share one allocation. A scan of many rows therefore
//! allocates nothing per row.

use crate::contract::{Cell, Family, Row};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use smallvec::smallvec;

/// Bytes of replaced cells that are tolerated beside as many bytes in use. Beyond that the rows are compacted.
const SLACK_BYTES: usize = 512;

/// Offsets of a row's key and value in the shared buffer. The key ends where the value begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    timestamp: Timestamp,
    key: usize,
    value: usize,
    end: usize,
}

/// Rows of one cell each, in insertion order, in one allocation.
#[derive(Clone, Debug, Default)]
pub struct PackedRows {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl PackedRows {
    /// An empty set with capacity for `bytes` bytes of keys and values and for `rows` rows.
    pub fn with_capacity(bytes: usize, rows: usize) -> PackedRows {
        PackedRows { bytes: Vec::with_capacity(bytes), places: Vec::with_capacity(rows) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the set holds no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The length of the shared buffer in bytes, replaced cells included.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a row. `key` appends the row's key and answers whether the row has one. If it has none, the row is not
    /// added and the answer is false.
    pub fn push(&mut self, key: impl FnOnce(&mut Vec<u8>) -> bool, timestamp: Timestamp, value: &[u8]) -> bool {
        let start = self.bytes.len();
        if !key(&mut self.bytes) {
            self.bytes.truncate(start);
            return false;
        }
        let behind_key = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.places.push(Place { timestamp, key: start, value: behind_key, end: self.bytes.len() });
        true
    }

    /// Iterates over the key and value of each row.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> + ExactSizeIterator + Clone {
        self.places.iter().map(|place| self.parts(place))
    }

    /// Iterates over the key, timestamp and value of each row.
    pub fn cells(&self) -> impl Iterator<Item = (&[u8], Timestamp, &[u8])> {
        self.places.iter().map(|place| {
            let (key, value) = self.parts(place);
            (key, place.timestamp, value)
        })
    }

    fn parts(&self, place: &Place) -> (&[u8], &[u8]) {
        let part = |from: usize, to: usize| self.bytes.get(from..to).unwrap_or_default();
        (part(place.key, place.value), part(place.value, place.end))
    }

    /// The greatest timestamp of any cell, or [`Timestamp::ZERO`] if there is no row.
    pub fn newest_timestamp(&self) -> Timestamp {
        self.places.iter().map(|place| place.timestamp).max().unwrap_or(Timestamp::ZERO)
    }

    /// The timestamp of the cell of row `key`, found by binary search. The rows must be in key order.
    pub fn timestamp_of(&self, key: &[u8]) -> Option<Timestamp> {
        let at = self.places.binary_search_by(|place| self.parts(place).0.cmp(key)).ok()?;
        self.places.get(at).map(|place| place.timestamp)
    }

    /// The key of the row that was added first.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.places.first().map(|place| self.parts(place).0)
    }

    /// The key of the row that was added last.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.places.last().map(|place| self.parts(place).0)
    }

    /// Sets the cell of a row unless the row has a newer cell. The rows must be in key order.
    pub fn set(&mut self, key: &[u8], timestamp: Timestamp, value: &[u8]) {
        let start = self.bytes.len();
        let place = Place { timestamp, key: start, value: start + key.len(), end: start + key.len() + value.len() };
        match self.places.binary_search_by(|place| self.parts(place).0.cmp(key)) {
            Ok(at) => match self.places.get_mut(at) {
                Some(older) if older.timestamp <= timestamp => *older = place,
                _ => return,
            },
            Err(at) => self.places.insert(at, place),
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let used: usize = self.places.iter().map(|place| place.end - place.key).sum();
        if self.bytes.len() > 2 * used + SLACK_BYTES {
            let mut packed = PackedRows::with_capacity(used, self.len());
            for place in &self.places {
                let (key, value) = self.parts(place);
                packed.push(plain(key), place.timestamp, value);
            }
            *self = packed;
        }
    }

    /// Adds the rows `from..to` of `other`, in reverse order if `reverse`.
    pub fn append(&mut self, other: &PackedRows, from: usize, to: usize, reverse: bool) {
        let places = other.places.get(from..to).unwrap_or_default();
        self.places.reserve(places.len());
        // Unless rows were filtered out of `other`, its rows are contiguous in the buffer, in either order.
        let first = places.iter().map(|place| place.key).min().unwrap_or(0);
        let last = places.iter().map(|place| place.end).max().unwrap_or(0);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(other.bytes.get(first..last).unwrap_or_default());
        let moved = |place: &Place| {
            let at = |of: usize| of - first + start;
            Place { timestamp: place.timestamp, key: at(place.key), value: at(place.value), end: at(place.end) }
        };
        match reverse {
            false => self.places.extend(places.iter().map(moved)),
            true => self.places.extend(places.iter().rev().map(moved)),
        }
    }

    /// Removes the rows whose values `keep` rejects.
    pub fn retain(&mut self, mut keep: impl FnMut(&[u8]) -> bool) {
        let bytes = &self.bytes;
        self.places.retain(|place| keep(bytes.get(place.value..place.end).unwrap_or_default()));
    }

    /// Keeps the first `rows` rows at most.
    pub fn truncate(&mut self, rows: usize) {
        self.places.truncate(rows);
    }

    /// Converts to separate [`Row`]s, whose cells belong to `family`. They share the allocation.
    pub fn into_rows(self, family: Family) -> Vec<Row> {
        let PackedRows { bytes, places } = self;
        let bytes = Bytes::from(bytes);
        let row = |Place { timestamp, key, value, end }| {
            let cell = Cell { family, timestamp, value: bytes.slice(value..end) };
            Row { key: bytes.slice(key..value), cells: smallvec![cell] }
        };
        places.into_iter().map(row).collect()
    }

    /// Packs the first cell of each row. Rows without cells are left out.
    pub fn of_rows(rows: &[Row]) -> PackedRows {
        let mut packed = PackedRows::default();
        for row in rows {
            if let Some(cell) = row.cells.first() {
                packed.push(plain(&row.key), cell.timestamp, &cell.value);
            }
        }
        packed
    }
}

/// For [`PackedRows::push`]: appends `key` unchanged.
pub(crate) fn plain(key: &[u8]) -> impl FnOnce(&mut Vec<u8>) -> bool {
    move |out| {
        out.extend_from_slice(key);
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let mut packed = PackedRows::with_capacity(10, 1);
        for (key, value) in [("a", "one"), ("", ""), ("b", "two"), ("c", "")] {
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(key.as_bytes());
                !key.is_empty()
            };
            assert_eq!(packed.push(put, Timestamp(7), value.as_bytes()), !key.is_empty());
        }
        let shown = |packed: &PackedRows| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            packed.iter().map(|(key, value)| (text(key), text(value))).collect::<Vec<_>>()
        };
        let pairs =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect::<Vec<_>>();
        assert_eq!(shown(&packed), pairs(&[("a", "one"), ("b", "two"), ("c", "")]));
        assert_eq!((packed.len(), packed.bytes()), (3, 9));
        let rows = packed.clone().into_rows(Family::Write);
        assert_eq!(rows[1].key, "b");
        assert_eq!(rows[1].cells[0], Cell { family: Family::Write, timestamp: Timestamp(7), value: "two".into() });
        assert_eq!(shown(&PackedRows::of_rows(&rows)), shown(&packed));
        let mut parts = PackedRows::default();
        parts.append(&packed, 1, 3, true);
        parts.append(&packed, 0, 1, false);
        parts.append(&packed, 2, 2, false);
        assert_eq!(shown(&parts), pairs(&[("c", ""), ("b", "two"), ("a", "one")]));
        assert_eq!((parts.last_key(), parts.bytes()), (Some(&b"a"[..]), 9));
        assert_eq!((packed.timestamp_of(b"b"), packed.timestamp_of(b"bb")), (Some(Timestamp(7)), None));
        assert_eq!(
            (packed.newest_timestamp(), PackedRows::default().newest_timestamp()),
            (Timestamp(7), Timestamp::ZERO)
        );
        let mut set = packed.clone();
        for (key, timestamp, value) in [("b", 6, "older"), ("b", 8, "newer"), ("0", 1, "first"), ("bb", 9, "between")] {
            set.set(key.as_bytes(), Timestamp(timestamp), value.as_bytes());
        }
        let rows = [("0", "first"), ("a", "one"), ("b", "newer"), ("bb", "between"), ("c", "")];
        assert_eq!(shown(&set), pairs(&rows));
        assert_eq!((set.first_key(), set.newest_timestamp()), (Some(&b"0"[..]), Timestamp(9)));
        // Replaced cells never take more than about as much room as the cells in use.
        for timestamp in 10..200 {
            set.set(b"b", Timestamp(timestamp), b"newer");
            let mut copy = PackedRows::default();
            copy.append(&set, 1, 4, false);
            assert_eq!(shown(&copy), pairs(&rows[1..4]));
        }
        assert_eq!(shown(&set), pairs(&rows));
        assert!(set.bytes() < 2 * 40 + SLACK_BYTES, "{}", set.bytes());
        packed.retain(|value| value != b"one");
        assert_eq!(shown(&packed), pairs(&[("b", "two"), ("c", "")]));
        packed.truncate(1);
        assert_eq!(shown(&packed), pairs(&[("b", "two")]));
        assert!(!packed.is_empty());
    }
}
