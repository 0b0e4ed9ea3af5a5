//! Functions that statements name (only the system's exist), and the extension plpgsql.

use super::DdlContext;
use binder::catalog_type;
use pg_catalog::object_names;
use sql_error::{Result, SqlError, state};
use syntax::ast::{CreateExtension, Name, ParameterMode, RoutineReference, TypeName};
use syntax::fold_name;
use types::BaseType;

/// Checks that a function with this name and these argument types exists. Errors: 42883, and 42704 for an unknown type.
pub(super) fn named(context: &DdlContext, word: &str, name: &Name, types: &[TypeName]) -> Result<()> {
    let path = context.settings.search_path();
    let mut arguments = Vec::with_capacity(types.len());
    for ty in types {
        let ty = catalog_type(ty, &context.catalog, path, false)?;
        arguments.push(context.catalog.type_name(ty.plain(), path));
    }
    let (schema, name) = fold_name(name)?;
    let shown = schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"));
    let signature = format!("{shown}({})", arguments.join(","));
    match object_names::read(BaseType::Regprocedure, &signature, Some(&context.catalog), path) {
        Ok(_) => Ok(()),
        Err(error) if error.state() == state::UNDEFINED_FUNCTION => {
            let message = format!("{word} {shown}({}) does not exist", arguments.join(", "));
            Err(SqlError::new(state::UNDEFINED_FUNCTION, message))
        }
        Err(error) => Err(error),
    }
}

/// The error for a missing function, which DROP … IF EXISTS sends as a notice.
pub(super) fn absent(word: &str, name: &Name, types: &[TypeName]) -> Result<SqlError> {
    let (schema, name) = fold_name(name)?;
    let shown = schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"));
    let arguments: Vec<String> = types.iter().map(super::type_name::as_read).collect();
    let message = format!("{word} {shown}({}) does not exist", arguments.join(","));
    Ok(SqlError::new(state::UNDEFINED_FUNCTION, message))
}

/// CREATE EXTENSION of plpgsql, with which schema dumps begin. It already exists in every database of PostgreSQL.
/// Definitions of functions are refused separately. Errors: 42710, and 0A000 for all other extensions.
pub(super) fn create_extension(context: &DdlContext, create: &CreateExtension) -> Result<String> {
    let name = &create.name.value;
    if name != "plpgsql" {
        return Err(SqlError::unsupported("CREATE EXTENSION"));
    }
    let message = format!("extension \"{name}\" already exists");
    if !create.if_not_exists {
        return Err(SqlError::new(state::DUPLICATE_OBJECT, message));
    }
    context.notice(state::DUPLICATE_OBJECT, format!("{message}, skipping"));
    Ok("CREATE EXTENSION".into())
}

/// DROP FUNCTION. Errors: 42883, and 2BP01 for system functions.
pub(super) fn drop(context: &DdlContext, if_exists: bool, functions: &[&RoutineReference]) -> Result<String> {
    for function in functions {
        // Results do not tell functions apart.
        let given = function.parameters.iter().flatten().filter(|given| given.mode != Some(ParameterMode::Out));
        let types: Vec<TypeName> = given.map(|given| given.data_type.clone()).collect();
        let schema = fold_name(&function.name)?.0.map_or(Ok(()), |schema| context.schema(&schema).map(|_| ()));
        if let Err(error) = schema.and_then(|()| super::type_name::known(context, &types)) {
            if !if_exists {
                return Err(error);
            }
            context.notice(state::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.fields().message));
            continue;
        }
        let found = match &function.parameters {
            Some(_) => named(context, "function", &function.name, &types),
            None => {
                let (_, name) = fold_name(&function.name)?;
                match object_names::read(BaseType::Regproc, &name, Some(&context.catalog), &[]) {
                    Err(error) if error.state() == state::UNDEFINED_FUNCTION => {
                        let message = format!("could not find a function named \"{name}\"");
                        Err(SqlError::new(state::UNDEFINED_FUNCTION, message))
                    }
                    found => found.map(|_| ()),
                }
            }
        };
        match found {
            Err(error) if if_exists && error.state() == state::UNDEFINED_FUNCTION => {
                let message = match &function.parameters {
                    Some(_) => absent("function", &function.name, &types)?.fields().message.clone(),
                    None => format!("function {}() does not exist", fold_name(&function.name)?.1),
                };
                context.notice(state::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            }
            Err(error) => return Err(error),
            Ok(()) => {
                let message =
                    format!("cannot drop function {} because it is required by the database system", function.name);
                return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
            }
        }
    }
    Ok("DROP FUNCTION".into())
}
