//! [`CatalogWriter`]: changes of descriptors within one transaction. Nothing reaches the
//! transaction before [`CatalogWriter::flush`].

use super::numbers::Counter;
use super::sequences::SequenceValue;
use super::{
    CatalogStore, DatabaseDescriptor, RelationKind, RoleDescriptor, SchemaDescriptor, StorageId, TableDescriptor, keys,
};
use crate::error::{Result, SqlError};
use crate::types::Oid;
use bytes::Bytes;
use serde::Serialize;
use std::sync::Arc;
use txn::{LockStrength, Transaction, Write, WriteKind};

/// Collects changes and writes them with a new version of the catalog.
pub struct CatalogWriter<'a> {
    store: &'a CatalogStore,
    transaction: Arc<Transaction>,
    database: Oid,
    writes: Vec<Write>,
}

impl<'a> CatalogWriter<'a> {
    pub(super) fn new(store: &'a CatalogStore, transaction: Arc<Transaction>, database: Oid) -> Self {
        CatalogWriter { store, transaction, database, writes: Vec::new() }
    }
    /// The store written to.
    pub fn store(&self) -> &'a CatalogStore {
        self.store
    }
    /// Stores a database.
    pub fn put_database(&mut self, database: &DatabaseDescriptor) -> Result<()> {
        self.put(keys::database(database.oid), database)
    }
    /// Removes a database's own row; what it holds is removed by the caller.
    pub fn remove_database(&mut self, oid: Oid) {
        self.delete(keys::database(oid));
    }
    /// Stores a role.
    pub fn put_role(&mut self, role: &RoleDescriptor) -> Result<()> {
        self.put(keys::role(role.oid), role)
    }
    /// Removes a role.
    pub fn remove_role(&mut self, oid: Oid) {
        self.delete(keys::role(oid));
    }
    /// Stores a schema of the writer's database.
    pub fn put_schema(&mut self, schema: &SchemaDescriptor) -> Result<()> {
        self.put(keys::schema(self.database, schema.oid), schema)
    }
    /// Removes a schema.
    pub fn remove_schema(&mut self, oid: Oid) {
        self.delete(keys::schema(self.database, oid));
    }
    /// Stores a table or sequence.
    pub fn put_table(&mut self, table: &TableDescriptor) -> Result<()> {
        self.put(keys::table(self.database, table.oid), table)
    }
    /// Removes a table or sequence with its rows and those of its indexes.
    pub fn remove_table(&mut self, table: &TableDescriptor) -> Result<()> {
        self.delete(keys::table(self.database, table.oid));
        if table.kind == RelationKind::Sequence {
            self.delete(keys::sequence(table.storage_id));
            return Ok(());
        }
        self.drop_storage(table.storage_id)?;
        for index in table.secondary_indexes() {
            self.drop_storage(index.storage_id)?;
        }
        Ok(())
    }
    /// Remembers that the rows of a storage id are to be removed once nobody can read them.
    pub fn drop_storage(&mut self, storage_id: StorageId) -> Result<()> {
        self.put(keys::dropped(storage_id), &storage_id)
    }
    /// Stores the value of a sequence, as part of this transaction: for new storage ids only.
    pub fn put_sequence_value(&mut self, storage_id: StorageId, value: &SequenceValue) -> Result<()> {
        self.put(keys::sequence(storage_id), value)
    }
    /// Writes what was collected, and a new version. The writer can be used on.
    pub async fn flush(&mut self) -> Result<()> {
        let version = self.store.numbers().next(Counter::Version).await?;
        self.put(keys::version(), &version)?;
        self.transaction.write(std::mem::take(&mut self.writes)).await?;
        Ok(())
    }

    fn put<T: Serialize>(&mut self, key: Bytes, value: &T) -> Result<()> {
        let value = serde_json::to_vec(value)
            .map_err(|error| SqlError::internal(format!("a descriptor cannot be stored: {error}")))?;
        self.writes.push(Write { key, kind: WriteKind::Put(value.into()), strength: LockStrength::Update });
        Ok(())
    }
    fn delete(&mut self, key: Bytes) {
        self.writes.push(Write { key, kind: WriteKind::Delete, strength: LockStrength::Update });
    }
}
