//! CREATE DATABASE, DROP DATABASE.

use super::DdlContext;
use crate::catalog::{CatalogBuilder, DatabaseDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::fold_name;
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
    writer.put_database(None, &DatabaseDescriptor { oid, name, owner: context.user, comment: None, acl: None })?;
    if let Some(public) = CatalogBuilder::new().build().schema("public") {
        writer.put_schema(None, &public)?;
    }
    writer.flush().await?;
    Ok("CREATE DATABASE".into())
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
        writer.remove_database(&database);
        writer.flush().await?;
    }
    Ok("DROP DATABASE".into())
}
