//! Temporary relations: their schema, which belongs to one session, and its removal.
//!
//! A temporary relation is an ordinary one in a schema `pg_temp_N`, which only its session's search_path contains.
//! Definitions, transactions, indexes and savepoints work as for any table. The first transaction that needs the schema
//! creates it. The server drops its contents when the session ends. If the server ends first, the next start does so.
//! If several servers serve one store, another server does so once it sees that the schema's server is gone.

use super::DdlContext;
use catalog::{
    CatalogStore, OnCommit, Persistence, SchemaDescriptor, StorageId, builder::SUPERUSER_OID, is_temporary, keys,
};
use context::shared::SessionShared;
use futures::TryStreamExt;
use settings::Settings;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use syntax::{Span, ast};
use txn::{LockStrength, OwnWrites, TransactionOptions, TxnError, TxnScanOptions, Write, WriteKind};
use types::Oid;
use types::datetime::of_unix;

/// The interval between searches for schemas that a server left.
const SWEEP: Duration = Duration::from_secs(10);
/// The number of rows that ON COMMIT DELETE ROWS removes in one step.
const DELETED_AT_ONCE: usize = 10_000;
/// How often a conflicting removal is tried.
const TRIES: usize = 10;

/// The persistence of relations in a schema.
pub(super) fn persistence_in(schema: &SchemaDescriptor) -> Persistence {
    if is_temporary(&schema.name) { Persistence::Temporary } else { Persistence::Permanent }
}

impl DdlContext {
    /// The session's schema of temporary relations. It may not be stored yet.
    pub(super) fn temporary_schema(&self) -> Result<Arc<SchemaDescriptor>> {
        let own = self.session.temporary();
        let own = own.ok_or_else(|| SqlError::internal("a session without a schema of temporary tables"))?;
        Ok(self.catalog.schema(&own.name).unwrap_or_else(|| Arc::new(own)))
    }
    /// Stores the schema of temporary relations if this transaction is the first to need it.
    pub(super) async fn store_schema(&self, schema: &SchemaDescriptor) -> Result<()> {
        if !is_temporary(&schema.name) || self.catalog.schema(&schema.name).is_some() {
            return Ok(());
        }
        let mut writer = self.writer();
        writer.put_schema(None, schema)?;
        writer.flush().await
    }
    /// The persistence of a new table or sequence, and what COMMIT does with its rows. Errors: 42P16.
    pub(super) fn persistence(
        &self,
        schema: &SchemaDescriptor,
        written: ast::Persistence,
        on_commit: Option<ast::OnCommit>,
    ) -> Result<(Persistence, OnCommit)> {
        let persistence = match (persistence_in(schema), written == ast::Persistence::Unlogged) {
            (Persistence::Temporary, true) => {
                let message = "only temporary relations may be created in temporary schemas";
                return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
            }
            (Persistence::Permanent, true) => Persistence::Unlogged,
            (persistence, _) => persistence,
        };
        if on_commit.is_some() && persistence != Persistence::Temporary {
            let message = "ON COMMIT can only be used on temporary tables";
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let on_commit = match on_commit {
            None | Some(ast::OnCommit::PreserveRows) => OnCommit::PreserveRows,
            Some(ast::OnCommit::DeleteRows) => OnCommit::DeleteRows,
            Some(ast::OnCommit::Drop) => OnCommit::Drop,
        };
        Ok((persistence, on_commit))
    }
}

/// DROP … IF EXISTS … CASCADE of objects.
fn drop_of(objects: Vec<ast::ObjectReference>) -> ast::Drop {
    ast::Drop { objects, if_exists: true, cascade: true, concurrently: false, force: false, span: Span::NONE }
}

/// DROP SCHEMA of this schema, with its contents.
fn drop_of_schema(name: &str) -> ast::Drop {
    drop_of(vec![ast::ObjectReference::Plain(ast::PlainKind::Schema, ast::Ident::new(name))])
}

/// Drops a schema of temporary relations with its contents, in its own transaction. Errors of the store.
pub async fn remove(store: &Arc<CatalogStore>, database: Oid, name: &str) -> Result<()> {
    let mut tried = 0;
    loop {
        tried += 1;
        let error = match try_remove(store, database, name).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if tried >= TRIES || !error.is_retryable() {
            return Err(error);
        }
        store.env().sleep(Duration::from_millis(20)).await;
    }
}

async fn try_remove(store: &Arc<CatalogStore>, database: Oid, name: &str) -> Result<()> {
    let transaction = store.transactions().begin(TransactionOptions::default());
    let catalog = store.snapshot(&transaction, database).await?;
    if catalog.schema(name).is_none() {
        transaction.rollback().await;
        return Ok(());
    }
    let settings = Settings::default().with("lock_timeout", "10s")?;
    let context = DdlContext {
        store: Arc::clone(store),
        transaction,
        catalog,
        locks: store.locks().begin(),
        settings: Arc::new(settings),
        // Notices of the drop are discarded.
        session: Arc::new(SessionShared::default()),
        user: SUPERUSER_OID,
        transaction_time: of_unix(store.env().now_micros()),
        renewable: false,
        repeatable: false,
        stale: AtomicBool::new(false),
    };
    if let Err(error) = super::drop::execute(&context, &drop_of_schema(name)).await {
        context.transaction.rollback().await;
        return Err(error);
    }
    match context.transaction.commit().await {
        Ok(_) => Ok(()),
        Err(TxnError::Conflict(_)) => {
            Err(SqlError::new(state::SERIALIZATION_FAILURE, "the removal of temporary tables met another change"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Drops the temporary relations of sessions whose server ended. Call it before the first session. Errors of the store.
pub async fn sweep(store: &Arc<CatalogStore>) -> Result<()> {
    if store.nodes().is_none() {
        for (database, schema) in temporary_schemas(store).await? {
            if let Err(error) = remove(store, database, &schema.name).await {
                tracing::warn!(%error, schema = schema.name, "temporary tables of a session that ended are still there");
            }
        }
        return Ok(());
    }
    let weak = Arc::downgrade(store);
    let task = async move {
        while let Some(store) = weak.upgrade() {
            if let Err(error) = sweep_of_others(&store).await {
                tracing::debug!(%error, "temporary tables that a server left are looked for later");
            }
            let env = Arc::clone(store.env());
            drop(store);
            env.sleep(SWEEP).await;
        }
    };
    store.env().spawn("temporary tables of others", Box::pin(task));
    Ok(())
}

/// Drops the schemas of servers that no longer belong to the store.
async fn sweep_of_others(store: &Arc<CatalogStore>) -> Result<()> {
    let Some(nodes) = store.nodes() else { return Ok(()) };
    for (database, schema) in temporary_schemas(store).await? {
        let Some(node) = schema.node else { continue };
        if node != nodes.id() && !nodes.is_there(node).await? {
            remove(store, database, &schema.name).await?;
        }
    }
    Ok(())
}

async fn temporary_schemas(store: &Arc<CatalogStore>) -> Result<Vec<(Oid, Arc<SchemaDescriptor>)>> {
    let reader = store.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
    let mut found = Vec::new();
    for database in store.databases(&reader).await? {
        let catalog = store.snapshot(&reader, database.oid).await?;
        let schemas = catalog.schemas();
        found.extend(
            schemas.into_iter().filter(|schema| is_temporary(&schema.name)).map(|schema| (database.oid, schema)),
        );
    }
    reader.rollback().await;
    Ok(found)
}

/// Drops the contents of a schema of temporary relations, as part of the transaction.
pub async fn discard(context: &DdlContext, name: &str) -> Result<()> {
    if context.catalog.schema(name).is_none() {
        return Ok(());
    }
    super::drop::execute(context, &drop_of_schema(name)).await.map(|_| ())
}

/// Runs the ON COMMIT actions of a schema's tables, in the transaction that is about to commit.
pub async fn at_commit(context: &DdlContext, schema: Oid) -> Result<()> {
    let tables = context.catalog.user_relations().filter(|table| table.schema_oid == schema);
    let mut dropped = Vec::new();
    for table in tables {
        match table.on_commit {
            OnCommit::PreserveRows => {}
            OnCommit::Drop => {
                let parts = [&table.schema, &table.name].map(|part| ast::Ident::new(part.as_str())).to_vec();
                let name = ast::Name { parts, span: Span::NONE };
                dropped.push(ast::ObjectReference::Named(ast::NamedKind::Table, name));
            }
            OnCommit::DeleteRows => {
                delete_rows(context, table.storage_id).await?;
                for index in table.secondary_indexes() {
                    delete_rows(context, index.storage_id).await?;
                }
            }
        }
    }
    if !dropped.is_empty() {
        super::drop::execute(context, &drop_of(dropped)).await?;
    }
    Ok(())
}

/// Removes all rows under a storage id, in steps. Only the transaction's buffer holds the pending writes, and
/// it spills to disk.
async fn delete_rows(context: &DdlContext, storage_id: StorageId) -> Result<()> {
    let mut range = keys::rows_of(storage_id);
    loop {
        let options = TxnScanOptions { limit: Some(DELETED_AT_ONCE), ..TxnScanOptions::default() };
        let mut rows = context.transaction.scan(range.clone(), options, OwnWrites::All);
        let mut writes = Vec::new();
        while let Some(batch) = rows.try_next().await? {
            writes.extend(batch.into_iter().map(|(key, _)| Write {
                key,
                kind: WriteKind::Delete,
                strength: LockStrength::Update,
            }));
        }
        drop(rows);
        let Some(last) = writes.last() else { return Ok(()) };
        // The least key after the last one.
        range.start = [last.key.as_ref(), &[0]].concat().into();
        context.transaction.write(writes).await?;
    }
}
