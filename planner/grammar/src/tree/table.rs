//! CREATE TABLE, its columns and constraints, CREATE TABLE AS, views, and CREATE INDEX.

use super::{Expr, Ident, Name, OptionItem, Persistence, Query, RelationName, SequenceOption, TypeName};
use crate::span::Span;

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateTable {
    /// The kind of table.
    pub persistence: Persistence,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Name,
    /// Columns, constraints and LIKE, in order.
    pub elements: Vec<TableElement>,
    /// OF: the composite type. Then the elements add to its columns.
    pub of_type: Option<Name>,
    /// PARTITION OF: the table and the bound.
    pub partition_of: Option<(Name, PartitionBound)>,
    /// INHERITS.
    pub inherits: Vec<Name>,
    /// PARTITION BY.
    pub partition_by: Option<PartitionBy>,
    /// The clauses behind it.
    pub storage: TableStorage,
    /// Its place.
    pub span: Span,
}

/// The clauses of a table's storage, shared by CREATE TABLE and CREATE TABLE AS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableStorage {
    /// USING: the access method.
    pub method: Option<Ident>,
    /// WITH (…).
    pub options: Vec<OptionItem>,
    /// ON COMMIT.
    pub on_commit: Option<OnCommit>,
    /// TABLESPACE.
    pub tablespace: Option<Ident>,
}

/// The action of ON COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum OnCommit {
    PreserveRows,
    DeleteRows,
    Drop,
}

/// An element in the parentheses of CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::large_enum_variant)]
pub enum TableElement {
    /// A column.
    Column(Column),
    /// A constraint of the table.
    Constraint(TableConstraint),
    /// LIKE.
    Like(Like),
}

/// LIKE: a table whose columns are copied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Like {
    /// The table.
    pub table: Name,
    /// INCLUDING (true) and EXCLUDING (false), in order.
    pub options: Vec<(LikeOption, bool)>,
    /// Its place.
    pub span: Span,
}

/// A property that LIKE copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LikeOption {
    Comments,
    Compression,
    Constraints,
    Defaults,
    Generated,
    Identity,
    Indexes,
    Statistics,
    Storage,
    All,
}

/// A column of CREATE TABLE or ADD COLUMN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// The name.
    pub name: Ident,
    /// The type. `None` for a column of a typed table or a partition.
    pub data_type: Option<TypeName>,
    /// STORAGE: the word.
    pub storage: Option<Ident>,
    /// COMPRESSION: the word, `default` among them.
    pub compression: Option<Ident>,
    /// COLLATE.
    pub collation: Option<Name>,
    /// The constraints and other properties, in order.
    pub constraints: Vec<ColumnConstraint>,
    /// Its place.
    pub span: Span,
}

/// A constraint or property of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnConstraint {
    /// The name behind CONSTRAINT.
    pub name: Option<Ident>,
    /// What it is.
    pub kind: ColumnConstraintKind,
    /// DEFERRABLE and INITIALLY DEFERRED.
    pub deferral: Deferral,
    /// Its place, from CONSTRAINT on if there is a name.
    pub span: Span,
}

/// The kinds of constraints and properties of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnConstraintKind {
    /// NOT NULL.
    NotNull,
    /// NULL.
    Null,
    /// DEFAULT.
    Default(Expr),
    /// CHECK.
    Check {
        /// The condition.
        condition: Expr,
        /// Whether NO INHERIT was written.
        no_inherit: bool,
    },
    /// GENERATED … AS (expression) STORED. PostgreSQL refuses BY DEFAULT here.
    Generated {
        /// The expression.
        value: Expr,
        /// ALWAYS if true.
        always: bool,
    },
    /// GENERATED … AS IDENTITY.
    Identity {
        /// ALWAYS if true, BY DEFAULT if false.
        always: bool,
        /// The options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// UNIQUE.
    Unique(IndexClauses),
    /// PRIMARY KEY.
    PrimaryKey(IndexClauses),
    /// REFERENCES.
    References(References),
}

/// The clauses of the index of a constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexClauses {
    /// Whether NULLS NOT DISTINCT was written.
    pub nulls_not_distinct: bool,
    /// INCLUDE.
    pub include: Vec<Ident>,
    /// WITH (…).
    pub options: Vec<OptionItem>,
    /// USING INDEX TABLESPACE.
    pub tablespace: Option<Ident>,
}

/// When a constraint is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deferral {
    /// DEFERRABLE (true) or NOT DEFERRABLE (false).
    pub deferrable: Option<bool>,
    /// INITIALLY DEFERRED (true) or INITIALLY IMMEDIATE (false).
    pub deferred: Option<bool>,
}

/// REFERENCES of a foreign key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct References {
    /// The table.
    pub table: Name,
    /// Its columns. Empty means those of its primary key.
    pub columns: Vec<Ident>,
    /// MATCH.
    pub matching: ForeignMatch,
    /// ON DELETE.
    pub on_delete: ForeignAction,
    /// The columns of ON DELETE SET NULL or SET DEFAULT. Empty means all.
    pub on_delete_columns: Vec<Ident>,
    /// ON UPDATE.
    pub on_update: ForeignAction,
}

/// MATCH of a foreign key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ForeignMatch {
    #[default]
    Simple,
    Full,
    Partial,
}

/// The action of a foreign key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ForeignAction {
    #[default]
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

/// A constraint of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableConstraint {
    /// The name behind CONSTRAINT.
    pub name: Option<Ident>,
    /// What it is.
    pub kind: TableConstraintKind,
    /// DEFERRABLE and INITIALLY DEFERRED.
    pub deferral: Deferral,
    /// Whether NOT VALID was written.
    pub not_valid: bool,
    /// Whether NO INHERIT was written.
    pub no_inherit: bool,
    /// Its place, from CONSTRAINT on if there is a name.
    pub span: Span,
}

/// The kinds of constraints of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableConstraintKind {
    /// CHECK.
    Check(Expr),
    /// UNIQUE.
    Unique(Vec<Ident>, IndexClauses),
    /// PRIMARY KEY.
    PrimaryKey(Vec<Ident>, IndexClauses),
    /// UNIQUE USING INDEX or PRIMARY KEY USING INDEX: whether it is the primary key, and the index.
    UsingIndex(bool, Ident),
    /// FOREIGN KEY.
    ForeignKey(Vec<Ident>, References),
    /// EXCLUDE.
    Exclude {
        /// USING: the access method.
        method: Option<Ident>,
        /// The keys and their operators.
        elements: Vec<(IndexKey, super::Operator)>,
        /// The clauses of its index.
        index: IndexClauses,
        /// WHERE.
        predicate: Option<Expr>,
    },
}

/// PARTITION BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionBy {
    /// `range`, `list` or `hash`, folded.
    pub strategy: Ident,
    /// The keys.
    pub keys: Vec<IndexKey>,
    /// Its place.
    pub span: Span,
}

/// FOR VALUES, or DEFAULT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartitionBound {
    /// DEFAULT.
    Default,
    /// IN (…).
    In(Vec<Expr>),
    /// FROM (…) TO (…). MINVALUE and MAXVALUE are columns of these names.
    FromTo(Vec<Expr>, Vec<Expr>),
    /// WITH (modulus m, remainder r).
    Hash(i64, i64),
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateIndex {
    /// Whether UNIQUE was written.
    pub unique: bool,
    /// Whether CONCURRENTLY was written.
    pub concurrently: bool,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Option<Ident>,
    /// The table.
    pub table: RelationName,
    /// USING: the access method.
    pub method: Option<Ident>,
    /// The keys.
    pub keys: Vec<IndexKey>,
    /// INCLUDE. PostgreSQL's grammar takes keys here.
    pub include: Vec<IndexKey>,
    /// NULLS NOT DISTINCT (true) or NULLS DISTINCT (false).
    pub nulls_not_distinct: bool,
    /// WITH (…).
    pub options: Vec<OptionItem>,
    /// TABLESPACE.
    pub tablespace: Option<Ident>,
    /// WHERE.
    pub predicate: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// A key of an index, of ON CONFLICT, of EXCLUDE or of PARTITION BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexKey {
    /// The column or expression.
    pub value: Expr,
    /// COLLATE.
    pub collation: Option<Name>,
    /// The operator class.
    pub class: Option<Name>,
    /// The parameters of the operator class.
    pub class_options: Vec<OptionItem>,
    /// ASC (false) or DESC (true).
    pub descending: Option<bool>,
    /// NULLS FIRST (true) or LAST (false).
    pub nulls_first: Option<bool>,
    /// Its place.
    pub span: Span,
}

/// CREATE TABLE AS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateTableAs {
    /// The kind of table.
    pub persistence: Persistence,
    /// Whether MATERIALIZED VIEW was written.
    pub materialized_view: bool,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Name,
    /// The names of the columns.
    pub columns: Vec<Ident>,
    /// The clauses of the table.
    pub storage: TableStorage,
    /// The query, or an EXECUTE.
    pub source: Box<super::Statement>,
    /// WITH DATA, or false for WITH NO DATA.
    pub with_data: bool,
    /// Its place.
    pub span: Span,
}

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateView {
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// Whether TEMPORARY was written.
    pub temporary: bool,
    /// Whether RECURSIVE was written.
    pub recursive: bool,
    /// The name.
    pub name: Name,
    /// The names of the columns.
    pub columns: Vec<Ident>,
    /// WITH (…).
    pub options: Vec<OptionItem>,
    /// The query.
    pub query: Box<Query>,
    /// WITH CHECK OPTION.
    pub check_option: Option<CheckOption>,
    /// Its place.
    pub span: Span,
}

/// WITH CHECK OPTION of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CheckOption {
    Local,
    Cascaded,
}
