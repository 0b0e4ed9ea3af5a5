//! [`Input`]: bytes that have arrived and are not yet messages.

use super::stream::Stream;
use crate::error::{ConnectionError, Result};
use crate::protocol::Frame;
use bytes::BytesMut;
use tokio::io::AsyncReadExt;

/// Bytes asked of the socket at a time. The buffer grows with what arrives, never with what a length claims.
const READ_BYTES: usize = 16 * 1024;

/// The input buffer.
#[derive(Debug, Default)]
pub struct Input {
    buffer: BytesMut,
}

impl Input {
    /// The next message; `None` when the client closed the connection. Cancel-safe: nothing that arrived
    /// is lost when the future is dropped.
    pub async fn frame(&mut self, stream: &mut Stream) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = Frame::cut(&mut self.buffer).map_err(ConnectionError::Fatal)? {
                return Ok(Some(frame));
            }
            self.buffer.reserve(READ_BYTES);
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}
