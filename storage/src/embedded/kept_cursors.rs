//! [`KeptCursors`]: cursors that are kept from one short read to the next. One has a part for each level of tables; to make and to
//! drop it was about a third of what a read of a row took in RocksDB.
//!
//! A cursor that lies here keeps the memtables and tables alive that it was last brought up to date with, so those that nobody
//! asked for lately are let go ([`KeptCursors::let_go`]).

use super::log::Database;
use super::reader::versions;
use super::{database_error, key};
use crate::contract::{Cell, Family, TimestampRange};
use crate::error::Result;
use bytes::Bytes;
use parking_lot::Mutex;
use rocksdb::{DBRawIterator, ReadOptions};
use std::sync::Arc;

/// Cursors of a kind that are kept, at most: as many as threads may read at the same time.
const MOST: usize = 16;
/// A cursor for ranges knows no end: behind the range that is read there may lie what was removed, which it would step over for
/// nothing. After so many it gives up, see [`KeptCursors::range`].
const MOST_SKIPPED: u64 = 256;

self_cell::self_cell! {
    struct Cursor {
        owner: Arc<Database>,
        #[covariant]
        dependent: DBRawIterator,
    }
}

/// What a cursor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stays within the row that it was set to.
    Row,
    /// Goes from row to row.
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

/// See the head of the module. They read [`Family::Write`].
pub struct KeptCursors {
    database: Arc<Database>,
    rows: Mutex<Vec<Cursor>>,
    ranges: Mutex<Vec<Cursor>>,
}

impl KeptCursors {
    /// None yet.
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
        // A cursor that failed is not used again.
        let answer = cursor.with_dependent_mut(|_, iterator| read(iterator))?;
        let mut idle = idle.lock();
        if idle.len() < MOST {
            idle.push(cursor);
        }
        Ok(answer)
    }

    /// For each of `items`, whose row key and range of timestamps `asks` tells: calls `found` with the newest cell there is, of all
    /// that was written before the call. Errors of the database.
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

    /// The same of one row.
    pub fn newest_of(&self, row: &[u8], range: TimestampRange) -> Result<Option<Cell>> {
        let mut prefix = Vec::with_capacity(row.len() + key::TIMESTAMP_BYTES + 16);
        key::push_prefix(row, &mut prefix);
        self.with(Kind::Row, |cursor| newest_in(cursor, &prefix, range))
    }

    /// Calls `read` with a cursor for a few rows that follow each other, which sees all that was written before the call. It has no
    /// bounds, stands nowhere, and fails with `Incomplete` when it meets too many cells that were removed.
    pub fn range<T>(&self, read: impl FnOnce(&mut DBRawIterator<'_>) -> Result<T>) -> Result<T> {
        self.with(Kind::Range, read)
    }

    /// Lets all go that are not being read with.
    pub fn let_go(&self) {
        for idle in [&self.rows, &self.ranges] {
            let idle = std::mem::take(&mut *idle.lock());
            drop(idle);
        }
    }

    /// How many lie here, for rows and for ranges.
    #[cfg(test)]
    pub fn idle(&self) -> (usize, usize) {
        (self.rows.lock().len(), self.ranges.lock().len())
    }
}
