//! `cargo xtask tidy`: project rules that the compiler does not check. Each rule gives its reason.

use crate::run::{Result, root, say};
use std::path::{Path, PathBuf};

/// The limit keeps a file readable in one sitting.
const MAX_LINES: usize = 600;

/// The crates of the workspace that each crate may use: server → planner → txn → storage, never back.
const LAYERS: &[(&str, &[&str])] = &[
    ("storage", &[]),
    ("txn", &["storage"]),
    ("planner/error", &["txn", "storage"]),
    ("planner/types", &["planner/error"]),
    ("planner/syntax", &["planner/error", "planner/types", "txn"]),
    ("planner/settings", &["planner/error", "planner/types", "planner/syntax"]),
    ("planner/catalog", &["planner/error", "planner/types", "txn", "storage"]),
    (
        "planner/context",
        &["planner/error", "planner/types", "planner/syntax", "planner/settings", "planner/catalog", "txn", "storage"],
    ),
    (
        "planner",
        &["planner/error", "planner/types", "planner/syntax", "planner/settings", "planner/catalog", "txn", "storage"],
    ),
    ("server", &["planner", "txn", "storage"]),
    // For its Bigtable emulator and the proxy in front of it.
    ("tests", &["storage"]),
    ("xtask", &[]),
    // It is a client of any server with PostgreSQL's protocol.
    ("bench", &[]),
];

/// Marks of unfinished or misplaced work. The strings are split, so that this file does not violate the rule.
const WORDS: &[(&str, &str)] = &[
    (concat!("FIX", "ME"), "finish it, or refuse it with 0A000"),
    (concat!("TO", "DO"), "finish it, or refuse it with 0A000"),
    (concat!("todo", "!("), "finish it, or refuse it with 0A000"),
    (concat!("unimplemented", "!("), "finish it, or refuse it with 0A000"),
    (concat!("/work", "/"), "the project names no machine's paths"),
];

/// Checks every rule and lists all violations.
pub fn tidy() -> Result<()> {
    let mut broken = Vec::new();
    let mut files = Vec::new();
    collect(&root(), &mut files);
    for file in &files {
        check_file(file, &mut broken);
    }
    check_layers(&mut broken)?;
    if broken.is_empty() {
        say(&format!("tidy: {} files in order", files.len()));
        return Ok(());
    }
    Err(format!("tidy found {} faults:\n  {}", broken.len(), broken.join("\n  ")))
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

fn check_file(path: &Path, broken: &mut Vec<String>) {
    let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let Ok(text) = std::fs::read_to_string(path) else {
        broken.push(format!("{shown}: not readable as UTF-8"));
        return;
    };
    if !text.starts_with("//!") {
        broken.push(format!("{shown}: begin with `//!`: what the file is for"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        broken.push(format!("{shown}: {lines} lines, more than {MAX_LINES}: one noun a file"));
    }
    for (number, line) in text.lines().enumerate() {
        for (word, why) in WORDS {
            if line.contains(word) {
                broken.push(format!("{shown}:{}: `{word}`: {why}", number + 1));
            }
        }
    }
}

fn check_layers(broken: &mut Vec<String>) -> Result<()> {
    for (layer, allowed) in LAYERS {
        let path = root().join(layer).join("Cargo.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let manifest: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        let Some(dependencies) = manifest.get("dependencies").and_then(|value| value.as_table()) else {
            continue;
        };
        for (other, _) in LAYERS {
            let other_name = other.rsplit('/').next().unwrap_or(other);
            let package = format!("percosql-{other_name}");
            let used = dependencies.contains_key(other_name) || dependencies.contains_key(&package);
            if used && !allowed.contains(other) {
                broken.push(format!("{layer}/Cargo.toml: {layer} must not know {other}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! The rules hold for this checkout, and `cargo test` checks them.

    #[test]
    fn the_house_is_tidy() {
        if let Err(faults) = super::tidy() {
            panic!("{faults}");
        }
    }
}
