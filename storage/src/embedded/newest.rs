//! [`Newest`]: a batch of rows of one cell each, in key order: the newest in a range of timestamps. Keys and values lie in one
//! piece of memory.

use super::key;
use super::reader::{Cursor, EXAMINED_ROWS, STEPS_BEFORE_SEEK};
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;

/// Rows of the first batch that there is room for at once, and bytes for each.
const FIRST_ROWS: usize = 16;
const ROW_BYTES: usize = 64;

/// A batch ends behind the row with which it has so many bytes.
const MOST_BYTES: usize = 1 << 20;

/// See the head of the module.
#[derive(Debug, Default)]
pub struct Newest {
    /// Prefix of the row that was looked at last: what follows of it is older.
    pub done: Vec<u8>,
    batch: PackedRows,
    scratch: Vec<u8>,
    /// Bytes and rows of the batch before: the next needs about as many.
    before: (usize, usize),
    head: Head,
}

/// What the keys of a scan begin with, escaped and as it is: those of one table are alike.
#[derive(Debug, Default)]
struct Head {
    escaped: Vec<u8>,
    plain: Vec<u8>,
}

/// So many bytes of a key are held for alike.
const HEAD_BYTES: usize = 9;

impl Newest {
    /// Takes at most `limit` rows from where the cursor stands, after a look at [`EXAMINED_ROWS`] at most. Whether that was all.
    pub fn collect(&mut self, cursor: &mut Cursor<'_>, limit: usize) -> Result<bool> {
        let Cursor { wanted, iterator } = cursor;
        let (bytes, rows) = self.before;
        let bytes = bytes.max(FIRST_ROWS * ROW_BYTES).min(limit.saturating_mul(4 * ROW_BYTES));
        self.batch = PackedRows::with_capacity(bytes, rows.max(FIRST_ROWS).min(limit));
        let (mut steps, mut examined) = (0, 0);
        while let Some((cell_key, value)) = iterator.item() {
            let Some((prefix, timestamp)) = key::split(cell_key) else {
                return Err(StoreError::Corrupted(format!("no cell key: {cell_key:02x?}")));
            };
            let done = prefix == self.done;
            if done || timestamp > wanted.range.to {
                steps += 1;
                if steps <= STEPS_BEFORE_SEEK {
                    iterator.next();
                    continue;
                }
                steps = 0;
                self.scratch.clear();
                self.scratch.extend_from_slice(prefix);
                match done {
                    true => key::to_end_of_row(&mut self.scratch),
                    false => key::push_timestamp(wanted.range.to, &mut self.scratch),
                }
                iterator.seek(&self.scratch);
                continue;
            }
            if self.batch.len() == limit || examined == EXAMINED_ROWS || self.batch.bytes() >= MOST_BYTES {
                return Ok(false);
            }
            examined += 1;
            steps = 0;
            self.done.clear();
            self.done.extend_from_slice(prefix);
            if timestamp >= wanted.range.from {
                let head = &mut self.head;
                if !self.batch.push(|out| head.decode(prefix, out), timestamp, value) {
                    return Err(StoreError::Corrupted(format!("no row key: {prefix:02x?}")));
                }
            }
            iterator.next();
        }
        iterator.status().map_err(super::database_error)?;
        Ok(true)
    }

    /// The rows that were taken.
    pub fn rows(&mut self) -> PackedRows {
        self.before = (self.batch.bytes(), self.batch.len());
        std::mem::take(&mut self.batch)
    }
}

impl Head {
    /// Appends the row key of a prefix. False when the prefix is none.
    fn decode(&mut self, prefix: &[u8], out: &mut Vec<u8>) -> bool {
        match prefix.strip_prefix(self.escaped.as_slice()) {
            Some(rest) if !self.escaped.is_empty() => {
                out.extend_from_slice(&self.plain);
                key::append_decoded(rest, out)
            }
            // Another table's, or the first.
            _ => {
                let from = out.len();
                let decoded = key::append_decoded(prefix, out);
                let common = out.get(from..).and_then(|key| key.get(..HEAD_BYTES)).unwrap_or_default();
                self.plain.clear();
                self.plain.extend_from_slice(common);
                self.escaped.clear();
                key::push_bound(common, &mut self.escaped);
                decoded
            }
        }
    }
}
