//! [`Outcome`]: the result of a statement that the server sends to the client.

pub use context::activity::TransactionStatus;
pub use context::notice::Notice;
pub use context::output_column::OutputColumn;

use super::copy::{CopyIn, CopyOut};
use datafusion::execution::SendableRecordBatchStream;
use std::sync::Arc;

/// The command tag after rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsTag {
    /// `SELECT n`, where `n` counts the rows sent.
    Select,
    /// A finished tag, such as `INSERT 0 3` after RETURNING.
    Fixed(String),
    /// A finished tag of a BINARY cursor's FETCH. A simple query then returns its rows in binary form.
    Binary(String),
}

/// The result of running a statement.
pub enum Outcome {
    /// The statement ended without rows.
    Command {
        /// The tag for CommandComplete.
        tag: String,
    },
    /// Rows, in the Arrow form of the columns' types.
    Rows {
        /// The descriptions of the columns.
        columns: Arc<[OutputColumn]>,
        /// The rows. The stream owns all it needs. After an error from it, call `Session::fail`.
        stream: SendableRecordBatchStream,
        /// The tag for CommandComplete.
        tag: RowsTag,
    },
    /// COPY FROM STDIN: the client sends data now. Boxed because it is large.
    CopyIn(Box<CopyIn>),
    /// COPY TO STDOUT: the client receives data now.
    CopyOut(CopyOut),
    /// An empty statement (EmptyQueryResponse).
    Empty,
}

/// A prepared statement that DEALLOCATE removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deallocated {
    /// Every prepared statement of the session.
    All,
    /// A statement of PREPARE. The protocol level has none of that name.
    Named(String),
    /// A name that PREPARE did not define: a protocol-level statement, or an unknown name (26000).
    Foreign(String),
}
