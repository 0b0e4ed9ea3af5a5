//! CREATE, ALTER and DROP SCHEMA.

use super::dependents::{self, Object};
use super::{DdlContext, drop, enumeration, referenced, sequence};
use crate::catalog::acl::{CREATE, Kind};
use crate::catalog::{CatalogWriter, SchemaDescriptor, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::names::quote;
use crate::parse::{fold, fold_name};
use crate::pg_catalog;
use crate::types::enumeration::{EnumDescriptor, EnumType};
use crate::types::{BaseType, SqlType};
use sqlparser::ast::{AlterSchema, AlterSchemaOperation, ObjectName, Owner, SchemaName};

/// CREATE SCHEMA.
pub(super) async fn create(context: &DdlContext, name: &SchemaName, if_not_exists: bool) -> Result<String> {
    let (name, owner) = match name {
        SchemaName::Simple(name) => (fold_name(name)?.1, context.user),
        SchemaName::UnnamedAuthorization(role) => (fold(role), context.role(&fold(role))?.oid),
        SchemaName::NamedAuthorization(name, role) => (fold_name(name)?.1, context.role(&fold(role))?.oid),
    };
    let database = context.catalog.database();
    if context.catalog.rights(context.user, Kind::Database, database.owner, database.acl.as_ref(), CREATE) != CREATE {
        let message = format!("permission denied for database {}", database.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
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
    writer.put_schema(
        None,
        &SchemaDescriptor {
            oid: context.store.numbers().oid().await?,
            name,
            owner,
            acl: context.first_acl(crate::catalog::acl::Kind::Schema, 0),
            ..Default::default()
        },
    )?;
    writer.flush().await?;
    Ok("CREATE SCHEMA".into())
}

/// ALTER SCHEMA: its name or owner.
pub(super) async fn alter(context: &DdlContext, alter: &AlterSchema) -> Result<String> {
    let AlterSchema { name, if_exists, operations } = alter;
    let name = fold_name(name)?.1;
    if *if_exists {
        return Err(SqlError::syntax("syntax error at or near \"IF\""));
    }
    let old = context.schema(&name)?;
    if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == old.oid) || !context.is_owner(old.owner) {
        let message = format!("must be owner of schema {name}");
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    context.lock_schema(&old).await?;
    let mut new = SchemaDescriptor::clone(&old);
    for operation in operations {
        match operation {
            AlterSchemaOperation::Rename { name } => new.name = fold_name(name)?.1,
            AlterSchemaOperation::OwnerTo { owner: Owner::Ident(role) } => new.owner = context.role(&fold(role))?.oid,
            AlterSchemaOperation::OwnerTo { owner: Owner::CurrentRole | Owner::CurrentUser | Owner::SessionUser } => {
                new.owner = context.user
            }
            other => return Err(SqlError::unsupported(format!("ALTER SCHEMA {other}"))),
        }
    }
    let mut writer = context.writer();
    if new.name != old.name {
        if context.catalog.schema(&new.name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_SCHEMA, format!("schema \"{}\" already exists", new.name)));
        }
        if new.name.starts_with("pg_") {
            return Err(SqlError::new("42939", format!("unacceptable schema name \"{}\"", new.name))
                .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        if context.catalog.enums().any(|ty| ty.schema_oid == old.oid) {
            return Err(SqlError::unsupported("ALTER SCHEMA RENAME of a schema with types"));
        }
        move_tables(context, &mut writer, &old, &new).await?;
    }
    writer.put_schema(Some(&old), &new)?;
    writer.flush().await?;
    Ok("ALTER SCHEMA".into())
}

/// Descriptors name their schema, and so do defaults that take values from a sequence in it.
async fn move_tables(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    old: &SchemaDescriptor,
    new: &SchemaDescriptor,
) -> Result<()> {
    let inside = |table: &TableDescriptor| table.schema_oid == old.oid;
    let text = |schema: &SchemaDescriptor, name: &str| sequence::next_value_text(&schema.name, name);
    let sequences = context.catalog.user_relations().filter(|table| inside(table) && table.sequence.is_some());
    let texts: Vec<(String, String)> =
        sequences.map(|table| (text(old, &table.name), text(new, &table.name))).collect();
    for table in context.catalog.user_relations() {
        let with_defaults = sequence::with_defaults(table, &texts);
        if with_defaults.is_none() && !inside(table) {
            continue;
        }
        let mut changed = with_defaults.unwrap_or_else(|| TableDescriptor::clone(table));
        changed.version = table.version + 1;
        if inside(table) {
            changed.schema.clone_from(&new.name);
        }
        context.locks.exclusive(table.oid, context.settings.lock_timeout()).await?;
        writer.put_table(&changed).await?;
    }
    Ok(())
}

/// DROP SCHEMA.
pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[ObjectName], cascade: bool) -> Result<String> {
    let mut writer = context.writer();
    let mut gone = Vec::new();
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
        let dependents = dependents::of(context, &[Object::Schema(schema.oid)], cascade)?;
        for dependent in &dependents {
            let table = &dependent.relation;
            dropped.push(format!("{} {}", drop::kind_word(table), context.shown_name(table)));
        }
        let types = enumeration::within(context, schema.oid)?;
        if let (false, Some(ty)) = (cascade, types.first()) {
            let shown = |ty: &EnumDescriptor| {
                let ty = SqlType::of(BaseType::Enum(EnumType::new(ty)));
                context.catalog.type_name(ty, context.settings.search_path())
            };
            let detail = format!("type {} depends on schema {name}", shown(ty));
            return Err(drop::dependent(format!("schema {name}"), &detail));
        }
        for ty in types {
            dropped.push(format!("type {}.{}", quote(&ty.schema), quote(&ty.name)));
            writer.remove_enum(ty);
        }
        let mut inside: Vec<_> =
            context.catalog.user_relations().filter(|table| table.schema_oid == schema.oid).cloned().collect();
        inside.sort_by_key(|table| table.oid);
        let outside = dependents.iter().map(|dependent| &dependent.relation);
        for view in outside.filter(|relation| relation.schema_oid != schema.oid) {
            context.locks.exclusive(view.oid, context.settings.lock_timeout()).await?;
            writer.remove_table(view).await?;
        }
        let referring = referenced::to_tables(context, |table| table.schema_oid == schema.oid);
        dropped.extend(referenced::remove(context, &mut writer, &referring).await?);
        for table in inside {
            context.lock(&table).await?;
            writer.remove_table(&table).await?;
        }
        writer.remove_schema(&schema);
        gone.push(schema.oid);
    }
    // What new objects in them would be granted goes too.
    let database = context.database_named(&context.catalog.database().name)?;
    if database.default_acls.iter().any(|entry| gone.contains(&entry.schema)) {
        let mut changed = crate::catalog::DatabaseDescriptor::clone(&database);
        changed.default_acls.retain(|entry| !gone.contains(&entry.schema));
        writer.put_database(Some(&database), &changed)?;
    }
    writer.flush().await?;
    drop::report_cascade(context, &dropped);
    Ok("DROP SCHEMA".into())
}
