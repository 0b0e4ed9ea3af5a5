//! Identifiers as in PostgreSQL: folded to lower case unless quoted, at most 63 bytes.

use sql_error::{Result, SqlError, state};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use sqlparser::tokenizer::{Span, Token};
use types::keyword::{CALLED, FUNCTION_WORDS, RESERVED};

pub use types::keyword::{VALUES, quote};

/// The longest identifier in bytes (NAMEDATALEN - 1).
pub const LONGEST: usize = 63;

/// Folds and truncates an identifier.
pub fn fold(ident: &Ident) -> String {
    fold_text(&ident.value, ident.quote_style.is_some())
}

/// Folds a text unless it was quoted; truncates to [`LONGEST`] bytes.
pub fn fold_text(value: &str, quoted: bool) -> String {
    let mut name = if quoted { value.to_string() } else { value.to_ascii_lowercase() };
    if name.len() > LONGEST {
        let mut end = LONGEST;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
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
/// Errors: 42601 for a reserved word without quotes.
pub fn fold_name(name: &ObjectName) -> Result<(Option<String>, String)> {
    let mut parts = Vec::with_capacity(name.0.len());
    for part in &name.0 {
        match part {
            ObjectNamePart::Identifier(ident) => parts.push(fold(ident)),
            ObjectNamePart::Function(_) => return Err(SqlError::unsupported(format!("the name {name}"))),
        }
    }
    if let (Some(ObjectNamePart::Identifier(ident)), Some(first)) = (name.0.first(), parts.first())
        && ident.quote_style.is_none()
        && RESERVED.contains(&first.as_str())
    {
        return Err(misplaced(ident));
    }
    match parts.len() {
        1..=3 => {
            let last = parts.pop().unwrap_or_default();
            Ok((parts.pop(), last))
        }
        _ => Err(SqlError::syntax(format!("improper qualified name (too many dotted names): {name}"))),
    }
}

/// Folds the name of a column or relation, or the first word of a longer one. Errors: 42601 for a word that is reserved, which
/// must be quoted for that.
pub fn fold_plain(ident: &Ident) -> Result<String> {
    let name = fold(ident);
    if is_reserved(&name) && ident.quote_style.is_none() { Err(misplaced(ident)) } else { Ok(name) }
}

/// Whether a folded word must be quoted to name a column or relation.
pub fn is_reserved(word: &str) -> bool {
    [RESERVED, CALLED, VALUES, FUNCTION_WORDS].iter().any(|words| words.contains(&word))
}

/// Whether a token is an unquoted word that cannot name a column or relation.
pub fn is_reserved_word(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.quote_style.is_none() && is_reserved(&fold_text(&word.value, false)),
        _ => false,
    }
}

/// Whether a folded word must be quoted to name a role.
pub fn is_reserved_for_roles(word: &str) -> bool {
    [RESERVED, CALLED, VALUES].iter().any(|words| words.contains(&word))
}

fn misplaced(word: &Ident) -> SqlError {
    let error = SqlError::syntax(format!("syntax error at or near \"{}\"", word.value));
    if word.span == Span::empty() { error.about(word.value.clone()) } else { error.about_part(word.span) }
}
