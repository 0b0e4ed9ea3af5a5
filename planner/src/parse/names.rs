//! Identifiers as PostgreSQL reads them: folded to lower case unless quoted, at most 63 bytes.

use crate::error::{Result, SqlError};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

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

/// Schema (when given) and name of an object. A database in front is accepted as PostgreSQL does, and left out.
pub fn fold_name(name: &ObjectName) -> Result<(Option<String>, String)> {
    let mut parts = Vec::with_capacity(name.0.len());
    for part in &name.0 {
        match part {
            ObjectNamePart::Identifier(ident) => parts.push(fold(ident)),
            ObjectNamePart::Function(_) => return Err(SqlError::unsupported(format!("the name {name}"))),
        }
    }
    match parts.len() {
        1..=3 => {
            let last = parts.pop().unwrap_or_default();
            Ok((parts.pop(), last))
        }
        _ => Err(SqlError::syntax(format!("improper qualified name (too many dotted names): {name}"))),
    }
}

/// An identifier as SQL text: quoted when it must be.
pub fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '$')
        && !RESERVED.contains(&name)
        && !COLUMN_WORDS.contains(&name);
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Whether an identifier may name a column that is being made. A word that is reserved must be quoted for that.
pub fn names_column(ident: &Ident) -> bool {
    ident.quote_style.is_some() || !RESERVED.contains(&fold(ident).as_str())
}

/// Words that name columns without quotes, but no functions or types (PostgreSQL's manual, appendix C).
const COLUMN_WORDS: &[&str] = &[
    "between",
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "coalesce",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "greatest",
    "grouping",
    "inout",
    "int",
    "integer",
    "interval",
    "least",
    "national",
    "nchar",
    "none",
    "normalize",
    "nullif",
    "numeric",
    "out",
    "overlay",
    "position",
    "precision",
    "real",
    "row",
    "setof",
    "smallint",
    "substring",
    "time",
    "timestamp",
    "treat",
    "trim",
    "values",
    "varchar",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// PostgreSQL's reserved words, those that may name functions or types included: they name no columns without quotes.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];
