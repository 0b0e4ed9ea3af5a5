//! Temporary tables of a session: their schema, their ON COMMIT actions, and their removal.

use super::Session;
use super::shared::SessionShared;
use super::statement::Statement;
use crate::catalog::{OnCommit, SchemaDescriptor, builder::SUPERUSER_OID};
use crate::ddl;
use crate::error::Result;
use crate::parse::{StatementKind, ast};
use std::sync::Arc;

impl Session {
    /// Gives the session a schema for temporary relations before a definition that may create one.
    /// Nothing is stored yet.
    pub(super) async fn prepare_temporary(&mut self, statement: &Statement) -> Result<()> {
        let on_commit = match &statement.kind {
            StatementKind::CreateTableAs(create) => create.storage.on_commit,
            StatementKind::Sql(tree) => match tree.as_ref() {
                ast::Statement::CreateTable(create) => create.storage.on_commit,
                _ => None,
            },
            _ => None,
        };
        if matches!(on_commit, Some(ast::OnCommit::DeleteRows | ast::OnCommit::Drop)) {
            self.shared.set_on_commit(true);
        }
        if self.shared.temporary().is_some() {
            return Ok(());
        }
        // `pg_temp.t` and search_path can name the schema too.
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

    /// Applies ON COMMIT to the tables of the transaction that is about to commit. A failure rolls it back.
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

    /// DISCARD TEMP: drops all temporary tables.
    pub(super) async fn discard_temporary(&mut self) -> Result<()> {
        let Some(schema) = self.shared.temporary() else { return Ok(()) };
        let mut ddl = self.begin_ddl().await?;
        // The session may drop its tables in any role. Notices about dependent objects are suppressed.
        ddl.user = SUPERUSER_OID;
        ddl.session = Arc::new(SessionShared::default());
        let dropped = ddl::temporary::discard(&ddl, &schema.name).await;
        self.block.catalog_changed();
        dropped
    }

    /// Drops the temporary tables at the end of the session. A later sweep drops those that remain.
    pub(super) async fn end_temporary(&mut self) {
        let Some(schema) = self.shared.temporary() else { return };
        let store = self.database.catalog().clone();
        if let Err(error) = ddl::temporary::remove(&store, self.shared.database_oid, &schema.name).await {
            tracing::warn!(%error, "temporary tables of a session that ended are still there");
        }
    }
}
