//! [`Statement`]: one parsed statement.

use super::copy::Copy;
use super::precision::Reduced;
pub use super::query_statement::{CreateTableAs, CreateView, DeclareCursor, Explain, ExplainFormat, FetchDirection};
use super::role_statement::{AlterSettings, DatabaseStatement, DefaultPrivileges, Grant};
use super::source::Source;
use grammar::tree as ast;
pub use grammar::tree::{Discard, ReindexKind, TableLockMode};
use std::sync::Arc;

/// One statement of a client's text.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The parsed content of the statement.
    pub kind: StatementKind,
    /// The statement's own text, without the semicolon.
    pub text: Arc<str>,
    /// The whole text around it. The spans of the tree are places there.
    pub source: Arc<Source>,
    /// Time types whose precision was reduced.
    pub reduced: Vec<Reduced>,
    /// Whether it is the only statement of its text. Several statements of a text form one transaction.
    pub alone: bool,
}

/// The parsed content of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Queries, writes and most DDL: the grammar's tree. It holds `Query`, `Insert`, `Update`, `Delete`, `Merge`,
    /// `Truncate`, `CreateTable`, `CreateIndex`, `CreateSequence`, `AlterTable`, `CreateType`, `AlterType`, `Drop`,
    /// `AlterObject`, `Role`, `DropRole` and `CreateExtension`.
    Sql(Box<ast::Statement>),
    /// BEGIN or START TRANSACTION.
    Begin(TransactionModes),
    /// COMMIT or END of a block.
    Commit {
        /// Whether AND CHAIN was written.
        chain: bool,
    },
    /// ROLLBACK or ABORT of a block.
    Rollback {
        /// Whether AND CHAIN was written.
        chain: bool,
    },
    /// SAVEPOINT of this name.
    Savepoint(String),
    /// RELEASE SAVEPOINT of this name.
    Release(String),
    /// ROLLBACK TO SAVEPOINT of this name.
    RollbackTo(String),
    /// SET TRANSACTION, or SET SESSION CHARACTERISTICS for later transactions.
    SetTransaction {
        /// The modes to set.
        modes: TransactionModes,
        /// Whether it is SET SESSION CHARACTERISTICS.
        session: bool,
    },
    /// SET TRANSACTION SNAPSHOT, with the snapshot's name.
    SetSnapshot(String),
    /// A SET CONSTRAINTS statement.
    SetConstraints {
        /// The names of the constraints. `None` means ALL.
        names: Option<Vec<ast::Name>>,
        /// DEFERRED if true, IMMEDIATE if false.
        deferred: bool,
    },
    /// SET of a setting.
    Set {
        /// Whether LOCAL was written.
        local: bool,
        /// The name of the setting in lower case. `SET TIME ZONE` is `timezone`, and `SET NAMES` is `client_encoding`.
        name: String,
        /// The values. `None` for DEFAULT.
        value: Option<Vec<String>>,
    },
    /// RESET of the setting with this name.
    Reset(String),
    /// RESET ALL: restores all settings.
    ResetAll,
    /// SHOW of the setting with this name.
    Show(String),
    /// SHOW ALL: returns all settings.
    ShowAll,
    /// COPY of a table or query.
    Copy(Box<Copy>),
    /// EXPLAIN of a statement.
    Explain(Box<Explain>),
    /// VACUUM of some or all tables.
    Vacuum {
        /// The options, such as VERBOSE.
        options: VacuumOptions,
        /// The tables. Empty means all.
        tables: Vec<AnalyzedTable>,
    },
    /// ANALYZE of some or all tables.
    Analyze {
        /// The options, such as VERBOSE.
        options: VacuumOptions,
        /// The tables. Empty means all.
        tables: Vec<AnalyzedTable>,
    },
    /// CHECK INDEX with the index's name: compares the index with its table in both directions.
    CheckIndex(ast::Name),
    /// CHECK TABLE with the table's name: the same for all its indexes.
    CheckTable(ast::Name),
    /// ALTER ROLE or ALTER DATABASE with SET or RESET.
    AlterSettings(Box<AlterSettings>),
    /// CREATE DATABASE, DROP DATABASE, or ALTER DATABASE except for settings.
    Database(Box<DatabaseStatement>),
    /// An ALTER DEFAULT PRIVILEGES statement.
    DefaultPrivileges(Box<DefaultPrivileges>),
    /// GRANT or REVOKE of privileges or roles.
    Grant(Box<Grant>),
    /// A REASSIGN OWNED statement.
    ReassignOwned {
        /// The roles that own the objects now.
        from: Vec<String>,
        /// The role that becomes the owner.
        to: String,
    },
    /// A DROP OWNED statement.
    DropOwned {
        /// The roles that own the objects.
        of: Vec<String>,
        /// Whether CASCADE was written.
        cascade: bool,
    },
    /// REINDEX of an index, table, schema or database.
    Reindex(Reindex),
    /// A CREATE SCHEMA statement.
    CreateSchema(Box<CreateSchema>),
    /// A COMMENT ON statement.
    Comment(Box<Comment>),
    /// DROP of a kind of object that cannot exist here.
    DropAbsent(Box<super::DropAbsent>),
    /// CREATE TABLE AS or SELECT INTO.
    CreateTableAs(Box<CreateTableAs>),
    /// A CREATE VIEW statement.
    CreateView(Box<CreateView>),
    /// DISCARD of a part of the session's state.
    Discard(Discard),
    /// PREPARE of a statement under a name.
    Prepare {
        /// The name of the prepared statement.
        name: String,
        /// The types of its parameters.
        types: Vec<ast::TypeName>,
        /// The statement to prepare.
        statement: Box<Statement>,
    },
    /// EXECUTE of a prepared statement.
    Execute {
        /// The name of the prepared statement.
        name: String,
        /// The values of its parameters.
        parameters: Vec<ast::Expr>,
    },
    /// DEALLOCATE of this name. `None` for ALL.
    Deallocate(Option<String>),
    /// A DECLARE … CURSOR statement.
    DeclareCursor(Box<DeclareCursor>),
    /// FETCH or MOVE of a cursor.
    Fetch {
        /// The name of the cursor.
        cursor: String,
        /// The rows to fetch.
        direction: FetchDirection,
        /// Whether it is MOVE, which only counts rows.
        only_move: bool,
    },
    /// CLOSE of the cursor with this name. `None` for ALL.
    CloseCursor(Option<String>),
    /// LISTEN to this channel.
    Listen(String),
    /// UNLISTEN from this channel. `None` for `*`.
    Unlisten(Option<String>),
    /// NOTIFY on a channel.
    Notify {
        /// The name of the channel.
        channel: String,
        /// The payload. Empty if none was written.
        payload: String,
    },
    /// CHECKPOINT, which has no operands.
    Checkpoint,
    /// ALTER LARGE OBJECT … OWNER TO.
    AlterLargeObject {
        /// The OID of the large object.
        oid: types::Oid,
        /// The role that becomes the owner.
        owner: String,
    },
    /// A LOCK TABLE statement.
    LockTable {
        /// The names of the tables.
        tables: Vec<ast::Name>,
        /// The mode of the lock.
        mode: TableLockMode,
        /// Whether NOWAIT was written: the statement then fails instead of waiting.
        nowait: bool,
    },
}

/// The modes of a transaction. `None` if not specified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionModes {
    /// The value of ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
    /// DEFERRABLE (true) or NOT DEFERRABLE (false).
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
    /// The level of this lower-case name.
    pub fn named(name: &str) -> Option<Isolation> {
        use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
        [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable].into_iter().find(|level| level.name() == name)
    }
    /// The level's name as SHOW prints it.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read uncommitted",
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Serializable => "serializable",
        }
    }
}

/// A REINDEX statement with its operand.
#[derive(Clone, Debug)]
pub struct Reindex {
    /// The kind of the named object.
    pub kind: ReindexKind,
    /// The name of the object. `None` means this database.
    pub name: Option<ast::Name>,
    /// Whether CONCURRENTLY was written.
    pub concurrently: bool,
}

/// A CREATE SCHEMA statement.
#[derive(Clone, Debug)]
pub struct CreateSchema {
    /// The name of the schema. `None` means that of its owner.
    pub name: Option<String>,
    /// The role in AUTHORIZATION: its name, or `current_user` or a similar word.
    pub owner: Option<String>,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The elements in the order of their creation.
    pub elements: Vec<Statement>,
}

/// A COMMENT ON statement.
#[derive(Clone, Debug)]
pub struct Comment {
    /// The object that it describes.
    pub on: CommentOn,
    /// The comment. `None` removes it.
    pub text: Option<String>,
}

/// The object of a comment. Unqualified names are folded.
#[derive(Clone, Debug)]
pub enum CommentOn {
    /// A table, view, sequence or index: the word for its kind, and its name.
    Relation(&'static str, ast::Name),
    /// A column: its relation and its name.
    Column(ast::Name, String),
    /// A constraint: its table and its name.
    Constraint(ast::Name, String),
    /// A schema, by name.
    Schema(String),
    /// A database, by name.
    Database(String),
    /// A role, by name.
    Role(String),
    /// A large object, by OID.
    LargeObject(types::Oid),
    /// A type, by name.
    Type(ast::Name),
    /// A function or similar object: the word for its kind, its name, and its argument types.
    Function(&'static str, ast::Name, Vec<ast::TypeName>),
}

/// The options of VACUUM and ANALYZE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumOptions {
    /// Whether ANALYZE was written.
    pub analyze: bool,
    /// Whether VERBOSE was written.
    pub verbose: bool,
}

/// A table named in VACUUM or ANALYZE.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedTable {
    /// The name of the table.
    pub name: ast::Name,
    /// The folded names of the columns. Empty means all.
    pub columns: Vec<String>,
}
