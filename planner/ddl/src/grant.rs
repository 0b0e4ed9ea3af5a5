//! GRANT and REVOKE of privileges and roles, REASSIGN OWNED and DROP OWNED.

use super::requested_privileges::wanted;
use super::{DdlContext, drop};
use catalog::acl::{self, Acl, Kind, PUBLIC, Rights};
use catalog::{
    CatalogWriter, DatabaseDescriptor, RelationKind, RoleDescriptor, SchemaDescriptor, TableDescriptor, predefined,
};
use context::notice::Notice;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{Ident, Name, NamedKind};
use syntax::{Grant, GrantObjects, Span};
use types::Oid;
use types::enumeration::EnumDescriptor;

/// 0LP01: the privilege does not apply to the object.
pub(super) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new("0LP01", message)
}

impl DdlContext {
    /// The role that receives a grant, by name or by a word such as PUBLIC. Errors: 42704.
    pub(super) fn grantee(&self, name: &str) -> Result<Oid> {
        if name == "public" { Ok(PUBLIC) } else { super::owner::role_called(self, name) }
    }
    pub(super) fn warning(&self, code: sql_error::SqlState, message: String) {
        self.session.notify(Notice::warning(code, message));
    }
}

/// Runs GRANT or REVOKE.
pub async fn grant(context: &DdlContext, grant: &Grant) -> Result<String> {
    let verb = if grant.grants { "GRANT" } else { "REVOKE" };
    if grant.of_group {
        for (group, _) in &grant.privileges {
            super::membership::alter_group(context, group, grant.grants, &grant.roles).await?;
        }
        return Ok("ALTER ROLE".into());
    }
    let Some(objects) = &grant.objects else {
        super::membership::grant(context, grant).await?;
        return Ok(format!("{verb} ROLE"));
    };
    if let Some(by) = &grant.by
        && context.grantee(by)? != context.user
    {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "grantor must be current user"));
    }
    let grantees = grant.roles.iter().map(|name| context.grantee(name)).collect::<Result<Vec<_>>>()?;
    if grant.option && grantees.contains(&PUBLIC) {
        return Err(invalid("grant options can only be granted to roles"));
    }
    let mut writer = context.writer();
    match objects {
        GrantObjects::Tables(names) | GrantObjects::Sequences(names) => {
            let sequences = matches!(objects, GrantObjects::Sequences(_));
            for name in names {
                let Some(found) = context.find(name)? else { return Err(context.no_relation(name)) };
                if found.kind == RelationKind::SystemView {
                    super::names::expect_kind(&found, RelationKind::Table)?;
                }
                if sequences && found.kind != RelationKind::Sequence {
                    let message = format!("\"{}\" is not a sequence", found.name);
                    return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
                }
                relation(context, &mut writer, grant, &grantees, &found).await?;
            }
        }
        GrantObjects::AllIn { sequences, schemas } => {
            for name in schemas {
                let schema = context.schema(name)?;
                let inside: Vec<Arc<TableDescriptor>> = context
                    .catalog
                    .user_relations()
                    .filter(|table| {
                        table.schema_oid == schema.oid && (table.kind == RelationKind::Sequence) == *sequences
                    })
                    .cloned()
                    .collect();
                for table in inside {
                    relation(context, &mut writer, grant, &grantees, &table).await?;
                }
            }
        }
        GrantObjects::FunctionsIn(schemas) => {
            wanted(grant, Kind::Function)?;
            for name in schemas {
                let schema = context.schema(name)?;
                // Only system schemas contain functions, because users cannot create any.
                if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == schema.oid) {
                    return Err(SqlError::unsupported("GRANT on the functions of the system"));
                }
            }
        }
        GrantObjects::Schemas(names) => {
            let wanted = wanted(grant, Kind::Schema)?;
            for name in names {
                let old = context.schema(name)?;
                let mut new = SchemaDescriptor::clone(&old);
                let held = acl::schema_acl(&old);
                if let Some(acl) =
                    changed(context, grant, &grantees, Kind::Schema, name, old.owner, held, wanted.rights)?
                {
                    new.acl = Some(acl);
                    writer.put_schema(Some(&old), &new)?;
                }
            }
        }
        GrantObjects::Types { domains, names } => {
            let wanted = wanted(grant, Kind::Type)?;
            for name in names {
                let old = granted_type(context, name, *domains)?;
                let held = old.acl.clone();
                if let Some(acl) =
                    changed(context, grant, &grantees, Kind::Type, &old.name, old.owner, held, wanted.rights)?
                {
                    writer.put_enum(Some(old), &EnumDescriptor { acl: Some(acl), ..old.clone() }).await?;
                }
            }
        }
        GrantObjects::LargeObjects(oids) => super::large_object::grant(context, grant, &grantees, oids).await?,
        GrantObjects::Databases(names) => {
            let wanted = wanted(grant, Kind::Database)?;
            for name in names {
                let Some(old) = context.catalog.databases().into_iter().find(|other| other.name == *name) else {
                    let message = format!("database \"{name}\" does not exist");
                    return Err(SqlError::new(state::INVALID_CATALOG_NAME, message));
                };
                let mut new = DatabaseDescriptor::clone(&old);
                if let Some(acl) =
                    changed(context, grant, &grantees, Kind::Database, name, old.owner, old.acl.clone(), wanted.rights)?
                {
                    new.acl = Some(acl);
                    writer.put_database(Some(&old), &new)?;
                }
            }
        }
    }
    writer.flush().await?;
    Ok(verb.to_string())
}

/// The type in a GRANT. Errors: 42704, 42809, and 0A000 for a system type.
fn granted_type(context: &DdlContext, name: &Name, domain: bool) -> Result<&'static EnumDescriptor> {
    let found = super::enumeration::find(context, name)?;
    let plain = syntax::fold_name(name)?.1;
    if found.is_none() {
        let ty = super::enumeration::type_named(name);
        let missing = |_| SqlError::new(state::UNDEFINED_OBJECT, super::enumeration::missing(name));
        binder::catalog_type(&ty, &context.catalog, context.settings.search_path(), false).map_err(missing)?;
    }
    if domain {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{plain}\" is not a domain")));
    }
    match found {
        Some(found) => Ok(found.descriptor()),
        None => Err(SqlError::unsupported("GRANT on a type that is no enum")),
    }
}

async fn relation(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    grant: &Grant,
    grantees: &[Oid],
    table: &TableDescriptor,
) -> Result<()> {
    let is_sequence = table.kind == RelationKind::Sequence;
    let kind = if is_sequence { Kind::Sequence } else { Kind::Table };
    let written_as_sequences =
        matches!(grant.objects, Some(GrantObjects::Sequences(_) | GrantObjects::AllIn { sequences: true, .. }));
    // GRANT … ON TABLE accepts a sequence, for the privileges that both kinds have.
    let wanted = match (is_sequence, written_as_sequences) {
        (true, false) => {
            let mut wanted = wanted(grant, Kind::Table).or_else(|_| wanted(grant, Kind::Sequence))?;
            if wanted.rights & !Kind::Sequence.all() != 0 && grant.all.is_none() {
                let message = format!("sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges", table.name);
                context.warning("0LP01", message);
            }
            wanted.rights &= Kind::Sequence.all();
            wanted
        }
        _ => wanted(grant, kind)?,
    };
    context.take_alone(table).await?;
    let mut new = writer.stored(table.oid).await?.unwrap_or_else(|| table.clone());
    new.version = table.version + 1;
    let mut any = false;
    if wanted.rights != 0 || wanted.columns.is_empty() {
        let held = new.acl.clone();
        if let Some(acl) = changed(context, grant, grantees, kind, &table.name, table.owner, held, wanted.rights)? {
            new.acl = Some(acl);
            any = true;
        }
        if !grant.grants && !grant.option_only {
            // REVOKE on the whole also revokes from every column. The owner revokes all grants, another role its own.
            let owns = context.is_owner(table.owner);
            let own = context.catalog.grantor(context.user, table.owner, table.acl.as_ref(), wanted.rights);
            for column in &mut new.columns {
                for grantee in grantees {
                    let grantors = column.acl.iter().map(|grant| grant.grantor).filter(|by| owns || *by == own);
                    for by in grantors.collect::<Vec<_>>() {
                        acl::revoke(&mut column.acl, *grantee, by, wanted.rights, false, true, table.owner);
                        any = true;
                    }
                }
            }
        }
    }
    for (rights, columns) in &wanted.columns {
        for name in columns {
            let Some(position) = new.columns.iter().position(|column| !column.dropped && column.name == *name) else {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
                return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
            };
            let Some(column) = new.columns.get_mut(position) else { continue };
            let of_table = context.catalog.grantable(context.user, kind, table.owner, table.acl.as_ref(), *rights);
            let mut held = column.acl.clone();
            if of_table == 0
                && context.catalog.grantable(context.user, Kind::Column, table.owner, Some(&held), *rights) == 0
            {
                let message = format!("permission denied for table {}", table.name);
                return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
            }
            let grantor = context.catalog.grantor(context.user, table.owner, Some(&held), *rights);
            for grantee in grantees {
                apply(&mut held, grant, *grantee, grantor, *rights, table.owner)?;
            }
            column.acl = held;
            any = true;
        }
    }
    if any {
        writer.put_table(&new).await?;
    }
    Ok(())
}

/// Applies one GRANT or REVOKE to a list of grants. Errors: 2BP01.
pub(super) fn apply(
    acl: &mut Acl,
    grant: &Grant,
    grantee: Oid,
    grantor: Oid,
    rights: Rights,
    owner: Oid,
) -> Result<()> {
    if grant.grants {
        acl::grant(acl, grantee, grantor, rights, grant.option);
        return Ok(());
    }
    if acl::revoke(acl, grantee, grantor, rights, grant.option_only, grant.cascade, owner) {
        return Ok(());
    }
    Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, "dependent privileges exist")
        .hint("Use CASCADE to revoke them too."))
}

/// The grants on an object after GRANT or REVOKE. `None`, with a warning, if the user may not grant any of it. Errors:
/// 42501 for a user without a privilege on it, 2BP01.
#[allow(clippy::too_many_arguments)]
pub(super) fn changed(
    context: &DdlContext,
    grant: &Grant,
    grantees: &[Oid],
    kind: Kind,
    name: &str,
    owner: Oid,
    held: Option<Acl>,
    wanted: Rights,
) -> Result<Option<Acl>> {
    let catalog = &context.catalog;
    let may = catalog.grantable(context.user, kind, owner, held.as_ref(), wanted);
    if may == 0 && wanted != 0 {
        if catalog.rights(context.user, kind, owner, held.as_ref(), kind.all()) == 0 {
            let message = format!("permission denied for {} {name}", kind.word());
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        let (code, what) = if grant.grants { ("01007", "granted") } else { ("01006", "could be revoked") };
        context.warning(
            code,
            match grant.grants {
                true => format!("no privileges were {what} for \"{name}\""),
                false => format!("no privileges {what} for \"{name}\""),
            },
        );
        return Ok(None);
    }
    if may != wanted && grant.all.is_none() {
        match grant.grants {
            true => context.warning("01007", format!("not all privileges were granted for \"{name}\"")),
            false => context.warning("01006", format!("not all privileges could be revoked for \"{name}\"")),
        }
    }
    let grantor = catalog.grantor(context.user, owner, held.as_ref(), may);
    let mut acl = held.unwrap_or_else(|| acl::default_acl(kind, owner));
    for grantee in grantees {
        apply(&mut acl, grant, *grantee, grantor, may, owner)?;
    }
    Ok(Some(acl))
}

fn may_act_for(context: &DdlContext, role: &RoleDescriptor, what: &str) -> Result<()> {
    if context.catalog.owns(context.user, role.oid) {
        return Ok(());
    }
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied to {what} objects")))
}

/// A role whose objects are to be dropped or reassigned. Messages use `verb` for the permission and
/// `done` for the objects.
fn named_owner(context: &DdlContext, name: &str, verb: &str, done: &str) -> Result<Arc<RoleDescriptor>> {
    let role = super::owner::role_called(context, name)?;
    let role = context.catalog.role_by_oid(role).ok_or_else(|| SqlError::internal("a named role is missing"))?;
    may_act_for(context, &role, verb)?;
    if role.oid == catalog::builder::SUPERUSER_OID || predefined::is_predefined(role.oid) {
        let message = format!(
            "cannot {done} objects owned by role {} because they are required by the database system",
            role.name
        );
        return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
    }
    Ok(role)
}

/// REASSIGN OWNED: changes the owner of the roles' objects in this database, and of their databases.
pub async fn reassign_owned(context: &DdlContext, from: &[String], to: &str) -> Result<String> {
    let mut old = Vec::new();
    for name in from {
        let role = named_owner(context, name, "reassign", "reassign ownership of")?;
        old.push(role.oid);
    }
    let new = super::owner::role_called(context, to)?;
    if let Some(role) = context.catalog.role_by_oid(new) {
        may_act_for(context, &role, "reassign")?;
    }
    let mut writer = context.writer();
    for table in context.catalog.user_relations().filter(|table| old.contains(&table.owner)) {
        context.take_alone(table).await?;
        let mut changed = TableDescriptor::clone(table);
        changed.version += 1;
        super::owner::give(&mut changed, new);
        writer.put_table(&changed).await?;
    }
    for schema in context.catalog.schemas().iter().filter(|schema| old.contains(&schema.owner)) {
        let mut changed = SchemaDescriptor::clone(schema);
        change_owner(&mut changed.acl, schema.owner, new);
        changed.owner = new;
        writer.put_schema(Some(schema), &changed)?;
    }
    for ty in context.catalog.enums().filter(|ty| old.contains(&ty.owner)) {
        let mut changed = ty.clone();
        change_owner(&mut changed.acl, ty.owner, new);
        changed.owner = new;
        writer.put_enum(Some(ty), &changed).await?;
    }
    super::large_object::reassign(context, &old, new).await?;
    for database in context.catalog.databases().iter().filter(|database| old.contains(&database.owner)) {
        let mut changed = DatabaseDescriptor::clone(database);
        change_owner(&mut changed.acl, database.owner, new);
        changed.owner = new;
        writer.put_database(Some(database), &changed)?;
    }
    writer.flush().await?;
    Ok("REASSIGN OWNED".into())
}

/// Replaces the old owner by the new one in grants.
pub(super) fn change_owner(acl: &mut Option<Acl>, old: Oid, new: Oid) {
    let Some(held) = acl else { return };
    let mut merged: Acl = Vec::new();
    for grant in held.iter() {
        let of = |oid: Oid| if oid == old { new } else { oid };
        let (grantee, grantor) = (of(grant.grantee), of(grant.grantor));
        match merged.iter_mut().find(|other| other.grantee == grantee && other.grantor == grantor) {
            Some(found) => {
                found.rights |= grant.rights;
                found.grantable |= grant.grantable;
            }
            None => merged.push(acl::Grant { grantee, grantor, ..*grant }),
        }
    }
    *held = merged;
}

/// DROP OWNED: drops the roles' objects in this database, and revokes grants to them.
pub async fn drop_owned(context: &DdlContext, of: &[String], cascade: bool) -> Result<String> {
    let mut roles = Vec::new();
    for name in of {
        let role = named_owner(context, name, "drop", "drop")?;
        roles.push(role.oid);
    }
    let name = |schema: &str, name: &str| Name { parts: vec![Ident::new(schema), Ident::new(name)], span: Span::NONE };
    let owned = |kind: RelationKind| -> Vec<Name> {
        let by_column =
            |table: &TableDescriptor| table.sequence.as_ref().is_some_and(|sequence| sequence.owned_by.is_some());
        let found = context.catalog.user_relations();
        let found = found.filter(|table| table.kind == kind && roles.contains(&table.owner) && !by_column(table));
        found.map(|table| name(&table.schema, &table.name)).collect()
    };
    let (views, tables, sequences) =
        (owned(RelationKind::View), owned(RelationKind::Table), owned(RelationKind::Sequence));
    let schemas = context.catalog.schemas();
    let schemas = schemas.iter().filter(|schema| roles.contains(&schema.owner));
    let schemas: Vec<String> = schemas.map(|schema| schema.name.clone()).collect();
    let kinds = [&views, &tables, &sequences].iter().filter(|names| !names.is_empty()).count();
    let kinds = kinds + usize::from(!schemas.is_empty());
    // Grants are revoked first, because later their objects may be dropped.
    let mut writer = context.writer();
    for table in context.catalog.user_relations() {
        let mut changed = TableDescriptor::clone(table);
        let strip = |acl: &mut Acl| acl.retain(|grant| !roles.contains(&grant.grantee));
        changed.acl.iter_mut().for_each(strip);
        changed.columns.iter_mut().for_each(|column| strip(&mut column.acl));
        if changed != **table && !roles.contains(&table.owner) {
            context.take_alone(table).await?;
            changed.version += 1;
            writer.put_table(&changed).await?;
        }
    }
    for ty in context.catalog.enums().filter(|ty| !roles.contains(&ty.owner)) {
        let mut changed = ty.clone();
        changed.acl.iter_mut().for_each(|acl| acl.retain(|grant| !roles.contains(&grant.grantee)));
        if changed != *ty {
            writer.put_enum(Some(ty), &changed).await?;
        }
    }
    for schema in context.catalog.schemas().iter().filter(|schema| !roles.contains(&schema.owner)) {
        let mut changed = SchemaDescriptor::clone(schema);
        changed.acl.iter_mut().for_each(|acl| acl.retain(|grant| !roles.contains(&grant.grantee)));
        if changed != **schema {
            writer.put_schema(Some(schema), &changed)?;
        }
    }
    for database in context.catalog.databases().iter() {
        let mut changed = DatabaseDescriptor::clone(database);
        if database.oid == context.catalog.database().oid {
            changed.default_acls.retain(|entry| !roles.contains(&entry.role));
            changed.default_acls.iter_mut().for_each(|entry| entry.acl.retain(|grant| !roles.contains(&grant.grantee)));
        }
        if roles.contains(&database.owner) {
            if changed != **database {
                writer.put_database(Some(database), &changed)?;
            }
            continue;
        }
        changed.acl.iter_mut().for_each(|acl| acl.retain(|grant| !roles.contains(&grant.grantee)));
        if changed != **database {
            writer.put_database(Some(database), &changed)?;
        }
    }
    writer.flush().await?;
    super::large_object::drop_owned(context, &roles).await?;
    if kinds > 1 && !cascade {
        return Err(SqlError::unsupported("DROP OWNED of several kinds of objects without CASCADE"));
    }
    for (kind, names) in [(NamedKind::View, views), (NamedKind::Table, tables), (NamedKind::Sequence, sequences)] {
        if !names.is_empty() {
            drop::relations(context, kind, true, &names, cascade).await?;
        }
    }
    if !schemas.is_empty() {
        super::schema::drop(context, true, &schemas, cascade).await?;
    }
    Ok("DROP OWNED".into())
}
