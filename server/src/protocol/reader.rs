//! [`Reader`]: reads fields of one message body and checks every length against the body's end.
//!
//! pgwire's own decoders panic on short bodies and read past them into the next message, hence this.

use crate::error::protocol_violation;
use bytes::{Buf, Bytes};
use planner::SqlError;
use planner::types::encoding::Encoding;
use std::borrow::Cow;

/// A cursor over a message body.
pub struct Reader {
    body: Bytes,
    encoding: Encoding,
}

type Result<T> = std::result::Result<T, SqlError>;

fn short() -> SqlError {
    protocol_violation("insufficient data left in message")
}

impl Reader {
    /// Creates a reader at the start of `body`.
    pub fn new(body: Bytes) -> Self {
        Reader { body, encoding: Encoding::Utf8 }
    }

    /// Sets the encoding of the body's strings.
    pub fn of(self, encoding: Encoding) -> Self {
        Reader { encoding, ..self }
    }

    /// Reads one unsigned byte.
    pub fn u8(&mut self) -> Result<u8> {
        self.body.try_get_u8().map_err(|_| short())
    }

    /// Reads two bytes as a signed integer.
    pub fn i16(&mut self) -> Result<i16> {
        self.body.try_get_i16().map_err(|_| short())
    }

    /// Reads four bytes as a signed integer.
    pub fn i32(&mut self) -> Result<i32> {
        self.body.try_get_i32().map_err(|_| short())
    }

    /// Reads four bytes as an unsigned integer.
    pub fn u32(&mut self) -> Result<u32> {
        self.body.try_get_u32().map_err(|_| short())
    }

    /// Reads a count of elements that take at least `element_bytes` each. A count beyond the body's size is refused
    /// before any allocation.
    pub fn count(&mut self, element_bytes: usize) -> Result<usize> {
        let count = usize::from(self.body.try_get_u16().map_err(|_| short())?);
        if count.saturating_mul(element_bytes) > self.body.len() {
            return Err(short());
        }
        Ok(count)
    }

    /// Reads `count` elements. [`Reader::count`] has checked the count.
    pub fn several<T>(&mut self, count: usize, element: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(element(self)?);
        }
        Ok(all)
    }

    /// Reads `length` bytes, which share the message's memory.
    pub fn bytes(&mut self, length: usize) -> Result<Bytes> {
        if length > self.body.len() {
            return Err(short());
        }
        Ok(self.body.split_to(length))
    }

    /// Reads a length of four bytes and that many bytes. Length -1 gives `None`.
    pub fn value(&mut self) -> Result<Option<Bytes>> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length)
                    .map_err(|_| protocol_violation(format!("invalid value length {length}")))?;
                Ok(Some(self.bytes(length)?))
            }
        }
    }

    /// Reads a string up to its zero byte.
    pub fn string(&mut self) -> Result<String> {
        // Most names are empty.
        if self.body.first() == Some(&0) {
            self.body.advance(1);
            return Ok(String::new());
        }
        let end = memchr::memchr(0, &self.body).ok_or_else(|| protocol_violation("invalid string in message"))?;
        let (text, _) = self.body.split_at_checked(end).ok_or_else(short)?;
        let decoded = self.encoding.decode(text).map(Cow::into_owned)?;
        self.body.advance(end + 1);
        Ok(decoded)
    }

    /// Returns the unread rest of the body.
    pub fn rest(self) -> Bytes {
        self.body
    }

    /// Refuses unread bytes at the end of the body.
    pub fn end(self) -> Result<()> {
        if self.body.is_empty() { Ok(()) } else { Err(protocol_violation("invalid message format")) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn lengths_beyond_the_body_are_refused() {
        let reader = |bytes: &'static [u8]| Reader::new(Bytes::from_static(bytes));
        assert!(reader(&[0xff, 0xff]).count(1).is_err());
        assert!(reader(&[0x7f, 0xff, 0xff, 0xff, 1]).value().is_err());
        assert!(reader(&[0xff, 0xff, 0xff, 0xfe]).value().is_err());
        assert_eq!(reader(&[0xff, 0xff, 0xff, 0xff]).value().unwrap(), None);
        assert!(reader(b"abc").string().is_err());
        assert!(reader(b"").string().is_err());
        assert_eq!(reader(b"abc\0").string().unwrap(), "abc");
        let mut two = reader(b"\0b\0");
        assert_eq!((two.string().unwrap(), two.string().unwrap()), (String::new(), "b".to_owned()));
        assert_eq!(reader(&[0, 1, 0, 2]).several(2, Reader::i16).unwrap(), [1, 2]);
        assert!(reader(&[0, 1, 0]).several(2, Reader::i16).is_err());
        assert_eq!(reader(b"\xff\0").string().unwrap_err().state(), "22021");
        assert_eq!(reader(b"\xff\0").of(Encoding::Latin1).string().unwrap(), "ÿ");
        assert!(reader(b"x").end().is_err());
    }
}
