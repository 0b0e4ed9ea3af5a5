//! [`CatalogWriter`]: changes descriptors within one transaction. Nothing reaches the transaction before
//! [`CatalogWriter::flush`].
//!
//! Two transactions that change different objects both commit. Changes that must not be concurrent conflict on a row:
//!
//! | against | row | written with |
//! |---|---|---|
//! | two changes of one object | its descriptor | `NoKeyUpdate` or `Update` |
//! | two objects of one name | the name (`keys::relation_name` …) | `Update` |
//! | something new that depends on an object, and DROP or RENAME of that object | its descriptor | `KeyShare`; `Update` |
//! | writers of a table by an old descriptor, and its change | `keys::fence` | required unchanged; `Update` |
//!
//! Each such row is locked before it is written, until the transaction ends. So a second definition waits. It then
//! checks whether another transaction has changed the row since its statement's snapshot. If so, the statement runs
//! again if possible, and sees the newest state. Statistics are overwritten: they never conflict with another commit.

use super::metadata_lock::{HeldLocks, LockMode, LockTarget};
use super::sequences::SequenceValue;
use super::statistics::TableStatistics;
use super::store::parse;
use super::{
    CatalogStore, DatabaseDescriptor, RelationKind, RoleDescriptor, SchemaDescriptor, StorageId, TableDescriptor, keys,
};
use bytes::Bytes;
use serde::Serialize;
use sql_error::{Result, SqlError, SqlState, state};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use txn::locks::LockWait;
use txn::{LockStrength, OwnWrites, Transaction, TransactionOptions, Write, WriteKind};
use types::Oid;
use types::enumeration::EnumDescriptor;

/// The compatibility of a table's new descriptor with writers that use the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Such writers must not commit any more.
    Abrupt,
    /// Such writers may still commit. Those with the version before that may not.
    Gentle,
}

/// A name that is taken or released.
struct Name {
    key: Bytes,
    /// The OID that takes the name. `None` releases it.
    owner: Option<Oid>,
    /// The error if another transaction took the name.
    taken: (SqlState, String),
}

/// Collects changes and writes them with a new version of the catalog.
pub struct CatalogWriter<'a> {
    store: &'a CatalogStore,
    transaction: Arc<Transaction>,
    database: Oid,
    writes: Vec<Write>,
    /// Names to release. `taken` are names to take.
    freed: Vec<Name>,
    claimed: Vec<Name>,
    /// Tables in the form that this writer gave them.
    tables: BTreeMap<Oid, Option<TableDescriptor>>,
    /// Descriptors to write or hold, with the lock strength.
    objects: BTreeMap<Bytes, LockStrength>,
    /// Rows of statistics to write.
    overwritten: Vec<Write>,
    locks: Option<(Arc<HeldLocks>, Option<Duration>)>,
    /// Set if the statement has to run again and can.
    again: Option<&'a AtomicBool>,
    impatient: bool,
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
            objects: BTreeMap::new(),
            overwritten: Vec::new(),
            locks: None,
            again: None,
            impatient: false,
        }
    }
    /// Fails with 55P03 instead of waiting for others.
    #[must_use]
    pub fn impatient(mut self) -> Self {
        self.impatient = true;
        self
    }
    /// Reports by this flag, and by 40001, that the statement's snapshot is outdated: the statement can run again.
    #[must_use]
    pub fn again(mut self, flag: Option<&'a AtomicBool>) -> Self {
        self.again = flag;
        self
    }
    /// Waits, at most this long, for others that are taking the same name.
    #[must_use]
    pub fn waiting(mut self, locks: &Arc<HeldLocks>, timeout: Option<Duration>) -> Self {
        self.locks = Some((Arc::clone(locks), timeout));
        self
    }
    /// The store that it writes to.
    pub fn store(&self) -> &'a CatalogStore {
        self.store
    }

    /// Stores a new or changed database.
    pub fn put_database(&mut self, old: Option<&DatabaseDescriptor>, database: &DatabaseDescriptor) -> Result<()> {
        let name = |database: &DatabaseDescriptor| (keys::database_name(&database.name), database.name.clone());
        let taken = (state::DUPLICATE_DATABASE, "database");
        self.rename(old.map(name), Some(name(database)), database.oid, taken);
        if old.is_none_or(|old| old.owner != database.owner) {
            self.hold(keys::role(database.owner));
        }
        let strength = strength(old.is_none_or(|old| old.name == database.name));
        self.put_object(keys::database(database.oid), database, strength)
    }
    /// Removes a database's own row. The caller removes its contents.
    pub fn remove_database(&mut self, database: &DatabaseDescriptor) {
        let name = (keys::database_name(&database.name), database.name.clone());
        self.rename(Some(name), None, database.oid, (state::DUPLICATE_DATABASE, "database"));
        self.remove_object(keys::database(database.oid));
    }
    /// Stores a new or changed role.
    pub fn put_role(&mut self, old: Option<&RoleDescriptor>, role: &RoleDescriptor) -> Result<()> {
        let name = |role: &RoleDescriptor| (keys::role_name(&role.name), role.name.clone());
        self.rename(old.map(name), Some(name(role)), role.oid, (state::DUPLICATE_OBJECT, "role"));
        // Its objects stay valid. Only DROP ROLE must not overlook a new one.
        self.put_object(keys::role(role.oid), role, LockStrength::NoKeyUpdate)
    }
    /// Removes a role and its name.
    pub fn remove_role(&mut self, role: &RoleDescriptor) {
        let name = (keys::role_name(&role.name), role.name.clone());
        self.rename(Some(name), None, role.oid, (state::DUPLICATE_OBJECT, "role"));
        self.remove_object(keys::role(role.oid));
    }
    /// Stores a new or changed schema of the writer's database.
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
        // Objects in a schema contain its name.
        let strength = strength(old.is_none_or(|old| old.name == schema.name));
        self.put_object(keys::schema(database, schema.oid), schema, strength)
    }
    /// Removes a schema and its name.
    pub fn remove_schema(&mut self, schema: &SchemaDescriptor) {
        let name = (keys::schema_name(self.database, &schema.name), schema.name.clone());
        self.rename(Some(name), None, schema.oid, (state::DUPLICATE_SCHEMA, "schema"));
        self.remove_object(keys::schema(self.database, schema.oid));
    }
    /// Stores a new or changed enum.
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
        // Defaults and similar texts contain the names of the type and its labels.
        let keeps = |old: &EnumDescriptor| {
            let kept = |label: &str| new.labels.iter().any(|other| other.name == label);
            (&old.schema, &old.name) == (&new.schema, &new.name) && old.labels.iter().all(|label| kept(&label.name))
        };
        let strength = strength(old.is_none_or(keeps));
        self.put_object(keys::enumeration(database, new.oid), new, strength)
    }
    /// Removes an enum and its name.
    pub fn remove_enum(&mut self, ty: &EnumDescriptor) {
        let name = (keys::type_name(self.database, ty.schema_oid, &ty.name), ty.name.clone());
        self.rename(Some(name), None, ty.oid, (state::DUPLICATE_OBJECT, "type"));
        self.remove_object(keys::enumeration(self.database, ty.oid));
    }
    /// Keeps an enum that a new object depends on from being dropped concurrently.
    pub fn hold_enum(&mut self, oid: Oid) {
        self.hold(keys::enumeration(self.database, oid));
    }
    /// Stores a table or sequence. Writers with an older form fail.
    pub async fn put_table(&mut self, table: &TableDescriptor) -> Result<()> {
        self.change_table(table, Change::Abrupt).await
    }
    /// Stores a table or sequence. `change` says whether writers with the previous form may commit.
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
        // A step of an index build does not affect objects that depend on the table.
        let strength = strength(change == Change::Gentle);
        self.put_object(keys::table(self.database, table.oid), table, strength)
    }
    /// Keeps writers with this version of a table's descriptor, and older ones, from committing.
    pub fn close_fence(&mut self, table: Oid, version: u64) -> Result<()> {
        self.put(keys::fence(self.database, table, version), &version)
    }
    /// Removes a table or sequence, with its rows and those of its indexes.
    pub async fn remove_table(&mut self, table: &TableDescriptor) -> Result<()> {
        let old = self.stored(table.oid).await?;
        self.change_names(Some(old.as_ref().unwrap_or(table)), None);
        self.tables.insert(table.oid, None);
        self.remove_object(keys::table(self.database, table.oid));
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
    /// Stores the statistics of a table, and a new version. They conflict with no other transaction. False, and nothing
    /// is stored, if the table was changed or dropped since the snapshot.
    pub async fn store_statistics(&mut self, table: Oid, statistics: &TableStatistics) -> Result<bool> {
        let held = [(keys::table(self.database, table), LockStrength::KeyShare)];
        if self.transaction.lock_keys(&held, self.wait()).await?.contains(&true) {
            return Ok(false);
        }
        let write = write_of(keys::statistics(self.database, table), statistics, LockStrength::Update)?;
        self.overwritten.push(write);
        self.flush().await?;
        Ok(true)
    }
    /// Removes the statistics of a table.
    pub fn forget_statistics(&mut self, table: Oid) {
        let (key, strength) = (keys::statistics(self.database, table), LockStrength::Update);
        self.overwritten.push(Write { key, kind: WriteKind::Delete, strength });
    }
    /// Keeps a table that a new object depends on from being dropped concurrently.
    pub fn hold_table(&mut self, table: Oid) {
        self.hold(keys::table(self.database, table));
    }
    /// Records that a storage id's rows are to be removed once no snapshot can reach them.
    pub fn drop_storage(&mut self, storage_id: StorageId) -> Result<()> {
        self.put(keys::dropped(storage_id), &storage_id)
    }
    /// Stores the value of a sequence within this transaction. The storage id must be new.
    pub fn put_sequence_value(&mut self, storage_id: StorageId, value: &SequenceValue) -> Result<()> {
        self.put(keys::sequence(storage_id), value)
    }
    /// Writes the collected changes and a new version. The writer can be used again. Errors: 42P07 and similar if
    /// another transaction took a name meanwhile; 40001 if another one changed the same objects.
    pub async fn flush(&mut self) -> Result<()> {
        let mut names: BTreeMap<Bytes, Name> = BTreeMap::new();
        for name in std::mem::take(&mut self.freed).into_iter().chain(std::mem::take(&mut self.claimed)) {
            names.insert(name.key.clone(), name);
        }
        let lost = self.lock_objects(&names).await?;
        for (key, name) in names {
            match name.owner {
                Some(owner) => {
                    self.claim(&key, &name).await?;
                    self.put(key, &owner)?;
                }
                None => self.delete(key),
            }
        }
        if lost {
            return Err(changed_meanwhile());
        }
        let version = self.store.versions().change(&self.transaction, self.store.numbers()).await?;
        self.writes.push(version);
        self.transaction.write(std::mem::take(&mut self.writes)).await?;
        self.transaction.overwrite(std::mem::take(&mut self.overwritten), self.wait()).await?;
        self.tables.clear();
        match self.store.nodes() {
            Some(nodes) => nodes.announce(&self.transaction).await,
            None => Ok(()),
        }
    }

    /// How long it waits for others.
    fn wait(&self) -> LockWait {
        if self.impatient {
            return LockWait::No;
        }
        LockWait::For(self.locks.as_ref().and_then(|(_, timeout)| *timeout))
    }

    /// Locks the objects to write, in key order. Answers whether another transaction has changed one since the
    /// snapshot, so that COMMIT would fail. Errors: 40001 if the statement can run again.
    async fn lock_objects(&mut self, names: &BTreeMap<Bytes, Name>) -> Result<bool> {
        let mut objects = std::mem::take(&mut self.objects);
        objects.extend(names.keys().map(|key| (key.clone(), LockStrength::Update)));
        let objects: Vec<(Bytes, LockStrength)> = objects.into_iter().collect();
        if objects.is_empty() {
            return Ok(false);
        }
        let changed = self.transaction.lock_keys(&objects, self.wait()).await?;
        if let Some(again) = self.again.filter(|_| changed.contains(&true)) {
            again.store(true, Ordering::SeqCst);
            return Err(changed_meanwhile());
        }
        Ok(changed.contains(&true))
    }

    /// Waits for a transaction that is taking the same name.
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
    /// A table as this transaction sees it.
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
    /// Keeps an object from being removed until this transaction commits, which fails if it was removed.
    fn hold(&mut self, key: Bytes) {
        let strength = LockStrength::KeyShare;
        self.note(&key, strength);
        self.writes.push(Write { key, kind: WriteKind::Lock, strength });
    }
    /// Records that an object must be locked before it is written.
    fn note(&mut self, key: &Bytes, strength: LockStrength) {
        let noted = self.objects.entry(key.clone()).or_insert(strength);
        *noted = strength.max(*noted);
    }
    fn put_object<T: Serialize>(&mut self, key: Bytes, value: &T, strength: LockStrength) -> Result<()> {
        self.note(&key, strength);
        self.writes.push(write_of(key, value, strength)?);
        Ok(())
    }
    fn remove_object(&mut self, key: Bytes) {
        self.note(&key, LockStrength::Update);
        self.delete(key);
    }
    fn put<T: Serialize>(&mut self, key: Bytes, value: &T) -> Result<()> {
        self.writes.push(write_of(key, value, LockStrength::Update)?);
        Ok(())
    }
    fn delete(&mut self, key: Bytes) {
        self.writes.push(Write { key, kind: WriteKind::Delete, strength: LockStrength::Update });
    }
}

/// The lock strength for writing a descriptor. `keeps` means that nothing is removed that others may depend on.
fn strength(keeps: bool) -> LockStrength {
    if keeps { LockStrength::NoKeyUpdate } else { LockStrength::Update }
}

fn write_of<T: Serialize>(key: Bytes, value: &T, strength: LockStrength) -> Result<Write> {
    let value = serde_json::to_vec(value)
        .map_err(|error| SqlError::internal(format!("a descriptor cannot be stored: {error}")))?;
    Ok(Write { key, kind: WriteKind::Put(value.into()), strength })
}

/// The error 40001 for a concurrent change.
pub fn changed_meanwhile() -> SqlError {
    let message = "could not serialize access: another transaction has changed the object since this one's snapshot";
    SqlError::new(state::SERIALIZATION_FAILURE, message).hint("The transaction might succeed if retried.")
}
