//! [`Listener`]: accepts connections and gives each a task of its own, until the server stops.

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

/// Sockets whose clients are not authenticated, at most, beyond the number of connections: for start-ups and cancel requests.
const SPARE: usize = 100;
/// How often it is logged, at most, that such sockets are closed for others.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// What all connections share.
pub struct Shared {
    /// What their sessions work on.
    pub database: Arc<Database>,
    /// The connections, for cancel requests and the limit.
    pub backends: Arc<Backends>,
    /// TLS, where it is configured.
    pub tls: Option<TlsIdentity>,
    /// Who is trusted.
    pub access: AccessRules,
    /// Becomes true when the server stops.
    pub stopping: watch::Sender<bool>,
}

/// A bound socket. What it accepts is not registered with the thread that accepts it, but where it is served.
pub type Socket = AsyncFd<std::net::TcpListener>;

/// A bound address.
pub struct Listener {
    socket: Socket,
    shared: Arc<Shared>,
    reactors: Reactors,
}

impl Listener {
    /// Takes over a bound socket; the connections live on `reactors`.
    pub fn new(socket: Socket, shared: Arc<Shared>, reactors: Reactors) -> Self {
        Listener { socket, shared, reactors }
    }

    /// Accepts connections until the server stops, then lets running statements finish: for `grace` they may go
    /// on, then they are cancelled, and what is left a second later is dropped.
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
            // Not when they end: that would wake this task, and two threads, for each connection.
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
                    // Out of file descriptors: accepting again at once would spin.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.socket);
        // Kept until the last connection has ended.
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
    /// Gives a connection its task, on one of the reactors.
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
    // An error means that the sender is gone, and the server with it.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Dropped by a panic it says so.
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
        // SAFETY: the descriptor is the listener's, which the AsyncFd owns and lends out unchangeable: it stays open and the same
        // until that is dropped.
        Ok(unsafe { AsyncFd::register(socket.into_std()?) }?)
    });
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("address {address} is in use: another server runs there; choose another with --listen")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}
