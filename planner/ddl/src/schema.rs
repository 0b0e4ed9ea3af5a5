//! CREATE, ALTER and DROP SCHEMA.

use super::dependents::{self, Dependent, Object};
use super::enum_references::{self, Renaming};
use super::referenced::Referring;
use super::sequence_defaults::{self, TakenDefault};
use super::{DdlContext, drop, enumeration, owner, referenced, sequence};
use binder::canonical;
use catalog::acl::{CREATE, Kind};
use catalog::{CatalogWriter, SchemaDescriptor, TableDescriptor};
use settings::Settings;
use sql_error::{Result, SqlError, state};
use syntax::CreateSchema;
use syntax::ast::ObjectChange;
use types::enumeration::{EnumDescriptor, EnumType};
use types::{BaseType, SqlType};

/// Creates a schema without the elements of the statement. Returns the command tag.
pub async fn create(context: &DdlContext, create: &CreateSchema) -> Result<String> {
    let if_not_exists = create.if_not_exists;
    let role = create.owner.as_ref().map(|role| named_role(&context.settings, role));
    let owner = match &role {
        Some(role) => context.role(role)?.oid,
        None => context.user,
    };
    let name = create.name.clone().or(role).ok_or_else(|| SqlError::internal("a schema without a name"))?;
    may_name_schemas(context)?;
    owner::must_be_member(context, owner)?;
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
            acl: context.first_acl_of(owner, Kind::Schema, 0),
            ..Default::default()
        },
    )?;
    writer.flush().await?;
    Ok("CREATE SCHEMA".into())
}

/// The name of a role, which may be given as `current_user` or a similar word.
pub fn named_role(settings: &Settings, role: &str) -> String {
    match role {
        "current_user" | "current_role" => settings.user().to_string(),
        "session_user" => settings.session_user().to_string(),
        _ => role.to_string(),
    }
}

/// Errors: 42501 for a role that may not create schemas in the database.
fn may_name_schemas(context: &DdlContext) -> Result<()> {
    let database = context.catalog.database();
    if context.catalog.rights(context.user, Kind::Database, database.owner, database.acl.as_ref(), CREATE) == CREATE {
        return Ok(());
    }
    let message = format!("permission denied for database {}", database.name);
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
}

/// ALTER SCHEMA: changes the name or owner.
pub(super) async fn alter(context: &DdlContext, name: &str, change: &ObjectChange) -> Result<String> {
    let old = context.schema(name)?;
    if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == old.oid) || !context.is_owner(old.owner) {
        let message = format!("must be owner of schema {name}");
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    context.lock_schema(&old).await?;
    let mut new = SchemaDescriptor::clone(&old);
    match change {
        ObjectChange::Rename(name) => new.name.clone_from(&name.value),
        ObjectChange::Owner(owner) => {
            let role = owner::role_of(context, owner)?;
            if role != old.owner {
                owner::must_be_member(context, role)?;
                may_name_schemas(context)?;
                super::grant::change_owner(&mut new.acl, old.owner, role);
                new.owner = role;
            }
        }
        _ => return Err(SqlError::unsupported("this ALTER SCHEMA")),
    }
    let mut writer = context.writer();
    if new.name != old.name {
        may_name_schemas(context)?;
        if context.catalog.schema(&new.name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_SCHEMA, format!("schema \"{}\" already exists", new.name)));
        }
        if new.name.starts_with("pg_") {
            return Err(SqlError::new("42939", format!("unacceptable schema name \"{}\"", new.name))
                .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        for ty in context.catalog.enums().filter(|ty| ty.schema_oid == old.oid) {
            writer.put_enum(Some(ty), &EnumDescriptor { schema: new.name.clone(), ..ty.clone() }).await?;
        }
        move_tables(context, &mut writer, &old, &new).await?;
    }
    writer.put_schema(Some(&old), &new)?;
    writer.flush().await?;
    Ok("ALTER SCHEMA".into())
}

/// Changes the schema's name in descriptors and in defaults that use its sequences or types.
async fn move_tables(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    old: &SchemaDescriptor,
    new: &SchemaDescriptor,
) -> Result<()> {
    let inside = |table: &TableDescriptor| table.schema_oid == old.oid;
    let text = |schema: &SchemaDescriptor, name: &str| canonical::next_value_text(&schema.name, name);
    let sequences = context.catalog.user_relations().filter(|table| inside(table) && table.sequence.is_some());
    let texts: Vec<(String, String)> =
        sequences.map(|table| (text(old, &table.name), text(new, &table.name))).collect();
    let types = context.catalog.enums().filter(|ty| ty.schema_oid == old.oid);
    let types: Vec<_> = types
        .map(|ty| (ty, enumeration::qualified(&EnumDescriptor { schema: new.name.clone(), ..ty.clone() })))
        .collect();
    for table in context.catalog.user_relations() {
        let mut changed = sequence::with_defaults(table, &texts).unwrap_or_else(|| TableDescriptor::clone(table));
        for (ty, name) in &types {
            enum_references::rename(context, table, &mut changed, Renaming::Type(ty, name))?;
        }
        if inside(table) {
            changed.schema.clone_from(&new.name);
        }
        if changed == **table {
            continue;
        }
        changed.version = table.version + 1;
        context.take_alone(table).await?;
        writer.put_table(&changed).await?;
    }
    Ok(())
}

/// The objects dropped with a schema in creation order, each followed by its dependents. Each comes with the
/// object it depends on.
fn listed(
    context: &DdlContext,
    schema: &SchemaDescriptor,
    dependents: &[Dependent],
    types: &[&EnumDescriptor],
    referring: &[Referring],
    taken: &[TakenDefault],
) -> Vec<(String, String)> {
    let within = format!("schema {}", schema.name);
    let shown = |ty: &EnumDescriptor| {
        let ty = SqlType::of(BaseType::Enum(EnumType::new(ty)));
        format!("type {}", context.catalog.type_name(ty, context.settings.search_path()))
    };
    let mut types: Vec<&EnumDescriptor> = types.to_vec();
    types.sort_by_key(|ty| std::cmp::Reverse(ty.oid));
    let mut listed = Vec::new();
    for dependent in dependents {
        let relation = &dependent.relation;
        let before = |ty: &&EnumDescriptor| relation.schema_oid == schema.oid && ty.oid < relation.oid;
        while let Some(ty) = types.pop_if(|ty| before(ty)) {
            listed.push((shown(ty), within.clone()));
        }
        let what = format!("{} {}", drop::kind_word(relation), context.shown_name(relation));
        listed.push((what.clone(), dependent.because_of().to_string()));
        for key in referring.iter().filter(|(_, key)| key.parent == relation.oid) {
            listed.push((referenced::shown(context, key), what.clone()));
        }
        let owner = |sequence: &TableDescriptor| sequence.sequence.as_ref().and_then(|found| found.owned_by);
        let is_of = |taken: &&TakenDefault| {
            taken.sequence.oid == relation.oid || owner(&taken.sequence).is_some_and(|(oid, _)| oid == relation.oid)
        };
        for taken in taken.iter().filter(is_of) {
            listed.push((taken.shown(context), format!("sequence {}", context.shown_name(&taken.sequence))));
        }
    }
    listed.extend(types.iter().rev().map(|ty| (shown(ty), within.clone())));
    listed
}

pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[String], cascade: bool) -> Result<String> {
    let mut writer = context.writer();
    let mut gone = Vec::new();
    let mut dropped: Vec<String> = Vec::new();
    let (mut held, mut kept) = (Vec::new(), Vec::new());
    for name in names {
        let Some(schema) = context.catalog.schema(name) else {
            if if_exists {
                context.notice(state::SUCCESSFUL_COMPLETION, format!("schema \"{name}\" does not exist, skipping"));
                continue;
            }
            return Err(catalog::no_schema(name));
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
        let dependents = dependents::of(context, &[Object::Schema(schema.oid)], true)?;
        let types = if cascade {
            enumeration::within(context, schema.oid)?
        } else {
            context.catalog.enums().filter(|ty| ty.schema_oid == schema.oid).collect()
        };
        let referring = referenced::to_tables(context, |table| table.schema_oid == schema.oid);
        let mut inside: Vec<_> =
            context.catalog.user_relations().filter(|table| table.schema_oid == schema.oid).cloned().collect();
        inside.sort_by_key(|table| table.oid);
        let sequences: Vec<_> = inside.iter().filter(|table| table.sequence.is_some()).cloned().collect();
        let taken = sequence_defaults::of(context, &sequences, |table, _| table.schema_oid != schema.oid);
        let listed = listed(context, &schema, &dependents, &types, &referring, &taken);
        if !cascade && !listed.is_empty() {
            let lines: Vec<String> = listed.iter().map(|(what, on)| format!("{what} depends on {on}")).collect();
            held.extend(lines);
            kept.push(name);
            continue;
        }
        dropped.extend(listed.into_iter().map(|(what, _)| what));
        for ty in types {
            writer.remove_enum(ty);
        }
        let outside = dependents.iter().map(|dependent| &dependent.relation);
        for view in outside.filter(|relation| relation.schema_oid != schema.oid) {
            context.take_alone(view).await?;
            writer.remove_table(view).await?;
        }
        referenced::remove(context, &mut writer, &referring).await?;
        sequence_defaults::remove(context, &mut writer, &taken).await?;
        for table in inside {
            // The schema's owner need not own the objects in it.
            context.take_alone(&table).await?;
            writer.remove_table(&table).await?;
        }
        writer.remove_schema(&schema);
        gone.push(schema.oid);
    }
    if let Some(name) = kept.first() {
        let lines = held.join("\n");
        return Err(match names.len() {
            1 => drop::dependent(format!("schema {name}"), &lines),
            _ => drop::dependent_of_several(&lines),
        });
    }
    // Default privileges in the schemas are dropped too.
    let database = context.database_named(&context.catalog.database().name)?;
    if database.default_acls.iter().any(|entry| gone.contains(&entry.schema)) {
        let mut changed = catalog::DatabaseDescriptor::clone(&database);
        changed.default_acls.retain(|entry| !gone.contains(&entry.schema));
        writer.put_database(Some(&database), &changed)?;
    }
    writer.flush().await?;
    drop::report_cascade(context, &dropped);
    Ok("DROP SCHEMA".into())
}
