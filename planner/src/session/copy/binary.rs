//! COPY in format binary: the header, rows and trailer. The server encodes and decodes the values.

use crate::error::{Result, SqlError, state};
use crate::types::encoding::Encoding;
use crate::types::{Datum, SqlType};
use bytes::{Buf, Bytes, BytesMut};
use datafusion::arrow::array::Array;

/// Encodes and decodes values in PostgreSQL's binary format.
#[derive(Clone, Copy, Debug)]
pub struct BinaryCodec {
    /// Appends a value that is not NULL, without its length. Text is written in the given encoding.
    pub write: fn(SqlType, &dyn Array, usize, Encoding, &mut BytesMut) -> Result<()>,
    /// Reads a value that is not NULL. Text is read in the given encoding.
    pub read: fn(SqlType, &Bytes, Encoding) -> Result<Datum>,
}

/// The first bytes of the data.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// The flags that a reader must understand.
const CRITICAL_FLAGS: u32 = 0xffff_0000;

/// The header that COPY TO writes: the signature, no flags, an empty extension.
pub fn header() -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend_from_slice(&[0; 8]);
    bytes
}

/// The trailer that COPY TO writes.
pub const TRAILER: [u8; 2] = [0xff, 0xff];

/// The encoded values of a row. `None` is NULL.
pub type Row = Vec<Option<Bytes>>;

/// Cuts rows out of data that arrives in arbitrary pieces.
#[derive(Debug, Default)]
pub struct BinaryReader {
    buffer: BytesMut,
    begun: bool,
    ended: bool,
    rows: u64,
}

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(state::BAD_COPY_FILE_FORMAT, message)
}

fn unexpected_end() -> SqlError {
    bad("unexpected EOF in COPY data")
}

impl BinaryReader {
    /// Appends a piece of data.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
    /// The number of the current row, from 1.
    pub fn line(&self) -> u64 {
        self.rows
    }
    /// The next row, which must have this many columns. `None` if the data ends too early or, with `last`, at
    /// the end. Errors: 22P04.
    pub fn next(&mut self, columns: usize, last: bool) -> Result<Option<Row>> {
        if !self.begun && !self.begin(last)? {
            return Ok(None);
        }
        if self.ended {
            if !self.buffer.is_empty() {
                return Err(bad("received copy data after EOF marker"));
            }
            return Ok(None);
        }
        if self.buffer.is_empty() && last {
            return Ok(None);
        }
        let length = match frame(&self.buffer, columns) {
            Ok(Frame::Missing) => return if last { Err(unexpected_end()) } else { Ok(None) },
            Ok(Frame::End) => {
                self.buffer.advance(2);
                self.ended = true;
                return self.next(columns, last);
            }
            Ok(Frame::Row(length)) => length,
            Err(error) => {
                self.rows += 1;
                return Err(error);
            }
        };
        self.rows += 1;
        let mut row = self.buffer.split_to(length).freeze();
        row.advance(2);
        let mut values = Vec::with_capacity(columns);
        for _ in 0..columns {
            let length = row.get_i32();
            values.push(usize::try_from(length).ok().map(|length| row.split_to(length)));
        }
        Ok(Some(values))
    }

    /// Reads the header. False if it has not arrived completely.
    fn begin(&mut self, last: bool) -> Result<bool> {
        let known = self.buffer.len().min(SIGNATURE.len());
        if self.buffer.get(..known) != SIGNATURE.get(..known) || last && self.buffer.len() < SIGNATURE.len() {
            return Err(bad("COPY file signature not recognized"));
        }
        let mut rest: &[u8] = self.buffer.get(SIGNATURE.len()..).unwrap_or_default();
        if rest.len() < 4 {
            return if last { Err(bad("invalid COPY file header (missing flags)")) } else { Ok(false) };
        }
        let flags = rest.get_u32();
        if flags & (1 << 16) != 0 {
            return Err(bad("invalid COPY file header (WITH OIDS)"));
        }
        if flags & CRITICAL_FLAGS != 0 {
            return Err(bad("unrecognized critical flags in COPY file header"));
        }
        if rest.len() < 4 {
            return if last { Err(bad("invalid COPY file header (missing length)")) } else { Ok(false) };
        }
        let more = usize::try_from(rest.get_i32()).map_err(|_| bad("invalid COPY file header (missing length)"))?;
        if rest.len() < more {
            return if last { Err(bad("invalid COPY file header (wrong length)")) } else { Ok(false) };
        }
        self.buffer.advance(SIGNATURE.len() + 8 + more);
        self.begun = true;
        Ok(true)
    }
}

/// The frame at the beginning of the data.
enum Frame {
    /// A complete row of this many bytes.
    Row(usize),
    End,
    /// More data is needed for the frame.
    Missing,
}

fn frame(data: &[u8], columns: usize) -> Result<Frame> {
    let mut rest = data;
    if rest.len() < 2 {
        return Ok(Frame::Missing);
    }
    let count = rest.get_i16();
    if count == -1 {
        return Ok(Frame::End);
    }
    if usize::try_from(count) != Ok(columns) {
        return Err(bad(format!("row field count is {count}, expected {columns}")));
    }
    for _ in 0..columns {
        if rest.len() < 4 {
            return Ok(Frame::Missing);
        }
        let length = rest.get_i32();
        if length == -1 {
            continue;
        }
        let length = usize::try_from(length).map_err(|_| bad("invalid field size"))?;
        if rest.len() < length {
            return Ok(Frame::Missing);
        }
        rest.advance(length);
    }
    Ok(Frame::Row(data.len() - rest.len()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn data() -> Vec<u8> {
        let mut bytes = header();
        for value in [Some(b"ab".as_slice()), None] {
            bytes.extend_from_slice(&1_i16.to_be_bytes());
            bytes.extend_from_slice(&value.map_or(-1, |value| value.len() as i32).to_be_bytes());
            bytes.extend_from_slice(value.unwrap_or_default());
        }
        bytes.extend_from_slice(&TRAILER);
        bytes
    }

    #[test]
    fn rows_are_found_however_the_data_is_cut() {
        let data = data();
        for size in 1..=data.len() {
            let mut reader = BinaryReader::default();
            let mut rows = Vec::new();
            for piece in data.chunks(size) {
                reader.push(piece);
                while let Some(row) = reader.next(1, false).unwrap() {
                    rows.push(row);
                }
            }
            assert_eq!(reader.next(1, true).unwrap(), None);
            assert_eq!(rows, [vec![Some(Bytes::from_static(b"ab"))], vec![None]]);
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let error = |bytes: &[u8], columns: usize| {
            let mut reader = BinaryReader::default();
            reader.push(bytes);
            loop {
                match reader.next(columns, true) {
                    Ok(Some(_)) => {}
                    Ok(None) => return "nothing".to_string(),
                    Err(error) => return error.fields().message.clone(),
                }
            }
        };
        let data = data();
        assert_eq!(error(b"1\t2\n", 1), "COPY file signature not recognized");
        assert_eq!(error(&data[..15], 1), "invalid COPY file header (missing length)");
        assert_eq!(error(&data, 2), "row field count is 1, expected 2");
        assert_eq!(error(&data[..24], 1), "unexpected EOF in COPY data");
        assert_eq!(error(&[data.clone(), vec![0]].concat(), 1), "received copy data after EOF marker");
        assert_eq!(error(&data[..data.len() - 2], 1), "nothing");
    }
}
