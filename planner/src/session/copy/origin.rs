//! [`Origins`]: the source line of each row of a COPY FROM. It supplies the CONTEXT of later errors.

use crate::error::{SqlError, state};
use std::collections::VecDeque;

/// The number of bytes of a line or value shown, as PostgreSQL's MAX_COPY_DATA_DISPLAY.
const SHOWN_BYTES: usize = 100;
/// The batches in flight: being filled, waiting, being computed, being written.
const BATCHES: usize = 6;

/// The source lines of the rows that are not written yet.
#[derive(Debug, Default)]
pub struct Origins {
    batches: VecDeque<Batch>,
    rows: u64,
}

#[derive(Debug, Default)]
struct Batch {
    /// The number of the first row.
    first: u64,
    lines: Vec<u64>,
    /// The first bytes of each line, concatenated.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    fn begin(&mut self, first: u64) {
        self.first = first;
        self.lines.clear();
        self.text.clear();
        self.ends.clear();
    }
}

impl Origins {
    /// Records the line of the next row.
    pub fn push(&mut self, line: u64, record: &[u8]) {
        if self.batches.is_empty() {
            self.begin_batch();
        }
        let Some(batch) = self.batches.back_mut() else { return };
        batch.lines.push(line);
        // One extra byte shows that the line is longer.
        batch.text.extend_from_slice(record.get(..SHOWN_BYTES + 1).unwrap_or(record));
        batch.ends.push(batch.text.len());
        self.rows += 1;
    }
    /// Begins a new batch: the rows pushed so far are being written.
    pub fn begin_batch(&mut self) {
        // The oldest batch is dropped, and its buffers are reused.
        let oldest = if self.batches.len() >= BATCHES { self.batches.pop_front() } else { None };
        let mut batch = oldest.unwrap_or_default();
        batch.begin(self.rows);
        self.batches.push_back(batch);
    }
    /// Drops the rows of the present batch that the COPY's condition rejected.
    pub fn keep(&mut self, stays: impl Fn(usize) -> bool) {
        let Some(batch) = self.batches.back_mut() else { return };
        let before = std::mem::take(batch);
        batch.first = before.first;
        let mut start = 0;
        for (at, (line, end)) in before.lines.iter().zip(&before.ends).enumerate() {
            if stays(at) {
                batch.lines.push(*line);
                batch.text.extend_from_slice(before.text.get(start..*end).unwrap_or_default());
                batch.ends.push(batch.text.len());
            }
            start = *end;
        }
        self.rows = batch.first + batch.lines.len() as u64;
    }
    /// The CONTEXT of a row of the present batch.
    pub fn context_of(&self, at: usize, table: &str) -> String {
        let row = self.batches.back().map_or(0, |batch| batch.first) + at as u64;
        self.find(row).map_or_else(|| format!("COPY {table}"), |(line, record)| in_line(table, line, record))
    }
    fn find(&self, row: u64) -> Option<(u64, &[u8])> {
        let batch = self.batches.iter().rev().find(|batch| batch.first <= row)?;
        let at = usize::try_from(row - batch.first).ok()?;
        let start = at.checked_sub(1).map_or(Some(0), |before| batch.ends.get(before).copied())?;
        Some((*batch.lines.get(at)?, batch.text.get(start..*batch.ends.get(at)?)?))
    }
    /// Adds the CONTEXT of its row to an error.
    pub fn explain(&self, error: SqlError, table: &str) -> SqlError {
        if error.fields().context.is_some() {
            return error;
        }
        match error.fields().row.and_then(|row| self.find(row)) {
            // PostgreSQL finds duplicates only when it writes a batch. Then it no longer has the line's text.
            Some((line, _)) if error.state() == state::UNIQUE_VIOLATION => error.context(at_line(table, line)),
            Some((line, record)) => error.context(in_line(table, line, record)),
            None => error.context(format!("COPY {table}")),
        }
    }
}

/// `COPY t, line 2`.
pub fn at_line(table: &str, line: u64) -> String {
    format!("COPY {table}, line {line}")
}

/// `COPY t, line 2: "1,x"`.
pub fn in_line(table: &str, line: u64, record: &[u8]) -> String {
    format!("COPY {table}, line {line}: \"{}\"", shown(record))
}

/// The first `SHOWN_BYTES` bytes of a line or value, as text.
pub fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= SHOWN_BYTES {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut end = SHOWN_BYTES;
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    format!("{}...", String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_across_batches() {
        let mut origins = Origins::default();
        for row in 0..10u64 {
            origins.push(row * 2 + 1, format!("row {row}").as_bytes());
            if row % 3 == 2 {
                origins.begin_batch();
            }
        }
        let error = |row| origins.explain(SqlError::new("23502", "x").row(row), "t").fields().context.clone().unwrap();
        assert_eq!(error(0), "COPY t, line 1: \"row 0\"");
        assert_eq!(error(5), "COPY t, line 11: \"row 5\"");
        assert_eq!(error(9), "COPY t, line 19: \"row 9\"");
        assert_eq!(error(99), "COPY t");
    }

    #[test]
    fn rows_that_do_not_stay_are_not_counted() {
        let mut origins = Origins::default();
        origins.push(1, b"first");
        origins.begin_batch();
        for line in 2..6u64 {
            origins.push(line, format!("line {line}").as_bytes());
        }
        assert_eq!(origins.context_of(2, "t"), "COPY t, line 4: \"line 4\"");
        origins.keep(|at| at % 2 == 1);
        origins.begin_batch();
        origins.push(6, b"last");
        let error = |row| origins.explain(SqlError::new("23502", "x").row(row), "t").fields().context.clone().unwrap();
        assert_eq!(error(2), "COPY t, line 5: \"line 5\"");
        assert_eq!(error(3), "COPY t, line 6: \"last\"");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let long = "ä".repeat(51);
        assert_eq!(shown(long.as_bytes()), format!("{}...", "ä".repeat(50)));
        let odd = format!("x{}", "ä".repeat(51));
        assert_eq!(shown(odd.as_bytes()), format!("x{}...", "ä".repeat(49)));
    }
}
