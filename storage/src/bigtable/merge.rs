//! [`RowMerger`]: assembles rows from the chunks of a `ReadRows` answer. A row or a value may span several chunks and
//! messages, and the server may reset a row that it has begun.

use super::proto;
use crate::contract::{Cell, Family, Row};
use crate::error::{Result, StoreError};
use bytes::{Bytes, BytesMut};
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2::read_rows_response::CellChunk;
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2::read_rows_response::cell_chunk::RowStatus;
use std::cmp::Reverse;

/// A row in Bigtable's terms: its whole key, and its cells in our families.
#[derive(Debug, PartialEq)]
pub struct MergedRow {
    /// The row key in Bigtable, with its leading byte.
    pub row_key: Bytes,
    /// The cells in the contract's order.
    pub cells: Vec<Cell>,
}

impl MergedRow {
    /// The row in our terms. `None` if the key is not one of our rows.
    pub fn into_row(self) -> Option<Row> {
        proto::key_of(&self.row_key).map(|key| Row { key, cells: self.cells.into() })
    }
}

/// Assembles rows from chunks. See the module documentation.
#[derive(Default)]
pub struct RowMerger {
    /// Key of the row under way.
    row_key: Option<Bytes>,
    /// The current family. `None` if it is not one of ours.
    family: Option<Family>,
    /// Whether this row has had a family and a qualifier.
    in_column: bool,
    timestamp_micros: i64,
    /// The received parts of a value that spans several chunks.
    partial: Option<BytesMut>,
    cells: Vec<Cell>,
    /// The key of the last complete row. Keys must ascend.
    last: Option<Bytes>,
}

fn malformed(what: &str) -> StoreError {
    StoreError::Io(format!("Bigtable sent a malformed row: {what}"))
}

impl RowMerger {
    /// Takes the next chunk. Answers a row if the chunk completes one.
    pub fn push(&mut self, chunk: CellChunk) -> Result<Option<MergedRow>> {
        if matches!(chunk.row_status, Some(RowStatus::ResetRow(true))) {
            self.row_key.take().ok_or_else(|| malformed("nothing to take back"))?;
            self.forget();
            return Ok(None);
        }
        if self.partial.is_none() {
            self.begin_cell(&chunk)?;
        } else if !chunk.row_key.is_empty() || chunk.family_name.is_some() || chunk.qualifier.is_some() {
            return Err(malformed("a cell begins within another"));
        }
        let complete = matches!(chunk.row_status, Some(RowStatus::CommitRow(true)));
        if chunk.value_size > 0 {
            if complete {
                return Err(malformed("a row ends within a cell"));
            }
            // The announced size is not trusted: memory is reserved only for received bytes.
            self.partial.get_or_insert_default().extend_from_slice(&chunk.value);
            return Ok(None);
        }
        let value = match self.partial.take() {
            None => chunk.value,
            Some(mut parts) => {
                parts.extend_from_slice(&chunk.value);
                parts.freeze()
            }
        };
        if let Some(family) = self.family {
            self.cells.push(Cell { family, timestamp: proto::timestamp_of(self.timestamp_micros), value });
        }
        if !complete {
            return Ok(None);
        }
        let row_key = self.row_key.take().ok_or_else(|| malformed("a row without a key"))?;
        let mut cells = std::mem::take(&mut self.cells);
        self.forget();
        cells.sort_by_key(|cell| (cell.family, Reverse(cell.timestamp)));
        self.last = Some(row_key.clone());
        Ok(Some(MergedRow { row_key, cells }))
    }

    fn begin_cell(&mut self, chunk: &CellChunk) -> Result<()> {
        if self.row_key.is_none() {
            if chunk.row_key.is_empty() {
                return Err(malformed("a row without a key"));
            }
            if self.last.as_ref().is_some_and(|last| *last >= chunk.row_key) {
                return Err(malformed("rows out of order"));
            }
            self.row_key = Some(chunk.row_key.clone());
        } else if !chunk.row_key.is_empty() && self.row_key.as_ref() != Some(&chunk.row_key) {
            return Err(malformed("a row begins within another"));
        }
        if let Some(name) = &chunk.family_name {
            if chunk.qualifier.is_none() {
                return Err(malformed("a family without a column"));
            }
            self.family = proto::family_of(name);
        }
        if let Some(qualifier) = &chunk.qualifier {
            self.in_column = true;
            if !qualifier.is_empty() {
                // A column that is not ours holds none of our cells.
                self.family = None;
            }
        }
        if !self.in_column {
            return Err(malformed("a cell without a column"));
        }
        self.timestamp_micros = chunk.timestamp_micros;
        Ok(())
    }

    fn forget(&mut self) {
        self.row_key = None;
        self.family = None;
        self.in_column = false;
        self.partial = None;
        self.cells.clear();
    }

    /// Checks that the stream may end here. Errors: it ended within a row.
    pub fn finish(&self) -> Result<()> {
        match self.row_key {
            None => Ok(()),
            Some(_) => Err(malformed("the answer ends within a row")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    fn chunk(key: &'static str, family: Option<&str>, at: i64, value: &'static str) -> CellChunk {
        CellChunk {
            row_key: Bytes::from_static(key.as_bytes()),
            family_name: family.map(str::to_owned),
            qualifier: family.map(|_| Vec::new()),
            timestamp_micros: at * 1000,
            value: Bytes::from_static(value.as_bytes()),
            ..CellChunk::default()
        }
    }

    fn end(mut chunk: CellChunk) -> CellChunk {
        chunk.row_status = Some(RowStatus::CommitRow(true));
        chunk
    }

    fn reset() -> CellChunk {
        CellChunk { row_status: Some(RowStatus::ResetRow(true)), ..CellChunk::default() }
    }

    fn part(mut chunk: CellChunk, size: i32) -> CellChunk {
        chunk.value_size = size;
        chunk
    }

    fn merge(chunks: Vec<CellChunk>) -> Result<Vec<String>> {
        let mut merger = RowMerger::default();
        let mut rows = Vec::new();
        for chunk in chunks {
            if let Some(row) = merger.push(chunk)? {
                let cells = row.cells.iter().map(|cell| {
                    let value = String::from_utf8_lossy(&cell.value).into_owned();
                    format!(" {}@{}={value}", proto::family_name(cell.family), cell.timestamp)
                });
                rows.push(format!("{}{}", String::from_utf8_lossy(&row.row_key), cells.collect::<String>()));
            }
        }
        merger.finish()?;
        Ok(rows)
    }

    #[test]
    fn cells_are_sorted_by_family_and_age() {
        let chunks = vec![
            chunk("ra", Some("w"), 5, "1"),
            chunk("", None, 3, "2"),
            end(chunk("", Some("d"), 4, "3")),
            end(chunk("rb", Some("l"), 9, "4")),
        ];
        assert_eq!(merge(chunks).unwrap(), ["ra d@4=3 w@5=1 w@3=2", "rb l@9=4"]);
    }

    #[test]
    fn values_come_in_parts_and_rows_are_taken_back() {
        let chunks = vec![
            part(chunk("ra", Some("w"), 5, "ab"), 5),
            part(chunk("", None, 0, "c"), 5),
            chunk("", None, 0, "de"),
            end(chunk("", None, 4, "")),
        ];
        assert_eq!(merge(chunks).unwrap(), ["ra w@5=abcde w@4="]);
        let chunks = vec![
            chunk("ra", Some("w"), 5, "1"),
            part(chunk("", Some("d"), 4, "x"), 2),
            reset(),
            end(chunk("ra", Some("w"), 7, "2")),
        ];
        assert_eq!(merge(chunks).unwrap(), ["ra w@7=2"]);
    }

    #[test]
    fn what_is_not_ours_is_left_out() {
        let mut foreign = chunk("ra", Some("w"), 5, "1");
        foreign.qualifier = Some(b"q".to_vec());
        let chunks = vec![foreign, chunk("", Some("x"), 5, "2"), end(chunk("", Some("w"), 6, "3"))];
        assert_eq!(merge(chunks).unwrap(), ["ra w@6=3"]);
        let mut merger = RowMerger::default();
        let name = merger.push(end(chunk("mark", Some("d"), 0, "1"))).unwrap().unwrap();
        assert_eq!(name.into_row(), None);
    }

    #[test]
    fn malformed_answers_are_refused() {
        let cases = [
            vec![chunk("ra", Some("w"), 5, "1")],
            vec![end(chunk("", Some("w"), 5, "1"))],
            vec![end(chunk("ra", None, 5, "1"))],
            vec![chunk("ra", Some("w"), 5, "1"), end(chunk("rb", Some("w"), 5, "1"))],
            vec![end(chunk("rb", Some("w"), 5, "1")), end(chunk("ra", Some("w"), 5, "1"))],
            vec![end(part(chunk("ra", Some("w"), 5, "1"), 4))],
            vec![reset()],
        ];
        for chunks in cases {
            assert!(merge(chunks.clone()).is_err(), "{chunks:?}");
        }
        assert_eq!(Timestamp(5), proto::timestamp_of(5000));
    }
}
