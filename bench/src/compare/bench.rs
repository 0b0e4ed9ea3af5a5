//! [`Bench`]: both servers, their loaded tables, and single runs on one of them.

use super::folders::parent;
use super::machine::Machine;
use super::options::Options;
use super::pgbench::{self, Pgbench};
use super::postgres::Postgres;
use super::sample::Sample;
use super::server::Server;
use super::table::{self, Accounts};
use super::workload::{Needs, Task, Workload};
use super::{memory, percosql};
use crate::cpu;
use crate::error::Result;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A server must be idle for this time before a run begins.
const QUIET: Duration = Duration::from_millis(500);
/// After a load the server must be idle for this time. Until then its processor time counts for the load.
const QUIET_AFTER_LOAD: Duration = Duration::from_secs(2);
/// Interval at which memory is sampled during a run.
const LOOK: Duration = Duration::from_millis(50);
/// Time that the server gets to end connections after pgbench has ended.
const GOODBYE: Duration = Duration::from_millis(100);

/// Settings that the report shows if the server has them.
const SETTINGS: &[&str] =
    &["fsync", "synchronous_commit", "wal_sync_method", "shared_buffers", "default_transaction_isolation"];

/// The running servers and their description for the report.
pub struct Bench {
    /// Options of the command line.
    pub options: Options,
    /// Machine on which the servers run.
    pub machine: Machine,
    /// Start of the comparison in UTC, to the minute.
    pub begun: String,
    /// Version of pgbench, from `pgbench --version`.
    pub pgbench_version: String,
    /// PostgreSQL first, then PercoSQL.
    pub servers: [Server; 2],
    /// Settings of the servers, in the same order.
    pub settings: [Vec<(&'static str, String)>; 2],
    pgbench: PathBuf,
    loaded: HashSet<Needs>,
}

/// Counters before a run, from which the counters after it are subtracted.
struct Before {
    when: Instant,
    syncs: Option<i64>,
    machine: Option<f64>,
    own: f64,
    cpu: f64,
}

impl Bench {
    /// Starts both servers on new folders.
    #[allow(clippy::print_stderr)]
    pub async fn start(options: &Options) -> Result<Bench> {
        let machine = Machine::look(&parent(options));
        if machine.disk_is_memory() {
            eprintln!(
                "warning: {} is in memory, where a sync costs nothing: choose a disk with --folder",
                parent(options).display()
            );
        }
        let programs = Postgres::find(options)?;
        let pgbench_version = programs.pgbench_version().await?;
        let (postgres, port) = programs.start(options, options.first_port).await?;
        let (percosql, _) = percosql::start(options, port.saturating_add(1)).await?;
        let format = "YYYY-MM-DD HH24:MI";
        let now = format!("select to_char(now() at time zone 'UTC', '{format}')");
        let begun = postgres.connect().await?.query_one(&now, &[]).await?.try_get(0)?;
        let settings = [settings(&postgres).await?, settings(&percosql).await?];
        for server in [&postgres, &percosql] {
            eprintln!("{}: {}", server.name, server.version);
        }
        Ok(Bench {
            options: options.clone(),
            machine,
            begun,
            pgbench_version,
            servers: [postgres, percosql],
            settings,
            pgbench: programs.pgbench(),
            loaded: HashSet::new(),
        })
    }

    /// Loads the missing tables of a workload, waits until both servers are idle, and warms them up.
    #[allow(clippy::print_stderr)]
    pub async fn prepare(&mut self, workload: &Workload) -> Result<()> {
        if !self.loaded.contains(&workload.needs) {
            for server in &self.servers {
                let begin = Instant::now();
                match workload.needs {
                    Needs::Nothing => continue,
                    Needs::Accounts => pgbench::load(&self.pgbench, server, &self.options).await?,
                    Needs::Scanned => table::load_scanned(&server.connect().await?, self.options.rows).await?,
                }
                eprintln!("{}: loaded in {:.1} s", server.name, begin.elapsed().as_secs_f64());
            }
            self.loaded.insert(workload.needs);
        }
        let quiet = if workload.task == Task::Memory { QUIET_AFTER_LOAD } else { QUIET };
        for server in &self.servers {
            server.wait_until_idle(quiet).await?;
        }
        let warm_up = self.options.warm_up;
        if let Task::Pgbench(pgbench) = &workload.task
            && !warm_up.is_zero()
        {
            for server in self.servers.iter().skip(usize::from(workload.itself)) {
                pgbench.run(&self.pgbench, server, &self.options, warm_up).await?;
            }
        }
        Ok(())
    }

    /// Describes how servers ended that are no longer running.
    pub fn ended(&mut self) -> Option<String> {
        let ended: Vec<String> = self.servers.iter_mut().filter_map(Server::ended).collect();
        (!ended.is_empty()).then(|| ended.join("; "))
    }

    /// Runs a workload once on one server.
    pub async fn run(&self, server: &Server, workload: &Workload) -> Result<Sample> {
        match &workload.task {
            Task::Pgbench(pgbench) => self.run_pgbench(server, pgbench, workload.writes()).await,
            Task::Copy { key } => {
                let accounts = Accounts::new(self.options.rows, *key);
                let client = server.connect().await?;
                accounts.prepare(&client).await?;
                self.load(server, async || accounts.run(&client).await).await
            }
            Task::Index => {
                let client = server.connect().await?;
                table::drop_index(&client).await?;
                self.load(server, async || table::create_index(&client).await).await
            }
            Task::Memory => Ok(Sample { memory: memory::resident(server.pid()), ..Sample::default() }),
            Task::Stream => {
                let client = server.connect().await?;
                let begin = Instant::now();
                let (rows, memory) = most_memory(server.pid(), table::stream(&client)).await;
                let rows = rows?;
                let per_second = Some(rows as f64 / begin.elapsed().as_secs_f64());
                Ok(Sample { done: rows, per_second, memory, ..Sample::default() })
            }
        }
    }

    async fn run_pgbench(&self, server: &Server, pgbench: &Pgbench, writes: bool) -> Result<Sample> {
        let before = Before::look(server, writes).await?;
        let outcome = pgbench.run(&self.pgbench, server, &self.options, self.options.duration).await?;
        tokio::time::sleep(GOODBYE).await;
        let sample = Sample {
            done: outcome.transactions,
            per_second: Some(outcome.per_second),
            p99: outcome.p99,
            retries: writes.then_some(outcome.retries),
            failed: outcome.failed,
            ..Sample::default()
        };
        before.complete(server, sample).await
    }

    /// Runs work that handles `--rows` rows. Its processor time includes deferred work: it counts until the server is
    /// idle again.
    async fn load(&self, server: &Server, work: impl AsyncFnOnce() -> Result<()>) -> Result<Sample> {
        server.wait_until_idle(QUIET).await?;
        let before = Before::look(server, false).await?;
        let begin = Instant::now();
        work().await?;
        let rows = self.options.rows;
        let per_second = Some(rows as f64 / begin.elapsed().as_secs_f64());
        server.wait_until_idle(QUIET_AFTER_LOAD).await?;
        before.complete(server, Sample { done: rows, per_second, ..Sample::default() }).await
    }
}

impl Before {
    async fn look(server: &Server, syncs: bool) -> Result<Before> {
        let syncs = if syncs { server.syncs().await } else { None };
        Ok(Before { when: Instant::now(), syncs, machine: cpu::machine(), own: cpu::own(), cpu: server.cpu()? })
    }

    /// Completes a sample with the counters since then.
    async fn complete(self, server: &Server, sample: Sample) -> Result<Sample> {
        let used = server.cpu()? - self.cpu;
        let seconds = self.when.elapsed().as_secs_f64().max(0.001);
        // The servers and their clients are child processes of this program.
        let own = cpu::own() - self.own;
        let others = self.machine.zip(cpu::machine()).map(|(before, after)| (after - before - own).max(0.0) / seconds);
        let syncs = match self.syncs {
            Some(before) => server.syncs().await.and_then(|after| u64::try_from(after - before).ok()),
            None => None,
        };
        Ok(Sample { cpu: Some(used), others, syncs, ..sample })
    }
}

/// Runs some work. Answers its outcome and the peak memory of a process meanwhile.
async fn most_memory<T>(pid: u32, work: impl Future<Output = T>) -> (T, Option<f64>) {
    let mut work = std::pin::pin!(work);
    let mut most = memory::resident(pid);
    loop {
        match tokio::time::timeout(LOOK, &mut work).await {
            Ok(outcome) => return (outcome, most),
            Err(_) => most = [most, memory::resident(pid)].into_iter().flatten().reduce(f64::max),
        }
    }
}

/// The server's values of [`SETTINGS`]. Unknown settings are left out.
async fn settings(server: &Server) -> Result<Vec<(&'static str, String)>> {
    let client = server.connect().await?;
    let mut known = Vec::new();
    for name in SETTINGS {
        let Ok(row) = client.query_one("select current_setting($1, true)", &[name]).await else { continue };
        if let Some(value) = row.try_get::<_, Option<String>>(0)? {
            known.push((*name, value));
        }
    }
    Ok(known)
}
