//! [`Connection`]: one client, from its first byte to its last. Statements go to `planner::session`, which answers with
//! rows.

pub mod auth;
pub mod cancel;
pub mod reading;
pub mod startup;
pub mod stream;
pub mod tls;

use crate::error::{ConnectionError, Result, Severity, protocol_violation};
use crate::listener::{Shared, stopped};
use crate::protocol::{Frame, Message, Output};
use crate::query::extended::Batch;
use crate::query::portal::Portals;
use crate::query::rows::cancelled;
use crate::query::statements::Statements;
use crate::waiting_room::Seat;
use bytes::Bytes;
use cancel::Backend;
use futures::FutureExt;
use futures::future::{Fuse, FusedFuture};
use pgwire::messages::startup::{BackendKeyData, NegotiateProtocolVersion, SecretKey};
use planner::session::{CancelToken, Deallocated, Link, Session, Startup, TransactionStatus};
use planner::types::encoding::Encoding;
use planner::{SqlError, state};
use reading::Input;
use startup::{NEWEST_PROTOCOL, StartupPacket};
use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use stream::Stream;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

type Ending = Fuse<Pin<Box<dyn Future<Output = ()> + Send>>>;

fn ending(mut stopping: watch::Receiver<bool>, terminated: CancelToken) -> Ending {
    let either: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
        tokio::select! {
            biased;
            () = stopped(&mut stopping) => {}
            () = terminated.cancelled() => {}
        }
    });
    either.fuse()
}

thread_local! {
    /// The process id of the connection that this thread answered last.
    static ANSWERED: Cell<i32> = const { Cell::new(0) };
}

/// Time limit of authentication: PostgreSQL's default. A long limit is harmless, because an unauthenticated client
/// yields its place to newcomers ([`crate::waiting_room`]).
pub const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(60);
/// While the server stops, a client that reads nothing for this long is disconnected.
const STALLED: Duration = Duration::from_secs(1);

/// An authenticated client and its session.
pub struct Connection {
    pub(crate) stream: Stream,
    pub(crate) input: Input,
    pub(crate) out: Output,
    pub(crate) session: Session,
    pub(crate) backend: Backend,
    pub(crate) stopping: watch::Receiver<bool>,
    /// Cancelled by pg_terminate_backend.
    pub(crate) terminated: CancelToken,
    /// Resolves when the server stops or pg_terminate_backend ends the connection. It is kept between waits, so that it
    /// stays registered.
    ending: Ending,
    pub(crate) statements: Statements,
    pub(crate) portals: Portals,
    pub(crate) batch: Batch,
    /// If set, the connection ends with this error as soon as the failed request is undone.
    last_word: Option<SqlError>,
    /// The client got ReadyForQuery and has sent nothing since.
    resting: bool,
    /// The connection ended while the client read nothing, so the client gets no error.
    stalled: bool,
}

/// Serves one client to its end. A client that is still connected receives the error that ends the connection. `seat`
/// is its place among the unauthenticated clients.
pub async fn serve(socket: TcpStream, peer: SocketAddr, seat: Seat, shared: Arc<Shared>) {
    let _ = socket.set_nodelay(true);
    let mut stopping = shared.stopping.subscribe();
    let started = tokio::time::timeout(AUTHENTICATION_TIMEOUT, async {
        tokio::select! {
            biased;
            started = start(socket, peer, &shared) => started,
            () = seat.lost() => None,
            // Before the first message nothing needs to finish.
            () = stopped(&mut stopping) => None,
        }
    });
    let started = started.await;
    drop(seat);
    let mut connection = match started {
        Ok(Some(connection)) => connection,
        Ok(None) => return,
        Err(_) => {
            tracing::info!(%peer, "the client did not authenticate in time");
            return;
        }
    };
    let process = connection.backend.process;
    tracing::debug!(%peer, process, "connection opened");
    let ended = connection.run().await;
    connection.portals.clear();
    connection.session.close().await;
    match ended {
        Ok(()) => tracing::debug!(%peer, process, "connection closed"),
        Err(ConnectionError::Io(error)) => tracing::debug!(%peer, process, %error, "connection lost"),
        Err(ConnectionError::Fatal(error) | ConnectionError::Sql(error)) => {
            tracing::debug!(%peer, process, %error, "connection ended");
            if connection.stalled {
                return;
            }
            connection.out.error(Severity::Fatal, &error);
            let farewell = async {
                connection.out.flush(&mut connection.stream).await?;
                connection.stream.shutdown().await
            };
            // A client that does not read must not delay the shutdown.
            let _ = tokio::time::timeout(Duration::from_secs(1), farewell).await;
        }
    }
}

/// Everything up to the first ReadyForQuery. `None` means that the connection is over.
async fn start(socket: TcpStream, peer: SocketAddr, shared: &Arc<Shared>) -> Option<Connection> {
    let (mut stream, packet) = match startup::negotiate(socket, shared.tls.as_ref(), &shared.backends).await {
        Ok(negotiated) => negotiated?,
        Err((stream, error)) => {
            match (stream, error) {
                (Some(mut stream), error) => refuse(&mut stream, &mut Output::new(), error).await,
                (None, ConnectionError::Io(_)) => {}
                (None, ConnectionError::Fatal(error) | ConnectionError::Sql(error)) => {
                    tracing::info!(%peer, %error, "connection refused");
                }
            }
            return None;
        }
    };
    let mut out = Output::new();
    let mut input = Input::default();
    match admit(&mut stream, &mut input, &mut out, packet, peer, shared).await {
        Ok((session, backend)) => Some(Connection {
            stream,
            input,
            out,
            ending: ending(shared.stopping.subscribe(), session.terminated()),
            terminated: session.terminated(),
            session,
            backend,
            stopping: shared.stopping.subscribe(),
            statements: Statements::default(),
            portals: Portals::default(),
            batch: Batch::default(),
            last_word: None,
            resting: true,
            stalled: false,
        }),
        Err(error) => {
            refuse(&mut stream, &mut out, error).await;
            None
        }
    }
}

async fn refuse(stream: &mut Stream, out: &mut Output, error: ConnectionError) {
    if let ConnectionError::Fatal(error) | ConnectionError::Sql(error) = error {
        tracing::info!(%error, "connection refused");
        out.error(Severity::Fatal, &error);
        let _ = out.flush(stream).await;
        let _ = stream.shutdown().await;
    }
}

async fn admit(
    stream: &mut Stream,
    input: &mut Input,
    out: &mut Output,
    packet: StartupPacket,
    peer: SocketAddr,
    shared: &Arc<Shared>,
) -> Result<(Session, Backend)> {
    if *shared.stopping.borrow() {
        return Err(ConnectionError::Fatal(SqlError::new(
            state::CANNOT_CONNECT_NOW,
            "the database system is shutting down",
        )));
    }
    let newest_minor = (NEWEST_PROTOCOL & 0xffff) as u16;
    if packet.minor > newest_minor || !packet.unknown_options.is_empty() {
        let version = NEWEST_PROTOCOL & 0xffff_0000 | u32::from(packet.minor.min(newest_minor));
        out.message(&NegotiateProtocolVersion::new(version as i32, packet.unknown_options));
    }
    let superuser = auth::authenticate(stream, input, out, shared, &packet.user, peer.ip()).await?;
    // Protocol 3.0 has room for a secret of four bytes. Protocol 3.2 permits a secret too long to guess.
    let secret = match packet.minor {
        0 | 1 => Bytes::copy_from_slice(&rand::random::<[u8; 4]>()),
        _ => Bytes::copy_from_slice(&rand::random::<[u8; 32]>()),
    };
    let backend = shared.backends.register(secret.clone(), superuser).map_err(ConnectionError::Fatal)?;
    let startup = Startup {
        user: packet.user,
        database: packet.database,
        options: packet.settings,
        backend_pid: backend.process,
        link: Link { client: Some(peer), server: stream.local(), tls: stream.tls() },
        cancel: backend.cancel.clone(),
    };
    let mut session = Session::start(Arc::clone(&shared.database), startup).await.map_err(ConnectionError::Fatal)?;
    out.set_encoding(session.settings().client_encoding());
    for (name, value) in session.take_parameter_changes() {
        out.parameter_status(&name, &value);
    }
    out.message(&BackendKeyData::new(backend.process, SecretKey::Bytes(secret)));
    for notice in session.take_notices() {
        out.notice(&notice);
    }
    out.ready(session.status());
    out.flush(stream).await?;
    Ok((session, backend))
}

fn terminated() -> ConnectionError {
    ConnectionError::Fatal(shut_down())
}

fn shut_down() -> SqlError {
    SqlError::new(state::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
}

impl Connection {
    /// Handles messages until the client leaves. `Ok` means that it sent Terminate or closed the socket.
    async fn run(&mut self) -> Result<()> {
        loop {
            let frame = match self.arrived_frame()? {
                Some(frame) => Some(frame),
                None => match self.resting.then(|| self.session.idle_limit()).flatten() {
                    None => self.awaited().await?,
                    Some((limit, error)) => match tokio::time::timeout(limit, self.awaited()).await {
                        Ok(frame) => frame?,
                        Err(_) => return Err(ConnectionError::Fatal(error)),
                    },
                },
            };
            self.resting = false;
            let Some(frame) = frame else { return Ok(()) };
            if let Some(error) = self.session.lost_locks() {
                return Err(ConnectionError::Fatal(error));
            }
            if !self.handle(frame).await? {
                return Ok(());
            }
            if self.out.is_full() {
                self.flush().await?;
            }
        }
    }

    /// Writes all buffered replies. pg_terminate_backend interrupts the write at once. A stop of the server interrupts
    /// it only after the client has read nothing for [`STALLED`], so statements can finish. Errors: 57P01.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        // The future may have resolved earlier. Polling it again would panic.
        if !self.ending.is_terminated() {
            tokio::select! {
                biased;
                // Most writes finish at once and poll nothing else.
                written = self.out.flush(&mut self.stream) => return Ok(written?),
                () = &mut self.ending => {}
            }
        }
        let terminated_by = self.terminated.clone();
        while !self.out.is_empty() {
            tokio::select! {
                biased;
                written = self.out.write_some(&mut self.stream) => written?,
                () = terminated_by.cancelled() => return Err(self.stalled()),
                () = tokio::time::sleep(STALLED) => return Err(self.stalled()),
            }
        }
        Ok(())
    }

    /// Like [`Connection::flush`], between rows. A cancel request also ends the statement while the client reads
    /// nothing. Its error follows the buffered replies. Errors: 57014, 57P01.
    pub(crate) async fn flush_rows(&mut self) -> Result<()> {
        let cancel = self.backend.cancel.clone();
        tokio::select! {
            biased;
            written = self.flush() => written,
            () = cancel.cancelled() => Err(cancelled().into()),
        }
    }

    fn stalled(&mut self) -> ConnectionError {
        self.stalled = true;
        terminated()
    }

    /// Waits for the next message, which has not arrived as a whole ([`Connection::arrived_frame`]). Meanwhile an idle
    /// client outside a transaction receives the notifications of other sessions.
    async fn awaited(&mut self) -> Result<Option<Frame>> {
        loop {
            let inbox = self.session.inbox();
            if !(inbox.is_used() && self.resting && self.session.status() == TransactionStatus::Idle) {
                return self.waited_frame().await;
            }
            tokio::select! {
                biased;
                frame = self.waited_frame() => return frame,
                () = inbox.arrived() => {}
            }
            self.send_notifications();
            self.flush().await?;
            if let Some(frame) = self.arrived_frame()? {
                return Ok(Some(frame));
            }
        }
    }

    /// Sends the notifications that other sessions raised for this one.
    fn send_notifications(&mut self) {
        for notification in self.session.inbox().take() {
            self.out.notification(&notification);
        }
    }

    /// The next message, if all of it has arrived. Most messages arrive together, so this path waits for nothing.
    /// Errors: 57P01 once the server stops.
    fn arrived_frame(&mut self) -> Result<Option<Frame>> {
        // A client that never pauses still learns that the server stops.
        if *self.stopping.borrow() || self.terminated.is_cancelled() {
            return Err(terminated());
        }
        self.input.arrived()
    }

    /// Waits for the next message. Errors: 57P01 if the server stops first.
    pub(crate) async fn next_frame(&mut self) -> Result<Option<Frame>> {
        // A message that has arrived needs no registration with the stop signals.
        match self.arrived_frame()? {
            Some(frame) => Ok(Some(frame)),
            None => self.waited_frame().await,
        }
    }

    /// Like [`Connection::next_frame`], for a message that has not arrived as a whole ([`Connection::arrived_frame`]).
    async fn waited_frame(&mut self) -> Result<Option<Frame>> {
        tokio::select! {
            biased;
            frame = self.input.frame(&mut self.stream) => frame,
            () = &mut self.ending => Err(terminated()),
        }
    }

    /// Handles one message. Answers `false` if the message ends the connection.
    async fn handle(&mut self, frame: Frame) -> Result<bool> {
        let kind = frame.kind;
        match kind {
            b'X' => return Ok(false),
            b'S' => match Message::decode(frame, self.encoding()) {
                Ok(_) => self.sync().await?,
                Err(error) => self.wrong_sync(&error).await?,
            },
            // After an error the server skips every message up to Sync.
            _ if self.batch.is_skipping() => {}
            b'Q' | b'F' if self.batch.has_conflict() => self.fail_with_conflict().await?,
            b'Q' => match Message::decode(frame, self.encoding()) {
                Ok(Message::Query { sql }) => self.simple_query(&sql).await?,
                Ok(_) => {}
                Err(error) => self.simple_error(error).await?,
            },
            b'F' => match Message::decode(frame, self.encoding()) {
                Ok(Message::FunctionCall(call)) => Box::pin(self.function_call(&call)).await?,
                Ok(_) => {}
                Err(error) => self.simple_error(error).await?,
            },
            b'p' => {
                return Err(ConnectionError::Fatal(protocol_violation(format!(
                    "invalid frontend message type {kind}"
                ))));
            }
            // Remaining messages of a failed COPY.
            b'd' | b'c' | b'f' => {}
            _ => self.extended(frame).await?,
        }
        Ok(true)
    }

    /// Ends a batch with ReadyForQuery. Clients wait for it before they send more.
    pub(crate) async fn ready(&mut self) -> Result<()> {
        self.say_last_word()?;
        let idle = self.session.status() == TransactionStatus::Idle;
        if idle {
            self.portals.clear();
        }
        self.send_notices();
        if idle {
            self.send_notifications();
        }
        for (name, value) in self.session.take_parameter_changes() {
            self.out.parameter_status(&name, &value);
        }
        self.session.locks_are_free().await;
        self.out.ready(self.session.status());
        self.session.rest();
        self.resting = true;
        // The thread first does its other work, so the answers of several connections leave together and wake a common
        // client once. A connection that the thread also answered last is probably alone on it, so it does not yield.
        if ANSWERED.replace(self.backend.process) != self.backend.process {
            tokio::task::yield_now().await;
        }
        if let Some(written) = self.flush().now_or_never() {
            return written;
        }
        match self.session.idle_limit() {
            None => self.flush().await,
            // A client that does not read the answer counts as idle.
            Some((limit, error)) => match tokio::time::timeout(limit, self.flush()).await {
                Ok(written) => written,
                Err(_) => {
                    self.stalled = true;
                    Err(ConnectionError::Fatal(error))
                }
            },
        }
    }

    /// Ends the connection if [`Connection::last_word`] is set.
    pub(crate) fn say_last_word(&mut self) -> Result<()> {
        self.last_word.take().map_or(Ok(()), |error| Err(ConnectionError::Fatal(error)))
    }

    /// The session's `client_encoding`.
    pub(crate) fn encoding(&self) -> Encoding {
        self.session.settings().client_encoding()
    }

    /// Sends the notices of the statement that has just run.
    pub(crate) fn send_notices(&mut self) {
        // Later messages use the encoding that the statement may have set.
        self.out.set_encoding(self.encoding());
        for notice in self.session.take_notices() {
            self.out.notice(&notice);
        }
    }

    /// Forgets the prepared statements that DEALLOCATE or DISCARD named, because SQL and the protocol share these
    /// names. Also forgets the portals that ROLLBACK TO SAVEPOINT undid. Errors: 26000 for a name that neither has.
    pub(crate) fn forget_ended(&mut self) -> Result<()> {
        if let Some(savepoint) = self.session.take_undone() {
            self.portals.rolled_back_to(savepoint);
        }
        for forgotten in self.session.take_deallocated() {
            match forgotten {
                Deallocated::Named(name) => self.statements.remove(&name),
                Deallocated::Foreign(name) => {
                    self.statements.get(&name)?;
                    self.statements.remove(&name);
                }
                Deallocated::All => self.statements.clear(),
            }
        }
        Ok(())
    }

    /// Sends an error to the client and undoes the effects of its statement.
    pub(crate) async fn report(&mut self, error: &SqlError) {
        self.send_notices();
        if error.state() == state::TRANSACTION_TIMEOUT {
            self.last_word = Some(error.clone());
        } else if self.terminated.is_cancelled() && error.state() == state::QUERY_CANCELED {
            self.last_word = Some(shut_down());
        } else {
            self.out.error(Severity::Error, error);
        }
        self.undo().await;
    }

    /// Undoes the effects of a failed statement. Sends nothing.
    pub(crate) async fn undo(&mut self) {
        // Open row streams hold the transaction, so they are dropped first. After a savepoint the transaction may
        // continue, and they stay.
        if !self.session.has_savepoint() {
            self.portals.clear();
        }
        self.session.fail().await;
        self.out.set_encoding(self.encoding());
    }

    async fn simple_error(&mut self, error: SqlError) -> Result<()> {
        self.report(&error).await;
        self.ready().await
    }
}
