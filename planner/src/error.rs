//! [`SqlError`]: an error with PostgreSQL's SQLSTATE and fields. Travels through DataFusion as
//! `DataFusionError::External` and comes back whole.

use datafusion::error::DataFusionError;
use sqlparser::tokenizer::Span;
use std::fmt;
use storage::StoreError;
use txn::locks::{CircleMember, LockFailure};
use txn::{ConflictKind, TxnError};

/// The result of every fallible function in this crate.
pub type Result<T> = std::result::Result<T, SqlError>;

/// An SQLSTATE: five characters, listed in PostgreSQL's appendix A.
pub type SqlState = &'static str;

/// The SQLSTATEs in use, named as in PostgreSQL's appendix A.
#[allow(missing_docs)]
pub mod state {
    pub const WARNING: &str = "01000";
    pub const SUCCESSFUL_COMPLETION: &str = "00000";
    pub const CONNECTION_FAILURE: &str = "08006";
    pub const PROTOCOL_VIOLATION: &str = "08P01";
    pub const FEATURE_NOT_SUPPORTED: &str = "0A000";
    pub const CARDINALITY_VIOLATION: &str = "21000";
    pub const STRING_DATA_RIGHT_TRUNCATION: &str = "22001";
    pub const NUMERIC_VALUE_OUT_OF_RANGE: &str = "22003";
    pub const NULL_VALUE_NOT_ALLOWED: &str = "22004";
    pub const INVALID_DATETIME_FORMAT: &str = "22007";
    pub const DATETIME_FIELD_OVERFLOW: &str = "22008";
    pub const SUBSTRING_ERROR: &str = "22011";
    pub const DIVISION_BY_ZERO: &str = "22012";
    pub const INVALID_PARAMETER_VALUE: &str = "22023";
    pub const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";
    pub const INVALID_ESCAPE_SEQUENCE: &str = "22025";
    pub const INVALID_TEXT_REPRESENTATION: &str = "22P02";
    pub const INVALID_BINARY_REPRESENTATION: &str = "22P03";
    pub const BAD_COPY_FILE_FORMAT: &str = "22P04";
    pub const INVALID_ROW_COUNT_IN_LIMIT: &str = "2201W";
    pub const INVALID_ROW_COUNT_IN_OFFSET: &str = "2201X";
    pub const NOT_NULL_VIOLATION: &str = "23502";
    pub const FOREIGN_KEY_VIOLATION: &str = "23503";
    pub const UNIQUE_VIOLATION: &str = "23505";
    pub const CHECK_VIOLATION: &str = "23514";
    pub const NONSTANDARD_USE_OF_ESCAPE_CHARACTER: &str = "22P06";
    pub const INVALID_CURSOR_STATE: &str = "24000";
    pub const ACTIVE_SQL_TRANSACTION: &str = "25001";
    pub const READ_ONLY_SQL_TRANSACTION: &str = "25006";
    pub const NO_ACTIVE_SQL_TRANSACTION: &str = "25P01";
    pub const IN_FAILED_SQL_TRANSACTION: &str = "25P02";
    pub const TRANSACTION_TIMEOUT: &str = "25P04";
    pub const INVALID_SQL_STATEMENT_NAME: &str = "26000";
    pub const INVALID_AUTHORIZATION: &str = "28000";
    pub const INVALID_PASSWORD: &str = "28P01";
    pub const DEPENDENT_OBJECTS_STILL_EXIST: &str = "2BP01";
    pub const INVALID_CURSOR_NAME: &str = "34000";
    pub const INVALID_SAVEPOINT: &str = "3B001";
    pub const INVALID_CATALOG_NAME: &str = "3D000";
    pub const INVALID_SCHEMA_NAME: &str = "3F000";
    pub const SERIALIZATION_FAILURE: &str = "40001";
    pub const STATEMENT_COMPLETION_UNKNOWN: &str = "40003";
    pub const DEADLOCK_DETECTED: &str = "40P01";
    pub const SYNTAX_ERROR: &str = "42601";
    pub const INSUFFICIENT_PRIVILEGE: &str = "42501";
    pub const CANNOT_COERCE: &str = "42846";
    pub const GROUPING_ERROR: &str = "42803";
    pub const WINDOWING_ERROR: &str = "42P20";
    pub const INVALID_NAME: &str = "42602";
    pub const NAME_TOO_LONG: &str = "42622";
    pub const DATATYPE_MISMATCH: &str = "42804";
    pub const INDETERMINATE_DATATYPE: &str = "42P18";
    pub const WRONG_OBJECT_TYPE: &str = "42809";
    pub const INVALID_FOREIGN_KEY: &str = "42830";
    pub const UNDEFINED_COLUMN: &str = "42703";
    pub const UNDEFINED_FUNCTION: &str = "42883";
    pub const UNDEFINED_TABLE: &str = "42P01";
    pub const UNDEFINED_PARAMETER: &str = "42P02";
    pub const UNDEFINED_OBJECT: &str = "42704";
    pub const DUPLICATE_COLUMN: &str = "42701";
    pub const DUPLICATE_CURSOR: &str = "42P03";
    pub const DUPLICATE_DATABASE: &str = "42P04";
    pub const DUPLICATE_PREPARED_STATEMENT: &str = "42P05";
    pub const DUPLICATE_SCHEMA: &str = "42P06";
    pub const DUPLICATE_TABLE: &str = "42P07";
    pub const DUPLICATE_ALIAS: &str = "42712";
    pub const DUPLICATE_OBJECT: &str = "42710";
    pub const AMBIGUOUS_ALIAS: &str = "42P09";
    pub const AMBIGUOUS_COLUMN: &str = "42702";
    pub const AMBIGUOUS_FUNCTION: &str = "42725";
    pub const AMBIGUOUS_PARAMETER: &str = "42P08";
    pub const INVALID_COLUMN_REFERENCE: &str = "42P10";
    pub const INVALID_COLUMN_DEFINITION: &str = "42611";
    pub const INVALID_CURSOR_DEFINITION: &str = "42P11";
    pub const INVALID_TABLE_DEFINITION: &str = "42P16";
    pub const INVALID_OBJECT_DEFINITION: &str = "42P17";
    pub const INVALID_SCHEMA_DEFINITION: &str = "42P15";
    pub const DISK_FULL: &str = "53100";
    pub const OUT_OF_MEMORY: &str = "53200";
    pub const TOO_MANY_CONNECTIONS: &str = "53300";
    pub const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
    pub const STATEMENT_TOO_COMPLEX: &str = "54001";
    pub const OBJECT_NOT_IN_PREREQUISITE_STATE: &str = "55000";
    pub const OBJECT_IN_USE: &str = "55006";
    pub const LOCK_NOT_AVAILABLE: &str = "55P03";
    pub const QUERY_CANCELED: &str = "57014";
    pub const ADMIN_SHUTDOWN: &str = "57P01";
    pub const CANNOT_CONNECT_NOW: &str = "57P03";
    pub const IO_ERROR: &str = "58030";
    pub const SNAPSHOT_TOO_OLD: &str = "72000";
    pub const INTERNAL_ERROR: &str = "XX000";
    pub const DATA_CORRUPTED: &str = "XX001";
}

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
    /// The token this many tokens before a node of the tree.
    Before(Span, usize),
    /// The token this many tokens after the end of a node of the tree.
    Behind(Span, usize),
    /// The nth occurrence of these words after a node of the tree.
    Words {
        /// The words to search for, in lower case.
        words: &'static [&'static str],
        /// The search starts after this span. An empty span means the start of the statement.
        behind: Span,
        /// Which occurrence is meant, counted from 0.
        nth: usize,
    },
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
    /// Points the error at the token `count` tokens before a node of the statement's tree.
    #[must_use]
    pub fn about_before(mut self, part: Span, count: usize) -> Self {
        self.0.about = Some(About::Before(part, count));
        self
    }
    /// Points the error at the token `count` tokens after the end of a node of the statement's tree.
    #[must_use]
    pub fn about_behind(mut self, part: Span, count: usize) -> Self {
        self.0.about = Some(About::Behind(part, count));
        self
    }
    /// Points the error at words: their `nth` occurrence (from 0) after a node of the tree. An empty node
    /// means the whole statement.
    #[must_use]
    pub fn about_words(mut self, words: &'static [&'static str], behind: Span, nth: usize) -> Self {
        self.0.about = Some(About::Words { words, behind, nth });
        self
    }
    /// Limits the search for the error's words to the text after a node of the tree.
    #[must_use]
    pub fn behind(mut self, part: Span) -> Self {
        if let Some(About::Words { behind, .. }) = &mut self.0.about {
            *behind = part;
        }
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

impl From<SqlError> for DataFusionError {
    fn from(error: SqlError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl From<SqlError> for datafusion::arrow::error::ArrowError {
    fn from(error: SqlError) -> Self {
        datafusion::arrow::error::ArrowError::ExternalError(Box::new(error))
    }
}

impl From<datafusion::arrow::error::ArrowError> for SqlError {
    fn from(error: datafusion::arrow::error::ArrowError) -> Self {
        DataFusionError::from(error).into()
    }
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        use datafusion::arrow::error::ArrowError;
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(inner) = source {
            if let Some(sql) = inner.downcast_ref::<SqlError>() {
                return sql.clone();
            }
            if let Some(txn) = inner.downcast_ref::<TxnError>() {
                return txn.clone().into();
            }
            if inner.downcast_ref::<std::io::Error>().is_some_and(is_full_disk) {
                return full_disk(inner.to_string());
            }
            match inner.downcast_ref::<ArrowError>() {
                Some(ArrowError::DivideByZero) => {
                    return SqlError::new(state::DIVISION_BY_ZERO, "division by zero");
                }
                Some(ArrowError::ArithmeticOverflow(_)) => {
                    return SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range");
                }
                _ => {}
            }
            // `DataFusionError::Shared` and `External` expose what they wrap as their source.
            source = match inner.downcast_ref::<DataFusionError>() {
                Some(DataFusionError::External(boxed)) => Some(boxed.as_ref()),
                Some(DataFusionError::ArrowError(boxed, _)) => Some(boxed.as_ref()),
                Some(DataFusionError::Shared(shared)) => Some(shared.as_ref()),
                Some(DataFusionError::Context(_, boxed)) => Some(boxed.as_ref()),
                _ => inner.source(),
            };
        }
        match error.find_root() {
            DataFusionError::NotImplemented(what) => {
                SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("not supported: {what}"))
            }
            DataFusionError::Plan(what) if what.starts_with("Aggregate function calls cannot be nested") => {
                // An outer query's aggregate inside another of its aggregates: only the whole plan shows that.
                SqlError::new(state::GROUPING_ERROR, "aggregate function calls cannot be nested")
            }
            DataFusionError::ResourcesExhausted(what) if what.contains("disk space") => {
                full_disk(what.clone())
            }
            DataFusionError::ResourcesExhausted(what) => SqlError::new(state::OUT_OF_MEMORY, "out of memory")
                .detail(what.clone())
                .hint("What the statement holds does not fit and cannot spill. Make it need less, or start the server with more --query-memory."),
            other => SqlError::internal(other),
        }
    }
}

/// Whether the disk or the user's quota is full.
fn is_full_disk(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

fn full_disk(detail: String) -> SqlError {
    SqlError::new(state::DISK_FULL, "no more disk space for temporary files").detail(detail)
}

/// PostgreSQL's message for a conflict of this kind.
pub(crate) fn serialization_message(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Read => "could not serialize access due to read/write dependencies among transactions",
        _ => "could not serialize access due to concurrent update",
    }
}

/// The `DETAIL` of an error that reports lost locks.
pub const LOCKS_LOST: &str = "The server that keeps the locks of all did not hear of this one for too long, or took over from one \
                              that died and did not hear of this one in time; others may have had them meanwhile.";

impl From<TxnError> for SqlError {
    /// The message contains key bytes. `session` replaces them by table and key where it can.
    fn from(error: TxnError) -> Self {
        match error {
            TxnError::Conflict(conflict) => {
                SqlError::new(state::SERIALIZATION_FAILURE, serialization_message(conflict.kind))
                    .detail(format!("Key {:?} was changed at {}.", conflict.key, conflict.found))
                    .hint("The transaction might succeed if retried.")
            }
            TxnError::Undetermined { start_ts } => {
                SqlError::new(state::STATEMENT_COMPLETION_UNKNOWN, "the outcome of the commit is not known")
                    .detail(format!("Transaction {start_ts}."))
                    .hint(format!("Once the store answers, pg_xact_status('{start_ts}') on this server tells."))
            }
            TxnError::SnapshotTooOld { .. } => {
                SqlError::new(state::SNAPSHOT_TOO_OLD, "snapshot too old").detail(error.to_string())
            }
            TxnError::NotLocked { failure, .. } => failure.into(),
            TxnError::LocksLost => {
                SqlError::new(state::SERIALIZATION_FAILURE, "could not serialize access due to locks that were lost")
                    .detail(LOCKS_LOST)
                    .hint("The transaction might succeed if retried.")
            }
            error @ TxnError::Unlooked => SqlError::internal(error.to_string()),
            TxnError::Invalid(what) => SqlError::internal(what),
            TxnError::Store(error) => error.into(),
            TxnError::Spill(what) => SqlError::new(state::IO_ERROR, what),
        }
    }
}

impl From<LockFailure> for SqlError {
    fn from(failure: LockFailure) -> Self {
        match failure {
            LockFailure::Held => SqlError::new(state::LOCK_NOT_AVAILABLE, "could not obtain lock"),
            LockFailure::TimedOut => SqlError::new(state::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
            LockFailure::Deadlock(circle) => {
                let waits = |at: &CircleMember| {
                    format!("Process {} waits for a lock; blocked by process {}.", at.label, at.blocked_by)
                };
                let detail: Vec<String> = circle.iter().map(waits).collect();
                SqlError::new(state::DEADLOCK_DETECTED, "deadlock detected")
                    .detail(detail.join("\n"))
                    .hint("The transaction might succeed if retried.")
            }
            LockFailure::TooMany => SqlError::new(state::OUT_OF_MEMORY, "out of shared memory")
                .hint("Too many rows are locked at the same time. Change fewer in one transaction, or use REPEATABLE READ, which locks none before COMMIT."),
            LockFailure::TooManyNamed => SqlError::new(state::OUT_OF_MEMORY, "out of shared memory")
                .hint("You might need to increase max_locks_per_transaction."),
            LockFailure::Unavailable => SqlError::new(state::IO_ERROR, "the server that keeps the locks does not answer"),
            LockFailure::NotSpilled { full: true } => SqlError::new(state::DISK_FULL, "no room on disk for the row locks of a transaction"),
            LockFailure::NotSpilled { full: false } => SqlError::new(state::IO_ERROR, "could not write or read the row locks of a transaction"),
        }
    }
}

impl From<StoreError> for SqlError {
    fn from(error: StoreError) -> Self {
        let sqlstate = match &error {
            StoreError::DiskFull(_) => state::DISK_FULL,
            StoreError::ReadOnly(_) => state::READ_ONLY_SQL_TRANSACTION,
            StoreError::Undetermined(_) => state::STATEMENT_COMPLETION_UNKNOWN,
            StoreError::InUse(_) => state::OBJECT_IN_USE,
            StoreError::Corrupted(_) | StoreError::Format(_) => state::DATA_CORRUPTED,
            StoreError::Io(_) | StoreError::Unavailable(_) => state::IO_ERROR,
            StoreError::Unsupported(_) => state::FEATURE_NOT_SUPPORTED,
            StoreError::TooLarge(_) => state::PROGRAM_LIMIT_EXCEEDED,
        };
        SqlError::new(sqlstate, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilling_onto_a_full_disk_is_no_internal_error() {
        let full = || std::io::Error::from_raw_os_error(28);
        let told = datafusion::arrow::error::ArrowError::IoError("cannot write".to_owned(), full());
        for error in [DataFusionError::IoError(full()), told.into()] {
            let shared = DataFusionError::Shared(std::sync::Arc::new(error));
            assert_eq!(SqlError::from(shared).0.state, state::DISK_FULL);
        }
        let other = DataFusionError::IoError(std::io::Error::from_raw_os_error(5));
        assert_ne!(SqlError::from(other).0.state, state::DISK_FULL);
    }
}
