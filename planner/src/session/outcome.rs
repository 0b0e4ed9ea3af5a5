//! [`Outcome`]: the result of a statement that the server sends to the client.

use super::copy::{CopyIn, CopyOut};
use crate::error::{Fields, SqlError, SqlState};
use crate::types::{Oid, SqlType};
use datafusion::execution::SendableRecordBatchStream;
use std::sync::Arc;

/// A column of a result, as RowDescription describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// The column's name. Names may repeat.
    pub name: String,
    /// The column's type with its modifier.
    pub ty: SqlType,
    /// The OID of the table that the column comes from unchanged, else 0.
    pub table_oid: Oid,
    /// The column's number in that table, else 0.
    pub attnum: i16,
}

impl OutputColumn {
    /// A column that comes from no table.
    pub fn computed(name: impl Into<String>, ty: SqlType) -> Self {
        OutputColumn { name: name.into(), ty, table_oid: 0, attnum: 0 }
    }
}

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

/// The status for ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: outside a block.
    Idle,
    /// `T`: in a block.
    InBlock,
    /// `E`: in a failed block.
    Failed,
}

/// A message that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    pub severity: &'static str,
    /// The fields of the message, including the SQLSTATE.
    pub fields: Fields,
}

impl Notice {
    /// A NOTICE with a message.
    #[allow(clippy::self_named_constructors)]
    pub fn notice(message: impl Into<String>) -> Self {
        Self::new("NOTICE", crate::error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// An INFO, which the client gets whatever client_min_messages says.
    pub fn info(message: impl Into<String>) -> Self {
        Self::new("INFO", crate::error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// The NOTICE for an identifier cut to the maximum length.
    pub fn truncated(name: &str) -> Self {
        let cut = crate::parse::names::fold_text(name, true);
        let message = format!("identifier \"{name}\" will be truncated to \"{cut}\"");
        Self::notice(message).state(crate::error::state::NAME_TOO_LONG)
    }
    /// A WARNING with an SQLSTATE and a message.
    pub fn warning(state: SqlState, message: impl Into<String>) -> Self {
        Self::new("WARNING", state, message)
    }
    fn new(severity: &'static str, state: SqlState, message: impl Into<String>) -> Self {
        Notice { severity, fields: SqlError::new(state, message).fields().clone() }
    }
    /// Replaces the SQLSTATE of the message.
    #[must_use]
    pub fn state(mut self, state: SqlState) -> Self {
        self.fields.state = state;
        self
    }
    /// Sets the `HINT` field.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.fields.hint = Some(hint.into());
        self
    }
    /// Sets the `DETAIL` field.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.fields.detail = Some(detail.into());
        self
    }
}
