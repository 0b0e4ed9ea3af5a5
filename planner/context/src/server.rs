//! [`ServerShared`]: what all sessions of a server share below plans: the store, the catalog, who does what.

use super::activity::Activities;
use super::contention::{self, Contention};
use super::contention_queue::Turns;
use super::notification::Channels;
use super::row_planner::RowPlanner;
use super::workers::Workers;
use crate::StatementContext;
use catalog::{CatalogStore, ForeignKeyDescriptor, IndexDescriptor, TableDescriptor};
use futures::future::BoxFuture;
use sql_error::Result;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use storage::MemoryUse;
use storage::env::EnvRef;
use txn::TransactionStore;
use types::Oid;
use types::datetime::of_unix;

/// A plan in the cache, as `percosql.plan_cache` shows it.
#[derive(Clone, Debug)]
pub struct CachedPlan {
    /// The statement's text.
    pub text: Arc<str>,
    /// OIDs of the types of its parameters.
    pub parameters: Vec<Oid>,
    /// The search path that it was bound with.
    pub search_path: Vec<String>,
    /// The role whose privileges it was bound with, if it depends on one.
    pub role: Option<String>,
    /// Executions that found a free instance.
    pub hits: u64,
    /// Executions that had to make one.
    pub misses: u64,
    /// Free instances.
    pub idle: usize,
    /// Their memory in bytes, about.
    pub bytes: usize,
}

/// The layers above: facts that they tell, and work that they do for those below.
pub trait Upper: Any + Send + Sync {
    /// What the server holds in memory, by area; the first is the whole process.
    fn memory(&self) -> Vec<MemoryUse>;
    /// The cached plans of a database.
    fn cached_plans(&self, database: Oid) -> Vec<CachedPlan>;
    /// Hits and misses of plans that the cache has evicted.
    fn evicted_plans(&self) -> (u64, u64);
    /// Checks that no two rows of a table with a new constraint share a key. Errors: 23505.
    fn validate_unique<'a>(
        &'a self,
        context: &'a Arc<StatementContext>,
        table: &'a Arc<TableDescriptor>,
        index: &'a IndexDescriptor,
    ) -> BoxFuture<'a, Result<()>>;
    /// Checks that every row of a table with a new FOREIGN KEY refers to an existing key. Errors: 23503.
    fn validate_references<'a>(
        &'a self,
        context: &'a Arc<StatementContext>,
        child: &'a Arc<TableDescriptor>,
        key: &'a ForeignKeyDescriptor,
    ) -> BoxFuture<'a, Result<()>>;
    /// Plans for operators that run.
    fn row_planner(&self) -> Arc<dyn RowPlanner>;
}

/// One per server.
pub struct ServerShared {
    transactions: Arc<TransactionStore>,
    catalog: Arc<CatalogStore>,
    activities: Arc<Activities>,
    channels: Channels,
    contention: Contention,
    turns: Turns,
    workers: Workers,
    env: EnvRef,
    started: i64,
    upper: OnceLock<Weak<dyn Upper>>,
}

impl ServerShared {
    /// Over an open store and catalog.
    pub fn new(transactions: Arc<TransactionStore>, catalog: Arc<CatalogStore>, env: EnvRef, workers: Workers) -> Self {
        let activities: Arc<Activities> = Arc::default();
        let doing = Arc::clone(&activities);
        transactions.locks().observe(move |event| contention::log(&doing, &event));
        ServerShared {
            transactions,
            catalog,
            activities,
            channels: Channels::default(),
            contention: Contention::default(),
            turns: Turns::default(),
            workers,
            started: of_unix(env.now_micros()),
            env,
            upper: OnceLock::new(),
        }
    }
    /// Tells of the layers above. Once.
    pub fn set_upper(&self, upper: Weak<dyn Upper>) {
        let _ = self.upper.set(upper);
    }
    /// The layers above. `None` where there are none (tests), and while the server ends.
    pub fn upper(&self) -> Option<Arc<dyn Upper>> {
        self.upper.get()?.upgrade()
    }
    /// The transactional store.
    pub fn transactions(&self) -> &Arc<TransactionStore> {
        &self.transactions
    }
    /// The stored catalog.
    pub fn catalog(&self) -> &Arc<CatalogStore> {
        &self.catalog
    }
    /// The LISTEN registrations of all sessions.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }
    /// The most recent conflicts that refused a transaction.
    pub fn contention(&self) -> &Contention {
        &self.contention
    }
    /// The queues of transactions that lost several times in a row.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }
    /// The threads for long computations.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }
    /// All sessions and what they do.
    pub fn activities(&self) -> &Arc<Activities> {
        &self.activities
    }
    /// The current time, as a datum of timestamptz.
    pub fn now(&self) -> i64 {
        of_unix(self.env.now_micros())
    }
    /// The time at which the server opened it, as a datum of timestamptz.
    pub fn started(&self) -> i64 {
        self.started
    }
    /// The source of time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
}

impl fmt::Debug for ServerShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerShared")
    }
}
