//! [`divide`] and [`cut`]: keys that cut a range of rows into pieces of about the same size.
//!
//! They bisect between the first and the last key, using RocksDB's approximate sizes of ranges in its tables.
//! Both run before each large scan, and for each tablet that may be split. So they read rows only where a
//! range begins and ends.

use super::log::Database;
use super::reader::ScanBounds;
use super::{approximate_family_bytes, database_error, key};
use crate::contract::Family;
use crate::error::{Result, StoreError};
use bytes::Bytes;
use rocksdb::{DBRawIterator, ReadOptions};

/// Bisection steps before the interval is narrowed to keys of existing rows.
const STEPS: usize = 8;
/// The most times that the interval is narrowed.
const ROUNDS: usize = 16;
/// A piece may deviate from its wanted size by one part in this many.
const TOLERANCE: u64 = 32;
/// RocksDB's property for the bytes in a family's memtables.
const MEMTABLES: &str = "rocksdb.cur-size-all-mem-tables";
/// How many bytes behind the common prefix of two keys are interpolated.
const DIGITS: usize = 8;

/// Keys that divide the rows between two bounds into at most `pieces` pieces, fewer if there is little between them.
/// Errors: those of the database.
pub fn divide(database: &Database, bounds: &ScanBounds, pieces: usize) -> Result<Vec<Bytes>> {
    let rows = Rows { database, family: Family::Write, bounds };
    // RocksDB does not tell where in its memtables rows lie, so they are assumed to be spread evenly.
    let in_memory = database.rocks().property_int_value_cf(database.family(Family::Write)?, MEMTABLES);
    rows.cuts(in_memory.map_err(database_error)?.unwrap_or(0), pieces)
}

/// Like [`divide`] for the rows of one family, by the sizes in tables alone.
pub fn cut(database: &Database, family: Family, bounds: &ScanBounds, pieces: usize) -> Result<Vec<Bytes>> {
    Rows { database, family, bounds }.cuts(0, pieces)
}

/// The rows of one family between two bounds.
struct Rows<'a> {
    database: &'a Database,
    family: Family,
    bounds: &'a ScanBounds,
}

impl Rows<'_> {
    fn cuts(&self, in_memory: u64, pieces: usize) -> Result<Vec<Bytes>> {
        let mut iterator = self.iterator()?;
        let (Some(first), Some(last)) = (self.first(&mut iterator, None)?, self.last(&mut iterator, None)?) else {
            return Ok(Vec::new());
        };
        let (least, most) = (number(&first, &last, &first), number(&first, &last, &last));
        let bytes_to = |key: &[u8]| {
            let (lower, upper) = (self.bounds.lower.clone(), Some(key::bound(key)));
            let in_files = approximate_family_bytes(self.database, self.family, &ScanBounds { lower, upper })?;
            let at = number(&first, &last, key).clamp(least, most);
            let part = u128::from(in_memory) * u128::from(at - least) / u128::from((most - least).max(1));
            Ok::<_, StoreError>(in_files + u64::try_from(part).unwrap_or(u64::MAX))
        };
        let all = approximate_family_bytes(self.database, self.family, self.bounds)? + in_memory;
        let piece = all / (pieces as u64).max(1);
        let mut keys: Vec<Bytes> = Vec::new();
        for number in 1..pieces as u64 {
            let ends = (first.clone(), last.clone());
            let key = self.key_at(&mut iterator, ends, (piece * number, piece / TOLERANCE), &bytes_to)?;
            if key > first && key <= last && keys.last().is_none_or(|before| *before < key) {
                keys.push(key.into());
            }
        }
        Ok(keys)
    }

    /// A key between those of two rows, `wanted` bytes behind the lower bound, up to `tolerance` off.
    fn key_at(
        &self,
        iterator: &mut DBRawIterator<'_>,
        (mut first, mut last): (Vec<u8>, Vec<u8>),
        (wanted, tolerance): (u64, u64),
        bytes_to: &impl Fn(&[u8]) -> Result<u64>,
    ) -> Result<Vec<u8>> {
        for _ in 0..ROUNDS {
            let (mut low, mut high) = (number(&first, &last, &first), number(&first, &last, &last));
            for _ in 0..STEPS {
                let middle = low + (high - low) / 2;
                match bytes_to(&key_of(&first, &last, middle))? < wanted {
                    true => low = middle,
                    false => high = middle,
                }
            }
            let [before, found] = [low, high].map(|number| key_of(&first, &last, number));
            if bytes_to(&found)?.saturating_sub(bytes_to(&before)?) <= tolerance {
                return Ok(found);
            }
            // If keys are dense, they cover a small part of the number range, so the interval is
            // narrowed to existing rows.
            let behind = high.checked_add(1).map(|number| key_of(&first, &last, number));
            let from = self.first(iterator, Some(&before))?.unwrap_or_else(|| first.clone()).max(first.clone());
            let to = self.last(iterator, behind.as_deref())?.unwrap_or_else(|| last.clone()).min(last.clone());
            if from >= to || (&from, &to) == (&first, &last) {
                return Ok(to);
            }
            (first, last) = (from, to);
        }
        Ok(last)
    }

    fn iterator(&self) -> Result<DBRawIterator<'_>> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        options.set_iterate_lower_bound(self.bounds.lower.clone());
        if let Some(upper) = &self.bounds.upper {
            options.set_iterate_upper_bound(upper.clone());
        }
        Ok(self.database.rocks().raw_iterator_cf_opt(self.database.family(self.family)?, options))
    }

    /// The key of the first row, or of the first at or behind `from`.
    fn first(&self, iterator: &mut DBRawIterator<'_>, from: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        match from {
            Some(from) => iterator.seek(key::bound(from)),
            None => iterator.seek_to_first(),
        }
        row_key(iterator)
    }

    /// The key of the last row, or of the last before `to`.
    fn last(&self, iterator: &mut DBRawIterator<'_>, to: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        match to {
            Some(to) => iterator.seek_for_prev(key::bound(to)),
            None => iterator.seek_to_last(),
        }
        row_key(iterator)
    }
}

/// The key of the row at which an iterator stands.
fn row_key(iterator: &DBRawIterator<'_>) -> Result<Option<Vec<u8>>> {
    let mut row = Vec::new();
    let stands = iterator.key().is_some_and(|found| key::decode_into(key::prefix_of(found), &mut row));
    iterator.status().map_err(database_error)?;
    Ok(stands.then_some(row))
}

fn common(first: &[u8], last: &[u8]) -> usize {
    first.iter().zip(last).take_while(|(a, b)| a == b).count()
}

/// The bytes of a key behind the common prefix of `first` and `last`, as a number.
fn number(first: &[u8], last: &[u8], key: &[u8]) -> u64 {
    let mut digits = [0; DIGITS];
    let rest = key.get(common(first, last)..).unwrap_or_default();
    for (digit, byte) in digits.iter_mut().zip(rest) {
        *digit = *byte;
    }
    u64::from_be_bytes(digits)
}

/// The key with this number behind the common prefix of `first` and `last`.
fn key_of(first: &[u8], last: &[u8], number: u64) -> Vec<u8> {
    let mut key = first.get(..common(first, last)).unwrap_or_default().to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::maintenance::bounds;
    use super::super::tests::{commit, open, small};
    use crate::bulk::CellBlock;
    use crate::contract::{BulkLoad, Family, RowRange, Store};
    use crate::timestamp::Timestamp;
    use bytes::Bytes;
    use futures::executor::block_on;

    #[test]
    fn pieces_are_of_about_the_same_size() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let range = RowRange::prefix("t");
        assert_eq!(block_on(store.divide(&range, 4)).unwrap(), Vec::<Bytes>::new());
        let at = commit(&store, &["s", "u"], "x");
        let mut block = CellBlock::new();
        // The keys are spread unevenly.
        let keys: Vec<Vec<u8>> =
            (0..40_000u64).map(|number| [b"table".as_slice(), &(number * number).to_be_bytes()].concat()).collect();
        for (number, key) in keys.iter().enumerate() {
            // Incompressible values.
            let noise = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            assert!(block.push(key, |out| {
                (0..12u8).for_each(|turn| out.extend(noise.map(|byte| byte.rotate_left(turn.into()) ^ turn)))
            }));
        }
        block_on(store.load(Timestamp(at.0 - 1), block)).unwrap();
        let cuts = block_on(store.divide(&range, 4)).unwrap();
        assert_eq!(cuts.len(), 3, "{cuts:?}");
        let behind = |cut: &Bytes| keys.partition_point(|key| key[..] < cut[..]);
        let sizes: Vec<usize> = [0]
            .into_iter()
            .chain(cuts.iter().map(behind))
            .zip(cuts.iter().map(behind).chain([keys.len()]))
            .map(|(from, to)| to - from)
            .collect();
        assert!(sizes.iter().all(|size| (7_000..13_000).contains(size)), "{sizes:?}");
        assert_eq!(block_on(store.divide(&RowRange::prefix("s"), 4)).unwrap(), Vec::<Bytes>::new());
        // All rows, whose keys have no common prefix.
        let cuts = super::cut(&store.database, Family::Write, &bounds(&RowRange::all()), 8).unwrap();
        let sizes: Vec<usize> = cuts.windows(2).map(|pair| behind(&pair[1]) - behind(&pair[0])).collect();
        assert!(cuts.len() == 7 && sizes.iter().all(|size| (4_000..6_000).contains(size)), "{sizes:?}");
    }
}
