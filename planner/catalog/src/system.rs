//! [`SystemCatalog`]: what every database has and no store holds. The crate of the system views computes it; a catalog asks it for
//! descriptors and names.

use crate::{Catalog, TableDescriptor};
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;
use types::text::ObjectNames;
use types::{BaseType, Oid};

/// Name of the schema of PostgreSQL's system catalog.
pub const PG_CATALOG: &str = "pg_catalog";

/// The schemas that cannot be changed, with their OIDs.
pub const SYSTEM_SCHEMAS: [(Oid, &str); 3] = [(11, PG_CATALOG), (13_000, "information_schema"), (13_001, "percosql")];

/// The schema of our own views. Lists of schemas and tables omit it, and its views are found by name.
/// PostgreSQL's tools (`\\dn`, pg_dump, reflection) hide `pg_…` and `information_schema` by name, and would take
/// it for a user's schema.
pub const OWN_SCHEMA: &str = "percosql";

/// System views, and the names of objects in any catalog.
pub trait SystemCatalog: fmt::Debug + Send + Sync {
    /// The system view of this name.
    fn relation(&self, schema: &str, name: &str) -> Option<Arc<TableDescriptor>>;
    /// The system view with this OID.
    fn relation_by_oid(&self, oid: Oid) -> Option<Arc<TableDescriptor>>;
    /// Every system view.
    fn relations(&self) -> Vec<Arc<TableDescriptor>>;
    /// How many there are.
    fn count(&self) -> usize;
    /// As [`ObjectNames::oid_of`].
    fn oid_of(&self, catalog: &Catalog, base: BaseType, text: &str, search_path: &[String]) -> Result<i64>;
    /// As [`ObjectNames::name_of`].
    fn name_of(&self, catalog: &Catalog, base: BaseType, oid: Oid, search_path: &[String]) -> Option<String>;
    /// As [`ObjectNames::relation_oid`].
    fn relation_oid(&self, catalog: &Catalog, name: &str, search_path: &[String]) -> Result<i64>;
}

impl ObjectNames for Catalog {
    fn oid_of(&self, base: BaseType, text: &str, search_path: &[String]) -> Result<i64> {
        self.system().oid_of(self, base, text, search_path)
    }
    fn name_of(&self, base: BaseType, oid: Oid, search_path: &[String]) -> Option<String> {
        self.system().name_of(self, base, oid, search_path)
    }
    fn relation_oid(&self, name: &str, search_path: &[String]) -> Result<i64> {
        self.system().relation_oid(self, name, search_path)
    }
}

/// No system views: for catalogs that hold descriptors to be compared, and for tests.
#[derive(Debug)]
pub struct NoSystem;

impl SystemCatalog for NoSystem {
    fn relation(&self, _schema: &str, _name: &str) -> Option<Arc<TableDescriptor>> {
        None
    }
    fn relation_by_oid(&self, _oid: Oid) -> Option<Arc<TableDescriptor>> {
        None
    }
    fn relations(&self) -> Vec<Arc<TableDescriptor>> {
        Vec::new()
    }
    fn count(&self) -> usize {
        0
    }
    fn oid_of(&self, _catalog: &Catalog, _base: BaseType, _text: &str, _search_path: &[String]) -> Result<i64> {
        Err(SqlError::unsupported("looking up a name here"))
    }
    fn name_of(&self, _catalog: &Catalog, _base: BaseType, _oid: Oid, _search_path: &[String]) -> Option<String> {
        None
    }
    fn relation_oid(&self, _catalog: &Catalog, _name: &str, _search_path: &[String]) -> Result<i64> {
        Err(SqlError::unsupported("looking up a name here"))
    }
}

/// The system catalog that a catalog asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System(pub(crate) &'static dyn SystemCatalog);

impl Default for System {
    fn default() -> Self {
        System(&NoSystem)
    }
}
