//! Rules for each file of Rust: its head, its size, and words that it may not contain.

use super::Source;
use std::path::{Path, PathBuf};

/// The limit keeps a file readable in one sitting.
const MAX_LINES: usize = 600;

/// Marks of unfinished or misplaced work. The strings are split, so that this file does not violate the rule.
const WORDS: &[(&str, &str)] = &[
    (concat!("FIX", "ME"), "finish it, or refuse it with 0A000"),
    (concat!("TO", "DO"), "finish it, or refuse it with 0A000"),
    (concat!("todo", "!("), "finish it, or refuse it with 0A000"),
    (concat!("unimplemented", "!("), "finish it, or refuse it with 0A000"),
    (concat!("/work", "/"), "the project names no machine's paths"),
];

/// All Rust files of the checkout, tracked or not, in order of their paths. An unreadable file is a fault.
pub fn sources(root: &Path, faults: &mut Vec<String>) -> Vec<Source> {
    let mut paths = Vec::new();
    collect(root, &mut paths);
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => sources.push(Source { path: shown, text }),
            Err(error) => faults.push(format!("{shown}: {error}")),
        }
    }
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if name == "target" || name.to_string_lossy().starts_with('.') || name == "percosql-data" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
}

/// Checks one file.
pub fn check(source: &Source, faults: &mut Vec<String>) {
    let Source { path, text } = source;
    if !text.starts_with("//!") {
        faults.push(format!("{path}: begin with `//!`: what the file is for"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("{path}: {lines} lines, more than {MAX_LINES}: one noun a file"));
    }
    for (number, line) in text.lines().enumerate() {
        for (word, why) in WORDS {
            if line.contains(word) {
                faults.push(format!("{path}:{}: `{word}`: {why}", number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        check(&Source { path: "a.rs".to_owned(), text: text.to_owned() }, &mut faults);
        faults
    }

    #[test]
    fn a_file_begins_with_its_purpose() {
        assert_eq!(faults("//! A.\n"), Vec::<String>::new());
        assert_eq!(faults("fn a() {}\n"), ["a.rs: begin with `//!`: what the file is for"]);
    }

    #[test]
    fn a_file_has_at_most_600_lines() {
        assert_eq!(faults(&"//! A.\n".repeat(600)), Vec::<String>::new());
        assert_eq!(faults(&"//! A.\n".repeat(601)), ["a.rs: 601 lines, more than 600: one noun a file"]);
    }

    #[test]
    fn unfinished_work_and_paths_of_a_machine_are_found() {
        for (word, why) in WORDS {
            assert_eq!(faults(&format!("//! A.\n// {word}\n")), [format!("a.rs:2: `{word}`: {why}")]);
        }
    }
}
