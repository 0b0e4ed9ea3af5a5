//! What CREATE TABLE and ALTER TABLE and its kin say beside sqlparser's trees.

use sqlparser::ast;

/// Names of parameters, folded, with their values; none stands for `true`.
pub type Parameters = Vec<(String, Option<String>)>;

/// Clauses of CREATE TABLE and CREATE TABLE AS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableClauses {
    /// TEMPORARY.
    pub temporary: bool,
    /// UNLOGGED.
    pub unlogged: bool,
    /// ON COMMIT.
    pub on_commit: Option<OnCommitClause>,
    /// COMPRESSION of a column.
    pub compression: bool,
    /// Columns with UNIQUE NULLS NOT DISTINCT.
    pub nulls_not_distinct: Vec<String>,
    /// WITH (…).
    pub parameters: Parameters,
    /// SEQUENCE NAME of identity columns, by column, folded.
    pub sequence_names: Vec<(String, ast::ObjectName)>,
    /// RESTART of CREATE SEQUENCE, perhaps with a value.
    pub restart: Option<Option<i64>>,
}

/// What REPLICA IDENTITY says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReplicaIdentityClause {
    Default,
    Full,
    Nothing,
    /// USING INDEX.
    Index(String),
}

/// What ON COMMIT says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OnCommitClause {
    PreserveRows,
    DeleteRows,
    Drop,
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
    /// INCLUDING GENERATED.
    pub generated: bool,
    /// INCLUDING STATISTICS, of which there are the columns' targets.
    pub statistics: bool,
    /// INCLUDING STORAGE.
    pub storage: bool,
}

/// ALTER TABLE and its kin.
#[derive(Clone, Debug)]
pub struct AlterRelation {
    /// `table`, `view`, `sequence` or `index`.
    pub kind: &'static str,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Which.
    pub name: ast::ObjectName,
    /// What is to be done, in order.
    pub actions: Vec<AlterAction>,
}

/// One action of ALTER TABLE. Names of columns, constraints, schemas and indexes are folded.
#[derive(Clone, Debug)]
pub enum AlterAction {
    /// One that sqlparser knows.
    Sql(Box<ast::AlterTableOperation>),
    /// One that is as it should be already.
    Nothing,
    /// SET SCHEMA.
    SetSchema(String),
    /// SET (…).
    SetParameters(Parameters),
    /// RESET (…).
    ResetParameters(Vec<String>),
    /// ALTER COLUMN … SET (…).
    SetColumnParameters(String, Parameters),
    /// ALTER COLUMN … RESET (…).
    ResetColumnParameters(String, Vec<String>),
    /// ALTER COLUMN … TYPE … COLLATE.
    SetType {
        /// The column.
        name: String,
        /// TYPE.
        data_type: ast::DataType,
        /// COLLATE.
        collation: ast::ObjectName,
        /// USING.
        using: Option<Box<ast::Expr>>,
    },
    /// RENAME TO of an index.
    RenameIndex(String),
    /// SET (…) of a view: names, folded, and values.
    ViewOptions(Parameters),
    /// RESET (…) of a view.
    ResetViewOptions(Vec<String>),
    /// SET LOGGED, SET UNLOGGED.
    SetLogged(bool),
    /// CLUSTER ON.
    ClusterOn(String),
    /// ALTER CONSTRAINT.
    AlterConstraint {
        /// Which.
        name: String,
        /// [NOT] DEFERRABLE.
        deferrable: Option<bool>,
        /// INITIALLY DEFERRED or IMMEDIATE.
        deferred: Option<bool>,
    },
    /// ADD CONSTRAINT … USING INDEX.
    AddUsingIndex {
        /// Its name.
        name: Option<String>,
        /// The index.
        index: String,
        /// PRIMARY KEY rather than UNIQUE.
        primary: bool,
        /// DEFERRABLE, and whether INITIALLY DEFERRED.
        deferred: Option<bool>,
    },
    /// ALTER COLUMN … SET STATISTICS.
    SetStatistics(String, i64),
    /// The same of a column of an index, by its number.
    SetIndexStatistics(u16, i64),
    /// REPLICA IDENTITY.
    ReplicaIdentity(ReplicaIdentityClause),
    /// ALTER COLUMN … SET STORAGE.
    SetStorage(String, String),
    /// ALTER COLUMN … SET COMPRESSION, to what it is.
    SetCompression(String),
    /// ALTER COLUMN … DROP EXPRESSION [IF EXISTS].
    DropExpression(String, bool),
    /// ALTER COLUMN … DROP IDENTITY [IF EXISTS].
    DropIdentity(String, bool),
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY.
    AddIdentity {
        /// The column.
        name: String,
        /// ALWAYS rather than BY DEFAULT.
        always: bool,
        /// SEQUENCE NAME.
        sequence: Option<ast::ObjectName>,
        /// Of the sequence.
        options: Vec<ast::SequenceOptions>,
    },
    /// ALTER COLUMN … SET GENERATED, SET of the sequence's options, RESTART.
    ChangeIdentity {
        /// The column.
        name: String,
        /// ALWAYS or BY DEFAULT.
        always: Option<bool>,
        /// RESTART, perhaps with a value.
        restart: Option<Option<i64>>,
        /// Of the sequence.
        options: Vec<ast::SequenceOptions>,
    },
}
