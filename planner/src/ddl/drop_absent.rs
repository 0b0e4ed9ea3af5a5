//! DROP of kinds of objects of which there are none: what is named is not there.

use super::{DdlContext, enumeration, function};
use crate::error::{Result, SqlError, state};
use crate::parse::{AbsentObject, DropAbsent, fold_name};

/// Says of each object that it is not there: an error, or with IF EXISTS a notice.
/// Errors: 42704, 42P01, 42883; 42809 for what is of another kind; 0A000 for what the system has.
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

/// That an object is not there, as PostgreSQL says it.
fn missing(context: &DdlContext, drop: &DropAbsent, object: &AbsentObject) -> Result<SqlError> {
    let (_, name) = fold_name(&object.name)?;
    let word = drop.kind.to_lowercase();
    let undefined = |message: String| SqlError::new(state::UNDEFINED_OBJECT, message);
    if let Some(on) = &object.on {
        let Some(table) = context.find(on)? else { return Ok(context.no_relation(on)) };
        // A notice about a policy names its table otherwise.
        let relation = drop.kind == "RULE" || drop.kind == "POLICY" && drop.if_exists;
        let of = if relation { "relation" } else { "table" };
        return Ok(undefined(format!("{word} \"{name}\" for {of} \"{}\" does not exist", table.name)));
    }
    match drop.kind {
        "AGGREGATE" | "PROCEDURE" => {
            let Some(types) = &object.arguments else {
                let message = format!("could not find a procedure named \"{name}\"");
                return Ok(SqlError::new(state::UNDEFINED_FUNCTION, message));
            };
            match function::named(context, &word, &object.name, types) {
                Err(error) if matches!(error.state(), state::UNDEFINED_FUNCTION | state::UNDEFINED_OBJECT) => Ok(error),
                Err(error) => Err(error),
                Ok(()) => {
                    let message = format!("cannot drop function {name} because it is required by the database system");
                    Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message))
                }
            }
        }
        "DOMAIN" => match enumeration::find(context, &object.name)? {
            Some(_) => Err(other_kind(&name, "a domain")),
            None if super::drop_type::built_in(context, &object.name).is_some() => Err(other_kind(&name, "a domain")),
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
        _ => Ok(undefined(format!("{word} \"{name}\" does not exist"))),
    }
}
