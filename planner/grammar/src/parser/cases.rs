//! Tests by lists of statements, which PostgreSQL 15 has judged.
//!
//! A line is a statement. Without a mark it is in the grammar. With the mark `‸` it is not, and the error points there.
//! Behind `##` stand the SQLSTATE and the message, unless it is a plain syntax error, and behind `#` the hint.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::Statement;

/// Parses a text that is one query or write.
pub(super) fn statement(text: &str) -> Result<Statement> {
    let mut parser = Parser::new(text)?;
    let statement = parser.query_or_write()?;
    if parser.at_end() { Ok(statement) } else { Err(parser.error()) }
}

/// The only statement of a text.
pub(super) fn only(text: &str) -> Statement {
    let mut parsed = crate::parse(text).unwrap();
    assert_eq!(parsed.len(), 1, "{text}");
    parsed.remove(0).statement
}

/// Checks every line of a list. Each is a query or write.
pub(super) fn check(lines: &str) {
    check_by(lines, |text| statement(text).map(drop));
}

/// Checks every line of a list. Each is a statement of any kind, or several.
pub(super) fn check_statements(lines: &str) {
    check_by(lines, |text| crate::parse(text).map(drop));
}

fn check_by(lines: &str, read: impl Fn(&str) -> Result<()>) {
    let wrong: Vec<String> = lines.lines().filter_map(|line| wrong(line, &read)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with a line.
fn wrong(line: &str, read: impl Fn(&str) -> Result<()>) -> Option<String> {
    let (marked, expected) = line.split_once(" ## ").unwrap_or((line, ""));
    let (place, text) = (marked.find('‸'), marked.replace('‸', ""));
    let found = read(&text);
    match (found, place.is_some() || !expected.is_empty()) {
        (Ok(_), false) => None,
        (Ok(_), true) => Some(format!("{line}\n  accepted")),
        (Err(error), false) => Some(format!("{line}\n  {error}")),
        (Err(error), true) => {
            let found = described(&error, expected.is_empty());
            let at = error.fields().span.map(|span| span.start as usize);
            (found != expected || at != place).then(|| format!("{line}\n  {error} at {at:?} instead of {place:?}"))
        }
    }
}

fn described(error: &SyntaxError, plain: bool) -> String {
    let fields = error.fields();
    if plain && fields.state == crate::error::SYNTAX_ERROR && fields.message.starts_with("syntax error at") {
        return String::new();
    }
    let hint = fields.hint.as_ref().map(|hint| format!(" # {hint}")).unwrap_or_default();
    format!("{} {}{hint}", fields.state, fields.message)
}
