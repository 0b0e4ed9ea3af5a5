//! What statements about roles, privileges and databases say.

use sqlparser::ast;

/// GRANT and REVOKE. Names that stand alone are folded.
#[derive(Clone, Debug)]
pub struct Grant {
    /// GRANT rather than REVOKE.
    pub grants: bool,
    /// Privileges, each with the columns it is of; without objects the roles that are granted.
    pub privileges: Vec<(String, Vec<String>)>,
    /// ALL PRIVILEGES, with the columns they are of.
    pub all: Option<Vec<String>>,
    /// ON what; none: roles are granted.
    pub objects: Option<GrantObjects>,
    /// To whom, or from whom.
    pub roles: Vec<String>,
    /// WITH GRANT OPTION, WITH ADMIN OPTION.
    pub option: bool,
    /// REVOKE … OPTION FOR.
    pub option_only: bool,
    /// CASCADE.
    pub cascade: bool,
    /// GRANTED BY.
    pub by: Option<String>,
    /// ALTER GROUP … ADD USER and DROP USER.
    pub of_group: bool,
}

/// What privileges are granted on.
#[derive(Clone, Debug)]
pub enum GrantObjects {
    /// Tables, views, or sequences.
    Tables(Vec<ast::ObjectName>),
    /// Sequences.
    Sequences(Vec<ast::ObjectName>),
    /// All tables and views, or all sequences, of schemas.
    AllIn {
        /// Sequences rather than tables.
        sequences: bool,
        /// Of which.
        schemas: Vec<String>,
    },
    /// Schemas.
    Schemas(Vec<String>),
    /// Databases.
    Databases(Vec<String>),
    /// Types, or domains.
    Types {
        /// ON DOMAIN.
        domains: bool,
        /// Which.
        names: Vec<ast::ObjectName>,
    },
}

/// Whose sessions ALTER ROLE … SET is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingRole {
    /// Everybody's.
    All,
    /// Those of a role: its name, folded, or `current_user` and its like.
    Named(String),
}

/// What is said of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingChange {
    /// SET.
    Set(String, Vec<String>),
    /// SET … FROM CURRENT.
    FromCurrent(String),
    /// RESET, SET … TO DEFAULT.
    Reset(String),
    /// RESET ALL.
    ResetAll,
}

/// ALTER ROLE … SET, ALTER DATABASE … SET.
#[derive(Clone, Debug)]
pub struct AlterSettings {
    /// Whose sessions.
    pub role: SettingRole,
    /// IN DATABASE; none: in every one.
    pub database: Option<String>,
    /// What.
    pub change: SettingChange,
}

/// ALTER DATABASE.
#[derive(Clone, Debug)]
pub struct AlterDatabase {
    /// Which.
    pub name: String,
    /// What.
    pub changes: Vec<DatabaseChange>,
}

/// What ALTER DATABASE changes.
#[derive(Clone, Debug)]
pub enum DatabaseChange {
    /// RENAME TO.
    Rename(String),
    /// OWNER TO.
    Owner(String),
    /// CONNECTION LIMIT; -1 for none.
    ConnectionLimit(i64),
    /// ALLOW_CONNECTIONS.
    AllowConnections(bool),
}

/// What new objects ALTER DEFAULT PRIVILEGES is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DefaultKind {
    Tables,
    Sequences,
    Schemas,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Debug)]
pub struct DefaultPrivileges {
    /// FOR ROLE; none: who asks.
    pub roles: Vec<String>,
    /// IN SCHEMA; none: anywhere.
    pub schemas: Vec<String>,
    /// ON what.
    pub kind: DefaultKind,
    /// The GRANT or REVOKE; what it is on means nothing.
    pub grant: Grant,
}
