//! [`ServerShared`]: what all sessions of a server share below plans: the store, the catalog, who does what.

use super::activity::Activities;
use super::contention::{self, Contention};
use super::notification::Channels;
use super::row_planner::RowPlanner;
use super::turn::Turns;
use super::workers::Workers;
use catalog::CatalogStore;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use storage::MemoryUse;
use storage::env::EnvRef;
use txn::TransactionStore;
use types::datetime::of_unix;

/// What the layers above tell of themselves.
pub trait Upper: Any + Send + Sync {
    /// What the server holds in memory, by area; the first is the whole process.
    fn memory(&self) -> Vec<MemoryUse>;
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
