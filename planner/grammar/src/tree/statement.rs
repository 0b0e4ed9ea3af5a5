//! [`Statement`]: one statement of any kind.

use super::{
    AlterDomain, AlterFunction, AlterObject, AlterPolicy, AlterSetting, AlterTable, AlterType, CallStatement, Check,
    Cluster, Comment, Copy, CreateCast, CreateDomain, CreateEventTrigger, CreateExtension, CreateFunction, CreateIndex,
    CreateOperatorClass, CreatePolicy, CreateRule, CreateStatistics, CreateTable, CreateTableAs, CreateTrigger,
    CreateView, DatabaseStatement, DeclareCursor, DefaultPrivileges, Define, Delete, Discard, Do, Drop, DropRole,
    Execute, Explain, Fetch, Grant, GrantRole, Ident, Insert, LockTable, Merge, Name, Notify, Owned, Persistence,
    Prepare, Publication, Query, Refresh, Reindex, RoleSpec, RoleStatement, SequenceOption, SetConstraints,
    SettingStatement, Subscription, TransactionStatement, Truncate, TypeDefinition, TypeName, Update, Vacuum,
};
use crate::span::Span;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Statement {
    // Queries and writes.
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    Copy(Box<Copy>),
    Truncate(Box<Truncate>),
    // Relations.
    CreateTable(Box<CreateTable>),
    CreateTableAs(Box<CreateTableAs>),
    CreateView(Box<CreateView>),
    CreateIndex(Box<CreateIndex>),
    CreateSequence(Box<CreateSequence>),
    CreateSchema(Box<CreateSchema>),
    AlterTable(Box<AlterTable>),
    Refresh(Box<Refresh>),
    // Types and functions.
    CreateType(Box<CreateType>),
    /// ALTER TYPE: its actions. There are several only if all are about attributes.
    AlterType(Box<(TypeName, Vec<AlterType>)>),
    CreateDomain(Box<CreateDomain>),
    AlterDomain(Box<(TypeName, AlterDomain)>),
    CreateFunction(Box<CreateFunction>),
    AlterFunction(Box<AlterFunction>),
    Call(Box<CallStatement>),
    Do(Box<Do>),
    CreateTrigger(Box<CreateTrigger>),
    CreateEventTrigger(Box<CreateEventTrigger>),
    CreatePolicy(Box<CreatePolicy>),
    AlterPolicy(Box<AlterPolicy>),
    CreateRule(Box<CreateRule>),
    Define(Box<Define>),
    CreateCast(Box<CreateCast>),
    CreateOperatorClass(Box<CreateOperatorClass>),
    /// CREATE OPERATOR FAMILY: its name and access method.
    CreateOperatorFamily(Name, Ident),
    CreateStatistics(Box<CreateStatistics>),
    CreateExtension(Box<CreateExtension>),
    Publication(Box<Publication>),
    Subscription(Box<Subscription>),
    // Objects of any kind.
    Drop(Box<Drop>),
    Comment(Box<Comment>),
    AlterObject(Box<AlterObject>),
    // Roles and databases.
    Grant(Box<Grant>),
    GrantRole(Box<GrantRole>),
    DefaultPrivileges(Box<DefaultPrivileges>),
    Role(Box<RoleStatement>),
    DropRole(Box<DropRole>),
    Owned(Box<Owned>),
    AlterSetting(Box<AlterSetting>),
    Database(Box<DatabaseStatement>),
    // The session.
    Transaction(TransactionStatement),
    SetConstraints(SetConstraints),
    Setting(SettingStatement),
    Prepare(Box<Prepare>),
    Execute(Box<Execute>),
    /// DEALLOCATE. `None` for ALL.
    Deallocate(Option<Ident>),
    DeclareCursor(Box<DeclareCursor>),
    Fetch(Fetch),
    /// CLOSE. `None` for ALL.
    Close(Option<Ident>),
    Listen(Ident),
    /// UNLISTEN. `None` for `*`.
    Unlisten(Option<Ident>),
    Notify(Notify),
    LockTable(Box<LockTable>),
    Discard(Discard),
    // Upkeep.
    Explain(Box<Explain>),
    Vacuum(Box<Vacuum>),
    Cluster(Box<Cluster>),
    Reindex(Box<Reindex>),
    Checkpoint,
    Load(String),
    Check(Check),
}

/// CREATE SEQUENCE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateSequence {
    /// The kind of relation.
    pub persistence: Persistence,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Name,
    /// The options, in order.
    pub options: Vec<SequenceOption>,
    /// Its place.
    pub span: Span,
}

/// CREATE SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateSchema {
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name. `None` means that of the role.
    pub name: Option<Ident>,
    /// AUTHORIZATION.
    pub owner: Option<RoleSpec>,
    /// The elements, in order: CREATE TABLE, INDEX, SEQUENCE, TRIGGER, VIEW and GRANT.
    pub elements: Vec<Statement>,
    /// Its place.
    pub span: Span,
}

/// CREATE TYPE, base types aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateType {
    /// The name.
    pub name: Name,
    /// The definition.
    pub definition: TypeDefinition,
    /// Its place.
    pub span: Span,
}
