//! Privileges as PostgreSQL shows them. Nothing is granted here.

use crate::error::{Result, SqlError};
use crate::types::{Datum, SqlType};
use datafusion::scalar::ScalarValue;

/// What PostgreSQL grants on a new object of a kind: to everybody, and to its owner (manual, table 5.2). Nothing is
/// granted here: tools compare it with what was.
pub(super) fn by_default(kind: &str, owner: &str) -> Result<Option<Datum>> {
    let (everybody, own) = match kind {
        "c" => ("", ""),
        "r" => ("", "arwdDxt"),
        "s" => ("", "rwU"),
        "d" => ("Tc", "CTc"),
        "f" => ("X", "X"),
        "l" | "T" => ("U", "U"),
        "L" => ("", "rw"),
        "n" => ("", "UC"),
        "t" => ("", "C"),
        "F" | "S" => ("", "U"),
        "p" => ("", "sA"),
        _ => return Err(SqlError::internal(format!("unrecognized object type abbreviation: {kind}"))),
    };
    let plain = owner.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let owner = if plain { owner.to_string() } else { format!("\"{}\"", owner.replace('"', "\"\"")) };
    let mut items = Vec::new();
    if !everybody.is_empty() {
        items.push(format!("={everybody}/{owner}"));
    }
    if !own.is_empty() {
        items.push(format!("{owner}={own}/{owner}"));
    }
    let items: Vec<Datum> = items.into_iter().map(|item| Datum::Utf8(Some(item))).collect();
    Ok(Some(Datum::List(ScalarValue::new_list_nullable(&items, &SqlType::TEXT.arrow()))))
}
