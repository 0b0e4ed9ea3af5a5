//! DROP TYPE: refuses if objects depend on the enum, or with CASCADE drops them.

use super::create_table::Making;
use super::dependents::{self, Dependent, Object};
use super::enumeration::{check_owner, find, has_column, missing};
use super::names::Chosen;
use super::{DdlContext, drop, enum_references, type_name};
use binder::catalog_type;
use catalog::{CatalogWriter, CheckDescriptor, RelationKind, TableDescriptor};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{Name, TypeBase, TypeName};
use syntax::fold_name;
use types::enumeration::{EnumDescriptor, EnumType};
use types::{BaseType, SqlType};

/// The objects that depend on an enum, as PostgreSQL names them.
fn dependents(context: &DdlContext, ty: &EnumDescriptor) -> Vec<String> {
    let mut found = Vec::new();
    let names = |text: &str| enum_references::expression_names(context, text, ty);
    let shown =
        context.catalog.type_name(SqlType::of(BaseType::Enum(EnumType::new(ty))), context.settings.search_path());
    for table in relations(context) {
        let name = context.shown_name(table);
        if let Some(view) = &table.view {
            if has_column(table, ty.oid) || enum_references::view_names(context, &view.query, ty) {
                found.push(format!("view {name} depends on type {shown}"));
            }
            continue;
        }
        // Objects that depend on the array type come first, as in PostgreSQL.
        let mut lines = [Vec::new(), Vec::new()];
        for column in table.live_columns() {
            let what = format!("column {} of {} {name}", column.name, drop::kind_word(table));
            let [arrays, plain] = &mut lines;
            if matches!(column.ty.base, BaseType::Enum(used) if used.descriptor().oid == ty.oid) {
                let (lines, suffix) = if column.ty.array { (arrays, "[]") } else { (plain, "") };
                lines.push(format!("{what} depends on type {shown}{suffix}"));
            } else if column.default.as_deref().is_some_and(names) {
                plain.push(format!("default value for {what} depends on type {shown}"));
            } else if column.generated.as_deref().is_some_and(names) {
                plain.push(format!("{what} depends on type {shown}"));
            }
        }
        found.extend(lines.into_iter().flatten());
        // A constraint over a column of the type is dropped with the column.
        let over_others = |check: &&CheckDescriptor| !has_column(table, ty.oid) && names(&check.expression);
        for check in table.checks.iter().filter(over_others) {
            found.push(format!("constraint {} on table {name} depends on type {shown}", check.name));
        }
        for index in table.indexes.iter().filter(|index| index.texts().any(names) && !has_column(table, ty.oid)) {
            found.push(format!("index {} depends on type {shown}", index.name));
        }
    }
    found
}

/// Relations in the order of their creation.
fn relations(context: &DdlContext) -> Vec<&Arc<TableDescriptor>> {
    let mut all: Vec<&Arc<TableDescriptor>> = context.catalog.user_relations().collect();
    all.sort_by_key(|table| table.oid);
    all
}

/// Drops the dependents of enums: columns of these types, defaults and constraints that name them, and
/// views. Returns their descriptions.
async fn cascade(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    types: &[&EnumDescriptor],
) -> Result<Vec<String>> {
    let names_one = |text: &str| types.iter().any(|ty| enum_references::expression_names(context, text, ty));
    let is_one =
        |ty: SqlType| matches!(ty.base, BaseType::Enum(used) if types.iter().any(|ty| ty.oid == used.descriptor().oid));
    let mut gone = Vec::new();
    let mut views: Vec<Dependent> = Vec::new();
    for table in relations(context).into_iter().filter(|table| table.kind == RelationKind::Table) {
        let shown = format!("table {}", context.shown_name(table));
        let mut columns: Vec<_> = table.live_columns().filter(|column| is_one(column.ty)).cloned().collect();
        // Objects that depend on the array type come first, as in PostgreSQL.
        columns.sort_by_key(|column| !column.ty.array);
        let by_default = |column: &&catalog::ColumnDescriptor| {
            !is_one(column.ty) && column.default.as_deref().is_some_and(names_one)
        };
        let defaults: Vec<_> = table.live_columns().filter(by_default).map(|column| column.id).collect();
        let constrains = |check: &CheckDescriptor| names_one(&check.expression);
        if table.live_columns().any(|column| !is_one(column.ty) && column.generated.as_deref().is_some_and(names_one))
            || table.indexes.iter().any(|index| index.texts().any(names_one))
        {
            let what = "DROP TYPE … CASCADE of a type that generated columns or indexes name";
            return Err(SqlError::unsupported(what));
        }
        if columns.is_empty() && defaults.is_empty() && !table.checks.iter().any(constrains) {
            continue;
        }
        // The owner of the type need not own the tables that use it.
        context.take_alone(table).await?;
        context.must_be_idle(table, "DROP TYPE")?;
        let schema = context.schema(&table.schema)?;
        let mut changed = TableDescriptor::clone(table);
        changed.version += 1;
        let mut making = Making::of(context, &schema, changed, Chosen::default());
        for column in &columns {
            if !making.generated_from(&column.name)?.is_empty() {
                return Err(SqlError::unsupported("DROP TYPE … CASCADE of a type that generated columns need"));
            }
            gone.push(format!("column {} of {shown}", column.name));
            for view in dependents::of(context, &[Object::Column(table.oid, column.id)], true)? {
                note(context, &mut views, view, &mut gone);
            }
            let referring = making.referring_to(column.id);
            making.let_go(referring, true, &shown, &shown).await?;
            making.remove_column(column.id, &column.name).await?;
        }
        for column in making.table.columns.iter_mut().filter(|column| defaults.contains(&column.id)) {
            gone.push(format!("default value for column {} of {shown}", column.name));
            column.default = None;
        }
        for check in making.table.checks.iter().filter(|check| constrains(check)) {
            gone.push(format!("constraint {} on {shown}", check.name));
        }
        making.table.checks.retain(|check| !constrains(check));
        making.store().await?;
    }
    // Views that name the type in their query.
    let needs = |view: &TableDescriptor| {
        let query = view.view.as_ref().map(|view| view.query.as_str());
        let names = |query: &str, ty| enum_references::view_names(context, query, ty);
        query.is_some_and(|query| types.iter().any(|ty| has_column(view, ty.oid) || names(query, ty)))
    };
    for view in relations(context).into_iter().filter(|view| needs(view)) {
        note(context, &mut views, Dependent::of(view.clone()), &mut gone);
        for other in dependents::of(context, &[Object::Relation(view.oid)], true)? {
            note(context, &mut views, other, &mut gone);
        }
    }
    dependents::remove_silently(context, writer, &views).await?;
    Ok(gone)
}

/// Adds a view to the dropped objects, once.
fn note(context: &DdlContext, views: &mut Vec<Dependent>, view: Dependent, gone: &mut Vec<String>) {
    if !views.iter().any(|other| other.relation.oid == view.relation.oid) {
        gone.push(format!("view {}", context.shown_name(&view.relation)));
        views.push(view);
    }
}

/// Errors: 2BP01 for the row type of a relation, which is dropped only with it.
fn no_row_type(context: &DdlContext, name: &Name) -> Result<()> {
    let Some(relation) = context.find(name)?.filter(|relation| relation.kind != RelationKind::Sequence) else {
        return Ok(());
    };
    let (word, name) = (drop::kind_word(&relation), context.shown_name(&relation));
    if relation.kind == RelationKind::SystemView {
        let message = format!("cannot drop type {name} because it is required by the database system");
        return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
    }
    let message = format!("cannot drop type {name} because {word} {name} requires it");
    Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .hint(format!("You can drop {word} {name} instead.")))
}

/// Errors: 2BP01 for the array type of an enum by its name in the catalog.
fn no_array_type(context: &DdlContext, name: &Name) -> Result<()> {
    let (schema, name) = fold_name(name)?;
    let path = context.settings.search_path();
    let element = name.strip_prefix('_').and_then(|name| context.catalog.enum_named(schema.as_deref(), name, path));
    element.map_or(Ok(()), |element| Err(needs_array(context, element)))
}

/// 2BP01: the array type of an enum is dropped only with it.
fn needs_array(context: &DdlContext, element: EnumType) -> SqlError {
    let shown = context.catalog.type_name(SqlType::of(BaseType::Enum(element)), context.settings.search_path());
    let message = format!("cannot drop type {shown}[] because type {shown} requires it");
    SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message).hint(format!("You can drop type {shown} instead."))
}

/// The type that a statement names, if it is no enum.
pub(super) fn built_in(context: &DdlContext, ty: &TypeName) -> Option<SqlType> {
    let found = catalog_type(ty, &context.catalog, context.settings.search_path(), false).ok()?;
    found.as_enum().is_none().then_some(found)
}

/// The name of a type that is no array and has no grammar of its own.
fn plain_name(ty: &TypeName) -> Option<&Name> {
    match &ty.base {
        TypeBase::Named(name) if ty.array_bounds.is_empty() => Some(name),
        _ => None,
    }
}

pub(super) async fn execute(
    context: &DdlContext,
    if_exists: bool,
    names: &[&TypeName],
    with_all: bool,
) -> Result<String> {
    let mut types: Vec<&EnumDescriptor> = Vec::new();
    // PostgreSQL looks up all of them first.
    let mut required: Option<SqlType> = None;
    for written in names {
        let name = plain_name(written);
        let found = match name {
            Some(name) => find(context, name)?,
            None => None,
        };
        let Some(ty) = found else {
            if let Some(name) = name {
                no_row_type(context, name)?;
                no_array_type(context, name)?;
            }
            if let Some(ty) = built_in(context, written) {
                if let BaseType::Enum(element) = ty.base {
                    return Err(needs_array(context, element));
                }
                required.get_or_insert(ty);
                continue;
            }
            let base = match &written.base {
                TypeBase::Named(name) => fold_name(name)?.0,
                _ => None,
            };
            let schema = base.filter(|schema| context.catalog.schema(schema).is_none());
            let (state, message) = match (schema, name) {
                (Some(schema), _) => (state::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")),
                (None, Some(name)) => (state::UNDEFINED_OBJECT, missing(name)),
                (None, None) => {
                    (state::UNDEFINED_OBJECT, format!("type \"{}\" does not exist", type_name::as_read(written)))
                }
            };
            if !if_exists {
                return Err(SqlError::new(state, message));
            }
            context.notice(state::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            continue;
        };
        let ty = ty.descriptor();
        if !written.modifiers.is_empty() {
            return Err(SqlError::syntax(format!("type modifier is not allowed for type \"{}\"", ty.name)));
        }
        if !context.owns_schema(ty.schema_oid) {
            check_owner(context, ty)?;
        }
        let lines = dependents(context, ty);
        if !lines.is_empty() && !with_all {
            let shown = SqlType::of(BaseType::Enum(EnumType::new(ty)));
            let shown = context.catalog.type_name(shown, context.settings.search_path());
            return Err(drop::dependent(format!("type {shown}"), &lines.join("\n")));
        }
        if !types.iter().any(|other| other.oid == ty.oid) {
            types.push(ty);
        }
    }
    if let Some(ty) = required {
        let message = format!("cannot drop type {} because it is required by the database system", ty.plain().format());
        return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
    }
    let mut writer = context.writer();
    if with_all {
        let gone = cascade(context, &mut writer, &types).await?;
        drop::report_cascade(context, &gone);
    }
    for ty in types {
        writer.remove_enum(ty);
    }
    writer.flush().await?;
    Ok("DROP TYPE".into())
}
