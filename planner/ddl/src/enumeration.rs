//! CREATE TYPE … AS ENUM and ALTER TYPE.
//!
//! Stored expressions (DEFAULT, CHECK) name a type with its schema, so they do not depend on search_path.

use super::enum_references::{self, Renaming};
use super::{DdlContext, owner};
use binder::catalog_type;
use catalog::acl::Kind;
use catalog::{CatalogWriter, RelationKind, TableDescriptor};
use sql_error::{Result, SqlError, state};
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{
    AlterType, CreateType, Expr, ExprKind, Ident, Name, ObjectChange, TypeBase, TypeDefinition, TypeName,
};
use syntax::fold_name;
use syntax::names::quote;
use syntax::visit::visit_expressions_mut;
use types::enumeration::{EnumDescriptor, EnumLabel, EnumType};
use types::{BaseType, Oid};

pub(super) fn qualified(ty: &EnumDescriptor) -> String {
    format!("{}.{}", quote(&ty.schema), quote(&ty.name))
}

/// A type by its name alone.
pub(super) fn type_named(name: &Name) -> TypeName {
    let (base, span) = (TypeBase::Named(name.clone()), name.span);
    TypeName { base, modifiers: Vec::new(), array_bounds: Vec::new(), set_of: false, span }
}

/// An expression with schema-qualified enum names.
pub(super) fn with_schemas(context: &DdlContext, expr: &Expr) -> Expr {
    let path = context.settings.search_path();
    let mut expr = expr.clone();
    let _ = visit_expressions_mut(&mut expr, |part: &mut Expr| {
        if let ExprKind::Cast { data_type, .. } = &mut part.kind
            && let TypeBase::Named(name) = &mut data_type.base
            && let Ok(ty) = catalog_type(&type_named(name), &context.catalog, path, false)
            && let Some(labels) = ty.as_enum()
        {
            let ty = labels.descriptor();
            name.parts = vec![Ident::new(ty.schema.as_str()), Ident::new(ty.name.as_str())];
        }
        ControlFlow::<()>::Continue(())
    });
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

fn label_name(label: &str) -> Result<String> {
    if label.len() > 63 {
        return Err(SqlError::new(state::INVALID_NAME, format!("invalid enum label \"{label}\""))
            .detail("Labels must be 63 bytes or less."));
    }
    Ok(label.to_string())
}

fn label_exists(name: &str) -> SqlError {
    SqlError::new(state::DUPLICATE_OBJECT, format!("enum label \"{name}\" already exists"))
}

pub(super) async fn create(context: &DdlContext, create: &CreateType) -> Result<String> {
    let TypeDefinition::Enum(labels) = &create.definition else {
        return Err(SqlError::unsupported("CREATE TYPE of anything but an enum"));
    };
    let (schema, name) = context.new_relation(&create.name)?;
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
    for (label, _) in labels {
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

/// The enum of this name.
pub(super) fn find(context: &DdlContext, name: &Name) -> Result<Option<EnumType>> {
    let (schema, name) = fold_name(name)?;
    Ok(context.catalog.enum_named(schema.as_deref(), &name, context.settings.search_path()))
}

/// 42704, or 42809 for a type that is not an enum.
fn no_enum(context: &DdlContext, name: &Name) -> SqlError {
    let shown = match super::drop_type::built_in(context, &type_named(name)) {
        Some(ty) => Some(ty.plain().format()),
        None => context.find(name).ok().flatten().map(|relation| context.shown_name(&relation)),
    };
    match shown {
        Some(shown) => SqlError::new(state::WRONG_OBJECT_TYPE, format!("{shown} is not an enum")),
        None => SqlError::new(state::UNDEFINED_OBJECT, missing(name)),
    }
}

/// The message for a missing type.
pub(super) fn missing(name: &Name) -> String {
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

/// The name of a type in ALTER TYPE, which is never more.
fn plain_name(ty: &TypeName) -> Result<&Name> {
    match &ty.base {
        TypeBase::Named(name) => Ok(name),
        _ => Err(SqlError::internal("ALTER TYPE of a type without a name")),
    }
}

/// The enum of this name, which the user owns. Errors: 42704, 42809, 42501.
fn owned(context: &DdlContext, name: &Name) -> Result<&'static EnumDescriptor> {
    let found = find(context, name)?.ok_or_else(|| no_enum(context, name))?.descriptor();
    check_owner(context, found)?;
    Ok(found)
}

/// ALTER TYPE with actions. Those of attributes are refused, so there is one alone.
pub(super) async fn alter(context: &DdlContext, ty: &TypeName, actions: &[AlterType]) -> Result<String> {
    let name = plain_name(ty)?;
    let [action] = actions else { return Err(SqlError::unsupported("ALTER TYPE of an attribute")) };
    match action {
        AlterType::AddValue { if_not_exists, label, neighbour } => {
            let old = owned(context, name)?;
            let neighbour = neighbour.as_ref().map(|(before, label)| (*before, label.as_str()));
            add_value(context, old, *if_not_exists, label, neighbour).await?;
        }
        AlterType::RenameValue(from, to) => {
            let old = owned(context, name)?;
            let at = place_of(old, from)?;
            let name = label_name(to)?;
            if old.labels.iter().any(|label| label.name == name) {
                return Err(label_exists(&name));
            }
            let mut new = old.clone();
            let mut writer = context.writer();
            store(context, &mut writer, Renaming::Label(old, from, &name)).await?;
            if let Some(label) = new.labels.get_mut(at) {
                label.name = name;
            }
            writer.put_enum(Some(old), &new).await?;
            writer.flush().await?;
        }
        AlterType::AddAttribute(..)
        | AlterType::DropAttribute(..)
        | AlterType::AlterAttribute(..)
        | AlterType::RenameAttribute(..) => return Err(SqlError::unsupported("ALTER TYPE of an attribute")),
        AlterType::SetOptions(_) => return Err(SqlError::unsupported("ALTER TYPE SET")),
    }
    Ok("ALTER TYPE".into())
}

/// ADD VALUE, maybe before (true) or after a neighbour. Errors: 42710, 22023.
async fn add_value(
    context: &DdlContext,
    old: &'static EnumDescriptor,
    if_not_exists: bool,
    label: &str,
    neighbour: Option<(bool, &str)>,
) -> Result<()> {
    let name = label_name(label)?;
    if old.labels.iter().any(|label| label.name == name) {
        if if_not_exists {
            context.notice(state::DUPLICATE_OBJECT, format!("enum label \"{name}\" already exists, skipping"));
            return Ok(());
        }
        return Err(label_exists(&name));
    }
    let at = match neighbour {
        None => old.labels.len(),
        Some((before, label)) => place_of(old, label)? + usize::from(!before),
    };
    let place = old.new_place(at)?;
    let oid = context.store.numbers().oid().await?;
    let added_by = Some(context.transaction.start_ts().await?.0);
    let mut new = old.clone();
    new.labels.insert(at, EnumLabel { added_by, ..EnumLabel::new(oid, place, name) });
    let mut writer = context.writer();
    writer.put_enum(Some(old), &new).await?;
    writer.flush().await
}

/// Stores the relations that name the renamed enum or label.
async fn store(context: &DdlContext, writer: &mut CatalogWriter<'_>, renaming: Renaming<'_>) -> Result<()> {
    for relation in enum_references::renamed(context, renaming)? {
        context.take_alone(&relation).await?;
        writer.put_table(&relation).await?;
    }
    Ok(())
}

/// ALTER TYPE … RENAME TO, OWNER TO and SET SCHEMA. Returns the command tag.
pub(super) async fn change(context: &DdlContext, ty: &TypeName, change: &ObjectChange) -> Result<String> {
    let old = owned(context, plain_name(ty)?)?;
    let mut writer = context.writer();
    let mut new = old.clone();
    match change {
        ObjectChange::Rename(name) => {
            new.name.clone_from(&name.value);
            let taken = context.catalog.enum_named(Some(&old.schema), &new.name, &[]).is_some()
                || context.catalog.relation(Some(&old.schema), &new.name, &[]).is_some();
            if taken {
                return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("type \"{}\" already exists", new.name)));
            }
            store(context, &mut writer, Renaming::Type(old, &qualified(&new))).await?;
        }
        ObjectChange::Owner(role) => {
            let role = owner::role_of(context, role)?;
            if role == old.owner {
                return Ok("ALTER TYPE".into());
            }
            owner::may_give(context, &old.schema, role)?;
            super::grant::change_owner(&mut new.acl, old.owner, role);
            new.owner = role;
        }
        ObjectChange::Schema(schema) => {
            let schema = context.schema(&schema.value)?;
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
        _ => return Err(SqlError::unsupported("this ALTER TYPE")),
    }
    writer.put_enum(Some(old), &new).await?;
    writer.flush().await?;
    Ok("ALTER TYPE".into())
}

/// COMMENT ON TYPE. Errors: 42704, and 0A000 for types other than enums.
pub(super) async fn comment(context: &DdlContext, name: &Name, text: Option<String>) -> Result<()> {
    let Some(old) = find(context, name)? else {
        catalog_type(&type_named(name), &context.catalog, context.settings.search_path(), false)?;
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
