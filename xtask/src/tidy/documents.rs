//! Rules for Markdown: links and paths exist, documents and paragraphs stay short.

use super::prose::{blocks, is_word};
use super::{Source, normal};
use crate::run::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The most words of a paragraph or a list item.
const PARAGRAPH_WORDS: usize = 110;

/// Names in documents that look like paths of the repository: folders that are made by a build or a server, and
/// beginnings of keys in a store.
const ELSEWHERE: &[&str] = &["target/", "percosql-data/", "rocksdb/", "load/", "meta/", "outcome/", "hold/"];

/// The files and folders of the checkout.
pub struct Known {
    paths: BTreeSet<String>,
    /// The folders that a path in a document may start from.
    bases: Vec<String>,
}

impl Known {
    /// `files` are paths from the root.
    fn new(files: impl IntoIterator<Item = String>) -> Self {
        let mut paths = BTreeSet::new();
        let mut bases = vec![String::new()];
        for file in files {
            let mut folder = file.as_str();
            while let Some((parent, _)) = folder.rsplit_once('/') {
                paths.insert(parent.to_owned());
                folder = parent;
            }
            if let Some(member) = file.strip_suffix("/Cargo.toml") {
                bases.extend([member.to_owned(), format!("{member}/src")]);
            }
            paths.insert(file);
        }
        Known { paths, bases }
    }

    /// The files that git tracks or would add.
    pub fn of_checkout(root: &Path) -> Result<Self> {
        let files = git_files(root, &["--cached", "--others", "--exclude-standard"])?;
        Ok(Known::new(files.into_iter().filter(|file| root.join(file).exists())))
    }

    fn has(&self, folder: &str, path: &str) -> bool {
        self.paths.contains(&normal(folder, path))
    }
}

/// The tracked documents. An unreadable one is a fault.
pub fn sources(root: &Path, faults: &mut Vec<String>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in git_files(root, &["--cached", "*.md"])? {
        match std::fs::read_to_string(root.join(&path)) {
            Ok(text) => sources.push(Source { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => faults.push(format!("{path}: {error}")),
        }
    }
    Ok(sources)
}

fn git_files(root: &Path, arguments: &[&str]) -> Result<Vec<String>> {
    let list = Command::new("git").args(["ls-files", "-z"]).args(arguments).current_dir(root).output();
    let list = list.map_err(|error| format!("git: {error}"))?;
    if !list.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&list.stderr).trim_end()));
    }
    Ok(String::from_utf8_lossy(&list.stdout).split_terminator('\0').map(str::to_owned).collect())
}

/// Checks one document.
pub fn check(source: &Source, known: &Known, faults: &mut Vec<String>) {
    let path = &source.path;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (line, chunk) in chunks(&source.text) {
        let (code, plain) = code_spans(chunk);
        for (offset, span) in code {
            let found = known.has(folder, span) || known.bases.iter().any(|base| known.has(base, span));
            if is_path(span) && !found {
                faults.push(format!("{path}:{}: `{span}`: no such file or folder", line + offset));
            }
        }
        for (offset, target) in links(&plain) {
            if !known.has(folder, target) {
                faults.push(format!("{path}:{}: the link {target} leads to no file", line + offset));
            }
        }
    }
    for block in blocks(source).iter().filter(|block| block.length() > PARAGRAPH_WORDS) {
        let (line, words) = (block.line(), block.length());
        faults.push(format!("{path}:{line}: paragraph of {words} words, more than {PARAGRAPH_WORDS}: split it"));
    }
    if let Some(most) = most_words(path) {
        let words = counted(source).flat_map(str::split_whitespace).filter(|word| is_word(word)).count();
        if words > most {
            faults.push(format!("{path}: {words} words, more than {most}: shorten it, or move facts elsewhere"));
        }
    }
}

/// The limit of a document, where it has one. A reader should finish it in one sitting.
fn most_words(path: &str) -> Option<usize> {
    match path {
        "README.md" => Some(600),
        "ARCHITECTURE.md" => Some(3000),
        "COMPAT.md" => Some(2000),
        "docs/protocol.md" => Some(2500),
        "docs/glossary.md" => Some(500),
        "docs/testing.md" => Some(800),
        "bench/RESULTS.md" => Some(1000),
        _ => path.strip_prefix("docs/decisions/")?.starts_with(|first: char| first.is_ascii_digit()).then_some(400),
    }
}

/// The lines whose words count: all, but for the generated table of COMPAT.md and the tables of bench/RESULTS.md.
fn counted(source: &Source) -> impl Iterator<Item = &str> {
    let mut generated = false;
    source.text.lines().filter(move |line| {
        generated =
            if generated { !line.starts_with("<!-- compat: end") } else { line.starts_with("<!-- compat: written") };
        let table = line.trim_start().starts_with('|');
        match source.path.as_str() {
            "COMPAT.md" => !generated,
            "bench/RESULTS.md" => !table,
            _ => true,
        }
    })
}

/// The texts between blank lines and fenced code, with the numbers of their first lines.
fn chunks(text: &str) -> Vec<(usize, &str)> {
    let mut chunks = Vec::new();
    let mut begun: Option<(usize, usize)> = None;
    let (mut fenced, mut at) = (false, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fence || fenced || line.trim().is_empty() {
            chunks.extend(begun.take().map(|(first, start)| (first, &text[start..at])));
        } else {
            begun = begun.or(Some((number + 1, at)));
        }
        at += line.len();
    }
    chunks.extend(begun.map(|(first, start)| (first, &text[start..])));
    chunks
}

/// The code spans of a text with the lines before each, and the text with spaces in their place.
fn code_spans(text: &str) -> (Vec<(usize, &str)>, String) {
    let (mut spans, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, ticked) = rest.split_at(start);
        let body = ticked.trim_start_matches('`');
        let ticks = &ticked[..ticked.len() - body.len()];
        plain.push_str(before);
        rest = body;
        if let Some((span, after)) = body.split_once(ticks) {
            spans.push((plain.matches('\n').count(), span));
            plain.extend(span.chars().map(|sign| if sign == '\n' { '\n' } else { ' ' }));
            rest = after;
        }
    }
    plain.push_str(rest);
    (spans, plain)
}

/// Whether code looks like a path of the repository, rather than a pattern, a key or a path of a user's machine.
fn is_path(code: &str) -> bool {
    let ends = [".rs", ".md", ".toml", ".sql", "/"].iter().any(|end| code.ends_with(end));
    let pattern =
        code.contains(|sign: char| sign.is_whitespace() || "*?{}<>$…\\=:".contains(sign)) || code.contains("NNNN");
    let outside = code.starts_with(['/', '~']) || ELSEWHERE.iter().any(|name| code.starts_with(name));
    code.contains('/') && ends && !pattern && !outside
}

/// The relative targets of links, without anchors, with the lines before each.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (at, _) in text.match_indices("](") {
        let target = text[at + 2..].split([')', '#', ' ', '\n']).next().unwrap_or_default();
        if !target.is_empty() && !target.contains(':') {
            links.push((text[..at].matches('\n').count(), target));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let files = ["README.md", "docs/a.md", "docs/b.md", "planner/Cargo.toml", "planner/src/plan/mod.rs"];
        let known = Known::new(files.map(str::to_owned));
        let mut faults = Vec::new();
        check(&Source { path: path.to_owned(), text: text.to_owned() }, &known, &mut faults);
        faults
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn a_link_leads_to_a_file_or_folder() {
        let text = "[b](b.md), [here](#here), [b](b.md#part), [up](../README.md), [all](../docs),\n\
            [web](https://a.example/b.md) and `[no](link.md)`.\n```text\n[no](link.md)\n```\n";
        assert_eq!(faults("docs/a.md", text), NONE);
        assert_eq!(faults("docs/a.md", "One\n\ntwo\n[c](c.md)\n"), ["docs/a.md:4: the link c.md leads to no file"]);
        assert_eq!(faults("docs/a.md", "[b](docs/b.md)\n"), ["docs/a.md:1: the link docs/b.md leads to no file"]);
    }

    #[test]
    fn a_path_exists_from_the_root_a_crate_or_the_document() {
        let text = "`planner/src/plan/mod.rs`, `src/plan/`, `plan/mod.rs`, `../docs/b.md`, `docs/`";
        assert_eq!(faults("docs/a.md", text), NONE);
        assert_eq!(
            faults("docs/a.md", "a `b`\nc `plan/gone.rs`\n"),
            ["docs/a.md:2: `plan/gone.rs`: no such file or folder"]
        );
        assert_eq!(faults("docs/a.md", "| `gone/` |\n"), ["docs/a.md:1: `gone/`: no such file or folder"]);
    }

    #[test]
    fn patterns_and_paths_elsewhere_are_no_paths() {
        let text = "`a/*.rs` `a/{b,c}.rs` `/etc/a.toml` `~/a/` `target/x/` `$HOME/a/` `a / b.rs` `a/b` `b.rs` `http://a/`\n\
            ```text\n`gone/`\n```\n`a/NNNN-b.md` `` `gone/` ``";
        assert_eq!(faults("docs/a.md", text), NONE);
    }

    #[test]
    fn a_document_has_at_most_its_words() {
        let text = "word word\n\n".repeat(250);
        assert_eq!(faults("docs/glossary.md", &text), NONE);
        let longer = format!("{text}word – |");
        assert_eq!(
            faults("docs/glossary.md", &longer),
            ["docs/glossary.md: 501 words, more than 500: shorten it, or move facts elsewhere"]
        );
        assert_eq!(faults("docs/guide/sql.md", &longer), NONE);
        assert_eq!(faults("docs/decisions/README.md", &longer), NONE);
        assert_eq!(faults("docs/decisions/0001-a.md", &longer).len(), 1);
    }

    #[test]
    fn generated_tables_do_not_count() {
        let table = "| a | b |\n".repeat(1001);
        assert_eq!(faults("bench/RESULTS.md", &table), NONE);
        assert_eq!(faults("COMPAT.md", &table).len(), 1);
        let generated = format!("<!-- compat: written by x -->\n{table}<!-- compat: end -->\n");
        assert_eq!(faults("COMPAT.md", &generated), NONE);
    }

    #[test]
    fn a_paragraph_has_at_most_110_words() {
        assert_eq!(faults("docs/a.md", &"word ".repeat(110)), NONE);
        assert_eq!(
            faults("docs/a.md", &format!("One.\n\n- {}", "word ".repeat(111))),
            ["docs/a.md:3: paragraph of 111 words, more than 110: split it"]
        );
    }
}
