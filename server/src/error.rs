//! [`ConnectionError`]: errors that end a message or a connection, and their form in the protocol.

use bytes::{BufMut, BytesMut};
use pgwire::messages::Message;
use planner::error::Fields;
use planner::types::encoding::Encoding;
use planner::{SqlError, state};
use std::io;

/// An error while a message was handled.
#[derive(Debug)]
pub enum ConnectionError {
    /// Sent as `ERROR`; the connection continues.
    Sql(SqlError),
    /// Sent as `FATAL`; the connection ends.
    Fatal(SqlError),
    /// The socket failed or was closed, so no report is possible.
    Io(io::Error),
}

/// The result of an operation on a connection.
pub type Result<T> = std::result::Result<T, ConnectionError>;

impl From<SqlError> for ConnectionError {
    fn from(error: SqlError) -> Self {
        ConnectionError::Sql(error)
    }
}

impl From<io::Error> for ConnectionError {
    fn from(error: io::Error) -> Self {
        ConnectionError::Io(error)
    }
}

/// 08P01: the client violated the protocol.
pub fn protocol_violation(message: impl Into<String>) -> SqlError {
    SqlError::new(state::PROTOCOL_VIOLATION, message)
}

/// Severity of an error message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// `ERROR`: the statement failed.
    Error,
    /// `FATAL`: the connection ends.
    Fatal,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        }
    }
}

/// Appends an ErrorResponse. Its text is in the client's encoding.
pub fn write_error(out: &mut BytesMut, severity: Severity, error: &SqlError, encoding: Encoding) {
    write_fields(out, b'E', &fields(severity.name(), error.fields()), encoding);
}

/// Appends a NoticeResponse. `severity` is `NOTICE`, `WARNING`, `INFO`, `LOG` or `DEBUG`.
pub fn write_notice(out: &mut BytesMut, severity: &str, notice: &Fields, encoding: Encoding) {
    write_fields(out, b'N', &fields(severity, notice), encoding);
}

fn write_fields(out: &mut BytesMut, kind: u8, fields: &[(u8, String)], encoding: Encoding) {
    out.put_u8(kind);
    let start = out.len();
    out.put_u32(0);
    for (code, text) in fields {
        out.put_u8(*code);
        out.put_slice(&encoding.encode_message(text));
        out.put_u8(0);
    }
    out.put_u8(0);
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_be_bytes());
    }
}

/// Appends a message of the codec. The codec refuses only messages beyond its size limits; such a message is logged and
/// dropped.
pub fn write_message<M: Message>(out: &mut BytesMut, message: &M) {
    let start = out.len();
    if let Err(error) = message.encode(out) {
        out.truncate(start);
        tracing::error!(%error, "a message could not be encoded");
    }
}

fn fields(severity: &str, error: &Fields) -> Vec<(u8, String)> {
    let mut fields = vec![
        (b'S', severity.to_string()),
        (b'V', severity.to_string()),
        (b'C', error.state.to_string()),
        (b'M', error.message.clone()),
    ];
    let optional = [
        (b'D', &error.detail),
        (b'H', &error.hint),
        (b'W', &error.context),
        (b's', &error.schema),
        (b't', &error.table),
        (b'c', &error.column),
        (b'd', &error.data_type),
        (b'n', &error.constraint),
    ];
    for (code, value) in optional {
        if let Some(value) = value {
            fields.push((code, value.clone()));
        }
    }
    if let Some(position) = error.position {
        fields.push((b'P', position.to_string()));
    }
    // A zero byte would end the field early and shift all fields after it.
    for (_, value) in &mut fields {
        if value.contains('\0') {
            *value = value.replace('\0', "\u{fffd}");
        }
    }
    fields
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_in_a_message_does_not_break_the_frame() {
        let mut out = BytesMut::new();
        write_error(&mut out, Severity::Error, &SqlError::new("XX000", "a\0b").detail("why"), Encoding::Utf8);
        assert_eq!(out[0], b'E');
        let length = u32::from_be_bytes(out[1..5].try_into().unwrap()) as usize;
        assert_eq!(length + 1, out.len());
        let text = String::from_utf8(out[5..].to_vec()).unwrap();
        assert!(text.contains("Ma\u{fffd}b\0Dwhy\0"), "{text:?}");
    }
}
