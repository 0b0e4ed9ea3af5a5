//! Definitions for large objects: owners, grants and comments, and the effects of dropping roles and databases.

use super::grant::{change_owner, changed};
use super::requested_privileges::wanted;
use super::{DdlContext, owner};
use catalog::acl::Kind;
use catalog::keys;
use context::large_object::{LargeObject, LargeObjects, not_owner};
use sql_error::Result;
use syntax::Grant;
use types::Oid;

fn objects(context: &DdlContext) -> LargeObjects {
    LargeObjects::new(&context.transaction, context.catalog.database().oid)
}

/// The metadata of a large object that the user may change. Errors: 42704, 42501.
async fn owned(context: &DdlContext, oid: Oid) -> Result<LargeObject> {
    let object = objects(context).known(oid).await?;
    if !context.is_owner(object.owner) {
        return Err(not_owner(oid));
    }
    Ok(object)
}

/// GRANT and REVOKE ON LARGE OBJECT. Errors: 42704, 42501, 0LP01, 2BP01.
pub(super) async fn grant(context: &DdlContext, grant: &Grant, grantees: &[Oid], oids: &[Oid]) -> Result<()> {
    let wanted = wanted(grant, Kind::LargeObject)?;
    for oid in oids {
        let mut object = objects(context).known(*oid).await?;
        let (kind, name, held) = (Kind::LargeObject, format!("large object {oid}"), object.acl.clone());
        if let Some(acl) = changed(context, grant, grantees, kind, &name, object.owner, held, wanted.rights)? {
            object.acl = Some(acl);
            objects(context).put(*oid, &object).await?;
        }
    }
    Ok(())
}

/// ALTER LARGE OBJECT … OWNER TO. Errors: 42704, 42501.
pub async fn alter_large_object(context: &DdlContext, oid: Oid, new: &str) -> Result<String> {
    let new = owner::role_called(context, new)?;
    let object = owned(context, oid).await?;
    owner::must_be_member(context, new)?;
    give(context, oid, object, new).await?;
    Ok("ALTER LARGE OBJECT".into())
}

async fn give(context: &DdlContext, oid: Oid, mut object: LargeObject, new: Oid) -> Result<()> {
    if object.owner == new {
        return Ok(());
    }
    let old = std::mem::replace(&mut object.owner, new);
    change_owner(&mut object.acl, old, new);
    objects(context).put(oid, &object).await
}

/// COMMENT ON LARGE OBJECT. Errors: 42704, 42501.
pub(super) async fn comment(context: &DdlContext, oid: Oid, text: Option<String>) -> Result<()> {
    let mut object = owned(context, oid).await?;
    object.comment = text;
    objects(context).put(oid, &object).await
}

/// REASSIGN OWNED: changes the owner of large objects.
pub(super) async fn reassign(context: &DdlContext, old: &[Oid], new: Oid) -> Result<()> {
    for (oid, object) in objects(context).all().await? {
        if old.contains(&object.owner) {
            give(context, oid, object, new).await?;
        }
    }
    Ok(())
}

/// DROP OWNED: drops the roles' large objects, and revokes grants to them on others.
pub(super) async fn drop_owned(context: &DdlContext, roles: &[Oid]) -> Result<()> {
    for (oid, mut object) in objects(context).all().await? {
        if roles.contains(&object.owner) {
            objects(context).unlink(oid).await?;
            continue;
        }
        let Some(acl) = &mut object.acl else { continue };
        let before = acl.len();
        acl.retain(|grant| !roles.contains(&grant.grantee));
        if acl.len() != before {
            objects(context).put(oid, &object).await?;
        }
    }
    Ok(())
}

/// The large objects that a role owns or has privileges on, which prevent dropping the role.
pub(super) async fn dependents(context: &DdlContext, database: Oid, role: Oid) -> Result<Vec<(Oid, String)>> {
    let mut found = Vec::new();
    for (oid, object) in LargeObjects::new(&context.transaction, database).all().await? {
        if object.owner == role {
            found.push((oid, format!("owner of large object {oid}")));
        } else if object.acl.iter().flatten().any(|grant| grant.grantee == role) {
            found.push((oid, format!("privileges for large object {oid}")));
        }
    }
    Ok(found)
}

/// Whether a database has any large object.
pub(super) async fn any(context: &DdlContext, database: Oid) -> Result<bool> {
    Ok(!LargeObjects::new(&context.transaction, database).all().await?.is_empty())
}

/// DROP DATABASE: removes the keys once no reader needs them.
pub(super) fn drop_all(writer: &mut catalog::CatalogWriter<'_>, database: Oid) -> Result<()> {
    writer.drop_storage(keys::large_object_storage(database))
}
