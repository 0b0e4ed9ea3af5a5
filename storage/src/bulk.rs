//! [`CellBlock`] and [`BulkLoad`]: many new cells at a time, handed to the engine in order, beside its log. Must not know why
//! nobody else asks for them yet.

use crate::env::BoxFuture;
use crate::error::Result;
use crate::timestamp::Timestamp;

/// Cells of [`Family::Write`](crate::Family::Write), one a row, that lie in one allocation.
#[derive(Clone, Debug, Default)]
pub struct CellBlock {
    bytes: Vec<u8>,
    cells: Vec<Place>,
}

/// Where a cell lies in its block, and the first bytes of its key behind those that all keys of a table begin with: most
/// comparisons of keys end with them.
#[derive(Clone, Copy, Debug)]
struct Place {
    first: u128,
    key: u32,
    value: u32,
    end: u32,
}

/// Keys of a table or index have so many bytes in common.
const COMMON_BYTES: usize = 9;

impl CellBlock {
    /// A block is full with so many bytes.
    pub const MOST_BYTES: usize = 32 << 20;

    /// An empty block.
    pub fn new() -> CellBlock {
        CellBlock::default()
    }

    /// Bytes that it holds in memory, but for room to grow.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.cells.len() * size_of::<Place>()
    }

    /// Whether no more should be added: it is as large as it is meant to be.
    pub fn is_full(&self) -> bool {
        self.bytes() >= CellBlock::MOST_BYTES
    }

    /// Cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds the cell of a row; `value` appends its content. False, and nothing is added, when the block cannot hold it.
    pub fn push(&mut self, key: &[u8], value: impl FnOnce(&mut Vec<u8>)) -> bool {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let behind_key = self.bytes.len();
        value(&mut self.bytes);
        let places = [start, behind_key, self.bytes.len()].map(u32::try_from);
        let [Ok(at), Ok(value), Ok(end)] = places else {
            self.bytes.truncate(start);
            return false;
        };
        let mut first = [0; 16];
        let rest = key.get(COMMON_BYTES..).unwrap_or_default();
        for (byte, of_key) in first.iter_mut().zip(rest) {
            *byte = *of_key;
        }
        self.cells.push(Place { first: u128::from_be_bytes(first), key: at, value, end });
        true
    }

    /// Puts the cells in the order of their keys. Answers the position of a cell whose key another one has too, if there is one.
    pub fn sort(&mut self) -> Option<usize> {
        let CellBlock { bytes, cells } = self;
        let key = |place: &Place| bytes.get(place.key as usize..place.value as usize).unwrap_or_default();
        let common = |place: &Place| key(place).get(..COMMON_BYTES).unwrap_or_default();
        // Keys of one table or index: the bytes behind what they have in common tell, as far as they go.
        let alike = cells.first().is_none_or(|first| {
            common(first).len() == COMMON_BYTES && cells.iter().all(|cell| common(cell) == common(first))
        });
        if alike {
            cells.sort_unstable_by(|a, b| a.first.cmp(&b.first).then_with(|| key(a).cmp(key(b))));
        } else {
            cells.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        }
        cells.windows(2).position(|pair| matches!(pair, [a, b] if a.first == b.first && key(a) == key(b)))
    }

    /// The keys of the first and the last cell.
    pub fn ends(&self) -> Option<(&[u8], &[u8])> {
        let key = |place: &Place| self.bytes.get(place.key as usize..place.value as usize).unwrap_or_default();
        Some((key(self.cells.first()?), key(self.cells.last()?)))
    }

    /// Key and value of each cell, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.cells.iter().map(|place| {
            let part = |from: u32, to: u32| self.bytes.get(from as usize..to as usize).unwrap_or_default();
            (part(place.key, place.value), part(place.value, place.end))
        })
    }

    /// Takes all cells out; the memory stays for the next.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
    }
}

/// The optional capability to take many cells at once, beside the log. For rows that nobody else writes at that timestamp, and
/// that nobody is told of before the call has answered.
pub trait BulkLoad: Send + Sync {
    /// Writes a block whose keys ascend, each cell stamped `timestamp`. Durable and readable when it answers; after an error, or
    /// when the future is dropped, all of it or nothing is. What was written through the log before may be lost in a crash that
    /// leaves these cells, unless it was durable. Errors: `DiskFull`, `Io`, `TooLarge`.
    fn load(&self, timestamp: Timestamp, block: CellBlock) -> BoxFuture<'_, Result<()>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_keys_do(keys in prop::collection::vec((prop::bool::ANY, prop::collection::vec(0u8..3, 0..24)), 0..40)) {
            let long = |(alike, rest): &(bool, Vec<u8>)| match alike {
                true => [&b"t12345678"[..], rest].concat(),
                false => rest.clone(),
            };
            let mut keys: Vec<Vec<u8>> = keys.iter().map(long).collect();
            let mut block = CellBlock::new();
            for key in &keys {
                prop_assert!(block.push(key, |value| value.extend(key.iter().rev())));
            }
            let twice = block.sort();
            keys.sort();
            let found: Vec<Vec<u8>> = block.iter().map(|(key, _)| key.to_vec()).collect();
            prop_assert_eq!(&found, &keys);
            prop_assert!(block.iter().all(|(key, value)| key.iter().rev().eq(value)));
            prop_assert_eq!(twice, keys.windows(2).position(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn keys_that_differ_in_length_alone_are_not_the_same() {
        let mut block = CellBlock::new();
        for key in [&b"t12345678\0"[..], b"t12345678"] {
            assert!(block.push(key, |_| {}));
        }
        assert_eq!(block.sort(), None);
        assert_eq!(block.iter().map(|(key, _)| key.len()).collect::<Vec<_>>(), [9, 10]);
    }
}
