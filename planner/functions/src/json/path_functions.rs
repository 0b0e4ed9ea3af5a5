//! Functions and operators of jsonpath, such as jsonb_path_exists, `@?` and `@@`.

use super::path::{Items, follow};
use super::path_value::Json;
use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, SqlWrite, Text};
use crate::{Resolver, TypedExpr};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{ArrayRef, StringArray};
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::json::{array, parse};
use types::jsonpath::{self, Path};
use types::value::ValueRef;
use types::{Ctype, SqlType};

/// Name of the internal function that gives the rows of jsonb_path_query as an array.
const QUERY: &str = "jsonb_path_query items";
const QUERY_TZ: &str = "jsonb_path_query_tz items";

/// Whether a function returns a set of rows.
pub(crate) fn is_row_function(name: &str) -> bool {
    matches!(name, "jsonb_path_query" | "jsonb_path_query_tz")
}

/// The rows of a call as an array. Errors: 42883.
pub(crate) fn row_list(resolver: &Resolver<'_>, name: &str, args: &[TypedExpr]) -> Result<TypedExpr> {
    let list = resolver.function(if name.ends_with("_tz") { QUERY_TZ } else { QUERY }, args.to_vec());
    list.map_err(|error| {
        if error.state() == sql_error::state::UNDEFINED_FUNCTION { resolver.no_function(name, args) } else { error }
    })
}

/// The items of a path in a value. `silent` returns the items before an error.
fn items(
    target: &str,
    path: &Path,
    variables: &str,
    silent: bool,
    zone: Option<types::datetime::TimeZone>,
    ctype: Ctype,
    first: bool,
) -> Result<Items> {
    let (target, variables) = (Json::of(&parse(target)?)?, Json::of(&parse(variables)?)?);
    match follow(path, target, &variables, zone, ctype, (first, silent))? {
        Items { items: _, error: Some(error) } if !silent => Err(error),
        found => Ok(found),
    }
}

/// A kernel that passes each row's items to `answer`. `silent` and `zoned` control the evaluation. `first` says whether
/// one item may be enough.
fn kernel<R: SqlWrite + 'static>(
    silent: bool,
    zoned: bool,
    first: bool,
    answer: fn(Items, bool) -> Result<Option<R::Owned>>,
) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let mut builder = R::builder(call.rows);
        each(call, silent, zoned, first, |row| {
            let value = match row {
                Some((found, silent)) => answer(found, silent)?,
                None => None,
            };
            R::append(&mut builder, value)
        })?;
        Ok(R::finish(builder))
    })
}

/// Evaluates the path of each row. A row with a NULL gives `None`.
fn each(
    call: &Call<'_>,
    silent: bool,
    zoned: bool,
    first: bool,
    mut tell: impl FnMut(Option<(Items, bool)>) -> Result<()>,
) -> Result<()> {
    let zone = if zoned { Some(call.context()?.settings.time_zone()) } else { None };
    let ctype = call.ctype()?;
    let (targets, paths) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
    let variables = if call.arguments.len() > 2 { Some(call.column::<Text>(2)?) } else { None };
    let silents = if call.arguments.len() > 3 { Some(call.column::<Bool>(3)?) } else { None };
    let mut known: Option<(String, Path)> = None;
    for row in 0..call.rows {
        let variables = match &variables {
            Some(variables) => variables.get(row)?,
            None => Some("{}"),
        };
        let silent = match &silents {
            Some(silents) => silents.get(row)?,
            None => Some(silent),
        };
        let (Some(target), Some(text), Some(variables), Some(silent)) =
            (targets.get(row)?, paths.get(row)?, variables, silent)
        else {
            tell(None)?;
            continue;
        };
        if known.as_ref().is_none_or(|(before, _)| before != text) {
            known = Some((text.to_string(), jsonpath::parse(text)?));
        }
        let Some((_, path)) = &known else { continue };
        let found = items(target, path, variables, silent, zone, ctype, first)?;
        tell(Some((found, silent)))?;
    }
    Ok(())
}

fn exists(found: Items, _: bool) -> Result<Option<bool>> {
    Ok(found.error.is_none().then_some(!found.items.is_empty()))
}

fn matched(found: Items, silent: bool) -> Result<Option<bool>> {
    match found.items.as_slice() {
        [Json::Bool(value)] => Ok(Some(*value)),
        [Json::Null] => Ok(None),
        _ if silent => Ok(None),
        _ => Err(SqlError::new("22038", "single boolean result is expected")),
    }
}

fn first(found: Items, _: bool) -> Result<Option<String>> {
    Ok(found.items.first().map(Json::text))
}

fn collected(found: Items, _: bool) -> Result<Option<String>> {
    Ok(Some(array(found.items.iter().map(Json::text))))
}

fn listed(zoned: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        each(call, false, zoned, false, |row| match row {
            Some((found, _)) => {
                let texts: Vec<String> = found.items.iter().map(Json::text).collect();
                let list: ArrayRef = Arc::new(StringArray::from(texts));
                builder.append(&ValueRef::array(list))
            }
            None => {
                builder.append_null();
                Ok(())
            }
        })?;
        builder.finish()
    })
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (jsonb, boolean) = (SqlType::JSONB, SqlType::BOOL);
    let arguments = [jsonb, SqlType::JSONPATH, jsonb, boolean];
    let mut all = Vec::new();
    for count in 2..=4 {
        let arguments = arguments.get(..count).unwrap_or_default();
        for zoned in [false, true] {
            let stability = if zoned { Stability::Stable } else { Stability::Immutable };
            let mut add = |name: [&'static str; 2], result, kernel| {
                let [plain, with_zone] = name;
                let name = if zoned { with_zone } else { plain };
                all.push(ScalarFunction::new(name, arguments, result, stability, kernel));
            };
            add(["jsonb_path_exists", "jsonb_path_exists_tz"], boolean, kernel::<Bool>(false, zoned, true, exists));
            add(["jsonb_path_match", "jsonb_path_match_tz"], boolean, kernel::<Bool>(false, zoned, false, matched));
            add(
                ["jsonb_path_query_array", "jsonb_path_query_array_tz"],
                jsonb,
                kernel::<Text>(false, zoned, false, collected),
            );
            add(
                ["jsonb_path_query_first", "jsonb_path_query_first_tz"],
                jsonb,
                kernel::<Text>(false, zoned, false, first),
            );
            add([QUERY, QUERY_TZ], jsonb.array_of(), listed(zoned));
        }
    }
    let two = arguments.get(..2).unwrap_or_default();
    let immutable = Stability::Immutable;
    all.push(ScalarFunction::new(
        "jsonb_path_exists_opr",
        two,
        boolean,
        immutable,
        kernel::<Bool>(true, false, true, exists),
    ));
    all.push(ScalarFunction::new(
        "jsonb_path_match_opr",
        two,
        boolean,
        immutable,
        kernel::<Bool>(true, false, false, matched),
    ));
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn query(target: &str, path: &str, variables: &str) -> Result<String> {
        let path = jsonpath::parse(path)?;
        let found = items(target, &path, variables, false, None, Ctype::Unicode, false)?;
        Ok(array(found.items.iter().map(Json::text)))
    }

    #[test]
    fn paths_are_followed_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        for (target, path, found) in [
            (r#"{"a":[1,2,3,4]}"#, "$.a[*] ? (@ > 2)", "[3, 4]"),
            (r#"{"a":[1,2,3]}"#, "$.a ? (@ > 2)", "[3]"),
            (r#"[{"a":1},{"a":2}]"#, "$.a", "[1, 2]"),
            (r#"[{"a":1},{"a":2}]"#, "lax $[*].a", "[1, 2]"),
            ("[1,2,3]", "$[last]", "[3]"),
            ("[1,2,3]", "$[0, 1 to last]", "[1, 2, 3]"),
            ("[1,2,3]", "$[5]", "[]"),
            ("1", "$[0]", "[1]"),
            ("[1,15,-10]", "$[*].abs()", "[1, 15, 10]"),
            ("[1,15,-10]", "$.size()", "[3]"),
            (r#"["abc","xbc"]"#, r#"$[*] ? (@ like_regex "^A" flag "i")"#, r#"["abc"]"#),
            (r#""abc""#, r#"$ starts with "a""#, "[true]"),
            (r#"{"a":{"b":1}}"#, "lax $.**.b", "[1]"),
            (r#"{"a":{"b":1}}"#, "strict $.**{2}", "[1]"),
            (r#"{"x":"2"}"#, "$.x.double() * 3", "[6]"),
            (r#"{"a":1}"#, "$.keyvalue()", r#"[{"id": 0, "key": "a", "value": 1}]"#),
            (r#"[{"a": 1, "b": [1, 2]}, {"c": {"a": "bbb"}}]"#, "$[*].keyvalue().id", "[12, 12, 72]"),
            (r#"{"a": {"b": 1}}"#, "$.keyvalue().value.keyvalue().id", "[20000000048]"),
            (r#""10-03-2017""#, r#"$.datetime("dd-mm-yyyy")"#, r#"["2017-03-10"]"#),
            (r#""10-03-2017""#, r#"$.datetime("dd.mm.yyyy")"#, "error"),
            (
                r#"[1,"a",null,true,[],{}]"#,
                "$[*].type()",
                r#"["number", "string", "null", "boolean", "array", "object"]"#,
            ),
            ("[1,2]", "$[*] + 1", "error"),
            ("[2]", "$ + 1", "[3]"),
            ("[1,2]", "-$[*]", "[-1, -2]"),
            ("1", "$ == \"a\"", "[null]"),
            ("null", "$ == 1", "[false]"),
            ("1", "($ == \"a\") is unknown", "[true]"),
            (r#"{"a":1}"#, "exists($.a)", "[true]"),
            (r#"{"a":1}"#, "strict $.b", "error"),
            ("1", "strict $[0]", "error"),
            ("[1]", "strict $[1]", "error"),
            ("1", "$ / 0", "error"),
            ("[0,1]", "$[*] ? (1 / @ > 0)", "[1]"),
            (
                r#"["2017-03-10","2017-03-11 10:00:00"]"#,
                r#"$[*].datetime() ? (@ > "2017-03-10".datetime())"#,
                r#"["2017-03-11T10:00:00"]"#,
            ),
        ] {
            let shown = query(target, path, "{}").unwrap_or_else(|_| "error".into());
            assert_eq!(shown, found, "{target} {path}");
        }
        assert_eq!(query("[1,2,3]", "$[*] ? (@ >= $min)", r#"{"min":2}"#).unwrap(), "[2, 3]");
        assert_eq!(query("1", "$x", "{}").unwrap_err().state(), "42704");
        assert_eq!(query("1", "$", "[]").unwrap_err().state(), "22023");
        assert_eq!(query(r#"{"a":1}"#, "strict $.b", "{}").unwrap_err().state(), "2203A");
    }
}
