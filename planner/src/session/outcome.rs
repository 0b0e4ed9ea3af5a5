//! [`Outcome`]: what running one statement gives the server to send.

use super::copy::{CopyIn, CopyOut};
use crate::error::{Fields, SqlError, SqlState};
use crate::types::{Oid, SqlType};
use datafusion::execution::SendableRecordBatchStream;
use std::sync::Arc;

/// A column of a result, as RowDescription describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// Name; names need not differ.
    pub name: String,
    /// Type with modifier.
    pub ty: SqlType,
    /// OID of the table it comes from unchanged, else 0.
    pub table_oid: Oid,
    /// Its number there, else 0.
    pub attnum: i16,
}

impl OutputColumn {
    /// A column that comes from no table.
    pub fn computed(name: impl Into<String>, ty: SqlType) -> Self {
        OutputColumn { name: name.into(), ty, table_oid: 0, attnum: 0 }
    }
}

/// What CommandComplete says after rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsTag {
    /// `SELECT n`, n being the rows sent.
    Select,
    /// As it stands, such as `INSERT 0 3` after RETURNING.
    Fixed(String),
    /// The same, of rows that a simple query answers in binary form: those of a BINARY cursor.
    Binary(String),
}

/// What running a statement gave.
pub enum Outcome {
    /// Done; no rows.
    Command {
        /// For CommandComplete.
        tag: String,
    },
    /// Rows, in the Arrow form of the columns' types.
    Rows {
        /// What they are.
        columns: Arc<[OutputColumn]>,
        /// The rows. Holds all it needs; an error out of it is to be followed by `Session::fail`.
        stream: SendableRecordBatchStream,
        /// For CommandComplete.
        tag: RowsTag,
    },
    /// The client sends rows now. Boxed: it is large.
    CopyIn(Box<CopyIn>),
    /// The client receives COPY data now.
    CopyOut(CopyOut),
    /// An empty statement (EmptyQueryResponse).
    Empty,
}

/// What DEALLOCATE forgot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deallocated {
    /// Every prepared statement.
    All,
    /// One of PREPARE; the protocol has none of that name.
    Named(String),
    /// A name that PREPARE has not given: one of the protocol's, or it does not exist (26000).
    Foreign(String),
}

/// What ReadyForQuery says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: no block.
    Idle,
    /// `T`: in a block.
    InBlock,
    /// `E`: in a block that failed.
    Failed,
}

/// A message that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    pub severity: &'static str,
    /// The fields, SQLSTATE included.
    pub fields: Fields,
}

impl Notice {
    /// A NOTICE. The severity's own name, as beside it.
    #[allow(clippy::self_named_constructors)]
    pub fn notice(message: impl Into<String>) -> Self {
        Self::new("NOTICE", crate::error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// An INFO: what was asked for, whatever client_min_messages says.
    pub fn info(message: impl Into<String>) -> Self {
        Self::new("INFO", crate::error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// The NOTICE that a name is cut to the length that names have.
    pub fn truncated(name: &str) -> Self {
        let cut = crate::parse::names::fold_text(name, true);
        let message = format!("identifier \"{name}\" will be truncated to \"{cut}\"");
        Self::notice(message).state(crate::error::state::NAME_TOO_LONG)
    }
    /// A WARNING.
    pub fn warning(state: SqlState, message: impl Into<String>) -> Self {
        Self::new("WARNING", state, message)
    }
    fn new(severity: &'static str, state: SqlState, message: impl Into<String>) -> Self {
        Notice { severity, fields: SqlError::new(state, message).fields().clone() }
    }
    /// The same with another SQLSTATE.
    #[must_use]
    pub fn state(mut self, state: SqlState) -> Self {
        self.fields.state = state;
        self
    }
    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.fields.hint = Some(hint.into());
        self
    }
    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.fields.detail = Some(detail.into());
        self
    }
}
