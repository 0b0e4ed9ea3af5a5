//! [`Postgres`]: finds PostgreSQL's programs and starts a server on a new cluster.

use super::folders::{free_port, temporary};
use super::options::Options;
use super::program::run;
use super::server::{Launch, Server};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// PostgreSQL refuses to run as root. Debian's packages create this user for it.
const USER: &str = "postgres";
/// Debian installs each version below this folder.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The folder of the installed programs.
pub struct Postgres {
    bin: PathBuf,
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// The folder of the newest version below [`VERSIONS`].
fn newest() -> Option<PathBuf> {
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = std::fs::read_dir(VERSIONS).ok()?.flatten().map(|entry| entry.path());
    versions.filter(|path| path.join("bin/initdb").is_file()).max_by_key(number).map(|path| path.join("bin"))
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let initdb = std::env::split_paths(&path).map(|folder| folder.join("initdb")).find(|file| file.is_file())?;
    // If initdb is a symbolic link, the other programs are beside its target.
    Some(initdb.canonicalize().ok()?.parent()?.to_path_buf())
}

impl Postgres {
    /// Finds the programs: those of the options, of the PATH, or the newest installed version.
    pub fn find(options: &Options) -> Result<Postgres> {
        let bin = options.postgres_bin.clone().or_else(on_path).or_else(newest);
        let bin = bin.ok_or_else(|| {
            Error::other("PostgreSQL's initdb is not found: install PostgreSQL, or say where it is with --postgres-bin")
        })?;
        for program in ["initdb", "postgres", "pg_ctl", "pgbench"] {
            if !bin.join(program).is_file() {
                return Err(Error::other(format!(
                    "{} has no {program}: choose a folder with --postgres-bin",
                    bin.display()
                )));
            }
        }
        Ok(Postgres { bin })
    }

    /// Path of the program pgbench.
    pub fn pgbench(&self) -> PathBuf {
        self.bin.join("pgbench")
    }

    /// The output of `pgbench --version`.
    pub async fn pgbench_version(&self) -> Result<String> {
        let mut command = Command::new(self.pgbench());
        command.arg("--version");
        Ok(run(command).await?.trim().to_string())
    }

    /// A command that accesses the cluster. It runs as a user that PostgreSQL accepts.
    fn command(&self, program: &str) -> Command {
        let path = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--init-groups", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir("/");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
    }

    async fn initialize(&self, folder: &Path, data: &Path) -> Result<()> {
        if is_root() {
            let mut chown = Command::new("chown");
            chown.arg(USER).arg(folder);
            run(chown).await?;
        }
        let mut initdb = self.command("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-D"]).arg(data);
        run(initdb).await?;
        Ok(())
    }

    /// Creates a cluster with the locale C.UTF-8 in a new folder. Starts a server on it with its shipped settings,
    /// which sync at COMMIT.
    pub async fn start(&self, options: &Options, first_port: u16) -> Result<(Server, u16)> {
        let folder = temporary(options, "postgres")?;
        let data = folder.path().join("data");
        self.initialize(folder.path(), &data).await?;
        let port = free_port(first_port)?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        // Stops the server at once with its child processes and shared memory. If only the first process were killed,
        // the children would end late.
        let mut stop = self.command("pg_ctl");
        stop.args(["stop", "--mode=immediate", "-D"]).arg(&data);
        let server = Server::start(Launch { name: "PostgreSQL", command, stop: Some(stop), port, folder }).await?;
        Ok((server, port))
    }
}
