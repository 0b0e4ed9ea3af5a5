//! Functions for clients that query the catalog: `format_type`, `pg_get_indexdef`, `pg_table_is_visible`,
//! `has_table_privilege` and others. They read the catalog of the current statement. `describe` computes their results.

mod column_size;
pub(super) mod descriptions;
mod objects;
mod privilege;
mod properties;
mod table_counts;
mod various;

use super::deparse::Context;
use super::describe;
use super::pg_description::comment;
use super::privileges;
use super::view_definition::{Layout, view_definition};
use catalog::acl::{CONNECT, Kind};
use catalog::{DatabaseDescriptor, RelationKind, TableDescriptor, predefined};
use context::large_object::LargeObjects;
use datafusion::arrow::array::{ArrayRef, new_empty_array, new_null_array};
use datafusion::scalar::ScalarValue;
use executor::StatementContext;
use functions::{Call, Kernel, Param, ResultType, ScalarFunction, Stability, wait};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::names::quote;
use types::encoding;
use types::{BaseType, Datum, Oid, SqlType};

/// The arguments of one row.
struct Arguments(Vec<Datum>);

impl Arguments {
    fn oid(&self, at: usize) -> Option<Oid> {
        match self.0.get(at) {
            Some(Datum::Int64(Some(value))) => Oid::try_from(*value).ok(),
            _ => None,
        }
    }
    fn integer(&self, at: usize) -> Option<i64> {
        match self.0.get(at) {
            Some(Datum::Int16(Some(value))) => Some(i64::from(*value)),
            Some(Datum::Int32(Some(value))) => Some(i64::from(*value)),
            Some(Datum::Int64(Some(value))) => Some(*value),
            _ => None,
        }
    }
    fn text(&self, at: usize) -> Option<&str> {
        match self.0.get(at) {
            Some(Datum::Utf8(Some(value))) => Some(value),
            _ => None,
        }
    }
    fn boolean(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Datum::Boolean(Some(true))))
    }
}

/// Computes the result for one row.
type Compute = fn(&StatementContext, &Arguments) -> Result<Option<Datum>>;

fn kernel(compute: Compute, strict: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| -> Result<ArrayRef> {
        let context = call.context()?;
        let ty = call.result.arrow();
        let null = ScalarValue::try_from(&ty)?;
        let mut values = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let arguments = call
                .arguments
                .iter()
                .map(|array| Ok(ScalarValue::try_from_array(array, Call::row_of(array, row))?))
                .collect::<Result<Vec<_>>>()?;
            let value = if strict && arguments.iter().any(ScalarValue::is_null) {
                None
            } else {
                compute(&context, &Arguments(arguments))?
            };
            values.push(value.unwrap_or_else(|| null.clone()));
        }
        if values.is_empty() {
            return Ok(new_empty_array(&ty));
        }
        Ok(ScalarValue::iter_to_array(values)?)
    })
}

fn function(name: &'static str, arguments: &[SqlType], result: SqlType, compute: Compute) -> ScalarFunction {
    ScalarFunction::new(name, arguments, result, Stability::Stable, kernel(compute, true))
}

/// A function that returns NULL, because the objects that it describes are not supported.
fn null(name: &'static str, arguments: &[SqlType], result: SqlType) -> ScalarFunction {
    let kernel: Kernel = Arc::new(|call: &Call<'_>| Ok(new_null_array(&call.result.arrow(), call.rows)));
    ScalarFunction::new(name, arguments, result, Stability::Immutable, kernel)
}

fn some_text(text: impl Into<String>) -> Result<Option<Datum>> {
    Ok(Some(Datum::Utf8(Some(text.into()))))
}

fn some_bool(value: bool) -> Result<Option<Datum>> {
    Ok(Some(Datum::Boolean(Some(value))))
}

fn some_oid(oid: Oid) -> Result<Option<Datum>> {
    Ok(Some(Datum::Int64(Some(i64::from(oid)))))
}

/// The name of a type, qualified unless the search path finds it.
fn type_name(context: &StatementContext, oid: Oid) -> String {
    match context.catalog.type_by_oid(oid).filter(|_| SqlType::from_oid(oid).is_none()) {
        Some(ty) => context.catalog.type_name(ty, context.settings.search_path()),
        None => describe::format_type(oid, None),
    }
}

/// Every function of this module.
pub fn functions() -> Vec<ScalarFunction> {
    let mut all = definitions();
    all.extend(objects::functions());
    all.extend(super::row_functions::functions());
    all.extend(various::functions());
    all.push(column_size::function());
    all.extend(descriptions());
    all.extend(updatability());
    all.extend(privilege::functions());
    all.extend(properties::functions());
    all.extend(table_counts::functions());
    all.extend(sizes());
    all.extend(lookups());
    all.extend(facts());
    all
}

/// Functions that return definitions as SQL text.
fn definitions() -> Vec<ScalarFunction> {
    /// The same arguments with the OID of the relation that the first one names. Errors: 42P01.
    fn named(context: &StatementContext, arguments: &Arguments) -> Result<Arguments> {
        let name = arguments.text(0).unwrap_or_default();
        let Some(oid) = find_relation(context, name)? else {
            return Err(SqlError::new(state::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")));
        };
        let rest = arguments.0.iter().skip(1).cloned();
        Ok(Arguments(std::iter::once(Datum::Int64(Some(i64::from(oid)))).chain(rest).collect()))
    }
    fn expression(context: &StatementContext, arguments: &Arguments, pretty: bool) -> Result<Option<Datum>> {
        let table = arguments.oid(1).and_then(|oid| context.catalog.relation_by_oid(oid));
        let stored = arguments.text(0).unwrap_or_default();
        let reader = Context::of_statement(context);
        some_text(describe::stored_expression(&reader, table.as_deref(), stored, pretty))
    }
    fn index(
        context: &StatementContext,
        arguments: &Arguments,
        column: i64,
        with_schema: bool,
        pretty: bool,
    ) -> Result<Option<Datum>> {
        let Some((table, position)) = arguments.oid(0).and_then(|oid| context.catalog.index(oid)) else {
            return Ok(None);
        };
        let Some(index) = table.indexes.get(position) else { return Ok(None) };
        let reader = Context::of_statement(context);
        if column == 0 {
            return some_text(describe::index_definition(&reader, &table, index, with_schema, pretty));
        }
        let column = i32::try_from(column).unwrap_or(i32::MAX);
        some_text(describe::index_column(&reader, &table, index, column, pretty).unwrap_or_default())
    }
    fn index_schema_shown(context: &StatementContext, arguments: &Arguments) -> bool {
        // Pretty printing omits the schema of a visible table.
        let table = arguments.oid(0).and_then(|oid| context.catalog.index(oid)).map(|(table, _)| table.oid);
        let path = context.settings.search_path();
        table.and_then(|oid| describe::relation_is_visible(&context.catalog, oid, path)) != Some(true)
    }
    fn constraint(context: &StatementContext, arguments: &Arguments, pretty: bool) -> Result<Option<Datum>> {
        let reader = Context::of_statement(context);
        let text = arguments.oid(0).and_then(|oid| describe::constraint_definition(&reader, oid, pretty));
        Ok(text.map(|text| Datum::Utf8(Some(text))))
    }
    fn view(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
        let view = arguments.oid(0).and_then(|oid| context.catalog.relation_by_oid(oid));
        // The second argument is the pretty flag or the line length.
        let length = arguments.integer(1);
        let layout = Layout {
            pretty: length.is_some() || arguments.boolean(1),
            wrap: usize::try_from(length.unwrap_or(0)).ok(),
        };
        let reader = Context::of_statement(context);
        Ok(view.and_then(|view| view_definition(&reader, &view, layout)).map(|text| Datum::Utf8(Some(text))))
    }
    // The only rule of a view is that of its query.
    fn rule(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
        let behind = |table: &Arc<TableDescriptor>| table.view.as_ref().map(|view| view.rule) == arguments.oid(0);
        let Some(view) =
            arguments.oid(0).and_then(|oid| context.catalog.relations_with(oid).find(|table| behind(table)).cloned())
        else {
            return Ok(None);
        };
        let pretty = arguments.boolean(1);
        let path = context.settings.search_path();
        let visible = describe::relation_is_visible(&context.catalog, view.oid, path) == Some(true);
        let schema = if pretty && visible { String::new() } else { format!("{}.", quote(&view.schema)) };
        let query = view_definition(&Context::of_statement(context), &view, Layout { pretty, wrap: Some(0) });
        Ok(query.map(|query| {
            let text = format!(
                "CREATE RULE \"_RETURN\" AS\n    ON SELECT TO {schema}{} DO INSTEAD {query}",
                quote(&view.name)
            );
            Datum::Utf8(Some(text))
        }))
    }
    let mut format_type = function("format_type", &[SqlType::OID, SqlType::INT4], SqlType::TEXT, |_, _| Ok(None));
    format_type.kernel = kernel(
        |context, arguments| match arguments.oid(0) {
            Some(oid) => {
                let modifier = arguments.integer(1).and_then(|modifier| i32::try_from(modifier).ok());
                some_text(match context.catalog.type_by_oid(oid).filter(|_| SqlType::from_oid(oid).is_none()) {
                    Some(_) => type_name(context, oid),
                    None => describe::format_type(oid, modifier),
                })
            }
            None => Ok(None),
        },
        false,
    );
    let (text, oid, int4, boolean) = (SqlType::TEXT, SqlType::OID, SqlType::INT4, SqlType::BOOL);
    vec![
        format_type,
        function("pg_get_expr", &[text, oid], text, |context, arguments| expression(context, arguments, false)),
        function("pg_get_expr", &[text, oid, boolean], text, |context, arguments| {
            expression(context, arguments, arguments.boolean(2))
        }),
        function("pg_partition_ancestors", &[SqlType::REGCLASS], SqlType::REGCLASS.array_of(), |_, _| Ok(None)),
        function("pg_get_constraintdef", &[oid], text, |context, arguments| constraint(context, arguments, false)),
        function("pg_get_constraintdef", &[oid, boolean], text, |context, arguments| {
            constraint(context, arguments, arguments.boolean(1))
        }),
        function("pg_get_indexdef", &[oid], text, |context, arguments| index(context, arguments, 0, true, false)),
        function("pg_get_indexdef", &[oid, int4, boolean], text, |context, arguments| {
            let with_schema = !arguments.boolean(2) || index_schema_shown(context, arguments);
            index(context, arguments, arguments.integer(1).unwrap_or(0), with_schema, arguments.boolean(2))
        }),
        function("pg_get_viewdef", &[text], text, |context, arguments| view(context, &named(context, arguments)?)),
        function("pg_get_viewdef", &[text, boolean], text, |context, arguments| {
            view(context, &named(context, arguments)?)
        }),
        function("pg_get_viewdef", &[oid], text, view),
        function("pg_get_viewdef", &[oid, boolean], text, view),
        function("pg_get_viewdef", &[oid, int4], text, view),
        function("pg_get_ruledef", &[oid], text, rule),
        function("pg_get_ruledef", &[oid, boolean], text, rule),
        null("pg_get_triggerdef", &[oid], text),
        null("pg_get_triggerdef", &[oid, boolean], text),
        null("pg_get_partkeydef", &[oid], text),
        null("pg_get_statisticsobjdef_columns", &[oid], text),
        null("pg_get_statisticsobjdef", &[oid], text),
        null("pg_get_statisticsobjdef_expressions", &[oid], text.array_of()),
        null("pg_get_partition_constraintdef", &[oid], text),
        null("pg_partition_root", &[SqlType::REGCLASS], SqlType::REGCLASS),
        null("pg_last_xact_replay_timestamp", &[], SqlType::TIMESTAMPTZ),
    ]
}

/// Functions that tell whether relations can be updated.
fn updatability() -> Vec<ScalarFunction> {
    fn events(context: &StatementContext, oid: Option<Oid>, column: Option<i16>) -> i32 {
        let relation = oid.and_then(|oid| context.catalog.relation_by_oid(oid));
        relation.map_or(0, |relation| binder::events(&context.catalog, &relation, column))
    }
    const REGCLASS: SqlType = SqlType::of(BaseType::Regclass);
    vec![
        function("pg_relation_is_updatable", &[REGCLASS, SqlType::BOOL], SqlType::INT4, |context, arguments| {
            Ok(Some(Datum::Int32(Some(events(context, arguments.oid(0), None)))))
        }),
        function(
            "pg_column_is_updatable",
            &[REGCLASS, SqlType::INT2, SqlType::BOOL],
            SqlType::BOOL,
            |context, arguments| {
                let column = arguments.integer(1).and_then(|number| i16::try_from(number).ok()).unwrap_or(0);
                some_bool(column > 0 && events(context, arguments.oid(0), Some(column)) & 20 == 20)
            },
        ),
    ]
}

/// Functions that return comments.
fn descriptions() -> Vec<ScalarFunction> {
    fn found(context: &StatementContext, arguments: &Arguments, class: Option<&str>, shared: bool) -> Option<Datum> {
        // The number of the column, if the comment is on one.
        let column = i32::try_from(arguments.integer(1).unwrap_or(0)).unwrap_or(i32::MAX);
        let text = comment(&context.catalog, class, arguments.oid(0)?, column, shared)?;
        Some(Datum::Utf8(Some(text)))
    }
    fn of_class(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
        let class = arguments.text(1);
        if class != Some("pg_largeobject") {
            return Ok(found(context, arguments, class, false));
        }
        let objects = LargeObjects::of(context).before(context);
        let object = wait(objects.find(arguments.oid(0).unwrap_or(0)))?;
        Ok(object.and_then(|object| object.comment).map(|text| Datum::Utf8(Some(text))))
    }
    let (text, oid, name) = (SqlType::TEXT, SqlType::OID, SqlType::NAME);
    vec![
        function("obj_description", &[oid], text, |context, arguments| Ok(found(context, arguments, None, false))),
        function("obj_description", &[oid, name], text, of_class),
        function("col_description", &[oid, SqlType::INT4], text, |context, arguments| {
            Ok(found(context, arguments, Some("pg_class"), false))
        }),
        function("shobj_description", &[oid, name], text, |context, arguments| {
            Ok(found(context, arguments, arguments.text(1), true))
        }),
    ]
}

/// A role, by OID or name.
fn role(context: &StatementContext, arguments: &Arguments, at: usize) -> Result<Oid> {
    if let Some(oid) = arguments.oid(at) {
        return Ok(oid);
    }
    let name = arguments.text(at).unwrap_or_default();
    context
        .catalog
        .role(name)
        .map(|role| role.oid)
        .ok_or_else(|| SqlError::new(state::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
}

/// A relation, by OID or name. Errors: 42P01.
fn relation(context: &StatementContext, arguments: &Arguments, at: usize) -> Result<Option<Arc<TableDescriptor>>> {
    let oid = match arguments.oid(at) {
        Some(oid) => oid,
        None => {
            let name = arguments.text(at).unwrap_or_default();
            find_relation(context, name)?
                .ok_or_else(|| SqlError::new(state::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))?
        }
    };
    Ok(context.catalog.relation_by_oid(oid).or_else(|| context.catalog.index(oid).map(|(table, _)| table)))
}

fn find_relation(context: &StatementContext, text: &str) -> Result<Option<Oid>> {
    let mut parts = super::object_names::split_name(text)?;
    let name = parts.pop().unwrap_or_default();
    let path = context.settings.search_path();
    Ok(describe::relation_oid(&context.catalog, parts.pop().as_deref(), &name, path))
}

/// Functions that return approximate sizes on the storage medium.
fn sizes() -> Vec<ScalarFunction> {
    fn bytes(context: &StatementContext, storage_id: u64) -> Result<i64> {
        let sequences = context.catalog.sequences()?;
        let bytes = sequences.bytes_of(storage_id)?;
        Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
    }
    fn relation_size(context: &StatementContext, oid: Oid, indexes: bool, rows: bool) -> Result<Option<Datum>> {
        let mut sum = 0_i64;
        if let Some(table) = context.catalog.relation_by_oid(oid) {
            if table.kind == RelationKind::Table {
                if rows {
                    sum = bytes(context, table.storage_id)?;
                }
                if indexes {
                    for index in table.secondary_indexes() {
                        sum = sum.saturating_add(bytes(context, index.storage_id)?);
                    }
                }
            }
        } else if let Some((table, position)) = context.catalog.index(oid) {
            match table.indexes.get(position) {
                Some(index) if !index.primary && rows => sum = bytes(context, index.storage_id)?,
                _ => {}
            }
        } else {
            return Ok(None);
        }
        Ok(Some(Datum::Int64(Some(sum))))
    }
    fn database_size(context: &StatementContext) -> Result<Option<Datum>> {
        let mut sum = 0_i64;
        for table in context.catalog.user_relations() {
            if let Some(Datum::Int64(Some(size))) = relation_size(context, table.oid, true, true)? {
                sum = sum.saturating_add(size);
            }
        }
        Ok(Some(Datum::Int64(Some(sum))))
    }
    /// The size of a database. NULL for another database, which is not measured. Errors: 42501 for a role that may
    /// not connect to it.
    fn size_of(context: &StatementContext, database: Option<&Arc<DatabaseDescriptor>>) -> Result<Option<Datum>> {
        let Some(database) = database else { return Ok(None) };
        let (role, kind, acl) = (context.role(), Kind::Database, database.acl.as_ref());
        let connects = context.catalog.rights(role, kind, database.owner, acl, CONNECT) != 0;
        if !connects && !context.catalog.owns(role, predefined::READ_ALL_STATISTICS) {
            let message = format!("permission denied for database {}", database.name);
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        if database.oid == context.catalog.database().oid { database_size(context) } else { Ok(None) }
    }
    fn pretty(size: i64) -> String {
        // As in PostgreSQL: up to 10240 of a unit, then the next unit, rounded half away from zero.
        const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
        let mut value = i128::from(size) * 2;
        for (step, unit) in UNITS.iter().enumerate() {
            let rounded = if value >= 0 { (value + 1) / 2 } else { (value - 1) / 2 };
            let shown = if step == 0 { i128::from(size) } else { rounded };
            if shown.abs() < 10 * 1024 || step == UNITS.len() - 1 {
                return format!("{shown} {unit}");
            }
            value /= 1024;
        }
        size.to_string()
    }
    let (regclass, int8, text) = (SqlType::REGCLASS, SqlType::INT8, SqlType::TEXT);
    vec![
        function("pg_relation_size", &[regclass], int8, |context, arguments| {
            relation_size(context, arguments.oid(0).unwrap_or(0), false, true)
        }),
        function("pg_relation_size", &[regclass, text], int8, |context, arguments| {
            let main = arguments.text(1) == Some("main");
            relation_size(context, arguments.oid(0).unwrap_or(0), false, main)
        }),
        function("pg_table_size", &[regclass], int8, |context, arguments| {
            relation_size(context, arguments.oid(0).unwrap_or(0), false, true)
        }),
        function("pg_indexes_size", &[regclass], int8, |context, arguments| {
            relation_size(context, arguments.oid(0).unwrap_or(0), true, false)
        }),
        function("pg_total_relation_size", &[regclass], int8, |context, arguments| {
            relation_size(context, arguments.oid(0).unwrap_or(0), true, true)
        }),
        // Only this database: the relations of others are not known here.
        function("pg_database_size", &[SqlType::OID], int8, |context, arguments| {
            let databases = context.catalog.databases();
            size_of(context, databases.iter().find(|database| Some(database.oid) == arguments.oid(0)))
        }),
        function("pg_database_size", &[SqlType::NAME], int8, |context, arguments| {
            let databases = context.catalog.databases();
            size_of(context, databases.iter().find(|database| Some(database.name.as_str()) == arguments.text(0)))
        }),
        // All data is in one tablespace.
        function("pg_tablespace_size", &[SqlType::OID], int8, |context, arguments| {
            if arguments.oid(0) == Some(1663) { database_size(context) } else { Ok(Some(Datum::Int64(Some(0)))) }
        }),
        function("pg_size_pretty", &[int8], text, |_, arguments| some_text(pretty(arguments.integer(0).unwrap_or(0)))),
    ]
}

/// Functions that look up objects by name.
fn lookups() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    vec![
        function("pg_get_serial_sequence", &[text, text], text, |context, arguments| {
            let Some(table) = relation(context, arguments, 0)? else { return Ok(None) };
            let name = arguments.text(1).unwrap_or_default();
            let column = table.column_named(name).ok_or_else(|| {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
                SqlError::new(state::UNDEFINED_COLUMN, message)
            })?;
            let sequence =
                describe::serial_sequence(&context.catalog, table.oid, column.id, context.settings.temporary());
            Ok(sequence.map(|text| Datum::Utf8(Some(text))))
        }),
        function(
            "acldefault",
            &[SqlType::of(BaseType::SingleChar), SqlType::OID],
            text.array_of(),
            |context, arguments| {
                let role = describe::role_name(&context.catalog, arguments.oid(1).unwrap_or(0));
                privileges::by_default(arguments.text(0).unwrap_or_default(), &role)
            },
        ),
        function("pg_get_userbyid", &[SqlType::OID], SqlType::NAME, |context, arguments| {
            some_text(describe::role_name(&context.catalog, arguments.oid(0).unwrap_or(0)))
        }),
    ]
}

/// Functions with the same result for every object.
fn facts() -> Vec<ScalarFunction> {
    fn started(context: &StatementContext, _: &Arguments) -> Result<Option<Datum>> {
        let started = context.session.database()?.started();
        Ok(Some(Datum::TimestampMicrosecond(Some(started), Some("+00:00".into()))))
    }
    let (oid, boolean) = (SqlType::OID, SqlType::BOOL);
    vec![
        function("pg_postmaster_start_time", &[], SqlType::TIMESTAMPTZ, started),
        // The configuration is loaded at the start.
        function("pg_conf_load_time", &[], SqlType::TIMESTAMPTZ, started),
        function("pg_jit_available", &[], boolean, |_, _| some_bool(false)),
        function("pg_trigger_depth", &[], SqlType::INT4, |_, _| Ok(Some(Datum::Int32(Some(0))))),
        function("current_query", &[], SqlType::TEXT, |context, _| {
            let own = context.session.database()?.activities().find(context.session.backend_pid);
            Ok(own.map(|own| Datum::Utf8(Some(own.doing().query.to_string()))))
        }),
        function("pg_encoding_to_char", &[SqlType::INT4], SqlType::NAME, |_, arguments| {
            let number = arguments.integer(0).and_then(|number| i32::try_from(number).ok());
            some_text(number.and_then(encoding::name_of).unwrap_or_default())
        }),
        function("pg_char_to_encoding", &[SqlType::NAME], SqlType::INT4, |_, arguments| {
            let name = arguments.text(0).unwrap_or_default();
            Ok(Some(Datum::Int32(Some(encoding::number_of(name).unwrap_or(-1)))))
        }),
        function("getdatabaseencoding", &[], SqlType::NAME, |_, _| some_text("UTF8")),
        function("pg_is_other_temp_schema", &[oid], boolean, |_, _| some_bool(false)),
        function("pg_tablespace_location", &[oid], SqlType::TEXT, |_, _| some_text("")),
        function("pg_relation_is_publishable", &[SqlType::REGCLASS], boolean, |context, arguments| {
            let table = arguments.oid(0).and_then(|oid| context.catalog.relation_by_oid(oid));
            some_bool(table.is_some_and(|table| table.kind == RelationKind::Table))
        }),
        ScalarFunction::polymorphic(
            "pg_relation_filenode",
            &[Param::Is(SqlType::REGCLASS)],
            false,
            ResultType::Is(oid),
            Stability::Stable,
            kernel(|_, arguments| some_oid(arguments.oid(0).unwrap_or(0)), true),
        ),
    ]
}
