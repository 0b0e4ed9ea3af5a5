//! CREATE INDEX outside a block: builds an index while others write, with the states of Google's F1.
//!
//! | state, as stored | writers | next |
//! |---|---|---|
//! | absent | do not know it | store `DeleteOnly` |
//! | `DeleteOnly` | remove entries | wait for writers of the version before; store `WriteOnly` |
//! | `WriteOnly` | maintain it | wait for, then shut out writers of `DeleteOnly`; backfill; store `Public` |
//! | `Public` | maintain it, queries read it | |
//! | `Dropping` | remove entries | wait; remove it and remember its storage id |
//!
//! A separate transaction stores each state, and closes the fence of the version before the last (`CatalogWriter`). So
//! at most two neighbouring versions commit side by side. Waiting for older writers only saves them from failing. A
//! writer that is missed finds its fence closed at COMMIT (40001), and a statement outside a block then runs again. The
//! fence of `DeleteOnly` closes before the backfill's first snapshot. So every row written from then on has its entry.
//!
//! A store with bulk loading loads the entries at one snapshot ([`online_load`](super::online_load)). Otherwise, or if
//! that finds duplicate keys, the backfill runs in small transactions, each with its own snapshot. It skips rows that
//! already have entries, and repeats a batch that conflicts with a writer. In a unique index a duplicate shows as
//! another row's entry at the same snapshot. The index is then removed through `Dropping` (23505).
//!
//! After a crash the state remains, and `resume` continues from it at the next start. If several nodes serve a store,
//! another node continues as soon as it counts the builder as dead. The right to change the table
//! (`LockTarget::Change`) decides which node continues. A node keeps it while it gives signs of life
//! (`catalog::schema_leases`). A node that returns too late finds a state other than the one that it left (`advance`).
//! Correctness depends only on the fences, which are rows.

use super::online_backfill::Backfill;
use super::online_load::{Load, Outcome};
use super::{DdlContext, create_index};
use catalog::{
    Catalog, CatalogStore, Change, HeldLocks, IndexDescriptor, IndexState, LockMode, LockTarget, TableDescriptor,
};
use context::cancel::CancelToken;
use context::shared::SessionShared;
use futures::channel::oneshot;
use settings::Settings;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use syntax::ast::CreateIndex;
use txn::{Transaction, TransactionOptions, TxnError};
use types::Oid;
use types::datetime::of_unix;

/// Fail points: the process dies after storing a state, or between two batches.
pub mod point {
    #![allow(missing_docs)]
    pub const DELETE_ONLY: &str = "index_delete_only";
    pub const WRITE_ONLY: &str = "index_write_only";
    pub const BATCH: &str = "index_batch";
    pub const FILLED: &str = "index_filled";
    pub const DROPPING: &str = "index_dropping";
}

/// The interval between searches for builds that another node left.
const RESUME_CHECK: Duration = Duration::from_secs(5);
/// The longest delay of an error for the removal of the index.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pause of a builder that yields to another node.
const GIVING_WAY: Duration = Duration::from_millis(100);

/// The context of a CREATE INDEX outside a block.
#[derive(Clone)]
pub struct OnlineContext {
    /// The store of the catalog.
    pub store: Arc<CatalogStore>,
    /// The settings, among them search_path and lock_timeout.
    pub settings: Arc<Settings>,
    /// The session, which receives notices.
    pub session: Arc<SessionShared>,
    /// The role that runs the statement.
    pub user: Oid,
    /// The OID of the database.
    pub database: Oid,
}

impl OnlineContext {
    /// Begins a transaction with the newest catalog.
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
            transaction_time: of_unix(self.store.env().now_micros()),
            renewable: false,
            repeatable: false,
            stale: AtomicBool::new(false),
        })
    }
}

/// Cancels the build when dropped: the statement was cancelled, and no client waits for the index.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// CREATE INDEX outside a block. Dropping the future stops the build and removes the index.
pub async fn create(context: OnlineContext, create: CreateIndex) -> Result<String> {
    let (answer, result) = oneshot::channel();
    let cancel = CancelToken::new();
    let _cancel = CancelOnDrop(cancel.clone());
    let env = Arc::clone(context.store.env());
    let task = async move {
        let result = run(&context, &create, cancel).await;
        // The receiver may be gone.
        drop(answer.send(result));
    };
    env.spawn("index build", Box::pin(task));
    result.await.map_err(|_| SqlError::new(state::ADMIN_SHUTDOWN, "the server is stopping"))??;
    Ok("CREATE INDEX".into())
}

async fn run(context: &OnlineContext, create: &CreateIndex, cancel: CancelToken) -> Result<()> {
    let mut locks = context.store.locks().begin();
    let timeout = context.settings.lock_timeout();
    loop {
        let before = context.begin(&locks).await?;
        let Some(target) = create_index::target(&before, create)? else { return Ok(()) };
        let right = locks.acquire(LockTarget::Change(target.oid), LockMode::Exclusive, timeout);
        let right = tokio::select! {
            result = right => result,
            () = cancel.cancelled() => return Err(canceled()),
        };
        if let Err(error) = right {
            if error.state() != state::SERIALIZATION_FAILURE {
                return Err(error);
            }
            // Another node is changing the same table, so this one yields.
            locks = context.store.locks().begin();
            context.store.env().sleep(GIVING_WAY).await;
            continue;
        }
        // Another transaction sees changes made during the wait.
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
            user: context.user,
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

/// Continues builds after a crash, in the background. Call it before any definition. Errors of the store.
pub async fn resume(store: &Arc<CatalogStore>) -> Result<()> {
    if store.nodes().is_some() {
        resume_of_others(store);
        return Ok(());
    }
    for (database, table) in unfinished_tables(store).await? {
        resume_table(store, database, table, None).await?;
    }
    Ok(())
}

/// The same if other nodes may be building: repeats regularly, and immediately when a node has gone.
fn resume_of_others(store: &Arc<CatalogStore>) {
    let Some(nodes) = store.nodes().map(Arc::downgrade) else { return };
    let weak = Arc::downgrade(store);
    let task = async move {
        while let Some(store) = weak.upgrade() {
            match unfinished_tables(&store).await {
                Ok(tables) => {
                    for (database, table) in tables {
                        // A node that is still building keeps the right, so this attempt fails.
                        if let Err(error) = resume_table(&store, database, table, Some(GIVING_WAY * 5)).await {
                            tracing::debug!(%error, "an index is being built, or its build is left for later");
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "index builds that a node left could not be looked for"),
            }
            drop(store);
            let Some(nodes) = nodes.upgrade() else { return };
            let rest = nodes.env().sleep(RESUME_CHECK);
            futures::future::select(std::pin::pin!(nodes.a_node_went()), rest).await;
        }
    };
    store.env().spawn("index builds of others", Box::pin(task));
}

/// Tables with an unfinished index, each with its database.
async fn unfinished_tables(store: &Arc<CatalogStore>) -> Result<Vec<(Oid, Oid)>> {
    let reader = store.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
    let mut tables = Vec::new();
    for database in store.databases(&reader).await? {
        let catalog = store.snapshot(&reader, database.oid).await?;
        let unfinished = catalog.user_relations().filter(|table| !unfinished_indexes(table).is_empty());
        tables.extend(unfinished.map(|table| (database.oid, table.oid)));
    }
    reader.rollback().await;
    Ok(tables)
}

fn unfinished_indexes(table: &TableDescriptor) -> Vec<Oid> {
    table.indexes.iter().filter(|index| index.state != IndexState::Public).map(|index| index.oid).collect()
}

/// Finishes an abandoned build in the background, once it holds the right to change the table. Errors: another node
/// holds the right for longer than `timeout`.
async fn resume_table(store: &Arc<CatalogStore>, database: Oid, oid: Oid, timeout: Option<Duration>) -> Result<()> {
    let locks = store.locks().begin();
    locks.acquire(LockTarget::Change(oid), LockMode::Exclusive, timeout).await?;
    let reader = store.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
    let catalog = store.snapshot(&reader, database).await?;
    reader.rollback().await;
    let Some(table) = catalog.relation_by_oid(oid) else { return Ok(()) };
    let store = Arc::clone(store);
    let env = Arc::clone(store.env());
    let task = async move {
        for index in unfinished_indexes(&table) {
            let build = IndexBuild {
                store: Arc::clone(&store),
                database,
                table: oid,
                index,
                // No role sees the values in its errors.
                user: Oid::MAX,
                locks: Arc::clone(&locks),
                timeout: None,
                cancel: CancelToken::new(),
            };
            let table = &table.name;
            match build.finish().await {
                Ok(()) => tracing::info!(table, "an index build that a crash had stopped is done"),
                Err(error) => tracing::warn!(table, %error, "an index build that a crash had stopped failed"),
            }
        }
    };
    env.spawn("index build", Box::pin(task));
    Ok(())
}

/// An index that is stored and not yet public. Its owner holds the right to change the table.
pub(super) struct IndexBuild {
    pub(super) store: Arc<CatalogStore>,
    pub(super) database: Oid,
    pub(super) table: Oid,
    pub(super) index: Oid,
    /// The role whose privileges decide which values errors show.
    pub(super) user: Oid,
    locks: Arc<HeldLocks>,
    timeout: Option<Duration>,
    pub(super) cancel: CancelToken,
}

impl IndexBuild {
    /// Completes the build: the index becomes public, or it is removed with an error.
    async fn finish(&self) -> Result<()> {
        let error = match self.build().await {
            Ok(true) => return Ok(()),
            Ok(false) => None,
            // Another node counted this one as dead and continued the build. It decides about the index.
            Err(error) if error.state() == state::OBJECT_NOT_IN_PREREQUISITE_STATE => {
                let (_, _, index) = self.begin().await?;
                return if index.state == IndexState::Public { Ok(()) } else { Err(error) };
            }
            Err(error) => Some(error),
        };
        // The error is reported soon, even if the removal must wait for writers of the table.
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

    /// Continues the build from its state. False if the index is being removed.
    async fn build(&self) -> Result<bool> {
        let (_, mut table, mut index) = self.begin().await?;
        if index.state == IndexState::DeleteOnly {
            self.pass(point::DELETE_ONLY).await?;
            self.drain(table.version).await?;
            (table, index) = self.advance(IndexState::DeleteOnly, IndexState::WriteOnly).await?;
        }
        if index.state == IndexState::WriteOnly {
            self.pass(point::WRITE_ONLY).await?;
            self.drain(table.version).await?;
            self.shut_out(table.version.wrapping_sub(1)).await?;
            self.fill().await?;
            self.pass(point::FILLED).await?;
            (_, index) = self.advance(IndexState::WriteOnly, IndexState::Public).await?;
        }
        Ok(index.state == IndexState::Public)
    }

    /// Creates the entries of all rows. Errors: 23505 for duplicates in a unique index.
    async fn fill(&self) -> Result<()> {
        let load = Load::new(self);
        if load.run().await? == Outcome::Done {
            let (_, _, index) = self.begin().await?;
            if !index.unique {
                return Ok(());
            }
            // From now on every writer sees the loaded entries.
            let (table, _) = self.advance(IndexState::WriteOnly, IndexState::WriteOnly).await?;
            self.drain(table.version).await?;
            self.shut_out(table.version.wrapping_sub(1)).await?;
            if load.is_complete().await? {
                return Ok(());
            }
        }
        Backfill::new(self).run().await
    }

    /// The same index, for a removal that cannot be cancelled.
    fn to_remove(&self) -> IndexBuild {
        let (store, locks) = (Arc::clone(&self.store), Arc::clone(&self.locks));
        IndexBuild { store, locks, timeout: None, cancel: CancelToken::new(), ..*self }
    }
    async fn remove(&self) -> Result<()> {
        // During the removal, too, no writer should fail for being two versions behind.
        let (_, table, index) = self.begin().await?;
        self.drain(table.version).await?;
        let (table, _) = match index.state {
            IndexState::Dropping => (table, index),
            from => self.advance(from, IndexState::Dropping).await?,
        };
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

    /// A transaction, with the table and index that it sees. Errors: if the index was removed.
    pub(super) async fn begin(&self) -> Result<(Arc<Transaction>, TableDescriptor, IndexDescriptor)> {
        self.begin_with(TransactionOptions::default()).await
    }
    /// The same with transaction options.
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
    /// Stores the next state. Errors: another node counted this one as dead and continued the build.
    async fn advance(&self, from: IndexState, to: IndexState) -> Result<(TableDescriptor, IndexDescriptor)> {
        loop {
            let (transaction, mut table, mut index) = self.begin().await?;
            if index.state != from {
                let message = "the index is being built, or was finished, by another server";
                return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
            }
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
    /// Waits for writers of versions before this one. Errors: 55P03, 40P01, 57014.
    async fn drain(&self, version: u64) -> Result<()> {
        let drained = self.locks.acquire(LockTarget::Table(self.table), LockMode::Drain(version), self.timeout);
        tokio::select! {
            result = drained => result,
            () = self.cancel.cancelled() => Err(canceled()),
        }
    }
    /// Closes the fence of this version, so that remaining writers of it or older ones cannot commit.
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
    /// A point at which a test kills the process or a user cancels the statement.
    pub(super) async fn pass(&self, name: &'static str) -> Result<()> {
        self.store.transactions().fail_points().pass(name).await?;
        if self.cancel.is_cancelled() { Err(canceled()) } else { Ok(()) }
    }
}
