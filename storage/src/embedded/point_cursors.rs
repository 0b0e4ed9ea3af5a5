//! [`PointCursors`]: cursors that find single rows, kept from one read to the next. One has a part for each level of tables; to
//! make and to drop it was about a third of what a read took in RocksDB. Must not know what else is kept of rows.
//!
//! A cursor that lies here keeps the memtables and tables alive that it was last brought up to date with, so those that nobody
//! asked for lately are let go ([`PointCursors::let_go`]).

use super::log::Database;
use super::reader::versions;
use super::{database_error, key};
use crate::contract::{Cell, Family, TimestampRange};
use crate::error::Result;
use bytes::Bytes;
use parking_lot::Mutex;
use rocksdb::{DBRawIterator, ReadOptions};
use std::sync::Arc;

/// Cursors that are kept, at most: as many as threads may read at the same time.
const MOST: usize = 16;

self_cell::self_cell! {
    struct Cursor {
        owner: Arc<Database>,
        #[covariant]
        dependent: DBRawIterator,
    }
}

/// See the head of the module. They read [`Family::Write`].
pub struct PointCursors {
    database: Arc<Database>,
    idle: Mutex<Vec<Cursor>>,
}

impl PointCursors {
    /// None yet.
    pub fn new(database: Arc<Database>) -> PointCursors {
        PointCursors { database, idle: Mutex::default() }
    }

    /// Calls `read` with a cursor that sees all that was written before the call, and stays within the row that it was set to.
    /// Errors of the database, and those of `read`.
    fn with<T>(&self, read: impl FnOnce(&mut DBRawIterator<'_>) -> Result<T>) -> Result<T> {
        let kept = self.idle.lock().pop();
        let mut cursor = match kept {
            Some(mut cursor) => {
                cursor.with_dependent_mut(|_, iterator| iterator.refresh()).map_err(database_error)?;
                cursor
            }
            None => Cursor::try_new(self.database.clone(), |database| {
                database.row_iterator(Family::Write, ReadOptions::default())
            })?,
        };
        // A cursor that failed is not used again.
        let answer = cursor.with_dependent_mut(|_, iterator| read(iterator))?;
        let mut idle = self.idle.lock();
        if idle.len() < MOST {
            idle.push(cursor);
        }
        Ok(answer)
    }

    /// The newest cell of a row in a range of timestamps, of all that was written before the call. Errors of the database.
    pub fn newest(&self, row: &[u8], range: TimestampRange) -> Result<Option<Cell>> {
        let mut prefix = Vec::with_capacity(row.len() + key::TIMESTAMP_BYTES + 16);
        key::push_prefix(row, &mut prefix);
        let mut newest = None;
        self.with(|cursor| {
            versions(cursor, &prefix, range, &mut |timestamp, value| {
                newest = Some(Cell { family: Family::Write, timestamp, value: Bytes::copy_from_slice(value) });
                false
            })
        })?;
        Ok(newest)
    }

    /// Lets all go that are not being read with.
    pub fn let_go(&self) {
        let idle = std::mem::take(&mut *self.idle.lock());
        drop(idle);
    }

    /// How many lie here.
    #[cfg(test)]
    pub fn idle(&self) -> usize {
        self.idle.lock().len()
    }
}
