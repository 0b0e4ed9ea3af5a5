//! Conversion between objects and their names: input and output of `regclass`, `regproc`, `regtype` and their kin, and
//! `to_regclass` and its kin. Must not know plans or sessions.

use super::builtin::{ALL_FUNCTIONS, ALL_OPERATORS, functions_named, operators_named, pseudo_type_named};
use super::describe;
use super::present::{functions, operators};
use binder::catalog_type;
use catalog::{Catalog, said_schema};
use sql_error::{Result, SqlError, state};
use syntax::names::{fold_text, quote};
use syntax::parse_type;
use types::text::{ObjectNames, parse_oid};
use types::{BaseType, Oid};

/// The greatest number of arguments: PostgreSQL's FUNC_MAX_ARGS.
const MOST_ARGUMENTS: usize = 100;
pub use ::builtin::collations::{COLLATIONS, collation_name, collation_oid};

/// The result of looking up a name.
pub(super) enum Found {
    /// Exactly one object has the name.
    One(Oid),
    /// No object has the name: the error.
    None(SqlError),
    /// Several objects have the name: the error.
    Many(SqlError),
}

/// The context of a look-up.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) search_path: &'a [String],
}

/// Parses the text input of an object-name type: a number, `-` for none, or a name. Errors: 42883, 42704, 42725,
/// 42P01, 3F000, 42602, 22P02.
pub fn read(base: BaseType, text: &str, catalog: Option<&Catalog>, search_path: &[String]) -> Result<i64> {
    // "-" is an operator too.
    if text == "-" && !matches!(base, BaseType::Regoper | BaseType::Regoperator) {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return parse_oid(text);
    }
    let catalog = catalog.ok_or_else(|| SqlError::unsupported("looking up a name here"))?;
    match find(base, text, Place { catalog, search_path })? {
        Found::One(oid) => Ok(i64::from(oid)),
        Found::None(error) | Found::Many(error) => Err(error),
    }
}

/// The OID of a relation by its name: nothing else is read here, so that digits are a name too.
/// Errors: 42P01, 3F000, 42602.
pub(super) fn relation(name: &str, catalog: &Catalog, search_path: &[String]) -> Result<i64> {
    match find_relation(name, Place { catalog, search_path })? {
        Found::One(oid) => Ok(i64::from(oid)),
        Found::None(error) | Found::Many(error) => Err(error),
    }
}

/// Names where no catalog is at hand: those of the functions, operators, types and collations that every database has.
pub struct SystemNames;

impl ObjectNames for SystemNames {
    fn oid_of(&self, base: BaseType, text: &str, search_path: &[String]) -> Result<i64> {
        read(base, text, None, search_path)
    }
    fn name_of(&self, base: BaseType, oid: Oid, search_path: &[String]) -> Option<String> {
        name(base, oid, None, search_path)
    }
    fn relation_oid(&self, _name: &str, _search_path: &[String]) -> Result<i64> {
        Err(SqlError::unsupported("looking up a name here"))
    }
}

/// Looks a name up. Errors: for what is no name.
pub(super) fn find(base: BaseType, text: &str, place: Place<'_>) -> Result<Found> {
    match base {
        BaseType::Regtype => find_type(text, place),
        BaseType::Regprocedure | BaseType::Regoperator => find_with_arguments(base, text, place),
        BaseType::Regrole | BaseType::Regnamespace => find_single(base, text, place),
        BaseType::Regclass => find_relation(text, place),
        _ => find_qualified(base, text, place),
    }
}

fn error(sqlstate: &'static str, message: impl Into<String>) -> SqlError {
    SqlError::new(sqlstate, message)
}

/// Splits a possibly qualified and quoted name, and folds unquoted parts. Errors: 42602.
pub(super) fn split_name(text: &str) -> Result<Vec<String>> {
    let bad = || error(state::INVALID_NAME, "invalid name syntax");
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let part;
        if let Some(inside) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = inside.char_indices();
            let end = loop {
                let (at, c) = chars.next().ok_or_else(bad)?;
                match c {
                    '"' if inside.get(at + 1..).is_some_and(|next| next.starts_with('"')) => {
                        chars.next();
                        name.push('"');
                    }
                    '"' => break at + 1,
                    c => name.push(c),
                }
            };
            part = fold_text(&name, true);
            rest = inside.get(end..).unwrap_or_default();
        } else {
            let end = rest.find(|c: char| c == '.' || c.is_ascii_whitespace()).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            part = fold_text(name, false);
            rest = after;
        }
        if part.is_empty() {
            return Err(bad());
        }
        parts.push(part);
        rest = rest.trim_start();
        match rest.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => return Ok(parts),
            None => return Err(bad()),
        }
    }
}

/// The schema and name in a qualified name. `Err` of `Ok` if the schema does not exist.
fn schema_and_name(text: &str, place: Place<'_>, relation: bool) -> Result<(Option<String>, String, Option<SqlError>)> {
    let mut parts = split_name(text)?;
    let shown = parts.join(".");
    let name = parts.pop().unwrap_or_default();
    let schema = parts.pop();
    if parts.len() > 1 {
        let what = if relation { "relation" } else { "qualified" };
        let message = format!("improper {what} name (too many dotted names): {shown}");
        return Err(error(state::SYNTAX_ERROR, message));
    }
    if parts.first().is_some_and(|database| *database != place.catalog.database().name) {
        let shown = if relation { format!("\"{shown}\"") } else { shown };
        let message = format!("cross-database references are not implemented: {shown}");
        return Err(error(state::FEATURE_NOT_SUPPORTED, message));
    }
    let is_missing = |schema: &&String| place.catalog.schema(said_schema(schema, place.search_path)).is_none();
    let missing = schema.as_ref().filter(is_missing).map(|schema| no_schema(schema));
    Ok((schema, name, missing))
}

fn no_schema(schema: &str) -> SqlError {
    error(state::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist"))
}

fn find_relation(text: &str, place: Place<'_>) -> Result<Found> {
    let (schema, name, missing) = schema_and_name(text, place, true)?;
    // Lists omit our own schema, but look-ups find its views.
    let found = describe::relation_oid(place.catalog, schema.as_deref(), &name, place.search_path);
    Ok(match (found, missing) {
        (Some(oid), _) => Found::One(oid),
        (None, Some(error)) => Found::None(error),
        (None, None) => {
            let shown = schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"));
            Found::None(error(state::UNDEFINED_TABLE, format!("relation \"{shown}\" does not exist")))
        }
    })
}

/// The OID of a type by its SQL name. Errors: 42704, 42601.
fn type_oid(text: &str, place: Place<'_>) -> Result<Oid> {
    let name = parse_type(text).map_err(|_| {
        let message = format!("syntax error at or near \"{}\"", text.trim());
        error(state::SYNTAX_ERROR, message)
    })?;
    catalog_type(&name, place.catalog, place.search_path, false).map(|ty| ty.oid()).or_else(|problem| {
        let bare = text.trim().strip_prefix("pg_catalog.").unwrap_or_else(|| text.trim());
        let bare = bare.strip_prefix('"').and_then(|bare| bare.strip_suffix('"')).unwrap_or(bare);
        pseudo_type_named(bare).ok_or(problem)
    })
}

fn find_type(text: &str, place: Place<'_>) -> Result<Found> {
    match type_oid(text, place) {
        Ok(oid) => Ok(Found::One(oid)),
        Err(error) if error.state() == state::UNDEFINED_OBJECT => Ok(Found::None(error)),
        Err(error) => Err(error),
    }
}

/// Looks up roles and schemas, which belong to no schema.
fn find_single(base: BaseType, text: &str, place: Place<'_>) -> Result<Found> {
    let parts = split_name(text)?;
    let [name] = parts.as_slice() else { return Err(error(state::INVALID_NAME, "invalid name syntax")) };
    let (found, missing) = match base {
        BaseType::Regrole => {
            let missing = error(state::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"));
            (place.catalog.role(name).map(|role| role.oid), missing)
        }
        _ => (place.catalog.schema(name).map(|schema| schema.oid), no_schema(name)),
    };
    Ok(found.map_or(Found::None(missing), Found::One))
}

/// Looks up functions and operators by name alone, collations, and text search objects, which do not exist.
fn find_qualified(base: BaseType, text: &str, place: Place<'_>) -> Result<Found> {
    let (schema, name, missing) = schema_and_name(text, place, false)?;
    if let Some(error) = missing {
        return Ok(Found::None(error));
    }
    let here = schema.as_deref().is_none_or(|schema| schema == super::PG_CATALOG);
    let undefined = |message: String| Found::None(error(state::UNDEFINED_OBJECT, message));
    let one = |found: Vec<Oid>, count: usize, none: String, many: String| match found.as_slice() {
        [oid] if here && count < 2 => Found::One(*oid),
        [_, ..] if here => Found::Many(error(state::AMBIGUOUS_FUNCTION, many)),
        _ => Found::None(error(state::UNDEFINED_FUNCTION, none)),
    };
    let shown = text.trim();
    Ok(match base {
        BaseType::Regproc => {
            let found = functions().filter(|function| function.name == name).map(|function| function.oid).collect();
            let none = format!("function \"{shown}\" does not exist");
            one(found, functions_named(&name), none, format!("more than one function named \"{shown}\""))
        }
        BaseType::Regoper => {
            let found = operators().filter(|operator| operator.name == name).map(|operator| operator.oid).collect();
            let none = format!("operator does not exist: {shown}");
            one(found, operators_named(&name), none, format!("more than one operator named {shown}"))
        }
        BaseType::Regcollation => match collation_oid(&name) {
            oid if here && oid != 0 => Found::One(oid),
            _ => undefined(format!("collation \"{shown}\" for encoding \"UTF8\" does not exist")),
        },
        BaseType::Regconfig => undefined(format!("text search configuration \"{shown}\" does not exist")),
        _ => undefined(format!("text search dictionary \"{shown}\" does not exist")),
    })
}

/// Splits `name(type, type)` into the name and the raw arguments.
fn name_and_arguments(text: &str) -> Result<(&str, Vec<&str>)> {
    let wrong = |message: &str| error(state::INVALID_TEXT_REPRESENTATION, message);
    let mut quoted = false;
    let open = text.find(|c| {
        quoted ^= c == '"';
        c == '(' && !quoted
    });
    let (name, rest) =
        open.and_then(|open| text.split_at_checked(open)).ok_or_else(|| wrong("expected a left parenthesis"))?;
    let inside = rest.get(1..).unwrap_or_default().trim_end();
    let inside = inside.strip_suffix(')').ok_or_else(|| wrong("expected a right parenthesis"))?;
    if inside.trim().is_empty() {
        return Ok((name, Vec::new()));
    }
    let (mut depth, mut quoted) = (0i32, false);
    let arguments = inside.split(|c| {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    });
    let arguments: Vec<&str> = arguments.map(str::trim).collect();
    if arguments.iter().any(|argument| argument.is_empty()) {
        return Err(wrong("expected a type name"));
    }
    Ok((name, arguments))
}

fn find_with_arguments(base: BaseType, text: &str, place: Place<'_>) -> Result<Found> {
    let (name, arguments) = name_and_arguments(text)?;
    let (schema, name, missing) = schema_and_name(name, place, false)?;
    let operator = base == BaseType::Regoperator;
    if arguments.len() > MOST_ARGUMENTS {
        return Err(error("54023", "too many arguments"));
    }
    let types: Vec<Oid> = arguments
        .iter()
        .map(|argument| match argument.eq_ignore_ascii_case("none") && operator {
            true => Ok(0),
            false => type_oid(argument, place),
        })
        .collect::<Result<_>>()?;
    if operator && types.len() == 1 {
        let hint = "Use NONE to denote the missing argument of a unary operator.";
        return Err(error("42P02", "missing argument").hint(hint));
    }
    if operator && types.len() != 2 {
        return Err(error("54023", "too many arguments").hint("Provide two argument types for operator."));
    }
    if let Some(error) = missing {
        return Ok(Found::None(error));
    }
    let here = schema.as_deref().is_none_or(|schema| schema == super::PG_CATALOG);
    let found = match base {
        BaseType::Regprocedure => functions()
            .find(|function| function.name == name && function.arguments == types)
            .map(|function| function.oid),
        _ => operators().find(|one| one.name == name && [one.left, one.right] == *types).map(|one| one.oid),
    };
    Ok(match found.filter(|_| here) {
        Some(oid) => Found::One(oid),
        None if operator => {
            Found::None(error(state::UNDEFINED_FUNCTION, format!("operator does not exist: {}", text.trim())))
        }
        None => Found::None(error(state::UNDEFINED_FUNCTION, format!("function \"{}\" does not exist", text.trim()))),
    })
}

/// The printed name of an OID. `None` if there is no such object, and the number is printed.
pub fn name(base: BaseType, oid: Oid, catalog: Option<&Catalog>, search_path: &[String]) -> Option<String> {
    let argument = |oid: Oid| if oid == 0 { "NONE".to_string() } else { describe::format_type(oid, None) };
    match base {
        BaseType::Regtype => {
            let own = catalog.and_then(|catalog| Some(catalog.type_name(catalog.type_by_oid(oid)?, search_path)));
            own.or_else(|| Some(describe::format_type(oid, None)).filter(|name| name != "???"))
        }
        BaseType::Regclass => describe::relation_name(catalog?, oid, search_path),
        BaseType::Regnamespace => catalog?.schema_by_oid(oid).map(|schema| quote(&schema.name)),
        BaseType::Regrole => catalog?.role_by_oid(oid).map(|role| quote(&role.name)),
        BaseType::Regcollation => collation_name(oid).map(quote),
        BaseType::Regproc | BaseType::Regprocedure => {
            let at = ALL_FUNCTIONS.binary_search_by_key(&oid, |function| function.oid).ok()?;
            let function = ALL_FUNCTIONS.get(at)?;
            let name = quote(function.name);
            Some(match base {
                BaseType::Regproc if functions_named(function.name) > 1 => format!("pg_catalog.{name}"),
                BaseType::Regproc => name,
                _ => {
                    let arguments: Vec<String> = function.arguments.iter().map(|oid| argument(*oid)).collect();
                    format!("{name}({})", arguments.join(","))
                }
            })
        }
        BaseType::Regoper | BaseType::Regoperator => {
            let at = ALL_OPERATORS.binary_search_by_key(&oid, |operator| operator.oid).ok()?;
            let operator = ALL_OPERATORS.get(at)?;
            Some(match base {
                BaseType::Regoper if operators_named(operator.name) > 1 => format!("pg_catalog.{}", operator.name),
                BaseType::Regoper => operator.name.to_string(),
                _ => format!("{}({},{})", operator.name, argument(operator.left), argument(operator.right)),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_as_in_postgresql() {
        assert_eq!(split_name(" A . \"B.\"\"c\" ").unwrap(), ["a", "B.\"c"]);
        for wrong in ["", " ", "a..b", "\"a", "a b", ".", "a.", "\"\""] {
            assert_eq!(split_name(wrong).unwrap_err().state(), "42602", "{wrong}");
        }
    }

    #[test]
    fn arguments_are_split_at_commas() {
        let (name, arguments) = name_and_arguments("f( numeric(1,2) ,\"a,b\", int[] )").unwrap();
        assert_eq!((name, arguments), ("f", vec!["numeric(1,2)", "\"a,b\"", "int[]"]));
        assert!(name_and_arguments("f()").unwrap().1.is_empty());
        for wrong in ["f", "f(a", "f(a,)", "\"f(\""] {
            assert_eq!(name_and_arguments(wrong).unwrap_err().state(), "22P02", "{wrong}");
        }
    }

    #[test]
    fn functions_and_operators_have_postgresqls_numbers() {
        for (base, oid, printed) in [
            (BaseType::Regproc, 1299, "now"),
            (BaseType::Regproc, 870, "pg_catalog.lower"),
            (BaseType::Regprocedure, 870, "lower(text)"),
            (BaseType::Regprocedure, 2108, "sum(integer)"),
            (BaseType::Regoper, 551, "pg_catalog.+"),
            (BaseType::Regoperator, 558, "-(NONE,integer)"),
            (BaseType::Regcollation, 950, "\"C\""),
            (BaseType::Regtype, 2276, "\"any\""),
        ] {
            assert_eq!(name(base, oid, None, &[]).unwrap(), printed);
        }
        assert!(name(BaseType::Regproc, 99_999_999, None, &[]).is_none());
    }
}
