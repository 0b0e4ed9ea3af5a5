//! `has_table_privilege` and its kin, and `pg_has_role`. The statement's role asks unless an argument names another.

use super::super::visible::is_open;
use super::{Arguments, function, relation, role, some_bool};
use catalog::acl::{self, Acl, Kind, Rights};
use catalog::{RelationKind, TableDescriptor};
use datafusion::arrow::array::{ArrayRef, new_empty_array};
use datafusion::scalar::ScalarValue;
use executor::StatementContext;
use functions::{Call, Kernel, ScalarFunction, Stability};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{Datum, Oid, SqlType};

/// The functions `has_…_privilege` and `pg_has_role`.
pub(super) fn functions() -> Vec<ScalarFunction> {
    /// Parses privileges, each with its WITH GRANT OPTION flag. Errors: 22023.
    fn named(text: &str, kind: Kind) -> Result<Vec<(Rights, bool)>> {
        text.split(',')
            .map(|part| {
                let upper = part.trim().to_ascii_uppercase();
                let (name, option) = match upper.strip_suffix(" WITH GRANT OPTION") {
                    Some(name) => (name.to_string(), true),
                    None => (upper, false),
                };
                let found = acl::NAMES.iter().find(|(known, right)| *known == name && right & kind.all() != 0);
                match found {
                    Some((_, right)) => Ok((*right, option)),
                    None => {
                        let message = format!("unrecognized privilege type: \"{}\"", part.trim());
                        Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
                    }
                }
            })
            .collect()
    }
    fn holds(
        context: &StatementContext,
        user: Oid,
        kind: Kind,
        (owner, acl): (Oid, Option<&Acl>),
        wanted: &[(Rights, bool)],
    ) -> bool {
        wanted.iter().any(|(right, option)| match option {
            false => context.catalog.rights(user, kind, owner, acl, *right) != 0,
            true => context.catalog.grantable(user, kind, owner, acl, *right) != 0,
        })
    }
    fn last(arguments: &Arguments) -> &str {
        arguments.text(arguments.0.len().saturating_sub(1)).unwrap_or_default()
    }
    fn of_system(context: &StatementContext, table: &TableDescriptor, user: Oid, wanted: &[(Rights, bool)]) -> bool {
        let reads = wanted.contains(&(acl::SELECT, false));
        table.kind == RelationKind::SystemView && (context.catalog.is_superuser(user) || reads && is_open(table))
    }
    fn on_table(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let wanted = named(last(arguments), Kind::Table)?;
        let Some(table) = relation(context, arguments, at)? else { return Ok(None) };
        if table.kind == RelationKind::SystemView {
            let reads = wanted.iter().any(|(right, _)| *right == acl::SELECT);
            let open = reads && is_open(&table);
            return some_bool(open || context.catalog.is_superuser(user));
        }
        some_bool(holds(context, user, Kind::Table, (table.owner, table.acl.as_ref()), &wanted))
    }
    fn on_any_column(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let wanted = named(last(arguments), Kind::Column)?;
        let Some(table) = relation(context, arguments, at)? else { return Ok(None) };
        let whole = holds(context, user, Kind::Table, (table.owner, table.acl.as_ref()), &wanted)
            || of_system(context, &table, user, &wanted);
        some_bool(
            whole
                || table
                    .live_columns()
                    .any(|column| holds(context, user, Kind::Column, (table.owner, Some(&column.acl)), &wanted)),
        )
    }
    fn on_column(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let wanted = named(last(arguments), Kind::Column)?;
        let Some(table) = relation(context, arguments, at)? else { return Ok(None) };
        let column = match arguments.0.get(at + 1) {
            Some(ScalarValue::Int16(Some(number))) => table.live_columns().find(|column| column.id == *number),
            _ => {
                let name = arguments.text(at + 1).unwrap_or_default();
                let found = table.column_named(name);
                if found.is_none() {
                    let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
                    return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
                }
                found
            }
        };
        let Some(column) = column else { return Ok(None) };
        some_bool(
            of_system(context, &table, user, &wanted)
                || holds(context, user, Kind::Table, (table.owner, table.acl.as_ref()), &wanted)
                || holds(context, user, Kind::Column, (table.owner, Some(&column.acl)), &wanted),
        )
    }
    fn on_sequence(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let Some(table) = relation(context, arguments, at)? else { return Ok(None) };
        if table.kind != RelationKind::Sequence {
            let message = format!("\"{}\" is not a sequence", table.name);
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        let wanted = named(last(arguments), Kind::Sequence)?;
        some_bool(holds(context, user, Kind::Sequence, (table.owner, table.acl.as_ref()), &wanted))
    }
    fn on_schema(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let schema = match (arguments.oid(at), arguments.text(at)) {
            (Some(oid), _) => context.catalog.schema_by_oid(oid),
            (None, name) => context.catalog.schema(name.unwrap_or_default()),
        };
        let Some(schema) = schema else {
            return match arguments.text(at) {
                Some(name) => {
                    Err(SqlError::new(state::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")))
                }
                None => Ok(None),
            };
        };
        let wanted = named(last(arguments), Kind::Schema)?;
        let own = catalog::acl::schema_acl(&schema);
        some_bool(holds(context, user, Kind::Schema, (schema.owner, own.as_ref()), &wanted))
    }
    fn on_database(context: &StatementContext, arguments: &Arguments, user: Oid, at: usize) -> Result<Option<Datum>> {
        let databases = context.catalog.databases();
        let found = databases.iter().find(|database| match (arguments.oid(at), arguments.text(at)) {
            (Some(oid), _) => database.oid == oid,
            (None, name) => Some(database.name.as_str()) == name,
        });
        let Some(database) = found else {
            return match arguments.text(at) {
                Some(name) => {
                    Err(SqlError::new(state::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")))
                }
                None => Ok(None),
            };
        };
        let wanted = named(last(arguments), Kind::Database)?;
        some_bool(holds(context, user, Kind::Database, (database.owner, database.acl.as_ref()), &wanted))
    }
    fn on_tablespace(context: &StatementContext, _: &Arguments, user: Oid, _: usize) -> Result<Option<Datum>> {
        some_bool(context.catalog.is_superuser(user))
    }
    type On = fn(&StatementContext, &Arguments, Oid, usize) -> Result<Option<Datum>>;
    fn with_user(on: On, user_first: bool) -> Kernel {
        Arc::new(move |call: &Call<'_>| -> Result<ArrayRef> {
            let context = call.context()?;
            let mut values = Vec::with_capacity(call.rows);
            for row in 0..call.rows {
                let arguments = call
                    .arguments
                    .iter()
                    .map(|array| Ok(ScalarValue::try_from_array(array, Call::row_of(array, row))?))
                    .collect::<Result<Vec<_>>>()?;
                if arguments.iter().any(ScalarValue::is_null) {
                    values.push(Datum::Boolean(None));
                    continue;
                }
                let arguments = Arguments(arguments);
                let user = match (user_first, arguments.text(0)) {
                    (true, Some("public")) => acl::PUBLIC,
                    (true, _) => role(&context, &arguments, 0)?,
                    (false, _) => context.role(),
                };
                let value = on(&context, &arguments, user, usize::from(user_first))?;
                values.push(value.unwrap_or(Datum::Boolean(None)));
            }
            if values.is_empty() {
                return Ok(new_empty_array(&SqlType::BOOL.arrow()));
            }
            Ok(ScalarValue::iter_to_array(values)?)
        })
    }
    let mut all = Vec::new();
    let (text, oid, name, int2) = (SqlType::TEXT, SqlType::OID, SqlType::NAME, SqlType::INT2);
    let kinds: [(&'static str, On, bool); 7] = [
        ("has_table_privilege", on_table, false),
        ("has_any_column_privilege", on_any_column, false),
        ("has_sequence_privilege", on_sequence, false),
        ("has_column_privilege", on_column, true),
        ("has_schema_privilege", on_schema, false),
        ("has_database_privilege", on_database, false),
        ("has_tablespace_privilege", on_tablespace, false),
    ];
    for (function_name, on, column) in kinds {
        for object in [text, oid] {
            let columns: &[Option<SqlType>] = if column { &[Some(text), Some(int2)] } else { &[None] };
            for column in columns {
                let mut arguments = vec![object];
                arguments.extend(column);
                arguments.push(text);
                for user in [None, Some(name), Some(oid)] {
                    let mut arguments = arguments.clone();
                    if let Some(user) = user {
                        arguments.insert(0, user);
                    }
                    let kernel = with_user(on, user.is_some());
                    all.push(ScalarFunction::new(function_name, &arguments, SqlType::BOOL, Stability::Stable, kernel));
                }
            }
        }
    }
    // USAGE means the role's privileges, MEMBER means SET ROLE, WITH ADMIN OPTION means the right to add members.
    fn has_role(context: &StatementContext, arguments: &Arguments, user: Oid, of: Oid) -> Result<Option<Datum>> {
        let catalog = &context.catalog;
        let mut any = false;
        for wanted in last(arguments).split(',') {
            any |= match wanted.trim().to_ascii_uppercase().as_str() {
                "USAGE" => catalog.owns(user, of),
                "MEMBER" => catalog.is_superuser(user) || catalog.is_member(user, of),
                "USAGE WITH GRANT OPTION"
                | "USAGE WITH ADMIN OPTION"
                | "MEMBER WITH GRANT OPTION"
                | "MEMBER WITH ADMIN OPTION" => catalog.administers(user, of),
                _ => {
                    let message = format!("unrecognized privilege type: \"{}\"", wanted.trim());
                    return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
                }
            };
        }
        some_bool(any)
    }
    for object in [name, oid] {
        all.push(function("pg_has_role", &[object, text], SqlType::BOOL, |context, arguments| {
            has_role(context, arguments, context.role(), role(context, arguments, 0)?)
        }));
        for user in [name, oid] {
            all.push(function("pg_has_role", &[user, object, text], SqlType::BOOL, |context, arguments| {
                has_role(context, arguments, role(context, arguments, 0)?, role(context, arguments, 1)?)
            }));
        }
    }
    all
}
