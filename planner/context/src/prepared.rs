//! [`Shown`]: what a session tells of its prepared statements.

use std::sync::Arc;
use types::SqlType;

/// A row of `pg_prepared_statements`.
#[derive(Debug)]
pub struct Shown {
    /// The text that the client sent.
    pub text: Arc<str>,
    /// The time of preparation, as a datum of timestamptz.
    pub created: i64,
    /// The types of the parameters.
    pub parameters: Vec<SqlType>,
    /// Prepared by PREPARE, not by the protocol.
    pub by_statement: bool,
}
