//! Statements about transactions, settings, cursors, and the upkeep of a database.

use super::{Expr, Ident, Name, OptionItem, Query, RelationName, SettingValue, Statement, TypeName};
use crate::span::Span;

/// The modes of a transaction, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// READ ONLY (true) or READ WRITE (false).
    pub read_only: Option<bool>,
    /// DEFERRABLE (true) or NOT DEFERRABLE (false).
    pub deferrable: Option<bool>,
}

/// The isolation levels of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// A statement about the transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransactionStatement {
    /// BEGIN (true) or START TRANSACTION (false).
    Begin(bool, TransactionModes),
    /// COMMIT or END: AND CHAIN.
    Commit(bool),
    /// ROLLBACK or ABORT: AND CHAIN.
    Rollback(bool),
    /// SAVEPOINT.
    Savepoint(Ident),
    /// RELEASE.
    Release(Ident),
    /// ROLLBACK TO.
    RollbackTo(Ident),
    /// PREPARE TRANSACTION.
    Prepare(String),
    /// COMMIT PREPARED.
    CommitPrepared(String),
    /// ROLLBACK PREPARED.
    RollbackPrepared(String),
    /// SET TRANSACTION, \[LOCAL\] or not.
    Set(TransactionModes),
    /// SET SESSION CHARACTERISTICS.
    SetSession(TransactionModes),
    /// SET TRANSACTION SNAPSHOT.
    Snapshot(String),
}

/// SET CONSTRAINTS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetConstraints {
    /// The constraints. `None` for ALL.
    pub names: Option<Vec<Name>>,
    /// DEFERRED if true, IMMEDIATE if false.
    pub deferred: bool,
}

/// SET, RESET and SHOW.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SettingStatement {
    /// SET.
    Set {
        /// Whether LOCAL was written.
        local: bool,
        /// The name in lower case. SET TIME ZONE is `timezone`, SET NAMES is `client_encoding`, SET ROLE is `role`.
        name: String,
        /// The values. `None` for DEFAULT.
        values: Option<Vec<SettingValue>>,
    },
    /// SET … FROM CURRENT.
    FromCurrent(String),
    /// RESET.
    Reset(String),
    /// RESET ALL.
    ResetAll,
    /// SHOW.
    Show(String),
    /// SHOW ALL.
    ShowAll,
}

/// COPY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Copy {
    /// The table or query.
    pub target: CopyTarget,
    /// FROM if true, TO if false.
    pub from: bool,
    /// The other end.
    pub peer: CopyPeer,
    /// The options. Those of earlier releases have the names of today.
    pub options: Vec<OptionItem>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// What COPY copies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CopyTarget {
    /// A table, and its columns. No columns means all.
    Table(Name, Vec<Ident>),
    /// A query, or a write with RETURNING.
    Statement(Box<Statement>),
}

/// The other end of a COPY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CopyPeer {
    /// STDIN or STDOUT.
    Client,
    /// A file of the server.
    File(String),
    /// A program of the server.
    Program(String),
}

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Explain {
    /// The options. EXPLAIN ANALYZE VERBOSE has two.
    pub options: Vec<OptionItem>,
    /// The statement.
    pub statement: Box<Statement>,
    /// The place of the statement.
    pub span: Span,
}

/// VACUUM and ANALYZE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vacuum {
    /// VACUUM if true, ANALYZE if false.
    pub vacuum: bool,
    /// The options. Those without parentheses are options too.
    pub options: Vec<OptionItem>,
    /// The tables with their columns. Empty means all.
    pub tables: Vec<(Name, Vec<Ident>)>,
    /// Its place.
    pub span: Span,
}

/// CLUSTER.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cluster {
    /// The options.
    pub options: Vec<OptionItem>,
    /// The table.
    pub table: Option<Name>,
    /// USING: the index.
    pub index: Option<Ident>,
}

/// REINDEX.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reindex {
    /// The options, CONCURRENTLY among them.
    pub options: Vec<OptionItem>,
    /// The kind of object.
    pub kind: ReindexKind,
    /// Its name. `None` means this database.
    pub name: Option<Name>,
    /// Its place.
    pub span: Span,
}

/// The kinds of objects of REINDEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ReindexKind {
    Index,
    Table,
    Schema,
    Database,
    System,
}

/// PREPARE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prepare {
    /// The name.
    pub name: Ident,
    /// The types of the parameters.
    pub types: Vec<TypeName>,
    /// The statement.
    pub statement: Box<Statement>,
    /// The place of the statement.
    pub span: Span,
}

/// EXECUTE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Execute {
    /// The name.
    pub name: Ident,
    /// The values of the parameters.
    pub parameters: Vec<Expr>,
    /// Its place.
    pub span: Span,
}

/// DECLARE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeclareCursor {
    /// The name.
    pub name: Ident,
    /// Whether BINARY was written.
    pub binary: bool,
    /// SCROLL (true) or NO SCROLL (false).
    pub scroll: Option<bool>,
    /// INSENSITIVE (true) or ASENSITIVE (false).
    pub insensitive: Option<bool>,
    /// Whether WITH HOLD was written.
    pub hold: bool,
    /// The query.
    pub query: Box<Query>,
    /// The place of the query.
    pub span: Span,
}

/// FETCH and MOVE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// MOVE if true.
    pub only_move: bool,
    /// The cursor.
    pub cursor: Ident,
    /// The rows.
    pub direction: FetchDirection,
}

/// The rows of FETCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchDirection {
    /// This many rows forward, or backward if negative. `None` means all forward.
    Forward(Option<i64>),
    /// This many rows backward. `None` means all.
    Backward(Option<i64>),
    /// The row at this distance.
    Relative(i64),
    /// The row with this number, from the end if negative.
    Absolute(i64),
}

/// NOTIFY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notify {
    /// The channel.
    pub channel: Ident,
    /// The payload.
    pub payload: Option<String>,
}

/// LOCK TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LockTable {
    /// The tables.
    pub tables: Vec<RelationName>,
    /// The mode.
    pub mode: TableLockMode,
    /// Whether NOWAIT was written.
    pub nowait: bool,
    /// Its place.
    pub span: Span,
}

/// The lock modes of tables, the weakest first.
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
    /// All modes, the weakest first.
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
    /// The mode's name in LOCK TABLE.
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
    /// The mode's name in pg_locks.
    pub fn lock_name(self) -> String {
        let word = |word: &str| word.chars().take(1).chain(word.to_lowercase().chars().skip(1)).collect::<String>();
        self.words().split(' ').map(word).chain(["Lock".to_string()]).collect()
    }
}

/// DISCARD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temporary,
}

/// TRUNCATE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Truncate {
    /// The tables.
    pub tables: Vec<RelationName>,
    /// Whether RESTART IDENTITY was written.
    pub restart_identity: bool,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Its place.
    pub span: Span,
}

/// CHECK INDEX or CHECK TABLE, PercoSQL's own statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    /// INDEX if true, TABLE if false.
    pub index: bool,
    /// The name.
    pub name: Name,
}
