//! [`Output`]: the reply buffer. It is written at Sync, at Flush or once it holds 64 KiB.
//!
//! It records whether any reply of the current batch was written. A batch can run again only if none was.

use crate::connection::stream::Stream;
use crate::error::{Severity, write_error, write_message, write_notice};
use bytes::{BufMut, BytesMut};
use pgwire::messages::Message;
use planner::SqlError;
use planner::session::{Notice, Notification, OutputColumn, TransactionStatus};
use planner::types::encoding::Encoding;
use std::io;
use tokio::io::AsyncWriteExt;

/// Replies are written without a request once the buffer holds this many bytes.
pub const FLUSH_BYTES: usize = 64 * 1024;
/// Capacity in bytes that the buffer may keep between batches.
const KEEP_BYTES: usize = 4 * FLUSH_BYTES;

/// The buffer of replies to one client.
#[derive(Debug, Default)]
pub struct Output {
    buffer: BytesMut,
    /// Bytes at the start of the buffer that an interrupted write has already sent.
    written: usize,
    sent: bool,
    encoding: Encoding,
}

impl Output {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Output { buffer: BytesMut::with_capacity(8 * 1024), written: 0, sent: false, encoding: Encoding::Utf8 }
    }

    /// Sets the encoding of text in later messages.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// Begins a batch. Later replies can be taken back until they are flushed.
    pub fn begin_batch(&mut self) {
        self.sent = false;
    }

    /// Whether part of the batch's replies was written to the socket.
    pub fn was_sent(&self) -> bool {
        self.sent
    }

    /// Length of the buffer, for [`Output::take_back`].
    pub fn position(&self) -> usize {
        self.buffer.len()
    }

    /// Drops the replies after `position`. The position must stem from this batch, and no flush may have happened
    /// since.
    pub fn take_back(&mut self, position: usize) {
        self.buffer.truncate(position);
    }

    /// Whether the buffer holds enough to be written.
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= FLUSH_BYTES
    }

    /// Whether no bytes wait.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Writes all buffered bytes. Cancel-safe: a later call does not repeat written bytes.
    pub async fn flush(&mut self, stream: &mut Stream) -> io::Result<()> {
        while !self.buffer.is_empty() {
            self.write_some(stream).await?;
        }
        Ok(())
    }

    /// Waits until the socket accepts bytes, then writes as many as it accepts. Cancel-safe.
    pub async fn write_some(&mut self, stream: &mut Stream) -> io::Result<()> {
        self.sent = true;
        let waiting = self.buffer.get(self.written..).unwrap_or_default();
        if !waiting.is_empty() {
            match stream.write(waiting).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => self.written += written,
            }
        }
        if self.written < self.buffer.len() {
            return Ok(());
        }
        stream.flush().await?;
        self.written = 0;
        if self.buffer.capacity() > KEEP_BYTES {
            self.buffer = BytesMut::with_capacity(FLUSH_BYTES);
        } else {
            self.buffer.clear();
        }
        Ok(())
    }

    /// The underlying buffer, for rows and COPY data.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Appends a message of the codec.
    pub fn message<M: Message>(&mut self, message: &M) {
        write_message(&mut self.buffer, message);
    }

    /// Appends a message without a body.
    pub fn bare(&mut self, kind: u8) {
        self.buffer.put_u8(kind);
        self.buffer.put_u32(4);
    }

    /// Appends an ErrorResponse with the given severity.
    pub fn error(&mut self, severity: Severity, error: &SqlError) {
        write_error(&mut self.buffer, severity, error, self.encoding);
    }

    /// Appends a NoticeResponse with the notice's severity.
    pub fn notice(&mut self, notice: &Notice) {
        write_notice(&mut self.buffer, notice.severity, &notice.fields, self.encoding);
    }

    /// Appends a NotificationResponse for a NOTIFY.
    pub fn notification(&mut self, notification: &Notification) {
        let encoding = self.encoding;
        self.frame(b'A', |buffer| {
            buffer.put_i32(notification.pid);
            put_string(buffer, &notification.channel, encoding);
            put_string(buffer, &notification.payload, encoding);
        });
    }

    /// Appends a ReadyForQuery with the transaction's status.
    pub fn ready(&mut self, status: TransactionStatus) {
        self.buffer.put_u8(b'Z');
        self.buffer.put_u32(5);
        self.buffer.put_u8(match status {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InBlock => b'T',
            TransactionStatus::Failed => b'E',
        });
    }

    /// Appends a CommandComplete with a command tag.
    pub fn complete(&mut self, tag: &str) {
        let encoding = self.encoding;
        self.frame(b'C', |buffer| put_string(buffer, tag, encoding));
    }

    /// Appends a ParameterStatus for a setting.
    pub fn parameter_status(&mut self, name: &str, value: &str) {
        let encoding = self.encoding;
        self.frame(b'S', |buffer| {
            put_string(buffer, name, encoding);
            put_string(buffer, value, encoding);
        });
    }

    /// Appends a RowDescription. `format` gives the format code of each column.
    pub fn row_description(&mut self, columns: &[OutputColumn], format: impl Fn(usize) -> i16) {
        let encoding = self.encoding;
        self.frame(b'T', |buffer| {
            buffer.put_u16(u16::try_from(columns.len()).unwrap_or(u16::MAX));
            for (index, column) in columns.iter().enumerate() {
                put_string(buffer, &column.name, encoding);
                buffer.put_u32(column.table_oid);
                buffer.put_i16(column.attnum);
                buffer.put_u32(column.ty.oid());
                buffer.put_i16(column.ty.length());
                buffer.put_i32(column.ty.shown_modifier());
                buffer.put_i16(format(index));
            }
        });
    }

    /// Appends a ParameterDescription with the types' OIDs.
    pub fn parameter_description(&mut self, oids: impl ExactSizeIterator<Item = u32>) {
        self.frame(b't', |buffer| {
            buffer.put_u16(u16::try_from(oids.len()).unwrap_or(u16::MAX));
            for oid in oids {
                buffer.put_u32(oid);
            }
        });
    }

    /// Appends a FunctionCallResponse. `value` starts with its own length.
    pub fn function_result(&mut self, value: &[u8]) {
        self.frame(b'V', |buffer| buffer.put_slice(value));
    }

    fn frame(&mut self, kind: u8, body: impl FnOnce(&mut BytesMut)) {
        self.buffer.put_u8(kind);
        let start = self.buffer.len();
        self.buffer.put_u32(0);
        body(&mut self.buffer);
        let length = u32::try_from(self.buffer.len() - start).unwrap_or(u32::MAX);
        if let Some(place) = self.buffer.get_mut(start..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn put_string(buffer: &mut BytesMut, text: &str, encoding: Encoding) {
    let bytes = encoding.encode_message(text);
    match bytes.contains(&0) {
        // A zero byte would end the string early.
        true => buffer.extend(bytes.iter().filter(|byte| **byte != 0)),
        false => buffer.put_slice(&bytes),
    }
    buffer.put_u8(0);
}
