//! [`Listener`]: accepts connections and gives each a task of its own, until the server stops.

use crate::connection;
use crate::connection::cancel::Backends;
use crate::reactor::Reactors;
use planner::session::Database;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Sockets beyond twice the connections that may be, for start-ups and cancel requests.
const SPARE: usize = 100;

/// What all connections share.
pub struct Shared {
    /// What their sessions work on.
    pub database: Arc<Database>,
    /// The connections, for cancel requests and the limit.
    pub backends: Arc<Backends>,
    /// TLS, where it is configured.
    pub tls: Option<TlsAcceptor>,
    /// Becomes true when the server stops.
    pub stopping: watch::Sender<bool>,
}

/// A bound address.
pub struct Listener {
    socket: TcpListener,
    shared: Arc<Shared>,
    reactors: Reactors,
}

impl Listener {
    /// Takes over a bound socket; the connections live on `reactors`.
    pub fn new(socket: TcpListener, shared: Arc<Shared>, reactors: Reactors) -> Self {
        Listener { socket, shared, reactors }
    }

    /// Accepts connections until the server stops, then lets running statements finish: for `grace` they may go
    /// on, then they are cancelled, and what is left a second later is dropped.
    pub async fn run(self, grace: Duration) {
        let mut connections = JoinSet::new();
        let mut stopping = self.shared.stopping.subscribe();
        loop {
            tokio::select! {
                () = stopped(&mut stopping) => break,
                accepted = self.socket.accept() => match accepted {
                    // Who does not authenticate holds a socket and a task, no place among the backends; a cancel
                    // request must get through when all places are taken.
                    Ok((_, peer)) if connections.len() >= 2 * self.shared.backends.limit() + SPARE => {
                        tracing::warn!(%peer, "too many sockets: one is closed");
                    }
                    Ok((socket, peer)) => self.serve(&mut connections, socket, peer),
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        // Out of file descriptors: accepting again at once would spin.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(ended) = connections.join_next() => log_panic(ended),
            }
        }
        drop(self.socket);
        // Kept until the last connection has ended.
        let _reactors = self.reactors;
        let drained = async {
            while let Some(ended) = connections.join_next().await {
                log_panic(ended);
            }
        };
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
    fn serve(&self, connections: &mut JoinSet<()>, socket: TcpStream, peer: SocketAddr) {
        let shared = Arc::clone(&self.shared);
        let socket = match socket.into_std() {
            Ok(socket) => socket,
            Err(error) => return tracing::warn!(%peer, %error, "a connection could not be taken over"),
        };
        self.reactors.spawn(connections, move || async move {
            match TcpStream::from_std(socket) {
                Ok(socket) => connection::serve(socket, peer, shared).await,
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

fn log_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended by a panic; please report it");
    }
}

/// Binds an address. Errors are sentences for a person.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("address {address} is in use: another server runs there; choose another with --listen")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}
