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

/// Time limit for a server to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Time limit for a server to become idle.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
/// A server counts as idle if it uses less than this share of a processor.
const IDLE_SHARE: f64 = 0.04;

fn log_file(folder: &TempDir) -> PathBuf {
    folder.path().join("log")
}

/// A running server on 127.0.0.1 with the database and the role `postgres`. Dropping it stops the server and removes
/// its folder.
pub struct Server {
    /// Name of the product, for reports.
    pub name: &'static str,
    /// Answer of the server to `select version()`.
    pub version: String,
    port: u16,
    child: Child,
    /// Command that stops the server cleanly and at once, if killing the process is not enough.
    stop: Option<Command>,
    folder: TempDir,
}

/// Parameters for the start of a server.
pub struct Launch {
    /// Name of the product, for reports.
    pub name: &'static str,
    /// Command whose process is the server.
    pub command: Command,
    /// Command that stops the server at once, if killing the process is not enough.
    pub stop: Option<Command>,
    /// TCP port on 127.0.0.1 that the command listens on.
    pub port: u16,
    /// Folder for the server's data and log.
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
            // The server has its own process group, so Ctrl-C reaches only this program, which then stops the server.
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

    /// The last lines of the server's output.
    fn said(&self) -> String {
        tail(&String::from_utf8_lossy(&std::fs::read(log_file(&self.folder)).unwrap_or_default()))
    }

    /// Describes the end of the server and its last output. `None` if it still runs.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(format!("{} has ended, {status}, and said last: {}", self.name, self.said()))
    }

    fn config(&self) -> Config {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.port).user("postgres").dbname("postgres").application_name("percosql-bench");
        config
    }

    /// Opens a connection to the server.
    pub async fn connect(&self) -> Result<Client> {
        session::connect(&self.config()).await
    }

    /// Sets the environment of a libpq client, such as pgbench, to reach this server. Removes other libpq variables of
    /// this program.
    pub fn address(&self, command: &mut Command, isolation: Isolation) {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        let port = self.port.to_string();
        command.envs([("PGHOST", "127.0.0.1"), ("PGPORT", &port), ("PGUSER", "postgres"), ("PGDATABASE", "postgres")]);
        if let Some(level) = isolation.setting() {
            // libpq needs a backslash before a space within a value.
            command.env("PGOPTIONS", format!("-c default_transaction_isolation={}", level.replace(' ', "\\ ")));
        }
    }

    /// Process id of the server, the parent of its other processes.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Processor seconds of the server and all its processes.
    pub fn cpu(&self) -> Result<f64> {
        cpu::seconds(self.pid())
            .ok_or_else(|| Error::other(format!("the processor time of {} is not to be had: has it ended?", self.name)))
    }

    /// Waits until the server is idle for the given time, or for a minute.
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

    /// Number of log syncs since the start of the server. `None` if the server does not report it.
    pub async fn syncs(&self) -> Option<i64> {
        let client = self.connect().await.ok()?;
        let row = client.query_opt("select wal_sync from pg_stat_wal", &[]).await.ok()??;
        row.try_get::<_, Option<i64>>(0).ok()?
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = &mut self.stop {
            // If the command fails, the process is killed below.
            let _ = stop.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
