//! ALTER DEFAULT PRIVILEGES: the privileges on objects that a role will create.

use super::grant::apply;
use super::requested_privileges::wanted;
use super::{DdlContext, owner};
use catalog::acl::{self, Acl, DefaultAcl, Kind, PUBLIC};
use catalog::{DatabaseDescriptor, SchemaDescriptor};
use sql_error::{Result, SqlError};
use syntax::{DefaultKind, DefaultPrivileges};
use types::Oid;

impl DdlContext {
    /// The privileges on a new object of the user. `None` if they are PostgreSQL's defaults. `schema` is the object's
    /// schema, or 0 if the object is a schema.
    pub(super) fn first_acl(&self, kind: Kind, schema: Oid) -> Option<Acl> {
        self.first_acl_of(self.user, kind, schema)
    }
    /// The same for an object that another role will own.
    pub(super) fn first_acl_of(&self, owner: Oid, kind: Kind, schema: Oid) -> Option<Acl> {
        let entries = &self.catalog.database().default_acls;
        let of = |schema: Oid| {
            entries.iter().find(|entry| entry.role == owner && entry.kind() == kind && entry.schema == schema)
        };
        let (anywhere, there) = (of(0), of(schema).filter(|_| schema != 0));
        if anywhere.is_none() && there.is_none() {
            return None;
        }
        let own = acl::default_acl(kind, owner);
        let mut merged = anywhere.map_or_else(|| own.clone(), |entry| entry.acl.clone());
        for grant in there.iter().flat_map(|entry| &entry.acl) {
            acl::grant(&mut merged, grant.grantee, grant.grantor, grant.rights, false);
            acl::grant(&mut merged, grant.grantee, grant.grantor, grant.grantable, true);
        }
        (!acl::same(&merged, &own)).then_some(merged)
    }
    /// The same for an object in a schema.
    pub(super) fn first_acl_in(&self, kind: Kind, schema: &SchemaDescriptor) -> Option<Acl> {
        self.first_acl(kind, schema.oid)
    }
}

/// ALTER DEFAULT PRIVILEGES. Errors: 42704, 3F000, 42501, 0LP01.
pub async fn alter(context: &DdlContext, alter: &DefaultPrivileges) -> Result<String> {
    let invalid = |message: &str| SqlError::new("0LP01", message);
    let (kind, letter) = match alter.kind {
        DefaultKind::Tables => (Kind::Table, 'r'),
        DefaultKind::Sequences => (Kind::Sequence, 'S'),
        DefaultKind::Schemas => (Kind::Schema, 'n'),
        DefaultKind::Types => (Kind::Type, 'T'),
        // Users cannot create functions.
        DefaultKind::Functions => (Kind::Function, 'f'),
    };
    let grant = &alter.grant;
    let rights = wanted(grant, kind).map_err(|error| match error.fields().message.strip_suffix(" for table") {
        Some(message) => invalid(&format!("{message} for relation")),
        None => error,
    })?;
    if !rights.columns.is_empty() {
        return Err(invalid("default privileges cannot be set for columns"));
    }
    let grantees = grant.roles.iter().map(|name| context.grantee(name)).collect::<Result<Vec<_>>>()?;
    if grant.option && grantees.contains(&PUBLIC) {
        return Err(invalid("grant options can only be granted to roles"));
    }
    let mut roles = Vec::new();
    for name in &alter.roles {
        let role = owner::role_called(context, name)?;
        owner::must_be_member(context, role)?;
        roles.push(role);
    }
    if alter.roles.is_empty() {
        roles.push(context.user);
    }
    let mut schemas = Vec::new();
    for name in &alter.schemas {
        schemas.push(context.schema(name)?.oid);
    }
    if kind == Kind::Schema && !schemas.is_empty() {
        return Err(invalid("cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS"));
    }
    if schemas.is_empty() {
        schemas.push(0);
    }
    let old = context.database_named(&context.catalog.database().name)?;
    let mut new = DatabaseDescriptor::clone(&old);
    for role in &roles {
        for schema in &schemas {
            let at = new
                .default_acls
                .iter()
                .position(|entry| entry.role == *role && entry.schema == *schema && entry.kind == letter);
            let first = if *schema == 0 { acl::default_acl(kind, *role) } else { Vec::new() };
            let (oid, mut acl) = match at {
                Some(at) => {
                    let known = new.default_acls.remove(at);
                    (known.oid, known.acl)
                }
                None => (context.store.numbers().oid().await?, first.clone()),
            };
            for grantee in &grantees {
                apply(&mut acl, grant, *grantee, *role, rights.rights, *role)?;
            }
            if !acl::same(&acl, &first) {
                new.default_acls.push(DefaultAcl { oid, role: *role, schema: *schema, kind: letter, acl });
            }
        }
    }
    let mut writer = context.writer();
    writer.put_database(Some(&old), &new)?;
    writer.flush().await?;
    Ok("ALTER DEFAULT PRIVILEGES".into())
}
