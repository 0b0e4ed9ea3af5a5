//! [`SystemViews`]: the system views as a catalog asks for them.

use super::object_names;
use catalog::{Catalog, SystemCatalog, TableDescriptor};
use functions::catalog_functions::{CatalogFunctions, install};
use sql_error::Result;
use std::sync::Arc;
use types::{BaseType, Oid};

/// PostgreSQL's system catalog, `information_schema` and `percosql`.
#[derive(Debug)]
pub struct SystemViews(());

impl SystemViews {
    /// The one of the process. From then on calls find the functions over the catalog.
    pub fn get() -> &'static SystemViews {
        static VIEWS: SystemViews = SystemViews(());
        install(CatalogFunctions {
            scalar: super::functions::functions,
            exists: super::row_functions::exists,
            row_lists: super::row_functions::row_lists,
            is_missing: super::is_missing_function,
        });
        context::system_view::install(super::view_by_oid);
        types::text::install_system_names(&object_names::SystemNames);
        &VIEWS
    }
}

impl SystemCatalog for SystemViews {
    fn relation(&self, schema: &str, name: &str) -> Option<Arc<TableDescriptor>> {
        super::view(schema, name).map(|view| Arc::clone(view.descriptor()))
    }
    fn relation_by_oid(&self, oid: Oid) -> Option<Arc<TableDescriptor>> {
        super::view_by_oid(oid).map(|view| Arc::clone(view.descriptor()))
    }
    fn relations(&self) -> Vec<Arc<TableDescriptor>> {
        super::views().map(|view| Arc::clone(view.descriptor())).collect()
    }
    fn count(&self) -> usize {
        super::views().count()
    }
    fn oid_of(&self, catalog: &Catalog, base: BaseType, text: &str, search_path: &[String]) -> Result<i64> {
        object_names::read(base, text, Some(catalog), search_path)
    }
    fn name_of(&self, catalog: &Catalog, base: BaseType, oid: Oid, search_path: &[String]) -> Option<String> {
        object_names::name(base, oid, Some(catalog), search_path)
    }
    fn relation_oid(&self, catalog: &Catalog, name: &str, search_path: &[String]) -> Result<i64> {
        object_names::relation(name, catalog, search_path)
    }
}
