//! The privileges named in GRANT and REVOKE. Must not know who has them.

use super::grant::invalid;
use catalog::acl::{self, Kind, Rights};
use sql_error::{Result, SqlError};
use syntax::Grant;

/// The privileges for objects of one kind: on the whole, and on columns.
pub(super) struct Wanted {
    pub(super) rights: Rights,
    pub(super) columns: Vec<(Rights, Vec<String>)>,
}

/// The privileges named in a statement, for objects of one kind. Errors: 42601, 0LP01.
pub(super) fn wanted(grant: &Grant, kind: Kind) -> Result<Wanted> {
    let mut wanted = Wanted { rights: 0, columns: Vec::new() };
    let of_columns = |columns: &[String]| -> Result<()> {
        if columns.is_empty() || kind == Kind::Table {
            return Ok(());
        }
        Err(invalid("column privileges are only valid for relations"))
    };
    if let Some(columns) = &grant.all {
        of_columns(columns)?;
        match columns.is_empty() {
            true => wanted.rights = kind.all(),
            false => wanted.columns.push((Kind::Column.all(), columns.clone())),
        }
    }
    for (name, columns) in &grant.privileges {
        of_columns(columns)?;
        let upper = name.to_ascii_uppercase();
        let Some((_, right)) = acl::NAMES.iter().find(|(known, _)| *known == upper) else {
            if upper == "SET" {
                return Err(invalid(format!("invalid privilege type {upper} for {}", kind.word())));
            }
            return Err(SqlError::syntax(format!("unrecognized privilege type \"{name}\"")));
        };
        let of = if columns.is_empty() { kind } else { Kind::Column };
        if right & of.all() == 0 {
            // Privileges of sequences are checked later, once the relation's kind is known.
            let neither = of == Kind::Table && right & Kind::Sequence.all() == 0;
            let word = if neither { "relation" } else { of.word() };
            return Err(invalid(format!("invalid privilege type {upper} for {word}")));
        }
        match columns.is_empty() {
            true => wanted.rights |= right,
            false => wanted.columns.push((*right, columns.clone())),
        }
    }
    Ok(wanted)
}
