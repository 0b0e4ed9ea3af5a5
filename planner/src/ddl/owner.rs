//! OWNER TO of relations: who may give them to whom, and what goes along.

use super::DdlContext;
use super::create_table::Making;
use crate::catalog::acl::{CREATE, Kind};
use crate::catalog::{CatalogWriter, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::fold;
use crate::types::Oid;
use sqlparser::ast::Owner;

/// The role that OWNER TO names. Errors: 42704.
pub(super) fn role_of(context: &DdlContext, owner: &Owner) -> Result<Oid> {
    match owner {
        Owner::Ident(name) => Ok(context.role(&fold(name))?.oid),
        Owner::CurrentRole | Owner::CurrentUser => Ok(context.user),
        Owner::SessionUser => role_called(context, "session_user"),
    }
}

/// A role by its name, or by a word that stands for one. Errors: 42704.
pub(super) fn role_called(context: &DdlContext, name: &str) -> Result<Oid> {
    match name {
        "current_user" | "current_role" => Ok(context.user),
        "session_user" => Ok(context.role(&context.settings.session_user())?.oid),
        name => Ok(context.role(name)?.oid),
    }
}

/// Makes a relation another role's. Errors: 42501 for who is not a member of that role, or when it may make nothing in the schema.
pub(super) fn change(context: &DdlContext, relation: &mut TableDescriptor, new: Oid) -> Result<()> {
    if relation.owner == new {
        return Ok(());
    }
    if !context.catalog.is_superuser(context.user) {
        if !context.catalog.is_member(context.user, new) {
            let name = context.catalog.role_by_oid(new).map(|role| role.name.clone()).unwrap_or_default();
            let message = format!("must be member of role \"{name}\"");
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        let schema = context.schema(&relation.schema)?;
        let own = super::schema_acl(&schema);
        if context.catalog.rights(new, Kind::Schema, schema.owner, own.as_ref(), CREATE) != CREATE {
            let message = format!("permission denied for schema {}", schema.name);
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
    }
    give(relation, new);
    Ok(())
}

/// Makes a relation another role's, with what was granted by the one before.
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
    /// OWNER TO of a table: with the sequences that its columns own.
    pub(super) async fn change_owner(&mut self, owner: &Owner) -> Result<()> {
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
