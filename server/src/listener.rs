//! [`Listener`]: accepts connections and spawns a task for each, until the server stops.

use crate::connection;
use crate::connection::auth::AccessRules;
use crate::connection::cancel::Backends;
use crate::connection::tls::TlsIdentity;
use crate::reactor::Reactors;
use crate::waiting_room::{Seat, WaitingRoom};
use planner::session::Database;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Sockets of unauthenticated clients beyond the connection limit, at most. They serve start-ups and cancel requests.
const SPARE: usize = 100;
/// Shortest time between two log lines about closed unauthenticated sockets.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// State that all connections share.
pub struct Shared {
    /// The database that the sessions work on.
    pub database: Arc<Database>,
    /// The connections, for cancel requests and the connection limit.
    pub backends: Arc<Backends>,
    /// The server's TLS identity; `None` without TLS.
    pub tls: Option<TlsIdentity>,
    /// The rules for clients without a password.
    pub access: AccessRules,
    /// Becomes true when the server stops.
    pub stopping: watch::Sender<bool>,
}

/// A bound socket. Accepted sockets are registered with the thread that serves them, not with the accepting thread.
pub type Socket = AsyncFd<std::net::TcpListener>;

/// A bound address and the state that its connections share.
pub struct Listener {
    socket: Socket,
    shared: Arc<Shared>,
    reactors: Reactors,
}

impl Listener {
    /// Takes over a bound socket. The connections run on `reactors`.
    pub fn new(socket: Socket, shared: Arc<Shared>, reactors: Reactors) -> Self {
        Listener { socket, shared, reactors }
    }

    /// Accepts connections until the server stops. Running statements then get the time `grace`, after which they are
    /// cancelled. Connections that still exist a second later are dropped.
    pub async fn run(self, grace: Duration) {
        let mut connections = JoinSet::new();
        let waiting = WaitingRoom::new(self.shared.backends.limit() + SPARE);
        let env = Arc::clone(self.shared.database.env());
        let mut told: Option<Duration> = None;
        let mut stopping = self.shared.stopping.subscribe();
        loop {
            let accepted = tokio::select! {
                () = stopped(&mut stopping) => break,
                accepted = accept(&self.socket) => accepted,
            };
            // Finished tasks are collected here. Collecting each at its end would wake this task, and two threads, for
            // each connection.
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((socket, peer)) => {
                    let (seat, full) = waiting.enter(peer.ip());
                    let now = env.monotonic();
                    if full && told.is_none_or(|told| now.saturating_sub(told) >= TOLD_EVERY) {
                        told = Some(now);
                        tracing::warn!(%peer, "too many clients are not authenticated: older sockets are closed for new ones");
                    }
                    self.serve(&mut connections, socket, (peer, seat));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // The process is out of file descriptors. Accepting again at once would spin.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.socket);
        // The reactors must outlive the last connection.
        let _reactors = self.reactors;
        let drained = async { while connections.join_next().await.is_some() {} };
        tokio::pin!(drained);
        if tokio::time::timeout(grace, &mut drained).await.is_ok() {
            return;
        }
        tracing::info!("statements still run: they are cancelled");
        self.shared.backends.cancel_all();
        if tokio::time::timeout(Duration::from_secs(1), &mut drained).await.is_err() {
            tracing::warn!("connections that did not end are dropped");
        }
    }
}

impl Listener {
    /// Spawns the task of a connection on one of the reactors.
    fn serve(&self, connections: &mut JoinSet<()>, socket: std::net::TcpStream, (peer, seat): (SocketAddr, Seat)) {
        let shared = Arc::clone(&self.shared);
        self.reactors.spawn(connections, move || async move {
            let _told = TellsOfPanic;
            match socket.set_nonblocking(true).and_then(|()| TcpStream::from_std(socket)) {
                Ok(socket) => connection::serve(socket, peer, seat, shared).await,
                Err(error) => tracing::warn!(%peer, %error, "a connection could not be taken over"),
            }
        });
    }
}

/// Resolves when the server stops.
pub async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, and with it the server.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Logs a message if a panic drops it.
struct TellsOfPanic;

impl Drop for TellsOfPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("a connection ended by a panic; please report it");
        }
    }
}

async fn accept(socket: &Socket) -> io::Result<(std::net::TcpStream, SocketAddr)> {
    loop {
        let mut ready = socket.readable().await?;
        if let Ok(accepted) = ready.try_io(|socket| socket.get_ref().accept()) {
            return accepted;
        }
    }
}

/// Binds an address. Errors are sentences for a person.
pub async fn bind(address: SocketAddr) -> Result<Socket, String> {
    let bound = TcpListener::bind(address).await.and_then(|socket| {
        // SAFETY: the descriptor belongs to the listener. The AsyncFd owns the listener and lends it out immutably, so
        // the descriptor stays open and unchanged until the AsyncFd is dropped.
        Ok(unsafe { AsyncFd::register(socket.into_std()?) }?)
    });
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("address {address} is in use: another server runs there; choose another with --listen")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}
