//! Data definition: CREATE, ALTER, DROP, TRUNCATE. All writes go through the statement's transaction and commit or roll
//! back with it. Must not know the wire.

mod alter_column;
mod alter_drop;
mod alter_index;
mod alter_object;
mod alter_passes;
mod alter_relation;
mod alter_setting;
mod alter_table;
mod alter_type;
mod backfill;
#[cfg(test)]
mod backfill_tests;
pub use binder::canonical;
pub mod check;
mod column_default;
mod comment;
pub mod computed;
mod constraint_places;
mod create_index;
mod create_table;
mod database;
mod database_option;
mod default_privilege;
#[cfg(test)]
mod definition_tests;
mod dependents;
mod drop;
mod drop_absent;
mod drop_type;
mod enum_references;
mod enumeration;
mod evaluate;
mod fixed_times;
mod foreign_key;
mod function;
mod grant;
mod large_object;
mod like;
mod membership;
mod names;
pub mod online;
mod online_backfill;
mod online_load;
mod owner;
mod referenced;
mod reindex;
mod repeated_key;
mod requested_privileges;
mod role;
mod schema;
pub mod scram;
mod sequence;
mod sequence_defaults;
mod storage_parameter;
mod table_as;
pub mod temporary;
mod trigger;
mod truncate;
pub mod type_name;
mod view;

use catalog::{
    Catalog, CatalogStore, CatalogWriter, HeldLocks, LockMode, LockTarget, SchemaDescriptor, StorageId,
    TableDescriptor, changed_meanwhile, keys,
};
use context::notice::Notice;
use context::shared::SessionShared;
use context::table_locks::{self, TableLockMode};
use settings::Settings;
use sql_error::{Result, SqlError, SqlState, state};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use syntax::ast::{RelationKind, Statement};
use txn::locks::LockWait;
use txn::{LockStrength, Transaction};
use types::Oid;

/// The context of a DDL statement.
pub struct DdlContext {
    /// The store of the catalog.
    pub store: Arc<CatalogStore>,
    /// The transaction that the statement runs in.
    pub transaction: Arc<Transaction>,
    /// The catalog that the transaction sees before the statement.
    pub catalog: Arc<Catalog>,
    /// The metadata locks of the transaction.
    pub locks: Arc<HeldLocks>,
    /// The settings, among them search_path and lock_timeout.
    pub settings: Arc<Settings>,
    /// The session, which has the login role and receives notices.
    pub session: Arc<SessionShared>,
    /// The current role, which owns new objects.
    pub user: Oid,
    /// The start of the transaction, as `now()` returns it.
    pub transaction_time: i64,
    /// Whether the transaction can restart with its locks, because it has done nothing so far.
    pub renewable: bool,
    /// Whether the statement can run again with a newer snapshot: if renewable, or at READ COMMITTED.
    pub repeatable: bool,
    /// Set if the statement must run again.
    pub stale: AtomicBool,
}

impl DdlContext {
    /// A writer of this database's descriptors.
    fn writer(&self) -> CatalogWriter<'_> {
        self.writer_of(self.catalog.database().oid)
    }
    /// A writer of another database's descriptors.
    fn writer_of(&self, database: Oid) -> CatalogWriter<'_> {
        let writer = self.store.writer(&self.transaction, database).again(self.repeatable.then_some(&self.stale));
        writer.waiting(&self.locks, self.settings.lock_timeout())
    }
    /// A new storage id. No other transaction knows it until this one commits.
    async fn new_storage(&self) -> Result<StorageId> {
        let storage_id = self.store.numbers().storage_id().await?;
        self.transaction.made(keys::rows_of(storage_id));
        Ok(storage_id)
    }
    /// Locks a schema exclusively until the transaction ends: no other transaction is creating an object in it.
    async fn lock_schema(&self, schema: &SchemaDescriptor) -> Result<()> {
        let target = LockTarget::Schema(self.catalog.database().oid, schema.oid);
        self.locks.acquire(target, LockMode::Exclusive, self.settings.lock_timeout()).await
    }
    /// The catalog and role that decide which values errors show.
    fn reader(&self) -> (&Catalog, Oid) {
        (&self.catalog, self.user)
    }
    /// Whether the user has the rights of the owner `owner`.
    fn is_owner(&self, owner: Oid) -> bool {
        self.catalog.owns(self.user, owner)
    }
    /// Locks a table exclusively until the transaction ends. Errors: 42501 if the user does not own it.
    async fn lock(&self, table: &TableDescriptor) -> Result<()> {
        self.must_own(table)?;
        self.take_alone(table).await
    }
    /// Errors: 42501 if the user does not own a relation.
    fn must_own(&self, table: &TableDescriptor) -> Result<()> {
        if self.is_owner(table.owner) {
            return Ok(());
        }
        let message = format!("must be owner of {} {}", drop::kind_word(table), table.name);
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// Whether the user owns a schema and may drop its contents.
    fn owns_schema(&self, schema: Oid) -> bool {
        self.catalog.schema_by_oid(schema).is_some_and(|schema| self.is_owner(schema.owner))
    }
    /// Errors: 42501 if the user owns neither a relation nor its schema.
    fn may_drop(&self, table: &TableDescriptor) -> Result<()> {
        if self.owns_schema(table.schema_oid) { Ok(()) } else { self.must_own(table) }
    }
    /// The same without a check of ownership, for other privileges and for dependent objects.
    async fn take_alone(&self, table: &TableDescriptor) -> Result<()> {
        let (database, wait) = (self.catalog.database().oid, LockWait::For(self.settings.lock_timeout()));
        if self.store.transactions().has_one_log() {
            // Writers hold this table lock too, so deadlocks through rows and other tables are detected. With several
            // nodes, some take it only at COMMIT, when others may already wait for their metadata locks.
            let mode = TableLockMode::AccessExclusive;
            table_locks::acquire(&self.transaction, database, table.oid, mode, wait).await?;
        }
        let asked = self.locks.exclusive(table.oid, self.settings.lock_timeout()).await?;
        if let Some(fence) = self.locks.fence().await? {
            self.transaction.require_unchanged(fence);
        }
        let descriptor = [(keys::table(database, table.oid), LockStrength::Update)];
        if self.transaction.lock_keys(&descriptor, wait).await?.contains(&true) {
            // The statement runs again with a newer snapshot, if it can.
            self.stale.store(self.repeatable, Ordering::SeqCst);
            return Err(changed_meanwhile());
        }
        if !asked || !self.renewable {
            return Ok(());
        }
        // The transaction that it waited for may have committed after this snapshot.
        self.stale.store(true, Ordering::SeqCst);
        let message = "could not serialize access: the table may have changed while its lock was waited for";
        Err(SqlError::new(state::SERIALIZATION_FAILURE, message))
    }
    /// Errors: 55006 for a table with checks deferred to COMMIT.
    fn must_be_idle(&self, table: &TableDescriptor, what: &str) -> Result<()> {
        use executor::dml::KeyChange;
        let queue = executor::dml::reference_queue::references_of(&self.session).lock();
        let concerns = |pending: &executor::dml::Pending| match pending.change {
            KeyChange::Referring => pending.table == table.oid,
            _ => self.catalog.relation_by_oid(pending.table).is_some_and(|child| {
                child.foreign_keys.iter().any(|key| key.oid == pending.constraint && key.parent == table.oid)
            }),
        };
        if !queue.later().any(concerns) {
            return Ok(());
        }
        let message = format!("cannot {what} \"{}\" because it has pending trigger events", table.name);
        Err(SqlError::new(state::OBJECT_IN_USE, message))
    }
    /// Errors: 42501 for a role without all of these privileges on a table.
    fn may(&self, table: &TableDescriptor, rights: catalog::acl::Rights) -> Result<()> {
        let kind = catalog::acl::Kind::Table;
        if self.catalog.rights(self.user, kind, table.owner, table.acl.as_ref(), rights) == rights {
            return Ok(());
        }
        let message = format!("permission denied for {} {}", drop::kind_word(table), table.name);
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// A relation's name for messages: with its schema, unless it is visible.
    fn shown_name(&self, table: &TableDescriptor) -> String {
        let path = self.settings.search_path();
        pg_catalog::describe::relation_name(&self.catalog, table.oid, path).unwrap_or_else(|| table.name.clone())
    }
    /// Sends a notice to the client.
    fn notice(&self, state: SqlState, message: impl Into<String>) {
        let mut notice = Notice::notice(message);
        notice.fields.state = state;
        self.session.notify(notice);
    }
}

pub use alter_setting::{alter_settings, first_settings};
pub use comment::execute as comment;
pub use database::execute as database;
pub use default_privilege::alter as alter_default_privileges;
pub use drop_absent::drop_absent;
pub use grant::{drop_owned, grant, reassign_owned};
pub use large_object::alter_large_object;
pub use reindex::reindex;
pub use schema::{create as create_schema, named_role};
pub use table_as::create as create_table_as;
pub use view::create as create_view;

/// Runs a DDL statement. Returns its command tag. The caller then advances the command number and
/// reads the catalog again.
pub async fn execute(context: &DdlContext, statement: &Statement) -> Result<String> {
    match statement {
        Statement::CreateTable(create) => create_table::execute(context, create).await,
        Statement::CreateIndex(create) => create_index::execute(context, create).await,
        Statement::CreateSequence(create) => sequence::create(context, create).await,
        Statement::CreateType(create) => enumeration::create(context, create).await,
        Statement::CreateExtension(create) => function::create_extension(context, create),
        Statement::AlterTable(alter) => match alter.kind {
            RelationKind::Table | RelationKind::Index => alter_relation::alter(context, alter).await,
            RelationKind::View => view::alter(context, alter).await,
            RelationKind::Sequence => sequence::alter(context, alter).await,
            RelationKind::MaterializedView => Err(SqlError::unsupported("ALTER MATERIALIZED VIEW")),
            RelationKind::ForeignTable => Err(SqlError::unsupported("ALTER FOREIGN TABLE")),
        },
        Statement::AlterType(alter) => enumeration::alter(context, &alter.0, &alter.1).await,
        Statement::AlterObject(alter) => alter_object::execute(context, alter).await,
        Statement::Role(role) => role::execute(context, role).await,
        Statement::DropRole(drop) => role::drop(context, drop).await,
        Statement::Drop(drop) => drop::execute(context, drop).await,
        Statement::Truncate(truncate) => truncate::execute(context, truncate).await,
        other => {
            let text = other.to_string();
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(SqlError::unsupported(words.join(" ")))
        }
    }
}
