//! Statements with PostgreSQL's answer keep it. `tests/compat/differences.txt` lists the statements with another
//! answer, and COMPAT.md counts them by section of the manual. `cargo xtask compat` rewrites both.

use percosql_tests::compat;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- compat: written by `cargo xtask compat` -->\n";
const END: &str = "<!-- compat: end -->\n";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../COMPAT.md")
}

/// Splits COMPAT.md into the text before the table, the table, and the rest.
fn split(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).expect("COMPAT.md has a place for the table");
    let (table, after) = rest.split_once(END).expect("COMPAT.md says where the table ends");
    (before, table, after)
}

/// The lines that occur in only one of the texts.
fn changes(written: &str, found: &str) -> String {
    let (old, new): (HashSet<_>, HashSet<_>) = (written.lines().collect(), found.lines().collect());
    let gone = written.lines().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let come = found.lines().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
    gone.chain(come).collect()
}

/// The statements of the list by section, with their number of occurrences. The kind of difference is ignored.
fn by_section(list: &str) -> HashMap<(&str, &str), usize> {
    let mut counts = HashMap::new();
    let mut section = "";
    for line in list.lines() {
        match line.strip_prefix("# ") {
            Some(name) => section = name,
            None => {
                let statement = line.split_once(": ").map_or(line, |(_, statement)| statement);
                *counts.entry((section, statement)).or_insert(0) += 1;
            }
        }
    }
    counts
}

/// Statements whose answers were equal and now differ.
fn worse(written: &str, found: &str) -> Vec<String> {
    let old = by_section(written);
    let new = by_section(found);
    let more = new.into_iter().filter(|(key, count)| *count > old.get(key).copied().unwrap_or(0));
    let mut all: Vec<String> = more.map(|((section, statement), _)| format!("{section}: {statement}")).collect();
    all.sort();
    all
}

#[test]
fn what_was_equal_is_equal() {
    let wish = std::env::var("PERCOSQL_COMPAT").unwrap_or_default();
    let only = std::env::var("PERCOSQL_SECTION").ok();
    let sections = compat::run(only.as_deref());
    let (table, differences) = (compat::table(&sections), compat::differences(&sections));
    let text = std::fs::read_to_string(page()).expect("COMPAT.md");
    let (before, written, after) = split(&text);
    let list = compat::folder().join("differences.txt");
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    let worse = worse(&listed, &differences);
    match wish.as_str() {
        "list" => println!("{}\n{table}", compat::list(&sections)),
        "write" if only.is_none() => {
            std::fs::write(page(), format!("{before}{BEGIN}{table}{END}{after}")).expect("COMPAT.md is written");
            std::fs::write(&list, &differences).expect("the list is written");
            println!("{table}\n{}", changes(&listed, &differences));
        }
        "check" => {
            let changed = changes(&listed, &differences) + &changes(written, &table);
            assert!(changed.is_empty(), "out of date, run cargo xtask compat:\n{changed}");
        }
        _ => {
            println!("{table}");
            let shown = compat::list(&sections);
            let detail: Vec<&str> = shown
                .split("---- ")
                .filter(|part| {
                    worse
                        .iter()
                        .any(|line| line.split_once(": ").is_some_and(|(_, s)| part.replace('\n', " ").contains(s)))
                })
                .collect();
            assert!(worse.is_empty(), "equal before:\n{}\n\n{}", worse.join("\n"), detail.join("---- "));
        }
    }
}
