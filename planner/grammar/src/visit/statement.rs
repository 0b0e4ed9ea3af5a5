//! The walk through statements of all kinds.

use super::{fields, variants};
use crate::tree::{
    AlterColumn, AlterDomain, AlterPolicy, AlterTable, AlterTableAction, AlterTableKind, AtomicStatement,
    CallStatement, Column, ColumnConstraint, ColumnConstraintKind, Copy, CopyTarget, CreateDomain, CreateFunction,
    CreateIndex, CreatePolicy, CreateRule, CreateSchema, CreateStatistics, CreateTable, CreateTableAs, CreateTrigger,
    CreateView, DeclareCursor, Execute, Explain, Parameter, PartitionBound, PartitionBy, Prepare, Publication,
    PublicationObject, SqlBody, Statement, TableConstraint, TableConstraintKind, TableElement,
};

variants! {
    Statement;
    Statement::Query(query) => [query],
    Statement::Insert(insert) => [insert],
    Statement::Update(update) => [update],
    Statement::Delete(delete) => [delete],
    Statement::Merge(merge) => [merge],
    Statement::Copy(copy) => [copy],
    Statement::CreateTable(create) => [create],
    Statement::CreateTableAs(create) => [create],
    Statement::CreateView(create) => [create],
    Statement::CreateIndex(create) => [create],
    Statement::CreateSchema(create) => [create],
    Statement::AlterTable(alter) => [alter],
    Statement::CreateDomain(create) => [create],
    Statement::AlterDomain(alter) => [alter],
    Statement::CreateFunction(create) => [create],
    Statement::Call(call) => [call],
    Statement::CreateTrigger(create) => [create],
    Statement::CreatePolicy(create) => [create],
    Statement::AlterPolicy(alter) => [alter],
    Statement::CreateRule(create) => [create],
    Statement::CreateStatistics(create) => [create],
    Statement::Publication(publication) => [publication],
    Statement::Prepare(prepare) => [prepare],
    Statement::Execute(execute) => [execute],
    Statement::DeclareCursor(declare) => [declare],
    Statement::Explain(explain) => [explain],
    // These hold neither expressions nor queries.
    Statement::Truncate(_)
    | Statement::CreateSequence(_)
    | Statement::Refresh(_)
    | Statement::CreateType(_)
    | Statement::AlterType(_)
    | Statement::AlterFunction(_)
    | Statement::Do(_)
    | Statement::CreateEventTrigger(_)
    | Statement::Define(_)
    | Statement::CreateCast(_)
    | Statement::CreateOperatorClass(_)
    | Statement::CreateOperatorFamily(..)
    | Statement::CreateExtension(_)
    | Statement::Subscription(_)
    | Statement::Drop(_)
    | Statement::Comment(_)
    | Statement::AlterObject(_)
    | Statement::Grant(_)
    | Statement::GrantRole(_)
    | Statement::DefaultPrivileges(_)
    | Statement::Role(_)
    | Statement::DropRole(_)
    | Statement::Owned(_)
    | Statement::AlterSetting(_)
    | Statement::Database(_)
    | Statement::Transaction(_)
    | Statement::SetConstraints(_)
    | Statement::Setting(_)
    | Statement::Deallocate(_)
    | Statement::Fetch(_)
    | Statement::Close(_)
    | Statement::Listen(_)
    | Statement::Unlisten(_)
    | Statement::Notify(_)
    | Statement::LockTable(_)
    | Statement::Discard(_)
    | Statement::Vacuum(_)
    | Statement::Cluster(_)
    | Statement::Reindex(_)
    | Statement::Checkpoint
    | Statement::Load(_)
    | Statement::Check(_) => [],
}

fields! {
    Copy => [target, filter];
    Column => [constraints];
    ColumnConstraint => [kind];
    TableConstraint => [kind];
    PartitionBy => [keys];
    CreateTableAs => [source];
    CreateView => [query];
    CreateIndex => [keys, include, predicate];
    CreateSchema => [elements];
    AlterTable => [actions];
    AlterTableAction => [kind];
    CreateDomain => [constraints];
    CreateFunction => [parameters, body];
    Parameter => [default];
    CallStatement => [call];
    CreateTrigger => [condition];
    CreatePolicy => [using, check];
    AlterPolicy => [using, check];
    CreateRule => [condition, commands];
    CreateStatistics => [items];
    Publication => [objects];
    Prepare => [statement];
    Execute => [parameters];
    DeclareCursor => [query];
    Explain => [statement];
}

variants! {
    CreateTable;
    CreateTable { elements, partition_of: Some((_, bound)), partition_by, .. } => [elements, bound, partition_by],
    CreateTable { elements, partition_of: None, partition_by, .. } => [elements, partition_by],
}

variants! {
    CopyTarget;
    CopyTarget::Table(..) => [],
    CopyTarget::Statement(statement) => [statement],
}

variants! {
    TableElement;
    TableElement::Column(column) => [column],
    TableElement::Constraint(constraint) => [constraint],
    TableElement::Like(_) => [],
}

variants! {
    ColumnConstraintKind;
    ColumnConstraintKind::Default(value)
    | ColumnConstraintKind::Check { condition: value, .. }
    | ColumnConstraintKind::Generated { value, .. } => [value],
    ColumnConstraintKind::NotNull
    | ColumnConstraintKind::Null
    | ColumnConstraintKind::Identity { .. }
    | ColumnConstraintKind::Unique(_)
    | ColumnConstraintKind::PrimaryKey(_)
    | ColumnConstraintKind::References(_) => [],
}

variants! {
    TableConstraintKind;
    TableConstraintKind::Check(condition) => [condition],
    TableConstraintKind::Exclude { elements, predicate, .. } => [elements, predicate],
    TableConstraintKind::Unique(..)
    | TableConstraintKind::PrimaryKey(..)
    | TableConstraintKind::UsingIndex(..)
    | TableConstraintKind::ForeignKey(..) => [],
}

variants! {
    PartitionBound;
    PartitionBound::Default | PartitionBound::Hash(..) => [],
    PartitionBound::In(values) => [values],
    PartitionBound::FromTo(lower, upper) => [lower, upper],
}

variants! {
    AlterTableKind;
    AlterTableKind::AddColumn { column, .. } => [column],
    AlterTableKind::AlterColumn(_, change) => [change],
    AlterTableKind::AddConstraint(constraint) => [constraint],
    AlterTableKind::AttachPartition(_, bound) => [bound],
    AlterTableKind::DropColumn { .. }
    | AlterTableKind::AlterConstraint(..)
    | AlterTableKind::ValidateConstraint(_)
    | AlterTableKind::DropConstraint { .. }
    | AlterTableKind::Trigger(..)
    | AlterTableKind::Rule(..)
    | AlterTableKind::RowSecurity(_)
    | AlterTableKind::ForceRowSecurity(_)
    | AlterTableKind::Cluster(_)
    | AlterTableKind::WithoutOids
    | AlterTableKind::AccessMethod(_)
    | AlterTableKind::Tablespace(_)
    | AlterTableKind::Logged(_)
    | AlterTableKind::SetOptions(_)
    | AlterTableKind::ResetOptions(_)
    | AlterTableKind::Inherit(_)
    | AlterTableKind::NoInherit(_)
    | AlterTableKind::OfType(_)
    | AlterTableKind::NotOf
    | AlterTableKind::Owner(_)
    | AlterTableKind::ReplicaIdentity(_)
    | AlterTableKind::DetachPartition(..)
    | AlterTableKind::RenameColumn(..)
    | AlterTableKind::RenameConstraint(..)
    | AlterTableKind::Rename(_)
    | AlterTableKind::SetSchema(_)
    | AlterTableKind::SequenceOptions(_) => [],
}

variants! {
    AlterColumn;
    AlterColumn::SetDefault(value) => [value],
    AlterColumn::Type { using, .. } => [using],
    AlterColumn::DropDefault
    | AlterColumn::SetNotNull
    | AlterColumn::DropNotNull
    | AlterColumn::DropExpression(_)
    | AlterColumn::SetStatistics(_)
    | AlterColumn::SetOptions(_)
    | AlterColumn::ResetOptions(_)
    | AlterColumn::SetStorage(_)
    | AlterColumn::SetCompression(_)
    | AlterColumn::AddIdentity { .. }
    | AlterColumn::SetIdentity { .. }
    | AlterColumn::DropIdentity(_) => [],
}

variants! {
    AlterDomain;
    AlterDomain::Default(value) => [value],
    AlterDomain::AddConstraint(constraint) => [constraint],
    AlterDomain::NotNull(_)
    | AlterDomain::DropConstraint { .. }
    | AlterDomain::ValidateConstraint(_)
    | AlterDomain::RenameConstraint(..) => [],
}

variants! {
    SqlBody;
    SqlBody::Return(value) => [value],
    SqlBody::Atomic(statements) => [statements],
}

variants! {
    AtomicStatement;
    AtomicStatement::Statement(statement) => [statement],
    AtomicStatement::Return(value) => [value],
}

variants! {
    PublicationObject;
    PublicationObject::Table(_, _, filter) => [filter],
    PublicationObject::Schema(_) => [],
}
