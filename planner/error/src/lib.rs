//! [`SqlError`]: an error with PostgreSQL's SQLSTATE and fields, and what a statement's code may ask of its surroundings wherever it
//! computes: whether it is to stop ([`interrupt`]), and how large a value may be ([`value_size`]).
//!
//! An error travels through DataFusion as `DataFusionError::External` and comes back whole.

mod conversion;
pub mod interrupt;
pub mod state;
pub mod value_size;

pub use conversion::{LOCKS_LOST, serialization_message};

use sqlparser::tokenizer::Span;
use std::fmt;

/// A result of the planner.
pub type Result<T> = std::result::Result<T, SqlError>;

/// Five characters of PostgreSQL's appendix A.
pub type SqlState = &'static str;

/// An error as PostgreSQL reports one (manual, chapter 55.8). Boxed inside, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError(Box<Fields>);

/// What an error is about: where its place is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A token; its place is known when it stands once in the statement.
    Token(String),
    /// A part of the statement's tree.
    Part(Span),
    /// What stands so many tokens before a part of the tree.
    Before(Span, usize),
    /// What stands behind a part of the tree and so many tokens more.
    Behind(Span, usize),
    /// Words that stand for the nth time behind a part of the tree.
    Words {
        /// The words, in lower case.
        words: &'static [&'static str],
        /// Behind what; empty: from the statement's beginning.
        behind: Span,
        /// The how manieth, from 0.
        nth: usize,
    },
}

/// What an error says is not there: schema, where one was named, and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A table, view or sequence.
    Relation(Option<String>, String),
    /// A schema.
    Schema(String),
    /// A type.
    Type(Option<String>, String),
}

/// The fields of an error or notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// SQLSTATE.
    pub state: SqlState,
    /// One line, lower case, no full stop.
    pub message: String,
    /// More about what happened; whole sentences.
    pub detail: Option<String>,
    /// What the person could do; whole sentences.
    pub hint: Option<String>,
    /// Position in the statement's text: characters, from 1.
    pub position: Option<usize>,
    /// Schema of the object concerned.
    pub schema: Option<String>,
    /// Table concerned.
    pub table: Option<String>,
    /// Column concerned.
    pub column: Option<String>,
    /// Data type concerned.
    pub data_type: Option<String>,
    /// Constraint concerned.
    pub constraint: Option<String>,
    /// Where it happened (`CONTEXT`), such as the line of a COPY.
    pub context: Option<String>,
    /// Which row of a write's input failed, counted from 0: COPY finds its line by it. Not for clients.
    pub row: Option<u64>,
    /// What the error is about, where its position in the statement is not known yet. Not for clients.
    pub about: Option<About>,
    /// Whether PostgreSQL says it of values when it runs, so that it has no position though a constant had it. Not for clients.
    pub run_time: bool,
    /// What is not there. Not for clients.
    pub missing: Option<Missing>,
    /// The statement was planned by a definition that changed while the lock of its table was waited for. Not for clients.
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
    /// XX000: a state of the program that should not be.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(state::INTERNAL_ERROR, format!("internal error: {what}"))
    }
    /// 42601 at a position.
    pub fn syntax(message: impl Into<String>) -> Self {
        Self::new(state::SYNTAX_ERROR, message)
    }
    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }
    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }
    /// Says that the statement was planned by a definition that is not the newest.
    #[must_use]
    pub fn outdated(mut self) -> Self {
        self.0.outdated = true;
        self
    }
    /// Says what is not there.
    #[must_use]
    pub fn missing(mut self, what: Missing) -> Self {
        self.0.missing = Some(what);
        self
    }
    /// Adds a position: characters from 1.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }
    /// Changes its message.
    #[must_use]
    pub fn reworded(mut self, word: impl FnOnce(&str) -> String) -> Self {
        self.0.message = word(&self.0.message);
        self
    }
    /// Says which token the error is about.
    #[must_use]
    pub fn about(mut self, token: impl Into<String>) -> Self {
        self.0.about = Some(About::Token(token.into()));
        self
    }
    /// Says which part of the statement's tree the error is about.
    #[must_use]
    pub fn about_part(mut self, part: Span) -> Self {
        self.0.about = Some(About::Part(part));
        self
    }
    /// Says that the error is about what stands so many tokens before a part of the statement's tree.
    #[must_use]
    pub fn about_before(mut self, part: Span, count: usize) -> Self {
        self.0.about = Some(About::Before(part, count));
        self
    }
    /// Says that the error is about what stands behind a part of the statement's tree and so many tokens more.
    #[must_use]
    pub fn about_behind(mut self, part: Span, count: usize) -> Self {
        self.0.about = Some(About::Behind(part, count));
        self
    }
    /// Says which words the error is about: where they stand for the `nth` time (from 0) behind a part of the tree, or in the
    /// statement where that is empty.
    #[must_use]
    pub fn about_words(mut self, words: &'static [&'static str], behind: Span, nth: usize) -> Self {
        self.0.about = Some(About::Words { words, behind, nth });
        self
    }
    /// Says behind what the words stand that the error is about.
    #[must_use]
    pub fn behind(mut self, part: Span) -> Self {
        if let Some(About::Words { behind, .. }) = &mut self.0.about {
            *behind = part;
        }
        self
    }
    /// Says that the error is one of values: it gets no position.
    #[must_use]
    pub fn of_values(mut self) -> Self {
        self.0.run_time = true;
        self
    }
    /// Removes the position, which was one in another text.
    #[must_use]
    pub fn without_position(mut self) -> Self {
        self.0.position = None;
        if !matches!(self.0.about, Some(About::Token(_))) {
            self.0.about = None;
        }
        self
    }
    /// Adds the table concerned.
    #[must_use]
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> Self {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }
    /// Adds the column concerned.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.0.column = Some(column.into());
        self
    }
    /// Adds the constraint concerned.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Into<String>) -> Self {
        self.0.constraint = Some(constraint.into());
        self
    }
    /// Adds the context.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }
    /// Says which row of a write's input failed.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.0.row = Some(row);
        self
    }
    /// The fields.
    pub fn fields(&self) -> &Fields {
        &self.0
    }
    /// The SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.0.state
    }
    /// Whether running the transaction again may succeed (40001, 40P01).
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
