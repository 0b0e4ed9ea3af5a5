//! [`Prepared`]: a statement whose parameters and columns are known.

use super::outcome::OutputColumn;
use super::statement::Statement;
use crate::types::SqlType;
use std::sync::Arc;

/// A statement with its parameter and column types. Shared by the portals made of it.
pub struct Prepared {
    statement: Arc<Statement>,
    parameters: Vec<SqlType>,
    columns: Option<Arc<[OutputColumn]>>,
}

impl Prepared {
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
