//! ALTER TABLE and its kin, with their actions.

use super::{
    Column, Deferral, Expr, Ident, Name, OptionItem, PartitionBound, RelationName, SequenceOption, TableConstraint,
    TypeName,
};
use crate::span::Span;

/// ALTER TABLE and its kin: VIEW, MATERIALIZED VIEW, INDEX, SEQUENCE, FOREIGN TABLE, with actions that a list may hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterTable {
    /// The kind of relation that was written.
    pub kind: RelationKind,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The relation.
    pub relation: RelationName,
    /// The actions, in order.
    pub actions: Vec<AlterTableAction>,
    /// Its place.
    pub span: Span,
}

/// The kinds of relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RelationKind {
    Table,
    View,
    MaterializedView,
    Index,
    Sequence,
    ForeignTable,
}

/// An action of ALTER TABLE, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterTableAction {
    /// What to do.
    pub kind: AlterTableKind,
    /// Its place.
    pub span: Span,
}

/// The actions of ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::large_enum_variant)]
pub enum AlterTableKind {
    /// ADD \[COLUMN\].
    AddColumn {
        /// Whether IF NOT EXISTS was written.
        if_not_exists: bool,
        /// The column.
        column: Column,
    },
    /// DROP \[COLUMN\].
    DropColumn {
        /// Whether IF EXISTS was written.
        if_exists: bool,
        /// The column.
        name: Ident,
        /// Whether CASCADE was written.
        cascade: bool,
    },
    /// ALTER \[COLUMN\].
    AlterColumn(ColumnReference, AlterColumn),
    /// ADD of a constraint.
    AddConstraint(TableConstraint),
    /// ALTER CONSTRAINT.
    AlterConstraint(Ident, Deferral),
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(Ident),
    /// DROP CONSTRAINT.
    DropConstraint {
        /// Whether IF EXISTS was written.
        if_exists: bool,
        /// The constraint.
        name: Ident,
        /// Whether CASCADE was written.
        cascade: bool,
    },
    /// ENABLE or DISABLE TRIGGER.
    Trigger(TriggerSwitch, TriggerChoice),
    /// ENABLE or DISABLE RULE.
    Rule(TriggerSwitch, Ident),
    /// ENABLE (true) or DISABLE (false) ROW LEVEL SECURITY.
    RowSecurity(bool),
    /// FORCE (true) or NO FORCE (false) ROW LEVEL SECURITY.
    ForceRowSecurity(bool),
    /// CLUSTER ON. `None` for SET WITHOUT CLUSTER.
    Cluster(Option<Ident>),
    /// SET WITHOUT OIDS.
    WithoutOids,
    /// SET ACCESS METHOD.
    AccessMethod(Ident),
    /// SET TABLESPACE.
    Tablespace(Ident),
    /// SET LOGGED (true) or SET UNLOGGED (false).
    Logged(bool),
    /// SET (…).
    SetOptions(Vec<OptionItem>),
    /// RESET (…).
    ResetOptions(Vec<OptionItem>),
    /// INHERIT.
    Inherit(Name),
    /// NO INHERIT.
    NoInherit(Name),
    /// OF type.
    OfType(Name),
    /// NOT OF.
    NotOf,
    /// OWNER TO.
    Owner(super::RoleSpec),
    /// REPLICA IDENTITY.
    ReplicaIdentity(ReplicaIdentity),
    /// ATTACH PARTITION. The bound is missing for an index.
    AttachPartition(Name, Option<PartitionBound>),
    /// DETACH PARTITION, and whether CONCURRENTLY or FINALIZE was written.
    DetachPartition(Name, Option<Detach>),
    /// RENAME \[COLUMN\].
    RenameColumn(Ident, Ident),
    /// RENAME CONSTRAINT.
    RenameConstraint(Ident, Ident),
    /// RENAME TO.
    Rename(Ident),
    /// SET SCHEMA.
    SetSchema(Ident),
    /// The options of a sequence, for ALTER SEQUENCE.
    SequenceOptions(Vec<SequenceOption>),
}

/// How DETACH PARTITION works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Detach {
    Concurrently,
    Finalize,
}

/// A column by its name, or by its number for an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ColumnReference {
    Name(Ident),
    Number(i32, Span),
}

/// The actions of ALTER COLUMN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterColumn {
    /// SET DEFAULT.
    SetDefault(Expr),
    /// DROP DEFAULT.
    DropDefault,
    /// SET NOT NULL.
    SetNotNull,
    /// DROP NOT NULL.
    DropNotNull,
    /// DROP EXPRESSION, and whether IF EXISTS was written.
    DropExpression(bool),
    /// SET STATISTICS.
    SetStatistics(i32),
    /// SET (…).
    SetOptions(Vec<OptionItem>),
    /// RESET (…).
    ResetOptions(Vec<OptionItem>),
    /// SET STORAGE.
    SetStorage(Ident),
    /// SET COMPRESSION.
    SetCompression(Ident),
    /// ADD GENERATED … AS IDENTITY.
    AddIdentity {
        /// ALWAYS if true, BY DEFAULT if false.
        always: bool,
        /// The options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// SET GENERATED, SET of options, RESTART.
    SetIdentity {
        /// ALWAYS (true) or BY DEFAULT (false).
        always: Option<bool>,
        /// The options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// DROP IDENTITY, and whether IF EXISTS was written.
    DropIdentity(bool),
    /// \[SET DATA\] TYPE.
    Type {
        /// The new type.
        data_type: TypeName,
        /// COLLATE.
        collation: Option<Name>,
        /// USING.
        using: Option<Expr>,
    },
}

/// When a trigger or rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TriggerSwitch {
    Disable,
    Enable,
    EnableReplica,
    EnableAlways,
}

/// The triggers that ENABLE and DISABLE change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TriggerChoice {
    All,
    User,
    Named(Ident),
}

/// REPLICA IDENTITY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ReplicaIdentity {
    Default,
    Full,
    Nothing,
    Index(Ident),
}
