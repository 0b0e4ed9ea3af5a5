//! [`all`]: the planted bugs of every crate, from the `mutants.toml` beside its manifest.

use crate::run::{Result, root};
use serde::Deserialize;
use std::path::Path;

/// One planted bug: a text that stands exactly once in a file, its replacement, and the tests
/// that have to fail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What is broken, for a person. No two are equal.
    pub name: String,
    /// The file: in `mutants.toml` from its folder, here from the root.
    pub file: String,
    /// Text as it is; must stand in the file exactly once.
    pub original: String,
    /// Text that breaks it.
    pub broken: String,
    /// Arguments of `cargo test` that run the tests expected to fail.
    pub tests: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Mutant>,
}

/// The planted bugs of every member of the workspace. Errors: a file that cannot be read or does not parse.
pub fn all() -> Result<Vec<Mutant>> {
    let manifest = read(&root().join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let members =
        manifest.get("workspace").and_then(|workspace| workspace.get("members")).and_then(|value| value.as_array());
    let mut found = Vec::new();
    for member in members.into_iter().flatten().filter_map(|member| member.as_str()) {
        let path = root().join(member).join("mutants.toml");
        if !path.exists() {
            continue;
        }
        let file: File = toml::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        found.extend(
            file.mutant.into_iter().map(|mutant| Mutant { file: format!("{member}/{}", mutant.file), ..mutant }),
        );
    }
    Ok(found)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
