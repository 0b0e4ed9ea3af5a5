//! DROP of kinds of objects that cannot exist here.

use super::{DdlContext, enumeration, function, type_name};
use binder::catalog_type;
use pg_catalog::present;
use sql_error::{Result, SqlError, state};
use syntax::{AbsentObject, DropAbsent, fold_name};

/// Reports each named object as missing: with an error, or with a notice for IF EXISTS. Errors: 42704, 42P01, 42883,
/// 42809 for an object of another kind, and 0A000 for a system object.
pub fn drop_absent(context: &DdlContext, drop: &DropAbsent) -> Result<String> {
    for object in &drop.objects {
        let error = missing(context, drop, object)?;
        if !drop.if_exists {
            return Err(error);
        }
        context.notice(state::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.fields().message));
    }
    Ok(format!("DROP {}", drop.kind))
}

fn other_kind(name: &str, wanted: &str) -> SqlError {
    SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{name}\" is not {wanted}"))
}

/// The error for a missing object, in PostgreSQL's words.
fn missing(context: &DdlContext, drop: &DropAbsent, object: &AbsentObject) -> Result<SqlError> {
    let (schema, name) = if object.name.parts.is_empty() { (None, String::new()) } else { fold_name(&object.name)? };
    let word = drop.kind.to_lowercase();
    let undefined = |message: String| SqlError::new(state::UNDEFINED_OBJECT, message);
    let on = object.on.as_ref().map(fold_name).transpose()?.and_then(|(schema, _)| schema);
    if let Some(schema) = on.or(schema)
        && let Err(error) = context.schema(&schema)
    {
        return Ok(error);
    }
    if let Some(types) = &object.arguments
        && let Err(error) = type_name::known(context, types)
    {
        return Ok(error);
    }
    if matches!(drop.kind, "OPERATOR" | "CAST" | "TRANSFORM") {
        return by_types(context, drop, object, &name);
    }
    if let Some(on) = &object.on {
        let Some(table) = context.find(on)? else { return Ok(context.no_relation(on)) };
        // The notice names the table differently.
        let relation = drop.kind == "RULE" || drop.if_exists;
        let of = if relation { "relation" } else { "table" };
        return Ok(undefined(format!("{word} \"{name}\" for {of} \"{}\" does not exist", table.name)));
    }
    match drop.kind {
        "AGGREGATE" | "PROCEDURE" | "ROUTINE" => {
            let word = if word == "routine" { "function".to_string() } else { word };
            let Some(types) = &object.arguments else {
                let message = format!("could not find a {word} named \"{name}\"");
                return Ok(SqlError::new(state::UNDEFINED_FUNCTION, message));
            };
            match function::named(context, &word, &object.name, types) {
                Err(error) if drop.if_exists && error.state() == state::UNDEFINED_FUNCTION => {
                    let word = drop.kind.to_lowercase();
                    Ok(function::absent(&word, &object.name, types)?)
                }
                Err(error) if matches!(error.state(), state::UNDEFINED_FUNCTION | state::UNDEFINED_OBJECT) => Ok(error),
                Err(error) => Err(error),
                Ok(()) => {
                    let path = context.settings.search_path();
                    let shown = types.iter().map(|ty| {
                        let found = catalog_type(ty, &context.catalog, path, false);
                        found.map(|ty| context.catalog.type_name(ty.plain(), path))
                    });
                    let shown = shown.collect::<Result<Vec<_>>>()?.join(",");
                    let message =
                        format!("cannot drop function {name}({shown}) because it is required by the database system");
                    Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message))
                }
            }
        }
        "DOMAIN" => match enumeration::find(context, &object.name)? {
            Some(_) => Err(other_kind(&name, "a domain")),
            None if super::drop_type::built_in(context, &enumeration::type_named(&object.name)).is_some() => {
                Err(other_kind(&name, "a domain"))
            }
            None => Ok(undefined(format!("type \"{name}\" does not exist"))),
        },
        "FOREIGN TABLE" | "MATERIALIZED VIEW" => match context.find(&object.name)? {
            Some(table) => Err(super::drop::wrong_kind(&table, &format!("a {word}"))),
            None if drop.kind == "FOREIGN TABLE" => Ok(undefined(format!("foreign table \"{name}\" does not exist"))),
            None => {
                let message = format!("materialized view \"{name}\" does not exist");
                Ok(SqlError::new(state::UNDEFINED_TABLE, message))
            }
        },
        "TABLESPACE" if matches!(name.as_str(), "pg_default" | "pg_global") => {
            Err(SqlError::unsupported("DROP TABLESPACE"))
        }
        "EXTENSION" if name == "plpgsql" => Err(SqlError::unsupported("DROP EXTENSION")),
        "FOREIGN DATA WRAPPER" => Ok(undefined(format!("foreign-data wrapper \"{name}\" does not exist"))),
        "STATISTICS" => Ok(undefined(format!("statistics object \"{name}\" does not exist"))),
        "COLLATION" | "LANGUAGE" | "CONVERSION" | "ACCESS METHOD" if is_of_system(drop.kind, &name) => {
            let name = syntax::names::quote(&name);
            let message = format!("cannot drop {word} {name} because it is required by the database system");
            Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message))
        }
        "COLLATION" if drop.if_exists => Ok(undefined(format!("collation \"{name}\" does not exist"))),
        "COLLATION" => Ok(undefined(format!("collation \"{name}\" for encoding \"UTF8\" does not exist"))),
        "OPERATOR CLASS" | "OPERATOR FAMILY" => {
            let method = object.of.as_deref().unwrap_or_default();
            if !ACCESS_METHODS.contains(&method) {
                return Err(undefined(format!("access method \"{method}\" does not exist")));
            }
            if method == "btree" && name.ends_with("_ops") {
                return Err(SqlError::unsupported(format!("DROP {}", drop.kind)));
            }
            Ok(undefined(format!("{word} \"{name}\" does not exist for access method \"{method}\"")))
        }
        "USER MAPPING" => {
            let server = object.of.as_deref().unwrap_or_default();
            Ok(undefined(format!("server \"{server}\" does not exist")))
        }
        _ => Ok(undefined(format!("{word} \"{name}\" does not exist"))),
    }
}

const ACCESS_METHODS: [&str; 6] = ["btree", "hash", "gist", "gin", "spgist", "brin"];

/// Whether PostgreSQL has a system object of this name, which cannot be dropped.
fn is_of_system(kind: &str, name: &str) -> bool {
    match kind {
        "COLLATION" => matches!(name, "default" | "C" | "POSIX" | "ucs_basic" | "C.utf8"),
        "LANGUAGE" => matches!(name, "internal" | "c" | "sql" | "plpgsql"),
        "ACCESS METHOD" => name == "heap" || ACCESS_METHODS.contains(&name),
        _ => name.contains("_to_"),
    }
}

/// The error for a missing operator, cast or transform between types. Errors: 0A000 for a system object.
fn by_types(context: &DdlContext, drop: &DropAbsent, object: &AbsentObject, name: &str) -> Result<SqlError> {
    let path = context.settings.search_path();
    let types = object.arguments.as_deref().unwrap_or_default();
    let (mut oids, mut shown) = (Vec::with_capacity(types.len()), Vec::with_capacity(types.len()));
    for ty in types {
        let found = catalog_type(ty, &context.catalog, path, false)?;
        oids.push(found.oid());
        shown.push(context.catalog.type_name(found.plain(), path));
    }
    let (from, to) = (shown.first().cloned().unwrap_or_default(), shown.get(1).cloned().unwrap_or_default());
    let undefined = |message: String| Ok(SqlError::new(state::UNDEFINED_OBJECT, message));
    match drop.kind {
        "CAST" if matches!(oids.as_slice(), [from, to] if present::has_cast(*from, *to)) => {
            let message = format!("cannot drop cast from {from} to {to} because it is required by the database system");
            Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message))
        }
        "CAST" => {
            let read = if drop.if_exists { types.iter().map(type_name::as_read).collect() } else { shown };
            let (from, to) = (read.first().cloned().unwrap_or_default(), read.get(1).cloned().unwrap_or_default());
            undefined(format!("cast from type {from} to type {to} does not exist"))
        }
        "TRANSFORM" => {
            let language = object.of.as_deref().unwrap_or_default();
            let from = if drop.if_exists { types.first().map(type_name::as_read).unwrap_or_default() } else { from };
            undefined(format!("transform for type {from} language \"{language}\" does not exist"))
        }
        "OPERATOR"
            if matches!(oids.as_slice(), [left, right] if present::has_operator(name, *left, *right))
                || matches!(oids.as_slice(), [right] if present::has_operator(name, 0, *right)) =>
        {
            let operands = if shown.len() == 1 { format!("none,{from}") } else { format!("{from},{to}") };
            let message =
                format!("cannot drop operator {name}({operands}) because it is required by the database system");
            Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message))
        }
        _ if drop.if_exists => Ok(SqlError::new(state::UNDEFINED_FUNCTION, format!("operator {name} does not exist"))),
        _ => {
            let operands = if shown.len() == 1 { format!("{name} {from}") } else { format!("{from} {name} {to}") };
            let message = format!("operator does not exist: {operands}");
            Ok(SqlError::new(state::UNDEFINED_FUNCTION, message))
        }
    }
}
