//! The hint for a name that the transaction's snapshot does not show, although the object exists by now.

use super::Session;
use crate::catalog::Catalog;
use crate::error::{Missing, SqlError};
use std::sync::Arc;
use txn::TransactionOptions;

const HINT: &str = "It was created after this transaction's snapshot was taken. End the transaction and begin another, or use READ \
                    COMMITTED, where each statement sees what is committed.";

impl Session {
    /// Adds a hint to an error about a missing object if it was created after the snapshot of the current block.
    pub(super) async fn explain_missing(&self, error: SqlError) -> SqlError {
        let Some(missing) = error.fields().missing.clone() else { return error };
        if error.fields().hint.is_some() || !self.block.keeps_a_snapshot() {
            return error;
        }
        match self.newest_catalog().await {
            Some(newest) if self.has(&newest, &missing) => error.hint(HINT),
            _ => error,
        }
    }

    async fn newest_catalog(&self) -> Option<Arc<Catalog>> {
        let reader = self.database.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
        let newest = self.database.catalog().snapshot(&reader, self.shared.database_oid).await;
        reader.rollback().await;
        newest.ok()
    }

    fn has(&self, catalog: &Catalog, missing: &Missing) -> bool {
        let settings = self.shared.settings();
        let path = settings.search_path();
        match missing {
            Missing::Relation(schema, name) => catalog.relation(schema.as_deref(), name, path).is_some(),
            Missing::Schema(name) => catalog.schema(name).is_some(),
            Missing::Type(schema, name) => catalog.enum_named(schema.as_deref(), name, path).is_some(),
        }
    }
}
