//! Reads of the newest cells of rows by key, from the row cache and, for the rest, from RocksDB.

use super::reader::ScanBounds;
use super::row_cache::{self, Known, Missed, block};
use super::{EmbeddedStore, key, leaf_reader, reader};
use crate::contract::{Cell, Family, FamilyFilter, Row, TimestampRange};
use crate::error::Result;
use bytes::Bytes;
use smallvec::smallvec;

/// Reads of more keys than this bypass the row cache, because such a client does not soon read the same rows again.
const KEYS_BY_LOOKUP: usize = 256;

/// The length of a row's value in bytes. Zero if there is no row.
fn bytes_of(newest: Option<&Cell>) -> usize {
    newest.map_or(0, |newest| newest.value.len())
}

impl EmbeddedStore {
    /// [`Store::read`](crate::Store::read) for one cell of [`Family::Write`]. Cached rows need no seek; the others share one cursor.
    pub(super) fn read_newest(&self, keys: &[Bytes], wanted: &FamilyFilter) -> Result<Vec<Row>> {
        if let [key] = keys {
            let row = |cell| Row { key: key.clone(), cells: smallvec![cell] };
            return Ok(self.newest_cell(key, wanted)?.map(row).into_iter().collect());
        }
        if keys.len() > KEYS_BY_LOOKUP && self.is_nothing_between(keys)? {
            return Ok(Vec::new());
        }
        let find = |key: &Bytes| match keys.len() <= KEYS_BY_LOOKUP {
            true => self.hot.rows.find(key, wanted),
            // The cache is bypassed, so the database is read for the wanted range alone.
            false => Known::Newer,
        };
        let mut known: Vec<Known> = keys.iter().map(find).collect();
        let mut wanted_leaves = Vec::new();
        // At most twice, because a missed row may turn out to have a newer cell. All keys are looked up before a
        // cursor is taken: the cursor must see all changes up to the misses.
        loop {
            let sought = known.iter_mut().zip(keys).filter(|(known, _)| known.is_sought());
            let mut sought: Vec<(&mut Known, &Bytes)> = sought.collect();
            if sought.is_empty() {
                break;
            }
            self.cursors.newest(
                &mut sought,
                |(known, key)| (&key[..], known.range(wanted)),
                |(known, key), cell| {
                    if let Known::Missed(word) = **known
                        && word.is_wanted()
                    {
                        wanted_leaves.push((word, *key, bytes_of(cell.as_ref())));
                    }
                    **known = match (&**known, cell) {
                        (_, None) => Known::Nothing,
                        (Known::Missed(word), Some(newest)) => {
                            self.hot.rows.keep(*word, key, &newest);
                            row_cache::answer(&newest, wanted)
                        }
                        (_, Some(cell)) => Known::Cell(cell),
                    };
                },
            )?;
        }
        for (word, key, bytes) in wanted_leaves {
            self.read_leaf(word, key, bytes)?;
        }
        let row = |(known, key): (Known, &Bytes)| match known {
            Known::Cell(cell) => Some(Row { key: key.clone(), cells: smallvec![cell] }),
            _ => None,
        };
        Ok(known.into_iter().zip(keys).filter_map(row).collect())
    }

    /// Whether the keys are in order and no row lies between the first and the last. A load that appends rows asks
    /// for each new key, and this check answers them all at once.
    fn is_nothing_between(&self, keys: &[Bytes]) -> Result<bool> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(true) };
        if !keys.is_sorted() {
            return Ok(false);
        }
        let mut upper = Vec::with_capacity(2 * last.len() + 2);
        key::push_prefix(last, &mut upper);
        key::to_end_of_row(&mut upper);
        let bounds = ScanBounds { lower: key::bound(first), upper: Some(upper) };
        reader::is_empty(&self.database, Family::Write, bounds)
    }

    pub(super) fn newest_cell(&self, key: &[u8], wanted: &FamilyFilter) -> Result<Option<Cell>> {
        let word = match self.hot.rows.find(key, wanted) {
            Known::Cell(found) => return Ok(Some(found)),
            Known::Nothing => return Ok(None),
            Known::Newer => return self.cursors.newest_of(key, wanted.range),
            Known::Missed(word) => word,
        };
        let newest = self.cursors.newest_of(key, TimestampRange::ALL)?;
        self.read_leaf(word, key, bytes_of(newest.as_ref()))?;
        let Some(newest) = newest else { return Ok(None) };
        self.hot.rows.keep(word, key, &newest);
        match row_cache::answer(&newest, wanted) {
            Known::Cell(found) => Ok(Some(found)),
            Known::Newer => self.cursors.newest_of(key, wanted.range),
            Known::Nothing | Known::Missed(_) => Ok(None),
        }
    }

    /// After a miss, reads and caches the whole leaf of `key` if several of its rows were missed. The missed
    /// value has `bytes` bytes.
    fn read_leaf(&self, missed: Missed, key: &[u8], bytes: usize) -> Result<()> {
        match block::split(key) {
            Some((prefix, _)) => leaf_reader::read(&self.cursors, &self.hot.rows, missed, prefix, bytes),
            None => Ok(()),
        }
    }
}
