//! CREATE DATABASE, DROP DATABASE.

use super::DdlContext;
use crate::catalog::{CatalogBuilder, DatabaseDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::{AlterDatabase, DatabaseChange, fold_name};
use sqlparser::ast::ObjectName;

/// CREATE DATABASE: a schema `public` of its own.
pub(super) async fn create(context: &DdlContext, name: &ObjectName) -> Result<String> {
    let name = fold_name(name)?.1;
    let user = context.catalog.role_by_oid(context.user);
    if !user.is_some_and(|role| role.superuser || role.create_database) {
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, "permission denied to create database"));
    }
    if context.catalog.databases().iter().any(|database| database.name == name) {
        return Err(SqlError::new(state::DUPLICATE_DATABASE, format!("database \"{name}\" already exists")));
    }
    let oid = context.store.numbers().oid().await?;
    let mut writer = context.writer_of(oid);
    writer.put_database(None, &DatabaseDescriptor { oid, name, owner: context.user, ..Default::default() })?;
    if let Some(public) = CatalogBuilder::new().build().schema("public") {
        writer.put_schema(None, &public)?;
    }
    writer.flush().await?;
    Ok("CREATE DATABASE".into())
}

/// ALTER DATABASE of its name, owner and connections. Errors: 3D000, 42501, 42P04, 55006, 22023.
pub async fn alter(context: &DdlContext, alter: &AlterDatabase) -> Result<String> {
    let old = context.database_named(&alter.name)?;
    context.must_own_database(&old)?;
    let denied = |message: String| SqlError::new(state::INSUFFICIENT_PRIVILEGE, message);
    let user = context.catalog.role_by_oid(context.user);
    let may_create = user.is_some_and(|role| role.superuser || role.create_database);
    let mut changed = DatabaseDescriptor::clone(&old);
    for change in &alter.changes {
        match change {
            DatabaseChange::Rename(name) => {
                if !may_create {
                    return Err(denied("permission denied to rename database".into()));
                }
                if context.database_named(name).is_ok() {
                    let message = format!("database \"{name}\" already exists");
                    return Err(SqlError::new(state::DUPLICATE_DATABASE, message));
                }
                if old.oid == context.catalog.database().oid {
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "current database cannot be renamed"));
                }
                let sessions = context.session.database()?.activities().list();
                let others = sessions.iter().filter(|session| session.backend.database.0 == old.oid).count();
                if others > 0 {
                    let message = format!("database \"{}\" is being accessed by other users", old.name);
                    let detail = match others {
                        1 => "There is 1 other session using the database.".to_string(),
                        others => format!("There are {others} other sessions using the database."),
                    };
                    return Err(SqlError::new(state::OBJECT_IN_USE, message).detail(detail));
                }
                changed.name.clone_from(name);
            }
            DatabaseChange::Owner(name) => {
                let owner = match name.as_str() {
                    "current_user" | "current_role" => context.user,
                    "session_user" => context.role(&context.settings.session_user())?.oid,
                    name => context.role(name)?.oid,
                };
                if owner == old.owner {
                    continue;
                }
                let superuser = context.catalog.is_superuser(context.user);
                if !superuser && !context.catalog.is_member(context.user, owner) {
                    return Err(denied(format!("must be member of role \"{name}\"")));
                }
                if !may_create {
                    return Err(denied("permission denied to change owner of database".into()));
                }
                super::grant::change_owner(&mut changed.acl, changed.owner, owner);
                changed.owner = owner;
            }
            DatabaseChange::ConnectionLimit(limit) => {
                changed.connection_limit = match limit {
                    -1 => None,
                    0.. => u32::try_from(*limit).ok(),
                    _ => {
                        let message = format!("invalid connection limit: {limit}");
                        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
                    }
                };
            }
            DatabaseChange::AllowConnections(allowed) => {
                if old.oid == context.catalog.database().oid && !allowed {
                    let message = "cannot disallow connections for current database";
                    return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
                }
                changed.closed = !allowed;
            }
        }
    }
    let mut writer = context.writer();
    writer.put_database(Some(&old), &changed)?;
    writer.flush().await?;
    Ok("ALTER DATABASE".into())
}

/// DROP DATABASE, with all it holds.
pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[ObjectName]) -> Result<String> {
    for name in names {
        let name = fold_name(name)?.1;
        let Some(database) = context.catalog.databases().into_iter().find(|database| database.name == name) else {
            if if_exists {
                context.notice(state::SUCCESSFUL_COMPLETION, format!("database \"{name}\" does not exist, skipping"));
                continue;
            }
            return Err(SqlError::new(state::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")));
        };
        if database.oid == context.catalog.database().oid {
            return Err(SqlError::new(state::OBJECT_IN_USE, "cannot drop the currently open database"));
        }
        if name.starts_with("template") {
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "cannot drop a template database"));
        }
        if !context.is_owner(database.owner) {
            let message = format!("must be owner of database {name}");
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
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
        for role in context.catalog.roles() {
            let mut changed = crate::catalog::RoleDescriptor::clone(&role);
            changed.settings.retain(|(of, _)| *of != database.oid);
            if changed != *role {
                writer.put_role(Some(&role), &changed)?;
            }
        }
        writer.remove_database(&database);
        writer.flush().await?;
    }
    Ok("DROP DATABASE".into())
}
