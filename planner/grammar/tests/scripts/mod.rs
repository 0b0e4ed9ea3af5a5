//! The statements of the repository's scripts, and their division into statements.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// A piece of a script has at most so many lines.
const MOST_LINES: usize = 80;

/// A statement of a script, as far as the division succeeds.
pub struct Piece {
    /// The file and line.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// The pieces of all scripts below `tests`.
pub fn pieces() -> Vec<Piece> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    let mut pieces = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        match folder.as_ref() {
            "isolation" => steps(&name, &text, &mut pieces),
            "abuse" => lines(&name, &text, &mut pieces),
            _ => script(&name, &text, &mut pieces),
        }
    }
    pieces
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "sql")
            || path.parent().is_some_and(|parent| parent.ends_with("isolation"))
        {
            files.push(path);
        }
    }
}

/// `a: statement` in scripts of several sessions.
fn steps(name: &str, text: &str, pieces: &mut Vec<Piece>) {
    for (at, line) in text.lines().enumerate() {
        if let Some((session, statement)) = line.split_once(": ")
            && session.len() == 1
        {
            pieces.push(Piece { place: format!("{name}:{}", at + 1), text: statement.to_owned() });
        }
    }
}

/// A statement on each line, with marks for long values.
fn lines(name: &str, text: &str, pieces: &mut Vec<Piece>) {
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with("--") && !line.is_empty()) {
        let text = ["text", "bytes", "numbers", "json"]
            .iter()
            .fold(line.to_owned(), |line, mark| line.replace(&format!("{{{mark}}}"), "'1'"));
        pieces.push(Piece { place: format!("{name}:{}", at + 1), text });
    }
}

/// A script of psql: its commands and the data of COPY are left out, and statements end with a semicolon at the end of a
/// line, or before a command.
fn script(name: &str, text: &str, pieces: &mut Vec<Piece>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim();
        if line.is_empty() || line.starts_with("--") || line.starts_with('\\') {
            at += 1;
            continue;
        }
        let (piece, next) = piece(&lines, at);
        pieces.push(Piece { place: format!("{name}:{}", at + 1), text: piece.clone() });
        at = next;
        let lower = piece.to_lowercase();
        let data = lower.contains("copy") && lower.contains("stdin");
        if data && let Some(end) = lines[at..].iter().position(|line| *line == "\\.") {
            at += end + 1;
        }
    }
}

/// The piece from a line on, and the line behind it. A string or comment that a line leaves open goes on.
fn piece(lines: &[&str], first: usize) -> (String, usize) {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate().skip(first).take(MOST_LINES) {
        let (line, ends) = without_command(line);
        text.push_str(line);
        if ends && !is_open(&text) {
            return (text, at + 1);
        }
        text.push('\n');
    }
    (without_command(lines[first]).0.to_owned(), first + 1)
}

/// A line without the command of psql at its end, and whether a statement ends there.
fn without_command(line: &str) -> (&str, bool) {
    let trimmed = line.trim_end();
    for command in ["\\g", "\\crosstab", "\\bind", "\\watch", "\\;"] {
        if let Some(at) = trimmed.rfind(command)
            && !trimmed[at..].contains('\'')
            && !trimmed.ends_with(';')
        {
            return (&trimmed[..at], true);
        }
    }
    let code = trimmed.rfind("; --").map_or(trimmed, |at| &trimmed[..=at]);
    (trimmed, code.ends_with(';'))
}

/// Whether a text ends within a string, comment, body or parenthesis.
fn is_open(text: &str) -> bool {
    match percosql_grammar::parse(text) {
        Ok(_) => false,
        Err(error) => {
            let message = &error.fields().message;
            message.starts_with("unterminated") || message.ends_with("at end of input")
        }
    }
}
