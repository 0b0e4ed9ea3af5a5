//! [`Input`]: bytes that have arrived and are not yet messages.

use super::stream::Stream;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::Frame;
use bytes::BytesMut;
use planner::session::CancelToken;
use std::future::Future;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Bytes asked of the socket at a time. The buffer grows with what arrives, never with what a length claims.
const READ_BYTES: usize = 16 * 1024;

/// Bytes that are read ahead, at most, only to learn whether the client is still there.
const AHEAD_BYTES: usize = 1024 * 1024;
/// How long a statement runs before it is asked whether its client is still there: who sends a short statement and leaves
/// without waiting for the answer gets it carried out.
const PATIENCE: Duration = Duration::from_millis(500);

/// The input buffer.
#[derive(Debug, Default)]
pub struct Input {
    buffer: BytesMut,
}

impl Input {
    /// The next message, when all of it has arrived.
    pub fn arrived(&mut self) -> Result<Option<Frame>> {
        Frame::cut(&mut self.buffer).map_err(ConnectionError::Fatal)
    }

    /// The next message; `None` when the client closed the connection. Cancel-safe: nothing that arrived
    /// is lost when the future is dropped.
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

    /// The next message, of which nothing is kept unless it is of this kind: for who is not known yet. Errors: 08P01.
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

    /// Resolves when the client has gone. What it sends meanwhile is kept for [`Input::frame`]; a client that sends very
    /// much ahead is not watched. Cancel-safe.
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

    /// Waits for `work`, a statement. When the client goes meanwhile, the statement is cancelled, and ends in its own way.
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
