//! DROP of tables, indexes and sequences; the rest of DROP is handed on.

use super::dependents::{self, Object};
use super::referenced::{self, Referring};
use super::{DdlContext, drop_type, names, role, schema, view};
use crate::catalog::{CatalogWriter, RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::fold_name;
use crate::session::Notice;
use crate::types::Oid;
use sqlparser::ast::{ObjectName, ObjectType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// 2BP01.
pub(super) fn dependent(what: String, detail: &str) -> SqlError {
    SqlError::new(
        state::DEPENDENT_OBJECTS_STILL_EXIST,
        format!("cannot drop {what} because other objects depend on it"),
    )
    .detail(detail)
    .hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// Tells what CASCADE took along: `table s.t` and the like.
pub(super) fn report_cascade(context: &DdlContext, dropped: &[String]) {
    /// More are counted, not named.
    const MOST: usize = 100;
    let mut lines: Vec<String> = dropped.iter().take(MOST).map(|what| format!("drop cascades to {what}")).collect();
    if let Some(more) = dropped.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.push(format!("and {more} other object{} (see server log for list)", if more == 1 { "" } else { "s" }));
    }
    match lines.as_slice() {
        [] => {}
        [only] => context.notice(state::SUCCESSFUL_COMPLETION, only.clone()),
        _ => context.session.notify(
            Notice::notice(format!("drop cascades to {} other objects", dropped.len())).detail(lines.join("\n")),
        ),
    }
}

/// `table`, `sequence`.
pub(super) fn kind_word(table: &TableDescriptor) -> &'static str {
    match table.kind {
        RelationKind::Table => "table",
        RelationKind::Sequence => "sequence",
        RelationKind::SystemView | RelationKind::View => "view",
    }
}

/// DROP.
pub(super) async fn execute(
    context: &DdlContext,
    kind: &ObjectType,
    if_exists: bool,
    names: &[ObjectName],
    cascade: bool,
) -> Result<String> {
    match kind {
        ObjectType::Table => tables(context, if_exists, names, cascade).await,
        ObjectType::Index => indexes(context, if_exists, names, cascade).await,
        ObjectType::Sequence => sequences(context, if_exists, names, cascade).await,
        ObjectType::Schema => schema::drop(context, if_exists, names, cascade).await,
        ObjectType::Role | ObjectType::User => role::drop(context, if_exists, names).await,
        ObjectType::Type => drop_type::execute(context, if_exists, names, cascade).await,
        ObjectType::View => view::drop(context, if_exists, names, cascade).await,
        ObjectType::Collation if if_exists => {
            // None can exist.
            for name in names {
                let word = kind.to_string().to_lowercase();
                context.notice(state::SUCCESSFUL_COMPLETION, format!("{word} \"{name}\" does not exist, skipping"));
            }
            Ok(format!("DROP {kind}"))
        }
        other => Err(SqlError::unsupported(format!("DROP {other}"))),
    }
}

/// What IF EXISTS says, or the error. Schemas that are missing count as well, as in PostgreSQL.
pub(super) fn missing(context: &DdlContext, word: &str, name: &ObjectName, if_exists: bool) -> Result<()> {
    let (schema, relation) = fold_name(name)?;
    if let Some(schema) = schema.filter(|schema| context.catalog.schema(schema).is_none()) {
        if if_exists {
            context.notice(state::SUCCESSFUL_COMPLETION, format!("schema \"{schema}\" does not exist, skipping"));
            return Ok(());
        }
        return Err(SqlError::new(state::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")));
    }
    if if_exists {
        context.notice(state::SUCCESSFUL_COMPLETION, format!("{word} \"{relation}\" does not exist, skipping"));
        return Ok(());
    }
    let error = if word == "index" { state::UNDEFINED_OBJECT } else { state::UNDEFINED_TABLE };
    Err(SqlError::new(error, format!("{word} \"{relation}\" does not exist")))
}

pub(super) fn wrong_kind(table: &TableDescriptor, wanted: &str) -> SqlError {
    let word = kind_word(table);
    SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not {wanted}", table.name))
        .hint(format!("Use DROP {} to remove a {word}.", word.to_uppercase()))
}

async fn tables(context: &DdlContext, if_exists: bool, names: &[ObjectName], cascade: bool) -> Result<String> {
    let mut found: BTreeMap<Oid, Arc<TableDescriptor>> = BTreeMap::new();
    for name in names {
        let Some(table) = context.find(name)? else {
            missing(context, "table", name, if_exists)?;
            continue;
        };
        if matches!(table.kind, RelationKind::Sequence | RelationKind::View) {
            return Err(wrong_kind(&table, "a table"));
        }
        names::expect_kind(&table, RelationKind::Table)?;
        context.must_own(&table)?;
        found.insert(table.oid, table);
    }
    if found.is_empty() {
        return Ok("DROP TABLE".into());
    }
    let objects: Vec<Object> = found.keys().map(|oid| Object::Relation(*oid)).collect();
    let referring = referenced::to_tables(context, |table| found.contains_key(&table.oid));
    if !cascade && !referring.is_empty() {
        let mut lines = referenced::lines(context, &referring, |(_, key)| {
            let parent = found.get(&key.parent).map(|parent| context.shown_name(parent));
            format!("table {}", parent.unwrap_or_default())
        });
        lines.extend(dependents::lines(context, &dependents::of(context, &objects, true)?));
        return Err(held(context, &found, &lines));
    }
    let dependents = dependents::of(context, &objects, cascade)?;
    let mut writer = context.writer();
    let mut also = defaults_of_owned(context, &mut writer, &found, cascade).await?;
    for table in found.values() {
        context.lock(table).await?;
        context.must_be_idle(table, "DROP TABLE")?;
        writer.remove_table(table).await?;
        for column in table.live_columns() {
            if let Some(sequence) = context.catalog.owned_sequence(table.oid, column.id) {
                writer.remove_table(&sequence).await?;
            }
        }
    }
    also.extend(referenced::remove(context, &mut writer, &referring).await?);
    also.extend(dependents::remove_silently(context, &mut writer, &dependents).await?);
    report_cascade(context, &also);
    writer.flush().await?;
    Ok("DROP TABLE".into())
}

/// 2BP01 for tables that something holds.
fn held(context: &DdlContext, tables: &BTreeMap<Oid, Arc<TableDescriptor>>, lines: &[String]) -> SqlError {
    match tables.values().next() {
        Some(table) if tables.len() == 1 => {
            dependent(format!("table {}", context.shown_name(table)), &lines.join("\n"))
        }
        _ => SqlError::new(
            state::DEPENDENT_OBJECTS_STILL_EXIST,
            "cannot drop desired object(s) because other objects depend on them",
        )
        .detail(lines.join("\n"))
        .hint("Use DROP ... CASCADE to drop the dependent objects too."),
    }
}

/// The defaults of other tables that take values from sequences which the tables' columns own: they go with CASCADE, and
/// else hold the tables. Answers what went.
async fn defaults_of_owned(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    tables: &BTreeMap<Oid, Arc<TableDescriptor>>,
    cascade: bool,
) -> Result<Vec<String>> {
    let owned = tables.values().flat_map(|table| {
        table.live_columns().filter_map(|column| context.catalog.owned_sequence(table.oid, column.id))
    });
    let texts: Vec<(String, Arc<TableDescriptor>)> =
        owned.map(|sequence| (super::sequence::next_value_text(&sequence.schema, &sequence.name), sequence)).collect();
    let mut gone = Vec::new();
    let mut lines = Vec::new();
    for table in context.catalog.user_relations().filter(|table| !tables.contains_key(&table.oid)) {
        let mut changed = TableDescriptor::clone(table);
        for column in changed.columns.iter_mut().filter(|column| !column.dropped) {
            let Some((_, sequence)) = texts.iter().find(|(text, _)| column.default.as_ref() == Some(text)) else {
                continue;
            };
            let what = format!("default value for column {} of table {}", column.name, context.shown_name(table));
            lines.push(format!("{what} depends on sequence {}", context.shown_name(sequence)));
            gone.push(what);
            column.default = None;
        }
        if changed.columns != table.columns && cascade {
            changed.version += 1;
            context.lock(table).await?;
            writer.put_table(&changed).await?;
        }
    }
    if lines.is_empty() || cascade {
        return Ok(gone);
    }
    Err(held(context, tables, &lines))
}

async fn indexes(context: &DdlContext, if_exists: bool, names: &[ObjectName], cascade: bool) -> Result<String> {
    let mut changed: BTreeMap<Oid, TableDescriptor> = BTreeMap::new();
    let mut writer = context.writer();
    let mut referring = Vec::new();
    for name in names {
        let (schema, index_name) = fold_name(name)?;
        let path = context.settings.search_path();
        let Some((table, position)) = context.catalog.index_named(schema.as_deref(), &index_name, path) else {
            if let Some(table) = context.find(name)? {
                return Err(wrong_kind(&table, "an index"));
            }
            missing(context, "index", name, if_exists)?;
            continue;
        };
        let Some(index) = table.indexes.get(position).cloned() else { continue };
        if index.constraint.is_some() {
            let message = format!(
                "cannot drop index {0} because constraint {0} on table {1} requires it",
                index.name, table.name
            );
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .hint(format!("You can drop constraint {} on table {} instead.", index.name, table.name)));
        }
        let found = referenced::to_index(context, &table, index.oid);
        if !found.is_empty() && !cascade {
            let shown = crate::pg_catalog::describe::relation_name(&context.catalog, index.oid, path);
            let shown = format!("index {}", shown.unwrap_or_else(|| index.name.clone()));
            return Err(referenced::index_held(context, &found, &shown, &shown));
        }
        referring.extend(found);
        context.lock(&table).await?;
        let entry = changed.entry(table.oid).or_insert_with(|| {
            let mut table = TableDescriptor::clone(&table);
            table.version += 1;
            table
        });
        entry.indexes.retain(|other| other.oid != index.oid);
        writer.drop_storage(index.storage_id)?;
    }
    // Tables that lose an index too are written once.
    let (own, others): (Vec<Referring>, Vec<Referring>) =
        referring.into_iter().partition(|(child, _)| changed.contains_key(&child.oid));
    let mut gone = referenced::remove(context, &mut writer, &others).await?;
    for found in &own {
        if let Some(table) = changed.get_mut(&found.0.oid) {
            table.foreign_keys.retain(|key| key.oid != found.1.oid);
        }
        gone.push(referenced::shown(context, found));
    }
    if !changed.is_empty() {
        for table in changed.values() {
            writer.put_table(table).await?;
        }
        writer.flush().await?;
    }
    report_cascade(context, &gone);
    Ok("DROP INDEX".into())
}

async fn sequences(context: &DdlContext, if_exists: bool, names: &[ObjectName], cascade: bool) -> Result<String> {
    let mut writer = context.writer();
    let mut changed: BTreeMap<Oid, TableDescriptor> = BTreeMap::new();
    let mut any = false;
    let mut gone = Vec::new();
    for name in names {
        let Some(sequence) = context.find(name)? else {
            missing(context, "sequence", name, if_exists)?;
            continue;
        };
        if matches!(sequence.kind, RelationKind::Table | RelationKind::View) {
            return Err(wrong_kind(&sequence, "a sequence"));
        }
        names::expect_kind(&sequence, RelationKind::Sequence)?;
        let text = super::sequence::next_value_text(&sequence.schema, &sequence.name);
        let mut held = Vec::new();
        for table in context.catalog.user_relations() {
            for column in table.live_columns().filter(|column| column.default.as_deref() == Some(text.as_str())) {
                let what = format!("column {} of table {}", column.name, table.name);
                if column.identity.is_some() {
                    let message = format!("cannot drop sequence {} because {what} requires it", sequence.name);
                    return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message)
                        .hint(format!("You can drop {what} instead.")));
                }
                let what = format!("default value for column {} of table {}", column.name, context.shown_name(table));
                if !cascade {
                    held.push(format!("{what} depends on sequence {}", context.shown_name(&sequence)));
                    continue;
                }
                gone.push(what);
                let entry = changed.entry(table.oid).or_insert_with(|| TableDescriptor::clone(table));
                entry.version += 1;
                if let Some(column) = entry.columns.iter_mut().find(|other| other.id == column.id) {
                    column.default = None;
                }
            }
        }
        if !held.is_empty() {
            return Err(dependent(format!("sequence {}", context.shown_name(&sequence)), &held.join("\n")));
        }
        let dependents = dependents::of(context, &[Object::Relation(sequence.oid)], cascade)?;
        context.lock(&sequence).await?;
        writer.remove_table(&sequence).await?;
        gone.extend(dependents::remove_silently(context, &mut writer, &dependents).await?);
        any = true;
    }
    for table in changed.values() {
        context.lock(table).await?;
        writer.put_table(table).await?;
    }
    report_cascade(context, &gone);
    if any {
        writer.flush().await?;
    }
    Ok("DROP SEQUENCE".into())
}
