//! Reads rows: one cursor for each wanted family, merged by row.

use super::arena::Arena;
use super::dead_runs::DeadRuns;
use super::hot::Hot;
use super::iterator_pool::KeptCursors;
use super::log::Database;
use super::newest::{Course, Dead, End, MOST_BYTES, Newest};
use super::range_cache::{HotRanges, Known};
use super::row_cache::walk::Walk;
use super::{database_error, key};
use crate::contract::{
    Cell, Cells, Family, FamilyFilter, Plain, ReadFilter, Row, RowRange, ScanOptions, TimestampRange,
};
use crate::error::{Result, StoreError};
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use rocksdb::{DBRawIterator, ReadOptions, Snapshot};
use smallvec::SmallVec;
use std::sync::Arc;

/// How many cells are stepped over before a seek is cheaper.
pub(super) const STEPS_BEFORE_SEEK: usize = 6;
/// The number of rows that a batch reserves room for.
const FIRST_ROWS: usize = 16;
/// The most rows that one call of `scan` looks at.
pub(super) const EXAMINED_ROWS: usize = 32 << 10;
/// Approximate memory of a cell beside its value, in bytes.
const CELL_BYTES: usize = 64;

/// The most rows of a range that a kept cursor reads. A larger range is not short.
pub(super) const SHORT_ROWS: usize = 256;

/// Batches after which a scan makes its cursors anew, because they pin replaced memtables and tables.
const BATCHES_BEFORE_REOPEN: usize = 256;

/// Calls `visit` with the cells of the row `prefix` in a range, newest first, until it answers false. Leaves
/// `iterator` at any position.
pub fn versions(
    iterator: &mut DBRawIterator<'_>,
    prefix: &[u8],
    range: TimestampRange,
    visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
) -> Result<()> {
    let mut target = Vec::with_capacity(prefix.len() + key::TIMESTAMP_BYTES);
    target.extend_from_slice(prefix);
    key::push_timestamp(range.to, &mut target);
    iterator.seek(&target);
    while let Some((found, value)) = iterator.item() {
        match key::split(found) {
            Some((of, timestamp)) if of == prefix && timestamp >= range.from => {
                if !visit(timestamp, value) {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
        iterator.next();
    }
    iterator.status().map_err(database_error)
}

/// The filters in the order in which cells are returned.
fn ordered(filter: &ReadFilter) -> SmallVec<[FamilyFilter; 3]> {
    let mut families = filter.families.clone();
    families.sort_by_key(|wanted| wanted.family);
    families
}

/// The options of the iterators of one read. With a snapshot, all of them show the same state.
fn read_options(snapshot: Option<&Snapshot<'_>>) -> ReadOptions {
    let mut options = ReadOptions::default();
    if let Some(snapshot) = snapshot {
        options.set_snapshot(snapshot);
    }
    options
}

/// Reads the rows with these keys.
pub fn read(database: &Database, keys: &[Bytes], filter: &ReadFilter) -> Result<Vec<Row>> {
    let families = ordered(filter);
    let snapshot = (families.len() > 1).then(|| database.rocks().snapshot());
    let mut iterators = Vec::with_capacity(families.len());
    for wanted in &families {
        iterators.push((wanted, database.row_iterator(wanted.family, read_options(snapshot.as_ref()))?));
    }
    let mut rows = Vec::with_capacity(keys.len());
    let mut prefix = Vec::with_capacity(64);
    for row_key in keys {
        prefix.clear();
        key::push_prefix(row_key, &mut prefix);
        let mut cells = Cells::new();
        for (wanted, iterator) in &mut iterators {
            let mut left = wanted.cells;
            if left == 0 {
                continue;
            }
            versions(iterator, &prefix, wanted.range, &mut |timestamp, value| {
                cells.push(Cell { family: wanted.family, timestamp, value: Bytes::copy_from_slice(value) });
                left -= 1;
                left > 0
            })?;
        }
        if !cells.is_empty() {
            rows.push(Row { key: row_key.clone(), cells });
        }
    }
    Ok(rows)
}

/// The bounds of a scan on cell keys.
#[derive(Clone, Debug)]
pub struct ScanBounds {
    /// The first cell key in the range.
    pub lower: Vec<u8>,
    /// The first cell key behind the range. `None` if there is no end.
    pub upper: Option<Vec<u8>>,
}

struct Cursor<'a> {
    wanted: FamilyFilter,
    iterator: DBRawIterator<'a>,
}

impl Cursor<'_> {
    /// The prefix of the row at the cursor.
    fn prefix(&self) -> Option<&[u8]> {
        self.iterator.key().map(key::prefix_of)
    }

    fn ensure_valid_or_end(&self) -> Result<()> {
        match self.iterator.valid() {
            true => Ok(()),
            false => self.iterator.status().map_err(database_error),
        }
    }

    /// Collects the wanted cells of the row at whose start the cursor stands.
    fn collect(&mut self, prefix: &[u8], scratch: &mut Vec<u8>, arena: &mut Arena, cells: &mut Cells) -> Result<()> {
        let mut left = self.wanted.cells;
        let mut steps = 0;
        while left > 0 {
            let Some((found, value)) = self.iterator.item() else { break };
            let Some((of, timestamp)) = key::split(found) else { break };
            if of != prefix || timestamp < self.wanted.range.from {
                break;
            }
            if timestamp > self.wanted.range.to {
                steps += 1;
                if steps > STEPS_BEFORE_SEEK {
                    scratch.clear();
                    scratch.extend_from_slice(prefix);
                    key::push_timestamp(self.wanted.range.to, scratch);
                    self.iterator.seek(&scratch);
                    continue;
                }
            } else {
                cells.push(Cell { family: self.wanted.family, timestamp, value: arena.copy(value) });
                left -= 1;
            }
            self.iterator.next();
        }
        self.ensure_valid_or_end()
    }

    /// [`Cursor::collect`] from the end of the row at the cursor, and on to the end of the row before.
    fn collect_reverse(
        &mut self,
        prefix: &[u8],
        scratch: &mut Vec<u8>,
        arena: &mut Arena,
        cells: &mut Cells,
    ) -> Result<()> {
        let begin = cells.len();
        for _ in 0..STEPS_BEFORE_SEEK {
            match self.iterator.item().and_then(|(found, value)| Some((key::split(found)?, value))) {
                Some(((of, timestamp), value)) if of == prefix => {
                    if self.wanted.range.contains(timestamp) {
                        cells.push(Cell { family: self.wanted.family, timestamp, value: arena.copy(value) });
                    }
                }
                _ => {
                    // All cells of the row were seen, oldest first.
                    if let Some(row) = cells.get_mut(begin..) {
                        row.reverse();
                    }
                    cells.truncate(begin.saturating_add(self.wanted.cells));
                    return self.ensure_valid_or_end();
                }
            }
            self.iterator.prev();
        }
        // The row has many versions, so start again from the newest wanted one.
        cells.truncate(begin);
        scratch.clear();
        scratch.extend_from_slice(prefix);
        key::push_timestamp(self.wanted.range.to, scratch);
        self.iterator.seek(&scratch);
        self.collect(prefix, scratch, arena, cells)?;
        self.iterator.seek_for_prev(prefix);
        self.ensure_valid_or_end()
    }

    /// Moves behind the row with this prefix.
    fn leave(&mut self, prefix: &[u8], scratch: &mut Vec<u8>) -> Result<()> {
        for _ in 0..STEPS_BEFORE_SEEK {
            if self.prefix() != Some(prefix) {
                return self.ensure_valid_or_end();
            }
            self.iterator.next();
        }
        if self.prefix() == Some(prefix) {
            scratch.clear();
            scratch.extend_from_slice(prefix);
            key::to_end_of_row(scratch);
            self.iterator.seek(&scratch);
        }
        self.ensure_valid_or_end()
    }
}

/// The caches and cursors that answer the first batch of a scan.
struct Beginning<'a> {
    hot: &'a Hot,
    cursors: &'a KeptCursors,
    range: RowRange,
}

/// A scan under way. Its cursors keep their positions between batches, so tombstones (of a large transaction's locks)
/// are skipped only once.
pub struct Scanner<'a> {
    // Fields are dropped in this order: cursors before the snapshot they read.
    cursors: Vec<Cursor<'a>>,
    snapshot: Option<Snapshot<'a>>,
    database: &'a Database,
    /// If set, answers or reads the first batch.
    kept: Option<Beginning<'a>>,
    families: SmallVec<[FamilyFilter; 3]>,
    bounds: ScanBounds,
    reverse: bool,
    cached: bool,
    /// Rows that a forward scan leaves out.
    plain: Option<Plain>,
    /// Rows that a forward scan of packed rows leaves out.
    dead: Option<Dead>,
    /// Batches since the cursors were made. Before the first batch there are no cursors.
    batches: usize,
    arena: Arena,
    ended: bool,
    newest: Newest,
}

impl<'a> Scanner<'a> {
    /// A scan of the rows between two bounds, which has read nothing yet.
    pub fn new(database: &'a Database, bounds: ScanBounds, filter: &ReadFilter, options: &ScanOptions) -> Scanner<'a> {
        let ended = bounds.upper.as_ref().is_some_and(|upper| *upper <= bounds.lower);
        let families = ordered(filter);
        let arena = Arena::new();
        let (cursors, newest) = (Vec::new(), Newest::default());
        let ScanOptions { reverse, cached, .. } = *options;
        Scanner {
            cursors,
            snapshot: None,
            database,
            kept: None,
            families,
            bounds,
            reverse,
            cached,
            plain: None,
            dead: None,
            batches: 0,
            arena,
            ended,
            newest,
        }
    }

    /// Lets `hot` answer the first batch of `range`, or one of `cursors` read it. A short range needs
    /// no more than that.
    pub fn beginning_with(mut self, hot: &'a Hot, cursors: &'a KeptCursors, range: RowRange) -> Scanner<'a> {
        let newest_writes = matches!(self.families.as_slice(), [FamilyFilter { family: Family::Write, cells: 1, .. }]);
        // Reads that must not fill the block cache go past the caches, because kept cursors fill the cache.
        self.kept = (newest_writes && self.cached).then_some(Beginning { hot, cursors, range });
        self
    }

    /// Lets a forward scan skip rows of one plain cell in the family of writes.
    pub fn leaving_out(mut self, plain: Plain) -> Self {
        self.plain = (!self.reverse).then_some(plain);
        self
    }

    /// Lets a forward scan of the family of writes skip packed rows whose cell is dead.
    pub fn leaving_out_dead(mut self, is: Plain, runs: &Arc<DeadRuns>) -> Self {
        let of_writes = self.families.iter().all(|wanted| wanted.family == Family::Write);
        let upper = self.bounds.upper.clone();
        self.dead = (of_writes && !self.reverse).then(|| Dead { is, runs: Arc::clone(runs), upper, watch: None });
        self
    }

    /// Whether every row was seen.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Makes cursors at the start of the remaining range.
    fn open(&mut self) -> Result<()> {
        self.cursors.clear();
        let database = self.database;
        self.snapshot = (self.families.len() > 1).then(|| database.rocks().snapshot());
        for wanted in &self.families {
            let mut options = read_options(self.snapshot.as_ref());
            options.set_total_order_seek(true);
            options.fill_cache(self.cached);
            options.set_iterate_lower_bound(self.bounds.lower.clone());
            if let Some(upper) = &self.bounds.upper {
                options.set_iterate_upper_bound(upper.clone());
            }
            let mut iterator = database.rocks().raw_iterator_cf_opt(database.family(wanted.family)?, options);
            match self.reverse {
                true => iterator.seek_to_last(),
                false => iterator.seek_to_first(),
            }
            let cursor = Cursor { wanted: *wanted, iterator };
            cursor.ensure_valid_or_end()?;
            self.cursors.push(cursor);
        }
        self.batches = 0;
        Ok(())
    }

    /// The prefix of the next row.
    fn next_prefix(&self) -> Option<&[u8]> {
        let at = self.cursors.iter().filter_map(Cursor::prefix);
        if self.reverse { at.max() } else { at.min() }
    }

    /// Whether there may be more rows. If so, there are cursors.
    fn begin_batch(&mut self) -> Result<bool> {
        if !self.ended {
            if self.cursors.is_empty() || self.batches >= BATCHES_BEFORE_REOPEN {
                self.open()?;
            }
            self.batches += 1;
        }
        Ok(!self.ended)
    }

    /// Reads at most `limit` rows, and none after the one that brings them to [`MOST_BYTES`]. It stops after looking
    /// at [`EXAMINED_ROWS`] rows, so that the caller can stop a scan that finds nothing. An empty answer does not
    /// mean the end, see [`Scanner::ended`].
    pub fn next(&mut self, limit: usize) -> Result<Vec<Row>> {
        if let [FamilyFilter { cells: 1, family, .. }] = self.families.as_slice() {
            let family = *family;
            return Ok(self.next_packed(limit)?.into_rows(family));
        }
        if !self.begin_batch()? {
            return Ok(Vec::new());
        }
        let mut rows = Vec::with_capacity(limit.min(FIRST_ROWS));
        let (mut prefix, mut scratch) = (Vec::new(), Vec::new());
        let (mut bytes, mut examined) = (0, 0);
        loop {
            if let Some(plain) = self.plain.filter(|_| rows.len() < limit) {
                examined += self.step_over(plain, EXAMINED_ROWS - examined, &mut scratch)?;
            }
            let Some(next) = self.next_prefix() else {
                self.ended = true;
                self.cursors.clear();
                return Ok(rows);
            };
            if rows.len() == limit || examined == EXAMINED_ROWS || bytes >= MOST_BYTES {
                // New cursors must begin with this row, which was not returned yet.
                let next = next.to_vec();
                match self.reverse {
                    true => {
                        let mut upper = next;
                        key::to_end_of_row(&mut upper);
                        self.bounds.upper = Some(upper);
                    }
                    false => self.bounds.lower = next,
                }
                return Ok(rows);
            }
            examined += 1;
            prefix.clear();
            prefix.extend_from_slice(next);
            let mut cells = Cells::new();
            let reverse = self.reverse;
            for cursor in self.cursors.iter_mut().filter(|cursor| cursor.prefix() == Some(&prefix)) {
                if reverse {
                    cursor.collect_reverse(&prefix, &mut scratch, &mut self.arena, &mut cells)?;
                } else {
                    cursor.collect(&prefix, &mut scratch, &mut self.arena, &mut cells)?;
                    cursor.leave(&prefix, &mut scratch)?;
                }
            }
            if !cells.is_empty() {
                let row_key = match key::plain_of(&prefix) {
                    Some(plain) => plain,
                    None if key::decode_into(&prefix, &mut scratch) => &scratch,
                    None => return Err(StoreError::Corrupted(format!("no row key: {prefix:02x?}"))),
                };
                bytes += row_key.len() + cells.iter().map(|cell| CELL_BYTES + cell.value.len()).sum::<usize>();
                rows.push(Row { key: self.arena.copy(row_key), cells });
            }
        }
    }

    /// Moves the cursor of writes over rows with a single plain cell, up to the first row of any other cursor.
    /// Answers the number of rows skipped, at most `most`.
    fn step_over(&mut self, plain: Plain, most: usize, row: &mut Vec<u8>) -> Result<usize> {
        let of_writes = |cursor: &Cursor<'_>| cursor.wanted.family == Family::Write;
        let others = self.cursors.iter().filter(|cursor| !of_writes(cursor)).filter_map(Cursor::prefix).min();
        let others = others.map(<[u8]>::to_vec);
        let Some(cursor) = self.cursors.iter_mut().find(|cursor| of_writes(cursor)) else { return Ok(0) };
        let mut over = 0;
        while over < most {
            let Some((cell_key, value)) = cursor.iterator.item() else { break };
            let Some((prefix, timestamp)) = key::split(cell_key) else { break };
            if !cursor.wanted.range.contains(timestamp)
                || !plain(value)
                || others.as_ref().is_some_and(|other| &other[..] <= prefix)
            {
                break;
            }
            row.clear();
            row.extend_from_slice(prefix);
            cursor.iterator.next();
            if cursor.prefix() == Some(row) {
                // The row has more than one cell.
                cursor.iterator.prev();
                break;
            }
            over += 1;
        }
        cursor.ensure_valid_or_end()?;
        Ok(over)
    }
}

impl Scanner<'_> {
    /// [`Scanner::next`] for the most common scan: one cell of one family per row.
    pub fn next_packed(&mut self, limit: usize) -> Result<PackedRows> {
        self.newest.begin(limit);
        let end = match self.kept.take().filter(|_| !self.ended) {
            Some(beginning) => self.begin(&beginning, limit.min(SHORT_ROWS))?,
            None => {
                if !self.begin_batch()? {
                    return Ok(PackedRows::default());
                }
                let Some(Cursor { wanted, iterator }) = self.cursors.first_mut() else {
                    return Ok(PackedRows::default());
                };
                let course = Course { iterator, within: None, range: wanted.range, dead: self.dead.as_ref() };
                match self.reverse {
                    true => self.newest.collect_reverse(course, limit)?,
                    false => self.newest.collect(course, limit)?,
                }
            }
        };
        self.go_on(end);
        Ok(self.newest.rows())
    }

    fn begin(&mut self, beginning: &Beginning<'_>, limit: usize) -> Result<End> {
        let Some(FamilyFilter { range, .. }) = self.families.first() else { return Ok(End::Scan) };
        let Beginning { hot, cursors, range: rows } = beginning;
        let walk = Walk { range: rows, wanted: *range, reverse: self.reverse, limit };
        let missed = match self.newest.walk(&hot.rows, walk) {
            Ok(end) => return Ok(end),
            Err(missed) => missed,
        };
        let end = self.begin_known(&hot.ranges, cursors, limit)?;
        if let Some((word, prefix)) = missed {
            self.newest.read_leaf(&hot.rows, cursors, word, &prefix)?;
        }
        Ok(end)
    }

    fn begin_known(&mut self, hot: &HotRanges, kept: &KeptCursors, limit: usize) -> Result<End> {
        let Some(FamilyFilter { range, .. }) = self.families.first() else { return Ok(End::Scan) };
        let known = hot.find(&self.bounds, *range, self.reverse, limit);
        if let Known::Rows(rows, extent) = &known {
            return Ok(self.newest.take_known(rows, *extent, limit, self.reverse));
        }
        let end = self.begin_kept(kept, *range, limit)?;
        if let Known::Missed(word) = known
            && word.is_wanted()
            && let Some((rows, extent)) = self.newest.newest_known(end, self.reverse)
        {
            hot.keep(word, &self.bounds, rows, extent);
        }
        Ok(end)
    }

    fn begin_kept(&mut self, kept: &KeptCursors, range: TimestampRange, limit: usize) -> Result<End> {
        let (bounds, newest, dead) = (&self.bounds, &mut self.newest, self.dead.as_ref());
        kept.range(|iterator| {
            if !self.reverse {
                iterator.seek(&bounds.lower);
                return newest.collect(Course { iterator, within: Some(bounds), range, dead }, limit);
            }
            match &bounds.upper {
                Some(upper) => {
                    iterator.seek_for_prev(upper);
                    if iterator.key() == Some(upper.as_slice()) {
                        iterator.prev();
                    }
                }
                None => iterator.seek_to_last(),
            }
            newest.collect_reverse(Course { iterator, within: Some(bounds), range, dead: None }, limit)
        })
    }

    /// Sets the bounds so that new cursors begin behind the batch's end.
    fn go_on(&mut self, end: End) {
        if let (Some(lower), Some(dead)) = (self.newest.begin_run_again(), self.dead.as_mut()) {
            self.bounds.lower.clear();
            self.bounds.lower.extend_from_slice(lower);
            self.cursors.clear();
            dead.watch = Some(dead.runs.watch(lower));
            return;
        }
        let done = &self.newest.done;
        let behind = |done: &[u8]| {
            let mut behind = done.to_vec();
            key::to_end_of_row(&mut behind);
            behind
        };
        match (end, self.reverse) {
            (End::Scan, _) => {
                self.ended = true;
                self.cursors.clear();
            }
            (End::Within, _) if done.is_empty() => {}
            (End::Row, true) => self.bounds.upper = Some(done.clone()),
            (End::Within, true) => self.bounds.upper = Some(behind(done)),
            (End::Row | End::Within, false) => {
                self.bounds.lower.clear();
                self.bounds.lower.extend_from_slice(done);
                key::to_end_of_row(&mut self.bounds.lower);
            }
        }
    }
}

/// Whether a family has no cell between two cell keys.
pub fn is_empty(database: &Database, family: Family, bounds: ScanBounds) -> Result<bool> {
    let mut empty = true;
    sizes(database, family, bounds, &mut |_, _| {
        empty = false;
        false
    })?;
    Ok(empty)
}

/// Calls `visit` with the bytes of each cell of a family between two cell keys, and with its row key,
/// until it answers false.
pub fn sizes(
    database: &Database,
    family: Family,
    bounds: ScanBounds,
    visit: &mut dyn FnMut(&[u8], usize) -> bool,
) -> Result<()> {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options.fill_cache(false);
    options.set_iterate_lower_bound(bounds.lower);
    if let Some(upper) = bounds.upper {
        options.set_iterate_upper_bound(upper);
    }
    let mut iterator = database.rocks().raw_iterator_cf_opt(database.family(family)?, options);
    iterator.seek_to_first();
    while let Some((found, value)) = iterator.item() {
        if !visit(key::prefix_of(found), found.len() + value.len()) {
            return Ok(());
        }
        iterator.next();
    }
    iterator.status().map_err(database_error)
}
