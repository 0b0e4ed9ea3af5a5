//! Functions, procedures, triggers, policies, and what is made of functions.

use super::{Expr, Ident, Name, Operator, OptionItem, RelationName, RoleSpec, SettingChange, Statement, TypeName};
use crate::span::Span;

/// CREATE FUNCTION or CREATE PROCEDURE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateFunction {
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// Whether it is a PROCEDURE.
    pub procedure: bool,
    /// The name.
    pub name: Name,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// RETURNS of a type.
    pub returns: Option<TypeName>,
    /// RETURNS TABLE: the columns.
    pub returns_table: Vec<super::ColumnDefinition>,
    /// The clauses, in order.
    pub options: Vec<FunctionOption>,
    /// A body of SQL: BEGIN ATOMIC or RETURN.
    pub body: Option<SqlBody>,
    /// Its place.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The mode. `None` if none was written, which means IN.
    pub mode: Option<ParameterMode>,
    /// The name.
    pub name: Option<Ident>,
    /// The type.
    pub data_type: TypeName,
    /// DEFAULT or `=`.
    pub default: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// The modes of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
    Variadic,
}

/// A clause of CREATE FUNCTION and ALTER FUNCTION.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FunctionOption {
    /// AS: the source, or the file and the symbol.
    As(Vec<String>, Span),
    /// LANGUAGE.
    Language(Ident),
    /// TRANSFORM FOR TYPE.
    Transform(Vec<TypeName>, Span),
    /// WINDOW.
    Window(Span),
    /// CALLED ON NULL INPUT (false), RETURNS NULL ON NULL INPUT or STRICT (true).
    Strict(bool, Span),
    /// IMMUTABLE, STABLE or VOLATILE.
    Volatility(Volatility, Span),
    /// SECURITY DEFINER (true) or INVOKER (false).
    SecurityDefiner(bool, Span),
    /// \[NOT\] LEAKPROOF.
    Leakproof(bool, Span),
    /// COST.
    Cost(String, Span),
    /// ROWS.
    Rows(String, Span),
    /// SUPPORT.
    Support(Name, Span),
    /// PARALLEL: the word.
    Parallel(Ident),
    /// SET, RESET and SET … FROM CURRENT.
    Setting(SettingChange, Span),
}

/// How a function's result may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// A body of a function in SQL itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SqlBody {
    /// RETURN.
    Return(Expr),
    /// BEGIN ATOMIC … END. A statement may be a RETURN.
    Atomic(Vec<AtomicStatement>),
}

/// A statement of BEGIN ATOMIC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AtomicStatement {
    /// Any statement.
    Statement(Box<Statement>),
    /// RETURN.
    Return(Expr),
}

/// The kinds of objects that have arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RoutineKind {
    Function,
    Procedure,
    Routine,
    Aggregate,
}

/// A function by its name and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoutineReference {
    /// The name.
    pub name: Name,
    /// The parameters. `None` without a list. Of an aggregate, `*` is an empty list.
    pub parameters: Option<Vec<Parameter>>,
    /// The parameters behind ORDER BY, for ordered-set aggregates.
    pub ordered: Vec<Parameter>,
    /// Its place.
    pub span: Span,
}

/// ALTER FUNCTION with clauses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterFunction {
    /// FUNCTION, PROCEDURE or ROUTINE.
    pub kind: RoutineKind,
    /// The function.
    pub function: RoutineReference,
    /// The clauses, in order.
    pub options: Vec<FunctionOption>,
}

/// DO.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Do {
    /// The source.
    pub source: String,
    /// LANGUAGE.
    pub language: Option<Ident>,
    /// Its place.
    pub span: Span,
}

/// CREATE TRIGGER.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateTrigger {
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// Whether CONSTRAINT was written.
    pub constraint: bool,
    /// The name.
    pub name: Ident,
    /// BEFORE, AFTER or INSTEAD OF.
    pub timing: TriggerTiming,
    /// The events.
    pub events: Vec<TriggerEvent>,
    /// The table.
    pub table: Name,
    /// FROM of a constraint trigger.
    pub from: Option<Name>,
    /// DEFERRABLE and INITIALLY DEFERRED.
    pub deferral: super::Deferral,
    /// REFERENCING: whether it is NEW, and the name.
    pub transitions: Vec<(bool, Ident)>,
    /// FOR EACH ROW (true) or STATEMENT (false).
    pub for_each_row: bool,
    /// WHEN.
    pub condition: Option<Expr>,
    /// The function.
    pub function: Name,
    /// Its arguments, as strings.
    pub arguments: Vec<String>,
    /// Its place.
    pub span: Span,
}

/// When a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TriggerTiming {
    Before,
    After,
    InsteadOf,
}

/// The event of a trigger. UPDATE may name columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TriggerEvent {
    Insert,
    Delete,
    Update(Vec<Ident>),
    Truncate,
}

/// CREATE EVENT TRIGGER.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateEventTrigger {
    /// The name.
    pub name: Ident,
    /// ON: the event.
    pub event: Ident,
    /// WHEN: variables with their values.
    pub filters: Vec<(Ident, Vec<String>)>,
    /// The function.
    pub function: Name,
    /// Its place.
    pub span: Span,
}

/// CREATE POLICY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreatePolicy {
    /// The name.
    pub name: Ident,
    /// The table.
    pub table: Name,
    /// AS: PERMISSIVE (true) or RESTRICTIVE (false).
    pub permissive: bool,
    /// FOR: `all`, `select`, `insert`, `update` or `delete`.
    pub command: String,
    /// TO. Empty means PUBLIC.
    pub roles: Vec<RoleSpec>,
    /// USING.
    pub using: Option<Expr>,
    /// WITH CHECK.
    pub check: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// ALTER POLICY, except for RENAME.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterPolicy {
    /// The name.
    pub name: Ident,
    /// The table.
    pub table: Name,
    /// TO. Empty without one.
    pub roles: Vec<RoleSpec>,
    /// USING.
    pub using: Option<Expr>,
    /// WITH CHECK.
    pub check: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// CREATE AGGREGATE, OPERATOR, TYPE (base type), TEXT SEARCH …, COLLATION: a name and options.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Define {
    /// The kind of object.
    pub kind: DefineKind,
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name. Of an operator, its last part is the sign.
    pub name: Name,
    /// The parameters of an aggregate.
    pub routine: Option<RoutineReference>,
    /// The options. Empty without a list.
    pub options: Vec<OptionItem>,
    /// FROM, of a collation.
    pub from: Option<Name>,
    /// Its place.
    pub span: Span,
}

/// The kinds of objects that a list of options defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DefineKind {
    Aggregate,
    Operator,
    Type,
    TextSearchParser,
    TextSearchDictionary,
    TextSearchTemplate,
    TextSearchConfiguration,
    Collation,
}

/// CREATE CAST.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateCast {
    /// The type of the value.
    pub source: TypeName,
    /// The type of the result.
    pub target: TypeName,
    /// How it converts.
    pub method: CastMethod,
    /// AS IMPLICIT (Some(true)) or AS ASSIGNMENT (Some(false)).
    pub implicit: Option<bool>,
    /// Its place.
    pub span: Span,
}

/// How a cast converts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CastMethod {
    Function(RoutineReference),
    WithoutFunction,
    InOut,
}

/// CREATE OPERATOR CLASS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateOperatorClass {
    /// The name.
    pub name: Name,
    /// Whether DEFAULT was written.
    pub default: bool,
    /// FOR TYPE.
    pub data_type: TypeName,
    /// USING: the access method.
    pub method: Ident,
    /// FAMILY.
    pub family: Option<Name>,
    /// The items.
    pub items: Vec<OperatorClassItem>,
    /// Its place.
    pub span: Span,
}

/// An item of an operator class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OperatorClassItem {
    /// OPERATOR: number, operator, its types, FOR ORDER BY.
    Operator(i64, Operator, Vec<TypeName>, Option<Name>),
    /// FUNCTION: number, types, function.
    Function(i64, Vec<TypeName>, RoutineReference),
    /// STORAGE.
    Storage(TypeName),
}

/// CREATE STATISTICS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateStatistics {
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Option<Name>,
    /// The kinds. Empty means all.
    pub kinds: Vec<Ident>,
    /// The columns and expressions.
    pub items: Vec<Expr>,
    /// FROM.
    pub from: Vec<RelationName>,
    /// Its place.
    pub span: Span,
}

/// CREATE RULE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateRule {
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// The name.
    pub name: Ident,
    /// ON: `select`, `insert`, `update` or `delete`.
    pub event: String,
    /// The table.
    pub table: Name,
    /// WHERE.
    pub condition: Option<Expr>,
    /// INSTEAD (true) or ALSO (false).
    pub instead: bool,
    /// The commands. Empty for NOTHING.
    pub commands: Vec<Statement>,
    /// Its place.
    pub span: Span,
}

/// CREATE EXTENSION.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateExtension {
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The name.
    pub name: Ident,
    /// SCHEMA.
    pub schema: Option<Ident>,
    /// VERSION.
    pub version: Option<String>,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Its place.
    pub span: Span,
}

/// CREATE PUBLICATION or ALTER PUBLICATION.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Publication {
    /// The name.
    pub name: Ident,
    /// FOR ALL TABLES.
    pub all_tables: bool,
    /// The objects: of FOR, or of ADD, SET and DROP.
    pub objects: Vec<PublicationObject>,
    /// The change that ALTER makes to them. `None` for CREATE.
    pub action: Option<PublicationAction>,
    /// WITH (…) or SET (…).
    pub options: Vec<OptionItem>,
    /// Its place.
    pub span: Span,
}

/// An object of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PublicationObject {
    /// TABLE: the table, its columns, WHERE.
    Table(RelationName, Vec<Ident>, Option<Expr>),
    /// TABLES IN SCHEMA. `None` for CURRENT_SCHEMA.
    Schema(Option<Ident>),
}

/// The changes of ALTER PUBLICATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PublicationAction {
    Add,
    Set,
    Drop,
    SetOptions,
}

/// CREATE SUBSCRIPTION or ALTER SUBSCRIPTION.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscription {
    /// The name.
    pub name: Ident,
    /// What to do.
    pub action: SubscriptionAction,
    /// CONNECTION.
    pub connection: Option<String>,
    /// The publications.
    pub publications: Vec<Ident>,
    /// WITH (…), SET (…) or SKIP (…).
    pub options: Vec<OptionItem>,
    /// Its place.
    pub span: Span,
}

/// The actions on a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SubscriptionAction {
    Create,
    Connection,
    SetPublication,
    AddPublication,
    DropPublication,
    Refresh,
    Enable,
    Disable,
    SetOptions,
    Skip,
}

/// CALL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallStatement {
    /// The call.
    pub call: Expr,
}

/// CREATE DOMAIN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateDomain {
    /// The name.
    pub name: Name,
    /// The type below it.
    pub data_type: TypeName,
    /// COLLATE.
    pub collation: Option<Name>,
    /// DEFAULT, NOT NULL, NULL and CHECK, in order.
    pub constraints: Vec<super::ColumnConstraint>,
    /// Its place.
    pub span: Span,
}

/// An action of ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterDomain {
    /// SET DEFAULT; `None` for DROP DEFAULT.
    Default(Option<Expr>),
    /// SET NOT NULL (true) or DROP NOT NULL (false).
    NotNull(bool),
    /// ADD of a constraint.
    AddConstraint(super::TableConstraint),
    /// DROP CONSTRAINT.
    DropConstraint {
        /// Whether IF EXISTS was written.
        if_exists: bool,
        /// The constraint.
        name: Ident,
        /// Whether CASCADE was written.
        cascade: bool,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(Ident),
    /// RENAME CONSTRAINT.
    RenameConstraint(Ident, Ident),
}

/// CREATE TYPE with a grammar of its own. Base types are a [`Define`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeDefinition {
    /// AS (…): the attributes.
    Composite(Vec<super::ColumnDefinition>),
    /// AS ENUM.
    Enum(Vec<(String, Span)>),
    /// AS RANGE.
    Range(Vec<OptionItem>),
    /// A name alone.
    Shell,
}

/// An action of ALTER TYPE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterType {
    /// ADD VALUE.
    AddValue {
        /// Whether IF NOT EXISTS was written.
        if_not_exists: bool,
        /// The label.
        label: String,
        /// BEFORE (true) or AFTER (false) a label.
        neighbour: Option<(bool, String)>,
    },
    /// RENAME VALUE.
    RenameValue(String, String),
    /// ADD ATTRIBUTE, and whether CASCADE was written.
    AddAttribute(super::ColumnDefinition, bool),
    /// DROP ATTRIBUTE: whether IF EXISTS was written, the name, whether CASCADE was written.
    DropAttribute(bool, Ident, bool),
    /// ALTER ATTRIBUTE … TYPE, and whether CASCADE was written.
    AlterAttribute(super::ColumnDefinition, bool),
    /// RENAME ATTRIBUTE, and whether CASCADE was written.
    RenameAttribute(Ident, Ident, bool),
    /// SET (…).
    SetOptions(Vec<OptionItem>),
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refresh {
    /// Whether CONCURRENTLY was written.
    pub concurrently: bool,
    /// The view.
    pub name: Name,
    /// WITH DATA, or false for WITH NO DATA.
    pub with_data: bool,
    /// Its place.
    pub span: Span,
}
