//! Objects as such: [`ObjectReference`], and the statements that take an object of any kind (DROP, COMMENT ON, ALTER …
//! RENAME, OWNER TO, SET SCHEMA).

use super::{Ident, Name, Operator, RoleSpec, RoutineKind, RoutineReference, TypeName};
use crate::span::Span;

/// The kinds of objects with a name of their own that may be qualified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NamedKind {
    Table,
    View,
    MaterializedView,
    Index,
    Sequence,
    ForeignTable,
    Collation,
    Conversion,
    Statistics,
    TextSearchParser,
    TextSearchDictionary,
    TextSearchTemplate,
    TextSearchConfiguration,
}

/// The kinds of objects with a single name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PlainKind {
    AccessMethod,
    Database,
    EventTrigger,
    Extension,
    ForeignDataWrapper,
    Language,
    Publication,
    Role,
    Schema,
    Server,
    Subscription,
    Tablespace,
}

/// The kinds of objects of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum OfTableKind {
    Constraint,
    Policy,
    Rule,
    Trigger,
}

/// An object of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectReference {
    /// An object whose name may be qualified.
    Named(NamedKind, Name),
    /// An object with a single name.
    Plain(PlainKind, Ident),
    /// A constraint, policy, rule or trigger of a table.
    OfTable(OfTableKind, Ident, Name),
    /// A column: its relation with its name behind it.
    Column(Name),
    /// A type.
    Type(TypeName),
    /// A domain.
    Domain(TypeName),
    /// A constraint of a domain.
    DomainConstraint(Ident, TypeName),
    /// A function, procedure, routine or aggregate.
    Routine(RoutineKind, RoutineReference),
    /// An operator with the types of its operands; NONE is `None`.
    Operator(Operator, Option<TypeName>, Option<TypeName>),
    /// An operator class, and its access method.
    OperatorClass(Name, Ident),
    /// An operator family, and its access method.
    OperatorFamily(Name, Ident),
    /// A cast.
    Cast(TypeName, TypeName),
    /// A transform, and its language.
    Transform(TypeName, Ident),
    /// A large object.
    LargeObject(String, Span),
    /// A user mapping of a role, and its server.
    UserMapping(RoleSpec, Ident),
}

/// DROP. All objects are of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Drop {
    /// The objects, at least one.
    pub objects: Vec<ObjectReference>,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Whether CONCURRENTLY was written.
    pub concurrently: bool,
    /// Whether WITH (FORCE) was written, for a database.
    pub force: bool,
    /// Its place.
    pub span: Span,
}

/// COMMENT ON and SECURITY LABEL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comment {
    /// The object.
    pub object: ObjectReference,
    /// The comment. `None` removes it.
    pub text: Option<String>,
    /// Its place.
    pub span: Span,
}

/// ALTER of an object of any kind but a relation: its name, owner or schema, and what it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterObject {
    /// The object.
    pub object: ObjectReference,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The change.
    pub change: ObjectChange,
    /// Its place.
    pub span: Span,
}

/// A change of an object of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectChange {
    /// RENAME TO.
    Rename(Ident),
    /// OWNER TO.
    Owner(RoleSpec),
    /// SET SCHEMA.
    Schema(Ident),
    /// \[NO\] DEPENDS ON EXTENSION: whether NO was written.
    DependsOnExtension(bool, Ident),
    /// REFRESH VERSION of a collation.
    RefreshVersion,
    /// UPDATE of an extension, TO a version.
    UpdateExtension(Option<String>),
    /// ADD (true) or DROP (false) of an object of an extension.
    ExtensionMember(bool, Box<ObjectReference>),
    /// SET STATISTICS of statistics.
    SetStatistics(i32),
    /// ENABLE, DISABLE of an event trigger.
    Switch(super::TriggerSwitch),
    /// SET (…) of an operator or a tablespace.
    SetOptions(Vec<super::OptionItem>),
    /// RESET (…) of a tablespace.
    ResetOptions(Vec<super::OptionItem>),
}
