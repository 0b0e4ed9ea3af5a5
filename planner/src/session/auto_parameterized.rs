//! [`LiftedStatements`] caches parsed statements whose whole numbers were replaced by parameters. It also remembers
//! texts whose numbers must stay.

use super::dispatch::is_planned;
use super::statement::Statement;
use crate::error::SqlError;
use crate::parse::auto_parameterize::Lifted;
use crate::parse::parse;
use crate::state;
use crate::types::{Datum, SqlType};
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The greatest number of cached texts.
const KEPT: usize = 1024;

/// The statements by text. `None` if the text's numbers must stay.
pub struct LiftedStatements(Cache<String, Option<Arc<Statement>>>);

impl Default for LiftedStatements {
    fn default() -> Self {
        LiftedStatements(Cache::new(KEPT))
    }
}

impl LiftedStatements {
    /// The parsed statement of a text with parameters, from the cache if possible.
    pub fn statement(&self, text: &str) -> Option<Arc<Statement>> {
        if let Some(known) = self.0.get(text) {
            return known;
        }
        let alone = |mut statements: Vec<Statement>| if statements.len() == 1 { statements.pop() } else { None };
        let parsed = parse(text).ok().and_then(alone).filter(|statement| is_planned(&statement.kind)).map(Arc::new);
        self.0.insert(text.to_owned(), parsed.clone());
        parsed
    }

    /// Records that a text could not be planned with parameters. Unless the cause is a missing name or privilege, the
    /// text is not tried again.
    pub fn refused(&self, text: &str, error: &SqlError) {
        let missing = [state::UNDEFINED_TABLE, state::UNDEFINED_COLUMN, state::INSUFFICIENT_PRIVILEGE];
        if !missing.contains(&error.state()) {
            self.forbid(text);
        }
    }

    /// Records that the numbers of the text must stay.
    pub fn forbid(&self, text: &str) {
        self.0.insert(text.to_owned(), None);
    }
}

/// The SQL type of a lifted number.
pub fn type_of(value: Lifted) -> SqlType {
    match value {
        Lifted::Int4(_) => SqlType::INT4,
        Lifted::Int8(_) => SqlType::INT8,
    }
}

/// The number as the value of a parameter.
pub fn datum(value: Lifted) -> Datum {
    match value {
        Lifted::Int4(value) => Datum::Int32(Some(value)),
        Lifted::Int8(value) => Datum::Int64(Some(value)),
    }
}
