//! Values of SET as one text: settings that are lists.

use crate::{registry, unknown};
use sql_error::{Result, SqlError, state};
use types::text::quote_identifier;

/// Joins the values of a SET into one text. Errors: 42704, 22023.
pub fn flattened(name: &str, values: &[String]) -> Result<String> {
    match values {
        [single] if !is_list(name) => Ok(single.clone()),
        values if is_list(name) => {
            if name.eq_ignore_ascii_case("search_path") {
                Ok(values.iter().map(|part| quote_identifier(part)).collect::<Vec<_>>().join(", "))
            } else {
                Ok(values.join(", "))
            }
        }
        _ if registry::find(name).is_none() && !name.contains('.') => Err(unknown(name)),
        _ => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("SET {name} takes only one argument"))),
    }
}

/// Whether a setting's value is a list.
fn is_list(name: &str) -> bool {
    ["search_path", "datestyle", "temp_tablespaces"].iter().any(|list| list.eq_ignore_ascii_case(name))
}
