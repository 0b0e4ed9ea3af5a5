//! Every answer is as recorded. `tests/compat/differences.txt` lists the statements whose answer is not PostgreSQL's, and
//! COMPAT.md counts them by section of the manual. A better answer must be recorded too, or nobody would notice if it
//! were lost again. `cargo xtask compat` rewrites both files.

use percosql_tests::compat::{self, Section};
use std::collections::BTreeMap;
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

/// The lines of a text with their number of occurrences, each below the name of its section. A table has no section.
fn counted(text: &str) -> BTreeMap<(&str, &str), usize> {
    let mut counts = BTreeMap::new();
    let mut section = "";
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(name) => section = name,
            None => *counts.entry((section, line)).or_insert(0) += 1,
        }
    }
    counts
}

/// The lines that occur more often in `text` than in `other`, with their sections.
fn more<'t>(text: &'t str, other: &str) -> Vec<(&'t str, &'t str)> {
    let others = counted(other);
    let more = counted(text).into_iter().filter(|(line, count)| *count > others.get(line).copied().unwrap_or(0));
    more.map(|(line, _)| line).collect()
}

/// The differences between a recorded text and the present one. Empty: there is none.
fn changes(recorded: &str, found: &str) -> String {
    let gone = more(recorded, found).into_iter().map(|(_, line)| format!("- {line}\n"));
    let come = more(found, recorded).into_iter().map(|(_, line)| format!("+ {line}\n"));
    gone.chain(come).collect()
}

/// The part of the recorded list that belongs to these sections.
fn part_of(list: &str, sections: &[Section]) -> String {
    let mut wanted = false;
    let lines = list.split_inclusive('\n').filter(|line| {
        if let Some(name) = line.trim_end().strip_prefix("# ") {
            wanted = sections.iter().any(|section| section.name == name);
        }
        wanted
    });
    lines.collect()
}

/// Both answers to the statements of these lines of the list.
fn answers(mut sections: Vec<Section>, lines: &[(&str, &str)]) -> String {
    for section in &mut sections {
        let name = section.name.as_str();
        section.probes.retain(|probe| {
            let statement = probe.statement.replace('\n', " ");
            lines.iter().any(|(section, line)| *section == name && line.ends_with(&statement))
        });
    }
    compat::list(&sections)
}

#[test]
fn every_answer_is_as_recorded() {
    let wish = std::env::var("PERCOSQL_COMPAT").unwrap_or_default();
    let only = std::env::var("PERCOSQL_SECTION").ok();
    let sections = compat::run(only.as_deref());
    let (table, differences) = (compat::table(&sections), compat::differences(&sections));
    let text = std::fs::read_to_string(page()).expect("COMPAT.md");
    let (before, written, after) = split(&text);
    let list = compat::folder().join("differences.txt");
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    match wish.as_str() {
        "list" => println!("{}\n{table}", compat::list(&sections)),
        "write" if only.is_none() => {
            std::fs::write(page(), format!("{before}{BEGIN}{table}{END}{after}")).expect("COMPAT.md is written");
            std::fs::write(&list, &differences).expect("the list is written");
            println!("{table}\n{}", changes(&listed, &differences));
        }
        _ => {
            println!("{table}");
            // The table of some sections has other sums.
            let (listed, counts) = match &only {
                Some(_) => (part_of(&listed, &sections), String::new()),
                None => (listed, changes(written, &table)),
            };
            let changed = changes(&listed, &differences) + &counts;
            let shown = answers(sections, &more(&differences, &listed));
            assert!(
                changed.is_empty(),
                "answers differ from the recorded ones (- recorded, + now). Run `cargo xtask compat` to record them:\n\
                 {changed}\n{shown}"
            );
        }
    }
}
