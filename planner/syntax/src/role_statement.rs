//! Syntax trees of statements about roles, privileges and databases.

use grammar::tree as ast;

/// GRANT or REVOKE. Unqualified names are folded.
#[derive(Clone, Debug)]
pub struct Grant {
    /// GRANT if true, REVOKE if false.
    pub grants: bool,
    /// The privileges, each with its columns. Without `objects`, the granted roles.
    pub privileges: Vec<(String, Vec<String>)>,
    /// ALL PRIVILEGES, with its columns.
    pub all: Option<Vec<String>>,
    /// The objects after ON. `None` if roles are granted.
    pub objects: Option<GrantObjects>,
    /// The roles that receive or lose the grant.
    pub roles: Vec<String>,
    /// Whether WITH GRANT OPTION or WITH ADMIN OPTION was written.
    pub option: bool,
    /// Whether REVOKE … OPTION FOR was written.
    pub option_only: bool,
    /// Whether CASCADE was written.
    pub cascade: bool,
    /// The role in GRANTED BY.
    pub by: Option<String>,
    /// Whether the statement is ALTER GROUP … ADD USER or DROP USER.
    pub of_group: bool,
}

/// The objects of a GRANT or REVOKE.
#[derive(Clone, Debug)]
pub enum GrantObjects {
    /// Tables, views or sequences, by name.
    Tables(Vec<ast::Name>),
    /// Sequences, by their possibly qualified names.
    Sequences(Vec<ast::Name>),
    /// All tables and views, or all sequences, in schemas.
    AllIn {
        /// Sequences if true, tables if false.
        sequences: bool,
        /// The names of the schemas.
        schemas: Vec<String>,
    },
    /// All functions in schemas, by the names of the schemas.
    FunctionsIn(Vec<String>),
    /// Schemas, by their folded names.
    Schemas(Vec<String>),
    /// Databases, by their folded names.
    Databases(Vec<String>),
    /// Large objects, by OID.
    LargeObjects(Vec<types::Oid>),
    /// Types or domains, by name.
    Types {
        /// Whether ON DOMAIN was written.
        domains: bool,
        /// The names of the types.
        names: Vec<ast::Name>,
    },
}

/// The role in ALTER ROLE … SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingRole {
    /// ALL: the settings of every role.
    All,
    /// One role: its folded name, or `current_user` or a similar word.
    Named(String),
}

/// A change of a stored setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingChange {
    /// SET: the name and its values.
    Set(String, Vec<String>),
    /// SET … FROM CURRENT, by name.
    FromCurrent(String),
    /// RESET or SET … TO DEFAULT, by name.
    Reset(String),
    /// RESET ALL: removes all stored settings.
    ResetAll,
}

/// ALTER ROLE … SET or ALTER DATABASE … SET.
#[derive(Clone, Debug)]
pub struct AlterSettings {
    /// The role whose sessions get the setting.
    pub role: SettingRole,
    /// The database in IN DATABASE. `None` means every database.
    pub database: Option<String>,
    /// The change of the setting.
    pub change: SettingChange,
}

/// CREATE DATABASE, ALTER DATABASE or DROP DATABASE. Names are folded.
#[derive(Clone, Debug)]
pub enum DatabaseStatement {
    /// A CREATE DATABASE statement.
    Create {
        /// The name of the database.
        name: String,
        /// The options in WITH.
        options: Vec<DatabaseOption>,
    },
    /// An ALTER DATABASE statement, except for changes of settings.
    Alter {
        /// The name of the database.
        name: String,
        /// The change to make.
        change: DatabaseChange,
    },
    /// A DROP DATABASE statement.
    Drop {
        /// The name of the database.
        name: String,
        /// Whether IF EXISTS was written.
        if_exists: bool,
        /// Whether WITH (FORCE) was written.
        force: bool,
    },
}

impl DatabaseStatement {
    /// The first words of the command, as in its tag.
    pub fn words(&self) -> &'static str {
        match self {
            DatabaseStatement::Create { .. } => "CREATE DATABASE",
            DatabaseStatement::Alter { change: DatabaseChange::Tablespace(_), .. } => "ALTER DATABASE SET TABLESPACE",
            DatabaseStatement::Alter { .. } => "ALTER DATABASE",
            DatabaseStatement::Drop { .. } => "DROP DATABASE",
        }
    }
}

/// A change in ALTER DATABASE.
#[derive(Clone, Debug)]
pub enum DatabaseChange {
    /// RENAME TO this name.
    Rename(String),
    /// OWNER TO this role.
    Owner(String),
    /// SET TABLESPACE to this one.
    Tablespace(String),
    /// REFRESH COLLATION VERSION, which has no operand.
    RefreshCollation,
    /// New values of options.
    Options(Vec<DatabaseOption>),
}

/// An option of CREATE DATABASE or ALTER DATABASE.
#[derive(Clone, Debug)]
pub struct DatabaseOption {
    /// The folded name. CONNECTION LIMIT is `connection_limit`.
    pub name: String,
    /// The value. `None` for DEFAULT.
    pub value: Option<DatabaseValue>,
    /// The position in the statement's text, in characters from 1.
    pub position: Option<usize>,
}

/// The value of a database option.
#[derive(Clone, Debug)]
pub enum DatabaseValue {
    /// A string, or a folded word.
    Text(String),
    /// A number in its written form.
    Number(String),
}

/// The kind of object in ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DefaultKind {
    Tables,
    Sequences,
    Schemas,
    Types,
    Functions,
}

/// An ALTER DEFAULT PRIVILEGES statement.
#[derive(Clone, Debug)]
pub struct DefaultPrivileges {
    /// The roles in FOR ROLE. Empty means the current role.
    pub roles: Vec<String>,
    /// The schemas in IN SCHEMA. Empty means every schema.
    pub schemas: Vec<String>,
    /// The kind of objects after ON.
    pub kind: DefaultKind,
    /// The GRANT or REVOKE. Its `objects` have no meaning.
    pub grant: Grant,
}
