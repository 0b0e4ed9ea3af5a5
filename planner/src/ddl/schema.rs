//! CREATE SCHEMA, DROP SCHEMA.

use super::{DdlContext, drop};
use crate::catalog::{SchemaDescriptor, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::{fold, fold_name};
use crate::pg_catalog;
use sqlparser::ast::{ObjectName, SchemaName};

/// CREATE SCHEMA.
pub(super) async fn create(context: &DdlContext, name: &SchemaName, if_not_exists: bool) -> Result<String> {
    let (name, owner) = match name {
        SchemaName::Simple(name) => (fold_name(name)?.1, context.user),
        SchemaName::UnnamedAuthorization(role) => (fold(role), context.role(&fold(role))?.oid),
        SchemaName::NamedAuthorization(name, role) => (fold_name(name)?.1, context.role(&fold(role))?.oid),
    };
    if context.catalog.schema(&name).is_some() {
        if if_not_exists {
            context.notice(state::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists, skipping"));
            return Ok("CREATE SCHEMA".into());
        }
        return Err(SqlError::new(state::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists")));
    }
    if name.starts_with("pg_") {
        return Err(SqlError::new("42939", format!("unacceptable schema name \"{name}\""))
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    let mut writer = context.writer();
    writer.put_schema(None, &SchemaDescriptor { oid: context.store.numbers().oid().await?, name, owner })?;
    writer.flush().await?;
    Ok("CREATE SCHEMA".into())
}

/// DROP SCHEMA.
pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[ObjectName], cascade: bool) -> Result<String> {
    let mut writer = context.writer();
    let mut dropped: Vec<String> = Vec::new();
    for name in names {
        let name = fold_name(name)?.1;
        let Some(schema) = context.catalog.schema(&name) else {
            if if_exists {
                context.notice(state::SUCCESSFUL_COMPLETION, format!("schema \"{name}\" does not exist, skipping"));
                continue;
            }
            return Err(SqlError::new(state::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")));
        };
        if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == schema.oid) {
            let message = format!("cannot drop schema {name} because it is required by the database system");
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        if !context.is_owner(schema.owner) {
            let message = format!("must be owner of schema {name}");
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        context.lock_schema(&schema).await?;
        let mut inside: Vec<_> =
            context.catalog.user_relations().filter(|table| table.schema_oid == schema.oid).cloned().collect();
        inside.sort_by_key(|table| table.oid);
        // Sequences that columns own go with their tables without saying.
        let owned =
            |table: &TableDescriptor| table.sequence.as_ref().is_some_and(|sequence| sequence.owned_by.is_some());
        let named: Vec<String> = inside
            .iter()
            .filter(|table| !owned(table))
            .map(|table| format!("{} {}", drop::kind_word(table), context.shown_name(table)))
            .collect();
        if !named.is_empty() && !cascade {
            let detail: Vec<String> = named.iter().map(|what| format!("{what} depends on schema {name}")).collect();
            return Err(drop::dependent(format!("schema {name}"), &detail.join("\n")));
        }
        dropped.extend(named);
        for table in inside {
            context.lock(&table).await?;
            writer.remove_table(&table).await?;
        }
        writer.remove_schema(&schema);
    }
    writer.flush().await?;
    drop::report_cascade(context, &dropped);
    Ok("DROP SCHEMA".into())
}
