//! CREATE DATABASE, ALTER DATABASE, DROP DATABASE.

use super::DdlContext;
use super::database_option::{Options, check_locale, check_template};
use crate::catalog::{CatalogBuilder, DatabaseDescriptor, RoleDescriptor, TEMPLATE0, is_temporary};
use crate::error::{Result, SqlError, state};
use crate::parse::{DatabaseChange, DatabaseOption, DatabaseStatement};
use crate::session::activity::Activity;
use std::sync::Arc;
use std::time::Duration;

/// Runs one of these statements. Returns its command tag.
pub async fn execute(context: &DdlContext, statement: &DatabaseStatement) -> Result<String> {
    match statement {
        DatabaseStatement::Create { name, options } => create(context, name, options).await?,
        DatabaseStatement::Alter { name, change } => alter(context, name, change).await?,
        DatabaseStatement::Drop { name, if_exists, force } => drop(context, name, *if_exists, *force).await?,
    }
    Ok(statement.words().split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

fn denied(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, message)
}

impl DdlContext {
    fn may_create_databases(&self) -> bool {
        self.catalog.role_by_oid(self.user).is_some_and(|role| role.superuser || role.create_database)
    }
    /// The other sessions of a database.
    fn sessions_of(&self, database: &DatabaseDescriptor) -> Vec<Arc<Activity>> {
        // Without a server there are no other sessions.
        let Ok(server) = self.session.database() else { return Vec::new() };
        let mut sessions = server.activities().list();
        let own = self.session.backend_pid;
        sessions.retain(|session| session.backend.database.0 == database.oid && session.backend.pid != own);
        sessions
    }
    /// Errors: 55006 if other sessions use the database. Waits for terminating sessions first.
    async fn must_be_unused(&self, database: &DatabaseDescriptor, what: &str) -> Result<()> {
        let mut others = self.sessions_of(database).len();
        for _ in 0..50 {
            if others == 0 {
                return Ok(());
            }
            self.session.check_interrupt()?;
            self.store.env().sleep(Duration::from_millis(100)).await;
            others = self.sessions_of(database).len();
        }
        let message = format!("{what} \"{}\" is being accessed by other users", database.name);
        let detail = match others {
            1 => "There is 1 other session using the database.".to_string(),
            others => format!("There are {others} other sessions using the database."),
        };
        Err(SqlError::new(state::OBJECT_IN_USE, message).detail(detail))
    }
}

/// CREATE DATABASE: copies the contents of its template. Errors: 42601, 22023, 42704, 42501, 3D000, 42P04, 55006, and
/// 0A000 if the template contains more than schemas.
async fn create(context: &DdlContext, name: &str, options: &[DatabaseOption]) -> Result<()> {
    let options = Options::of_new(context, options)?;
    let owner = match &options.owner {
        Some(owner) => super::owner::role_called(context, owner)?,
        None => context.user,
    };
    if !context.may_create_databases() {
        return Err(denied("permission denied to create database"));
    }
    super::owner::must_be_member(context, owner)?;
    let wanted = options.source.as_deref().unwrap_or("template1");
    let Some(source) = context.catalog.databases().into_iter().find(|database| database.name == wanted) else {
        let message = format!("template database \"{wanted}\" does not exist");
        return Err(SqlError::new(state::INVALID_CATALOG_NAME, message));
    };
    if !source.is_template() && !context.is_owner(source.owner) {
        return Err(denied(format!("permission denied to copy database \"{wanted}\"")));
    }
    check_locale(&options, &source)?;
    if source.oid != TEMPLATE0 {
        check_template(&options, &source)?;
    }
    options.refuse_others()?;
    if context.database_named(name).is_ok() {
        return Err(SqlError::new(state::DUPLICATE_DATABASE, format!("database \"{name}\" already exists")));
    }
    context.must_be_unused(&source, "source database").await?;
    let held = context.store.snapshot(&context.transaction, source.oid).await?;
    if held.user_relations().any(|relation| !is_temporary(&relation.schema)) || held.enums().next().is_some() {
        return Err(SqlError::unsupported("CREATE DATABASE of a template with tables or types in it"));
    }
    if super::large_object::any(context, source.oid).await? {
        return Err(SqlError::unsupported("CREATE DATABASE of a template with large objects in it"));
    }
    let oid = context.store.numbers().oid().await?;
    let mut writer = context.writer_of(oid);
    let collate = options.collate.clone().or_else(|| source.collate.clone());
    let ctype = options.ctype.clone().or_else(|| source.ctype.clone());
    let database = DatabaseDescriptor {
        oid,
        name: name.to_string(),
        owner,
        collate,
        ctype,
        default_acls: source.default_acls.clone(),
        closed: options.allow_connections == Some(false),
        template: options.is_template,
        connection_limit: options.connection_limit.flatten(),
        ..Default::default()
    };
    writer.put_database(None, &database)?;
    // The first databases of a store have it without having stored it.
    let public = CatalogBuilder::new(crate::pg_catalog::SystemViews::get())
        .build()
        .schema("public")
        .filter(|public| held.schema(&public.name).is_none());
    for schema in held.schemas().into_iter().filter(|schema| !is_temporary(&schema.name)).chain(public) {
        if crate::pg_catalog::SYSTEM_SCHEMAS.iter().all(|(system, _)| *system != schema.oid) {
            writer.put_schema(None, &schema)?;
        }
    }
    writer.flush().await
}

/// ALTER DATABASE. Errors: 3D000, 42501, 42P04, 55006, 22023, 42601, 42704.
async fn alter(context: &DdlContext, name: &str, change: &DatabaseChange) -> Result<()> {
    let old = context.database_named(name)?;
    context.must_own_database(&old)?;
    let current = old.oid == context.catalog.database().oid;
    let mut changed = DatabaseDescriptor::clone(&old);
    match change {
        DatabaseChange::Rename(name) => {
            if !context.may_create_databases() {
                return Err(denied("permission denied to rename database"));
            }
            if context.database_named(name).is_ok() {
                let message = format!("database \"{name}\" already exists");
                return Err(SqlError::new(state::DUPLICATE_DATABASE, message));
            }
            if current {
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "current database cannot be renamed"));
            }
            context.must_be_unused(&old, "database").await?;
            changed.name.clone_from(name);
        }
        DatabaseChange::Owner(name) => {
            let owner = super::owner::role_called(context, name)?;
            if owner == old.owner {
                return Ok(());
            }
            super::owner::must_be_member(context, owner)?;
            if !context.may_create_databases() {
                return Err(denied("permission denied to change owner of database"));
            }
            super::grant::change_owner(&mut changed.acl, changed.owner, owner);
            changed.owner = owner;
        }
        DatabaseChange::Tablespace(name) => {
            if current {
                let message = "cannot change the tablespace of the currently open database";
                return Err(SqlError::new(state::OBJECT_IN_USE, message));
            }
            super::database_option::tablespace(name)?;
        }
        DatabaseChange::RefreshCollation => context.notice(state::SUCCESSFUL_COMPLETION, "version has not changed"),
        DatabaseChange::Options(options) => {
            let options = Options::of_old(options)?;
            if current && options.allow_connections == Some(false) {
                let message = "cannot disallow connections for current database";
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
            if let Some(limit) = options.connection_limit {
                changed.connection_limit = limit;
            }
            if let Some(allowed) = options.allow_connections {
                changed.template = Some(changed.is_template());
                changed.closed = !allowed;
            }
            if let Some(template) = options.is_template {
                changed.closed = changed.is_closed();
                changed.template = Some(template);
            }
        }
    }
    if changed != *old {
        let mut writer = context.writer();
        writer.put_database(Some(&old), &changed)?;
        writer.flush().await?;
    }
    Ok(())
}

/// DROP DATABASE, with its contents. Errors: 3D000, 42501, 42809, 55006.
async fn drop(context: &DdlContext, name: &str, if_exists: bool, force: bool) -> Result<()> {
    let database = match context.database_named(name) {
        Ok(database) => database,
        Err(_) if if_exists => {
            context.notice(state::SUCCESSFUL_COMPLETION, format!("database \"{name}\" does not exist, skipping"));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    context.must_own_database(&database)?;
    if database.is_template() {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    if database.oid == context.catalog.database().oid {
        return Err(SqlError::new(state::OBJECT_IN_USE, "cannot drop the currently open database"));
    }
    if force {
        for session in context.sessions_of(&database) {
            session.backend.terminate.cancel();
            session.backend.cancel.cancel();
        }
    }
    context.must_be_unused(&database, "database").await?;
    let catalog = context.store.snapshot(&context.transaction, database.oid).await?;
    let mut writer = context.writer_of(database.oid);
    for table in catalog.user_relations() {
        context.lock(table).await?;
        writer.remove_table(table).await?;
    }
    for ty in catalog.enums() {
        writer.remove_enum(ty);
    }
    for schema in catalog.schemas() {
        writer.remove_schema(&schema);
    }
    super::large_object::drop_all(&mut writer, database.oid)?;
    for role in context.catalog.roles() {
        let mut changed = RoleDescriptor::clone(&role);
        changed.settings.retain(|(of, _)| *of != database.oid);
        if changed != *role {
            writer.put_role(Some(&role), &changed)?;
        }
    }
    writer.remove_database(&database);
    writer.flush().await
}
