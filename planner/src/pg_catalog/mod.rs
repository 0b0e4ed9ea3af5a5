//! System views: `pg_catalog`, `information_schema` and `percosql`, computed from the catalog and
//! the transaction whenever they are read. One file a view; their OIDs are fixed, PostgreSQL's
//! where it has them.
//!
//! Must not know how plans run: a view answers with rows, `execution::system_view` does the rest.

use crate::catalog::TableDescriptor;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::Oid;
use async_trait::async_trait;
use datafusion::arrow::record_batch::RecordBatch;
use std::fmt::Debug;
use std::sync::Arc;

/// Name of the schema of PostgreSQL's system catalog.
pub const PG_CATALOG: &str = "pg_catalog";

/// The schemas that cannot be changed, with their OIDs.
pub const SYSTEM_SCHEMAS: [(Oid, &str); 3] = [(11, PG_CATALOG), (13_000, "information_schema"), (13_001, "percosql")];

/// A relation whose rows are computed.
#[async_trait]
pub trait SystemView: Debug + Send + Sync {
    /// Its descriptor: `kind` is `RelationKind::SystemView`.
    fn descriptor(&self) -> &Arc<TableDescriptor>;

    /// All its rows as the statement sees them: the live columns in order, in the Arrow form of
    /// their types.
    async fn rows(&self, context: &StatementContext) -> Result<RecordBatch>;
}

/// Every system view.
pub fn views() -> impl Iterator<Item = &'static Arc<dyn SystemView>> {
    const NONE: &[Arc<dyn SystemView>] = &[];
    NONE.iter()
}

/// The system view with this name.
pub fn view(schema: &str, name: &str) -> Option<&'static Arc<dyn SystemView>> {
    views().find(|view| {
        let descriptor = view.descriptor();
        descriptor.schema == schema && descriptor.name == name
    })
}

/// The system view with this OID.
pub fn view_by_oid(oid: Oid) -> Option<&'static Arc<dyn SystemView>> {
    views().find(|view| view.descriptor().oid == oid)
}
