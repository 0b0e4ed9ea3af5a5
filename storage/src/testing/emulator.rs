//! [`Emulator`]: a Bigtable emulator for one test, on a free port. It is stopped on drop.
//!
//! The first available one is used: a running one at `BIGTABLE_EMULATOR_HOST`; Google's `cbtemulator` (on PATH, or in
//! the Google Cloud SDK); or the one in Debian's `golang-google-cloud-dev`, built from `tests/emulator/main.go`. If
//! there is none, the test fails and says what to install.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The error on a machine without an emulator.
const INSTALL: &str = "no Bigtable emulator: set BIGTABLE_EMULATOR_HOST to a running one, or install the Google Cloud SDK's \
    (apt-get install google-cloud-cli-bigtable-emulator, or gcloud components install bigtable), or let one be built \
    (apt-get install golang-go golang-google-cloud-dev)";

/// A shell script that runs `$0` with limited memory until standard input ends. So killing a test
/// stops its emulator too.
const KEEPER: &str = r#"ulimit -v 6000000; "$0" "$@" </dev/null & emulator=$!; exec >&-; read -r _; kill -9 $emulator; wait $emulator 2>/dev/null"#;

/// A running emulator. See the module documentation.
pub struct Emulator {
    address: String,
    child: Option<Child>,
}

impl Emulator {
    /// Starts an emulator. Errors are messages for people.
    pub fn start() -> Result<Emulator, String> {
        if let Some(address) = std::env::var("BIGTABLE_EMULATOR_HOST").ok().filter(|address| !address.is_empty()) {
            return Ok(Emulator { address, child: None });
        }
        Emulator::start_program(&program()?)
    }

    /// Starts the emulator at `program`.
    pub fn start_program(program: &Path) -> Result<Emulator, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", program.display());
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(KEEPER).arg(program);
        // Port 0 selects a free one, which the first line of output names.
        command.args(["-host", "127.0.0.1", "-port", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        let emulator = Emulator { address: address_in(&line).unwrap_or_default(), child: Some(child) };
        match emulator.address.is_empty() {
            true => Err(format!("{} did not say where it listens: {line:?}", program.display())),
            false => Ok(emulator),
        }
    }

    /// The emulator's address as `HOST:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A table name that no other test uses, because an emulator may be shared.
    pub fn table(&self) -> String {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        format!("t{}x{}", std::process::id(), TABLES.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // The end of standard input stops the emulator.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// The address in "Cloud Bigtable emulator running on 127.0.0.1:40123".
fn address_in(line: &str) -> Option<String> {
    let address = line.trim().rsplit(' ').next()?;
    let (_, port) = address.rsplit_once(':')?;
    port.parse::<u16>().ok().map(|_| address.to_owned())
}

/// The emulator program on this machine.
pub fn program() -> Result<PathBuf, String> {
    if let Some(program) = installed() {
        return Ok(program);
    }
    match on_path("go") {
        Some(_) => build(),
        None => Err(INSTALL.to_owned()),
    }
}

fn installed() -> Option<PathBuf> {
    let name = "cbtemulator";
    let in_sdk = |sdk: &Path| Some(sdk.join("platform/bigtable-emulator").join(name)).filter(|path| path.is_file());
    let beside_gcloud = || {
        let gcloud = std::fs::canonicalize(on_path("gcloud")?).ok()?;
        in_sdk(gcloud.parent()?.parent()?)
    };
    let places = ["/usr/lib/google-cloud-sdk", "/snap/google-cloud-cli/current"];
    on_path(name).or_else(beside_gcloud).or_else(|| places.iter().find_map(|place| in_sdk(Path::new(place))))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Builds the emulator from Debian's Go library, once per machine.
pub fn build() -> Result<PathBuf, String> {
    // Other tests of this process wait for the build.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/emulator");
    let folder = std::env::temp_dir().join("percosql-bigtable-emulator");
    let program = folder.join("emulator");
    if program.is_file() {
        return Ok(program);
    }
    let failed = |error: std::io::Error| format!("building a Bigtable emulator: {error}");
    std::fs::create_dir_all(&folder).map_err(failed)?;
    // Built under a temporary name and renamed, because other processes may build it too.
    let own = folder.join(format!("emulator-{}", std::process::id()));
    let mut command = Command::new("go");
    command.arg("build").arg("-o").arg(&own).current_dir(source);
    if let Some(overlay) = later_timestamps(&folder).map_err(failed)? {
        command.arg("-overlay").arg(overlay);
    }
    command.arg("main.go");
    // The libraries of Debian's packages.
    command.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOFLAGS", "-mod=");
    let output = command.output().map_err(failed)?;
    if !output.status.success() {
        return Err(format!("{INSTALL}\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    std::fs::rename(&own, &program).map_err(failed)?;
    Ok(program)
}

/// Debian 12's library rejects timestamps beyond the year 9999 in microseconds, and ours are a thousand times as
/// large. The service and later versions accept them. Answers a build overlay without that bound, if it is needed.
fn later_timestamps(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    const LIBRARY: &str = "/usr/share/gocode/src/cloud.google.com/go/bigtable/bttest/inmem.go";
    const BOUND: &str = "int64(time.Millisecond) * 253402300800";
    let Ok(text) = std::fs::read_to_string(LIBRARY) else { return Ok(None) };
    if !text.contains(BOUND) {
        return Ok(None);
    }
    let process = std::process::id();
    let unbound = folder.join(format!("inmem-{process}.go"));
    std::fs::write(&unbound, text.replace(BOUND, "int64(1<<63 - 1)"))?;
    let overlay = folder.join(format!("overlay-{process}.json"));
    std::fs::write(&overlay, format!(r#"{{"Replace":{{{LIBRARY:?}:{unbound:?}}}}}"#))?;
    Ok(Some(overlay))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read() {
        let line = "Cloud Bigtable emulator running on 127.0.0.1:40123\n";
        assert_eq!(address_in(line), Some("127.0.0.1:40123".to_owned()));
        assert_eq!(address_in("panic: no\n"), None);
    }

    #[test]
    fn it_stops_with_its_test() {
        let emulator = Emulator::start_program(&program().unwrap()).unwrap();
        let address = emulator.address().to_owned();
        assert!(std::net::TcpStream::connect(&address).is_ok());
        drop(emulator);
        let gone = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            std::net::TcpStream::connect(&address).is_err()
        });
        assert!(gone);
        let failed = Emulator::start_program(Path::new("/bin/false")).err().unwrap();
        assert!(failed.contains("did not say where it listens"), "{failed}");
    }
}
