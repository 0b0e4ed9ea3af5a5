//! [`Statements`]: prepared statements by name, with an undo log for the changes of a batch.

use foldhash::fast::RandomState;
use planner::session::Prepared;
use planner::{SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;

/// Statements of one connection, at most. Each holds its text, its types and perhaps a plan.
const MOST: usize = 10_000;
/// SQLSTATE of an exceeded server limit.
const CONFIGURATION_LIMIT_EXCEEDED: &str = "53400";

/// A prepared statement. `None` is the empty query.
pub type Statement = Option<Arc<Prepared>>;

/// Prepared statements of one connection. The empty name is the unnamed statement.
#[derive(Default)]
pub struct Statements {
    by_name: HashMap<String, Statement, RandomState>,
    log: Option<Vec<(String, Option<Statement>)>>,
}

impl Statements {
    /// Starts to log changes, so that they can be taken back.
    pub fn begin_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Stops logging and keeps the changes.
    pub fn end_log(&mut self) {
        self.log = None;
    }

    /// Undoes all changes since [`Statements::begin_log`] and continues to log.
    pub fn take_back(&mut self) {
        let Some(log) = self.log.replace(Vec::new()) else { return };
        for (name, before) in log.into_iter().rev() {
            match before {
                Some(statement) => self.by_name.insert(name, statement),
                None => self.by_name.remove(&name),
            };
        }
    }

    /// Errors: 42P05 if the name is in use, 53400 if the connection has too many statements. The unnamed statement is
    /// always free.
    pub fn check_free(&self, name: &str) -> Result<(), SqlError> {
        if !name.is_empty() && self.by_name.contains_key(name) {
            return Err(SqlError::new(
                state::DUPLICATE_PREPARED_STATEMENT,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        if self.by_name.len() >= MOST {
            return Err(SqlError::new(CONFIGURATION_LIMIT_EXCEEDED, "too many prepared statements")
                .detail(format!("A connection may have {MOST}."))
                .hint("Close what is not needed any more, or use the unnamed statement."));
        }
        Ok(())
    }

    /// Stores a statement under a name.
    pub fn insert(&mut self, name: String, statement: Statement) {
        let before = self.by_name.insert(name.clone(), statement);
        if let Some(log) = &mut self.log {
            log.push((name, before));
        }
    }

    /// Removes a statement. An unknown name is no error.
    pub fn remove(&mut self, name: &str) {
        if let Some((name, before)) = self.by_name.remove_entry(name)
            && let Some(log) = &mut self.log
        {
            log.push((name, Some(before)));
        }
    }

    /// Removes all statements.
    pub fn clear(&mut self) {
        let names: Vec<String> = self.by_name.keys().cloned().collect();
        for name in names {
            self.remove(&name);
        }
    }

    /// The statement of a name. Errors: 26000 for an unknown name.
    pub fn get(&self, name: &str) -> Result<&Statement, SqlError> {
        self.by_name.get(name).ok_or_else(|| {
            let message = if name.is_empty() {
                "unnamed prepared statement does not exist".to_string()
            } else {
                format!("prepared statement \"{name}\" does not exist")
            };
            SqlError::new(state::INVALID_SQL_STATEMENT_NAME, message)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_bounded() {
        let mut statements = Statements::default();
        (0..MOST).for_each(|number| statements.insert(format!("s{number}"), None));
        assert_eq!(statements.check_free("one more").unwrap_err().state(), "53400");
        statements.remove("s0");
        assert!(statements.check_free("one more").is_ok());
    }

    #[test]
    fn a_batch_can_be_taken_back() {
        let mut statements = Statements::default();
        statements.insert("kept".into(), None);
        statements.begin_log();
        statements.insert("new".into(), None);
        statements.remove("kept");
        assert!(statements.get("kept").is_err());
        statements.take_back();
        assert!(statements.get("kept").is_ok());
        assert_eq!(statements.get("new").err().unwrap().state(), "26000");
        assert_eq!(statements.check_free("kept").unwrap_err().state(), "42P05");
        assert!(statements.check_free("").is_ok());
    }
}
