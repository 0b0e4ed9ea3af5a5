//! DROP of tables, indexes and sequences. Dispatches other kinds to their modules.

use super::dependents::{self, Object};
use super::referenced::{self, Referring};
use super::{DdlContext, drop_type, function, names, schema, sequence_defaults, view};
use catalog::{RelationKind, TableDescriptor, said_schema};
use context::notice::Notice;
use sql_error::{Missing, Result, SqlError, state};
use std::collections::BTreeMap;
use std::sync::Arc;
use syntax::ast::{Drop, Name, NamedKind, ObjectReference, PlainKind, RoutineKind};
use syntax::fold_name;
use types::Oid;

/// 2BP01: other objects depend on `what`.
pub(super) fn dependent(what: String, detail: &str) -> SqlError {
    SqlError::new(
        state::DEPENDENT_OBJECTS_STILL_EXIST,
        format!("cannot drop {what} because other objects depend on it"),
    )
    .detail(detail)
    .hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// The same for several objects named in one statement.
pub(super) fn dependent_of_several(detail: &str) -> SqlError {
    let message = "cannot drop desired object(s) because other objects depend on them";
    SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .detail(detail)
        .hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// Notifies the client of the objects that CASCADE dropped, such as `table s.t`.
pub(super) fn report_cascade(context: &DdlContext, dropped: &[String]) {
    /// Beyond this number the message only counts them.
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

/// The word for the relation's kind: `table`, `sequence`.
pub(super) fn kind_word(table: &TableDescriptor) -> &'static str {
    match table.kind {
        RelationKind::Table => "table",
        RelationKind::Sequence => "sequence",
        RelationKind::SystemView | RelationKind::View => "view",
    }
}

/// Runs DROP. Returns its command tag. CONCURRENTLY has no effect: DROP INDEX does not block readers either.
pub(super) async fn execute(context: &DdlContext, drop: &Drop) -> Result<String> {
    let (if_exists, cascade) = (drop.if_exists, drop.cascade);
    // All objects are of the same kind.
    let Some(first) = drop.objects.first() else { return Err(SqlError::internal("a DROP without objects")) };
    match first {
        ObjectReference::Named(kind, _) => {
            let names = drop.objects.iter().filter_map(|object| match object {
                ObjectReference::Named(_, name) => Some(name.clone()),
                _ => None,
            });
            relations(context, *kind, if_exists, &names.collect::<Vec<_>>(), cascade).await
        }
        ObjectReference::Plain(PlainKind::Schema, _) => {
            let names = drop.objects.iter().filter_map(|object| match object {
                ObjectReference::Plain(_, name) => Some(name.value.clone()),
                _ => None,
            });
            schema::drop(context, if_exists, &names.collect::<Vec<_>>(), cascade).await
        }
        ObjectReference::Type(_) => {
            let types = drop.objects.iter().filter_map(|object| match object {
                ObjectReference::Type(ty) => Some(ty),
                _ => None,
            });
            drop_type::execute(context, if_exists, &types.collect::<Vec<_>>(), cascade).await
        }
        ObjectReference::Routine(RoutineKind::Function, _) => {
            let functions = drop.objects.iter().filter_map(|object| match object {
                ObjectReference::Routine(_, function) => Some(function),
                _ => None,
            });
            function::drop(context, if_exists, &functions.collect::<Vec<_>>())
        }
        other => {
            let text = other.to_string();
            Err(SqlError::unsupported(format!("DROP {}", text.split_whitespace().next().unwrap_or_default())))
        }
    }
}

/// Drops relations of one kind. Returns the command tag.
pub(super) async fn relations(
    context: &DdlContext,
    kind: NamedKind,
    if_exists: bool,
    names: &[Name],
    cascade: bool,
) -> Result<String> {
    match kind {
        NamedKind::Table => tables(context, if_exists, names, cascade).await,
        NamedKind::View => view::drop(context, if_exists, names, cascade).await,
        NamedKind::Index => indexes(context, if_exists, names, cascade).await,
        NamedKind::Sequence => sequences(context, if_exists, names, cascade).await,
        _ => Err(SqlError::unsupported("DROP of this kind of object")),
    }
}

/// The notice of IF EXISTS, or the error. A missing schema counts as a missing object, as in PostgreSQL.
pub(super) fn missing(context: &DdlContext, word: &str, name: &Name, if_exists: bool) -> Result<()> {
    let (schema, relation) = fold_name(name)?;
    let path = context.settings.search_path();
    let is_missing = |schema: &String| context.catalog.schema(said_schema(schema, path)).is_none();
    if let Some(schema) = schema.filter(is_missing) {
        if if_exists {
            context.notice(state::SUCCESSFUL_COMPLETION, format!("schema \"{schema}\" does not exist, skipping"));
            return Ok(());
        }
        return Err(catalog::no_schema(&schema));
    }
    if word != "index" && context.names_index(name) {
        let message = format!("\"{relation}\" is not a {word}");
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message).hint("Use DROP INDEX to remove an index."));
    }
    if if_exists {
        context.notice(state::SUCCESSFUL_COMPLETION, format!("{word} \"{relation}\" does not exist, skipping"));
        return Ok(());
    }
    let error = if word == "index" { state::UNDEFINED_OBJECT } else { state::UNDEFINED_TABLE };
    let missing = Missing::Relation(fold_name(name)?.0, relation.clone());
    Err(SqlError::new(error, format!("{word} \"{relation}\" does not exist")).missing(missing))
}

pub(super) fn wrong_kind(table: &TableDescriptor, wanted: &str) -> SqlError {
    let word = kind_word(table);
    SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not {wanted}", table.name))
        .hint(format!("Use DROP {} to remove a {word}.", word.to_uppercase()))
}

async fn tables(context: &DdlContext, if_exists: bool, names: &[Name], cascade: bool) -> Result<String> {
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
        context.may_drop(&table)?;
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
    let owned: Vec<Arc<TableDescriptor>> = found.values().flat_map(|table| owned_sequences(context, table)).collect();
    let taken = sequence_defaults::of(context, &owned, |table, _| !found.contains_key(&table.oid));
    if !cascade && !taken.is_empty() {
        return Err(held(context, &found, &sequence_defaults::lines(context, &taken)));
    }
    let mut writer = context.writer();
    let mut also = sequence_defaults::remove(context, &mut writer, &taken).await?;
    for table in found.values() {
        context.take_alone(table).await?;
        context.must_be_idle(table, "DROP TABLE")?;
        writer.remove_table(table).await?;
    }
    for sequence in &owned {
        writer.remove_table(sequence).await?;
    }
    also.extend(referenced::remove(context, &mut writer, &referring).await?);
    also.extend(dependents::remove_silently(context, &mut writer, &dependents).await?);
    report_cascade(context, &also);
    writer.flush().await?;
    Ok("DROP TABLE".into())
}

/// The sequences that a table's columns own.
pub(super) fn owned_sequences(context: &DdlContext, table: &TableDescriptor) -> Vec<Arc<TableDescriptor>> {
    table.live_columns().filter_map(|column| context.catalog.owned_sequence(table.oid, column.id)).collect()
}

/// 2BP01 for tables with dependents.
fn held(context: &DdlContext, tables: &BTreeMap<Oid, Arc<TableDescriptor>>, lines: &[String]) -> SqlError {
    match tables.values().next() {
        Some(table) if tables.len() == 1 => {
            dependent(format!("table {}", context.shown_name(table)), &lines.join("\n"))
        }
        _ => dependent_of_several(&lines.join("\n")),
    }
}

async fn indexes(context: &DdlContext, if_exists: bool, names: &[Name], cascade: bool) -> Result<String> {
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
        context.may_drop(&table)?;
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
            let shown = pg_catalog::describe::relation_name(&context.catalog, index.oid, path);
            let shown = format!("index {}", shown.unwrap_or_else(|| index.name.clone()));
            return Err(referenced::index_held(context, &found, &shown, &shown));
        }
        referring.extend(found);
        context.take_alone(&table).await?;
        let entry = changed.entry(table.oid).or_insert_with(|| {
            let mut table = TableDescriptor::clone(&table);
            table.version += 1;
            table
        });
        entry.indexes.retain(|other| other.oid != index.oid);
        writer.drop_storage(index.storage_id)?;
    }
    // A table that also loses an index is written once.
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

async fn sequences(context: &DdlContext, if_exists: bool, names: &[Name], cascade: bool) -> Result<String> {
    let mut writer = context.writer();
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
        context.may_drop(&sequence)?;
        let taken = sequence_defaults::of(context, std::slice::from_ref(&sequence), |_, _| true);
        if let Some(identity) = taken.iter().find(|taken| taken.column.identity.is_some()) {
            let what = format!("column {} of table {}", identity.column.name, identity.table.name);
            let message = format!("cannot drop sequence {} because {what} requires it", sequence.name);
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .hint(format!("You can drop {what} instead.")));
        }
        if !cascade && !taken.is_empty() {
            let lines = sequence_defaults::lines(context, &taken);
            return Err(dependent(format!("sequence {}", context.shown_name(&sequence)), &lines.join("\n")));
        }
        let dependents = dependents::of(context, &[Object::Relation(sequence.oid)], cascade)?;
        context.take_alone(&sequence).await?;
        gone.extend(sequence_defaults::remove(context, &mut writer, &taken).await?);
        writer.remove_table(&sequence).await?;
        gone.extend(dependents::remove_silently(context, &mut writer, &dependents).await?);
        any = true;
    }
    report_cascade(context, &gone);
    if any {
        writer.flush().await?;
    }
    Ok("DROP SEQUENCE".into())
}
