//! [`quote`]: names as SQL text.

use grammar::keyword::{Category, Keyword};

/// An identifier as SQL text: quoted when it must be.
pub fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '$')
        && Keyword::named(name).is_none_or(|keyword| keyword.category() == Category::Unreserved);
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
