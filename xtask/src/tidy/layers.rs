//! The layers of the workspace: which crate uses which. ARCHITECTURE.md lists the allowed edges, and each
//! `Cargo.toml` holds the present ones. Both must be the same, and there is no cycle.
//!
//! Crates are named by their folders. Dev-dependencies are no edges: a test may use any crate.

use super::{Source, normal};
use crate::run::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DOCUMENT: &str = "ARCHITECTURE.md";
const SECTION: &str = "## Crates and layers";
const HEADER: [&str; 3] = ["crate", "holds", "may depend on"];

/// Each crate with the crates that it uses.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Compares the edges of the manifests with those of the document. Returns the table of layers for a person.
pub fn check(root: &Path, sources: &[Source], faults: &mut Vec<String>) -> Result<String> {
    let workspace = manifest(root, "")?;
    let members = members(&workspace);
    let shared = shared_paths(&workspace);
    let mut present = Edges::new();
    for member in &members {
        let mut edges = edges(member, &manifest(root, member)?, &shared);
        edges.retain(|other| members.contains(other));
        present.insert(member.clone(), edges);
    }
    let document = root.join(DOCUMENT);
    let text = std::fs::read_to_string(&document).map_err(|error| format!("{}: {error}", document.display()))?;
    compare(&present, &listed(&text)?, faults);
    if let Some(cycle) = cycle(&present) {
        faults.push(format!("a cycle of crates: {}", cycle.join(" -> ")));
    }
    Ok(table(&present, &lines(&members, sources)))
}

fn manifest(root: &Path, member: &str) -> Result<toml::Table> {
    let path = root.join(member).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", path.display()))
}

fn members(workspace: &toml::Table) -> Vec<String> {
    let members = workspace.get("workspace").and_then(|value| value.get("members")).and_then(|value| value.as_array());
    members.into_iter().flatten().filter_map(|member| member.as_str()).map(str::to_owned).collect()
}

/// The folders of the dependencies that members inherit by `name.workspace = true`.
fn shared_paths(workspace: &toml::Table) -> BTreeMap<String, String> {
    let shared = workspace.get("workspace").and_then(|value| value.get("dependencies"));
    let entries = shared.and_then(|value| value.as_table()).into_iter().flatten();
    entries.filter_map(|(name, entry)| Some((name.clone(), normal("", entry.get("path")?.as_str()?)))).collect()
}

/// The folders that a member's manifest depends on by path, in any table but dev-dependencies.
fn edges(member: &str, manifest: &toml::Table, shared: &BTreeMap<String, String>) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(|value| value.as_table());
    let targets = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
    let mut found = BTreeSet::new();
    for tables in std::iter::once(manifest).chain(targets) {
        for kind in ["dependencies", "build-dependencies"] {
            let entries = tables.get(kind).and_then(|value| value.as_table()).into_iter().flatten();
            for (name, entry) in entries {
                let path = entry.get("path").and_then(|path| path.as_str()).map(|path| normal(member, path));
                let inherits = entry.get("workspace").and_then(|value| value.as_bool()).unwrap_or(false);
                found.extend(if inherits { shared.get(name).cloned() } else { path });
            }
        }
    }
    found
}

/// The allowed edges: the table of the section. A row's crates stand in backticks; other words are remarks.
fn listed(text: &str) -> Result<Edges> {
    let section = text.lines().skip_while(|line| *line != SECTION).skip(1).take_while(|line| !line.starts_with("## "));
    let mut rows = section.map(cells).skip_while(|row| row != &HEADER).skip(2).take_while(|row| !row.is_empty());
    let mut listed = Edges::new();
    rows.try_for_each(|row| {
        let [name, _, uses] = row.as_slice() else {
            return Err(format!("{DOCUMENT}: a row of {} columns in the table of crates", row.len()));
        };
        let Some(name) = backticked(name).next() else {
            return Err(format!("{DOCUMENT}: `{name}`: name the crate's folder in backticks"));
        };
        match listed.insert(name.to_owned(), backticked(uses).map(str::to_owned).collect()) {
            None => Ok(()),
            Some(_) => Err(format!("{DOCUMENT}: two rows for {name}")),
        }
    })?;
    if listed.is_empty() {
        return Err(format!("{DOCUMENT}: no table `| {} |` in the section \"{}\"", HEADER.join(" | "), &SECTION[3..]));
    }
    Ok(listed)
}

/// The cells of a table's row. None: the line is no row.
fn cells(line: &str) -> Vec<&str> {
    let row = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    row.into_iter().flat_map(|row| row.split('|')).map(str::trim).collect()
}

fn backticked(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Each difference between the present edges and the listed ones is a fault.
fn compare(present: &Edges, listed: &Edges, faults: &mut Vec<String>) {
    for (name, uses) in present {
        let Some(allowed) = listed.get(name) else {
            faults.push(format!("{DOCUMENT}: the table of crates lacks {name}"));
            continue;
        };
        for other in uses.difference(allowed) {
            faults.push(format!("{name}/Cargo.toml: {name} must not use {other}: {DOCUMENT} does not list the edge"));
        }
        for other in allowed.difference(uses) {
            faults.push(format!("{DOCUMENT}: {name} may use {other}, but does not: remove it from the table"));
        }
    }
    for name in listed.keys().filter(|name| !present.contains_key(*name)) {
        faults.push(format!("{DOCUMENT}: the table of crates lists {name}, which is no member of the workspace"));
    }
}

/// A cycle, with its first crate repeated at its end.
fn cycle(edges: &Edges) -> Option<Vec<&str>> {
    // Crates without uses are removed until none is left. What remains leads into a cycle.
    let mut rest: BTreeSet<&str> = edges.keys().map(String::as_str).collect();
    let next = |rest: &BTreeSet<&str>, name: &str| -> Option<&str> {
        edges.get(name)?.iter().map(String::as_str).find(|other| rest.contains(other))
    };
    while let Some(leaf) = rest.iter().copied().find(|name| next(&rest, name).is_none()) {
        rest.remove(leaf);
    }
    let mut path = vec![*rest.first()?];
    loop {
        let following = next(&rest, path.last()?)?;
        if let Some(start) = path.iter().position(|name| *name == following) {
            let mut cycle = path.split_off(start);
            cycle.push(following);
            return Some(cycle);
        }
        path.push(following);
    }
}

/// Lines of Rust by crate, with tests, comments and blank lines. A crate's folder may hold other crates.
fn lines(members: &[String], sources: &[Source]) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for source in sources {
        let holds =
            |member: &&String| source.path.strip_prefix(member.as_str()).is_some_and(|rest| rest.starts_with('/'));
        if let Some(owner) = members.iter().filter(holds).max_by_key(|member| member.len()) {
            *lines.entry(owner.clone()).or_default() += source.text.lines().count();
        }
    }
    lines
}

fn table(edges: &Edges, lines: &BTreeMap<String, usize>) -> String {
    let width = edges.keys().map(String::len).max().unwrap_or(0).max("crate".len());
    let mut table = format!("{:width$}  {:>7}  uses", "crate", "lines");
    for (name, uses) in edges {
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        let lines = lines.get(name).copied().unwrap_or(0);
        table.push_str(format!("\n{name:width$}  {lines:>7}  {}", uses.join(", ")).trim_end());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges_of(pairs: &[(&str, &[&str])]) -> Edges {
        pairs
            .iter()
            .map(|(name, uses)| (name.to_string(), uses.iter().map(|other| other.to_string()).collect()))
            .collect()
    }

    fn differences(present: &Edges, listed: &Edges) -> Vec<String> {
        let mut faults = Vec::new();
        compare(present, listed, &mut faults);
        faults
    }

    const WORKSPACE: &str = r#"
        [workspace]
        members = ["storage", "planner/types"]
        [workspace.dependencies]
        storage = { path = "storage", package = "percosql-storage" }
        serde = "1"
    "#;

    #[test]
    fn manifests_give_members_and_edges() {
        let workspace: toml::Table = WORKSPACE.parse().unwrap();
        assert_eq!(members(&workspace), ["storage", "planner/types"]);
        let manifest = r#"
            [dependencies]
            storage.workspace = true
            serde.workspace = true
            sql_error = { path = "../error" }
            regex = "1"
            [build-dependencies]
            made = { path = "../made" }
            [target.'cfg(unix)'.dependencies]
            unix = { path = "../../unix" }
            [dev-dependencies]
            test_store = { path = "../test_store" }
        "#;
        let found = edges("planner/types", &manifest.parse().unwrap(), &shared_paths(&workspace));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["planner/error", "planner/made", "storage", "unix"]);
    }

    #[test]
    fn the_table_of_its_section_gives_the_allowed_edges() {
        let text = "## Other\n| crate | holds | may depend on |\n|---|---|---|\n| `x` | x | `y` |\n\
            ## Crates and layers\n\nProse.\n\n| crate | holds | may depend on |\n|---|---|---|\n\
            | `storage` | engines | none of ours |\n| `planner/types` | `Type`s | `storage` (remark), `planner/error` |\n\n\
            | folder | holds |\n|---|---|\n| `bind/` | z |\n";
        let expected = edges_of(&[("storage", &[]), ("planner/types", &["storage", "planner/error"])]);
        assert_eq!(listed(text), Ok(expected));
    }

    #[test]
    fn a_document_without_the_table_is_refused() {
        assert!(listed("## Crates and layers\n\n| crate | holds |\n|---|---|\n| `a` | b |\n").is_err());
        let twice =
            "## Crates and layers\n| crate | holds | may depend on |\n|---|---|---|\n| `a` | b | |\n| `a` | b | |\n";
        assert_eq!(listed(twice), Err("ARCHITECTURE.md: two rows for a".to_owned()));
    }

    #[test]
    fn an_edge_that_is_not_listed_is_found() {
        let found = differences(&edges_of(&[("a", &["b"]), ("b", &[])]), &edges_of(&[("a", &[]), ("b", &[])]));
        assert_eq!(found, ["a/Cargo.toml: a must not use b: ARCHITECTURE.md does not list the edge"]);
    }

    #[test]
    fn a_listed_edge_that_no_manifest_has_is_found() {
        let found = differences(&edges_of(&[("a", &[]), ("b", &[])]), &edges_of(&[("a", &["b"]), ("b", &[])]));
        assert_eq!(found, ["ARCHITECTURE.md: a may use b, but does not: remove it from the table"]);
    }

    #[test]
    fn a_member_that_is_missing_in_the_table_is_found() {
        let found = differences(&edges_of(&[("a", &[]), ("b", &[])]), &edges_of(&[("a", &[]), ("c", &[])]));
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md: the table of crates lacks b",
                "ARCHITECTURE.md: the table of crates lists c, which is no member of the workspace"
            ]
        );
    }

    #[test]
    fn a_cycle_is_found_and_a_diamond_is_none() {
        let diamond = edges_of(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])]);
        assert_eq!(cycle(&diamond), None);
        let round = edges_of(&[("a", &["b"]), ("b", &["c"]), ("c", &["d", "b"]), ("d", &[])]);
        assert_eq!(cycle(&round), Some(vec!["b", "c", "b"]));
        assert_eq!(cycle(&edges_of(&[("a", &["a"])])), Some(vec!["a", "a"]));
    }

    #[test]
    fn lines_count_for_the_innermost_crate() {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let sources =
            [source("a/src/lib.rs", "1\n2\n"), source("a/b/src/lib.rs", "1\n"), source("ab/src/lib.rs", "1\n2\n3\n")];
        let lines = lines(&["a".to_owned(), "a/b".to_owned(), "ab".to_owned()], &sources);
        assert_eq!(lines.into_iter().collect::<Vec<_>>(), [("a".into(), 2), ("a/b".into(), 1), ("ab".into(), 3)]);
        assert_eq!(
            table(&edges_of(&[("a", &[]), ("a/b", &["a", "c"])]), &BTreeMap::from([("a".into(), 12)])),
            "crate    lines  uses\na           12\na/b          0  a, c"
        );
    }
}
