//! [`Proxy`]: stands between a node and a Bigtable emulator, and does to calls what networks and servers do to them.
//! What happens to each is asked of a function, so that a test can choose one fault, or draw them.
//!
//! Speaks HTTP/2. It knows calls by their names, and passes their bytes on unread.

#![allow(clippy::disallowed_methods)] // It stands for the network, whose time and order nobody simulates.

use crate::env::EnvRef;
use bytes::{Bytes, BytesMut};
use futures::future::poll_fn;
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It never arrives: the caller is told that the stream was reset.
    RequestLost,
    /// It is done, and its whole answer lost: the caller is told that the stream was reset.
    AnswerLost,
    /// It is done, and the connection lost with every other call on it.
    ConnectionLost,
    /// It never arrives: the caller is answered UNAVAILABLE.
    Unavailable,
    /// It is done: the caller is answered UNAVAILABLE.
    DoneButUnavailable,
    /// It arrives late, even when the caller no longer waits for it.
    Late(Duration),
    /// It is done, and once more so much later; the first answer is the caller's.
    Twice(Duration),
    /// Its answer breaks off within the frame after so many.
    BrokenAfter(usize),
}

/// Bytes under way on one call and on one connection.
const CALL_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;
/// How long what was sent gets to leave before a stream is reset, which drops what has not left.
const LEAVE: Duration = Duration::from_millis(5);

type Plan = dyn Fn(&str) -> Fault + Send + Sync;

struct Shared {
    upstream: String,
    plan: RwLock<Arc<Plan>>,
    faults: AtomicU64,
    paused: watch::Sender<bool>,
}

/// See the head of the module.
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port and passes calls on to `upstream`, `HOST:PORT`, without faults yet. Runs on the tokio
    /// runtime that the caller is in.
    pub async fn start(upstream: &str) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            plan: RwLock::new(Arc::new(|_: &str| Fault::None)),
            faults: AtomicU64::new(0),
            paused: watch::Sender::new(false),
        });
        let listening = tokio::spawn(listen(listener, shared.clone()));
        Ok(Proxy { address, shared, listening })
    }

    /// `HOST:PORT`, for `BIGTABLE_EMULATOR_HOST`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Asks `plan` about every call from now on, by its name: `ReadRows`, `CheckAndMutateRow` and so on.
    pub fn set(&self, plan: impl Fn(&str) -> Fault + Send + Sync + 'static) {
        *self.shared.plan.write() = Arc::new(plan);
    }

    /// The next `count` calls of this name meet `fault`; all others nothing.
    pub fn next(&self, count: u64, call: &'static str, fault: Fault) {
        let met = AtomicU64::new(0);
        self.set(move |name| match name == call && met.fetch_add(1, Ordering::SeqCst) < count {
            true => fault,
            false => Fault::None,
        });
    }

    /// Draws from `env`: so many thousandths of all calls meet a fault, every kind as often; nothing comes later than
    /// `latest`.
    pub fn draw(&self, env: EnvRef, thousandths: u64, latest: Duration) {
        self.set(move |_| {
            if env.random() % 1000 >= thousandths {
                return Fault::None;
            }
            let later = latest.mul_f64((env.random() % 1000) as f64 / 1000.0);
            match env.random() % 8 {
                0 => Fault::RequestLost,
                1 => Fault::AnswerLost,
                2 => Fault::ConnectionLost,
                3 => Fault::Unavailable,
                4 => Fault::DoneButUnavailable,
                5 => Fault::Late(later),
                6 => Fault::Twice(later),
                _ => Fault::BrokenAfter(usize::try_from(env.random() % 3).unwrap_or(0)),
            }
        });
    }

    /// From now on nothing is passed on, neither calls nor answers, and nobody is told.
    pub fn pause(&self) {
        self.shared.paused.send_replace(true);
    }

    /// What waits is passed on.
    pub fn resume(&self) {
        self.shared.paused.send_replace(false);
    }

    /// How many calls met a fault.
    pub fn faults(&self) -> u64 {
        self.shared.faults.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let shared = shared.clone();
        connections.spawn(async move {
            if let Err(error) = connection(socket, shared).await {
                tracing::debug!(%error, "a connection through the proxy ended");
            }
        });
    }
}

/// One connection of a caller's, and one to the server for it.
async fn connection(socket: TcpStream, shared: Arc<Shared>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let upstream = TcpStream::connect(&shared.upstream).await?;
    let _ = (socket.set_nodelay(true), upstream.set_nodelay(true));
    let (caller, server) = tokio::join!(
        h2::server::Builder::new()
            .initial_window_size(CALL_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(socket),
        h2::client::Builder::new()
            .initial_window_size(CALL_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake::<_, Bytes>(upstream),
    );
    let (mut caller, (server, driver)) = (caller?, server?);
    // Ends when the last call, a late one too, lets go of it.
    tokio::spawn(driver);
    let lost = Arc::new(Notify::new());
    loop {
        let (request, respond) = tokio::select! {
            request = caller.accept() => match request {
                Some(request) => request?,
                None => return Ok(()),
            },
            () = lost.notified() => return Ok(()),
        };
        let call = Call { shared: shared.clone(), server: server.clone(), lost: lost.clone() };
        // On its own: it goes on when the caller no longer waits.
        tokio::spawn(async move {
            if let Err(error) = call.pass_on(request, respond).await {
                tracing::debug!(%error, "a call through the proxy ended");
            }
        });
    }
}

struct Call {
    shared: Arc<Shared>,
    server: SendRequest<Bytes>,
    /// Told when the connection to the caller is to be dropped.
    lost: Arc<Notify>,
}

/// A whole request.
#[derive(Clone)]
struct Whole {
    head: Request<()>,
    body: Vec<Bytes>,
}

impl Call {
    async fn pass_on(self, request: Request<RecvStream>, mut caller: SendResponse<Bytes>) -> Result<(), h2::Error> {
        let (parts, mut stream) = request.into_parts();
        let name = parts.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
        let mut body = Vec::new();
        while let Some(data) = stream.data().await {
            let data = data?;
            stream.flow_control().release_capacity(data.len())?;
            body.push(data);
        }
        let whole = Whole { head: Request::from_parts(parts, ()), body };
        let plan = self.shared.plan.read().clone();
        let fault = plan(&name);
        if fault != Fault::None {
            self.shared.faults.fetch_add(1, Ordering::SeqCst);
            tracing::debug!(name, ?fault, "the proxy interferes");
        }
        match fault {
            Fault::RequestLost => caller.send_reset(Reason::INTERNAL_ERROR),
            Fault::Unavailable => unavailable(&mut caller)?,
            Fault::Late(late) => {
                tokio::time::sleep(late).await;
                self.answer(whole, &mut caller, None).await?;
            }
            Fault::None => self.answer(whole, &mut caller, None).await?,
            Fault::BrokenAfter(frames) => self.answer(whole, &mut caller, Some(frames)).await?,
            Fault::AnswerLost => {
                self.done(whole).await?;
                caller.send_reset(Reason::INTERNAL_ERROR);
            }
            Fault::DoneButUnavailable => {
                self.done(whole).await?;
                unavailable(&mut caller)?;
            }
            Fault::ConnectionLost => {
                self.done(whole).await?;
                self.lost.notify_one();
            }
            Fault::Twice(later) => {
                // What the caller does with the first answer must not keep the second from being asked for.
                let first = self.answer(whole.clone(), &mut caller, None).await;
                tokio::time::sleep(later).await;
                self.done(whole).await?;
                first?;
            }
        }
        Ok(())
    }

    async fn running(&self) {
        // The sender lives in `shared`.
        let _ = self.shared.paused.subscribe().wait_for(|paused| !paused).await;
    }

    async fn ask(&self, whole: Whole) -> Result<Response<RecvStream>, h2::Error> {
        self.running().await;
        let mut server = self.server.clone().ready().await?;
        let (response, mut stream) = server.send_request(whole.head, false)?;
        // The end comes with the last bytes: a server may answer, and reset the stream, as soon as it has them.
        let mut whole_body = BytesMut::new();
        whole.body.iter().for_each(|data| whole_body.extend_from_slice(data));
        send(&mut stream, whole_body.freeze(), true).await?;
        response.await
    }

    /// Has it done and hears its answer to the end.
    async fn done(&self, whole: Whole) -> Result<(), h2::Error> {
        let mut stream = self.ask(whole).await?.into_body();
        while let Some(data) = stream.data().await {
            let length = data?.len();
            stream.flow_control().release_capacity(length)?;
        }
        self.running().await;
        Ok(())
    }

    /// Has it done and passes the answer on, as far as `frames`.
    async fn answer(
        &self,
        whole: Whole,
        caller: &mut SendResponse<Bytes>,
        frames: Option<usize>,
    ) -> Result<(), h2::Error> {
        let (parts, mut stream) = self.ask(whole).await?.into_parts();
        self.running().await;
        let head = Response::from_parts(parts, ());
        if stream.is_end_stream() {
            return caller.send_response(head, true).map(|_| ());
        }
        let mut sender = caller.send_response(head, false)?;
        let mut passed = 0;
        while let Some(data) = stream.data().await {
            let data = data?;
            stream.flow_control().release_capacity(data.len())?;
            self.running().await;
            if frames == Some(passed) {
                send(&mut sender, data.slice(..data.len() / 2), false).await?;
                tokio::time::sleep(LEAVE).await;
                sender.send_reset(Reason::INTERNAL_ERROR);
                return Ok(());
            }
            send(&mut sender, data, false).await?;
            passed += 1;
        }
        let trailers = stream.trailers().await?;
        self.running().await;
        match trailers {
            Some(trailers) => sender.send_trailers(trailers),
            None => sender.send_data(Bytes::new(), true),
        }
    }
}

/// Sends as the other side takes it, and the end of the stream with it when `end`.
async fn send(stream: &mut SendStream<Bytes>, mut data: Bytes, end: bool) -> Result<(), h2::Error> {
    if data.is_empty() && end {
        return stream.send_data(data, true);
    }
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        if stream.capacity() == 0 {
            match poll_fn(|context| stream.poll_capacity(context)).await {
                Some(capacity) => drop(capacity?),
                None => return Err(Reason::CANCEL.into()),
            }
        }
        let part = data.split_to(stream.capacity().min(data.len()));
        if !part.is_empty() {
            stream.send_data(part, end && data.is_empty())?;
        }
    }
    Ok(())
}

/// The answer UNAVAILABLE.
fn unavailable(caller: &mut SendResponse<Bytes>) -> Result<(), h2::Error> {
    let mut head = Response::new(());
    let headers: &mut HeaderMap = head.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static("14"));
    headers.insert("grpc-message", HeaderValue::from_static("the proxy says so"));
    caller.send_response(head, true).map(|_| ())
}
