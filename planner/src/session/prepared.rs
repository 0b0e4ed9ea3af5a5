//! [`Prepared`]: a statement with known parameters and columns.

pub use context::prepared::Shown;

use super::outcome::OutputColumn;
use super::query::PlannedQuery;
use super::statement::Statement;
use super::statement_memory::Kept;
use crate::types::SqlType;
use parking_lot::Mutex;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A statement with its parameter and column types. Its portals share it.
pub struct Prepared {
    pub(super) statement: Arc<Statement>,
    pub(super) parameters: Vec<SqlType>,
    pub(super) columns: Option<Arc<[OutputColumn]>>,
    /// The parameter types that the client gave.
    pub(super) given: Vec<Option<SqlType>>,
    /// The text that the client sent, if whole numbers were lifted out of it.
    pub(super) sent: Option<Arc<str>>,
    /// The plan of a query or write, for the catalog it was last planned with.
    pub(super) planned: Mutex<Option<Arc<PlannedQuery>>>,
    /// The memory claims on its session and on the server, once it has a name.
    pub(super) kept: OnceLock<[Kept; 2]>,
}

impl Prepared {
    /// An unplanned statement without parameters.
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
    /// The text that the client sent.
    pub(super) fn text(&self) -> &Arc<str> {
        self.sent.as_ref().unwrap_or(&self.statement.text)
    }
    /// The parsed statement that was prepared.
    pub fn statement(&self) -> &Arc<Statement> {
        &self.statement
    }
    /// The types of `$1`, `$2`, … for ParameterDescription.
    pub fn parameter_types(&self) -> &[SqlType] {
        &self.parameters
    }
    /// The columns of the rows for RowDescription. `None` if it returns no rows (NoData).
    pub fn columns(&self) -> Option<&Arc<[OutputColumn]>> {
        self.columns.as_ref()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("text", &self.statement.text).finish()
    }
}
