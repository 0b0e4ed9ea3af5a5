//! Roles, privileges and databases.

use super::{Ident, Name, OptionItem, RoleSpec, RoutineKind, RoutineReference};
use crate::span::Span;

/// GRANT or REVOKE of privileges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// GRANT if true, REVOKE if false.
    pub grants: bool,
    /// The privileges. Empty for ALL without columns.
    pub privileges: Vec<Privilege>,
    /// The objects.
    pub objects: GrantObjects,
    /// The roles.
    pub roles: Vec<RoleSpec>,
    /// WITH GRANT OPTION, or GRANT OPTION FOR of a REVOKE.
    pub option: bool,
    /// GRANTED BY.
    pub by: Option<RoleSpec>,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Its place.
    pub span: Span,
}

/// A privilege, maybe of columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Privilege {
    /// Its name in lower case. `all` for ALL with columns.
    pub name: String,
    /// The columns. Empty means the whole object.
    pub columns: Vec<Ident>,
    /// Its place.
    pub span: Span,
}

/// The objects of a GRANT or REVOKE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GrantObjects {
    /// Tables and views.
    Tables(Vec<Name>),
    /// Sequences.
    Sequences(Vec<Name>),
    /// Types.
    Types(Vec<Name>),
    /// Domains.
    Domains(Vec<Name>),
    /// Functions and their kin.
    Routines(RoutineKind, Vec<RoutineReference>),
    /// Objects with a single name: databases, schemas, languages, servers, wrappers, tablespaces.
    Plain(super::PlainKind, Vec<Ident>),
    /// Large objects, by their digits.
    LargeObjects(Vec<(String, Span)>),
    /// Parameters of the server.
    Parameters(Vec<String>),
    /// ALL TABLES IN SCHEMA.
    AllTables(Vec<Ident>),
    /// ALL SEQUENCES IN SCHEMA.
    AllSequences(Vec<Ident>),
    /// ALL FUNCTIONS, PROCEDURES or ROUTINES IN SCHEMA.
    AllRoutines(RoutineKind, Vec<Ident>),
}

/// GRANT or REVOKE of roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GrantRole {
    /// GRANT if true, REVOKE if false.
    pub grants: bool,
    /// The roles that are granted.
    pub granted: Vec<Ident>,
    /// The roles that receive or lose them.
    pub roles: Vec<RoleSpec>,
    /// WITH ADMIN OPTION, or ADMIN OPTION FOR of a REVOKE.
    pub option: bool,
    /// GRANTED BY.
    pub by: Option<RoleSpec>,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Its place.
    pub span: Span,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DefaultPrivileges {
    /// FOR ROLE. Empty means the current role.
    pub roles: Vec<RoleSpec>,
    /// IN SCHEMA. Empty means every schema.
    pub schemas: Vec<Ident>,
    /// GRANT if true, REVOKE if false.
    pub grants: bool,
    /// The privileges. Empty for ALL.
    pub privileges: Vec<Privilege>,
    /// The kind of objects.
    pub kind: DefaultKind,
    /// TO or FROM.
    pub grantees: Vec<RoleSpec>,
    /// WITH GRANT OPTION, or GRANT OPTION FOR.
    pub option: bool,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// Its place.
    pub span: Span,
}

/// The kinds of objects of ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DefaultKind {
    Tables,
    Sequences,
    Schemas,
    Types,
    Functions,
    Routines,
}

/// CREATE ROLE, USER or GROUP, and ALTER of the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleStatement {
    /// Whether it is CREATE.
    pub create: bool,
    /// ROLE, USER or GROUP.
    pub word: RoleWord,
    /// The role.
    pub role: RoleSpec,
    /// The options, in order.
    pub options: Vec<RoleOption>,
    /// ALTER GROUP … ADD USER (true) or DROP USER (false), with the members.
    pub members: Option<(bool, Vec<RoleSpec>)>,
    /// Its place.
    pub span: Span,
}

/// The word for a role. CREATE USER implies LOGIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RoleWord {
    Role,
    User,
    Group,
}

/// An option of a role, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleOption {
    /// What it says.
    pub kind: RoleOptionKind,
    /// Its place.
    pub span: Span,
}

/// The options of roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RoleOptionKind {
    /// SUPERUSER or NOSUPERUSER.
    Superuser(bool),
    /// CREATEDB or NOCREATEDB.
    CreateDatabase(bool),
    /// CREATEROLE or NOCREATEROLE.
    CreateRole(bool),
    /// INHERIT or NOINHERIT.
    Inherit(bool),
    /// LOGIN or NOLOGIN.
    Login(bool),
    /// REPLICATION or NOREPLICATION.
    Replication(bool),
    /// BYPASSRLS or NOBYPASSRLS.
    BypassRowSecurity(bool),
    /// CONNECTION LIMIT.
    ConnectionLimit(i32),
    /// \[ENCRYPTED\] PASSWORD. `None` for NULL.
    Password(Option<String>),
    /// VALID UNTIL.
    ValidUntil(String),
    /// IN ROLE or IN GROUP.
    InRole(Vec<RoleSpec>),
    /// ROLE or USER.
    Members(Vec<RoleSpec>),
    /// ADMIN.
    Admins(Vec<RoleSpec>),
    /// SYSID.
    SystemId(String),
}

/// DROP ROLE, USER or GROUP.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DropRole {
    /// The word that was written.
    pub word: RoleWord,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The roles.
    pub roles: Vec<RoleSpec>,
    /// Its place.
    pub span: Span,
}

/// DROP OWNED or REASSIGN OWNED.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owned {
    /// The roles that own the objects.
    pub roles: Vec<RoleSpec>,
    /// What happens to the objects.
    pub change: OwnedChange,
    /// Its place.
    pub span: Span,
}

/// What happens to the objects of a role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OwnedChange {
    /// DROP OWNED: whether CASCADE was written.
    Drop(bool),
    /// REASSIGN OWNED: the new owner.
    Reassign(RoleSpec),
}

/// A stored setting of a role, a database or a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SettingChange {
    /// SET: the name in lower case, and the values. No values for DEFAULT.
    Set(String, Option<Vec<SettingValue>>),
    /// SET … FROM CURRENT.
    FromCurrent(String),
    /// RESET.
    Reset(String),
    /// RESET ALL.
    ResetAll,
}

/// A value of SET.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SettingValue {
    /// A word as written but folded, or a string.
    Text(String),
    /// A number as written, with its sign.
    Number(String),
    /// INTERVAL 'x' of SET TIME ZONE, with its fields.
    Interval(String, Option<super::IntervalFields>),
}

/// ALTER ROLE … SET, ALTER DATABASE … SET, ALTER SYSTEM SET.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterSetting {
    /// Whose setting it is.
    pub of: SettingOwner,
    /// The change.
    pub change: SettingChange,
    /// Its place.
    pub span: Span,
}

/// The owner of a stored setting.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SettingOwner {
    /// A role (`None` for ALL), and IN DATABASE.
    Role(Option<RoleSpec>, Option<Ident>),
    /// A database.
    Database(Ident),
    /// ALTER SYSTEM.
    System,
}

/// CREATE DATABASE, and ALTER DATABASE with options.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DatabaseStatement {
    /// The database.
    pub name: Ident,
    /// What to do.
    pub action: DatabaseAction,
    /// Its place.
    pub span: Span,
}

/// The actions on a database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DatabaseAction {
    /// CREATE, with its options. CONNECTION LIMIT is `connection_limit`. DEFAULT is no value.
    Create(Vec<OptionItem>),
    /// ALTER, with its options.
    Alter(Vec<OptionItem>),
    /// ALTER … SET TABLESPACE.
    Tablespace(Ident),
    /// ALTER … REFRESH COLLATION VERSION.
    RefreshCollation,
}
