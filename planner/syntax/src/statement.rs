//! [`Statement`]: one parsed statement.

use super::copy::Copy;
use super::precision::Reduced;
pub use super::query_statement::{CreateTableAs, CreateView, DeclareCursor, Explain, ExplainFormat, FetchDirection};
use super::role_statement::{AlterSettings, DatabaseStatement, DefaultPrivileges, Grant};
use super::source::Source;
pub use super::table_statement::{
    AlterAction, AlterRelation, Like, OnCommitClause, ReplicaIdentityClause, TableClauses,
};
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

/// A clause `FOR UPDATE` or its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// How strongly rows are locked.
    pub strength: LockStrength,
    /// `OF`: of which tables; empty for all.
    pub of: Vec<String>,
}

impl RowLock {
    /// What stands in the tree's `OF` before the number of a clause.
    pub const MARK: char = '\u{1}';
}

impl Extras {
    /// The clause that one of the tree stands for.
    pub fn lock(&self, clause: &sqlparser::ast::LockClause) -> Option<&RowLock> {
        let name = clause.of.as_ref()?.0.first()?.as_ident()?;
        self.locks.get(name.value.strip_prefix(RowLock::MARK)?.parse::<usize>().ok()?)
    }
}

/// What sqlparser's tree has no place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// `FOR UPDATE` and its kin, in order of the text; the tree's clauses name their number ([`Extras::lock`]).
    pub locks: Vec<RowLock>,
    /// `OVERRIDING … VALUE` of an INSERT.
    pub overriding: Option<Overriding>,
    /// LIKE among the columns of CREATE TABLE.
    pub likes: Vec<Like>,
    /// Clauses of CREATE TABLE.
    pub clauses: TableClauses,
    /// What ON CONFLICT says of indexes over expressions and of partial ones; in the tree each stands as a column named
    /// by [`CONFLICT_TARGET`] and its number.
    pub conflict_targets: Vec<ConflictTarget>,
    /// Types of times whose digits were reduced.
    pub reduced: Vec<Reduced>,
}

/// Begins the name of a column that stands for one of [`Extras::conflict_targets`].
pub const CONFLICT_TARGET: &str = "\u{1}conflict";

/// `(…) WHERE …` of ON CONFLICT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictTarget {
    /// Columns and expressions.
    pub items: Vec<ast::Expr>,
    /// WHERE.
    pub predicate: Option<ast::Expr>,
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
    /// SET TRANSACTION SNAPSHOT, of this name.
    SetSnapshot(String),
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
        /// What else was said.
        options: VacuumOptions,
        /// Tables; none: all.
        tables: Vec<AnalyzedTable>,
    },
    /// ANALYZE.
    Analyze {
        /// What else was said.
        options: VacuumOptions,
        /// Tables; none: all.
        tables: Vec<AnalyzedTable>,
    },
    /// CHECK INDEX name: compares an index with its table, both ways.
    CheckIndex(ast::ObjectName),
    /// CHECK TABLE name: the same of all its indexes.
    CheckTable(ast::ObjectName),
    /// ALTER SEQUENCE.
    AlterSequence(Box<AlterSequence>),
    /// ALTER ROLE … SET and RESET, ALTER DATABASE … SET and RESET.
    AlterSettings(Box<AlterSettings>),
    /// CREATE DATABASE, DROP DATABASE and ALTER DATABASE of what is no setting.
    Database(Box<DatabaseStatement>),
    /// ALTER DEFAULT PRIVILEGES.
    DefaultPrivileges(Box<DefaultPrivileges>),
    /// GRANT and REVOKE.
    Grant(Box<Grant>),
    /// REASSIGN OWNED.
    ReassignOwned {
        /// Whose things.
        from: Vec<String>,
        /// Whose they become.
        to: String,
    },
    /// DROP OWNED.
    DropOwned {
        /// Whose things.
        of: Vec<String>,
        /// CASCADE.
        cascade: bool,
    },
    /// REINDEX.
    Reindex(Reindex),
    /// CREATE SCHEMA with what is to be made in it.
    CreateSchema(Box<CreateSchema>),
    /// ALTER TABLE and its kin with actions that sqlparser does not know.
    AlterRelation(Box<AlterRelation>),
    /// COMMENT ON.
    Comment(Box<Comment>),
    /// DROP of kinds of objects of which there are none.
    DropAbsent(Box<super::DropAbsent>),
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
    /// LISTEN.
    Listen(String),
    /// UNLISTEN; None for `*`.
    Unlisten(Option<String>),
    /// NOTIFY.
    Notify {
        /// Channel.
        channel: String,
        /// Payload; empty for none.
        payload: String,
    },
    /// CHECKPOINT.
    Checkpoint,
    /// ALTER TYPE … OWNER TO, ALTER TYPE … SET SCHEMA.
    AlterType {
        /// Which.
        name: ast::ObjectName,
        /// What.
        change: TypeChange,
    },
    /// ALTER LARGE OBJECT … OWNER TO.
    AlterLargeObject {
        /// Which.
        oid: types::Oid,
        /// Whose it becomes.
        owner: String,
    },
    /// LOCK TABLE.
    LockTable {
        /// Tables.
        tables: Vec<ast::ObjectName>,
        /// In which mode.
        mode: TableLockMode,
        /// Fails instead of waiting.
        nowait: bool,
    },
}

/// How a table is locked, from the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum TableLockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

impl TableLockMode {
    /// All of them, in order.
    pub const ALL: [TableLockMode; 8] = [
        TableLockMode::AccessShare,
        TableLockMode::RowShare,
        TableLockMode::RowExclusive,
        TableLockMode::ShareUpdateExclusive,
        TableLockMode::Share,
        TableLockMode::ShareRowExclusive,
        TableLockMode::Exclusive,
        TableLockMode::AccessExclusive,
    ];
    /// As LOCK TABLE names it.
    pub fn words(self) -> &'static str {
        match self {
            TableLockMode::AccessShare => "ACCESS SHARE",
            TableLockMode::RowShare => "ROW SHARE",
            TableLockMode::RowExclusive => "ROW EXCLUSIVE",
            TableLockMode::ShareUpdateExclusive => "SHARE UPDATE EXCLUSIVE",
            TableLockMode::Share => "SHARE",
            TableLockMode::ShareRowExclusive => "SHARE ROW EXCLUSIVE",
            TableLockMode::Exclusive => "EXCLUSIVE",
            TableLockMode::AccessExclusive => "ACCESS EXCLUSIVE",
        }
    }
    /// As pg_locks names it.
    pub fn lock_name(self) -> String {
        let word = |word: &str| word.chars().take(1).chain(word.to_lowercase().chars().skip(1)).collect::<String>();
        self.words().split(' ').map(word).chain(["Lock".to_string()]).collect()
    }
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
    /// The level of a name, in lower case.
    pub fn named(name: &str) -> Option<Isolation> {
        use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
        [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable].into_iter().find(|level| level.name() == name)
    }
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

/// REINDEX.
#[derive(Clone, Debug)]
pub struct Reindex {
    /// What kind of thing.
    pub kind: ReindexKind,
    /// Which; none: this database.
    pub name: Option<ast::ObjectName>,
    /// CONCURRENTLY.
    pub concurrently: bool,
}

/// What REINDEX names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReindexKind {
    Index,
    Table,
    Schema,
    Database,
    System,
}

/// CREATE SCHEMA with elements.
#[derive(Clone, Debug)]
pub struct CreateSchema {
    /// The schema alone, as sqlparser's tree.
    pub schema: ast::Statement,
    /// What is to be made in it, in order.
    pub elements: Vec<Statement>,
}

/// What ALTER TYPE changes beside what sqlparser knows. Names are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeChange {
    /// OWNER TO a role, or `current_user` and its like.
    Owner(String),
    /// SET SCHEMA.
    Schema(String),
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
    /// A large object.
    LargeObject(types::Oid),
    /// A type.
    Type(ast::ObjectName),
    /// A function and its like: the word, its name, and the types of its arguments.
    Function(&'static str, ast::ObjectName, Vec<ast::DataType>),
}

/// Options of VACUUM and ANALYZE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumOptions {
    /// ANALYZE.
    pub analyze: bool,
    /// VERBOSE.
    pub verbose: bool,
}

/// A table that VACUUM or ANALYZE names.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedTable {
    /// Its name.
    pub name: ast::ObjectName,
    /// The columns to look at, folded; none: all.
    pub columns: Vec<String>,
}
