//! [`Input`]: bytes that have arrived and do not yet form messages.

use super::stream::Stream;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::Frame;
use bytes::BytesMut;
use planner::session::CancelToken;
use std::future::Future;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Bytes requested from the socket at a time. The buffer grows with the received bytes, never with a stated length.
const READ_BYTES: usize = 16 * 1024;

/// Bytes read ahead, at most, only to detect that the client has gone.
const AHEAD_BYTES: usize = 1024 * 1024;
/// Run time of a statement before the server checks whether its client is still connected. A short statement runs to
/// its end, even if the client leaves without waiting for the answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The input buffer of a connection.
#[derive(Debug, Default)]
pub struct Input {
    buffer: BytesMut,
}

impl Input {
    /// The next message, if all of it has arrived.
    pub fn arrived(&mut self) -> Result<Option<Frame>> {
        Frame::cut(&mut self.buffer).map_err(ConnectionError::Fatal)
    }

    /// The next message, or `None` when the client closed the connection. Cancel-safe: a dropped future loses no
    /// received bytes.
    pub async fn frame(&mut self, stream: &mut Stream) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.arrived()? {
                return Ok(Some(frame));
            }
            self.buffer.reserve(READ_BYTES);
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The next message, which must have this type. Other types are refused before their body is buffered, because the
    /// client is not authenticated. Errors: 08P01.
    pub async fn frame_of(&mut self, kind: u8, stream: &mut Stream) -> Result<Option<Frame>> {
        if self.buffer.is_empty() {
            self.buffer.reserve(READ_BYTES);
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
        match self.buffer.first() {
            Some(first) if *first != kind => {
                let message = format!("expected message type {kind}, got message type {first}");
                Err(ConnectionError::Fatal(protocol_violation(message)))
            }
            _ => self.frame(stream).await,
        }
    }

    /// Resolves when the client has disconnected. Bytes that arrive meanwhile stay for [`Input::frame`]. A client that
    /// sends far ahead is no longer watched. Cancel-safe.
    async fn gone(&mut self, stream: &mut Stream) {
        tokio::time::sleep(PATIENCE).await;
        while self.buffer.len() < AHEAD_BYTES {
            self.buffer.reserve(READ_BYTES);
            match stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        std::future::pending().await
    }

    /// Runs `work`, a statement, to its end. If the client disconnects meanwhile, the statement is cancelled and still
    /// runs to its end.
    pub async fn while_connected<T>(
        &mut self,
        stream: &mut Stream,
        cancel: &CancelToken,
        work: impl Future<Output = T>,
    ) -> T {
        tokio::pin!(work);
        tokio::select! {
            biased;
            result = &mut work => return result,
            () = self.gone(stream) => {
                tracing::debug!("the client is gone: its statement is cancelled");
                cancel.cancel();
            }
        }
        work.await
    }
}
