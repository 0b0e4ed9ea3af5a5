//! [`DatabaseDescriptor`]: what is stored of a database.

use super::StoredSettings;
use super::acl::Acl;
use serde::{Deserialize, Serialize};
use types::{Ctype, Oid};

/// A database (`pg_database`). Each has its own schemas and tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseDescriptor {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Owner.
    pub owner: Oid,
    /// COMMENT ON; empty when it was taken away, `None` when none was ever given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What was granted on it; none before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// ALTER DEFAULT PRIVILEGES in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_acls: Vec<super::acl::DefaultAcl>,
    /// ALTER DATABASE … SET.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: StoredSettings,
    /// CONNECTION LIMIT; none for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_limit: Option<u32>,
    /// ALLOW_CONNECTIONS false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// IS_TEMPLATE, where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<bool>,
    /// LC_COLLATE, where it is not that of template1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collate: Option<String>,
    /// LC_CTYPE, where it is not that of template1. Stored values of lower() and the like rely on it: it never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ctype: Option<String>,
}

/// LC_COLLATE and LC_CTYPE of the databases that a store begins with.
pub const LOCALE: &str = "C.UTF-8";

impl DatabaseDescriptor {
    /// Whether anybody who may create databases may copy it, and nobody may drop it.
    pub fn is_template(&self) -> bool {
        self.template.unwrap_or(matches!(self.oid, TEMPLATE1 | TEMPLATE0))
    }
    /// Whether nobody may connect.
    pub fn is_closed(&self) -> bool {
        self.closed || self.oid == TEMPLATE0 && self.template.is_none()
    }
    /// LC_COLLATE: names of one order, which is that of the code points.
    pub fn collation(&self) -> &str {
        self.collate.as_deref().unwrap_or(LOCALE)
    }
    /// LC_CTYPE.
    pub fn lc_ctype(&self) -> &str {
        self.ctype.as_deref().unwrap_or(LOCALE)
    }
    /// Which characters are letters: what LC_CTYPE means.
    pub fn ctype(&self) -> Ctype {
        Ctype::of_locale(self.lc_ctype())
    }
}

/// OID of the database that new ones are made of.
pub const TEMPLATE1: Oid = 1;
/// OID of the database that stays as a store begins.
pub const TEMPLATE0: Oid = 4;
