//! CREATE TYPE … AS ENUM and ALTER TYPE.
//!
//! Stored expressions (DEFAULT, CHECK) name a type with its schema, so they do not depend on search_path.

use super::DdlContext;
use super::enum_references::{self, Renaming};
use binder::catalog_type;
use catalog::acl::Kind;
use catalog::{CatalogWriter, RelationKind, TableDescriptor};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{
    AlterType, AlterTypeAddValuePosition, AlterTypeOperation, ArrayElemTypeDef, DataType, Expr, Ident, ObjectName,
    ObjectNamePart, UserDefinedTypeRepresentation, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::names::quote;
use syntax::{TypeChange, fold, fold_name};
use types::enumeration::{EnumDescriptor, EnumLabel, EnumType};
use types::{BaseType, Oid};

pub(super) fn qualified(ty: &EnumDescriptor) -> String {
    format!("{}.{}", quote(&ty.schema), quote(&ty.name))
}

/// An expression with schema-qualified enum names.
pub(super) fn with_schemas(context: &DdlContext, expr: &Expr) -> Expr {
    struct Names<'a>(&'a DdlContext);
    impl VisitorMut for Names<'_> {
        type Break = ();
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            let Expr::Cast { data_type, .. } = expr else { return ControlFlow::Continue(()) };
            let name = match data_type {
                DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => element.as_mut(),
                other => other,
            };
            let path = self.0.settings.search_path();
            if let DataType::Custom(object, _) = name
                && let Ok(ty) =
                    catalog_type(&DataType::Custom(object.clone(), Vec::new()), &self.0.catalog, path, false)
                && let Some(labels) = ty.as_enum()
            {
                let part = |name: &str| {
                    let plain = quote(name) == name;
                    ObjectNamePart::Identifier(if plain { Ident::new(name) } else { Ident::with_quote('"', name) })
                };
                let parts = vec![part(&labels.descriptor().schema), part(&labels.descriptor().name)];
                *name = DataType::Custom(ObjectName(parts), Vec::new());
            }
            ControlFlow::Continue(())
        }
    }
    let mut expr = expr.clone();
    let _ = expr.visit(&mut Names(context));
    expr
}

impl DdlContext {
    /// Checks that no type has the name of a new relation, because a relation is a type too. Errors: 42710.
    pub(super) fn no_type_named(&self, schema: &str, name: &str) -> Result<()> {
        if self.catalog.enum_named(Some(schema), name, &[]).is_none() {
            return Ok(());
        }
        Err(SqlError::new(state::DUPLICATE_OBJECT, format!("type \"{name}\" already exists")).hint(
            "A relation has an associated type of the same name, so you must use a name that doesn't conflict with any \
             existing type.",
        ))
    }
}

fn label_name(label: &Ident) -> Result<String> {
    if label.value.len() > 63 {
        return Err(SqlError::new(state::INVALID_NAME, format!("invalid enum label \"{}\"", label.value))
            .detail("Labels must be 63 bytes or less."));
    }
    Ok(label.value.clone())
}

fn label_exists(name: &str) -> SqlError {
    SqlError::new(state::DUPLICATE_OBJECT, format!("enum label \"{name}\" already exists"))
}

pub(super) async fn create(
    context: &DdlContext,
    name: &ObjectName,
    representation: Option<&UserDefinedTypeRepresentation>,
) -> Result<String> {
    let Some(UserDefinedTypeRepresentation::Enum { labels }) = representation else {
        return Err(SqlError::unsupported("CREATE TYPE of anything but an enum"));
    };
    let (schema, name) = context.new_relation(name)?;
    // PostgreSQL creates a type for every relation too.
    if context.catalog.enum_named(Some(&schema.name), &name, &[]).is_some()
        || context.catalog.relation(Some(&schema.name), &name, &[]).is_some()
    {
        return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("type \"{name}\" already exists")));
    }
    let numbers = context.store.numbers();
    let mut made = EnumDescriptor {
        oid: numbers.oid().await?,
        array_oid: numbers.oid().await?,
        schema_oid: schema.oid,
        schema: schema.name.clone(),
        name,
        owner: context.user,
        labels: Vec::with_capacity(labels.len()),
        comment: None,
        acl: context.first_acl_in(Kind::Type, &schema),
    };
    for label in labels {
        let name = label_name(label)?;
        if made.labels.iter().any(|known| known.name == name) {
            let message = "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"";
            let detail = format!("Key (enumtypid, enumlabel)=({}, {name}) already exists.", made.oid);
            return Err(SqlError::new(state::UNIQUE_VIOLATION, message)
                .detail(detail)
                .table("pg_catalog", "pg_enum")
                .constraint("pg_enum_typid_label_index"));
        }
        let place = made.new_place(made.labels.len())?;
        made.labels.push(EnumLabel::new(numbers.oid().await?, place, name));
    }
    let mut writer = context.writer();
    writer.put_enum(None, &made).await?;
    writer.flush().await?;
    Ok("CREATE TYPE".into())
}

pub(super) fn find(context: &DdlContext, name: &ObjectName) -> Result<Option<EnumType>> {
    let (schema, name) = fold_name(name)?;
    Ok(context.catalog.enum_named(schema.as_deref(), &name, context.settings.search_path()))
}

/// 42704, or 42809 for a type that is not an enum.
fn no_enum(context: &DdlContext, name: &ObjectName) -> SqlError {
    let shown = match super::drop_type::built_in(context, name) {
        Some(ty) => Some(ty.plain().format()),
        None => context.find(name).ok().flatten().map(|relation| context.shown_name(&relation)),
    };
    match shown {
        Some(shown) => SqlError::new(state::WRONG_OBJECT_TYPE, format!("{shown} is not an enum")),
        None => SqlError::new(state::UNDEFINED_OBJECT, missing(name)),
    }
}

/// The message for a missing type.
pub(super) fn missing(name: &ObjectName) -> String {
    let shown = fold_name(name).map_or_else(
        |_| name.to_string(),
        |(schema, name)| schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}")),
    );
    format!("type \"{shown}\" does not exist")
}

pub(super) fn check_owner(context: &DdlContext, ty: &EnumDescriptor) -> Result<()> {
    if context.is_owner(ty.owner) {
        return Ok(());
    }
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be owner of type {}", ty.name)))
}

pub(super) async fn alter(context: &DdlContext, alter: &AlterType) -> Result<String> {
    let old = find(context, &alter.name)?.ok_or_else(|| no_enum(context, &alter.name))?.descriptor();
    check_owner(context, old)?;
    let mut new = old.clone();
    let mut writer = context.writer();
    match &alter.operation {
        AlterTypeOperation::AddValue(add) => {
            let name = label_name(&add.value)?;
            if old.labels.iter().any(|label| label.name == name) {
                if add.if_not_exists {
                    context.notice(state::DUPLICATE_OBJECT, format!("enum label \"{name}\" already exists, skipping"));
                    return Ok("ALTER TYPE".into());
                }
                return Err(label_exists(&name));
            }
            let at = match &add.position {
                None => old.labels.len(),
                Some(AlterTypeAddValuePosition::Before(label)) => place_of(old, &label.value)?,
                Some(AlterTypeAddValuePosition::After(label)) => place_of(old, &label.value)? + 1,
            };
            let place = old.new_place(at)?;
            let oid = context.store.numbers().oid().await?;
            let added_by = Some(context.transaction.start_ts().await?.0);
            new.labels.insert(at, EnumLabel { added_by, ..EnumLabel::new(oid, place, name) });
        }
        AlterTypeOperation::RenameValue(rename) => {
            let at = place_of(old, &rename.from.value)?;
            let name = label_name(&rename.to)?;
            if old.labels.iter().any(|label| label.name == name) {
                return Err(label_exists(&name));
            }
            store(context, &mut writer, Renaming::Label(old, &rename.from.value, &name)).await?;
            if let Some(label) = new.labels.get_mut(at) {
                label.name = name;
            }
        }
        AlterTypeOperation::Rename(rename) => {
            new.name = fold(&rename.new_name);
            let taken = context.catalog.enum_named(Some(&old.schema), &new.name, &[]).is_some()
                || context.catalog.relation(Some(&old.schema), &new.name, &[]).is_some();
            if taken {
                return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("type \"{}\" already exists", new.name)));
            }
            store(context, &mut writer, Renaming::Type(old, &qualified(&new))).await?;
        }
    }
    writer.put_enum(Some(old), &new).await?;
    writer.flush().await?;
    Ok("ALTER TYPE".into())
}

/// Stores the relations that name the renamed enum or label.
async fn store(context: &DdlContext, writer: &mut CatalogWriter<'_>, renaming: Renaming<'_>) -> Result<()> {
    for relation in enum_references::renamed(context, renaming)? {
        context.take_alone(&relation).await?;
        writer.put_table(&relation).await?;
    }
    Ok(())
}

/// ALTER TYPE … OWNER TO and SET SCHEMA.
pub async fn change(context: &DdlContext, name: &ObjectName, change: &TypeChange) -> Result<String> {
    let old = find(context, name)?.ok_or_else(|| no_enum(context, name))?.descriptor();
    check_owner(context, old)?;
    let mut writer = context.writer();
    let mut new = old.clone();
    match change {
        TypeChange::Owner(owner) => {
            let owner = super::owner::role_called(context, owner)?;
            if owner == old.owner {
                return Ok("ALTER TYPE".into());
            }
            super::owner::may_give(context, &old.schema, owner)?;
            super::grant::change_owner(&mut new.acl, old.owner, owner);
            new.owner = owner;
        }
        TypeChange::Schema(schema) => {
            let schema = context.schema(schema)?;
            if schema.oid == old.schema_oid {
                return Ok("ALTER TYPE".into());
            }
            if catalog::is_temporary(&schema.name) {
                let message = "cannot move objects into or out of temporary schemas";
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
            }
            context.may_create_in(&schema)?;
            if context.catalog.enum_named(Some(&schema.name), &old.name, &[]).is_some()
                || context.catalog.relation(Some(&schema.name), &old.name, &[]).is_some()
            {
                let message = format!("type \"{}\" already exists in schema \"{}\"", old.name, schema.name);
                return Err(SqlError::new(state::DUPLICATE_OBJECT, message));
            }
            new.schema_oid = schema.oid;
            new.schema.clone_from(&schema.name);
            store(context, &mut writer, Renaming::Type(old, &qualified(&new))).await?;
        }
    }
    writer.put_enum(Some(old), &new).await?;
    writer.flush().await?;
    Ok("ALTER TYPE".into())
}

/// COMMENT ON TYPE. Errors: 42704, and 0A000 for types other than enums.
pub(super) async fn comment(context: &DdlContext, name: &ObjectName, text: Option<String>) -> Result<()> {
    let Some(old) = find(context, name)? else {
        let ty = DataType::Custom(name.clone(), Vec::new());
        catalog_type(&ty, &context.catalog, context.settings.search_path(), false)?;
        return Err(SqlError::unsupported("COMMENT ON a type that is no enum"));
    };
    let old = old.descriptor();
    check_owner(context, old)?;
    let mut writer = context.writer();
    writer.put_enum(Some(old), &EnumDescriptor { comment: Some(text.unwrap_or_default()), ..old.clone() }).await?;
    writer.flush().await
}

/// Errors: 42501 for a role without USAGE on the type.
pub(super) fn may_use(context: &DdlContext, ty: &EnumDescriptor) -> Result<()> {
    let usage = catalog::acl::USAGE;
    if context.catalog.rights(context.user, Kind::Type, ty.owner, ty.acl.as_ref(), usage) == usage {
        return Ok(());
    }
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied for type {}", ty.name)))
}

fn place_of(ty: &EnumDescriptor, label: &str) -> Result<usize> {
    ty.labels.iter().position(|known| known.name == label).ok_or_else(|| {
        SqlError::new(state::INVALID_PARAMETER_VALUE, format!("\"{label}\" is not an existing enum label"))
    })
}

/// Whether a relation has a column of this enum.
pub(super) fn has_column(table: &TableDescriptor, oid: Oid) -> bool {
    table.live_columns().any(|column| matches!(column.ty.base, BaseType::Enum(ty) if ty.descriptor().oid == oid))
}

/// The enums in a schema to be dropped. Errors: 0A000 if an object outside it uses one.
pub(super) fn within(context: &DdlContext, schema: Oid) -> Result<Vec<&'static EnumDescriptor>> {
    let inside: Vec<_> = context.catalog.enums().filter(|ty| ty.schema_oid == schema).collect();
    for ty in &inside {
        let outside = |table: &&Arc<TableDescriptor>| table.schema_oid != schema && table.kind == RelationKind::Table;
        if context.catalog.user_relations().filter(outside).any(|table| has_column(table, ty.oid)) {
            return Err(SqlError::unsupported("DROP SCHEMA … CASCADE of a type that is used outside of it"));
        }
    }
    Ok(inside)
}
