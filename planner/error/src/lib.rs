//! [`SqlError`]: an error with PostgreSQL's SQLSTATE and fields, and what a statement's code may ask of its surroundings wherever it
//! computes: whether it is to stop ([`interrupt`]), and how large a value may be ([`value_size`]).
//!
//! An error travels through DataFusion as `DataFusionError::External` and comes back whole.

mod conversion;
pub mod interrupt;
pub mod state;
pub mod value_size;

pub use conversion::{LOCKS_LOST, serialization_message};

use grammar::Span;
use std::fmt;

/// The result of every fallible function in this crate.
pub type Result<T> = std::result::Result<T, SqlError>;

/// An SQLSTATE: five characters, listed in PostgreSQL's appendix A.
pub type SqlState = &'static str;

/// An error as PostgreSQL reports one (manual, chapter 55.8). Boxed inside, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError(Box<Fields>);

/// The part of the statement that an error points at. Its position is computed from this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A token. Its position is known only if the token occurs once in the statement.
    Token(String),
    /// A node of the statement's syntax tree.
    Part(Span),
}

/// The object that an error reports as missing: its schema, if the statement named one, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A table, view or sequence: optional schema, then name.
    Relation(Option<String>, String),
    /// A schema, by name.
    Schema(String),
    /// A type: optional schema, then name.
    Type(Option<String>, String),
}

/// The fields of an error or notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The SQLSTATE, of five characters.
    pub state: SqlState,
    /// One line, lower case, no full stop.
    pub message: String,
    /// More about what happened, in whole sentences.
    pub detail: Option<String>,
    /// Advice to the user, in whole sentences.
    pub hint: Option<String>,
    /// Position in the statement's text, in characters from 1.
    pub position: Option<usize>,
    /// The schema of the object concerned.
    pub schema: Option<String>,
    /// The name of the table concerned.
    pub table: Option<String>,
    /// The name of the column concerned.
    pub column: Option<String>,
    /// The name of the data type concerned.
    pub data_type: Option<String>,
    /// The name of the constraint concerned.
    pub constraint: Option<String>,
    /// Where it happened (`CONTEXT`), such as the line of a COPY.
    pub context: Option<String>,
    /// The failing row of a write's input, counted from 0. COPY looks up its line by this number. Not sent to clients.
    pub row: Option<u64>,
    /// The part of the statement concerned, while its position is not computed yet. Not sent to clients.
    pub about: Option<About>,
    /// PostgreSQL raises this error at run time, so it has no position, even if a constant caused it.
    /// Not sent to clients.
    pub run_time: bool,
    /// The missing object. Not sent to clients.
    pub missing: Option<Missing>,
    /// The table's definition changed while the statement waited for the table's lock, so the plan is stale.
    /// Not sent to clients.
    pub outdated: bool,
}

impl SqlError {
    /// An error with a state and a message.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        SqlError(Box::new(Fields {
            state,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
            context: None,
            row: None,
            about: None,
            run_time: false,
            missing: None,
            outdated: false,
        }))
    }
    /// 0A000: `what` is not supported.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(state::FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }
    /// XX000: the program reached a state that should be impossible.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(state::INTERNAL_ERROR, format!("internal error: {what}"))
    }
    /// 42601. The caller adds the position.
    pub fn syntax(message: impl Into<String>) -> Self {
        Self::new(state::SYNTAX_ERROR, message)
    }
    /// Sets the `DETAIL` field.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }
    /// Sets the `HINT` field.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }
    /// Marks the plan of the statement as based on an outdated definition.
    #[must_use]
    pub fn outdated(mut self) -> Self {
        self.0.outdated = true;
        self
    }
    /// Records the object that is missing.
    #[must_use]
    pub fn missing(mut self, what: Missing) -> Self {
        self.0.missing = Some(what);
        self
    }
    /// Sets the position, in characters from 1.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }
    /// Replaces the message with one derived from it.
    #[must_use]
    pub fn reworded(mut self, word: impl FnOnce(&str) -> String) -> Self {
        self.0.message = word(&self.0.message);
        self
    }
    /// Points the error at a token.
    #[must_use]
    pub fn about(mut self, token: impl Into<String>) -> Self {
        self.0.about = Some(About::Token(token.into()));
        self
    }
    /// Points the error at a node of the statement's tree.
    #[must_use]
    pub fn about_part(mut self, part: Span) -> Self {
        self.0.about = Some(About::Part(part));
        self
    }
    /// Marks the error as raised at run time: it gets no position.
    #[must_use]
    pub fn of_values(mut self) -> Self {
        self.0.run_time = true;
        self
    }
    /// Removes the position, which belonged to another text.
    #[must_use]
    pub fn without_position(mut self) -> Self {
        self.0.position = None;
        if !matches!(self.0.about, Some(About::Token(_))) {
            self.0.about = None;
        }
        self
    }
    /// Sets the table concerned, with its schema.
    #[must_use]
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> Self {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }
    /// Sets the column concerned.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.0.column = Some(column.into());
        self
    }
    /// Sets the constraint concerned.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Into<String>) -> Self {
        self.0.constraint = Some(constraint.into());
        self
    }
    /// Sets the `CONTEXT` field.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }
    /// Sets the failing row of a write's input, counted from 0.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.0.row = Some(row);
        self
    }
    /// All fields of the error.
    pub fn fields(&self) -> &Fields {
        &self.0
    }
    /// The SQLSTATE of the error.
    pub fn state(&self) -> SqlState {
        self.0.state
    }
    /// Whether a retry of the transaction may succeed (40001, 40P01).
    pub fn is_retryable(&self) -> bool {
        matches!(self.state(), state::SERIALIZATION_FAILURE | state::DEADLOCK_DETECTED)
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.0.message, self.0.state)
    }
}

impl std::error::Error for SqlError {}
