//! Keys of cells in RocksDB. A key is the escaped row key, then the complement of the timestamp. Byte order is
//! therefore row order, with the newest version first. FORMAT.md documents the bytes.

use crate::timestamp::Timestamp;
use bytes::Bytes;

/// Bytes of the timestamp at the end of each cell key.
pub const TIMESTAMP_BYTES: usize = 8;
/// Length in bytes of the head of a row key: the prefix that names its table or index.
pub const HEAD_BYTES: usize = 9;
const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xff;
const TERMINATOR: u8 = 0x01;
/// Ends a bound that lies behind all versions of a row and before the next row.
const AFTER_TERMINATOR: u8 = 0x02;

/// Appends the escaped key without its terminator: a bound before all cells of the row and behind those
/// of all smaller rows.
pub fn push_bound(key: &[u8], out: &mut Vec<u8>) {
    let mut rest = key;
    while let Some(zero) = rest.iter().position(|byte| *byte == 0) {
        let (plain, behind) = rest.split_at(zero);
        out.extend_from_slice(plain);
        out.extend_from_slice(&[ESCAPE, ESCAPED_ZERO]);
        rest = behind.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// The bound of [`push_bound`] as a new vector.
pub fn bound(key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(key.len() + 4);
    push_bound(key, &mut out);
    out
}

/// Appends the prefix that the cells of this row share with no other row's.
pub fn push_prefix(key: &[u8], out: &mut Vec<u8>) {
    push_bound(key, out);
    out.extend_from_slice(&[ESCAPE, TERMINATOR]);
}

/// A head of row keys, plain and escaped, so that consecutive keys of one table are escaped or decoded from there on.
/// Table numbers contain many zero bytes, which need escapes.
#[derive(Debug, Default)]
pub struct Head {
    plain: Vec<u8>,
    escaped: Vec<u8>,
}

impl Head {
    /// Like [`push_prefix`], but reuses the escaped head of the last key.
    pub fn push_prefix(&mut self, key: &[u8], out: &mut Vec<u8>) {
        match key.strip_prefix(self.plain.as_slice()) {
            Some(rest) if !self.plain.is_empty() => {
                out.extend_from_slice(&self.escaped);
                push_prefix(rest, out);
            }
            // The first key, or a key of another table.
            _ => {
                self.learn(key);
                push_prefix(key, out);
            }
        }
    }

    /// Like [`append_decoded`], but reuses the decoded head of the last key.
    pub fn append_decoded(&mut self, prefix: &[u8], out: &mut Vec<u8>) -> bool {
        match prefix.strip_prefix(self.escaped.as_slice()) {
            Some(rest) if !self.escaped.is_empty() => {
                out.extend_from_slice(&self.plain);
                append_decoded(rest, out)
            }
            _ => {
                let from = out.len();
                let decoded = append_decoded(prefix, out);
                self.learn(out.get(from..).unwrap_or_default());
                decoded
            }
        }
    }

    fn learn(&mut self, key: &[u8]) {
        self.plain.clear();
        self.plain.extend_from_slice(key.get(..HEAD_BYTES).unwrap_or_default());
        self.escaped.clear();
        push_bound(&self.plain, &mut self.escaped);
    }
}

/// Appends a timestamp to a row's prefix, which completes the cell key.
pub fn push_timestamp(timestamp: Timestamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&(!timestamp.0).to_be_bytes());
}

/// Turns a row's prefix into a bound behind its cells and before the next row.
pub fn to_end_of_row(prefix: &mut [u8]) {
    if let Some(last) = prefix.last_mut() {
        *last = AFTER_TERMINATOR;
    }
}

/// The row's prefix in a cell key, or the whole key if it is too short.
pub fn prefix_of(cell_key: &[u8]) -> &[u8] {
    let length = cell_key.len().checked_sub(TIMESTAMP_BYTES).unwrap_or(cell_key.len());
    cell_key.get(..length).unwrap_or(cell_key)
}

/// The row's prefix and the timestamp in a cell key. `None` if it is no cell key.
pub fn split(cell_key: &[u8]) -> Option<(&[u8], Timestamp)> {
    let (prefix, timestamp) = cell_key.split_last_chunk::<TIMESTAMP_BYTES>()?;
    Some((prefix, Timestamp(!u64::from_be_bytes(*timestamp))))
}

/// The row key of a prefix that contains no escapes. `None` if there are any.
pub fn plain_of(prefix: &[u8]) -> Option<&[u8]> {
    prefix.strip_suffix(&[ESCAPE, TERMINATOR]).filter(|escaped| !escaped.contains(&ESCAPE))
}

/// Replaces `key` by the row key of a prefix. False if it is no valid prefix.
pub fn decode_into(prefix: &[u8], key: &mut Vec<u8>) -> bool {
    key.clear();
    append_decoded(prefix, key)
}

/// Appends the row key of a prefix. False if it is no valid prefix; a part may be appended then.
pub fn append_decoded(prefix: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(escaped) = prefix.strip_suffix(&[ESCAPE, TERMINATOR]) else { return false };
    out.reserve(escaped.len());
    // Byte by byte, because the numbers in keys have several zero bytes each.
    let mut bytes = escaped.iter();
    while let Some(byte) = bytes.next() {
        if *byte == ESCAPE && bytes.next() != Some(&ESCAPED_ZERO) {
            return false;
        }
        out.push(*byte);
    }
    true
}

/// The row key of a prefix. `None` if it is no valid prefix.
pub fn decode_prefix(prefix: &[u8]) -> Option<Bytes> {
    if let Some(plain) = plain_of(prefix) {
        return Some(Bytes::copy_from_slice(plain));
    }
    let mut key = Vec::with_capacity(prefix.len());
    decode_into(prefix, &mut key).then(|| key.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(key: &[u8], timestamp: u64) -> Vec<u8> {
        let mut out = Vec::new();
        push_prefix(key, &mut out);
        push_timestamp(Timestamp(timestamp), &mut out);
        out
    }

    fn keys() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(2), Just(0xff), any::<u8>()], 0..12)
    }

    proptest! {
        #[test]
        fn order_is_kept(a in keys(), b in keys(), at in any::<u64>(), bt in any::<u64>()) {
            let expected = a.cmp(&b).then(bt.cmp(&at));
            prop_assert_eq!(encode(&a, at).cmp(&encode(&b, bt)), expected);
        }

        #[test]
        fn keys_come_back(key in keys(), timestamp in any::<u64>()) {
            let encoded = encode(&key, timestamp);
            let (prefix, decoded) = split(&encoded).unwrap();
            prop_assert_eq!(decoded, Timestamp(timestamp));
            prop_assert_eq!(prefix_of(&encoded), prefix);
            prop_assert_eq!(decode_prefix(prefix).unwrap(), key);
        }

        #[test]
        fn prefixes_are_the_same_one_after_the_other(rows in prop::collection::vec((prop::bool::ANY, keys()), 0..6)) {
            let (mut writer, mut reader) = (Head::default(), Head::default());
            for (alike, rest) in rows {
                let row = if alike { [&b"t\0\0\0\x01\0\0\0\x01"[..], &rest].concat() } else { rest };
                let (mut written, mut expected) = (b"before".to_vec(), b"before".to_vec());
                writer.push_prefix(&row, &mut written);
                push_prefix(&row, &mut expected);
                prop_assert_eq!(&written, &expected);
                let mut read = b"before".to_vec();
                prop_assert!(reader.append_decoded(written.strip_prefix(b"before").unwrap(), &mut read));
                prop_assert_eq!(read, [&b"before"[..], &row].concat());
            }
        }

        #[test]
        fn bounds_separate_rows(a in keys(), b in keys(), timestamp in any::<u64>()) {
            prop_assert_eq!(encode(&a, timestamp) < bound(&b), a < b);
            let mut end = Vec::new();
            push_prefix(&b, &mut end);
            to_end_of_row(&mut end);
            prop_assert_eq!(encode(&a, timestamp) < end, a <= b);
        }

        #[test]
        fn anything_else_is_no_key(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Some(key) = decode_prefix(&bytes) {
                let mut again = Vec::new();
                push_prefix(&key, &mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let expected = [b'a', 0x00, 0xff, b'b', 0x00, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!(encode(b"a\0b", 1), expected);
    }
}
