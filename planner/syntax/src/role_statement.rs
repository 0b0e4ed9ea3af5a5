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
    /// All functions of schemas.
    FunctionsIn(Vec<String>),
    /// Schemas.
    Schemas(Vec<String>),
    /// Databases.
    Databases(Vec<String>),
    /// Large objects.
    LargeObjects(Vec<types::Oid>),
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

/// CREATE DATABASE, ALTER DATABASE and DROP DATABASE. Names are folded.
#[derive(Clone, Debug)]
pub enum DatabaseStatement {
    /// CREATE DATABASE.
    Create {
        /// Which.
        name: String,
        /// What is said of it.
        options: Vec<DatabaseOption>,
    },
    /// ALTER DATABASE of what is no setting.
    Alter {
        /// Which.
        name: String,
        /// What.
        change: DatabaseChange,
    },
    /// DROP DATABASE.
    Drop {
        /// Which.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// WITH (FORCE).
        force: bool,
    },
}

impl DatabaseStatement {
    /// The words of the command.
    pub fn words(&self) -> &'static str {
        match self {
            DatabaseStatement::Create { .. } => "CREATE DATABASE",
            DatabaseStatement::Alter { change: DatabaseChange::Tablespace(_), .. } => "ALTER DATABASE SET TABLESPACE",
            DatabaseStatement::Alter { .. } => "ALTER DATABASE",
            DatabaseStatement::Drop { .. } => "DROP DATABASE",
        }
    }
}

/// What ALTER DATABASE changes.
#[derive(Clone, Debug)]
pub enum DatabaseChange {
    /// RENAME TO.
    Rename(String),
    /// OWNER TO.
    Owner(String),
    /// SET TABLESPACE.
    Tablespace(String),
    /// REFRESH COLLATION VERSION.
    RefreshCollation,
    /// Options.
    Options(Vec<DatabaseOption>),
}

/// An option of a database.
#[derive(Clone, Debug)]
pub struct DatabaseOption {
    /// Its name, folded; CONNECTION LIMIT is `connection_limit`.
    pub name: String,
    /// None for DEFAULT.
    pub value: Option<DatabaseValue>,
    /// Where it stands.
    pub position: Option<usize>,
}

/// What an option of a database is given.
#[derive(Clone, Debug)]
pub enum DatabaseValue {
    /// A string, or a word, folded.
    Text(String),
    /// A number, as it is written.
    Number(String),
}

/// What new objects ALTER DEFAULT PRIVILEGES is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DefaultKind {
    Tables,
    Sequences,
    Schemas,
    Types,
    Functions,
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
