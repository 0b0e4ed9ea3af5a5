//! COMMENT ON.

use super::{DdlContext, drop, names};
use catalog::{CommentOf, TableDescriptor};
use context::notice::Notice;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::Name;
use syntax::{Comment, CommentOn, fold_name};

/// Runs COMMENT ON. Errors: that of a missing object, in PostgreSQL's words, and 42501.
pub async fn execute(context: &DdlContext, comment: &Comment) -> Result<String> {
    // The error of a missing object has no position.
    comment_on(context, comment).await.map_err(SqlError::of_values)
}

async fn comment_on(context: &DdlContext, comment: &Comment) -> Result<String> {
    let text = comment.text.clone();
    match &comment.on {
        CommentOn::Relation("index", name) => {
            let (schema, index) = fold_name(name)?;
            let path = context.settings.search_path();
            let Some((table, position)) = context.catalog.index_named(schema.as_deref(), &index, path) else {
                return Err(match context.find(name)? {
                    Some(table) => {
                        SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", table.name))
                    }
                    None => context.no_relation(name),
                });
            };
            let Some(oid) = table.indexes.get(position).map(|index| index.oid) else { return Ok("COMMENT".into()) };
            store(context, &table, CommentOf::Index(oid), text).await?;
        }
        CommentOn::Relation(kind, name) => {
            if context.names_index(name) {
                return Err(context.no_relation_of(name, kind));
            }
            let table = relation(context, name)?;
            if drop::kind_word(&table) != *kind {
                let article = if *kind == "index" { "an" } else { "a" };
                let message = format!("\"{}\" is not {article} {kind}", table.name);
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
            }
            store(context, &table, CommentOf::Relation, text).await?;
        }
        CommentOn::Column(name, column) => {
            let table = relation(context, name)?;
            if table.sequence.is_some() {
                let message = format!("cannot set comment on relation \"{}\"", table.name);
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for sequences."));
            }
            let Some(id) = table.column_named(column).map(|column| column.id) else {
                let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
                return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
            };
            store(context, &table, CommentOf::Column(id), text).await?;
        }
        CommentOn::Constraint(name, constraint) => {
            let table = relation(context, name)?;
            let check = table.checks.iter().find(|check| check.name == *constraint).map(|check| check.oid);
            let index = table.indexes.iter().find(|index| index.name == *constraint).and_then(|index| index.constraint);
            let foreign = table.foreign_keys.iter().find(|key| key.name == *constraint).map(|key| key.oid);
            let Some(oid) = check.or(index).or(foreign) else {
                let message = format!("constraint \"{constraint}\" for table \"{}\" does not exist", table.name);
                return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
            };
            store(context, &table, CommentOf::Constraint(oid), text).await?;
        }
        CommentOn::Schema(name) => {
            let schema = context.schema(name)?;
            if !context.is_owner(schema.owner) {
                return Err(not_owner(&format!("schema {name}")));
            }
            let mut changed = catalog::SchemaDescriptor::clone(&schema);
            changed.comment = Some(text.unwrap_or_default());
            let mut writer = context.writer();
            writer.put_schema(Some(&schema), &changed)?;
            writer.flush().await?;
        }
        CommentOn::Database(name) => {
            let Some(database) = context.catalog.databases().into_iter().find(|database| database.name == *name) else {
                // A dump must load into a database with another name.
                let message = format!("database \"{name}\" does not exist");
                context.session.notify(Notice::warning(state::INVALID_CATALOG_NAME, message));
                return Ok("COMMENT".into());
            };
            if !context.is_owner(database.owner) {
                return Err(not_owner(&format!("database {name}")));
            }
            let mut changed = catalog::DatabaseDescriptor::clone(&database);
            changed.comment = Some(text.unwrap_or_default());
            let mut writer = context.writer_of(database.oid);
            writer.put_database(Some(&database), &changed)?;
            writer.flush().await?;
        }
        CommentOn::Type(name) => super::enumeration::comment(context, name, text).await?,
        CommentOn::Function(word, name, types) => {
            super::function::named(context, word, name, types)?;
            return Err(SqlError::unsupported(format!("COMMENT ON a {word} of the system")));
        }
        CommentOn::LargeObject(oid) => super::large_object::comment(context, *oid, text).await?,
        CommentOn::Role(name) => {
            let role = context.role(name)?;
            let user = context.catalog.role_by_oid(context.user);
            let (superuser, creates) = user.map_or((false, false), |user| (user.superuser, user.create_role));
            if !superuser && (role.superuser || !creates) {
                let message = if role.superuser { "must be superuser" } else { "must have CREATEROLE privilege" };
                return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
            }
            let mut changed = catalog::RoleDescriptor::clone(&role);
            changed.comment = Some(text.unwrap_or_default());
            let mut writer = context.writer();
            writer.put_role(Some(&role), &changed)?;
            writer.flush().await?;
        }
    }
    Ok("COMMENT".into())
}

fn not_owner(what: &str) -> SqlError {
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be owner of {what}"))
}

fn relation(context: &DdlContext, name: &Name) -> Result<Arc<TableDescriptor>> {
    let Some(table) = context.find(name)? else { return Err(context.no_relation(name)) };
    if table.kind == catalog::RelationKind::SystemView {
        names::expect_kind(&table, catalog::RelationKind::Table)?;
    }
    Ok(table)
}

async fn store(context: &DdlContext, table: &TableDescriptor, of: CommentOf, text: Option<String>) -> Result<()> {
    context.lock(table).await?;
    let mut changed = table.clone();
    changed.version += 1;
    changed.comments.retain(|(other, _)| *other != of);
    if let Some(text) = text {
        changed.comments.push((of, text));
    }
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    writer.flush().await
}
