//! [`Database`]: what all sessions of a server share: the transactional store, the catalog's store, finished plans.

use super::activity::Activities;
use super::query::StatementCache;
use super::startup::RoleLogin;
use crate::catalog::{CatalogStore, NodeOptions, RoleDescriptor};
use crate::error::Result;
use crate::execution::dml::DmlPlanner;
use crate::plan::{Engine, EngineOptions};
use std::fmt;
use std::sync::Arc;
use storage::env::EnvRef;
use txn::{TransactionOptions, TransactionStore};

/// One per server.
pub struct Database {
    transactions: Arc<TransactionStore>,
    catalog: Arc<CatalogStore>,
    engine: Arc<Engine>,
    statements: StatementCache,
    activities: Arc<Activities>,
    env: EnvRef,
    started: i64,
}

impl Database {
    /// Opens the catalog, creating it in an empty store.
    pub async fn open(transactions: Arc<TransactionStore>, env: EnvRef) -> Result<Arc<Database>> {
        Self::open_with(transactions, env, EngineOptions::default()).await
    }
    /// The same, with the limits of the execution engine.
    pub async fn open_with(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        options: EngineOptions,
    ) -> Result<Arc<Database>> {
        Self::open_node(transactions, env, options, NodeOptions::default()).await
    }
    /// The same, with the times that nodes keep where several serve one store.
    pub async fn open_node(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        options: EngineOptions,
        nodes: NodeOptions,
    ) -> Result<Arc<Database>> {
        let catalog = CatalogStore::open_with(transactions.clone(), env.clone(), nodes).await?;
        crate::ddl::online::resume(&catalog).await?;
        crate::ddl::temporary::sweep(&catalog).await?;
        let options = EngineOptions { reverse_scans: transactions.store().can_scan_reverse(), ..options };
        let engine = Engine::new(options, vec![Box::new(|slots| Arc::new(DmlPlanner::new(Arc::clone(slots))))])?;
        Ok(Arc::new(Database {
            transactions,
            catalog,
            engine,
            statements: StatementCache::default(),
            activities: Arc::default(),
            started: i64::try_from(env.now_micros()).unwrap_or(i64::MAX),
            env,
        }))
    }
    /// Tells the other servers of the store, where there can be some, that this one goes. To be called when nothing is
    /// asked of it any more.
    pub async fn close(&self) {
        self.catalog.close().await;
    }
    async fn roles(&self) -> Result<Vec<RoleDescriptor>> {
        let transaction = self.transactions.begin(TransactionOptions { read_only: true, ..Default::default() });
        let roles = self.catalog.roles(&transaction).await;
        transaction.rollback().await;
        roles
    }
    /// How `user` logs in; `None` when there is no such role.
    pub async fn authentication(&self, user: &str) -> Result<Option<RoleLogin>> {
        let role = self.roles().await?.into_iter().find(|role| role.name == user);
        Ok(role.map(|role| RoleLogin { verifier: role.password, login: role.login }))
    }
    /// Whether any role has a password: then nobody is trusted.
    pub async fn any_password(&self) -> Result<bool> {
        Ok(self.roles().await?.iter().any(|role| role.password.is_some()))
    }
    /// The transactional store.
    pub fn transactions(&self) -> &Arc<TransactionStore> {
        &self.transactions
    }
    /// The stored catalog.
    pub fn catalog(&self) -> &Arc<CatalogStore> {
        &self.catalog
    }
    /// What plans run on.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
    /// Statements planned before.
    pub(super) fn statements(&self) -> &StatementCache {
        &self.statements
    }
    /// Its sessions.
    pub fn activities(&self) -> &Arc<Activities> {
        &self.activities
    }
    /// When it was opened, in microseconds since the Unix epoch.
    pub fn started(&self) -> i64 {
        self.started
    }
    /// Time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}
