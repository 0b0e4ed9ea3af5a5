//! Temporary tables of a session: the schema they go to, what COMMIT does to them, and their end.

use super::Session;
use super::shared::SessionShared;
use super::statement::Statement;
use crate::catalog::{OnCommit, SchemaDescriptor, builder::SUPERUSER_OID};
use crate::ddl;
use crate::error::Result;
use crate::parse::{OnCommitClause, StatementKind};
use std::sync::Arc;

impl Session {
    /// Gives the session a schema for temporary relations when a definition may make one. Nothing is stored yet.
    pub(super) async fn prepare_temporary(&mut self, statement: &Statement) -> Result<()> {
        let clauses = match &statement.kind {
            StatementKind::CreateTableAs(create) => &create.clauses,
            _ => &statement.extras.clauses,
        };
        if matches!(clauses.on_commit, Some(OnCommitClause::DeleteRows | OnCommitClause::Drop)) {
            self.shared.set_on_commit(true);
        }
        if self.shared.temporary().is_some() {
            return Ok(());
        }
        // `pg_temp.t` says it as well, and so does search_path.
        let says = statement.text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"temp"));
        if !says && !self.settings().creation_path().iter().any(|schema| schema == "pg_temp") {
            return Ok(());
        }
        let catalog = self.database.catalog();
        let oid = catalog.numbers().oid().await?;
        let schema = SchemaDescriptor {
            oid,
            name: format!("pg_temp_{oid}"),
            owner: SUPERUSER_OID,
            node: catalog.nodes().map(|nodes| nodes.id()),
            ..Default::default()
        };
        self.shared.set_temporary(schema);
        Ok(())
    }

    /// What ON COMMIT says of the tables of the transaction that is about to commit. It is rolled back when that fails.
    pub(super) async fn on_commit(&mut self) -> Result<()> {
        if self.block.is_failed() || self.block.locks().is_none() {
            return Ok(());
        }
        let Some(schema) = self.shared.temporary() else { return Ok(()) };
        let part = self.block.statement(false).await?;
        let concerned = |table: &Arc<crate::catalog::TableDescriptor>| {
            table.schema_oid == schema.oid && table.on_commit != OnCommit::PreserveRows
        };
        if !part.transaction.has_writes() || !part.catalog.user_relations().any(concerned) {
            return Ok(());
        }
        let ddl = self.begin_ddl().await?;
        let done = ddl::temporary::at_commit(&ddl, schema.oid).await;
        self.block.catalog_changed();
        if done.is_err() {
            self.block.abort().await;
        }
        done
    }

    /// DISCARD TEMP: drops them all.
    pub(super) async fn discard_temporary(&mut self) -> Result<()> {
        let Some(schema) = self.shared.temporary() else { return Ok(()) };
        let mut ddl = self.begin_ddl().await?;
        // They are the session's whoever it is; what goes with them is told nobody.
        ddl.user = SUPERUSER_OID;
        ddl.session = Arc::new(SessionShared::default());
        let dropped = ddl::temporary::discard(&ddl, &schema.name).await;
        self.block.catalog_changed();
        dropped
    }

    /// The session is over, and so are its temporary tables. What cannot be dropped now is found later.
    pub(super) async fn end_temporary(&mut self) {
        let Some(schema) = self.shared.temporary() else { return };
        let store = self.database.catalog().clone();
        if let Err(error) = ddl::temporary::remove(&store, self.shared.database_oid, &schema.name).await {
            tracing::warn!(%error, "temporary tables of a session that ended are still there");
        }
    }
}
