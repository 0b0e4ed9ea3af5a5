//! Catalog functions that return rows: `pg_get_keywords`, `aclexplode`, … Their columns are arrays, which a plan
//! unnests. Must not know plans.

use super::builtin::KEYWORDS;
use super::functions::descriptions::identified;
use catalog::encoding::ColumnBuilder;
use catalog::sequences::sequence_table;
use datafusion::arrow::array::{Array, ArrayRef, StringArray};
use datafusion::scalar::ScalarValue;
use functions::kernel::{Call, Kernel, Stability};
use functions::typed::{Int4, Int8, List, Text};
use functions::{Resolver, ScalarFunction, TypedExpr};
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::array::ArrayValue;
use types::text::{InputContext, input};
use types::value::ValueRef;
use types::{Oid, SqlType};

/// The columns of a function: name, type, and a function of the same arguments that returns the column as an array.
type Columns = &'static [(&'static str, SqlType, &'static str)];

const TEXT: SqlType = SqlType::TEXT;

const FUNCTIONS: [(&str, Columns); 5] = [
    (
        "pg_sequence_parameters",
        &[
            ("start_value", SqlType::INT8, "pg_sequence_parameters start_value"),
            ("minimum_value", SqlType::INT8, "pg_sequence_parameters minimum_value"),
            ("maximum_value", SqlType::INT8, "pg_sequence_parameters maximum_value"),
            ("increment", SqlType::INT8, "pg_sequence_parameters increment"),
            ("cycle_option", SqlType::BOOL, "pg_sequence_parameters cycle_option"),
            ("cache_size", SqlType::INT8, "pg_sequence_parameters cache_size"),
            ("data_type", SqlType::OID, "pg_sequence_parameters data_type"),
        ],
    ),
    (
        "pg_get_keywords",
        &[
            ("word", TEXT, "pg_get_keywords word"),
            ("catcode", SqlType::SINGLE_CHAR, "pg_get_keywords catcode"),
            ("barelabel", SqlType::BOOL, "pg_get_keywords barelabel"),
            ("catdesc", TEXT, "pg_get_keywords catdesc"),
            ("baredesc", TEXT, "pg_get_keywords baredesc"),
        ],
    ),
    (
        "aclexplode",
        &[
            ("grantor", SqlType::OID, "aclexplode grantor"),
            ("grantee", SqlType::OID, "aclexplode grantee"),
            ("privilege_type", TEXT, "aclexplode privilege_type"),
            ("is_grantable", SqlType::BOOL, "aclexplode is_grantable"),
        ],
    ),
    (
        "pg_identify_object",
        &[
            ("type", TEXT, "pg_identify_object type"),
            ("schema", TEXT, "pg_identify_object schema"),
            ("name", TEXT, "pg_identify_object name"),
            ("identity", TEXT, "pg_identify_object identity"),
        ],
    ),
    ("pg_listening_channels", &[("", TEXT, "pg_listening_channels names")]),
];

/// Whether a function of this name returns rows.
pub fn exists(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name)
}

/// The columns of a call as named arrays. `None` for other functions. Errors: 42883.
pub fn row_lists(
    resolver: &Resolver<'_>,
    name: &str,
    args: &[TypedExpr],
) -> Result<Option<Vec<(&'static str, TypedExpr)>>> {
    let Some((_, columns)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else { return Ok(None) };
    let list = |(column, _, function): &(&'static str, SqlType, &'static str)| {
        let list = resolver.function(function, args.to_vec()).map_err(|_| resolver.no_function(name, args))?;
        Ok((*column, list))
    };
    columns.iter().map(list).collect::<Result<_>>().map(Some)
}

/// The functions that return the columns.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let mut all = Vec::new();
    for (name, columns) in FUNCTIONS {
        for (at, (_, ty, function)) in columns.iter().enumerate() {
            let list = ty.array_of();
            let stable = Stability::Stable;
            all.push(match name {
                "pg_get_keywords" => ScalarFunction::new(function, &[], list, Stability::Immutable, keywords(*ty, at)),
                "aclexplode" => ScalarFunction::new(function, &[TEXT.array_of()], list, stable, exploded(*ty, at)),
                "pg_sequence_parameters" => {
                    ScalarFunction::new(function, &[SqlType::OID], list, stable, parameters(*ty, at))
                }
                "pg_identify_object" => {
                    let arguments = [SqlType::OID, SqlType::OID, SqlType::INT4];
                    ScalarFunction::new(function, &arguments, list, stable, identity(at))
                }
                _ => ScalarFunction::new(function, &[], list, stable, channels()),
            });
        }
    }
    all
}

/// The same list for every row.
fn always(ty: SqlType, items: Vec<ScalarValue>) -> Kernel {
    Arc::new(move |call: &Call<'_>| Ok(ArrayValue::datum_of(&items, ty)?.to_array_of_size(call.rows)?))
}

/// The channels that the session listens to.
fn channels() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let items: Vec<ScalarValue> =
            call.context()?.session.inbox.channels().into_iter().map(ScalarValue::from).collect();
        Ok(ArrayValue::datum_of(&items, TEXT)?.to_array_of_size(call.rows)?)
    })
}

fn keywords(ty: SqlType, at: usize) -> Kernel {
    let null = || ScalarValue::try_from(&ty.arrow()).unwrap_or(ScalarValue::Null);
    let item = |text: Option<&str>| match text {
        Some(text) => input(ty, text, &InputContext::PLAIN).unwrap_or_else(|_| null()),
        None => null(),
    };
    always(ty, KEYWORDS.rows.iter().map(|row| item(row.field(at))).collect())
}

/// A parameter of a sequence as a list of one item. Errors: 42809, 42P01.
fn parameters(ty: SqlType, at: usize) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let relations = call.column::<Int8>(0)?;
        let mut lists = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let Some(oid) = relations.get(row)? else {
                lists.push(ArrayValue::datum_of(&[], ty)?);
                continue;
            };
            let found = sequence_table(context.as_ref(), Oid::try_from(oid).unwrap_or(0))?;
            let Some(sequence) = &found.sequence else {
                return Err(SqlError::internal("a sequence without parameters"));
            };
            let item = match at {
                0 => ScalarValue::from(sequence.start),
                1 => ScalarValue::from(sequence.min),
                2 => ScalarValue::from(sequence.max),
                3 => ScalarValue::from(sequence.increment),
                4 => ScalarValue::from(sequence.cycle),
                5 => ScalarValue::from(sequence.cache),
                _ => ScalarValue::from(i64::from(sequence.ty.oid())),
            };
            lists.push(ArrayValue::datum_of(&[item], ty)?);
        }
        Ok(ScalarValue::iter_to_array(lists)?)
    })
}

/// A part of an object's identity as a list of one item, which is NULL if the object does not exist.
fn identity(at: usize) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let (classes, objects, parts) = (call.column::<Int8>(0)?, call.column::<Int8>(1)?, call.column::<Int4>(2)?);
        let mut builder = ColumnBuilder::new(TEXT.array_of(), call.rows);
        for row in 0..call.rows {
            let (Some(class), Some(object), Some(part)) = (classes.get(row)?, objects.get(row)?, parts.get(row)?)
            else {
                builder.append_null();
                continue;
            };
            let oid = |number: i64| Oid::try_from(number).unwrap_or(0);
            let found = identified(&context, oid(class), oid(object), i64::from(part));
            let text = found.and_then(|found| match at {
                0 => Some(found.kind),
                1 => found.schema,
                2 => found.name,
                _ => Some(found.identity),
            });
            builder.append(&ValueRef::array(Arc::new(StringArray::from(vec![text]))))?;
        }
        builder.finish()
    })
}

/// The letters and names of privileges.
const PRIVILEGES: [(char, &str); 15] = [
    ('a', "INSERT"),
    ('r', "SELECT"),
    ('w', "UPDATE"),
    ('d', "DELETE"),
    ('D', "TRUNCATE"),
    ('x', "REFERENCES"),
    ('t', "TRIGGER"),
    ('X', "EXECUTE"),
    ('U', "USAGE"),
    ('C', "CREATE"),
    ('T', "TEMPORARY"),
    ('c', "CONNECT"),
    ('s', "SET"),
    ('A', "ALTER SYSTEM"),
    ('m', "MAINTAIN"),
];

/// Parses `grantee=letters/grantor`. A star after a letter marks WITH GRANT OPTION.
fn parts(item: &str) -> Option<(String, Vec<(&'static str, bool)>, String)> {
    let unquoted = |name: &str| name.trim_matches('"').replace("\"\"", "\"");
    let (left, grantor) = item.rsplit_once('/')?;
    let (grantee, letters) = left.rsplit_once('=')?;
    let mut rights: Vec<(&'static str, bool)> = Vec::new();
    for letter in letters.chars() {
        match letter {
            '*' => rights.last_mut()?.1 = true,
            letter => rights.push((PRIVILEGES.iter().find(|(known, _)| *known == letter)?.1, false)),
        }
    }
    // PostgreSQL lists privileges in the order of their bits.
    rights.sort_by_key(|(name, _)| PRIVILEGES.iter().position(|(_, known)| known == name));
    Some((unquoted(grantee), rights, unquoted(grantor)))
}

fn exploded(ty: SqlType, at: usize) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let oid = |name: &str| {
            let oid = if name.is_empty() { 0 } else { context.catalog.role(name).map_or(0, |role| role.oid) };
            ScalarValue::Int64(Some(i64::from(oid)))
        };
        let lists = call.column::<List>(0)?;
        let mut builder = ColumnBuilder::new(ty.array_of(), call.rows);
        for row in 0..call.rows {
            let Some(items) = lists.get(row)? else {
                builder.append_null();
                continue;
            };
            let texts = functions::typed::Column::<Text>::new(&items)?;
            let mut found: Vec<ScalarValue> = Vec::new();
            for place in 0..items.len() {
                let Some((grantee, rights, grantor)) = texts.get(place)?.and_then(parts) else { continue };
                for (name, grantable) in rights {
                    found.push(match at {
                        0 => oid(&grantor),
                        1 => oid(&grantee),
                        2 => ScalarValue::from(name),
                        _ => ScalarValue::from(grantable),
                    });
                }
            }
            let list: ArrayRef = if found.is_empty() {
                datafusion::arrow::array::new_empty_array(&ty.arrow())
            } else {
                ScalarValue::iter_to_array(found)?
            };
            builder.append(&ValueRef::array(list))?;
        }
        builder.finish()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn privileges_are_taken_apart() {
        let (grantee, rights, grantor) = parts("\"a b\"=r*w/postgres").unwrap();
        assert_eq!((grantee.as_str(), grantor.as_str()), ("a b", "postgres"));
        assert_eq!(rights, [("SELECT", true), ("UPDATE", false)]);
        assert_eq!(parts("=X/postgres").unwrap().0, "");
        assert!(parts("x").is_none() && parts("a=?/b").is_none());
    }

    #[test]
    fn keywords_are_read() {
        assert!(KEYWORDS.rows.len() > 400);
    }
}
