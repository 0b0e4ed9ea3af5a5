//! [`divide`]: keys that cut a range of rows into pieces of about the same size, found between its first and last key by the sizes that
//! RocksDB knows of ranges of its tables. Must not read rows: it is asked before each large scan.

use super::log::Database;
use super::reader::ScanBounds;
use super::{approximate_family_bytes, database_error, key};
use crate::contract::Family;
use crate::error::{Result, StoreError};
use bytes::Bytes;
use rocksdb::ReadOptions;

/// Halvings of the distance between two keys: a piece is as large as it should be, to some hundredths.
const STEPS: usize = 8;
/// RocksDB's name for the bytes of a family's memtables.
const MEMTABLES: &str = "rocksdb.cur-size-all-mem-tables";
/// Bytes behind what two keys have in common that are divided.
const DIGITS: usize = 8;

/// Keys that divide the rows between two bounds into at most `pieces`; fewer when there is little between them. Errors of the database.
pub fn divide(database: &Database, bounds: &ScanBounds, pieces: usize) -> Result<Vec<Bytes>> {
    let Some((first, last)) = ends(database, bounds)? else { return Ok(Vec::new()) };
    let (least, most) = (number(&first, &last, &first), number(&first, &last, &last));
    // RocksDB does not tell where in memory the others lie: evenly, perhaps.
    let in_memory = database.rocks().property_int_value_cf(database.family(Family::Write)?, MEMTABLES);
    let in_memory = in_memory.map_err(database_error)?.unwrap_or(0);
    let bytes_to = |number: u64| {
        let upper = Some(key::bound(&key_of(&first, &last, number)));
        let lower = bounds.lower.clone();
        let in_files = approximate_family_bytes(database, Family::Write, &ScanBounds { lower, upper })?;
        let part = u128::from(in_memory) * u128::from(number - least) / u128::from((most - least).max(1));
        Ok::<_, StoreError>(in_files + u64::try_from(part).unwrap_or(u64::MAX))
    };
    let all = approximate_family_bytes(database, Family::Write, bounds)? + in_memory;
    let mut keys: Vec<Bytes> = Vec::new();
    for piece in 1..pieces as u64 {
        let wanted = all / pieces as u64 * piece;
        let (mut low, mut high) = (least, most);
        for _ in 0..STEPS {
            let middle = low + (high - low) / 2;
            match bytes_to(middle)? < wanted {
                true => low = middle,
                false => high = middle,
            }
        }
        let key = key_of(&first, &last, high);
        if key > first && key <= last && keys.last().is_none_or(|before| *before < key) {
            keys.push(key.into());
        }
    }
    Ok(keys)
}

/// The first and the last key of the rows between two bounds.
fn ends(database: &Database, bounds: &ScanBounds) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options.set_iterate_lower_bound(bounds.lower.clone());
    if let Some(upper) = &bounds.upper {
        options.set_iterate_upper_bound(upper.clone());
    }
    let mut iterator = database.rocks().raw_iterator_cf_opt(database.family(Family::Write)?, options);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    iterator.seek_to_first();
    let began = iterator.key().is_some_and(|found| key::decode_into(key::prefix_of(found), &mut first));
    iterator.seek_to_last();
    let ended = iterator.key().is_some_and(|found| key::decode_into(key::prefix_of(found), &mut last));
    iterator.status().map_err(database_error)?;
    Ok((began && ended).then_some((first, last)))
}

fn common(first: &[u8], last: &[u8]) -> usize {
    first.iter().zip(last).take_while(|(a, b)| a == b).count()
}

/// The bytes of a key behind what `first` and `last` have in common, as a number.
fn number(first: &[u8], last: &[u8], key: &[u8]) -> u64 {
    let mut digits = [0; DIGITS];
    let rest = key.get(common(first, last)..).unwrap_or_default();
    for (digit, byte) in digits.iter_mut().zip(rest) {
        *digit = *byte;
    }
    u64::from_be_bytes(digits)
}

/// The key that has this number behind what `first` and `last` have in common.
fn key_of(first: &[u8], last: &[u8], number: u64) -> Vec<u8> {
    let mut key = first.get(..common(first, last)).unwrap_or_default().to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::tests::{commit, open, small};
    use crate::bulk::CellBlock;
    use crate::contract::{BulkLoad, RowRange, Store};
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
        // The keys are not spread evenly.
        let keys: Vec<Vec<u8>> =
            (0..40_000u64).map(|number| [b"table".as_slice(), &(number * number).to_be_bytes()].concat()).collect();
        for (number, key) in keys.iter().enumerate() {
            // Values that do not shrink.
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
    }
}
