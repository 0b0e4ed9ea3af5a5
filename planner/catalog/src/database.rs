//! [`DatabaseDescriptor`]: the stored descriptor of a database.

use super::StoredSettings;
use super::acl::Acl;
use serde::{Deserialize, Serialize};
use types::{Ctype, Oid};

/// A database (`pg_database`). Each has schemas and tables of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseDescriptor {
    /// Its OID in pg_database.
    pub oid: Oid,
    /// Name of the database.
    pub name: String,
    /// OID of the owning role.
    pub owner: Oid,
    /// The text of COMMENT ON. It is empty once the comment was removed, and `None` if there never was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Privileges on the database. `None` before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// Default privileges in the database (ALTER DEFAULT PRIVILEGES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_acls: Vec<super::acl::DefaultAcl>,
    /// Settings of ALTER DATABASE … SET.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: StoredSettings,
    /// CONNECTION LIMIT. `None` means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_limit: Option<u32>,
    /// Whether ALLOW_CONNECTIONS is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// IS_TEMPLATE, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<bool>,
    /// LC_COLLATE, if it differs from template1's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collate: Option<String>,
    /// LC_CTYPE, if it differs from template1's. It never changes, because stored values of lower() and similar
    /// functions depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ctype: Option<String>,
}

/// LC_COLLATE and LC_CTYPE of a new store's databases.
pub const LOCALE: &str = "C.UTF-8";

impl DatabaseDescriptor {
    /// Whether it is a template: any role with CREATEDB may copy it, and it cannot be dropped.
    pub fn is_template(&self) -> bool {
        self.template.unwrap_or(matches!(self.oid, TEMPLATE1 | TEMPLATE0))
    }
    /// Whether it accepts no connections.
    pub fn is_closed(&self) -> bool {
        self.closed || self.oid == TEMPLATE0 && self.template.is_none()
    }
    /// The name of LC_COLLATE. All names mean the order of code points.
    pub fn collation(&self) -> &str {
        self.collate.as_deref().unwrap_or(LOCALE)
    }
    /// The name of LC_CTYPE.
    pub fn lc_ctype(&self) -> &str {
        self.ctype.as_deref().unwrap_or(LOCALE)
    }
    /// The character classification by LC_CTYPE.
    pub fn ctype(&self) -> Ctype {
        Ctype::of_locale(self.lc_ctype())
    }
}

/// OID of the default template database, template1.
pub const TEMPLATE1: Oid = 1;
/// OID of template0, which keeps the state of a new store.
pub const TEMPLATE0: Oid = 4;
