//! System views: `pg_catalog`, `information_schema` and `percosql`, computed from the catalog and
//! the transaction whenever they are read.
//!
//! Must not know how plans run: a view answers with rows, `execution::system_view` does the rest.

use crate::catalog::TableDescriptor;
use crate::error::Result;
use crate::execution::StatementContext;
use async_trait::async_trait;
use datafusion::arrow::record_batch::RecordBatch;
use std::fmt::Debug;
use std::sync::Arc;

/// A relation whose rows are computed.
#[async_trait]
pub trait SystemView: Debug + Send + Sync {
    /// Its descriptor: `kind` is `RelationKind::SystemView`.
    fn descriptor(&self) -> &Arc<TableDescriptor>;

    /// All its rows as the statement sees them: the live columns in order, in the Arrow form of
    /// their types.
    async fn rows(&self, context: &StatementContext) -> Result<RecordBatch>;
}
