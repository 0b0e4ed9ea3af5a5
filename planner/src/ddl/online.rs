//! CREATE INDEX outside a block: builds an index while others write, by F1's states.
//!
//! | state, as stored | writers | next |
//! |---|---|---|
//! | absent | know nothing of it | store `DeleteOnly` |
//! | `DeleteOnly` | remove entries | wait for writers by the version before; store `WriteOnly` |
//! | `WriteOnly` | maintain it | wait for, then shut out writers by `DeleteOnly`; backfill; store `Public` |
//! | `Public` | maintain it, queries read it | |
//! | `Dropping` | remove entries | wait; remove it and remember its storage id |
//!
//! Each state is stored by a transaction of its own, and closes the fence of the version before the last
//! (`CatalogWriter`): at most two neighbouring versions commit side by side. Waiting for older writers only
//! saves them from failing: a writer who slips through finds its fence closed at COMMIT (40001, and a
//! statement outside a block is run again). Before the backfill's first snapshot the fence of `DeleteOnly` is
//! closed as well, so every row that is written from then on has its entry.
//!
//! The backfill goes in small transactions, each at a snapshot of its own: rows whose entries are there
//! already are left alone, and a batch that conflicts with a writer is done again. A unique index meets a
//! duplicate as an entry of another row at the same snapshot; the index then goes by `Dropping` (23505).
//!
//! A crash leaves the state: `resume` goes on from there at the next start.
//!
//! Process-local: the wait for older writers (`TableLocks`), the right to change a table (`LockTarget::Change`),
//! which keeps two builds on one table apart, and who resumes a build. With many nodes the wait becomes a
//! lease on versions and the right a row; the fences, and with them what is correct, are rows already.

use super::online_backfill::Backfill;
use super::{DdlContext, create_index};
use crate::catalog::{
    Catalog, CatalogStore, Change, HeldLocks, IndexDescriptor, IndexState, LockMode, LockTarget, TableDescriptor,
};
use crate::error::{Result, SqlError, state};
use crate::session::CancelToken;
use crate::session::settings::Settings;
use crate::session::shared::SessionShared;
use crate::types::Oid;
use futures::channel::oneshot;
use sqlparser::ast::CreateIndex;
use std::sync::Arc;
use std::time::Duration;
use txn::{Transaction, TransactionOptions, TxnError};

/// Fail points: the process dies after a state was stored, or between two batches.
pub(super) mod point {
    pub const DELETE_ONLY: &str = "index_delete_only";
    pub const WRITE_ONLY: &str = "index_write_only";
    pub const BATCH: &str = "index_batch";
    pub const FILLED: &str = "index_filled";
    pub const DROPPING: &str = "index_dropping";
}

/// How long an error waits for the removal of the index.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a statement brings along.
#[derive(Clone)]
pub struct OnlineContext {
    /// The stored catalog.
    pub store: Arc<CatalogStore>,
    /// Settings: search_path, lock_timeout.
    pub settings: Arc<Settings>,
    /// Notices.
    pub session: Arc<SessionShared>,
    /// The role that asks.
    pub user: Oid,
    /// The database.
    pub database: Oid,
}

impl OnlineContext {
    /// A transaction of its own, with the newest catalog.
    async fn begin(&self, locks: &Arc<HeldLocks>) -> Result<DdlContext> {
        let transaction = self.store.transactions().begin(TransactionOptions::default());
        let catalog = self.store.snapshot(&transaction, self.database).await?;
        Ok(DdlContext {
            store: Arc::clone(&self.store),
            transaction,
            catalog,
            locks: Arc::clone(locks),
            settings: Arc::clone(&self.settings),
            session: Arc::clone(&self.session),
            user: self.user,
        })
    }
}

/// Cancels when dropped: the statement was, and nobody waits for the index.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// CREATE INDEX outside a block. When the future is dropped, the build stops and the index goes.
pub async fn create(context: OnlineContext, create: CreateIndex) -> Result<String> {
    let (answer, result) = oneshot::channel();
    let cancel = CancelToken::new();
    let _cancel = CancelOnDrop(cancel.clone());
    let env = Arc::clone(context.store.env());
    let task = async move {
        let result = run(&context, &create, cancel).await;
        // Nobody may be there to hear it.
        drop(answer.send(result));
    };
    env.spawn("index build", Box::pin(task));
    result.await.map_err(|_| SqlError::new(state::ADMIN_SHUTDOWN, "the server is stopping"))??;
    Ok("CREATE INDEX".into())
}

async fn run(context: &OnlineContext, create: &CreateIndex, cancel: CancelToken) -> Result<()> {
    let locks = context.store.locks().begin();
    let timeout = context.settings.lock_timeout();
    loop {
        let before = context.begin(&locks).await?;
        let Some(target) = create_index::target(&before, create)? else { return Ok(()) };
        let right = locks.acquire(LockTarget::Change(target.oid), LockMode::Exclusive, timeout);
        tokio::select! {
            result = right => result?,
            () = cancel.cancelled() => return Err(canceled()),
        }
        // What changed while waiting is seen by another transaction.
        let now = context.begin(&locks).await?;
        let Some(table) = create_index::target(&now, create)? else { return Ok(()) };
        if table.oid != target.oid {
            return Err(SqlError::new(state::SERIALIZATION_FAILURE, "the table was replaced in the meantime"));
        }
        let mut table = TableDescriptor::clone(&table);
        let mut index = create_index::describe(&now, create, &table).await?;
        index.state = IndexState::DeleteOnly;
        let build = IndexBuild {
            store: Arc::clone(&context.store),
            database: context.database,
            table: table.oid,
            index: index.oid,
            locks: Arc::clone(&locks),
            timeout,
            cancel: cancel.clone(),
        };
        table.version += 1;
        table.indexes.push(index);
        let mut writer = now.writer();
        writer.change_table(&table, Change::Gentle).await?;
        writer.flush().await?;
        match now.transaction.commit().await {
            Ok(_) => return build.finish().await,
            Err(TxnError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn canceled() -> SqlError {
    SqlError::new(state::QUERY_CANCELED, "canceling statement due to user request")
}

/// Goes on with the builds that a crash left, in the background. To be called before anybody defines anything.
/// Errors of the store.
pub async fn resume(store: &Arc<CatalogStore>) -> Result<()> {
    let reader = store.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
    for database in store.databases(&reader).await? {
        let catalog = store.snapshot(&reader, database.oid).await?;
        for table in catalog.user_relations() {
            let unfinished: Vec<Oid> =
                table.indexes.iter().filter(|index| index.state != IndexState::Public).map(|index| index.oid).collect();
            if unfinished.is_empty() {
                continue;
            }
            let locks = store.locks().begin();
            locks.acquire(LockTarget::Change(table.oid), LockMode::Exclusive, None).await?;
            let builds: Vec<IndexBuild> = unfinished
                .into_iter()
                .map(|index| IndexBuild {
                    store: Arc::clone(store),
                    database: database.oid,
                    table: table.oid,
                    index,
                    locks: Arc::clone(&locks),
                    timeout: None,
                    cancel: CancelToken::new(),
                })
                .collect();
            let name = table.name.clone();
            let task = async move {
                for build in builds {
                    match build.finish().await {
                        Ok(()) => tracing::info!(table = name, "an index build that a crash had stopped is done"),
                        Err(error) => {
                            tracing::warn!(table = name, %error, "an index build that a crash had stopped failed")
                        }
                    }
                }
            };
            store.env().spawn("index build", Box::pin(task));
        }
    }
    reader.rollback().await;
    Ok(())
}

/// An index that is stored and not public yet. Whoever has it has the right to change its table.
pub(super) struct IndexBuild {
    pub(super) store: Arc<CatalogStore>,
    pub(super) database: Oid,
    pub(super) table: Oid,
    pub(super) index: Oid,
    locks: Arc<HeldLocks>,
    timeout: Option<Duration>,
    pub(super) cancel: CancelToken,
}

impl IndexBuild {
    /// Brings the index to its end: public, or gone with an error.
    async fn finish(&self) -> Result<()> {
        let error = match self.build().await {
            Ok(true) => return Ok(()),
            Ok(false) => None,
            Err(error) => Some(error),
        };
        // The error goes out soon, also when those who write to the table take their time.
        let (gone, removed) = oneshot::channel::<()>();
        let remover = self.to_remove();
        let task = async move {
            if let Err(failure) = remover.remove().await {
                tracing::warn!(error = %failure, "an unfinished index could not be removed; the next start does it");
            }
            drop(gone);
        };
        self.store.env().spawn("index removal", Box::pin(task));
        futures::future::select(removed, self.store.env().sleep(PATIENCE)).await;
        error.map_or(Ok(()), Err)
    }

    /// The build from where it is. False: it is being removed.
    async fn build(&self) -> Result<bool> {
        let (_, mut table, mut index) = self.begin().await?;
        if index.state == IndexState::DeleteOnly {
            self.pass(point::DELETE_ONLY).await?;
            self.drain(table.version).await?;
            (table, index) = self.advance(IndexState::WriteOnly).await?;
        }
        if index.state == IndexState::WriteOnly {
            self.pass(point::WRITE_ONLY).await?;
            self.drain(table.version).await?;
            self.shut_out(table.version.wrapping_sub(1)).await?;
            Backfill::new(self).run().await?;
            self.pass(point::FILLED).await?;
            (_, index) = self.advance(IndexState::Public).await?;
        }
        Ok(index.state == IndexState::Public)
    }

    /// The same index, for a removal that nobody cancels.
    fn to_remove(&self) -> IndexBuild {
        let (store, locks) = (Arc::clone(&self.store), Arc::clone(&self.locks));
        IndexBuild { store, locks, timeout: None, cancel: CancelToken::new(), ..*self }
    }
    /// Takes the index away again.
    async fn remove(&self) -> Result<()> {
        // Also on the way out, no writer is to fail for being two versions behind.
        let (_, table, _) = self.begin().await?;
        self.drain(table.version).await?;
        let (table, _) = self.advance(IndexState::Dropping).await?;
        self.pass(point::DROPPING).await?;
        self.drain(table.version).await?;
        self.shut_out(table.version.wrapping_sub(1)).await?;
        loop {
            let (transaction, mut table, index) = self.begin().await?;
            table.version += 1;
            table.indexes.retain(|other| other.oid != index.oid);
            let mut writer = self.store.writer(&transaction, self.database);
            writer.drop_storage(index.storage_id)?;
            writer.change_table(&table, Change::Gentle).await?;
            writer.flush().await?;
            match transaction.commit().await {
                Ok(_) => return Ok(()),
                Err(TxnError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A transaction, and the table and index as it sees them. Errors: the index is gone.
    pub(super) async fn begin(&self) -> Result<(Arc<Transaction>, TableDescriptor, IndexDescriptor)> {
        self.begin_with(TransactionOptions::default()).await
    }
    /// The same, with options.
    pub(super) async fn begin_with(
        &self,
        options: TransactionOptions,
    ) -> Result<(Arc<Transaction>, TableDescriptor, IndexDescriptor)> {
        let transaction = self.store.transactions().begin(options);
        let catalog: Arc<Catalog> = self.store.snapshot(&transaction, self.database).await?;
        let found = catalog.relation_by_oid(self.table).and_then(|table| {
            let index = table.indexes.iter().find(|index| index.oid == self.index).cloned()?;
            Some((TableDescriptor::clone(&table), index))
        });
        let Some((table, index)) = found else {
            return Err(SqlError::new(state::UNDEFINED_OBJECT, "the index was dropped while it was built"));
        };
        Ok((transaction, table, index))
    }
    /// Stores the next state.
    async fn advance(&self, to: IndexState) -> Result<(TableDescriptor, IndexDescriptor)> {
        loop {
            let (transaction, mut table, mut index) = self.begin().await?;
            index.state = to;
            table.version += 1;
            for other in &mut table.indexes {
                if other.oid == index.oid {
                    other.state = to;
                }
            }
            let mut writer = self.store.writer(&transaction, self.database);
            writer.change_table(&table, Change::Gentle).await?;
            writer.flush().await?;
            match transaction.commit().await {
                Ok(_) => return Ok((table, index)),
                Err(TxnError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    /// Waits for those who write by a version before this one. Errors: 55P03, 40P01, 57014.
    async fn drain(&self, version: u64) -> Result<()> {
        let drained = self.locks.acquire(LockTarget::Table(self.table), LockMode::Drain(version), self.timeout);
        tokio::select! {
            result = drained => result,
            () = self.cancel.cancelled() => Err(canceled()),
        }
    }
    /// Keeps writers by this version and older ones, if there still are any, from committing.
    async fn shut_out(&self, version: u64) -> Result<()> {
        loop {
            let transaction = self.store.transactions().begin(TransactionOptions::default());
            let mut writer = self.store.writer(&transaction, self.database);
            writer.close_fence(self.table, version)?;
            writer.flush().await?;
            match transaction.commit().await {
                Ok(_) => return Ok(()),
                Err(TxnError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    /// A place where a test lets the process die, or a user stops the statement.
    pub(super) async fn pass(&self, name: &'static str) -> Result<()> {
        self.store.transactions().fail_points().pass(name).await?;
        if self.cancel.is_cancelled() { Err(canceled()) } else { Ok(()) }
    }
}
