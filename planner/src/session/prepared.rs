//! [`Prepared`]: a statement whose parameters and columns are known.

use super::outcome::OutputColumn;
use super::query::PlannedQuery;
use super::statement::Statement;
use super::statement_memory::Kept;
use crate::types::SqlType;
use parking_lot::Mutex;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A statement with its parameter and column types. Shared by the portals made of it.
pub struct Prepared {
    pub(super) statement: Arc<Statement>,
    pub(super) parameters: Vec<SqlType>,
    pub(super) columns: Option<Arc<[OutputColumn]>>,
    /// Types that the client gave.
    pub(super) given: Vec<Option<SqlType>>,
    /// What the client sent, where the statement is another: whole numbers were lifted out of it.
    pub(super) sent: Option<Arc<str>>,
    /// The plan of a query or write, as of the catalog it was last planned with.
    pub(super) planned: Mutex<Option<Arc<PlannedQuery>>>,
    /// Its counts, for its session and for all, once it has a name.
    pub(super) kept: OnceLock<[Kept; 2]>,
}

/// What `pg_prepared_statements` shows of a statement.
#[derive(Debug)]
pub struct Shown {
    /// What the client sent.
    pub text: Arc<str>,
    /// When.
    pub created: i64,
    /// Types of its parameters.
    pub parameters: Vec<SqlType>,
    /// By PREPARE, not by the protocol.
    pub by_statement: bool,
}

impl Prepared {
    /// A statement without parameters that is not planned.
    pub(super) fn utility(statement: Arc<Statement>, columns: Option<Arc<[OutputColumn]>>) -> Self {
        Prepared {
            statement,
            parameters: Vec::new(),
            columns,
            given: Vec::new(),
            sent: None,
            planned: Mutex::new(None),
            kept: OnceLock::new(),
        }
    }
    /// The text to show to people.
    pub(super) fn text(&self) -> &Arc<str> {
        self.sent.as_ref().unwrap_or(&self.statement.text)
    }
    /// The statement.
    pub fn statement(&self) -> &Arc<Statement> {
        &self.statement
    }
    /// Types of `$1`, `$2`, … (ParameterDescription).
    pub fn parameter_types(&self) -> &[SqlType] {
        &self.parameters
    }
    /// Columns of the rows (RowDescription), or `None` when it returns none (NoData).
    pub fn columns(&self) -> Option<&Arc<[OutputColumn]>> {
        self.columns.as_ref()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("text", &self.statement.text).finish()
    }
}
