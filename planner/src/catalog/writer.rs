//! [`CatalogWriter`]: changes of descriptors within one transaction. Nothing reaches the
//! transaction before [`CatalogWriter::flush`].
//!
//! Two transactions that change different objects both commit. What must not happen side by side
//! meets in a row:
//!
//! | against | row | written with |
//! |---|---|---|
//! | two changes of one object | its descriptor | `Update` |
//! | two objects of one name | the name (`keys::relation_name` …) | `Update` |
//! | something new in a schema, and DROP or RENAME of the schema | the schema | `KeyShare`; `Update` |
//! | something new of a role, and DROP ROLE; a schema, and DROP DATABASE | role, database | the same |
//! | writers of a table by an old descriptor, and its change | `keys::fence` | required unchanged; `Update` |

use super::metadata_lock::{HeldLocks, LockMode, LockTarget};
use super::sequences::SequenceValue;
use super::statistics::TableStatistics;
use super::store::parse;
use super::{
    CatalogStore, DatabaseDescriptor, RelationKind, RoleDescriptor, SchemaDescriptor, StorageId, TableDescriptor, keys,
};
use crate::error::{Result, SqlError, SqlState, state};
use crate::types::Oid;
use crate::types::enumeration::EnumDescriptor;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use txn::{LockStrength, OwnWrites, Transaction, TransactionOptions, Write, WriteKind};

/// How a table's new descriptor goes with writers by the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They must not commit any more.
    Abrupt,
    /// They may still commit; those by the version before that may not.
    Gentle,
}

/// A name being taken or given up.
struct Name {
    key: Bytes,
    /// The OID that takes it; `None`: it becomes free.
    owner: Option<Oid>,
    /// The error when somebody else took it.
    taken: (SqlState, String),
}

/// Collects changes and writes them with a new version of the catalog.
pub struct CatalogWriter<'a> {
    store: &'a CatalogStore,
    transaction: Arc<Transaction>,
    database: Oid,
    writes: Vec<Write>,
    /// Names given up, then names taken.
    freed: Vec<Name>,
    claimed: Vec<Name>,
    /// Tables in the form that this writer left them in.
    tables: BTreeMap<Oid, Option<TableDescriptor>>,
    locks: Option<(Arc<HeldLocks>, Option<Duration>)>,
}

impl<'a> CatalogWriter<'a> {
    pub(super) fn new(store: &'a CatalogStore, transaction: Arc<Transaction>, database: Oid) -> Self {
        CatalogWriter {
            store,
            transaction,
            database,
            writes: Vec::new(),
            freed: Vec::new(),
            claimed: Vec::new(),
            tables: BTreeMap::new(),
            locks: None,
        }
    }
    /// Makes it wait for others who are taking the same name, at most this long.
    #[must_use]
    pub fn waiting(mut self, locks: &Arc<HeldLocks>, timeout: Option<Duration>) -> Self {
        self.locks = Some((Arc::clone(locks), timeout));
        self
    }
    /// The store written to.
    pub fn store(&self) -> &'a CatalogStore {
        self.store
    }

    /// Stores a new database, or a new form of the one that was there.
    pub fn put_database(&mut self, old: Option<&DatabaseDescriptor>, database: &DatabaseDescriptor) -> Result<()> {
        let name = |database: &DatabaseDescriptor| (keys::database_name(&database.name), database.name.clone());
        let taken = (state::DUPLICATE_DATABASE, "database");
        self.rename(old.map(name), Some(name(database)), database.oid, taken);
        if old.is_none_or(|old| old.owner != database.owner) {
            self.hold(keys::role(database.owner));
        }
        self.put(keys::database(database.oid), database)
    }
    /// Removes a database's own row; what it holds is removed by the caller.
    pub fn remove_database(&mut self, database: &DatabaseDescriptor) {
        let name = (keys::database_name(&database.name), database.name.clone());
        self.rename(Some(name), None, database.oid, (state::DUPLICATE_DATABASE, "database"));
        self.delete(keys::database(database.oid));
    }
    /// Stores a new role, or a new form of the one that was there.
    pub fn put_role(&mut self, old: Option<&RoleDescriptor>, role: &RoleDescriptor) -> Result<()> {
        let name = |role: &RoleDescriptor| (keys::role_name(&role.name), role.name.clone());
        self.rename(old.map(name), Some(name(role)), role.oid, (state::DUPLICATE_OBJECT, "role"));
        self.put(keys::role(role.oid), role)?;
        // What others own stays theirs: only DROP ROLE must not overlook something new.
        if let Some(write) = self.writes.last_mut() {
            write.strength = LockStrength::NoKeyUpdate;
        }
        Ok(())
    }
    /// Removes a role.
    pub fn remove_role(&mut self, role: &RoleDescriptor) {
        let name = (keys::role_name(&role.name), role.name.clone());
        self.rename(Some(name), None, role.oid, (state::DUPLICATE_OBJECT, "role"));
        self.delete(keys::role(role.oid));
    }
    /// Stores a new schema of the writer's database, or a new form of the one that was there.
    pub fn put_schema(&mut self, old: Option<&SchemaDescriptor>, schema: &SchemaDescriptor) -> Result<()> {
        let database = self.database;
        let name = |schema: &SchemaDescriptor| (keys::schema_name(database, &schema.name), schema.name.clone());
        self.rename(old.map(name), Some(name(schema)), schema.oid, (state::DUPLICATE_SCHEMA, "schema"));
        if old.is_none() {
            self.hold(keys::database(database));
        }
        if old.is_none_or(|old| old.owner != schema.owner) {
            self.hold(keys::role(schema.owner));
        }
        self.put(keys::schema(database, schema.oid), schema)
    }
    /// Removes a schema.
    pub fn remove_schema(&mut self, schema: &SchemaDescriptor) {
        let name = (keys::schema_name(self.database, &schema.name), schema.name.clone());
        self.rename(Some(name), None, schema.oid, (state::DUPLICATE_SCHEMA, "schema"));
        self.delete(keys::schema(self.database, schema.oid));
    }
    /// Stores a new enum, or a new form of the one that was there.
    pub async fn put_enum(&mut self, old: Option<&EnumDescriptor>, new: &EnumDescriptor) -> Result<()> {
        let database = self.database;
        let name = |ty: &EnumDescriptor| (keys::type_name(database, ty.schema_oid, &ty.name), ty.name.clone());
        self.rename(old.map(name), Some(name(new)), new.oid, (state::DUPLICATE_OBJECT, "type"));
        if old.is_none() {
            if let Some((locks, timeout)) = &self.locks {
                let schema = LockTarget::Schema(database, new.schema_oid);
                locks.acquire(schema, LockMode::Shared(0), *timeout).await?;
            }
            self.hold(keys::schema(database, new.schema_oid));
        } else if old.is_some_and(|old| old.schema_oid != new.schema_oid) {
            self.hold(keys::schema(database, new.schema_oid));
        }
        if old.is_none_or(|old| old.owner != new.owner) {
            self.hold(keys::role(new.owner));
        }
        self.put(keys::enumeration(database, new.oid), new)
    }
    /// Removes an enum.
    pub fn remove_enum(&mut self, ty: &EnumDescriptor) {
        let name = (keys::type_name(self.database, ty.schema_oid, &ty.name), ty.name.clone());
        self.rename(Some(name), None, ty.oid, (state::DUPLICATE_OBJECT, "type"));
        self.delete(keys::enumeration(self.database, ty.oid));
    }
    /// Keeps an enum that something new depends on from being dropped in the meantime.
    pub fn hold_enum(&mut self, oid: Oid) {
        self.hold(keys::enumeration(self.database, oid));
    }
    /// Stores a table or sequence; who writes to it by an older form fails.
    pub async fn put_table(&mut self, table: &TableDescriptor) -> Result<()> {
        self.change_table(table, Change::Abrupt).await
    }
    /// Stores a table or sequence.
    pub async fn change_table(&mut self, table: &TableDescriptor, change: Change) -> Result<()> {
        let old = self.stored(table.oid).await?;
        match &old {
            Some(_) => self.close_fences(table, change)?,
            None => {
                if let Some((locks, timeout)) = &self.locks {
                    let schema = LockTarget::Schema(self.database, table.schema_oid);
                    locks.acquire(schema, LockMode::Shared(0), *timeout).await?;
                }
                self.hold(keys::schema(self.database, table.schema_oid));
            }
        }
        if old.as_ref().is_some_and(|old| old.schema_oid != table.schema_oid) {
            self.hold(keys::schema(self.database, table.schema_oid));
        }
        if old.as_ref().is_none_or(|old| old.owner != table.owner) {
            self.hold(keys::role(table.owner));
        }
        self.change_names(old.as_ref(), Some(table));
        self.tables.insert(table.oid, Some(table.clone()));
        self.put(keys::table(self.database, table.oid), table)
    }
    /// Keeps writers by this version of a table's descriptor, and by older ones, from committing.
    pub fn close_fence(&mut self, table: Oid, version: u64) -> Result<()> {
        self.put(keys::fence(self.database, table, version), &version)
    }
    /// Removes a table or sequence with its rows and those of its indexes.
    pub async fn remove_table(&mut self, table: &TableDescriptor) -> Result<()> {
        let old = self.stored(table.oid).await?;
        self.change_names(Some(old.as_ref().unwrap_or(table)), None);
        self.tables.insert(table.oid, None);
        self.delete(keys::table(self.database, table.oid));
        if table.kind == RelationKind::Sequence {
            self.delete(keys::sequence(table.storage_id));
            return Ok(());
        }
        if table.kind == RelationKind::View {
            return Ok(());
        }
        for version in 0..2 {
            self.delete(keys::fence(self.database, table.oid, version));
        }
        self.forget_statistics(table.oid);
        self.drop_storage(table.storage_id)?;
        for index in table.secondary_indexes() {
            self.drop_storage(index.storage_id)?;
        }
        Ok(())
    }
    /// Stores what is known of a table's rows. Who writes to the table is not disturbed.
    pub fn put_statistics(&mut self, table: Oid, statistics: &TableStatistics) -> Result<()> {
        self.hold(keys::table(self.database, table));
        self.put(keys::statistics(self.database, table), statistics)
    }
    /// Nothing is known of a table's rows any more.
    pub fn forget_statistics(&mut self, table: Oid) {
        self.delete(keys::statistics(self.database, table));
    }
    /// Keeps an object that something new depends on from being dropped in the meantime.
    pub fn hold_table(&mut self, table: Oid) {
        self.hold(keys::table(self.database, table));
    }
    /// Remembers that the rows of a storage id are to be removed once nobody can read them.
    pub fn drop_storage(&mut self, storage_id: StorageId) -> Result<()> {
        self.put(keys::dropped(storage_id), &storage_id)
    }
    /// Stores the value of a sequence, as part of this transaction: for new storage ids only.
    pub fn put_sequence_value(&mut self, storage_id: StorageId, value: &SequenceValue) -> Result<()> {
        self.put(keys::sequence(storage_id), value)
    }
    /// Writes what was collected, and a new version. The writer can be used on. Errors: 42P07 and
    /// its like when another transaction took a name in the meantime.
    pub async fn flush(&mut self) -> Result<()> {
        let mut names: BTreeMap<Bytes, Name> = BTreeMap::new();
        for name in std::mem::take(&mut self.freed).into_iter().chain(std::mem::take(&mut self.claimed)) {
            names.insert(name.key.clone(), name);
        }
        for (key, name) in names {
            match name.owner {
                Some(owner) => {
                    self.claim(&key, &name).await?;
                    self.put(key, &owner)?;
                }
                None => self.delete(key),
            }
        }
        let version = self.store.versions().change(&self.transaction, self.store.numbers()).await?;
        self.writes.push(version);
        self.transaction.write(std::mem::take(&mut self.writes)).await?;
        self.tables.clear();
        match self.store.nodes() {
            Some(nodes) => nodes.announce(&self.transaction).await,
            None => Ok(()),
        }
    }

    /// Waits for whoever is taking the same name.
    async fn claim(&self, key: &Bytes, name: &Name) -> Result<()> {
        if let Some((locks, timeout)) = &self.locks {
            locks.acquire(LockTarget::Name(key.clone()), LockMode::Exclusive, *timeout).await?;
        }
        let seen = self.transaction.get(key, OwnWrites::Before(0)).await?;
        let reader =
            self.store.transactions().begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
        let newest = reader.get(key, OwnWrites::All).await?;
        reader.rollback().await;
        if newest.is_some() && newest != seen {
            return Err(SqlError::new(name.taken.0, name.taken.1.clone()));
        }
        Ok(())
    }
    fn rename(
        &mut self,
        old: Option<(Bytes, String)>,
        new: Option<(Bytes, String)>,
        oid: Oid,
        taken: (SqlState, &str),
    ) {
        if old == new {
            return;
        }
        let message = |name: &str| (taken.0, format!("{} \"{name}\" already exists", taken.1));
        if let Some((key, name)) = old {
            self.freed.push(Name { key, owner: None, taken: message(&name) });
        }
        if let Some((key, name)) = new {
            self.claimed.push(Name { key, owner: Some(oid), taken: message(&name) });
        }
    }
    fn change_names(&mut self, old: Option<&TableDescriptor>, new: Option<&TableDescriptor>) {
        let names = |table: Option<&TableDescriptor>| -> BTreeMap<(Oid, String), Oid> {
            let Some(table) = table else { return BTreeMap::new() };
            let own = std::iter::once((&table.name, table.oid));
            let all = own.chain(table.indexes.iter().map(|index| (&index.name, index.oid)));
            all.map(|(name, oid)| ((table.schema_oid, name.clone()), oid)).collect()
        };
        let (old, new) = (names(old), names(new));
        let name = |(schema, name): &(Oid, String), owner: Option<Oid>| Name {
            key: keys::relation_name(self.database, *schema, name),
            owner,
            taken: (state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")),
        };
        let freed: Vec<Name> = old.keys().filter(|key| !new.contains_key(key)).map(|key| name(key, None)).collect();
        let claimed: Vec<Name> =
            new.iter().filter(|(key, oid)| old.get(key) != Some(oid)).map(|(key, oid)| name(key, Some(*oid))).collect();
        self.freed.extend(freed);
        self.claimed.extend(claimed);
    }
    /// A table as this transaction has it.
    pub async fn stored(&self, oid: Oid) -> Result<Option<TableDescriptor>> {
        if let Some(table) = self.tables.get(&oid) {
            return Ok(table.clone());
        }
        let value = self.transaction.get(&keys::table(self.database, oid), OwnWrites::All).await?;
        value.map(|value| parse(&value)).transpose()
    }
    fn close_fences(&mut self, table: &TableDescriptor, change: Change) -> Result<()> {
        if matches!(table.kind, RelationKind::Sequence | RelationKind::View) {
            return Ok(());
        }
        // The version before the last one has the new one's parity.
        self.close_fence(table.oid, table.version)?;
        if change == Change::Abrupt {
            self.close_fence(table.oid, table.version.wrapping_add(1))?;
        }
        Ok(())
    }
    /// Keeps a row from being removed by others until this transaction commits, and fails it if it was.
    fn hold(&mut self, key: Bytes) {
        self.writes.push(Write { key, kind: WriteKind::Lock, strength: LockStrength::KeyShare });
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
