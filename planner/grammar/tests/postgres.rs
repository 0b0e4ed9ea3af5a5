//! The grammar takes and refuses what PostgreSQL 15 does, with the same errors. `data/record.py` asked PostgreSQL.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use percosql_grammar::{SyntaxError, parse};

/// Errors of what PostgreSQL refuses behind its grammar, and the tree cannot say.
const LATER: [&str; 7] = [
    "misplaced ",
    "conflicting or redundant options",
    "constraint declared INITIALLY DEFERRED must be DEFERRABLE",
    "cannot specify both ",
    "multiple ",
    "views cannot be unlogged",
    "no inline code specified",
];

fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n----\n").filter(|statement| !statement.is_empty())
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("--"))
}

/// The error as `record.py` writes it: state, position in characters from 1, message, hint and detail.
fn described(text: &str, error: &SyntaxError) -> String {
    let fields = error.fields();
    let position = fields.span.map_or(0, |span| text[..span.start as usize].chars().count() + 1);
    let mut described = format!("-- {} {position} {}\n", fields.state, fields.message);
    for (what, note) in [("hint", &fields.hint), ("detail", &fields.detail)] {
        if let Some(note) = note {
            described += &format!("-- {what}: {note}\n");
        }
    }
    described
}

#[test]
fn takes_what_postgresql_takes() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for text in lines(include_str!("data/kinds.sql")).chain(statements(include_str!("data/accepted.sql"))) {
        count += 1;
        if let Err(error) = parse(text)
            && !LATER.iter().any(|message| error.fields().message.starts_with(message))
        {
            wrong.push(format!("{}{text}", described(text, &error)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are refused:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 2_000);
}

#[test]
fn refuses_what_postgresql_refuses() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in statements(include_str!("data/refused.sql")) {
        count += 1;
        let notes = entry.split_inclusive('\n').take_while(|line| line.starts_with("-- ")).map(str::len).sum();
        let (expected, text) = entry.split_at(notes);
        match parse(text) {
            Ok(_) => wrong.push(format!("{expected}-- taken\n{text}")),
            Err(error) => {
                let found = described(text, &error);
                if found != expected {
                    wrong.push(format!("{expected}{found}{text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1_500);
}
