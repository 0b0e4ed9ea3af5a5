//! [`KeptCursors`]: a pool of RocksDB iterators that short reads share. An iterator has a part for each level of
//! tables. Making and dropping it took about a third of a read of a row in RocksDB.
//!
//! An idle cursor pins the memtables and tables of its last refresh. So the pool is emptied from
//! time to time ([`KeptCursors::let_go`]).

use super::log::Database;
use super::reader::versions;
use super::{database_error, key};
use crate::contract::{Cell, Family, TimestampRange};
use crate::error::Result;
use bytes::Bytes;
use parking_lot::Mutex;
use rocksdb::{DBRawIterator, ReadOptions};
use std::sync::Arc;

/// The most idle cursors of a kind: as many as threads may read at the same time.
const MOST: usize = 16;
/// How many removed cells a range cursor may skip before it gives up. It has no upper bound, so it could run into
/// removed cells behind the wanted range. See [`KeptCursors::range`].
const MOST_SKIPPED: u64 = 256;

self_cell::self_cell! {
    struct Cursor {
        owner: Arc<Database>,
        #[covariant]
        dependent: DBRawIterator,
    }
}

/// The use of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stays within the row that it was set to.
    Row,
    /// Moves from row to row.
    Range,
}

fn make(database: &Database, kind: Kind) -> Result<DBRawIterator<'_>> {
    let mut options = ReadOptions::default();
    match kind {
        Kind::Row => database.row_iterator(Family::Write, options),
        Kind::Range => {
            options.set_total_order_seek(true);
            options.set_max_skippable_internal_keys(MOST_SKIPPED);
            Ok(database.rocks().raw_iterator_cf_opt(database.family(Family::Write)?, options))
        }
    }
}

fn newest_in(cursor: &mut DBRawIterator<'_>, prefix: &[u8], range: TimestampRange) -> Result<Option<Cell>> {
    let mut newest = None;
    versions(cursor, prefix, range, &mut |timestamp, value| {
        newest = Some(Cell { family: Family::Write, timestamp, value: Bytes::copy_from_slice(value) });
        false
    })?;
    Ok(newest)
}

/// A pool of cursors over [`Family::Write`]. See the module documentation.
pub struct KeptCursors {
    database: Arc<Database>,
    rows: Mutex<Vec<Cursor>>,
    ranges: Mutex<Vec<Cursor>>,
}

impl KeptCursors {
    /// A pool without cursors.
    pub fn new(database: Arc<Database>) -> KeptCursors {
        KeptCursors { database, rows: Mutex::default(), ranges: Mutex::default() }
    }

    fn with<T>(&self, kind: Kind, read: impl FnOnce(&mut DBRawIterator<'_>) -> Result<T>) -> Result<T> {
        let idle = match kind {
            Kind::Row => &self.rows,
            Kind::Range => &self.ranges,
        };
        let kept = idle.lock().pop();
        let mut cursor = match kept {
            Some(mut cursor) => {
                cursor.with_dependent_mut(|_, iterator| iterator.refresh()).map_err(database_error)?;
                cursor
            }
            None => Cursor::try_new(self.database.clone(), |database| make(database, kind))?,
        };
        // A cursor that failed does not return to the pool.
        let answer = cursor.with_dependent_mut(|_, iterator| read(iterator))?;
        let mut idle = idle.lock();
        if idle.len() < MOST {
            idle.push(cursor);
        }
        Ok(answer)
    }

    /// Reads the newest cell of each of `items`, as of now, and calls `found` with it. `asks` tells the item's row
    /// key and range of timestamps. Errors: those of the database.
    pub fn newest<I>(
        &self,
        items: &mut [I],
        asks: impl Fn(&I) -> (&[u8], TimestampRange),
        mut found: impl FnMut(&mut I, Option<Cell>),
    ) -> Result<()> {
        self.with(Kind::Row, |cursor| {
            let mut prefix = Vec::new();
            for item in items {
                let (row, range) = asks(item);
                prefix.clear();
                prefix.reserve(row.len() + key::TIMESTAMP_BYTES + 16);
                key::push_prefix(row, &mut prefix);
                let newest = newest_in(cursor, &prefix, range)?;
                found(item, newest);
            }
            Ok(())
        })
    }

    /// The newest cell of one row in a range of timestamps.
    pub fn newest_of(&self, row: &[u8], range: TimestampRange) -> Result<Option<Cell>> {
        let mut prefix = Vec::with_capacity(row.len() + key::TIMESTAMP_BYTES + 16);
        key::push_prefix(row, &mut prefix);
        self.with(Kind::Row, |cursor| newest_in(cursor, &prefix, range))
    }

    /// Calls `read` with a cursor for a few consecutive rows, which sees everything written before the call. The
    /// cursor has no bounds and no position. It fails with `Incomplete` if it meets too many removed cells.
    pub fn range<T>(&self, read: impl FnOnce(&mut DBRawIterator<'_>) -> Result<T>) -> Result<T> {
        self.with(Kind::Range, read)
    }

    /// Drops all idle cursors.
    pub fn let_go(&self) {
        for idle in [&self.rows, &self.ranges] {
            let idle = std::mem::take(&mut *idle.lock());
            drop(idle);
        }
    }

    /// The numbers of idle cursors for rows and for ranges.
    #[cfg(test)]
    pub fn idle(&self) -> (usize, usize) {
        (self.rows.lock().len(), self.ranges.lock().len())
    }
}
