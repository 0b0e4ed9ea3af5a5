//! [`Database`]: the state that all sessions of a server share, such as the transactional store, the catalog's store
//! and the plan cache.

use super::auto_parameterized::LiftedStatements;
use super::copy::BinaryCodec;
use super::parsed::ParsedStatements;
use super::plan_cache::PlanCache;
use super::startup::{Authentication, RoleLogin};
use super::statement_memory::StatementMemory;
use crate::catalog::predefined::is_predefined;
use crate::catalog::{
    CatalogStore, DatabaseDescriptor, ForeignKeyDescriptor, IndexDescriptor, NodeOptions, RoleDescriptor,
    TableDescriptor,
};
use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::execution::dml::DmlPlanner;
use crate::plan::{Engine, EngineOptions, Uses};
use crate::session::referential;
use crate::types::Oid;
use context::row_planner::RowPlanner;
use context::server::{CachedPlan, ServerShared, Upper};
use futures::future::BoxFuture;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use storage::MemoryUse;
use storage::env::EnvRef;
use txn::{Transaction, TransactionOptions, TransactionStore};

/// The shared state of all sessions. A server has one.
pub struct Database {
    server: Arc<ServerShared>,
    engine: Arc<Engine>,
    plans: PlanCache,
    lifted: LiftedStatements,
    parsed: ParsedStatements,
    statement_memory: Arc<StatementMemory>,
    /// Encodes and decodes values in PostgreSQL's binary format.
    binary: OnceLock<BinaryCodec>,
    isolation: OnceLock<&'static str>,
    /// The settings that are fixed at server start.
    server_settings: OnceLock<Vec<(&'static str, String)>>,
}

/// The resident memory of the process in bytes, as the system counts it.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

impl Database {
    /// Sets the server's `default_transaction_isolation`, for sessions without their own. Only the first call counts.
    pub fn set_isolation(&self, level: &'static str) {
        let _ = self.isolation.set(level);
    }
    /// The server's isolation level, if it is set.
    pub(super) fn isolation(&self) -> Option<&'static str> {
        self.isolation.get().copied()
    }
    /// Sets the settings that are fixed at server start: names and canonical values, as SHOW prints them. Only
    /// the first call counts.
    pub fn set_server_settings(&self, settings: Vec<(&'static str, String)>) {
        let _ = self.server_settings.set(settings);
    }
    /// The settings that are fixed at server start.
    pub(super) fn server_settings(&self) -> &[(&'static str, String)] {
        self.server_settings.get().map_or(&[], Vec::as_slice)
    }
    /// Sets the codec of PostgreSQL's binary format, which COPY needs. Only the first call counts.
    pub fn set_binary(&self, codec: BinaryCodec) {
        let _ = self.binary.set(codec);
    }
    /// The binary codec. Errors: 0A000 if none was set.
    pub(super) fn binary(&self) -> Result<BinaryCodec> {
        self.binary.get().copied().ok_or_else(|| SqlError::unsupported("COPY in format binary"))
    }
    /// Opens the catalog, creating it in an empty store.
    pub async fn open(transactions: Arc<TransactionStore>, env: EnvRef) -> Result<Arc<Database>> {
        Self::open_with(transactions, env, EngineOptions::default()).await
    }
    /// The same with limits of the execution engine.
    pub async fn open_with(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        options: EngineOptions,
    ) -> Result<Arc<Database>> {
        Self::open_node(transactions, env, options, NodeOptions::default()).await
    }
    /// The same with the timing of nodes that serve one store together.
    pub async fn open_node(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        options: EngineOptions,
        nodes: NodeOptions,
    ) -> Result<Arc<Database>> {
        let catalog =
            CatalogStore::open_with(transactions.clone(), env.clone(), nodes, crate::pg_catalog::SystemViews::get())
                .await?;
        crate::ddl::online::resume(&catalog).await?;
        crate::ddl::temporary::sweep(&catalog).await?;
        crate::statistics::automatic::keep_fresh(&catalog);
        let statement_bytes = options.prepared_bytes;
        let options = EngineOptions { reverse_scans: transactions.store().can_scan_reverse(), ..options };
        let engine = Engine::new(options, vec![Box::new(|slots| Arc::new(DmlPlanner::new(Arc::clone(slots))))])?;
        let server = Arc::new(ServerShared::new(transactions, catalog, env, engine.workers().clone()));
        let database = Arc::new(Database {
            server,
            engine,
            plans: PlanCache::default(),
            lifted: LiftedStatements::default(),
            parsed: ParsedStatements::default(),
            statement_memory: StatementMemory::new(statement_bytes),
            binary: OnceLock::new(),
            isolation: OnceLock::new(),
            server_settings: OnceLock::new(),
        });
        let upper: Weak<dyn Upper> = Arc::downgrade(&(Arc::clone(&database) as Arc<dyn Upper>));
        database.server.set_upper(upper);
        Ok(database)
    }
    /// Tells the other servers of a shared store that this one leaves. Call it after the last request.
    pub async fn close(&self) {
        self.server.catalog().close().await;
    }
    async fn roles(&self) -> Result<Vec<Arc<RoleDescriptor>>> {
        let transaction =
            self.server.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
        let roles = self.roles_seen_by(&transaction).await;
        transaction.rollback().await;
        roles
    }
    /// All roles that CREATE ROLE made.
    pub(super) async fn roles_seen_by(&self, transaction: &Arc<Transaction>) -> Result<Vec<Arc<RoleDescriptor>>> {
        if let Some(known) = self.server.catalog().known(transaction).await? {
            return Ok(known.roles().into_iter().filter(|role| !is_predefined(role.oid)).collect());
        }
        Ok(self.server.catalog().roles(transaction).await?.into_iter().map(Arc::new).collect())
    }
    /// The database of this name. Errors: 3D000.
    pub(super) async fn database_seen_by(
        &self,
        transaction: &Arc<Transaction>,
        name: &str,
    ) -> Result<Arc<DatabaseDescriptor>> {
        let known = self.server.catalog().known(transaction).await?;
        match known.and_then(|known| known.databases().into_iter().find(|database| database.name == name)) {
            Some(database) => Ok(database),
            None => self.server.catalog().database_named(transaction, name).await,
        }
    }
    /// The login data of `user`.
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
    /// Whether any role has a password. If so, no client is trusted without one.
    pub async fn any_password(&self) -> Result<bool> {
        Ok(self.roles().await?.iter().any(|role| role.password.is_some()))
    }
    /// The memory of the statements that sessions keep by name.
    pub fn statement_memory(&self) -> &Arc<StatementMemory> {
        &self.statement_memory
    }
    /// What its sessions share below plans.
    pub fn server(&self) -> &Arc<ServerShared> {
        &self.server
    }
    /// The whole of which a session knows the lower part. Errors: XX000 without one, as in tests.
    pub fn of(server: &ServerShared) -> Result<Arc<Database>> {
        let upper = server.upper().and_then(|upper| (upper as Arc<dyn Any + Send + Sync>).downcast().ok());
        upper.ok_or_else(|| SqlError::internal("a server without plans"))
    }
    /// The execution engine that plans run on.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
    /// The cache of parsed statements.
    pub(super) fn parsed(&self) -> &ParsedStatements {
        &self.parsed
    }
    /// The cache of statements whose whole numbers were lifted out.
    pub(super) fn lifted(&self) -> &LiftedStatements {
        &self.lifted
    }
    /// The plan cache of all sessions.
    pub fn plans(&self) -> &PlanCache {
        &self.plans
    }
}

impl std::ops::Deref for Database {
    type Target = ServerShared;
    fn deref(&self) -> &ServerShared {
        &self.server
    }
}

impl Upper for Database {
    fn cached_plans(&self, database: Oid) -> Vec<CachedPlan> {
        let mut found = Vec::new();
        for (key, planned) in self.plans.list() {
            if key.surroundings.database() != database {
                continue;
            }
            let mut uses = Uses::default();
            let (mut all_idle, mut all_bytes) = (0, 0);
            for plan in planned.plans() {
                uses += plan.uses();
                let (idle, bytes) = plan.idle_instances();
                (all_idle, all_bytes) = (all_idle + idle, all_bytes + bytes);
            }
            found.push(CachedPlan {
                text: Arc::clone(&key.text),
                parameters: planned.parameters.iter().map(|ty| ty.oid()).collect(),
                search_path: key.surroundings.search_path().to_vec(),
                role: key.surroundings.user().map(Into::into),
                hits: uses.hits,
                misses: uses.misses,
                idle: all_idle,
                bytes: all_bytes,
            });
        }
        found
    }
    fn evicted_plans(&self) -> (u64, u64) {
        let gone = self.engine.departed();
        (gone.hits, gone.misses)
    }
    fn validate_unique<'a>(
        &'a self,
        context: &'a Arc<StatementContext>,
        table: &'a Arc<TableDescriptor>,
        index: &'a IndexDescriptor,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { referential::validate_unique(&Database::of(&self.server)?, context, table, index).await })
    }
    fn validate_references<'a>(
        &'a self,
        context: &'a Arc<StatementContext>,
        child: &'a Arc<TableDescriptor>,
        key: &'a ForeignKeyDescriptor,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { referential::validate(&Database::of(&self.server)?, context, child, key).await })
    }
    fn row_planner(&self) -> Arc<dyn RowPlanner> {
        self.engine.clone()
    }
    fn memory(&self) -> Vec<MemoryUse> {
        let area = |area, used: usize, limit: usize| MemoryUse { area, used: used as u64, limit: limit as u64 };
        let (statements, buffers) = (&self.statement_memory, self.server.transactions().buffer_memory());
        let commits = self.server.transactions().commit_memory();
        let (locks, most_locks) = self.server.transactions().locks().memory();
        let (plans, most_plans) = self.engine.idle_plans();
        let (queue, most_queue) = self.server.channels().queue_bytes();
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
        all.extend(self.server.transactions().store().memory());
        all
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}
