//! Clauses of CREATE TABLE, ALTER TABLE and similar statements beyond sqlparser's trees.

use sqlparser::ast;

/// Folded names of parameters with their values. A missing value means `true`.
pub type Parameters = Vec<(String, Option<String>)>;

/// Clauses of CREATE TABLE and CREATE TABLE AS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableClauses {
    /// Whether TEMPORARY was written.
    pub temporary: bool,
    /// Whether UNLOGGED was written.
    pub unlogged: bool,
    /// The ON COMMIT clause.
    pub on_commit: Option<OnCommitClause>,
    /// Whether a column has COMPRESSION.
    pub compression: bool,
    /// The columns with UNIQUE NULLS NOT DISTINCT.
    pub nulls_not_distinct: Vec<String>,
    /// The storage parameters in WITH (…).
    pub parameters: Parameters,
    /// SEQUENCE NAME of identity columns, by the column's folded name.
    pub sequence_names: Vec<(String, ast::ObjectName)>,
    /// RESTART of CREATE SEQUENCE, with an optional value.
    pub restart: Option<Option<i64>>,
}

/// The clause of REPLICA IDENTITY.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReplicaIdentityClause {
    Default,
    Full,
    Nothing,
    /// USING INDEX of this name.
    Index(String),
}

/// The action in ON COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OnCommitClause {
    PreserveRows,
    DeleteRows,
    Drop,
}

/// LIKE in CREATE TABLE: the source table, and the properties to copy beside columns and NOT NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Like {
    /// The number of columns before it.
    pub before: usize,
    /// The name of the source table.
    pub table: ast::ObjectName,
    /// Whether comments are copied.
    pub comments: bool,
    /// Whether CHECK constraints are copied.
    pub constraints: bool,
    /// Whether defaults are copied.
    pub defaults: bool,
    /// Whether identity columns are copied as such.
    pub identity: bool,
    /// Whether indexes are copied, with the constraints behind them.
    pub indexes: bool,
    /// Whether generated columns are copied as such.
    pub generated: bool,
    /// Whether statistics are copied. Here these are the columns' statistics targets.
    pub statistics: bool,
    /// Whether storage settings are copied.
    pub storage: bool,
}

/// ALTER TABLE, VIEW, SEQUENCE or INDEX.
#[derive(Clone, Debug)]
pub struct AlterRelation {
    /// `table`, `view`, `sequence` or `index`.
    pub kind: &'static str,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The name of the relation.
    pub name: ast::ObjectName,
    /// The actions, in order.
    pub actions: Vec<AlterAction>,
}

/// One action of ALTER TABLE. Names of columns, constraints, schemas and indexes are folded.
#[derive(Clone, Debug)]
pub enum AlterAction {
    /// An action that sqlparser knows.
    Sql(Box<ast::AlterTableOperation>),
    /// An action without an effect here.
    Nothing,
    /// SET SCHEMA to this schema.
    SetSchema(String),
    /// SET (…): storage parameters.
    SetParameters(Parameters),
    /// RESET (…): names of storage parameters.
    ResetParameters(Vec<String>),
    /// ALTER COLUMN … SET (…): the column and its parameters.
    SetColumnParameters(String, Parameters),
    /// ALTER COLUMN … RESET (…): the column and the names of parameters.
    ResetColumnParameters(String, Vec<String>),
    /// ALTER COLUMN … TYPE … COLLATE.
    SetType {
        /// The name of the column.
        name: String,
        /// The new type of the column.
        data_type: ast::DataType,
        /// The new collation of the column.
        collation: ast::ObjectName,
        /// The USING expression that converts the values.
        using: Option<Box<ast::Expr>>,
    },
    /// RENAME TO of an index: its new name.
    RenameIndex(String),
    /// SET (…) of a view: folded names and values.
    ViewOptions(Parameters),
    /// RESET (…) of a view: names of options.
    ResetViewOptions(Vec<String>),
    /// SET LOGGED (true) or SET UNLOGGED (false).
    SetLogged(bool),
    /// CLUSTER ON the index of this name.
    ClusterOn(String),
    /// ALTER CONSTRAINT of a FOREIGN KEY.
    AlterConstraint {
        /// The name of the constraint.
        name: String,
        /// DEFERRABLE (true) or NOT DEFERRABLE (false).
        deferrable: Option<bool>,
        /// INITIALLY DEFERRED (true) or IMMEDIATE (false).
        deferred: Option<bool>,
    },
    /// ADD CONSTRAINT … USING INDEX.
    AddUsingIndex {
        /// The name of the constraint, if given.
        name: Option<String>,
        /// The name of the index.
        index: String,
        /// PRIMARY KEY if true, UNIQUE if false.
        primary: bool,
        /// `Some` for DEFERRABLE: whether INITIALLY DEFERRED.
        deferred: Option<bool>,
    },
    /// ALTER COLUMN … SET STATISTICS: the column and the target.
    SetStatistics(String, i64),
    /// The same for a column of an index, by its number.
    SetIndexStatistics(u16, i64),
    /// REPLICA IDENTITY with its clause.
    ReplicaIdentity(ReplicaIdentityClause),
    /// ALTER COLUMN … SET STORAGE: the column and the storage.
    SetStorage(String, String),
    /// ALTER COLUMN … SET COMPRESSION to the present method: the column.
    SetCompression(String),
    /// ALTER COLUMN … DROP EXPRESSION: the column, and whether IF EXISTS was written.
    DropExpression(String, bool),
    /// ALTER COLUMN … DROP IDENTITY: the column, and whether IF EXISTS was written.
    DropIdentity(String, bool),
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY.
    AddIdentity {
        /// The name of the column.
        name: String,
        /// ALWAYS if true, BY DEFAULT if false.
        always: bool,
        /// The name in SEQUENCE NAME.
        sequence: Option<ast::ObjectName>,
        /// The options of the sequence.
        options: Vec<ast::SequenceOptions>,
    },
    /// ALTER COLUMN … SET GENERATED, SET of the sequence's options, or RESTART.
    ChangeIdentity {
        /// The name of the column.
        name: String,
        /// ALWAYS (true) or BY DEFAULT (false).
        always: Option<bool>,
        /// RESTART, with an optional value.
        restart: Option<Option<i64>>,
        /// The options of the sequence.
        options: Vec<ast::SequenceOptions>,
    },
}
