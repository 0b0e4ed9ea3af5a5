//! Writes names, strings and roles.

use super::writer::{Print, Writer};
use crate::keyword::{Category, Keyword};
use crate::tree::{Alias, ColumnDefinition, Ident, Name, RelationName, RoleKind, RoleSpec};
use std::borrow::Cow;

/// A name as a statement says it: in double quotes unless it is a plain word in lower case and no keyword that is
/// reserved in any way.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let reserved = Keyword::named(name).is_some_and(|keyword| keyword.category() != Category::Unreserved);
    if is_plain(name) && !reserved { Cow::Borrowed(name) } else { Cow::Owned(always_quoted(name)) }
}

/// A name in double quotes.
pub(super) fn always_quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether a name is a word in lower case.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A string constant, which means the same whatever `standard_conforming_strings` is.
pub(super) fn string(value: &str) -> String {
    let doubled = value.replace('\'', "''");
    if doubled.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

impl Print for Ident {
    fn print(&self, out: &mut Writer) {
        out.name(&self.value);
    }
}

/// Writes names with points between them.
pub(super) fn path(parts: &[Ident], out: &mut Writer) {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.tie(".");
        }
        part.print(out);
    }
}

/// Writes the name of a function. Without quotes, `operator (+)` is an operator, and `cube (a)` in GROUP BY no call.
pub(super) fn function_name(name: &Name, out: &mut Writer) {
    match name.parts.as_slice() {
        [only] if matches!(only.value.as_str(), "cube" | "rollup" | "operator") => {
            out.word(&always_quoted(&only.value));
        }
        _ => name.print(out),
    }
}

impl Print for Name {
    fn print(&self, out: &mut Writer) {
        path(&self.parts, out);
    }
}

impl Print for RelationName {
    fn print(&self, out: &mut Writer) {
        out.word_if(self.only, "ONLY").node(&self.name);
    }
}

impl Print for Alias {
    fn print(&self, out: &mut Writer) {
        out.word("AS");
        match &self.name {
            Some(name) => {
                out.node(name).enclosed_if_any(&self.columns).enclosed_if_any(&self.definitions);
            }
            None => {
                out.enclosed(&self.definitions);
            }
        }
    }
}

impl Print for ColumnDefinition {
    fn print(&self, out: &mut Writer) {
        out.node(&self.name).node(&self.data_type).clause("COLLATE", &self.collation);
    }
}

impl Print for RoleSpec {
    fn print(&self, out: &mut Writer) {
        match &self.kind {
            RoleKind::Named(name) if name == "public" => out.word(&always_quoted(name)),
            RoleKind::Named(name) => out.name(name),
            RoleKind::CurrentRole => out.word("CURRENT_ROLE"),
            RoleKind::CurrentUser => out.word("CURRENT_USER"),
            RoleKind::SessionUser => out.word("SESSION_USER"),
            RoleKind::Public => out.word("PUBLIC"),
        };
    }
}
