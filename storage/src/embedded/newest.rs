//! [`Newest`]: reads a batch of rows with one cell each, in scan order: the newest cell in a range of timestamps.
//! Keys and values of a batch share one allocation.

use super::dead_runs::{self, DeadRuns, Watch};
use super::iterator_pool::KeptCursors;
use super::key::{self, Head};
use super::leaf_reader;
use super::range_cache::{Extent, HotRanges, Known};
use super::reader::{EXAMINED_ROWS, SHORT_ROWS, STEPS_BEFORE_SEEK, ScanBounds};
use super::row_cache::walk::{Prefix, Walk, Walked};
use super::row_cache::{HotRows, Missed};
use crate::contract::{Plain, TimestampRange};
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use rocksdb::{DBRawIterator, ErrorKind};
use std::sync::Arc;

/// The rows that the first batch reserves room for. `ROW_BYTES` is reserved for each.
const FIRST_ROWS: usize = 16;
const ROW_BYTES: usize = 64;

/// A batch ends with the row that brings it to this many bytes.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The input of a batch.
pub struct Course<'c, 'd> {
    /// An iterator at the start of the batch.
    pub iterator: &'c mut DBRawIterator<'d>,
    /// Bounds that the iterator itself does not enforce.
    pub within: Option<&'c ScanBounds>,
    /// The timestamps that cells may have.
    pub range: TimestampRange,
    /// Rows that a forward scan leaves out.
    pub dead: Option<&'c Dead>,
}

/// The rows that a scan leaves out, and the known runs of them.
#[derive(Debug)]
pub struct Dead {
    /// Decides by the value of a row's cell.
    pub is: Plain,
    pub runs: Arc<DeadRuns>,
    /// The upper bound of the scan.
    pub upper: Option<Vec<u8>>,
    /// If set, the iterator was made behind this watch, so runs may be noted.
    pub watch: Option<Watch>,
}

/// Consecutive rows that were left out.
#[derive(Debug, Default)]
struct Run {
    /// The prefix of the first row of the run.
    lower: Vec<u8>,
    rows: usize,
    newest: Timestamp,
}

/// The place where a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the end of the scan: there are no more rows.
    Scan,
    /// Behind the row with the prefix [`Newest::done`].
    Row,
    /// The iterator gave up before the first row, if [`Newest::done`] is empty. Otherwise, backwards, it gave up
    /// within that row, which is not in the batch.
    Within,
}

/// Reads batches of the newest cells of rows.
#[derive(Debug, Default)]
pub struct Newest {
    /// Prefix of the last row that was looked at. A forward scan skips the row's further cells, which are older.
    pub done: Vec<u8>,
    batch: PackedRows,
    scratch: Vec<u8>,
    /// Backwards: the timestamp of the newest cell so far of the current row.
    candidate: Option<Timestamp>,
    /// Backwards: the value of that cell.
    value: Vec<u8>,
    /// Bytes and rows of the batch before. The next one reserves as much.
    before: (usize, usize),
    /// Whether rows were left out, or may have cells newer than the wanted range.
    newer: bool,
    /// Forwards: the row at the iterator has a cell newer than the wanted range. A batch may end within such a row.
    is_newer: bool,
    head: Head,
    /// The rows that were left out just before the iterator.
    run: Run,
    /// Whether the rows that were left out should be noted. That requires an iterator made behind a watch.
    pub unwatched: bool,
}

impl Newest {
    /// Starts a batch of at most `limit` rows.
    pub fn begin(&mut self, limit: usize) {
        let (bytes, rows) = self.before;
        let bytes = bytes.max(FIRST_ROWS * ROW_BYTES).min(limit.saturating_mul(4 * ROW_BYTES));
        self.batch = PackedRows::with_capacity(bytes, rows.max(FIRST_ROWS).min(limit));
        self.newer = false;
    }

    fn is_full(&self, limit: usize, examined: usize) -> bool {
        self.batch.len() == limit || examined == EXAMINED_ROWS || self.batch.bytes() >= MOST_BYTES
    }

    /// Reads rows forwards until the batch has `limit` rows. Looks at no more than [`EXAMINED_ROWS`] rows.
    pub fn collect(&mut self, course: Course<'_, '_>, limit: usize) -> Result<End> {
        let Course { iterator, within, range, dead } = course;
        let upper = within.and_then(|bounds| bounds.upper.as_deref());
        let (mut steps, mut examined) = (0, 0);
        while let Some((cell_key, value)) = iterator.item() {
            if let Some(upper) = upper
                && cell_key >= upper
            {
                self.end_run(dead, upper);
                return Ok(End::Scan);
            }
            let (prefix, timestamp) = parts(cell_key)?;
            let done = prefix == self.done;
            if done || timestamp > range.to {
                if !done {
                    // The next row has a cell newer than the wanted range.
                    self.end_run(dead, prefix);
                    (self.newer, self.is_newer) = (true, true);
                }
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
            let was_newer = std::mem::take(&mut self.is_newer);
            if let Some(dead) = dead.filter(|dead| (dead.is)(value)) {
                if was_newer {
                    self.done.clear();
                    self.done.extend_from_slice(prefix);
                    iterator.next();
                    continue;
                }
                if self.run.rows == 0
                    && let Some(end) = dead.runs.end_of(prefix, range.to)
                {
                    self.newer = true;
                    iterator.seek(&end);
                    continue;
                }
                if !self.leave_out(dead, prefix, timestamp) {
                    return Ok(End::Row);
                }
            } else {
                self.end_run(dead, prefix);
                self.done.clear();
                self.done.extend_from_slice(prefix);
                if timestamp >= range.from {
                    push(&mut self.head, &mut self.batch, prefix, timestamp, value)?;
                }
            }
            iterator.next();
        }
        // Further cells of the last row are older than the one taken.
        if !ended(iterator)? {
            return Ok(self.given_up(End::Row));
        }
        if let Some(upper) = dead.and_then(|dead| dead.upper.as_deref()) {
            self.end_run(dead, upper);
        }
        Ok(End::Scan)
    }

    /// Leaves a row out. False: the batch ends before the run, which must be read again behind a watch.
    fn leave_out(&mut self, dead: &Dead, prefix: &[u8], timestamp: Timestamp) -> bool {
        self.newer = true;
        if self.run.rows == 0 {
            self.run.lower.clear();
            self.run.lower.extend_from_slice(prefix);
            self.run.newest = timestamp;
        }
        self.run.rows += 1;
        self.run.newest = self.run.newest.max(timestamp);
        if self.run.rows >= dead_runs::LONG && dead.watch.is_none() {
            self.unwatched = true;
            return false;
        }
        self.done.clear();
        self.done.extend_from_slice(prefix);
        true
    }

    /// Ends the run of rows that were left out.
    fn end_run(&mut self, dead: Option<&Dead>, upper: &[u8]) {
        if let Some(watch) = dead.and_then(|dead| dead.watch.as_ref())
            && self.run.rows >= dead_runs::LONG
        {
            watch.note(&self.run.lower, upper, self.run.newest);
        }
        self.run.rows = 0;
    }

    /// The start of the run that must be read again, if there is one.
    pub fn begin_run_again(&mut self) -> Option<&[u8]> {
        if !std::mem::take(&mut self.unwatched) {
            return None;
        }
        self.run.rows = 0;
        self.done.clear();
        Some(&self.run.lower)
    }

    /// Like [`Newest::collect`], but backwards.
    pub fn collect_reverse(&mut self, course: Course<'_, '_>, limit: usize) -> Result<End> {
        let Course { iterator, within, range, dead: _ } = course;
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
                // The oldest cell comes first.
                if range.contains(timestamp) {
                    self.propose(timestamp, value);
                }
                self.newer |= timestamp > range.to;
                iterator.prev();
                continue;
            }
            // The row has many versions, so seek the newest wanted one.
            self.newer = true;
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
        self.candidate = Some(timestamp);
        self.value.clear();
        self.value.extend_from_slice(value);
    }

    /// Adds the current row, of which all cells were seen.
    fn take_candidate(&mut self) -> Result<()> {
        match self.candidate.take() {
            Some(timestamp) => push(&mut self.head, &mut self.batch, &self.done, timestamp, &self.value),
            None => Ok(()),
        }
    }

    /// Reads the rows of short, disjoint ranges in key order, and answers how many ranges were read. It stops before
    /// a range that is not short, or that would bring the batch to more than `limit` rows. `ranges` holds the cached
    /// rows of each range; without an iterator all must be cached. Rows read from the database are cached in `hot`.
    pub fn collect_short(
        &mut self,
        mut iterator: Option<&mut DBRawIterator<'_>>,
        ranges: &[(ScanBounds, Known)],
        hot: &HotRanges,
        range: TimestampRange,
        limit: usize,
    ) -> Result<usize> {
        let mut moved = false;
        for (at, (bounds, known)) in ranges.iter().enumerate() {
            let before = self.batch.len();
            if let Known::Rows(rows, Extent::All) = known {
                if self.batch.bytes() >= MOST_BYTES || before.saturating_add(rows.len()) > limit {
                    return Ok(at);
                }
                self.batch.append(rows, 0, rows.len(), false);
                continue;
            }
            let Some(iterator) = iterator.as_deref_mut() else { return Ok(at) };
            // After the range before, the iterator stands at the next cell, which may lie in this range.
            if !std::mem::replace(&mut moved, true) || iterator.key().is_some_and(|key| key < &bounds.lower[..]) {
                iterator.seek(&bounds.lower);
            }
            let most = limit.min(before.saturating_add(SHORT_ROWS));
            self.done.clear();
            self.newer = false;
            let end = self.collect(Course { iterator, within: Some(bounds), range, dead: None }, most)?;
            if end != End::Scan {
                self.batch.truncate(before);
                return Ok(at);
            }
            if let Known::Missed(word) = known
                && word.is_wanted()
                && !self.newer
            {
                let mut rows = PackedRows::default();
                rows.append(&self.batch, before, self.batch.len(), false);
                hot.keep(*word, bounds, rows, Extent::All);
            }
        }
        Ok(ranges.len())
    }

    /// Takes the rows from the cached part of a range.
    pub fn take_known(&mut self, rows: &PackedRows, extent: Extent, limit: usize, reverse: bool) -> End {
        let taken = rows.len().min(limit);
        let (from, to) = if reverse { (rows.len() - taken, rows.len()) } else { (0, taken) };
        self.batch.append(rows, from, to, reverse);
        if extent == Extent::All && taken == rows.len() {
            return End::Scan;
        }
        self.end_behind_last();
        End::Row
    }

    /// Takes rows from cached leaves. The error names the leaf in which a row was missed, if the caller may read it.
    pub fn walk(&mut self, hot: &HotRows, walk: Walk<'_>) -> std::result::Result<End, Option<(Missed, Prefix)>> {
        match hot.walk(walk, &mut self.batch) {
            Walked::Through(true) => Ok(End::Scan),
            Walked::Through(false) => {
                self.end_behind_last();
                Ok(End::Row)
            }
            Walked::Missed(missed, prefix) => Err(Some((missed, prefix))),
            Walked::Nowhere => Err(None),
        }
    }

    /// Reads the whole leaf if it is wanted, after the batch was read because of a miss in it.
    pub fn read_leaf(&self, hot: &HotRows, cursors: &KeptCursors, missed: Missed, prefix: &[u8]) -> Result<()> {
        // A longer key tells that the rows form no leaf.
        match self.batch.cells().next() {
            Some((key, _, value)) if key.len() == prefix.len() + 1 => {
                leaf_reader::read(cursors, hot, missed, prefix, value.len())
            }
            _ => Ok(()),
        }
    }

    fn end_behind_last(&mut self) {
        self.done.clear();
        if let Some(last) = self.batch.last_key() {
            key::push_prefix(last, &mut self.done);
        }
    }

    /// The rows of a range that are known after its first batch, and which rows of the range they are. `None` if they
    /// may not be the newest.
    pub fn newest_known(&self, end: End, reverse: bool) -> Option<(PackedRows, Extent)> {
        let extent = match end {
            End::Scan => Extent::All,
            End::Row if self.batch.is_empty() => return None,
            End::Row if reverse => Extent::Last,
            End::Row => Extent::First,
            End::Within => return None,
        };
        let mut rows = PackedRows::default();
        rows.append(&self.batch, 0, self.batch.len(), reverse);
        (!self.newer).then_some((rows, extent))
    }

    /// Takes the rows of the batch.
    pub fn rows(&mut self) -> PackedRows {
        self.before = (self.batch.bytes(), self.batch.len());
        std::mem::take(&mut self.batch)
    }
}

fn parts(cell_key: &[u8]) -> Result<(&[u8], Timestamp)> {
    key::split(cell_key).ok_or_else(|| StoreError::Corrupted(format!("no cell key: {cell_key:02x?}")))
}

fn push(head: &mut Head, batch: &mut PackedRows, prefix: &[u8], timestamp: Timestamp, value: &[u8]) -> Result<()> {
    match batch.push(|out| head.append_decoded(prefix, out), timestamp, value) {
        true => Ok(()),
        false => Err(StoreError::Corrupted(format!("no row key: {prefix:02x?}"))),
    }
}

/// Whether an invalid iterator is at its end. If not, it gave up.
fn ended(iterator: &DBRawIterator<'_>) -> Result<bool> {
    match iterator.status() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Incomplete => Ok(false),
        Err(error) => Err(super::database_error(error)),
    }
}
