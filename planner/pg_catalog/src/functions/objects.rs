//! Look-ups of objects by name (`to_regclass` and its kin), and declarations
//! of functions (`pg_get_function_arguments`, …).

use super::super::builtin::{ALL_FUNCTIONS, Function, Row};
use super::super::object_names::{COLLATIONS, Found, Place, find};
use super::super::{describe, present};
use super::{Arguments, function, some_bool, some_text};
use executor::StatementContext;
use functions::ScalarFunction;
use sql_error::{Result, SqlError, state};
use syntax::names::quote;
use types::{BaseType, Datum, Oid, SqlType};

/// Every function of this file.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let mut all = names();
    all.extend(declarations());
    all.extend(visibility());
    all
}

/// The OID of an object by name. NULL if there is none, or several.
fn named(base: BaseType, context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
    let place = Place { catalog: &context.catalog, search_path: context.settings.search_path() };
    Ok(match find(base, arguments.text(0).unwrap_or_default(), place)? {
        Found::One(oid) => Some(Datum::Int64(Some(i64::from(oid)))),
        Found::None(_) | Found::Many(_) => None,
    })
}

macro_rules! by_name {
    ($($name:literal $base:ident),* $(,)?) => {
        vec![$(function($name, &[SqlType::TEXT], SqlType::of(BaseType::$base), |context, arguments| {
            named(BaseType::$base, context, arguments)
        })),*]
    };
}

fn names() -> Vec<ScalarFunction> {
    by_name![
        "to_regclass" Regclass,
        "to_regtype" Regtype,
        "to_regproc" Regproc,
        "to_regprocedure" Regprocedure,
        "to_regoper" Regoper,
        "to_regoperator" Regoperator,
        "to_regrole" Regrole,
        "to_regnamespace" Regnamespace,
        "to_regcollation" Regcollation,
    ]
}

/// The function with this OID.
pub(super) fn function_of(oid: Option<Oid>) -> Option<&'static Function> {
    let at = ALL_FUNCTIONS.binary_search_by_key(&oid?, |function| function.oid).ok()?;
    ALL_FUNCTIONS.get(at)
}

/// Splits a list of expressions at its commas.
fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0i32, false);
    let parts = list.split(|c| {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn defaults(function: &Function) -> Vec<&'static str> {
    split_list(function.row.field(19).unwrap_or_default())
}

/// The arguments of a declaration, with or without defaults.
fn arguments_text(function: &Function, with_defaults: bool) -> String {
    let all = function.all_types();
    let types = if all.is_empty() { &function.arguments } else { &all };
    let (modes, names) = (function.modes(), function.names());
    let defaults = if with_defaults { defaults(function) } else { Vec::new() };
    let aggregate = present::aggregates().find(|row| row.oid(0) == function.oid);
    // The values of an ordered-set aggregate follow ORDER BY.
    let ordered = aggregate.filter(|row| row.field(1) != Some("n"));
    let direct = ordered.and_then(|row| row.field(2)?.parse::<usize>().ok());
    let mut parts: Vec<String> = Vec::new();
    let mut inputs = 0;
    for (at, ty) in types.iter().enumerate() {
        let mode = modes.get(at).copied().unwrap_or('i');
        if mode == 't' {
            continue;
        }
        let mut part = match mode {
            'o' => "OUT ",
            'b' => "INOUT ",
            'v' => "VARIADIC ",
            _ => "",
        }
        .to_string();
        if let Some(name) = names.get(at).filter(|name| !name.is_empty()) {
            part.push_str(&quote(name));
            part.push(' ');
        }
        part.push_str(&describe::format_type(*ty, None));
        if mode != 'o' {
            inputs += 1;
            let before = function.arguments.len().saturating_sub(defaults.len());
            if let Some(default) = (inputs as usize).checked_sub(before + 1).and_then(|at| defaults.get(at)) {
                part.push_str(&format!(" DEFAULT {default}"));
            }
        }
        parts.push(part);
    }
    let Some(direct) = direct else { return parts.join(", ") };
    let (before, after) = parts.split_at(direct.min(parts.len()));
    // A variadic list appears on both sides.
    let after = if after.is_empty() { before.last().cloned().unwrap_or_default() } else { after.join(", ") };
    if before.is_empty() { format!("ORDER BY {after}") } else { format!("{} ORDER BY {after}", before.join(", ")) }
}

fn result_text(function: &Function) -> String {
    let rows = if function.rows { "SETOF " } else { "" };
    format!("{rows}{}", describe::format_type(function.result, None))
}

/// A number of a row as text, unless it is 0 or the usual value.
fn differs(row: &Row, at: usize, usual: &str) -> Option<String> {
    row.field(at).filter(|value| *value != usual && *value != "0").map(str::to_string)
}

/// `CREATE OR REPLACE FUNCTION …`. Errors: 42809 for aggregates, 0A000 for functions whose body is SQL.
fn definition(function: &Function) -> Result<String> {
    if function.kind == "a" {
        let message = format!("\"{}\" is an aggregate function", function.name);
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
    }
    if function.row.field(2) != Some("12") {
        return Err(SqlError::unsupported("pg_get_functiondef of a function in SQL"));
    }
    let row = &function.row;
    let mut text = format!(
        "CREATE OR REPLACE FUNCTION pg_catalog.{}({})\n RETURNS {}\n LANGUAGE internal\n",
        quote(function.name),
        arguments_text(function, true),
        result_text(function)
    );
    let mut options: Vec<String> = Vec::new();
    let mut option = |is: bool, words: &str| options.extend(is.then(|| words.to_string()));
    option(function.kind == "w", "WINDOW");
    option(row.field(11) == Some("i"), "IMMUTABLE");
    option(row.field(11) == Some("s"), "STABLE");
    option(row.field(12) == Some("s"), "PARALLEL SAFE");
    option(row.field(12) == Some("r"), "PARALLEL RESTRICTED");
    option(row.field(9) == Some("t"), "STRICT");
    option(row.field(8) == Some("t"), "LEAKPROOF");
    options.extend(differs(row, 3, "1").map(|cost| format!("COST {cost}")));
    options.extend(differs(row, 4, "1000").map(|rows| format!("ROWS {rows}")));
    let support = function_of(Some(row.oid(6)));
    options.extend(support.map(|support| format!("SUPPORT {}", support.name)));
    if !options.is_empty() {
        text.push_str(&format!(" {}\n", options.join(" ")));
    }
    text.push_str(&format!("AS $function${}$function$\n", row.field(20).unwrap_or(function.name)));
    Ok(text)
}

fn declarations() -> Vec<ScalarFunction> {
    let (oid, text) = (SqlType::OID, SqlType::TEXT);
    fn text_of(found: Option<String>) -> Result<Option<Datum>> {
        Ok(found.map(|text| Datum::Utf8(Some(text))))
    }
    vec![
        function("pg_get_function_result", &[oid], text, |_, arguments| {
            text_of(function_of(arguments.oid(0)).map(result_text))
        }),
        function("pg_get_function_arguments", &[oid], text, |_, arguments| {
            text_of(function_of(arguments.oid(0)).map(|function| arguments_text(function, true)))
        }),
        function("pg_get_function_identity_arguments", &[oid], text, |_, arguments| {
            text_of(function_of(arguments.oid(0)).map(|function| arguments_text(function, false)))
        }),
        function("pg_get_function_arg_default", &[oid, SqlType::INT4], text, |_, arguments| {
            let Some(function) = function_of(arguments.oid(0)) else { return Ok(None) };
            let defaults = defaults(function);
            let before = function.arguments.len().saturating_sub(defaults.len());
            let place = arguments.integer(1).and_then(|at| usize::try_from(at).ok());
            let found = place.and_then(|at| at.checked_sub(before + 1)).and_then(|at| defaults.get(at));
            text_of(found.map(|text| (*text).to_string()))
        }),
        function("pg_get_function_sqlbody", &[oid], text, |_, _| Ok(None)),
        function("pg_get_functiondef", &[oid], text, |_, arguments| match function_of(arguments.oid(0)) {
            Some(function) => some_text(definition(function)?),
            None => Ok(None),
        }),
    ]
}

/// Functions that tell whether an unqualified name resolves to an object. NULL if the object does not exist.
fn visibility() -> Vec<ScalarFunction> {
    fn visible(is_there: bool) -> Result<Option<Datum>> {
        // All of these are in pg_catalog, which is always searched.
        if is_there { some_bool(true) } else { Ok(None) }
    }
    let is = |name, compute: super::Compute| function(name, &[SqlType::OID], SqlType::BOOL, compute);
    let mut all = vec![
        is("pg_table_is_visible", |context, arguments| {
            let path = context.settings.search_path();
            let visible = arguments.oid(0).and_then(|oid| describe::relation_is_visible(&context.catalog, oid, path));
            Ok(visible.map(|visible| Datum::Boolean(Some(visible))))
        }),
        is("pg_type_is_visible", |context, arguments| {
            let oid = arguments.oid(0).unwrap_or(0);
            if let Some(own) = context.catalog.enums().find(|ty| ty.oid == oid || ty.array_oid == oid) {
                let found = context.catalog.enum_named(None, &own.name, context.settings.search_path());
                return some_bool(found.is_some_and(|found| found.descriptor().oid == own.oid));
            }
            if let Some(row_of) = context.catalog.type_by_oid(oid).and_then(|ty| ty.row_of()) {
                let found = context.catalog.relation(None, &row_of.name, context.settings.search_path());
                return some_bool(found.is_some_and(|found| found.oid == row_of.relation));
            }
            visible(present::types().any(|row| row.oid(0) == oid))
        }),
        is("pg_function_is_visible", |_, arguments| visible(function_of(arguments.oid(0)).is_some())),
        is("pg_operator_is_visible", |_, arguments| {
            visible(present::operators().any(|operator| Some(operator.oid) == arguments.oid(0)))
        }),
        is("pg_collation_is_visible", |_, arguments| {
            visible(COLLATIONS.iter().any(|(oid, _)| Some(*oid) == arguments.oid(0)))
        }),
        is("pg_opclass_is_visible", |_, arguments| {
            visible(present::classes().any(|row| Some(row.oid(0)) == arguments.oid(0)))
        }),
        is("pg_opfamily_is_visible", |_, arguments| {
            visible(present::families().any(|row| Some(row.oid(0)) == arguments.oid(0)))
        }),
    ];
    // Objects of these kinds do not exist.
    for name in [
        "pg_conversion_is_visible",
        "pg_statistics_obj_is_visible",
        "pg_ts_config_is_visible",
        "pg_ts_dict_is_visible",
        "pg_ts_parser_is_visible",
        "pg_ts_template_is_visible",
    ] {
        all.push(is(name, |_, _| Ok(None)));
    }
    all
}
