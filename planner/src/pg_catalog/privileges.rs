//! Privileges as PostgreSQL shows them.

use crate::catalog::Catalog;
use crate::catalog::acl::Acl;
use crate::error::{Result, SqlError};
use crate::types::{Datum, SqlType};
use datafusion::scalar::ScalarValue;

/// Grants as a list of `aclitem`; NULL where there are none yet.
pub(super) fn shown(catalog: &Catalog, acl: Option<&Acl>) -> Datum {
    let Some(acl) = acl else { return Datum::Null };
    let items: Vec<Datum> = acl.iter().map(|grant| Datum::Utf8(Some(catalog.shown_grant(grant)))).collect();
    Datum::List(ScalarValue::new_list_nullable(&items, &SqlType::TEXT.arrow()))
}

/// What PostgreSQL grants on a new object of a kind: to everybody, and to its owner (manual, table 5.2).
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
