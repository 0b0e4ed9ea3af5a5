//! [`Newest`]: a batch of rows of one cell each, in the order of the scan: the newest in a range of timestamps. Keys and values
//! lie in one piece of memory.

use super::reader::{EXAMINED_ROWS, SHORT_ROWS, STEPS_BEFORE_SEEK, ScanBounds};
use super::{key, maintenance};
use crate::contract::{RowRange, TimestampRange};
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use rocksdb::{DBRawIterator, ErrorKind};

/// Rows of the first batch that there is room for at once, and bytes for each.
const FIRST_ROWS: usize = 16;
const ROW_BYTES: usize = 64;

/// A batch ends behind the row with which it has so many bytes.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Where a batch is read.
pub struct Course<'c, 'd> {
    /// Stands where the batch begins, and stays within its bounds,
    pub iterator: &'c mut DBRawIterator<'d>,
    /// but for those that it does not know.
    pub within: Option<&'c ScanBounds>,
    /// Of the cells.
    pub range: TimestampRange,
}

/// Where a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// There are no more rows.
    Scan,
    /// Behind [`Newest::done`].
    Row,
    /// The iterator gave up before that row was complete, or before the first when nothing is done: it is not in the batch.
    Within,
}

/// See the head of the module.
#[derive(Debug, Default)]
pub struct Newest {
    /// Prefix of the row that was looked at last: forwards, what follows of it is older.
    pub done: Vec<u8>,
    batch: PackedRows,
    scratch: Vec<u8>,
    /// Backwards: the newest cell so far of the row that is looked at.
    candidate: Option<(Timestamp, Vec<u8>)>,
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
    /// A batch begins, of at most `limit` rows.
    pub fn begin(&mut self, limit: usize) {
        let (bytes, rows) = self.before;
        let bytes = bytes.max(FIRST_ROWS * ROW_BYTES).min(limit.saturating_mul(4 * ROW_BYTES));
        self.batch = PackedRows::with_capacity(bytes, rows.max(FIRST_ROWS).min(limit));
    }

    fn is_full(&self, limit: usize, examined: usize) -> bool {
        self.batch.len() == limit || examined == EXAMINED_ROWS || self.batch.bytes() >= MOST_BYTES
    }

    /// Takes rows, forwards, until the batch has `limit`, after a look at [`EXAMINED_ROWS`] at most.
    pub fn collect(&mut self, course: Course<'_, '_>, limit: usize) -> Result<End> {
        let Course { iterator, within, range } = course;
        let upper = within.and_then(|bounds| bounds.upper.as_deref());
        let (mut steps, mut examined) = (0, 0);
        while let Some((cell_key, value)) = iterator.item() {
            if upper.is_some_and(|upper| cell_key >= upper) {
                return Ok(End::Scan);
            }
            let (prefix, timestamp) = parts(cell_key)?;
            let done = prefix == self.done;
            if done || timestamp > range.to {
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
                    false => key::push_timestamp(range.to, &mut self.scratch),
                }
                iterator.seek(&self.scratch);
                continue;
            }
            if self.is_full(limit, examined) {
                return Ok(End::Row);
            }
            examined += 1;
            steps = 0;
            self.done.clear();
            self.done.extend_from_slice(prefix);
            if timestamp >= range.from {
                push(&mut self.head, &mut self.batch, prefix, timestamp, value)?;
            }
            iterator.next();
        }
        // Whatever follows of the last row is older than what was taken.
        Ok(if ended(iterator)? { End::Scan } else { self.given_up(End::Row) })
    }

    /// The same backwards.
    pub fn collect_reverse(&mut self, course: Course<'_, '_>, limit: usize) -> Result<End> {
        let Course { iterator, within, range } = course;
        self.candidate = None;
        let (mut steps, mut examined) = (0, 0);
        while let Some((cell_key, value)) = iterator.item() {
            if within.is_some_and(|bounds| cell_key < &bounds.lower[..]) {
                self.take_candidate()?;
                return Ok(End::Scan);
            }
            let (prefix, timestamp) = parts(cell_key)?;
            if prefix != self.done {
                self.take_candidate()?;
                if self.is_full(limit, examined) {
                    return Ok(End::Row);
                }
                examined += 1;
                steps = 0;
                self.done.clear();
                self.done.extend_from_slice(prefix);
            }
            steps += 1;
            if steps <= STEPS_BEFORE_SEEK {
                // The oldest comes first.
                if range.contains(timestamp) {
                    self.propose(timestamp, value);
                }
                iterator.prev();
                continue;
            }
            // Many versions: the newest wanted is sought.
            self.scratch.clear();
            self.scratch.extend_from_slice(&self.done);
            key::push_timestamp(range.to, &mut self.scratch);
            iterator.seek(&self.scratch);
            match iterator.item().map(|(cell_key, value)| (key::split(cell_key), value)) {
                Some((Some((prefix, timestamp)), value)) if prefix == self.done && timestamp >= range.from => {
                    self.propose(timestamp, value);
                }
                _ if !iterator.valid() && !ended(iterator)? => return Ok(self.given_up(End::Within)),
                _ => {}
            }
            iterator.seek_for_prev(&self.done);
        }
        if !ended(iterator)? {
            return Ok(self.given_up(End::Within));
        }
        self.take_candidate()?;
        Ok(End::Scan)
    }

    fn given_up(&self, end: End) -> End {
        if self.done.is_empty() { End::Within } else { end }
    }

    fn propose(&mut self, timestamp: Timestamp, value: &[u8]) {
        let (of, bytes) = self.candidate.get_or_insert_default();
        *of = timestamp;
        bytes.clear();
        bytes.extend_from_slice(value);
    }

    /// The row that was looked at is complete.
    fn take_candidate(&mut self) -> Result<()> {
        match self.candidate.take() {
            Some((timestamp, value)) => push(&mut self.head, &mut self.batch, &self.done, timestamp, &value),
            None => Ok(()),
        }
    }

    /// Takes the rows of short ranges, in key order and disjoint, each from its start to its end; answers how many. The first
    /// that is not short, or with which the batch would have more than `limit` rows, ends it and leaves nothing in it.
    pub fn collect_short(
        &mut self,
        iterator: &mut DBRawIterator<'_>,
        ranges: &[RowRange],
        range: TimestampRange,
        limit: usize,
    ) -> Result<usize> {
        for (at, rows) in ranges.iter().enumerate() {
            let bounds = maintenance::bounds(rows);
            // Behind the range before it stands at the first cell that follows, which may be in this one.
            if at == 0 || iterator.key().is_some_and(|key| key < &bounds.lower[..]) {
                iterator.seek(&bounds.lower);
            }
            let before = self.batch.len();
            let most = limit.min(before.saturating_add(SHORT_ROWS));
            self.done.clear();
            let end = self.collect(Course { iterator, within: Some(&bounds), range }, most)?;
            if end != End::Scan {
                self.batch.truncate(before);
                return Ok(at);
            }
        }
        Ok(ranges.len())
    }

    /// The rows that were taken.
    pub fn rows(&mut self) -> PackedRows {
        self.before = (self.batch.bytes(), self.batch.len());
        std::mem::take(&mut self.batch)
    }
}

fn parts(cell_key: &[u8]) -> Result<(&[u8], Timestamp)> {
    key::split(cell_key).ok_or_else(|| StoreError::Corrupted(format!("no cell key: {cell_key:02x?}")))
}

fn push(head: &mut Head, batch: &mut PackedRows, prefix: &[u8], timestamp: Timestamp, value: &[u8]) -> Result<()> {
    match batch.push(|out| head.decode(prefix, out), timestamp, value) {
        true => Ok(()),
        false => Err(StoreError::Corrupted(format!("no row key: {prefix:02x?}"))),
    }
}

/// Whether an iterator that stands nowhere is at the end; if not, it gave up.
fn ended(iterator: &DBRawIterator<'_>) -> Result<bool> {
    match iterator.status() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Incomplete => Ok(false),
        Err(error) => Err(super::database_error(error)),
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
