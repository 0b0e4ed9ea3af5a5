//! COPY over the network. This module moves bytes; `planner::session::copy` interprets them.

use crate::connection::Connection;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::Message;
use crate::query::rows::cancelled;
use bytes::BufMut;
use futures::StreamExt;
use pgwire::messages::copy::{CopyInResponse, CopyOutResponse};
use planner::SqlError;
use planner::session::{CopyFormat, CopyIn, CopyOut};
use std::io;

impl Connection {
    /// COPY FROM STDIN: reads data until CopyDone or CopyFail. Answers the command tag.
    pub(crate) async fn copy_in(&mut self, mut copy: CopyIn) -> Result<String> {
        let columns = copy.columns();
        self.send_notices();
        let (all, each) = formats(copy.format());
        self.out.message(&CopyInResponse::new(all, count(columns)?, vec![each; columns]));
        self.flush().await?;
        let cancel = self.backend.cancel.clone();
        loop {
            // Clients send one message per row. Messages that have arrived are handled without a wait.
            let frame = match self.input.arrived()? {
                Some(frame) if !cancel.is_cancelled() => Some(frame),
                _ => tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(cancelled().into()),
                    frame = self.next_frame() => frame?,
                },
            };
            let Some(frame) = frame else {
                copy.fail("connection closed by client").await;
                return Err(ConnectionError::Io(io::ErrorKind::UnexpectedEof.into()));
            };
            let kind = frame.kind;
            match Message::decode(frame, self.encoding())? {
                Message::CopyData(bytes) => copy.data(bytes).await?,
                Message::CopyDone => return Ok(copy.finish().await?),
                Message::CopyFail { message } => return Err(copy.fail(&message).await.into()),
                // Clients of the extended protocol may send these directly after Execute.
                Message::Flush | Message::Sync => {}
                Message::Terminate => {
                    copy.fail("connection closed by client").await;
                    return Err(ConnectionError::Io(io::ErrorKind::UnexpectedEof.into()));
                }
                _ => {
                    return Err(protocol_violation(format!(
                        "unexpected message type 0x{kind:02X} during COPY from stdin"
                    ))
                    .into());
                }
            }
        }
    }

    /// COPY TO STDOUT. Answers the command tag.
    pub(crate) async fn copy_out(&mut self, mut copy: CopyOut) -> Result<String> {
        let (all, each) = formats(copy.format);
        self.out.message(&CopyOutResponse::new(all, count(copy.columns)?, vec![each; copy.columns]));
        let mut rows = 0;
        loop {
            let cancel = &self.backend.cancel;
            let chunk = async {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => Err(cancelled()),
                    chunk = copy.stream.next() => chunk.transpose(),
                }
            };
            let Some(chunk) = self.input.while_connected(&mut self.stream, cancel, chunk).await? else { break };
            rows += chunk.rows;
            let mut start = 0;
            for end in chunk.ends {
                let line = chunk.bytes.get(start..end).unwrap_or_default();
                start = end;
                let length = u32::try_from(line.len() + 4).map_err(|_| SqlError::internal("a COPY row beyond 4 GB"))?;
                let buffer = self.out.buffer();
                buffer.put_u8(b'd');
                buffer.put_u32(length);
                buffer.put_slice(line);
                if self.out.is_full() {
                    self.flush_rows().await?;
                }
            }
        }
        self.out.bare(b'c');
        Ok(format!("COPY {rows}"))
    }
}

/// The format codes of the whole and of each column.
fn formats(format: CopyFormat) -> (i8, i16) {
    match format {
        CopyFormat::Text | CopyFormat::Csv => (0, 0),
        CopyFormat::Binary => (1, 1),
    }
}

fn count(columns: usize) -> std::result::Result<i16, SqlError> {
    i16::try_from(columns).map_err(|_| SqlError::internal("more columns than the protocol can count"))
}
