//! The catalog: descriptors of everything that has a name, as stored rows, and an immutable
//! [`Catalog`] as one transaction sees it.

pub mod descriptor;

pub use descriptor::*;

use crate::types::Oid;
use std::sync::Arc;

/// Everything that has a name in one database, as of one snapshot. Immutable and shared.
#[derive(Debug, Default)]
pub struct Catalog {
    _todo: (),
}

#[allow(unused_variables, clippy::unimplemented)]
impl Catalog {
    /// Changes whenever any descriptor changes; equal versions are equal catalogs.
    pub fn version(&self) -> u64 {
        unimplemented!()
    }
    /// The database this is the catalog of.
    pub fn database(&self) -> &DatabaseDescriptor {
        unimplemented!()
    }
    /// Finds a relation: in `schema` when given, else along `search_path` (pg_catalog first,
    /// implicitly, as in PostgreSQL). Names are already folded.
    pub fn relation(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> Option<Arc<TableDescriptor>> {
        unimplemented!()
    }
    /// The relation with this OID (indexes are found by [`Catalog::index`]).
    pub fn relation_by_oid(&self, oid: Oid) -> Option<Arc<TableDescriptor>> {
        unimplemented!()
    }
    /// The table and position in its `indexes` of the index with this OID.
    pub fn index(&self, oid: Oid) -> Option<(Arc<TableDescriptor>, usize)> {
        unimplemented!()
    }
    /// An index by name, as [`Catalog::relation`].
    pub fn index_named(
        &self,
        schema: Option<&str>,
        name: &str,
        search_path: &[String],
    ) -> Option<(Arc<TableDescriptor>, usize)> {
        unimplemented!()
    }
    /// The table (or index) that owns a storage id, to name keys in messages.
    pub fn by_storage_id(&self, storage_id: StorageId) -> Option<(Arc<TableDescriptor>, usize)> {
        unimplemented!()
    }
    /// Every relation, system views included, by OID.
    pub fn relations(&self) -> Vec<Arc<TableDescriptor>> {
        unimplemented!()
    }
    /// Every schema, by OID.
    pub fn schemas(&self) -> Vec<Arc<SchemaDescriptor>> {
        unimplemented!()
    }
    /// The schema with this name.
    pub fn schema(&self, name: &str) -> Option<Arc<SchemaDescriptor>> {
        unimplemented!()
    }
    /// Every database of the cluster.
    pub fn databases(&self) -> Vec<Arc<DatabaseDescriptor>> {
        unimplemented!()
    }
    /// Every role of the cluster.
    pub fn roles(&self) -> Vec<Arc<RoleDescriptor>> {
        unimplemented!()
    }
}
