//! [`Server`]: a running `percosql` with a data directory of its own. It ends with the test.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Time limit for a server to answer after its start, in a debug build on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running server. Dropping it kills the server.
pub struct Server {
    folder: Arc<tempfile::TempDir>,
    port: u16,
    child: Child,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

/// Path of the finished binary: `PERCOSQL_BIN`, or the binary in the target folder of the running test.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("PERCOSQL_BIN") {
        return path.into();
    }
    let own = std::env::current_exe().expect("a test has a path");
    let folder = own.parent().and_then(Path::parent).expect("tests lie in target/PROFILE/deps");
    folder.join("percosql")
}

/// A free port that no other server of this process has. It lies below the ports of outgoing connections. A connection
/// from such a port to itself would succeed although no server listens.
///
/// The search does not listen: a child of another thread could hold the listener until its exec and look like a server.
pub fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 22_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let place = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id().wrapping_mul(97));
        let port = u16::try_from(FIRST + place % COUNT).expect("a port below 32,000");
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        if socket.bind(SocketAddr::from(([127, 0, 0, 1], port))).is_ok() {
            return port;
        }
    }
}

/// Removes the access of other users to a folder that a test filled. `percosql start` demands this of a data directory.
pub fn make_private(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("a folder of ours");
}

fn new_folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("percosql-test-").tempdir().expect("a temporary folder")
}

impl Server {
    /// Starts a server on a new data directory.
    pub fn start() -> Server {
        Self::start_with(&[])
    }

    /// Starts a server on a new data directory with more arguments.
    pub fn start_with(arguments: &[&str]) -> Server {
        Self::start_where(arguments, &[])
    }

    /// Like [`Server::start_with`]. If the server ends at once, answers its output as the error.
    pub fn try_start_with(arguments: &[&str]) -> Result<Server, String> {
        let mut server = Self::launched(new_folder(), &[], arguments, &[]);
        server.try_wait_until_ready()?;
        Ok(server)
    }

    /// Like [`Server::start_with`], with environment variables.
    pub fn start_where(arguments: &[&str], environment: &[(&str, &str)]) -> Server {
        let mut server = Self::launched(new_folder(), &[], arguments, environment);
        server.wait_until_ready();
        server
    }

    fn launched(
        folder: tempfile::TempDir,
        wrapper: &[&str],
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Server {
        let port = free_port();
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let environment: Vec<(String, String)> =
            environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let child = launch(wrapper, folder.path(), port, &arguments, &environment);
        Server { folder: Arc::new(folder), port, child, arguments, environment }
    }

    /// Starts a server under another program, such as `strace -f -o FILE`, on a new data directory. A restart runs
    /// without that program.
    pub fn start_under(wrapper: &[&str]) -> Server {
        Server::start_in(new_folder(), wrapper)
    }

    /// Starts a server in a folder that may have contents, under another program if `wrapper` is not empty.
    pub fn start_in(folder: tempfile::TempDir, wrapper: &[&str]) -> Server {
        let mut server = Self::launched(folder, wrapper, &[], &[]);
        server.wait_until_ready();
        server
    }

    /// Starts a server in a folder that may have contents. If the server ends at once, answers its output as the error.
    pub fn try_start_in(folder: tempfile::TempDir) -> Result<Server, String> {
        let mut server = Self::launched(folder, &[], &[], &[]);
        server.try_wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) {
        if let Err(said) = self.try_wait_until_ready() {
            panic!("the server ended at once: {said}");
        }
    }

    fn try_wait_until_ready(&mut self) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return Err(format!("{status}\n{}", self.log()));
            }
            // The server listens only once it can answer.
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            assert!(begin.elapsed() < START_LIMIT, "the server is not ready:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Output of the server so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// TCP port of the server on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Process id of the server itself, also if it runs under another program.
    pub fn pid(&self) -> u32 {
        let own = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let program = binary();
        let is_server = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == program);
        children.split_whitespace().filter_map(|pid| pid.parse().ok()).find(is_server).unwrap_or(own)
    }

    /// Path of the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder with the data directory, the log and files of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child of ours").is_none()
    }

    /// Sends SIGKILL and waits until the process is gone.
    pub fn kill9(&mut self) {
        if self.is_running() {
            // A wrapper program ends together with the server.
            self.signal(libc::SIGKILL);
        }
        let _ = self.child.wait();
    }

    /// Sends SIGTERM and waits for the end. Answers the exit code.
    pub fn stop(&mut self) -> Option<i32> {
        self.signal(libc::SIGTERM);
        self.child.wait().ok().and_then(|status| status.code())
    }

    /// Sends a signal to the server's process.
    #[allow(unsafe_code)]
    pub fn signal(&self, signal: i32) {
        // SAFETY: kill takes two integers and touches no memory of ours; the child is not yet waited for.
        unsafe { libc::kill(self.pid().cast_signed(), signal) };
    }

    /// Starts the server again on the same data directory and port. Answers the time until it answered.
    pub fn restart(&mut self) -> Duration {
        self.kill9();
        let begin = Instant::now();
        self.child = launch(&[], self.folder.path(), self.port, &self.arguments, &self.environment);
        self.wait_until_ready();
        begin.elapsed()
    }

    /// Starts the server again on the same data directory and port with other arguments.
    pub fn restarted_with(mut self, arguments: &[&str]) -> Server {
        self.arguments = arguments.iter().map(ToString::to_string).collect();
        self.restart();
        self
    }

    /// Waits until the server ends by itself. Answers its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let begin = Instant::now();
        while self.is_running() {
            assert!(begin.elapsed() < START_LIMIT, "the server does not end:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.wait().ok().and_then(|status| status.code())
    }

    /// Connects as `postgres` with a driver.
    pub async fn connect(&self) -> tokio_postgres::Client {
        self.try_connect().await.expect("a connection")
    }

    /// Connects as `postgres` with a driver. Answers the driver's error if that fails.
    pub async fn try_connect(&self) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
        let settings = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", self.port);
        let (client, connection) = tokio_postgres::connect(&settings, tokio_postgres::NoTls).await?;
        tokio::spawn(async move {
            // A broken connection also fails the client's calls, so this error is ignored.
            let _ = connection.await;
        });
        Ok(client)
    }
}

/// Runs `percosql start`, which should end by itself soon. Answers its exit code and its output.
pub fn start_refused(data_dir: &Path, listen: &str) -> (Option<i32>, String) {
    let mut child = Command::new(binary())
        .args(["start", "--data-dir"])
        .arg(data_dir)
        .args(["--listen", listen])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let begin = Instant::now();
    while child.try_wait().expect("a child of ours").is_none() {
        if begin.elapsed() > START_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the server runs although it had to refuse");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("its output");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill9();
    }
}

fn launch(wrapper: &[&str], folder: &Path, port: u16, arguments: &[String], environment: &[(String, String)]) -> Child {
    let program = binary();
    assert!(program.is_file(), "{} is missing: cargo build --workspace", program.display());
    let log = File::options().create(true).append(true).open(folder.join("log")).expect("a log file");
    let mut command = match wrapper.split_first() {
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
        None => Command::new(program),
    };
    command
        .arg("start")
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--listen")
        .arg(format!("127.0.0.1:{port}"))
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .expect("the server starts")
}
