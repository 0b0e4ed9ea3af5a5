//! [`Database`]: what all sessions of a server share: the transactional store, the catalog's store, finished plans.

use super::activity::Activities;
use super::contention::{self, Contention};
use super::copy::BinaryCodec;
use super::lifted::LiftedStatements;
use super::notification::Channels;
use super::parsed::ParsedStatements;
use super::plan_cache::PlanCache;
use super::startup::{Authentication, RoleLogin};
use super::statement_memory::StatementMemory;
use super::turn::Turns;
use crate::catalog::predefined::is_predefined;
use crate::catalog::{CatalogStore, DatabaseDescriptor, NodeOptions, RoleDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::dml::DmlPlanner;
use crate::plan::{Engine, EngineOptions};
use crate::types::datetime::of_unix;
use std::fmt;
use std::sync::{Arc, OnceLock};
use storage::MemoryUse;
use storage::env::EnvRef;
use txn::{Transaction, TransactionOptions, TransactionStore};

/// One per server.
pub struct Database {
    transactions: Arc<TransactionStore>,
    catalog: Arc<CatalogStore>,
    engine: Arc<Engine>,
    plans: PlanCache,
    lifted: LiftedStatements,
    parsed: ParsedStatements,
    statement_memory: Arc<StatementMemory>,
    activities: Arc<Activities>,
    channels: Channels,
    contention: Contention,
    turns: Turns,
    env: EnvRef,
    started: i64,
    /// PostgreSQL's binary format of values.
    binary: OnceLock<BinaryCodec>,
    /// `default_transaction_isolation` where nobody sets it.
    isolation: OnceLock<&'static str>,
    /// Settings that the server was started with.
    server_settings: OnceLock<Vec<(&'static str, String)>>,
}

/// Bytes of memory that the process holds, as the system counts them.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

impl Database {
    /// Sets `default_transaction_isolation` for sessions that nobody sets it for. Once.
    pub fn set_isolation(&self, level: &'static str) {
        let _ = self.isolation.set(level);
    }
    /// The level, when it is set.
    pub(super) fn isolation(&self) -> Option<&'static str> {
        self.isolation.get().copied()
    }
    /// Sets what SHOW answers for settings that are fixed when the server starts: names and canonical values. Once.
    pub fn set_server_settings(&self, settings: Vec<(&'static str, String)>) {
        let _ = self.server_settings.set(settings);
    }
    /// The settings that the server was started with.
    pub(super) fn server_settings(&self) -> &[(&'static str, String)] {
        self.server_settings.get().map_or(&[], Vec::as_slice)
    }
    /// Tells how values are written and read in PostgreSQL's binary format: COPY needs it. Once.
    pub fn set_binary(&self, codec: BinaryCodec) {
        let _ = self.binary.set(codec);
    }
    /// The same. Errors: 0A000 where nobody told.
    pub(super) fn binary(&self) -> Result<BinaryCodec> {
        self.binary.get().copied().ok_or_else(|| SqlError::unsupported("COPY in format binary"))
    }
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
        let catalog =
            CatalogStore::open_with(transactions.clone(), env.clone(), nodes, &crate::pg_catalog::SystemViews).await?;
        crate::ddl::online::resume(&catalog).await?;
        crate::ddl::temporary::sweep(&catalog).await?;
        crate::statistics::automatic::keep_fresh(&catalog);
        let statement_bytes = options.prepared_bytes;
        let options = EngineOptions { reverse_scans: transactions.store().can_scan_reverse(), ..options };
        let engine = Engine::new(options, vec![Box::new(|slots| Arc::new(DmlPlanner::new(Arc::clone(slots))))])?;
        let activities: Arc<Activities> = Arc::default();
        let doing = Arc::clone(&activities);
        transactions.locks().observe(move |event| contention::log(&doing, &event));
        Ok(Arc::new(Database {
            transactions,
            catalog,
            engine,
            plans: PlanCache::default(),
            lifted: LiftedStatements::default(),
            parsed: ParsedStatements::default(),
            statement_memory: StatementMemory::new(statement_bytes),
            activities,
            channels: Channels::default(),
            contention: Contention::default(),
            turns: Turns::default(),
            started: of_unix(env.now_micros()),
            env,
            binary: OnceLock::new(),
            isolation: OnceLock::new(),
            server_settings: OnceLock::new(),
        }))
    }
    /// Tells the other servers of the store, where there can be some, that this one goes. To be called when nothing is
    /// asked of it any more.
    pub async fn close(&self) {
        self.catalog.close().await;
    }
    async fn roles(&self) -> Result<Vec<Arc<RoleDescriptor>>> {
        let transaction = self.transactions.begin(TransactionOptions { read_only: true, ..Default::default() });
        let roles = self.roles_seen_by(&transaction).await;
        transaction.rollback().await;
        roles
    }
    /// Every role that somebody made.
    pub(super) async fn roles_seen_by(&self, transaction: &Arc<Transaction>) -> Result<Vec<Arc<RoleDescriptor>>> {
        if let Some(known) = self.catalog.known(transaction).await? {
            return Ok(known.roles().into_iter().filter(|role| !is_predefined(role.oid)).collect());
        }
        Ok(self.catalog.roles(transaction).await?.into_iter().map(Arc::new).collect())
    }
    /// The database of this name. Errors: 3D000.
    pub(super) async fn database_seen_by(
        &self,
        transaction: &Arc<Transaction>,
        name: &str,
    ) -> Result<Arc<DatabaseDescriptor>> {
        let known = self.catalog.known(transaction).await?;
        match known.and_then(|known| known.databases().into_iter().find(|database| database.name == name)) {
            Some(database) => Ok(database),
            None => self.catalog.database_named(transaction, name).await,
        }
    }
    /// How `user` logs in.
    pub async fn authentication(&self, user: &str) -> Result<Authentication> {
        let roles = self.roles().await?;
        let now = self.now();
        let role = roles.iter().find(|role| role.name == user).map(|role| RoleLogin {
            expired: role.valid_until.is_some_and(|until| until < now),
            verifier: role.password.clone(),
            login: role.login,
            superuser: role.superuser,
        });
        Ok(Authentication { role, any_password: roles.iter().any(|role| role.password.is_some()) })
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
    /// What the server holds in memory, by area; the first is the whole process.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let area = |area, used: usize, limit: usize| MemoryUse { area, used: used as u64, limit: limit as u64 };
        let (statements, buffers) = (&self.statement_memory, self.transactions.buffer_memory());
        let commits = self.transactions.commit_memory();
        let (locks, most_locks) = self.transactions.locks().memory();
        let (plans, most_plans) = self.engine.idle_plans();
        let (queue, most_queue) = self.channels.queue_bytes();
        let mut all = vec![
            area("process", resident_bytes().unwrap_or(0), self.engine.process_bytes()),
            area("queries", self.engine.task_context().memory_pool().reserved(), self.engine.memory_bytes()),
            area("prepared statements", statements.used(), statements.limit()),
            area("idle plans", plans, most_plans),
            area("write buffers", buffers.used(), buffers.limit()),
            area("large commits", commits.used(), commits.limit()),
            area("locks", locks, most_locks),
            area("notifications", queue, most_queue),
        ];
        all.extend(self.transactions.store().memory());
        all
    }
    /// The memory of statements that sessions keep by name.
    pub fn statement_memory(&self) -> &Arc<StatementMemory> {
        &self.statement_memory
    }
    /// What plans run on.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
    /// Statements that clients prepared.
    pub(super) fn parsed(&self) -> &ParsedStatements {
        &self.parsed
    }
    /// Statements without their numbers.
    pub(super) fn lifted(&self) -> &LiftedStatements {
        &self.lifted
    }
    /// Statements planned before.
    pub fn plans(&self) -> &PlanCache {
        &self.plans
    }
    /// Who listens to what.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }
    /// Who was refused because of whom.
    pub fn contention(&self) -> &Contention {
        &self.contention
    }
    /// The lines of transactions that lost several times in a row.
    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }
    /// Its sessions.
    pub fn activities(&self) -> &Arc<Activities> {
        &self.activities
    }
    /// The moment that the clock shows.
    pub fn now(&self) -> i64 {
        of_unix(self.env.now_micros())
    }
    /// When it was opened.
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
