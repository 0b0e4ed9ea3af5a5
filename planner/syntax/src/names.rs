//! Identifiers as PostgreSQL reads them: folded to lower case unless quoted, at most 63 bytes.

use sql_error::{Result, SqlError, state};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use sqlparser::tokenizer::{Span, Token};
use types::keyword::{CALLED, FUNCTION_WORDS, RESERVED};

pub use types::keyword::{VALUES, quote};

/// Longest identifier, in bytes (NAMEDATALEN - 1).
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

/// That a name's database is the one at hand. Errors: 0A000. `shown`: all that was written.
pub fn own_database(database: &str, own: &str, shown: &str) -> Result<()> {
    if database == own {
        return Ok(());
    }
    let message = format!("cross-database references are not implemented: {shown}");
    Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
}

/// Whether every table has a column of this name beside its own.
pub fn is_system_column(name: &str) -> bool {
    ["tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"].contains(&name)
}

/// Schema (when given) and name of an object. A database in front is accepted as PostgreSQL does, and left out. Errors: 42601 for
/// a reserved word without quotes.
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

/// Whether a folded word names no column or relation unless it is quoted.
pub fn is_reserved(word: &str) -> bool {
    [RESERVED, CALLED, VALUES, FUNCTION_WORDS].iter().any(|words| words.contains(&word))
}

/// Whether a token is a word that names no column or relation as it is written.
pub fn is_reserved_word(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.quote_style.is_none() && is_reserved(&fold_text(&word.value, false)),
        _ => false,
    }
}

/// Whether a folded word names no role unless it is quoted.
pub fn is_reserved_for_roles(word: &str) -> bool {
    [RESERVED, CALLED, VALUES].iter().any(|words| words.contains(&word))
}

fn misplaced(word: &Ident) -> SqlError {
    let error = SqlError::syntax(format!("syntax error at or near \"{}\"", word.value));
    if word.span == Span::empty() { error.about(word.value.clone()) } else { error.about_part(word.span) }
}
