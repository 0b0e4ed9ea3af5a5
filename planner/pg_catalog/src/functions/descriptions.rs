//! Descriptions of objects: `pg_describe_object` and `pg_identify_object`. The statement's catalog resolves names.

use super::super::builtin::ALL_OPERATORS;
use super::super::object_names::{collation_name, name};
use super::super::{describe, present};
use super::objects::function_of;
use catalog::{RelationKind, TableDescriptor};
use executor::StatementContext;
use syntax::names::quote;
use types::{BaseType, Oid};

/// The result of `pg_identify_object`: kind, schema, name, identity.
pub(in super::super) struct Identity {
    pub(in super::super) kind: String,
    pub(in super::super) schema: Option<String>,
    pub(in super::super) name: Option<String>,
    pub(in super::super) identity: String,
}

fn word(table: &TableDescriptor) -> &'static str {
    match table.kind {
        RelationKind::Sequence => "sequence",
        RelationKind::View => "view",
        _ => match describe::relation_kind(table) {
            "v" => "view",
            _ => "table",
        },
    }
}

/// The description of an object. `None` if it does not exist.
pub(in super::super) fn described(context: &StatementContext, class: Oid, oid: Oid, part: i64) -> Option<String> {
    let (catalog, path) = (&context.catalog, context.settings.search_path());
    let named = |base| name(base, oid, Some(catalog.as_ref()), path);
    Some(match class {
        1259 => {
            let shown = describe::relation_name(catalog, oid, path)?;
            let Some(table) = catalog.relation_by_oid(oid) else { return Some(format!("index {shown}")) };
            match i16::try_from(part).ok().filter(|part| *part != 0) {
                Some(part) => format!("column {} of {} {shown}", quote(&table.column(part)?.name), word(&table)),
                None => format!("{} {shown}", word(&table)),
            }
        }
        1247 => format!("type {}", named(BaseType::Regtype)?),
        1255 => format!("function {}", named(BaseType::Regprocedure)?),
        2617 => format!("operator {}", named(BaseType::Regoperator)?),
        2615 => format!("schema {}", catalog.schema_by_oid(oid)?.name),
        1260 => format!("role {}", catalog.role_by_oid(oid)?.name),
        1262 => format!("database {}", catalog.databases().iter().find(|database| database.oid == oid)?.name),
        3456 => format!("collation {}", named(BaseType::Regcollation)?),
        2605 => {
            let row = present::casts().find(|row| row.oid(0) == oid)?;
            let ty = |at| describe::format_type(row.oid(at), None);
            format!("cast from {} to {}", ty(1), ty(2))
        }
        2606 => catalog.relations_with(oid).find_map(|table| {
            let index = table.indexes.iter().find(|index| index.constraint == Some(oid)).map(|index| &index.name);
            let check = table.checks.iter().find(|check| check.oid == oid).map(|check| &check.name);
            let key = table.foreign_keys.iter().find(|key| key.oid == oid).map(|key| &key.name);
            let found = index.or(check).or(key)?;
            let shown = describe::relation_name(catalog, table.oid, path)?;
            Some(format!("constraint {} on table {shown}", quote(found)))
        })?,
        2604 => catalog.relations_with(oid).find_map(|table| {
            let column = table.live_columns().find(|column| describe::default_oid(table.oid, column.id) == oid)?;
            let shown = describe::relation_name(catalog, table.oid, path)?;
            Some(format!("default value for column {} of {} {shown}", quote(&column.name), word(table)))
        })?,
        _ => return None,
    })
}

/// The [`Identity`] of an object. `None` if it does not exist.
pub(in super::super) fn identified(context: &StatementContext, class: Oid, oid: Oid, part: i64) -> Option<Identity> {
    let catalog = &context.catalog;
    let plain = |kind: &str, name: &str| Identity {
        kind: kind.to_string(),
        schema: None,
        name: Some(quote(name)),
        identity: quote(name),
    };
    let builtin = |kind: &str, name: Option<&str>, identity: String| Identity {
        kind: kind.to_string(),
        schema: Some("pg_catalog".to_string()),
        name: name.map(quote),
        identity,
    };
    let qualified = |oid: Oid| match oid {
        0 => "NONE".to_string(),
        oid => match super::super::builtin::TYPES.rows.iter().find(|row| row.oid(0) == oid) {
            Some(row) if row.field(4) != Some("p") && !describe::format_type(oid, None).contains(' ') => {
                format!("pg_catalog.{}", quote(row.field(1).unwrap_or_default()))
            }
            _ => describe::format_type(oid, None),
        },
    };
    Some(match class {
        1259 => {
            let table = catalog.relation_by_oid(oid);
            let index = catalog.index(oid);
            let (schema, name, kind) = match (&table, &index) {
                (Some(table), _) => (table.schema.clone(), table.name.clone(), word(table)),
                (None, Some((table, at))) => (table.schema.clone(), table.indexes.get(*at)?.name.clone(), "index"),
                (None, None) => return None,
            };
            let whole = format!("{}.{}", quote(&schema), quote(&name));
            let column = i16::try_from(part).ok().filter(|part| *part != 0);
            let (kind, identity) = match (column, table) {
                (Some(part), Some(table)) => {
                    (format!("{kind} column"), format!("{whole}.{}", quote(&table.column(part)?.name)))
                }
                _ => (kind.to_string(), whole),
            };
            Identity { kind, schema: Some(quote(&schema)), name: Some(quote(&name)), identity }
        }
        1247 => {
            let row = present::types().find(|row| row.oid(0) == oid)?;
            builtin("type", row.field(1), describe::format_type(oid, None))
        }
        1255 => {
            let function = function_of(Some(oid))?;
            let arguments: Vec<String> = function.arguments.iter().map(|oid| qualified(*oid)).collect();
            let kind = if function.kind == "a" { "aggregate" } else { "function" };
            builtin(kind, None, format!("pg_catalog.{}({})", quote(function.name), arguments.join(",")))
        }
        2617 => {
            let operator = ALL_OPERATORS.iter().find(|operator| operator.oid == oid)?;
            let identity =
                format!("pg_catalog.{}({},{})", operator.name, qualified(operator.left), qualified(operator.right));
            builtin("operator", None, identity)
        }
        2615 => plain("schema", &catalog.schema_by_oid(oid)?.name),
        1260 => plain("role", &catalog.role_by_oid(oid)?.name),
        1262 => plain("database", &catalog.databases().iter().find(|database| database.oid == oid)?.name),
        3456 => {
            let name = collation_name(oid)?;
            builtin("collation", Some(name), format!("pg_catalog.{}", quote(name)))
        }
        _ => return None,
    })
}
