//! [`CatalogStore`]: descriptors as rows, read at a transaction's snapshot and kept by version.
//! Must not know SQL text.

use super::numbers::Numbers;
use super::sequences::Sequences;
use super::{
    Catalog, CatalogBuilder, CatalogWriter, DatabaseDescriptor, RoleDescriptor, SchemaDescriptor, TableDescriptor,
    TableLocks, keys,
};
use crate::error::{Result, SqlError, state};
use crate::types::Oid;
use futures::TryStreamExt;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::sync::Arc;
use storage::RowRange;
use storage::env::EnvRef;
use txn::{KeyValue, OwnWrites, Transaction, TransactionOptions, TransactionStore, TxnScanOptions};

/// How many catalogs are kept: those of recent versions and of other databases.
const KEPT: usize = 16;

/// The stored catalog. One per server.
pub struct CatalogStore {
    transactions: Arc<TransactionStore>,
    env: EnvRef,
    numbers: Numbers,
    sequences: Arc<Sequences>,
    locks: Arc<TableLocks>,
    kept: Mutex<VecDeque<Arc<Catalog>>>,
}

impl CatalogStore {
    /// Opens the catalog; an empty store gets its first database, role and schema.
    pub async fn open(transactions: Arc<TransactionStore>, env: EnvRef) -> Result<Arc<Self>> {
        let store = Arc::new(CatalogStore {
            numbers: Numbers::new(Arc::clone(&transactions)),
            sequences: Arc::new(Sequences::new(Arc::clone(&transactions))),
            locks: TableLocks::new(Arc::clone(&env)),
            kept: Mutex::new(VecDeque::new()),
            transactions,
            env,
        });
        store.bootstrap().await?;
        store.start_cleaner();
        Ok(store)
    }
    /// The transactional store below.
    pub fn transactions(&self) -> &Arc<TransactionStore> {
        &self.transactions
    }
    /// Time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
    /// OIDs and storage ids.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }
    /// Values of sequences.
    pub fn sequences(&self) -> &Arc<Sequences> {
        &self.sequences
    }
    /// Metadata locks of tables.
    pub fn locks(&self) -> &Arc<TableLocks> {
        &self.locks
    }
    /// The row that changes when a table's descriptor does. Who writes to a table requires it
    /// unchanged (`Transaction::require_unchanged`).
    pub fn descriptor_key(database: Oid, table: Oid) -> bytes::Bytes {
        keys::table(database, table)
    }

    /// The catalog of `database` as `transaction` sees it, its own changes included.
    /// Errors: 3D000 when there is no such database.
    pub async fn snapshot(&self, transaction: &Arc<Transaction>, database: Oid) -> Result<Arc<Catalog>> {
        let version = match transaction.get(&keys::version(), OwnWrites::All).await? {
            Some(value) => parse::<u64>(&value)?,
            None => return Err(SqlError::new(state::DATA_CORRUPTED, "the catalog has no version")),
        };
        {
            let mut kept = self.kept.lock();
            let found = kept.iter().position(|catalog| catalog.version == version && catalog.database.oid == database);
            if let Some(catalog) = found.and_then(|position| kept.remove(position)) {
                kept.push_back(Arc::clone(&catalog));
                return Ok(catalog);
            }
        }
        let catalog = Arc::new(self.load(transaction, version, database).await?);
        let mut kept = self.kept.lock();
        kept.push_back(Arc::clone(&catalog));
        while kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(catalog)
    }
    /// The database with this name. Errors: 3D000 when there is none.
    pub async fn database_named(&self, transaction: &Arc<Transaction>, name: &str) -> Result<Arc<DatabaseDescriptor>> {
        self.databases(transaction)
            .await?
            .into_iter()
            .find(|database| database.name == name)
            .map(Arc::new)
            .ok_or_else(|| SqlError::new(state::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")))
    }
    /// Every database, by OID.
    pub async fn databases(&self, transaction: &Arc<Transaction>) -> Result<Vec<DatabaseDescriptor>> {
        read_all(transaction, keys::databases()).await
    }
    /// Every role, by OID.
    pub async fn roles(&self, transaction: &Arc<Transaction>) -> Result<Vec<RoleDescriptor>> {
        read_all(transaction, keys::roles()).await
    }
    /// A writer of descriptors within `transaction`.
    pub fn writer(&self, transaction: &Arc<Transaction>, database: Oid) -> CatalogWriter<'_> {
        CatalogWriter::new(self, Arc::clone(transaction), database)
    }

    async fn load(&self, transaction: &Arc<Transaction>, version: u64, database: Oid) -> Result<Catalog> {
        let databases = self.databases(transaction).await?;
        let Some(own) = databases.iter().find(|descriptor| descriptor.oid == database).cloned() else {
            return Err(SqlError::new(state::INVALID_CATALOG_NAME, format!("database {database} does not exist")));
        };
        let mut builder = CatalogBuilder::empty(Arc::new(own)).version(version).sequences(Arc::clone(&self.sequences));
        for descriptor in databases {
            builder = builder.database(descriptor);
        }
        for role in self.roles(transaction).await? {
            builder = builder.role(role);
        }
        for schema in read_all::<SchemaDescriptor>(transaction, keys::schemas(database)).await? {
            builder = builder.schema(schema);
        }
        for table in read_all::<TableDescriptor>(transaction, keys::tables(database)).await? {
            builder = builder.table(table);
        }
        Ok(builder.build())
    }
    async fn bootstrap(&self) -> Result<()> {
        let transaction = self.transactions.begin(TransactionOptions::default());
        if transaction.get(&keys::version(), OwnWrites::All).await?.is_some() {
            transaction.rollback().await;
            return Ok(());
        }
        let first = CatalogBuilder::new().build();
        let mut writer = self.writer(&transaction, first.database.oid);
        for database in first.databases() {
            writer.put_database(&database)?;
        }
        for (oid, name) in [(1, "template1"), (4, "template0")] {
            writer.put_database(&DatabaseDescriptor { oid, name: name.into(), owner: first.database.owner })?;
        }
        for role in first.roles() {
            writer.put_role(&role)?;
        }
        if let Some(public) = first.schema("public") {
            writer.put_schema(&public)?;
        }
        writer.flush().await?;
        transaction.commit().await?;
        Ok(())
    }
}

impl std::fmt::Debug for CatalogStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CatalogStore")
    }
}

/// Every pair of a small range, own writes included.
pub(crate) async fn scan_all(transaction: &Arc<Transaction>, range: RowRange) -> Result<Vec<KeyValue>> {
    let batches: Vec<Vec<KeyValue>> =
        transaction.scan(range, TxnScanOptions::default(), OwnWrites::All).try_collect().await?;
    Ok(batches.into_iter().flatten().collect())
}

async fn read_all<T: DeserializeOwned>(transaction: &Arc<Transaction>, range: RowRange) -> Result<Vec<T>> {
    scan_all(transaction, range).await?.iter().map(|(_, value)| parse(value)).collect()
}

/// Reads a catalog row. Errors: XX001.
pub(crate) fn parse<T: DeserializeOwned>(value: &[u8]) -> Result<T> {
    serde_json::from_slice(value)
        .map_err(|error| SqlError::new(state::DATA_CORRUPTED, format!("a catalog row cannot be read: {error}")))
}
