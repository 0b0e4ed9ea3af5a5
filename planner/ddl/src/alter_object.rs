//! ALTER of an object that is no relation: RENAME TO, OWNER TO and SET SCHEMA. Dispatches each kind to its module.

use super::{DdlContext, enumeration, role, schema};
use sql_error::{Result, SqlError};
use syntax::ast::{AlterObject, ObjectChange, ObjectReference, PlainKind};

/// Runs such a statement. Returns its command tag. Errors: 0A000 for other objects.
pub(super) async fn execute(context: &DdlContext, alter: &AlterObject) -> Result<String> {
    match (&alter.object, &alter.change) {
        (ObjectReference::Type(ty), change) => enumeration::change(context, ty, change).await,
        (ObjectReference::Plain(PlainKind::Schema, name), change) => schema::alter(context, &name.value, change).await,
        (ObjectReference::Plain(PlainKind::Role, name), ObjectChange::Rename(new)) => {
            role::rename(context, &name.value, &new.value).await
        }
        (object, _) => Err(SqlError::unsupported(format!("ALTER {object}"))),
    }
}
