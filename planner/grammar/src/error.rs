//! [`SyntaxError`]: why a text is no statement.

use crate::span::Span;
use std::fmt;

/// The result of every fallible function in this crate.
pub type Result<T> = std::result::Result<T, SyntaxError>;

/// An SQLSTATE: five characters (manual, appendix A).
pub type SqlState = &'static str;

/// 42601: the text is not in the grammar.
pub const SYNTAX_ERROR: SqlState = "42601";
/// 0A000: PostgreSQL knows it, PercoSQL does not.
pub const FEATURE_NOT_SUPPORTED: SqlState = "0A000";
/// 54001: the statement is nested too deeply.
pub const STATEMENT_TOO_COMPLEX: SqlState = "54001";
/// 22023: a value is out of its range.
pub const INVALID_PARAMETER_VALUE: SqlState = "22023";
/// 22025: an escape of a string is broken.
pub const INVALID_ESCAPE_SEQUENCE: SqlState = "22025";
/// 22021: bytes are no text.
pub const CHARACTER_NOT_IN_REPERTOIRE: SqlState = "22021";
/// 54000: a limit of statements is exceeded.
pub const PROGRAM_LIMIT_EXCEEDED: SqlState = "54000";
/// 42704: an object is missing.
pub const UNDEFINED_OBJECT: SqlState = "42704";

/// An error in PostgreSQL's words. Boxed inside, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(Box<Fields>);

/// The fields of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The SQLSTATE.
    pub state: SqlState,
    /// One line, lower case, no full stop.
    pub message: String,
    /// More about what happened, in whole sentences.
    pub detail: Option<String>,
    /// Advice to the user, in whole sentences.
    pub hint: Option<String>,
    /// The text that the error points at. PostgreSQL reports its start.
    pub span: Option<Span>,
}

impl SyntaxError {
    /// An error without a place.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        let message = message.into();
        SyntaxError(Box::new(Fields { state, message, detail: None, hint: None, span: None }))
    }

    /// 42601 without a place.
    pub fn syntax(message: impl Into<String>) -> Self {
        SyntaxError::new(SYNTAX_ERROR, message)
    }

    /// 0A000: `what` is not supported. `what` begins a sentence, such as `CREATE RULE`.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        SyntaxError::new(FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }

    /// The same error with a place.
    pub fn at(mut self, span: Span) -> Self {
        self.0.span = Some(span);
        self
    }

    /// The same error with a detail.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// The same error with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The fields to report.
    pub fn fields(&self) -> &Fields {
        &self.0
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for SyntaxError {}
