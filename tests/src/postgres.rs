//! [`Postgres`]: a real PostgreSQL on a port and folder of its own, whose answers the tests expect.

use crate::server::free_port;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running PostgreSQL. Dropping it kills the server.
pub struct Postgres {
    _folder: tempfile::TempDir,
    port: u16,
    child: Child,
}

/// PostgreSQL refuses to run as root. Debian's packages create this user for it.
const USER: &str = "postgres";

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn command(program: &str) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--init-groups", "--", program]);
        command
    } else {
        Command::new(program)
    }
}

impl Postgres {
    /// Creates a cluster with locale C.UTF-8 and starts it.
    pub fn start() -> Postgres {
        let folder = tempfile::Builder::new().prefix("percosql-postgres-").tempdir().expect("a temporary folder");
        if is_root() {
            let path = folder.path().to_string_lossy().into_owned();
            let changed = Command::new("chown").args([USER, &path]).status().expect("chown");
            assert!(changed.success(), "chown {path}");
        }
        let data = folder.path().join("data");
        let made = command("initdb")
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-D"])
            .arg(&data)
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let port = free_port();
        let child = launch(&data, port);
        let begin = Instant::now();
        while !answers(port) {
            assert!(begin.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Postgres { _folder: folder, port, child }
    }

    /// TCP port of the server on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Restores the database `postgres` to its state after `initdb`. Roles and other databases stay.
    pub fn clear(&self) {
        let output = Command::new("psql")
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-U", "postgres", "-c", "drop database postgres with (force)", "-c", "create database postgres"])
            .args(["-c", "comment on database postgres is 'default administrative connection database'", "template1"])
            .output()
            .expect("psql runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
        && Command::new("psql")
            .args(["-X", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres", "-c", "select 1", "postgres"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

fn launch(data: &Path, port: u16) -> Child {
    command("postgres")
        .arg("-D")
        .arg(data)
        .args([
            "-p",
            &port.to_string(),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
            "-c",
            "fsync=off",
        ])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("postgres starts")
}

impl Drop for Postgres {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SIGQUIT is PostgreSQL's immediate shutdown, which also ends its children. The program `kill` is missing on a
        // small Debian.
        // SAFETY: kill takes two integers and touches no memory of ours; the child is not yet waited for.
        unsafe { libc::kill(self.child.id().cast_signed(), libc::SIGQUIT) };
        let _ = self.child.wait();
    }
}
