//! COPY: rows in and out as text or csv, streamed.

use crate::error::{Result, SqlError};
use bytes::Bytes;
use futures::stream::BoxStream;

/// The format of COPY data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// PostgreSQL's text format.
    Text,
    /// Comma-separated values.
    Csv,
}

/// `COPY … FROM STDIN` under way. Feed it, then call `finish` or `fail`; dropping it gives up, and the session must be
/// failed.
pub struct CopyIn {
    columns: usize,
    format: CopyFormat,
}

#[allow(unused_variables, clippy::unimplemented)]
impl CopyIn {
    /// Columns, for CopyInResponse (each of textual format 0).
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// Format.
    pub fn format(&self) -> CopyFormat {
        self.format
    }
    /// Takes the bytes of one CopyData message, cut anywhere. Waits while the rows before are being written. After an
    /// error the rest of the client's data is to be thrown away, and the session failed.
    pub async fn data(&mut self, bytes: Bytes) -> Result<()> {
        unimplemented!()
    }
    /// CopyDone: writes what is left and answers the command tag.
    pub async fn finish(self) -> Result<String> {
        unimplemented!()
    }
    /// CopyFail, or the client is gone: gives up. The error is what to report (57014).
    pub async fn fail(self, message: &str) -> SqlError {
        unimplemented!()
    }
}

/// `COPY … TO STDOUT` under way.
pub struct CopyOut {
    /// Columns, for CopyOutResponse.
    pub columns: usize,
    /// Format.
    pub format: CopyFormat,
    /// The data: each item is whole lines, and makes one CopyData message or, split at will, several.
    pub stream: BoxStream<'static, Result<CopyChunk>>,
}

/// A piece of COPY TO data.
#[derive(Clone, Debug)]
pub struct CopyChunk {
    /// Whole lines.
    pub bytes: Bytes,
    /// Rows in it (header lines are not rows): the tag is `COPY` and their sum.
    pub rows: u64,
}
