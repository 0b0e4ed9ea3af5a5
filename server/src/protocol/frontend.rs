//! [`Message`]: the messages of clients after start-up. All lengths are checked. Nothing here allocates more bytes than
//! have arrived.

use super::reader::Reader;
use crate::error::protocol_violation;
use bytes::{Buf, Bytes, BytesMut};
use planner::SqlError;
use planner::types::encoding::Encoding;

/// Longest message in bytes: PostgreSQL's 1 GB less one.
const LARGE: usize = 0x3fff_ffff;
/// Longest message in bytes of the kinds that are always short.
const SMALL: usize = 10_000;

/// One message with its body undecoded.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Type byte of the message.
    pub kind: u8,
    /// The bytes after the length.
    pub body: Bytes,
}

impl Frame {
    /// Cuts the next message off `input`. `None` means that it has not arrived as a whole. After an error the next
    /// message cannot be found, so the connection ends.
    pub fn cut(input: &mut BytesMut) -> Result<Option<Frame>, SqlError> {
        let Some(kind) = input.first().copied() else { return Ok(None) };
        let Some(limit) = limit(kind) else {
            return Err(protocol_violation(format!("invalid frontend message type {kind}")));
        };
        let Some(length) = input.get(1..5).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes) else {
            return Ok(None);
        };
        let length = length as usize;
        if !(4..=limit).contains(&length) {
            return Err(protocol_violation(format!("invalid message length {length} of message type {kind}")));
        }
        if input.len() < 1 + length {
            return Ok(None);
        }
        let mut frame = input.split_to(1 + length).freeze();
        frame.advance(5);
        Ok(Some(Frame { kind, body: frame }))
    }
}

/// The longest length that a message of this type may state; `None` for unknown types.
fn limit(kind: u8) -> Option<usize> {
    match kind {
        b'Q' | b'P' | b'B' | b'd' | b'F' => Some(LARGE),
        b'p' | b'X' | b'S' | b'H' | b'E' | b'D' | b'C' | b'c' | b'f' => Some(SMALL),
        _ => None,
    }
}

/// The kind of object in Describe and Close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `S`: a prepared statement.
    Statement,
    /// `P`: a portal.
    Portal,
}

/// A decoded message of a client.
#[derive(Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Message {
    Query { sql: String },
    Parse { name: String, sql: String, parameter_oids: Vec<u32> },
    Bind(Bind),
    Describe { target: Target, name: String },
    Execute { portal: String, max_rows: i32 },
    Close { target: Target, name: String },
    Flush,
    Sync,
    CopyData(Bytes),
    CopyDone,
    CopyFail { message: String },
    FunctionCall(FunctionCall),
    Password(Bytes),
    Terminate,
}

/// Creates a portal from a prepared statement.
#[derive(Debug, PartialEq, Eq)]
pub struct Bind {
    /// Name of the portal; empty for the unnamed one.
    pub portal: String,
    /// Name of the prepared statement; empty for the unnamed one.
    pub statement: String,
    /// Format codes: none (all text), one for all, or one each.
    pub parameter_formats: Vec<i16>,
    /// Values of the parameters; `None` is NULL.
    pub parameters: Vec<Option<Bytes>>,
    /// Format codes: none (all text), one for all, or one each.
    pub result_formats: Vec<i16>,
}

/// Calls a function by its OID.
#[derive(Debug, PartialEq, Eq)]
pub struct FunctionCall {
    /// OID of the function.
    pub function: u32,
    /// Format codes: none (all text), one for all, or one each.
    pub argument_formats: Vec<i16>,
    /// Values of the arguments; `None` is NULL.
    pub arguments: Vec<Option<Bytes>>,
    /// Format code of the result: text (0) or binary (1).
    pub result_format: i16,
}

impl Message {
    /// Decodes a frame. Its text is in the client's encoding. Errors: 08P01, 22021, 22P05.
    pub fn decode(frame: Frame, encoding: Encoding) -> Result<Message, SqlError> {
        let kind = frame.kind;
        let mut body = Reader::new(frame.body).of(encoding);
        let message = match kind {
            b'Q' => Message::Query { sql: body.string()? },
            b'P' => {
                let (name, sql) = (body.string()?, body.string()?);
                let count = body.count(4)?;
                let parameter_oids = body.several(count, Reader::u32)?;
                Message::Parse { name, sql, parameter_oids }
            }
            b'B' => {
                let (portal, statement) = (body.string()?, body.string()?);
                let count = body.count(2)?;
                let parameter_formats = body.several(count, Reader::i16)?;
                let count = body.count(4)?;
                let parameters = body.several(count, Reader::value)?;
                let count = body.count(2)?;
                let result_formats = body.several(count, Reader::i16)?;
                Message::Bind(Bind { portal, statement, parameter_formats, parameters, result_formats })
            }
            b'D' => Message::Describe { target: target(&mut body, "DESCRIBE")?, name: body.string()? },
            b'C' => Message::Close { target: target(&mut body, "CLOSE")?, name: body.string()? },
            b'E' => Message::Execute { portal: body.string()?, max_rows: body.i32()? },
            b'H' => Message::Flush,
            b'S' => Message::Sync,
            b'd' => return Ok(Message::CopyData(body.rest())),
            b'c' => Message::CopyDone,
            b'f' => Message::CopyFail { message: body.string()? },
            b'F' => {
                let function = body.u32()?;
                let count = body.count(2)?;
                let argument_formats = body.several(count, Reader::i16)?;
                let count = body.count(4)?;
                let arguments = body.several(count, Reader::value)?;
                Message::FunctionCall(FunctionCall {
                    function,
                    argument_formats,
                    arguments,
                    result_format: body.i16()?,
                })
            }
            b'p' => return Ok(Message::Password(body.rest())),
            b'X' => return Ok(Message::Terminate),
            other => return Err(protocol_violation(format!("invalid frontend message type {other}"))),
        };
        body.end()?;
        Ok(message)
    }
}

fn target(body: &mut Reader, message: &str) -> Result<Target, SqlError> {
    match body.u8()? {
        b'S' => Ok(Target::Statement),
        b'P' => Ok(Target::Portal),
        other => Err(protocol_violation(format!("invalid {message} message subtype {other}"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn frame(kind: u8, body: &[u8]) -> BytesMut {
        let mut bytes = BytesMut::from(&[kind][..]);
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn a_frame_waits_for_its_last_byte_and_leaves_what_follows() {
        let whole = frame(b'Q', b"select 1\0");
        for end in 0..whole.len() {
            let mut part = BytesMut::from(&whole[..end]);
            assert!(Frame::cut(&mut part).unwrap().is_none());
            assert_eq!(part.len(), end);
        }
        let mut two = whole.clone();
        two.extend_from_slice(&frame(b'S', b""));
        let first = Frame::cut(&mut two).unwrap().unwrap();
        assert_eq!(Message::decode(first, Encoding::Utf8).unwrap(), Message::Query { sql: "select 1".into() });
        assert_eq!(Message::decode(Frame::cut(&mut two).unwrap().unwrap(), Encoding::Utf8).unwrap(), Message::Sync);
    }

    #[test]
    fn impossible_lengths_and_kinds_end_the_connection() {
        for length in [0u32, 3, 0x4000_0000, u32::MAX] {
            let mut bytes = BytesMut::from(&b"Q"[..]);
            bytes.extend_from_slice(&length.to_be_bytes());
            assert_eq!(Frame::cut(&mut bytes).unwrap_err().state(), "08P01");
        }
        let mut bytes = BytesMut::from(&b"S"[..]);
        bytes.extend_from_slice(&20_000u32.to_be_bytes());
        assert!(Frame::cut(&mut bytes).is_err());
        assert!(Frame::cut(&mut BytesMut::from(&b"\0"[..])).is_err());
    }

    #[test]
    fn every_truncation_of_every_message_is_an_error() {
        let messages: [(u8, &[u8]); 6] = [
            (b'Q', b"select 1\0"),
            (b'P', b"n\0select 1\0\0\x01\0\0\0\x17"),
            (b'B', b"p\0s\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x01\0\x01\0\x01"),
            (b'D', b"Sname\0"),
            (b'E', b"p\0\x7f\xff\xff\xff"),
            (b'C', b"Pname\0"),
        ];
        for (kind, body) in messages {
            let decode =
                |body: &[u8]| Message::decode(Frame { kind, body: Bytes::copy_from_slice(body) }, Encoding::Utf8);
            assert!(decode(body).is_ok(), "{}", kind as char);
            for end in 0..body.len() {
                assert_eq!(decode(&body[..end]).unwrap_err().state(), "08P01", "{} cut at {end}", kind as char);
            }
            let mut longer = body.to_vec();
            longer.push(0);
            assert!(decode(&longer).is_err(), "{} with a byte too many", kind as char);
        }
    }

    #[test]
    fn any_bytes_decode_without_a_panic() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for _ in 0..20_000 {
            let kind = b"QPBDCEHSdcfFpX"[(next() % 14) as usize];
            let body: Vec<u8> = (0..next() % 40).map(|_| if next() % 2 == 0 { 0 } else { next() as u8 }).collect();
            let _ = Message::decode(Frame { kind, body: body.into() }, Encoding::Utf8);
        }
    }
}
