//! [`RecordReader`] cuts COPY data, which arrives in arbitrary pieces, into records and fields. Knows the formats,
//! not types or tables.

use crate::error::{Result, SqlError, state};
use crate::parse::copy::{CopyFormat, CopyOptions};
use memchr::{memchr, memchr_iter, memchr2, memchr3};
use std::ops::Range;

/// The longest record in bytes. A record must fit in memory.
const LONGEST_RECORD: usize = 1 << 30;

/// The fields of one record.
#[derive(Debug, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    /// The end of each field in `bytes`, and how the field was written.
    ends: Vec<(usize, Kind)>,
}

/// How a field was written in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text without quotes around it.
    Plain,
    /// Text in quotes (csv).
    Quoted,
    /// The NULL string without quotes.
    Null,
    /// The NULL string in quotes (csv): FORCE_NULL turns it into NULL.
    QuotedNull,
}

impl Fields {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
    /// The number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    fn place(&self, position: usize) -> Option<(Range<usize>, Kind)> {
        let (end, kind) = *self.ends.get(position)?;
        let start = match position.checked_sub(1) {
            Some(before) => self.ends.get(before)?.0,
            None => 0,
        };
        Some((start..end, kind))
    }
    /// The bytes and the kind of a field.
    pub fn get(&self, position: usize) -> Option<(&[u8], Kind)> {
        let (place, kind) = self.place(position)?;
        Some((self.bytes.get(place)?, kind))
    }
    /// All fields as one text, if they are valid text without a zero byte. One check covers the whole record.
    pub fn as_text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        memchr(0, text.as_bytes()).is_none().then_some(text)
    }
    /// A field of [`Fields::as_text`]. `None` if its bounds split a character.
    pub fn part<'a>(&self, text: &'a str, position: usize) -> Option<&'a str> {
        text.get(self.place(position)?.0)
    }
}

/// The line ending. The first line's ending applies to all of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    Newline,
    Both,
    CarriageReturn,
}

impl LineEnd {
    /// The last byte of the line ending.
    fn last(self) -> u8 {
        if self == LineEnd::CarriageReturn { b'\r' } else { b'\n' }
    }
}

/// Cuts data into records and fields.
pub struct RecordReader {
    csv: bool,
    delimiter: u8,
    null: Vec<u8>,
    quote: u8,
    escape: u8,
    buffer: Vec<u8>,
    /// The range of the last record in `buffer`.
    record: Range<usize>,
    /// The start of the next record in `buffer`.
    start: usize,
    /// The bytes before this offset were searched for the end of the record.
    scanned: usize,
    in_quotes: bool,
    line_end: Option<LineEnd>,
    /// The offset of the first `\\.` in the current record (text format).
    marker: Option<usize>,
    /// The number of lines read so far.
    lines: u64,
    ended: bool,
}

/// The result of [`RecordReader::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A record. Its fields are in the buffer given, and it starts on this line (from 1).
    Record(u64),
    /// More data is needed.
    More,
    /// `\.`: the caller discards the rest of the data.
    End,
}

/// The error for `\.` before the end of its line. PostgreSQL has not accepted the line by then, and does not show it.
const MARKER_CORRUPT: &str = "end-of-copy marker corrupt";

fn bad_format(message: impl Into<String>) -> SqlError {
    SqlError::new(state::BAD_COPY_FILE_FORMAT, message)
}

impl RecordReader {
    /// A reader for data with these options.
    pub fn new(options: &CopyOptions) -> Self {
        RecordReader {
            csv: options.format == CopyFormat::Csv,
            delimiter: options.delimiter,
            null: options.null.clone().into_bytes(),
            quote: options.quote,
            escape: options.escape,
            buffer: Vec::new(),
            record: 0..0,
            start: 0,
            scanned: 0,
            in_quotes: false,
            line_end: None,
            marker: None,
            lines: 0,
            ended: false,
        }
    }
    /// Appends a piece of data.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.marker = self.marker.map(|marker| marker - self.start);
            self.start = 0;
        }
        if self.buffer.len() + bytes.len() > LONGEST_RECORD {
            return Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "a line of COPY data is too long"));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }
    /// The raw bytes of the last record, including one that could not be cut.
    pub fn record(&self) -> &[u8] {
        self.buffer.get(self.record.clone()).unwrap_or_default()
    }
    /// The number of lines read so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }
    /// Cuts the next record. `last` says that no more data will come.
    pub fn next(&mut self, last: bool, fields: &mut Fields) -> Result<Next> {
        if self.ended {
            return Ok(Next::End);
        }
        let (end, next) = match self.find_end(last) {
            Some(found) => found,
            None if last && self.start < self.buffer.len() => {
                if self.in_quotes {
                    let rest = self.buffer.get(self.start..).unwrap_or_default();
                    self.lines += 1 + rest.iter().filter(|byte| **byte == b'\n').count() as u64;
                    self.record = self.start..self.buffer.len();
                    return Err(bad_format("unterminated CSV quoted field"));
                }
                (self.buffer.len(), self.buffer.len())
            }
            None => return Ok(if last { Next::End } else { Next::More }),
        };
        // Most records contain no line ending.
        let whole = self.buffer.get(self.start..end).unwrap_or_default();
        let is_one_line = memchr2(b'\n', b'\r', whole).is_none() && self.line_end != Some(LineEnd::Both);
        if !is_one_line && let Some(error) = self.wrong_line_end(end, next) {
            self.lines += 1;
            self.record = 0..0;
            return Err(error);
        }
        let end = if self.line_end == Some(LineEnd::Both) && next > end { end - 1 } else { end };
        let record = self.buffer.get(self.start..end).unwrap_or_default();
        self.record = self.start..end;
        let within = if is_one_line { 0 } else { memchr_iter(b'\n', record).count() as u64 };
        let line = self.lines + 1 + within;
        self.lines = line;
        fields.clear();
        if record == b"\\." {
            self.ended = true;
            self.buffer = Vec::new();
            return Ok(Next::End);
        }
        if self.csv {
            self.cut_csv(record, fields)?
        } else if let Some(marker) = self.marker.take().map(|marker| marker - self.start) {
            // The text before the marker is a record too.
            if marker + 2 != record.len() {
                self.record = 0..0;
                return Err(bad_format(MARKER_CORRUPT));
            }
            self.ended = true;
            self.cut_text(record.get(..marker).unwrap_or_default(), fields);
            self.record.end = self.start + marker;
        } else {
            self.cut_text(record, fields)
        };
        self.start = next;
        self.scanned = next;
        Ok(Next::Record(line))
    }
    /// 22P04 if the record contains, or ends with, a line ending other than the first line's. The record ends at `end`,
    /// and the next record begins at `next`.
    fn wrong_line_end(&self, end: usize, next: usize) -> Option<SqlError> {
        let record = self.buffer.get(self.start..end).unwrap_or_default();
        let (record, other) = match self.line_end? {
            LineEnd::Newline => (record, b'\r'),
            LineEnd::CarriageReturn => (record, b'\n'),
            LineEnd::Both if next == end => (record, b'\r'),
            LineEnd::Both => match record.split_last() {
                Some((b'\r', record)) => (record, b'\r'),
                _ => return Some(self.literal(b'\n')),
            },
        };
        // Most records do not contain the other byte.
        memchr(other, record)?;
        let (mut at, mut in_quotes) = (0, false);
        while let Some(byte) = record.get(at).copied() {
            let hides =
                if self.csv { in_quotes && self.escape != self.quote && byte == self.escape } else { byte == b'\\' };
            in_quotes ^= self.csv && !hides && byte == self.quote;
            if byte == other && !in_quotes {
                return Some(self.literal(other));
            }
            at += if hides { 2 } else { 1 };
        }
        None
    }
    fn literal(&self, byte: u8) -> SqlError {
        let (name, escaped) = if byte == b'\r' { ("carriage return", "\\r") } else { ("newline", "\\n") };
        match self.csv {
            true => bad_format(format!("unquoted {name} found in data"))
                .hint(format!("Use quoted CSV field to represent {name}.")),
            false => bad_format(format!("literal {name} found in data"))
                .hint(format!("Use \"{escaped}\" to represent {name}.")),
        }
    }
    /// The end of the record and the start of the next one. A line ending counts outside quotes and
    /// not after a backslash.
    fn find_end(&mut self, last: bool) -> Option<(usize, usize)> {
        loop {
            let rest = self.buffer.get(self.scanned..).unwrap_or_default();
            let found = match (self.csv, self.line_end.map(LineEnd::last)) {
                (true, Some(end)) => memchr3(self.quote, self.escape, end, rest),
                (false, Some(end)) => memchr2(b'\\', end, rest),
                (true, None) => rest.iter().position(|byte| [self.quote, self.escape, b'\n', b'\r'].contains(byte)),
                (false, None) => memchr3(b'\\', b'\n', b'\r', rest),
            };
            let Some(at) = found.map(|found| self.scanned + found) else {
                self.scanned = self.buffer.len();
                return None;
            };
            let byte = self.buffer.get(at).copied()?;
            let following = self.buffer.get(at + 1).copied();
            self.scanned = at + 1;
            let ends = match self.line_end {
                Some(end) => byte == end.last(),
                None => matches!(byte, b'\n' | b'\r'),
            };
            if ends && !self.in_quotes {
                match (self.line_end, byte, following) {
                    (Some(_), ..) => {}
                    (None, b'\r', None) if !last => {
                        self.scanned = at;
                        return None;
                    }
                    (None, b'\r', Some(b'\n')) => {
                        self.line_end = Some(LineEnd::Both);
                        self.scanned = at + 2;
                        return Some((at + 1, at + 2));
                    }
                    (None, b'\r', _) => self.line_end = Some(LineEnd::CarriageReturn),
                    (None, ..) => self.line_end = Some(LineEnd::Newline),
                }
                return Some((at, at + 1));
            }
            if self.csv {
                // A doubled quote closes and reopens. An escape other than the quote hides the byte after it.
                if byte == self.escape && self.escape != self.quote && self.in_quotes {
                    if following.is_none() {
                        self.scanned = at;
                        return None;
                    }
                    self.scanned += 1;
                } else if byte == self.quote {
                    self.in_quotes = !self.in_quotes;
                }
            } else {
                if following.is_none() {
                    self.scanned = at;
                    return None;
                }
                if following == Some(b'.') && self.marker.is_none() {
                    self.marker = Some(at);
                }
                self.scanned += 1;
            }
        }
    }
    fn cut_text(&self, record: &[u8], fields: &mut Fields) {
        let mut raw_start = 0;
        let mut at = 0;
        loop {
            let rest = record.get(at..).unwrap_or_default();
            let plain = memchr2(b'\\', self.delimiter, rest).unwrap_or(rest.len());
            fields.bytes.extend_from_slice(rest.get(..plain).unwrap_or_default());
            at += plain;
            match record.get(at) {
                Some(b'\\') => {
                    let (value, used) = unescape(record.get(at + 1..).unwrap_or_default());
                    fields.bytes.push(value);
                    at += 1 + used;
                }
                end => {
                    let raw = record.get(raw_start..at).unwrap_or_default();
                    let kind = if raw == self.null {
                        let start = fields.ends.last().map_or(0, |(end, _)| *end);
                        fields.bytes.truncate(start);
                        Kind::Null
                    } else {
                        Kind::Plain
                    };
                    fields.ends.push((fields.bytes.len(), kind));
                    if end.is_none() {
                        return;
                    }
                    at += 1;
                    raw_start = at;
                }
            }
        }
    }
    fn cut_csv(&self, record: &[u8], fields: &mut Fields) -> Result<()> {
        let mut at = 0;
        loop {
            let start = fields.bytes.len();
            let mut quoted = false;
            let mut inside = false;
            let more = loop {
                let Some(byte) = record.get(at).copied() else { break false };
                at += 1;
                if inside {
                    let following = record.get(at).copied();
                    if byte == self.escape && following.is_some_and(|next| next == self.escape || next == self.quote) {
                        fields.bytes.extend(following);
                        at += 1;
                    } else if byte == self.quote {
                        inside = false;
                    } else {
                        fields.bytes.push(byte);
                    }
                } else if byte == self.quote {
                    quoted = true;
                    inside = true;
                } else if byte == self.delimiter {
                    break true;
                } else {
                    fields.bytes.push(byte);
                }
            };
            if inside {
                return Err(bad_format("unterminated CSV quoted field"));
            }
            let is_null = fields.bytes.get(start..) == Some(self.null.as_slice());
            let kind = match (quoted, is_null) {
                (true, true) => Kind::QuotedNull,
                (true, false) => Kind::Quoted,
                (false, true) => Kind::Null,
                (false, false) => Kind::Plain,
            };
            fields.ends.push((fields.bytes.len(), kind));
            if !more {
                return Ok(());
            }
        }
    }
}

/// Decodes the bytes after a backslash: the byte they stand for, and how many bytes were read.
fn unescape(rest: &[u8]) -> (u8, usize) {
    let Some(first) = rest.first().copied() else { return (b'\\', 0) };
    match first {
        b'b' => (8, 1),
        b'f' => (12, 1),
        b'n' => (b'\n', 1),
        b'r' => (b'\r', 1),
        b't' => (b'\t', 1),
        b'v' => (11, 1),
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte));
            let (mut value, mut used) = (0u32, 0);
            for digit in digits {
                value = value * 8 + u32::from(digit - b'0');
                used += 1;
            }
            ((value & 0xff) as u8, used)
        }
        b'x' => {
            let (mut value, mut used) = (0u32, 0);
            for digit in rest.iter().skip(1).take(2).map_while(|byte| char::from(*byte).to_digit(16)) {
                value = value * 16 + digit;
                used += 1;
            }
            if used == 0 { (b'x', 1) } else { (value as u8, 1 + used) }
        }
        other => (other, 1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::parse::copy::{CopyColumns, CopyHeader};

    fn options(format: CopyFormat) -> CopyOptions {
        let csv = format == CopyFormat::Csv;
        CopyOptions {
            format,
            freeze: false,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { String::new() } else { "\\N".into() },
            header: CopyHeader::No,
            quote: b'"',
            escape: b'"',
            force_quote: CopyColumns::Some(vec![]),
            force_not_null: CopyColumns::Some(vec![]),
            force_null: CopyColumns::Some(vec![]),
            encoding: None,
        }
    }

    /// Reads data in pieces of `size` bytes.
    fn read(options: &CopyOptions, data: &str, size: usize) -> Vec<Vec<Option<String>>> {
        let mut reader = RecordReader::new(options);
        let mut fields = Fields::default();
        let mut records = Vec::new();
        let mut take = |reader: &mut RecordReader, last: bool| {
            while let Next::Record(_) = reader.next(last, &mut fields).unwrap() {
                let record = (0..fields.len())
                    .map(|field| fields.get(field).unwrap())
                    .map(|(text, kind)| (kind != Kind::Null).then(|| String::from_utf8(text.to_vec()).unwrap()))
                    .collect();
                records.push(record);
            }
        };
        for piece in data.as_bytes().chunks(size) {
            reader.push(piece).unwrap();
            take(&mut reader, false);
        }
        take(&mut reader, true);
        records
    }

    fn some(fields: &[&str]) -> Vec<Option<String>> {
        fields.iter().map(|field| (*field != "NULL").then(|| (*field).to_string())).collect()
    }

    #[test]
    fn text_in_pieces_of_every_size() {
        let data = "1\tab\\tc\n2\t\\N\n3\t\\x41\\101\\\\N\n4\tline\\\nbreak\n5\t\n\\.\nignored\n";
        for size in 1..data.len() {
            assert_eq!(
                read(&options(CopyFormat::Text), data, size),
                [
                    some(&["1", "ab\tc"]),
                    some(&["2", "NULL"]),
                    some(&["3", "AA\\N"]),
                    some(&["4", "line\nbreak"]),
                    some(&["5", ""])
                ],
                "{size}"
            );
        }
    }

    #[test]
    fn csv_in_pieces_of_every_size() {
        let data = "1,\"a,\"\"b\"\"\n\",\n2,,\"\"\n3,x\"y\"z,w";
        for size in 1..data.len() {
            assert_eq!(
                read(&options(CopyFormat::Csv), data, size),
                [some(&["1", "a,\"b\"\n", "NULL"]), some(&["2", "NULL", ""]), some(&["3", "xyz", "w"])],
                "{size}"
            );
        }
    }

    #[test]
    fn lines_end_as_the_first_one_does() {
        for format in [CopyFormat::Text, CopyFormat::Csv] {
            let between = if format == CopyFormat::Csv { ',' } else { '\t' };
            let ends = ["\n", "\r\n", "\r"];
            for (first, second) in ends.iter().flat_map(|first| ends.map(|second| (*first, second))) {
                let data = format!("1{between}a{first}2{between}b{second}");
                for size in 1..data.len() {
                    let mut reader = RecordReader::new(&options(format));
                    let mut fields = Fields::default();
                    let mut found = Vec::new();
                    for (at, piece) in data.as_bytes().chunks(size).enumerate() {
                        reader.push(piece).unwrap();
                        let last = (at + 1) * size >= data.len();
                        while let Ok(Next::Record(line)) = reader.next(last, &mut fields) {
                            found.push(line);
                        }
                    }
                    // For the last two combinations, the newline is a line of its own and is refused there.
                    let both = first == second || (first, second) == ("\r", "\r\n");
                    let expected = if both { vec![1, 2] } else { vec![1] };
                    assert_eq!(found, expected, "{format:?} {first:?} {second:?} {size}");
                }
                if first == second {
                    let records = [some(&["1", "a"]), some(&["2", "b"])];
                    assert_eq!(read(&options(format), &data, 3), records, "{first:?}");
                }
            }
        }
        // Escaped line endings are data.
        let data = "1\ta\\\r\n2\tb\n";
        assert_eq!(read(&options(CopyFormat::Text), data, 4), [some(&["1", "a\r"]), some(&["2", "b"])]);
        let data = "1,\"a\r\n\"\n2,\"b\r\"\n";
        assert_eq!(read(&options(CopyFormat::Csv), data, 4), [some(&["1", "a\r\n"]), some(&["2", "b\r"])]);
    }

    #[test]
    fn an_open_quote_is_an_error() {
        let mut reader = RecordReader::new(&options(CopyFormat::Csv));
        reader.push(b"1,\"abc\n").unwrap();
        let mut fields = Fields::default();
        assert_eq!(reader.next(false, &mut fields).unwrap(), Next::More);
        assert_eq!(reader.next(true, &mut fields).unwrap_err().state(), "22P04");
    }

    #[test]
    fn lines_are_counted_where_records_end() {
        let mut reader = RecordReader::new(&options(CopyFormat::Csv));
        reader.push(b"\"a\nb\"\nc\n").unwrap();
        let mut fields = Fields::default();
        assert_eq!(reader.next(true, &mut fields).unwrap(), Next::Record(2));
        assert_eq!(reader.next(true, &mut fields).unwrap(), Next::Record(3));
        assert_eq!(reader.next(true, &mut fields).unwrap(), Next::End);
    }
}
