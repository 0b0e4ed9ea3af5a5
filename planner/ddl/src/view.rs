//! CREATE VIEW, ALTER VIEW and DROP VIEW.

use super::alter_relation::{cannot_be_performed, set_schema};
use super::create_table::Making;
use super::dependents::{self, Object};
use super::fixed_times::fixed_query;
use super::names::Chosen;
use super::{DdlContext, drop, enum_references, evaluate, names, owner, temporary};
use binder::{BoundView, NO_COLUMNS, bind_view, level};
use catalog::{
    CheckOption, ColumnDescriptor, ColumnId, Persistence, RelationKind, TableDescriptor, ViewDescriptor, ViewRelation,
};
use executor::Slots;
use functions::times_read::times_read;
use settings::value::boolean;
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use std::sync::Arc;
use syntax::ast::{AlterColumn, AlterTable, AlterTableKind, ColumnReference, Name};
use syntax::options::{names_to_reset, parameters};
use syntax::{CreateView, Statement, fold_name};
use types::Oid;
use types::datetime::Reading;

/// CREATE [OR REPLACE] VIEW. Returns its command tag.
pub async fn create(context: &DdlContext, create: &CreateView) -> Result<String> {
    let slots = Slots::new();
    let bind = |query: &Statement| evaluate::bound_unchecked(context, &slots, |bind| bind_view(query, bind));
    let ((bound, times), moving) = Reading::asks_for_now(|| times_read(|| bind(&create.query)));
    let bound = bound?;
    let columns = columns(&create.columns, &bound)?;
    // A view of a temporary relation is temporary.
    let of_temporary = bound.relations.iter().any(|relation| {
        context.catalog.relation_by_oid(relation.oid).is_some_and(|table| table.persistence == Persistence::Temporary)
    });
    if of_temporary && !create.temporary {
        let name = fold_name(&create.name)?.1;
        context.notice(state::SUCCESSFUL_COMPLETION, format!("view \"{name}\" will be a temporary view"));
    }
    let (schema, name) = context.new_relation_of(&create.name, create.temporary || of_temporary)?;
    let existing = context.catalog.relation(Some(&schema.name), &name, &[]);
    if !create.or_replace && context.catalog.name_is_taken(&schema.name, &name) {
        return Err(SqlError::new(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
    }
    context.no_type_named(&schema.name, &name)?;
    let query = enum_references::with_schemas(context, &create.query.text)?;
    let query = match moving || !times.is_empty() {
        true => fixed_query(&query, "view", bind)?.unwrap_or(query),
        false => query,
    };
    context.store_schema(&schema).await?;
    let mut writer = context.writer();
    for relation in &bound.relations {
        if context.catalog.user_relations().any(|table| table.oid == relation.oid) {
            writer.hold_table(relation.oid);
        }
    }
    let numbers = context.store.numbers();
    let view = match existing {
        Some(old) => {
            let Some(stored) = old.view.as_ref().filter(|_| old.kind == RelationKind::View) else {
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a view")));
            };
            context.lock(&old).await?;
            same_columns_first(&old, &columns)?;
            refuse_itself(context, &old, &bound)?;
            let mut changed = TableDescriptor::clone(&old);
            changed.version += 1;
            changed.columns = columns;
            for (column, before) in changed.columns.iter_mut().zip(&old.columns) {
                *column = ColumnDescriptor { name: column.name.clone(), ..before.clone() };
            }
            changed.view = Some(described(stored.rule, query, bound.relations, bound.keys, &create.options)?);
            changed
        }
        None if context.catalog.name_is_taken(&schema.name, &name) => {
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a view")));
        }
        None => TableDescriptor {
            oid: numbers.oid().await?,
            schema_oid: schema.oid,
            schema: schema.name.clone(),
            name,
            kind: RelationKind::View,
            version: 1,
            storage_id: 0,
            columns,
            indexes: Vec::new(),
            checks: Vec::new(),
            sequence: None,
            view: Some(described(numbers.oid().await?, query, bound.relations, bound.keys, &create.options)?),
            foreign_keys: Vec::new(),
            comments: Vec::new(),
            owner: context.user,
            acl: context.first_acl_in(catalog::acl::Kind::Table, &schema),
            persistence: temporary::persistence_in(&schema),
            ..Default::default()
        },
    };
    may_check(context, &view)?;
    writer.put_table(&view).await?;
    writer.flush().await?;
    Ok("CREATE VIEW".into())
}

fn described(
    rule: Oid,
    query: String,
    relations: Vec<ViewRelation>,
    keys: Vec<Oid>,
    options: &[(String, Option<String>)],
) -> Result<ViewDescriptor> {
    let mut view = ViewDescriptor {
        rule,
        query,
        relations,
        keys,
        check_option: None,
        security_barrier: None,
        security_invoker: None,
    };
    set_options(&mut view, options)?;
    Ok(view)
}

/// Sets a view's options. Errors: 22023.
fn set_options(view: &mut ViewDescriptor, options: &[(String, Option<String>)]) -> Result<()> {
    let invalid = |message: String| SqlError::new(state::INVALID_PARAMETER_VALUE, message);
    for (name, value) in options {
        let value = value.as_deref().unwrap_or("true");
        let flag =
            || boolean(value).ok_or_else(|| invalid(format!("invalid value for boolean option \"{name}\": {value}")));
        match name.as_str() {
            "security_barrier" => view.security_barrier = Some(flag()?),
            "security_invoker" => view.security_invoker = Some(flag()?),
            "check_option" => {
                view.check_option = Some(match value.to_ascii_lowercase().as_str() {
                    "local" => CheckOption::Local,
                    "cascaded" => CheckOption::Cascaded,
                    _ => {
                        let message = format!("invalid value for enum option \"check_option\": {value}");
                        return Err(invalid(message).detail("Valid values are \"local\" and \"cascaded\"."));
                    }
                });
            }
            _ => return Err(invalid(format!("unrecognized parameter \"{name}\""))),
        }
    }
    Ok(())
}

/// 0A000 for CHECK OPTION of a view that is not updatable.
fn may_check(context: &DdlContext, view: &TableDescriptor) -> Result<()> {
    if view.view.as_ref().is_none_or(|view| view.check_option.is_none()) {
        return Ok(());
    }
    let reason = match level(&context.catalog, &Arc::new(view.clone()))? {
        Ok(level) if level.has_columns() => return Ok(()),
        Ok(_) => NO_COLUMNS,
        Err(reason) => reason,
    };
    let message = "WITH CHECK OPTION is supported only on automatically updatable views";
    Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).hint(reason))
}

/// RESET of a view's options. Errors: 22023.
fn reset_options(view: &mut ViewDescriptor, names: &[String]) -> Result<()> {
    for name in names {
        match name.as_str() {
            "security_barrier" => view.security_barrier = None,
            "security_invoker" => view.security_invoker = None,
            "check_option" => view.check_option = None,
            _ => {
                let message = format!("unrecognized parameter \"{name}\"");
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
        }
    }
    Ok(())
}

/// The columns of a view. The names given apply to the first of them. Errors: 42601, 42701, 42P16.
fn columns(names: &[String], bound: &BoundView) -> Result<Vec<ColumnDescriptor>> {
    if names.len() > bound.columns.len() {
        return Err(SqlError::syntax("CREATE VIEW specifies more column names than columns"));
    }
    let mut columns: Vec<ColumnDescriptor> = Vec::with_capacity(bound.columns.len());
    super::names::no_column_twice(
        bound.columns.iter().enumerate().map(|(at, output)| names.get(at).unwrap_or(&output.name).as_str()),
    )?;
    for (at, output) in bound.columns.iter().enumerate() {
        let name = names.get(at).unwrap_or(&output.name).clone();
        if output.ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        if output.ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", output.ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let id = ColumnId::try_from(at + 1).ok().filter(|id| *id <= 1600);
        columns.push(ColumnDescriptor {
            id: id.ok_or_else(|| SqlError::new("54011", "tables can have at most 1600 columns"))?,
            name,
            ty: output.ty,
            not_null: false,
            default: None,
            identity: None,
            missing: None,
            dropped: false,
            ..Default::default()
        });
    }
    Ok(columns)
}

/// Checks that a replacement begins with the columns of the old view. Errors: 42P16.
fn same_columns_first(old: &TableDescriptor, new: &[ColumnDescriptor]) -> Result<()> {
    let invalid = |message: String| SqlError::new(state::INVALID_TABLE_DEFINITION, message);
    if new.len() < old.live_columns().count() {
        return Err(invalid("cannot drop columns from view".into()));
    }
    for (before, after) in old.live_columns().zip(new) {
        if after.name != before.name {
            let message = format!("cannot change name of view column \"{}\" to \"{}\"", before.name, after.name);
            return Err(
                invalid(message).hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
            );
        }
        if after.ty != before.ty {
            let (from, to) = (before.ty.format(), after.ty.format());
            return Err(invalid(format!(
                "cannot change data type of view column \"{}\" from {from} to {to}",
                before.name
            )));
        }
    }
    Ok(())
}

/// 42P17 for a view whose query would read the view itself.
fn refuse_itself(context: &DdlContext, view: &TableDescriptor, bound: &BoundView) -> Result<()> {
    let mut open: Vec<Oid> = bound.relations.iter().map(|relation| relation.oid).collect();
    let mut seen = Vec::new();
    while let Some(oid) = open.pop() {
        if oid == view.oid {
            let message = format!("infinite recursion detected in rules for relation \"{}\"", view.name);
            return Err(SqlError::new("42P17", message));
        }
        if seen.contains(&oid) {
            continue;
        }
        seen.push(oid);
        if let Some(inner) = context.catalog.relation_by_oid(oid).and_then(|found| found.view.clone()) {
            open.extend(inner.relations.iter().map(|relation| relation.oid));
        }
    }
    Ok(())
}

/// Runs ALTER VIEW. Returns its command tag.
pub(super) async fn alter(context: &DdlContext, alter: &AlterTable) -> Result<String> {
    let name = &alter.relation.name;
    let Some(view) = context.find(name)? else {
        if alter.if_exists {
            let name = fold_name(name)?.1;
            context.notice(state::SUCCESSFUL_COMPLETION, format!("relation \"{name}\" does not exist, skipping"));
            return Ok("ALTER VIEW".into());
        }
        return Err(context.no_relation_of(name, "view"));
    };
    names::expect_kind(&view, RelationKind::View)?;
    alter_view(context, &view, alter).await?;
    Ok("ALTER VIEW".into())
}

/// Changes the name, schema, owner, options or columns of a view.
async fn alter_view(context: &DdlContext, view: &TableDescriptor, alter: &AlterTable) -> Result<()> {
    if let [action] = alter.actions.as_slice()
        && let AlterTableKind::SetSchema(schema) = &action.kind
    {
        return set_schema(context, view, &schema.value).await;
    }
    context.lock(view).await?;
    let mut changed = view.clone();
    changed.version += 1;
    for action in &alter.actions {
        let refused = || cannot_be_performed(Some(&action.kind), &view.name, "views");
        match &action.kind {
            AlterTableKind::Rename(name) => {
                let name = &name.value;
                context.may_create_in(&*context.schema(&view.schema)?)?;
                if context.catalog.name_is_taken(&view.schema, name) {
                    let message = format!("relation \"{name}\" already exists");
                    return Err(SqlError::new(state::DUPLICATE_TABLE, message));
                }
                changed.name.clone_from(name);
            }
            AlterTableKind::RenameColumn(old, new) => rename_column(&mut changed, &old.value, &new.value)?,
            AlterTableKind::Owner(role) => {
                let new = owner::role_of(context, role)?;
                owner::change(context, &mut changed, new)?;
            }
            AlterTableKind::SetOptions(options) => set_options(stored(&mut changed)?, &parameters(options)?)?,
            AlterTableKind::ResetOptions(options) => reset_options(stored(&mut changed)?, &names_to_reset(options)?)?,
            AlterTableKind::AlterColumn(ColumnReference::Name(name), op) => {
                let name = &name.value;
                let column = changed.column_named(name).cloned().ok_or_else(|| {
                    let message = format!("column \"{name}\" of relation \"{}\" does not exist", view.name);
                    SqlError::new(state::UNDEFINED_COLUMN, message)
                })?;
                let default = match op {
                    AlterColumn::SetDefault(value) => {
                        let schema = context.schema(&view.schema)?;
                        let mut making = Making::of(context, &schema, view.clone(), Chosen::default());
                        let default = making.default(name, value, &column.ty).map_err(SqlError::of_values)?;
                        making.writer.flush().await?;
                        default
                    }
                    AlterColumn::DropDefault => None,
                    _ => return Err(refused()),
                };
                if let Some(place) = changed.columns.iter_mut().find(|other| other.id == column.id) {
                    place.default = default;
                }
            }
            _ => return Err(refused()),
        }
    }
    if alter.actions.iter().any(|action| matches!(action.kind, AlterTableKind::SetOptions(_))) {
        may_check(context, &changed)?;
    }
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    writer.flush().await
}

/// The query and options of a view.
fn stored(view: &mut TableDescriptor) -> Result<&mut ViewDescriptor> {
    view.view.as_mut().ok_or_else(|| SqlError::internal("a view without a query"))
}

/// Renames a column of a view. Errors: 42701, 42703.
fn rename_column(view: &mut TableDescriptor, old: &str, new: &str) -> Result<()> {
    if view.column_named(new).is_some() && view.column_named(old).is_some() {
        let message = format!("column \"{new}\" of relation \"{}\" already exists", view.name);
        return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
    }
    match view.columns.iter_mut().find(|column| column.name == old) {
        Some(column) => column.name = new.to_string(),
        None => {
            let message = format!("column \"{old}\" does not exist");
            return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
        }
    }
    Ok(())
}

pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[Name], cascade: bool) -> Result<String> {
    let mut found: BTreeMap<Oid, Arc<TableDescriptor>> = BTreeMap::new();
    for name in names {
        let Some(view) = context.find(name)? else {
            drop::missing(context, "view", name, if_exists)?;
            continue;
        };
        if !matches!(view.kind, RelationKind::View | RelationKind::SystemView) {
            return Err(drop::wrong_kind(&view, "a view"));
        }
        if view.kind == RelationKind::SystemView {
            names::expect_kind(&view, RelationKind::Table)?;
        }
        context.may_drop(&view)?;
        found.insert(view.oid, view);
    }
    if found.is_empty() {
        return Ok("DROP VIEW".into());
    }
    let objects: Vec<Object> = found.keys().map(|oid| Object::Relation(*oid)).collect();
    let dependents = dependents::of(context, &objects, cascade)?;
    let mut writer = context.writer();
    for view in found.values() {
        context.take_alone(view).await?;
        writer.remove_table(view).await?;
    }
    dependents::remove(context, &mut writer, &dependents).await?;
    writer.flush().await?;
    Ok("DROP VIEW".into())
}
