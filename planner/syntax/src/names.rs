//! Names as in PostgreSQL: folded to lower case unless quoted, at most 63 bytes.

use grammar::tree::{Name, RoleKind, RoleSpec};
use sql_error::{Result, SqlError, state};

pub use types::keyword::quote;

/// The longest identifier in bytes (NAMEDATALEN - 1).
pub const LONGEST: usize = 63;

/// Folds a text unless it was quoted; truncates to [`LONGEST`] bytes.
pub fn fold_text(value: &str, quoted: bool) -> String {
    let mut name = if quoted { value.to_string() } else { value.to_ascii_lowercase() };
    if name.len() > LONGEST {
        name.truncate(name.floor_char_boundary(LONGEST));
    }
    name
}

/// Checks that a name's database is the present one. `shown` is the name as written. Errors: 0A000.
pub fn own_database(database: &str, own: &str, shown: &str) -> Result<()> {
    if database == own {
        return Ok(());
    }
    let message = format!("cross-database references are not implemented: {shown}");
    Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
}

/// Whether this is the name of a system column, which every table has.
pub fn is_system_column(name: &str) -> bool {
    ["tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"].contains(&name)
}

/// The optional schema and the name of an object. A database before them is accepted as in PostgreSQL and omitted.
/// Errors: 42601 for more parts.
pub fn fold_name(name: &Name) -> Result<(Option<String>, String)> {
    match name.parts.as_slice() {
        [name] => Ok((None, name.value.clone())),
        [schema, name] | [_, schema, name] => Ok((Some(schema.value.clone()), name.value.clone())),
        parts => {
            let parts: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
            let message = format!("improper qualified name (too many dotted names): {}", parts.join("."));
            Err(SqlError::syntax(message))
        }
    }
}

/// The folded name of a role, or `current_user` or a similar word.
pub fn role_name(role: &RoleSpec) -> String {
    match &role.kind {
        RoleKind::Named(name) => name.clone(),
        RoleKind::CurrentRole => "current_role".into(),
        RoleKind::CurrentUser => "current_user".into(),
        RoleKind::SessionUser => "session_user".into(),
        RoleKind::Public => "public".into(),
    }
}
