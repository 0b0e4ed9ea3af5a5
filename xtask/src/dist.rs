//! `cargo xtask dist`: the release build, laid out anew by what it was seen to run (LLVM's BOLT). Must not change what is compiled.
//!
//! The program is large and what a statement runs through lies all over it, so the processor waits for code. A copy of it
//! counts which way each branch goes under the loads below; then what runs often is put beside each other, and the rest away.

use crate::packages;
use crate::run::{Result, command, finish, run, say};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the copy that counts may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// pgbench's scale, and how long each of its loads runs.
const SCALE: &str = "10";
const SECONDS: &str = "8";

/// Builds `target/release/percosql`, lets a copy of it count, and writes `target/dist/percosql`.
pub fn dist() -> Result<()> {
    let bolt = packages::ensure_dist()?;
    let postgres = packages::ensure_bench()?;
    let mut build = command("cargo", &["build", "--release", "--workspace", "--bins"]);
    build.env("PERCOSQL_KEEP_RELOCATIONS", "1");
    say("$ PERCOSQL_KEEP_RELOCATIONS=1 cargo build --release --workspace --bins");
    finish(build, "cargo build")?;
    let release = crate::bench::release_folder()?;
    let folder = release.with_file_name("dist");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (program, counting, counts) =
        (release.join("percosql"), folder.join("percosql.counting"), folder.join("percosql.fdata"));
    let _ = fs::remove_file(&counts);
    let counts_to = format!("--instrumentation-file={}", counts.display());
    run(&shown(&bolt), &[&shown(&program), "-instrument", &counts_to, "-o", &shown(&counting)])?;
    {
        let server = Counting::start(&counting, &folder)?;
        let trained = train(&server, &release.join("percosql-bench"), &postgres.join("pgbench"));
        server.stop().and(trained)?;
    }
    let laid_out = folder.join("percosql");
    let mut arguments = vec![shown(&program), "-o".to_string(), shown(&laid_out), format!("-data={}", counts.display())];
    arguments.extend(LAYOUT.iter().map(ToString::to_string));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(&shown(&bolt), &arguments)?;
    let _ = fs::remove_file(&counting);
    run(&shown(&laid_out), &["--version"])?;
    say(&format!("{} is ready", laid_out.display()));
    Ok(())
}

/// Blocks by how they follow each other, functions by who calls whom, and what never ran apart from both.
const LAYOUT: &[&str] = &[
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=cdsort",
    "-split-functions",
    "-split-all-cold",
    "-split-eh",
    "-icf=1",
    "-dyno-stats",
];

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What the copy that counts is asked: loads, the brokerage, and short statements in all protocols.
fn train(server: &Counting, bench: &Path, pgbench: &Path) -> Result<()> {
    let dsn = format!("host=127.0.0.1 port={} user=postgres", server.port);
    let ledger = shown(&server.folder.join("ledger"));
    let bench = |arguments: &[&str]| run(&shown(bench), &[&["tpce"], arguments, &["--dsn", &dsn]].concat());
    bench(&["init", "--scale", "xs"])?;
    for style in ["prepared", "simple"] {
        bench(&["run", "--clients", "4", "--duration", "30s", "--quiet", "--style", style, "--ledger", &ledger])?;
    }
    let port = server.port.to_string();
    let pgbench = |arguments: &[&str]| {
        let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        run(&shown(pgbench), &[&server, arguments, &["postgres"]].concat())
    };
    pgbench(&["-i", "-q", "-s", SCALE])?;
    for load in [
        ["-S", "-M", "prepared", "-c", "8"],
        ["-S", "-M", "simple", "-c", "8"],
        ["-S", "-M", "extended", "-c", "8"],
        ["-N", "-M", "prepared", "-c", "8"],
        ["-S", "-C", "-n", "-c", "4"],
    ] {
        pgbench(&[&["-n", "-T", SECONDS], &load[..]].concat())?;
    }
    Ok(())
}

/// A server that counts what it runs, on a folder of its own.
struct Counting {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Counting {
    fn start(program: &Path, beside: &Path) -> Result<Counting> {
        let told = |error: std::io::Error| format!("{}: {error}", program.display());
        let folder = beside.join("training");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(told)?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(told)?.port();
        let log = File::create(folder.join("log")).map_err(told)?;
        let mut start = Command::new(program);
        start.arg("start").arg("--data-dir").arg(folder.join("data")).args(["--listen", &format!("127.0.0.1:{port}")]);
        start.stdout(Stdio::null()).stderr(log);
        let mut server = Counting { child: start.spawn().map_err(told)?, port, folder };
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = server.child.try_wait().map_err(told)?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                return Err(format!("{} did not start: see {}", program.display(), server.folder.join("log").display()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Stops it in order, for it writes what it counted when it ends.
    fn stop(mut self) -> Result<()> {
        run("kill", &["-TERM", &self.child.id().to_string()])?;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return match status.success() {
                    true => Ok(()),
                    false => Err(format!("the server that counts ended with {status}")),
                };
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("the server that counts did not stop".to_string())
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(self.folder.join("data"));
    }
}
