//! Privileges and settings in the form in which PostgreSQL shows them.

use super::definition::value;
use catalog::Catalog;
use catalog::acl::Acl;
use sql_error::{Result, SqlError};
use types::Datum;

/// Grants as a list of `aclitem`. NULL if there are none.
pub(super) fn shown(catalog: &Catalog, acl: Option<&Acl>) -> Datum {
    let Some(acl) = acl else { return Datum::Null };
    value::texts(acl.iter().map(|grant| catalog.shown_grant(grant)))
}

/// Settings as a list of `name=value`. NULL if there are none.
pub(super) fn settings(settings: Option<&catalog::StoredSettings>) -> Datum {
    texts(settings.into_iter().flatten().map(|(name, value)| format!("{name}={value}")).collect())
}

/// A list of texts. NULL if it is empty.
pub(super) fn texts(texts: Vec<String>) -> Datum {
    if texts.is_empty() {
        return Datum::Null;
    }
    value::texts(texts)
}

/// PostgreSQL's default grants on a new object of a kind, to PUBLIC and to the owner (manual, table 5.2).
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
    Ok(Some(value::texts(items)))
}
