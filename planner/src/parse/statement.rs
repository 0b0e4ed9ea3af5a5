//! [`Statement`]: one parsed statement.

use super::copy::Copy;
use super::source::Source;
use sqlparser::ast;
use std::sync::Arc;
pub use txn::LockStrength;

/// One statement of what a client sent.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// Its own text, without the semicolon.
    pub text: Arc<str>,
    /// The whole text it came in: spans of the tree are positions there.
    pub source: Arc<Source>,
    /// What sqlparser's tree has no place for.
    pub extras: Extras,
    /// Whether it is the only statement of its text: else the text is one transaction.
    pub alone: bool,
}

/// What sqlparser's tree has no place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// `FOR UPDATE` and its kin, in order of the text.
    pub locks: Vec<LockStrength>,
    /// `OVERRIDING … VALUE` of an INSERT.
    pub overriding: Option<Overriding>,
    /// LIKE among the columns of CREATE TABLE.
    pub likes: Vec<Like>,
}

/// LIKE in CREATE TABLE: which table, and what of it beside columns and NOT NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Like {
    /// How many columns stand before it.
    pub before: usize,
    /// The table.
    pub table: ast::ObjectName,
    /// INCLUDING COMMENTS.
    pub comments: bool,
    /// INCLUDING CONSTRAINTS.
    pub constraints: bool,
    /// INCLUDING DEFAULTS.
    pub defaults: bool,
    /// INCLUDING IDENTITY.
    pub identity: bool,
    /// INCLUDING INDEXES.
    pub indexes: bool,
}

/// `OVERRIDING SYSTEM VALUE`, `OVERRIDING USER VALUE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Overriding {
    System,
    User,
}

/// What a statement says.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// SELECT, VALUES, TABLE, INSERT, UPDATE, DELETE and all DDL: sqlparser's tree.
    Sql(Box<ast::Statement>),
    /// BEGIN, START TRANSACTION.
    Begin(TransactionModes),
    /// COMMIT, END.
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK, ABORT.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(String),
    /// RELEASE SAVEPOINT.
    Release(String),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(String),
    /// SET TRANSACTION (of this transaction) and SET SESSION CHARACTERISTICS (of those to come).
    SetTransaction {
        /// The modes named.
        modes: TransactionModes,
        /// SESSION CHARACTERISTICS.
        session: bool,
    },
    /// SET CONSTRAINTS.
    SetConstraints {
        /// `None`: ALL.
        names: Option<Vec<ast::ObjectName>>,
        /// DEFERRED rather than IMMEDIATE.
        deferred: bool,
    },
    /// SET name.
    Set {
        /// SET LOCAL.
        local: bool,
        /// Name of the setting, folded to lower case; `SET TIME ZONE` is `timezone`, `SET NAMES` is `client_encoding`.
        name: String,
        /// The values; None for DEFAULT.
        value: Option<Vec<String>>,
    },
    /// RESET name.
    Reset(String),
    /// RESET ALL.
    ResetAll,
    /// SHOW name.
    Show(String),
    /// SHOW ALL.
    ShowAll,
    /// COPY.
    Copy(Box<Copy>),
    /// EXPLAIN.
    Explain(Box<Explain>),
    /// VACUUM.
    Vacuum {
        /// ANALYZE.
        analyze: bool,
        /// Tables; none: all.
        tables: Vec<ast::ObjectName>,
    },
    /// ANALYZE.
    Analyze {
        /// Tables; none: all.
        tables: Vec<ast::ObjectName>,
    },
    /// CHECK INDEX name: compares an index with its table, both ways.
    CheckIndex(ast::ObjectName),
    /// CHECK TABLE name: the same of all its indexes.
    CheckTable(ast::ObjectName),
    /// ALTER SEQUENCE.
    AlterSequence(Box<AlterSequence>),
    /// COMMENT ON.
    Comment(Box<Comment>),
    /// CREATE TABLE AS, SELECT INTO.
    CreateTableAs(Box<CreateTableAs>),
    /// CREATE VIEW.
    CreateView(Box<CreateView>),
    /// ALTER VIEW, as an ALTER TABLE.
    AlterView(Box<ast::Statement>),
    /// DISCARD.
    Discard(Discard),
    /// PREPARE.
    Prepare {
        /// Name.
        name: String,
        /// Parameter types.
        types: Vec<ast::DataType>,
        /// What is prepared.
        statement: Box<Statement>,
    },
    /// EXECUTE.
    Execute {
        /// Name.
        name: String,
        /// Parameters.
        parameters: Vec<ast::Expr>,
    },
    /// DEALLOCATE; None for ALL.
    Deallocate(Option<String>),
    /// DECLARE … CURSOR.
    DeclareCursor(Box<DeclareCursor>),
    /// FETCH and MOVE.
    Fetch {
        /// Cursor.
        cursor: String,
        /// Which rows.
        direction: FetchDirection,
        /// MOVE: only counted.
        only_move: bool,
    },
    /// CLOSE; None for ALL.
    CloseCursor(Option<String>),
    /// UNLISTEN; None for `*`. Nothing is ever listened to.
    Unlisten(Option<String>),
    /// CHECKPOINT.
    Checkpoint,
    /// ALTER TYPE … OWNER TO.
    AlterTypeOwner {
        /// Which.
        name: ast::ObjectName,
        /// A role's name, folded, or `current_user` and its like.
        owner: String,
    },
    /// LOCK TABLE in a mode that keeps definitions out and nobody else.
    LockTable {
        /// Tables.
        tables: Vec<ast::ObjectName>,
        /// Fails instead of waiting.
        nowait: bool,
    },
}

/// Modes of a transaction, each as far as named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
    /// DEFERRABLE.
    pub deferrable: Option<bool>,
}

/// The isolation levels of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// As SHOW prints it.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read uncommitted",
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Serializable => "serializable",
        }
    }
}

/// What DISCARD forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temporary,
}

/// ALTER SEQUENCE.
#[derive(Clone, Debug)]
pub struct AlterSequence {
    /// Which.
    pub name: ast::ObjectName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// What shall change, as a CREATE SEQUENCE says it (its name means nothing).
    pub definition: ast::Statement,
    /// RESTART, perhaps with a value.
    pub restart: Option<Option<i64>>,
    /// RENAME TO: then nothing else is said.
    pub rename: Option<ast::ObjectName>,
    /// OWNER TO: then nothing else is said.
    pub owner: Option<ast::ObjectName>,
}

/// COMMENT ON.
#[derive(Clone, Debug)]
pub struct Comment {
    /// What.
    pub on: CommentOn,
    /// The comment; None takes it away.
    pub text: Option<String>,
}

/// What a comment is on. Names that stand alone are folded.
#[derive(Clone, Debug)]
pub enum CommentOn {
    /// A table, view, sequence or index: the word, and its name.
    Relation(&'static str, ast::ObjectName),
    /// A column of a relation.
    Column(ast::ObjectName, String),
    /// A constraint of a table.
    Constraint(ast::ObjectName, String),
    /// A schema.
    Schema(String),
    /// A database.
    Database(String),
    /// A role.
    Role(String),
}

/// CREATE TABLE AS, SELECT INTO.
#[derive(Clone, Debug)]
pub struct CreateTableAs {
    /// The table.
    pub name: ast::ObjectName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Names of its first columns; the others have the query's.
    pub columns: Vec<String>,
    /// Storage parameters.
    pub parameters: Vec<String>,
    /// The query.
    pub query: Statement,
    /// Whether it is filled.
    pub with_data: bool,
    /// Whether it was written SELECT INTO.
    pub into: bool,
}

/// CREATE VIEW.
#[derive(Clone, Debug)]
pub struct CreateView {
    /// OR REPLACE.
    pub or_replace: bool,
    /// Which.
    pub name: ast::ObjectName,
    /// Names of its first columns; the others have the query's.
    pub columns: Vec<String>,
    /// The query.
    pub query: Statement,
}

/// EXPLAIN.
#[derive(Clone, Debug)]
pub struct Explain {
    /// Run it and say what happened.
    pub analyze: bool,
    /// Output columns of every node.
    pub verbose: bool,
    /// Estimated costs (PostgreSQL's default: true).
    pub costs: bool,
    /// Times (default: true with ANALYZE).
    pub timing: bool,
    /// Planning and execution time at the end; None: as ANALYZE says.
    pub summary: Option<bool>,
    /// FORMAT: lower case; `text` unless given.
    pub format: String,
    /// What is explained.
    pub statement: Statement,
}

/// DECLARE … CURSOR.
#[derive(Clone, Debug)]
pub struct DeclareCursor {
    /// Name.
    pub name: String,
    /// BINARY.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false), or neither.
    pub scroll: Option<bool>,
    /// WITH HOLD.
    pub hold: bool,
    /// The query.
    pub query: Statement,
}

/// Which rows FETCH takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// So many forward; None for all. Negative: backward.
    Relative(Option<i64>),
    /// All backward.
    BackwardAll,
    /// The row so many away from here.
    RelativeRow(i64),
    /// The row of that number.
    Absolute(i64),
}
