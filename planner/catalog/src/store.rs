//! [`CatalogStore`]: descriptors as rows. They are read at a transaction's snapshot and cached by version.

use super::id_allocator::Numbers;
use super::known::{Known, Read};
use super::schema_leases::{NodeOptions, Nodes};
use super::sequences::Sequences;
use super::versions::{Stamp, Versions};
use super::{
    Catalog, CatalogBuilder, CatalogWriter, DatabaseDescriptor, RoleDescriptor, SchemaDescriptor, SystemCatalog,
    TEMPLATE0, TEMPLATE1, TableDescriptor, TableLocks, TableStatistics, keys,
};
use bytes::Bytes;
use futures::TryStreamExt;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use sql_error::{Result, SqlError, SqlState, state};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use storage::RowRange;
use storage::env::EnvRef;
use txn::{KeyValue, OwnWrites, Transaction, TransactionOptions, TransactionStore, TxnScanOptions};
use types::Oid;
use types::enumeration::EnumDescriptor;

/// Number of cached catalogs: recent versions, and those of other databases.
const KEPT: usize = 16;

/// The stored catalog. Each server has one instance.
pub struct CatalogStore {
    system: &'static dyn SystemCatalog,
    transactions: Arc<TransactionStore>,
    env: EnvRef,
    numbers: Numbers,
    sequences: Arc<Sequences>,
    locks: Arc<TableLocks>,
    versions: Arc<Versions>,
    /// The other nodes, if there can be any.
    nodes: OnceLock<Arc<Nodes>>,
    kept: Mutex<Kept>,
    /// Cache of the tables' statistics.
    statistics: Known<TableStatistics>,
    /// Cache of the tables' descriptors.
    tables: Known<TableDescriptor>,
}

/// Cached catalogs, each with its stamp.
#[derive(Default)]
struct Kept {
    catalogs: VecDeque<(Stamp, Arc<Catalog>)>,
    /// The version of the latest one.
    last: u64,
}

impl Kept {
    /// A catalog of any database, for objects that all databases share.
    fn any(&self, stamp: &Stamp) -> Option<Arc<Catalog>> {
        self.catalogs.iter().rfind(|(other, _)| other == stamp).map(|(_, catalog)| Arc::clone(catalog))
    }
    fn find(&mut self, stamp: &Stamp, database: Oid) -> Option<Arc<Catalog>> {
        let same = |(other, catalog): &(Stamp, Arc<Catalog>)| other == stamp && catalog.database.oid == database;
        if let Some(last) = self.catalogs.back().filter(|last| same(last)) {
            return Some(Arc::clone(&last.1));
        }
        let position = self.catalogs.iter().position(same)?;
        let found = self.catalogs.remove(position)?;
        let catalog = Arc::clone(&found.1);
        self.catalogs.push_back(found);
        Some(catalog)
    }
}

impl CatalogStore {
    /// Opens the catalog; an empty store gets its first database, role and schema.
    pub async fn open(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        system: &'static dyn SystemCatalog,
    ) -> Result<Arc<Self>> {
        Self::open_with(transactions, env, NodeOptions::default(), system).await
    }
    /// Like [`CatalogStore::open`], with the intervals of nodes if there can be several.
    pub async fn open_with(
        transactions: Arc<TransactionStore>,
        env: EnvRef,
        options: NodeOptions,
        system: &'static dyn SystemCatalog,
    ) -> Result<Arc<Self>> {
        let versions = match transactions.store().atomic() {
            Some(_) => Versions::new(Arc::clone(&transactions)),
            None => Versions::of_node(Arc::clone(&transactions), env.random()),
        };
        let store = Arc::new(CatalogStore {
            system,
            numbers: Numbers::new(Arc::clone(&transactions)),
            sequences: Arc::new(Sequences::new(Arc::clone(&transactions))),
            locks: TableLocks::new(Arc::clone(&env)),
            versions: Arc::new(versions),
            nodes: OnceLock::new(),
            kept: Mutex::new(Kept::default()),
            statistics: Known::default(),
            tables: Known::default(),
            transactions,
            env,
        });
        store.bootstrap().await?;
        store.versions.find_slots().await?;
        if store.transactions.store().atomic().is_none() {
            let (locks, sequences, versions) = (&store.locks, &store.sequences, &store.versions);
            let nodes = Nodes::join(&store.transactions, &store.env, options, locks, sequences, versions).await?;
            locks.spread(&nodes);
            sequences.spread(&nodes);
            let _ = store.nodes.set(nodes);
        }
        store.start_cleaner();
        Ok(store)
    }
    /// The transactional store below the catalog.
    pub fn transactions(&self) -> &Arc<TransactionStore> {
        &self.transactions
    }
    /// The environment: time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
    /// Assigns OIDs and storage ids.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }
    /// The values of sequences.
    pub fn sequences(&self) -> &Arc<Sequences> {
        &self.sequences
    }
    /// The metadata locks of tables.
    pub fn locks(&self) -> &Arc<TableLocks> {
        &self.locks
    }
    /// This node among those that serve the store. `None` if there can be only one.
    pub fn nodes(&self) -> Option<&Arc<Nodes>> {
        self.nodes.get()
    }
    /// Tells the other nodes that this one leaves.
    pub async fn close(&self) {
        if let Some(nodes) = self.nodes.get() {
            nodes.leave().await;
        }
    }
    /// The version slots, which tell transactions the catalog they see.
    pub(super) fn versions(&self) -> &Versions {
        &self.versions
    }
    /// The row that writers with this version of a table's descriptor require to be unchanged at COMMIT
    /// (`Transaction::require_unchanged`): see [`keys::fence`].
    pub fn fence_key(database: Oid, table: Oid, version: u64) -> Bytes {
        keys::fence(database, table, version)
    }
    /// Whether a key is a table's descriptor or one of its fences.
    pub fn is_definition_of(key: &[u8], database: Oid, table: Oid) -> bool {
        let fences = [keys::fence(database, table, 0), keys::fence(database, table, 1)];
        keys::table(database, table) == key || fences.iter().any(|fence| fence == key)
    }

    /// The catalog of `database` as `transaction` sees it, including its own changes. Errors: 3D000 if there is no such
    /// database.
    pub async fn snapshot(&self, transaction: &Arc<Transaction>, database: Oid) -> Result<Arc<Catalog>> {
        let stamp = match self.known_stamp(transaction).await? {
            Some(stamp) => stamp,
            None => {
                let stamp = self.versions.stamp(transaction).await?;
                self.versions.remember(transaction, &stamp).await?;
                stamp
            }
        };
        if let Some(catalog) = self.kept.lock().find(&stamp, database) {
            return Ok(catalog);
        }
        let mut catalog = Box::pin(self.load(transaction, database)).await?;
        let own = catalog.enums().flat_map(|ty| &ty.labels).any(|label| label.uncommitted);
        let mut kept = self.kept.lock();
        if let Some(catalog) = kept.find(&stamp, database) {
            return Ok(catalog);
        }
        kept.last += 1;
        catalog.version = kept.last;
        let catalog = Arc::new(catalog);
        if own {
            // For other transactions, and after COMMIT, its labels are like any others.
            return Ok(catalog);
        }
        kept.catalogs.push_back((stamp, Arc::clone(&catalog)));
        while kept.catalogs.len() > KEPT {
            kept.catalogs.pop_front();
        }
        Ok(catalog)
    }
    /// The stamp that the transaction sees, if it is known without reading.
    async fn known_stamp(&self, transaction: &Arc<Transaction>) -> Result<Option<Stamp>> {
        let Some(nodes) = self.nodes.get() else { return self.versions.known(transaction).await };
        if transaction.has_writes() {
            return Ok(None);
        }
        // The order matters: ask the nodes after the oracle.
        let snapshot = transaction.snapshot_ts().await?;
        Ok(nodes.stamp_at(snapshot))
    }
    /// The database with this name. Errors: 3D000 if there is none.
    pub async fn database_named(&self, transaction: &Arc<Transaction>, name: &str) -> Result<Arc<DatabaseDescriptor>> {
        self.databases(transaction)
            .await?
            .into_iter()
            .find(|database| database.name == name)
            .map(Arc::new)
            .ok_or_else(|| SqlError::new(state::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")))
    }
    /// All databases, ordered by OID.
    pub async fn databases(&self, transaction: &Arc<Transaction>) -> Result<Vec<DatabaseDescriptor>> {
        read_all(transaction, keys::databases()).await
    }
    /// A cached catalog of any database with the roles and databases that the transaction sees. `None` if none is
    /// cached.
    pub async fn known(&self, transaction: &Arc<Transaction>) -> Result<Option<Arc<Catalog>>> {
        Ok(self.known_stamp(transaction).await?.and_then(|stamp| self.kept.lock().any(&stamp)))
    }
    /// All roles, ordered by OID.
    pub async fn roles(&self, transaction: &Arc<Transaction>) -> Result<Vec<RoleDescriptor>> {
        read_all(transaction, keys::roles()).await
    }
    /// A writer of descriptors within `transaction`. It takes names without waiting for others; see
    /// [`CatalogWriter::waiting`].
    pub fn writer(&self, transaction: &Arc<Transaction>, database: Oid) -> CatalogWriter<'_> {
        CatalogWriter::new(self, Arc::clone(transaction), database)
    }

    async fn load(&self, transaction: &Arc<Transaction>, database: Oid) -> Result<Catalog> {
        let databases = self.databases(transaction).await?;
        let Some(own) = databases.iter().find(|descriptor| descriptor.oid == database).cloned() else {
            return Err(SqlError::new(state::INVALID_CATALOG_NAME, format!("database {database} does not exist")));
        };
        let mut builder = CatalogBuilder::empty(Arc::new(own), self.system).sequences(Arc::clone(&self.sequences));
        for descriptor in databases {
            builder = builder.database(descriptor);
        }
        for role in self.roles(transaction).await? {
            builder = builder.role(role);
        }
        for schema in read_all::<SchemaDescriptor>(transaction, keys::schemas(database)).await? {
            builder = builder.schema(schema);
        }
        for mut enumeration in read_all::<EnumDescriptor>(transaction, keys::enumerations(database)).await? {
            mark_uncommitted(transaction, &mut enumeration).await?;
            builder = builder.enumeration(enumeration);
        }
        let statistics = self.statistics(transaction, database).await?;
        let of = |table: Oid| statistics.get(&keys::statistics(database, table)).map(|(_, known)| known);
        let same = |table: &TableDescriptor| match (&table.statistics, of(table.oid)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let stored = scan_all(transaction, keys::tables(database)).await?;
        let tables = self.tables.read(database, stored, same, |value, old| {
            let mut table: TableDescriptor = parse(value)?;
            table.statistics = of(table.oid).map(Arc::clone);
            table.changes = old.map(|old| old.changes.clone()).unwrap_or_default();
            Ok(table)
        })?;
        for (_, table) in tables.values() {
            builder = builder.table(Arc::clone(table));
        }
        Ok(builder.build())
    }
    /// Statistics of the tables, by row key.
    async fn statistics(&self, transaction: &Arc<Transaction>, database: Oid) -> Result<Arc<Read<TableStatistics>>> {
        let stored = scan_all(transaction, keys::all_statistics(database)).await?;
        self.statistics.read(database, stored, |_| true, |value, _| parse(value))
    }
    async fn bootstrap(&self) -> Result<()> {
        while !self.try_bootstrap().await? {}
        Ok(())
    }
    /// Initializes an empty store. False if another node does it at the same time.
    async fn try_bootstrap(&self) -> Result<bool> {
        let transaction = self.transactions.begin(TransactionOptions::default());
        if self.versions.any(&transaction).await? {
            transaction.rollback().await;
            return Ok(true);
        }
        let first = CatalogBuilder::new(self.system).build();
        let mut writer = self.writer(&transaction, first.database.oid);
        for database in first.databases() {
            writer.put_database(None, &database)?;
        }
        for (oid, name) in [(TEMPLATE1, "template1"), (TEMPLATE0, "template0")] {
            let (owner, closed) = (first.database.owner, oid == TEMPLATE0);
            let template = Some(true);
            let database = DatabaseDescriptor { oid, name: name.into(), owner, closed, template, ..Default::default() };
            writer.put_database(None, &database)?;
        }
        // Predefined roles exist without being stored.
        for role in first.roles().into_iter().filter(|role| !super::predefined::is_predefined(role.oid)) {
            writer.put_role(None, &role)?;
        }
        if let Some(public) = first.schema("public") {
            writer.put_schema(None, &public)?;
        }
        let stored = match writer.flush().await {
            Ok(()) => transaction.commit().await.map(|_| ()).map_err(SqlError::from),
            Err(error) => Err(error),
        };
        match stored {
            Ok(()) => Ok(true),
            // The other node took all names at once. The next look finds them.
            Err(error) if error.is_retryable() || MADE_MEANWHILE.contains(&error.state()) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Errors of taking an empty store's names if another node has just taken them.
const MADE_MEANWHILE: [SqlState; 3] = [state::DUPLICATE_DATABASE, state::DUPLICATE_OBJECT, state::DUPLICATE_SCHEMA];

impl std::fmt::Debug for CatalogStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CatalogStore")
    }
}

/// All pairs of a small range, including own writes.
pub async fn scan_all(transaction: &Arc<Transaction>, range: RowRange) -> Result<Vec<KeyValue>> {
    let batches: Vec<Vec<KeyValue>> =
        transaction.scan(range, TxnScanOptions::default(), OwnWrites::All).try_collect().await?;
    Ok(batches.into_iter().flatten().collect())
}

async fn read_all<T: DeserializeOwned>(transaction: &Arc<Transaction>, range: RowRange) -> Result<Vec<T>> {
    scan_all(transaction, range).await?.iter().map(|(_, value)| parse(value)).collect()
}

/// Parses a catalog row. Errors: XX001.
pub fn parse<T: DeserializeOwned>(value: &[u8]) -> Result<T> {
    serde_json::from_slice(value)
        .map_err(|error| SqlError::new(state::DATA_CORRUPTED, format!("a catalog row cannot be read: {error}")))
}

/// Marks the labels that the transaction itself added.
async fn mark_uncommitted(transaction: &Arc<Transaction>, ty: &mut EnumDescriptor) -> Result<()> {
    if !transaction.has_writes() || ty.labels.iter().all(|label| label.added_by.is_none()) {
        return Ok(());
    }
    let own = transaction.start_ts().await?.0;
    for label in &mut ty.labels {
        label.uncommitted = label.added_by == Some(own);
    }
    Ok(())
}
