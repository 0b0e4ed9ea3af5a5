//! OWNER TO of relations: the required rights, and the objects that change owner together.

use super::DdlContext;
use super::create_table::Making;
use catalog::acl::{CREATE, Kind};
use catalog::{CatalogWriter, TableDescriptor};
use sql_error::{Result, SqlError, state};
use syntax::ast::{RoleKind, RoleSpec};
use types::Oid;

/// The role in an OWNER TO. Errors: 42704.
pub(super) fn role_of(context: &DdlContext, owner: &RoleSpec) -> Result<Oid> {
    match &owner.kind {
        RoleKind::Named(name) => Ok(context.role(name)?.oid),
        RoleKind::CurrentRole | RoleKind::CurrentUser => Ok(context.user),
        RoleKind::SessionUser => Ok(context.role(&context.settings.session_user())?.oid),
        // No role has this name.
        RoleKind::Public => Ok(context.role("public")?.oid),
    }
}

/// A role by name or by a word such as CURRENT_USER. Errors: 42704.
pub(super) fn role_called(context: &DdlContext, name: &str) -> Result<Oid> {
    match name {
        "current_user" | "current_role" => Ok(context.user),
        "session_user" => Ok(context.role(&context.settings.session_user())?.oid),
        name => Ok(context.role(name)?.oid),
    }
}

/// Errors: 42501 if the user is not a member of the new owner.
pub(super) fn must_be_member(context: &DdlContext, role: Oid) -> Result<()> {
    if context.catalog.is_superuser(context.user) || context.catalog.is_member(context.user, role) {
        return Ok(());
    }
    let name = context.catalog.role_by_oid(role).map(|role| role.name.clone()).unwrap_or_default();
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be member of role \"{name}\"")))
}

/// Errors: 42501 unless the user may give objects of a schema to a role. The user must be a member of the role, and the
/// role needs CREATE on the schema.
pub(super) fn may_give(context: &DdlContext, schema: &str, new: Oid) -> Result<()> {
    if context.catalog.is_superuser(context.user) {
        return Ok(());
    }
    must_be_member(context, new)?;
    let schema = context.schema(schema)?;
    let own = catalog::acl::schema_acl(&schema);
    if context.catalog.rights(new, Kind::Schema, schema.owner, own.as_ref(), CREATE) == CREATE {
        return Ok(());
    }
    let message = format!("permission denied for schema {}", schema.name);
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
}

/// Changes the owner of a relation. Errors: 42501 as in [`may_give`].
pub(super) fn change(context: &DdlContext, relation: &mut TableDescriptor, new: Oid) -> Result<()> {
    if relation.owner != new {
        may_give(context, &relation.schema, new)?;
        give(relation, new);
    }
    Ok(())
}

/// Changes the owner of a relation and of the grants that the old owner made.
pub(super) fn give(relation: &mut TableDescriptor, new: Oid) {
    let old = std::mem::replace(&mut relation.owner, new);
    super::grant::change_owner(&mut relation.acl, old, new);
    for column in relation.columns.iter_mut().filter(|column| !column.acl.is_empty()) {
        let mut held = Some(std::mem::take(&mut column.acl));
        super::grant::change_owner(&mut held, old, new);
        column.acl = held.unwrap_or_default();
    }
}

impl Making<'_> {
    /// OWNER TO of a table, with the sequences that its columns own.
    pub(super) async fn change_owner(&mut self, owner: &RoleSpec) -> Result<()> {
        let new = role_of(self.context, owner)?;
        change(self.context, &mut self.table, new)?;
        give_sequences(self.context, &mut self.writer, &self.table, new).await
    }
}

async fn give_sequences(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    table: &TableDescriptor,
    new: Oid,
) -> Result<()> {
    let of_table = |other: &&std::sync::Arc<TableDescriptor>| {
        let owned = other.sequence.as_ref().and_then(|sequence| sequence.owned_by);
        owned.is_some_and(|(owner, _)| owner == table.oid) && other.owner != new
    };
    for sequence in context.catalog.user_relations().filter(of_table) {
        context.take_alone(sequence).await?;
        let mut changed = TableDescriptor::clone(sequence);
        changed.version += 1;
        give(&mut changed, new);
        writer.put_table(&changed).await?;
    }
    Ok(())
}
