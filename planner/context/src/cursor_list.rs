//! [`CursorList`]: what expressions and system views ask of a session's cursors.

use catalog::TableDescriptor;
use sql_error::{Result, SqlError, state};
use std::any::Any;
use std::sync::Arc;
use types::Datum;

/// A cursor, as `pg_cursors` shows it.
#[derive(Clone, Debug)]
pub struct ShownCursor {
    /// Name.
    pub name: String,
    /// The statement of DECLARE.
    pub statement: Arc<str>,
    /// WITH HOLD.
    pub hold: bool,
    /// BINARY.
    pub binary: bool,
    /// Whether it moves backwards.
    pub scroll: bool,
    /// When it was made, as a datum of timestamptz.
    pub created: i64,
}

/// The cursors of a session.
pub trait CursorList: Any + Send + Sync {
    /// A column of the identity of the row that a cursor stands on: of its primary key, by index, or the row key.
    /// Errors: 34000, 24000.
    fn current(&self, name: &str, table: &TableDescriptor, place: usize) -> Result<Datum>;
    /// All cursors, by name.
    fn shown(&self) -> Vec<ShownCursor>;
}

/// 34000: there is no cursor of this name.
pub fn missing(name: &str) -> SqlError {
    SqlError::new(state::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}
