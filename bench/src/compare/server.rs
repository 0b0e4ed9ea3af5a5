//! [`Server`]: one of the two servers while it runs.

use super::options::Isolation;
use super::program::tail;
use crate::error::{Error, Result};
use crate::{cpu, session};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_postgres::{Client, Config};

/// How long a server may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a server may compute after it was left alone.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
/// A server is idle that computes less than this share of a processor for a while.
const IDLE_SHARE: f64 = 0.04;

fn log_file(folder: &TempDir) -> PathBuf {
    folder.path().join("log")
}

/// A running server on 127.0.0.1, with the database and the role `postgres`. Stopped when dropped, and its folder removed.
pub struct Server {
    /// As people call it.
    pub name: &'static str,
    /// What `select version()` answers.
    pub version: String,
    port: u16,
    child: Child,
    /// Ends it at once and without leaving anything behind, where killing the process is not enough.
    stop: Option<Command>,
    folder: TempDir,
}

/// How a server is started.
pub struct Launch {
    /// As people call it.
    pub name: &'static str,
    /// The command that is the server until it ends.
    pub command: Command,
    /// Ends it at once, where killing the process is not enough.
    pub stop: Option<Command>,
    /// What it listens to on 127.0.0.1.
    pub port: u16,
    /// Its own, for data and log.
    pub folder: TempDir,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub async fn start(launch: Launch) -> Result<Server> {
        let Launch { name, mut command, stop, port, folder } = launch;
        let log = log_file(&folder);
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .current_dir("/")
            // A group of its own, so that Ctrl-C reaches this program alone, which then stops it.
            .process_group(0)
            .spawn()
            .map_err(|error| Error::other(format!("{name} cannot be started: {error}")))?;
        let mut server = Server { name, version: String::new(), port, child, stop, folder };
        server.version = server.wait_until_ready().await?;
        Ok(server)
    }

    async fn wait_until_ready(&mut self) -> Result<String> {
        let begin = Instant::now();
        loop {
            if let Some(ended) = self.ended() {
                return Err(Error::other(ended));
            }
            if let Ok(client) = self.connect().await {
                return Ok(client.query_one("select version()", &[]).await?.try_get(0)?);
            }
            if begin.elapsed() > START_LIMIT {
                let limit = START_LIMIT.as_secs();
                return Err(Error::other(format!("{} does not answer after {limit} s: {}", self.name, self.said())));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The last that it printed.
    fn said(&self) -> String {
        tail(&String::from_utf8_lossy(&std::fs::read(log_file(&self.folder)).unwrap_or_default()))
    }

    /// How it ended and what it printed last, if it has.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(format!("{} has ended, {status}, and said last: {}", self.name, self.said()))
    }

    fn config(&self) -> Config {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.port).user("postgres").dbname("postgres").application_name("percosql-bench");
        config
    }

    /// A connection.
    pub async fn connect(&self) -> Result<Client> {
        session::connect(&self.config()).await
    }

    /// Lets a client of libpq's, such as pgbench, find the server, and nothing else that this program's own environment says.
    pub fn address(&self, command: &mut Command, isolation: Isolation) {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        let port = self.port.to_string();
        command.envs([("PGHOST", "127.0.0.1"), ("PGPORT", &port), ("PGUSER", "postgres"), ("PGDATABASE", "postgres")]);
        if let Some(level) = isolation.setting() {
            // A blank within a value is written with a backslash.
            command.env("PGOPTIONS", format!("-c default_transaction_isolation={}", level.replace(' ', "\\ ")));
        }
    }

    /// Its process, the parent of its others.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Seconds of processor that the server and all its processes have used.
    pub fn cpu(&self) -> Result<f64> {
        cpu::seconds(self.pid())
            .ok_or_else(|| Error::other(format!("the processor time of {} is not to be had: has it ended?", self.name)))
    }

    /// Waits until the server computes next to nothing for so long, or for a minute.
    pub async fn wait_until_idle(&self, window: Duration) -> Result<()> {
        let begin = Instant::now();
        loop {
            let before = self.cpu()?;
            tokio::time::sleep(window).await;
            if self.cpu()? - before <= IDLE_SHARE * window.as_secs_f64() || begin.elapsed() > IDLE_LIMIT {
                return Ok(());
            }
        }
    }

    /// How often the server has synced its log since it started; nothing where it does not tell.
    pub async fn syncs(&self) -> Option<i64> {
        let client = self.connect().await.ok()?;
        let row = client.query_opt("select wal_sync from pg_stat_wal", &[]).await.ok()??;
        row.try_get::<_, Option<i64>>(0).ok()?
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = &mut self.stop {
            // Killed below if that fails.
            let _ = stop.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
