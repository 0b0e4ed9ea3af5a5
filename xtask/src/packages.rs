//! The packages that a fresh Debian or Ubuntu machine needs, and their installation.

use crate::run::{Result, found, run, say};
use std::path::Path;

/// A required package and the check for its presence.
struct Need {
    package: &'static str,
    present: fn() -> bool,
}

const BUILD: &[Need] =
    &[Need { package: "g++", present: || found("g++") }, Need { package: "libclang-dev", present: libclang }];

const TEST: &[Need] = &[
    Need { package: "postgresql", present: || found("initdb") || postgresql_bin().is_some() },
    Need { package: "postgresql-15", present: || !is_older(postgresql_version().as_deref()) },
    Need { package: "postgresql-client", present: || found("psql") },
    Need { package: "postgresql-contrib", present: || found("pgbench") || postgresql_bin().is_some() },
    Need { package: "strace", present: || found("strace") },
    Need { package: "openssl", present: || found("openssl") },
    Need { package: "python3-psycopg", present: || Path::new("/usr/lib/python3/dist-packages/psycopg").is_dir() },
];

/// PostgreSQL 15 with pgbench, for the comparison of `cargo xtask bench`.
const BENCH: &[Need] =
    &[Need { package: "postgresql-15", present: || POSTGRESQL_15_PROGRAMS.iter().all(|name| in_postgresql_15(name)) }];

/// Debian's folder for the programs of PostgreSQL 15.
const POSTGRESQL_15: &str = "/usr/lib/postgresql/15/bin";

const POSTGRESQL_15_PROGRAMS: &[&str] = &["initdb", "postgres", "pg_ctl", "pgbench"];

fn in_postgresql_15(name: &str) -> bool {
    Path::new(POSTGRESQL_15).join(name).is_file()
}

/// Packages to build a Bigtable emulator if there is none: `storage/src/testing/emulator.rs` builds it from
/// `tests/emulator`.
const EMULATOR: &[Need] = &[
    Need { package: "golang-go", present: || found("go") },
    Need { package: "golang-google-cloud-dev", present: || Path::new(BIGTABLE_IN_GO).is_dir() },
];

/// Debian's folder for the fake server in Google's Go library.
const BIGTABLE_IN_GO: &str = "/usr/share/gocode/src/cloud.google.com/go/bigtable/bttest";

/// Whether a Bigtable emulator runs, or is installed where the tests look for one.
fn emulator() -> bool {
    let in_sdk = |sdk: &Path| sdk.join("platform/bigtable-emulator/cbtemulator").is_file();
    let beside_gcloud = || {
        let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>())?;
        let gcloud = folders.into_iter().find_map(|folder| folder.join("gcloud").canonicalize().ok())?;
        gcloud.parent()?.parent().map(in_sdk)
    };
    std::env::var_os("BIGTABLE_EMULATOR_HOST").is_some_and(|address| !address.is_empty())
        || found("cbtemulator")
        || ["/usr/lib/google-cloud-sdk", "/snap/google-cloud-cli/current"].iter().any(|sdk| in_sdk(Path::new(sdk)))
        || beside_gcloud() == Some(true)
}

fn libclang() -> bool {
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"];
    let mut all: Vec<std::path::PathBuf> = folders.iter().map(Into::into).collect();
    if let Ok(entries) = std::fs::read_dir("/usr/lib") {
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with("llvm") {
                all.push(entry.path().join("lib"));
            }
        }
    }
    std::env::var_os("LIBCLANG_PATH").is_some() || all.iter().any(|folder| has_libclang(folder))
}

fn has_libclang(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("libclang.so")
                || (name.starts_with("libclang-") && name.contains(".so")) && !name.starts_with("libclang-cpp")
        })
    })
}

/// The folder with the programs of the newest installed PostgreSQL, in Debian's layout.
pub fn postgresql_bin() -> Option<std::path::PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions.flatten().map(|entry| entry.path().join("bin")).filter(|bin| bin.join("initdb").is_file()).max()
}

/// The smallest minor version of PostgreSQL 15 whose answers the tests expect. Earlier ones have bugs that were fixed
/// since.
const LEAST_MINOR: u32 = 20;

/// The version that the server of the tests reports.
fn postgresql_version() -> Option<String> {
    let program = postgresql_bin()?.join("postgres");
    let output = std::process::Command::new(program).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// Whether that is a PostgreSQL 15 with known bugs, for which a newer package exists.
fn is_older(version: Option<&str>) -> bool {
    let number = version.and_then(|version| version.split_whitespace().find(|word| word.starts_with("15.")));
    let minor = number.and_then(|number| number.strip_prefix("15.")?.parse::<u32>().ok());
    minor.is_some_and(|minor| minor < LEAST_MINOR)
}

/// Checks that the packages for building are installed. Installs nothing. Errors: the missing packages and the command
/// that installs them.
pub fn need_build() -> Result<()> {
    match missing(BUILD).as_slice() {
        [] => Ok(()),
        packages => Err(format!("{} must be installed first: cargo xtask setup", packages.join(", "))),
    }
}

/// Installs the packages for building and for the comparison with PostgreSQL 15. Answers the folder of its programs.
pub fn ensure_bench() -> Result<std::path::PathBuf> {
    ensure(BUILD)?;
    ensure(BENCH)?;
    Ok(POSTGRESQL_15.into())
}

/// The package that samples a running program, for `cargo xtask dist`.
const SAMPLER: &[Need] = &[Need { package: "linux-perf", present: || found("perf") }];

/// The versions of LLVM's BOLT that Debian and Ubuntu package, newest first.
const BOLT_VERSIONS: &[u32] = &[22, 21, 20, 19, 18, 17, 16];

/// Names of the programs of LLVM's BOLT.
pub struct Bolt {
    /// Program that instruments and rearranges a binary.
    pub optimizer: String,
    /// Program that converts perf's samples.
    pub perf2bolt: String,
}

impl Bolt {
    fn installed() -> Option<Bolt> {
        let of = |version: &u32| Bolt {
            optimizer: format!("llvm-bolt-{version}"),
            perf2bolt: format!("perf2bolt-{version}"),
        };
        BOLT_VERSIONS.iter().map(of).find(|bolt| found(&bolt.optimizer) && found(&bolt.perf2bolt))
    }
}

/// Installs the packages for `cargo xtask dist`. Answers the names of BOLT's programs.
pub fn ensure_dist() -> Result<Bolt> {
    ensure(SAMPLER)?;
    if let Some(bolt) = Bolt::installed() {
        return Ok(bolt);
    }
    let package = BOLT_VERSIONS.iter().map(|version| format!("bolt-{version}")).find(|package| is_offered(package));
    let package = package.ok_or("no package of LLVM's BOLT is offered: install llvm-bolt 16 or newer")?;
    install(&[&package])?;
    Bolt::installed().ok_or_else(|| format!("{package} was installed but is not found"))
}

/// Whether apt's package lists contain the package. Its name has a version, because `bolt` alone is an unrelated
/// package.
fn is_offered(package: &str) -> bool {
    let said = std::process::Command::new("apt-cache").args(["show", "--no-all-versions", package]).output();
    said.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// `cargo xtask setup`: installs the packages for building and testing, and reports them.
pub fn setup() -> Result<()> {
    ensure(BUILD)?;
    ensure(TEST)?;
    match emulator() {
        true => Ok(()),
        false => ensure(EMULATOR).map_err(|error| format!("{NO_EMULATOR}: {error}")),
    }
}

/// Error text for a machine without an emulator. The cause follows it.
const NO_EMULATOR: &str = "the tests need a Bigtable emulator: set BIGTABLE_EMULATOR_HOST to a running one, or install the \
    Google Cloud SDK's (google-cloud-cli-bigtable-emulator), or golang-go and golang-google-cloud-dev, of which one is built";

fn missing(needs: &[Need]) -> Vec<&'static str> {
    needs.iter().filter(|need| !(need.present)()).map(|need| need.package).collect()
}

fn ensure(needs: &[Need]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing)?;
    match needs.iter().find(|need| !(need.present)()) {
        Some(need) => Err(format!("{} was installed but is not found", need.package)),
        None => Ok(()),
    }
}

fn install(missing: &[&str]) -> Result<()> {
    if !found("apt-get") {
        return Err(format!("please install {} (as your system names them)", missing.join(", ")));
    }
    say(&format!("installing {}", missing.join(", ")));
    let as_root = |arguments: &[&str]| {
        if found("sudo") && !root_user() {
            let mut all = vec!["apt-get"];
            all.extend_from_slice(arguments);
            run("sudo", &all)
        } else {
            run("apt-get", arguments)
        }
    };
    as_root(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(missing.iter().copied());
    as_root(&arguments)
}

fn root_user() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_known_mistakes_is_older() {
        let says = |number: &str| format!("postgres (PostgreSQL) {number} (Debian {number}-0+deb12u1)\n");
        assert!(is_older(Some(&says("15.18"))));
        assert!(!is_older(Some(&says("15.20"))) && !is_older(Some(&says("15.21"))) && !is_older(Some(&says("17.2"))));
        assert!(!is_older(None));
    }
}
