//! `cargo xtask dist`: rearranges the optimized binary by its profile (LLVM's BOLT). It must not change the compiled
//! code.
//!
//! The program is large, and the code of one statement is scattered over it, so the processor waits for instructions.
//! First perf samples the frequently run functions. Then an instrumented copy counts the branches of these functions
//! under the same load. Finally BOLT places hot code together and cold code apart. Instrumenting all functions would
//! take more memory than most machines have.

use crate::packages;
use crate::run::{Result, command, finish, run, say, shown};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for a server to start and to stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// Samples per second of the server's own processor time.
const FREQUENCY: &str = "2000";

/// Scale of pgbench. `SECONDS` is the duration of each of its loads.
const SCALE: &str = "10";
const SECONDS: &str = "6";

/// BOLT's options: order basic blocks by their transitions and functions by their calls, and split off code that never
/// ran.
const LAYOUT: &[&str] = &[
    "-lite",
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=cdsort",
    "-split-functions",
    "-split-all-cold",
    "-split-eh",
    "-icf=1",
];

/// Builds `target/optimized/percosql`, profiles it under load, and writes `target/dist/percosql`. A program in the
/// arguments replaces the build; it must be linked with its relocations.
pub fn dist(arguments: &[String]) -> Result<()> {
    let bolt = packages::ensure_dist()?;
    let postgres = packages::ensure_bench()?;
    let built = crate::bench::optimized_folder()?;
    let program = match arguments {
        [] => build(&built)?,
        [program] => program.clone(),
        _ => return Err("dist takes one program at most".to_string()),
    };
    let folder = built.with_file_name("dist");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let load = Load { bench: built.join("percosql-bench"), pgbench: postgres.join("pgbench") };
    let file = |name: &str| shown(&folder.join(name));
    let (samples, hot, counting, counts) =
        (file("samples.perf"), file("hot.fdata"), file("percosql.counting"), file("counts.fdata"));

    let server = Server::start(&program, &folder)?;
    let sampler = Sampler::start(&server, &samples)?;
    load.run(&server)?;
    sampler.stop()?;
    server.stop()?;
    run(&bolt.perf2bolt, &["-nl", "-p", &samples, "-o", &hot, &program])?;

    let (hot, counts_to) = (format!("-data={hot}"), format!("-instrumentation-file={counts}"));
    let instrument = ["-instrument", "-instrument-hot-only", "-lite", &hot, &counts_to, "-o", &counting];
    run(&bolt.optimizer, &[&[program.as_str()], &instrument[..]].concat())?;
    let _ = fs::remove_file(&counts);
    let server = Server::start(&counting, &folder)?;
    load.run(&server)?;
    // The instrumented server writes its counts when it ends.
    server.stop()?;

    let laid_out = file("percosql");
    let counts = format!("-data={counts}");
    run(&bolt.optimizer, &[&[program.as_str(), "-o", &laid_out, &counts], LAYOUT].concat())?;
    for name in ["samples.perf", "percosql.counting"] {
        let _ = fs::remove_file(folder.join(name));
    }
    run(&laid_out, &["--version"])?;
    say(&format!("{laid_out} is ready"));
    Ok(())
}

/// Builds an optimized binary that keeps its relocations. Answers its path.
fn build(built: &Path) -> Result<String> {
    let arguments = ["build", "--profile", "optimized", "-p", "percosql", "-p", "percosql-bench"];
    let mut build = command("cargo", &arguments);
    build.env("PERCOSQL_KEEP_RELOCATIONS", "1");
    say(&format!("$ PERCOSQL_KEEP_RELOCATIONS=1 cargo {}", arguments.join(" ")));
    finish(build, "cargo build")?;
    Ok(shown(&built.join("percosql")))
}

/// The load during profiling: the brokerage, pgbench, and short statements in all protocols.
struct Load {
    bench: PathBuf,
    pgbench: PathBuf,
}

impl Load {
    fn run(&self, server: &Server) -> Result<()> {
        let dsn = format!("host=127.0.0.1 port={} user=postgres", server.port);
        let ledger = shown(&server.folder.join("ledger"));
        let bench = |arguments: &[&str]| run(&shown(&self.bench), &[&["tpce"], arguments, &["--dsn", &dsn]].concat());
        bench(&["init", "--scale", "xs"])?;
        for (style, duration) in [("prepared", "30s"), ("simple", "8s")] {
            let how = ["--clients", "8", "--duration", duration, "--quiet", "--style", style, "--ledger", &ledger];
            bench(&[&["run"], &how[..]].concat())?;
        }
        let port = server.port.to_string();
        let pgbench = |arguments: &[&str]| {
            let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
            run(&shown(&self.pgbench), &[&server, arguments, &["postgres"]].concat())
        };
        pgbench(&["-i", "-q", "-s", SCALE])?;
        let loads: [&[&str]; 5] = [
            &["-S", "-M", "prepared", "-c", "8"],
            &["-S", "-M", "simple", "-c", "8"],
            &["-S", "-M", "extended", "-c", "8"],
            &["-N", "-M", "prepared", "-c", "8"],
            &["-S", "-C", "-c", "4"],
        ];
        loads.iter().try_for_each(|load| pgbench(&[&["-n", "-T", SECONDS], *load].concat()))
    }
}

/// A running server on a folder of its own.
struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    fn start(program: &str, beside: &Path) -> Result<Server> {
        let told = |error: std::io::Error| format!("{program}: {error}");
        let folder = beside.join("training");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(told)?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(told)?.port();
        let log = File::create(folder.join("log")).map_err(told)?;
        let mut start = Command::new(program);
        start.arg("start").arg("--data-dir").arg(folder.join("data")).args(["--listen", &format!("127.0.0.1:{port}")]);
        start.stdout(Stdio::null()).stderr(log);
        say(&format!("$ {program} start"));
        let mut server = Server { child: start.spawn().map_err(told)?, port, folder };
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = server.child.try_wait().map_err(told)?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let log = fs::read_to_string(server.folder.join("log")).unwrap_or_default();
                return Err(format!("{program} did not start: {log}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    fn stop(mut self) -> Result<()> {
        end(&mut self.child, "-TERM", "the server")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A running perf, which samples the server's instruction pointers.
struct Sampler {
    child: Child,
}

impl Sampler {
    fn start(server: &Server, into: &str) -> Result<Sampler> {
        let process = server.child.id().to_string();
        let arguments = ["record", "-q", "-F", FREQUENCY, "-e", "cpu-clock:u", "-p", &process, "-o", into];
        say(&format!("$ perf {}", arguments.join(" ")));
        let child = command("perf", &arguments).spawn().map_err(|error| format!("perf: {error}"))?;
        Ok(Sampler { child })
    }

    fn stop(mut self) -> Result<()> {
        end(&mut self.child, "-INT", "perf")
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a process by a signal and waits for it.
fn end(child: &mut Child, signal: &str, name: &str) -> Result<()> {
    run("kill", &[signal, &child.id().to_string()])?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().map_err(|error| format!("{name}: {error}"))? {
            // perf writes its samples and then ends by the signal itself.
            return match status.code() {
                Some(0) | None => Ok(()),
                Some(code) => Err(format!("{name} ended with {code}")),
            };
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{name} did not stop"))
}
