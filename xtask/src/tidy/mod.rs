//! `cargo xtask tidy`: project rules that the compiler does not check. Each rule gives its reason.
//!
//! | module | rules |
//! |---|---|
//! | [`files`] | module heads, file sizes, forbidden words |
//! | [`layers`] | edges between crates, against the table in ARCHITECTURE.md |
//! | [`documents`] | links and paths in Markdown, lengths of documents and paragraphs |
//! | [`prose`] | long sentences and clauses as subjects, within a budget |

mod documents;
mod files;
mod layers;
mod prose;

use crate::run::{Result, root, say};
use std::path::Path;

/// A text file of the checkout.
struct Source {
    /// The path from the root, with `/`.
    path: String,
    text: String,
}

/// The outcome of all rules.
struct Findings {
    /// What `tidy` prints in any case.
    report: String,
    /// One line for each violation, with the place and the reason.
    faults: Vec<String>,
}

/// Checks every rule and lists all violations.
pub fn tidy() -> Result<()> {
    let Findings { report, faults } = examine(&root())?;
    say(&report);
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("tidy found {} faults:\n  {}", faults.len(), faults.join("\n  ")))
}

fn examine(root: &Path) -> Result<Findings> {
    let mut faults = Vec::new();
    let sources = files::sources(root, &mut faults);
    for source in &sources {
        files::check(source, &mut faults);
    }
    let crates = layers::check(root, &sources, &mut faults)?;
    let known = documents::Known::of_checkout(root)?;
    let documents = documents::sources(root, &mut faults)?;
    for document in &documents {
        documents::check(document, &known, &mut faults);
    }
    let mut tally = prose::Tally::default();
    for source in documents.iter().chain(&sources) {
        tally.add(source);
    }
    let sentences = tally.report(&mut faults);
    let report = format!("{crates}\n{} files of Rust, {} documents\n{sentences}", sources.len(), documents.len());
    Ok(Findings { report, faults })
}

/// `path` from the root, where it is given from `folder`.
fn normal(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    //! The rules hold for this checkout, and `cargo test` checks them.

    #[test]
    fn the_checkout_is_tidy() {
        let found = super::examine(&crate::run::root()).expect("the checkout is readable");
        assert!(found.faults.is_empty(), "{}", found.faults.join("\n"));
    }
}
