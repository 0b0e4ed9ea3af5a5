//! [`Proxy`]: an HTTP/2 proxy between a node and a Bigtable emulator that injects faults of networks and servers. A
//! function chooses the fault of each call, so a test can select one fault or draw them.
//!
//! It knows calls by their names and passes their bytes on unread.

#![allow(clippy::disallowed_methods)] // It simulates a network, in real time.

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

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call is passed on unchanged.
    None,
    /// The call never arrives, and the caller sees a reset stream.
    RequestLost,
    /// The call is done, its whole answer is lost, and the caller sees a reset stream.
    AnswerLost,
    /// The call is done, and the connection is lost with every other call on it.
    ConnectionLost,
    /// The call never arrives, and the caller is answered UNAVAILABLE.
    Unavailable,
    /// The call is done, and the caller is answered UNAVAILABLE.
    DoneButUnavailable,
    /// The call arrives late, even when the caller no longer waits for it.
    Late(Duration),
    /// The call is done, and again after this delay. The caller gets the first answer.
    Twice(Duration),
    /// The answer breaks off within the frame that follows this many frames.
    BrokenAfter(usize),
}

/// Flow-control windows in bytes, per call and per connection.
const CALL_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;
/// Delay before a stream is reset, so that data already sent can leave. A reset drops the rest.
const LEAVE: Duration = Duration::from_millis(5);

type Plan = dyn Fn(&str) -> Fault + Send + Sync;

struct Shared {
    upstream: String,
    plan: RwLock<Arc<Plan>>,
    faults: AtomicU64,
    /// The calls that are passed on now, with those whose callers no longer wait.
    underway: watch::Sender<u64>,
    paused: watch::Sender<bool>,
}

/// A call under way, until it is dropped.
struct UnderWay(Arc<Shared>);

impl UnderWay {
    fn new(shared: Arc<Shared>) -> UnderWay {
        shared.underway.send_modify(|calls| *calls += 1);
        UnderWay(shared)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.underway.send_modify(|calls| *calls -= 1);
    }
}

/// A proxy with faults. See the module documentation.
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port and passes calls on to `upstream` (`HOST:PORT`), without faults at first. Runs on
    /// the current tokio runtime.
    pub async fn start(upstream: &str) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            plan: RwLock::new(Arc::new(|_: &str| Fault::None)),
            faults: AtomicU64::new(0),
            underway: watch::Sender::new(0),
            paused: watch::Sender::new(false),
        });
        let listening = tokio::spawn(listen(listener, shared.clone()));
        Ok(Proxy { address, shared, listening })
    }

    /// The proxy's `HOST:PORT`, for `BIGTABLE_EMULATOR_HOST`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Asks `plan` for the fault of each call from now on, by the call's name (`ReadRows`,
    /// `CheckAndMutateRow` and so on).
    pub fn set(&self, plan: impl Fn(&str) -> Fault + Send + Sync + 'static) {
        *self.shared.plan.write() = Arc::new(plan);
    }

    /// The next `count` calls with this name meet `fault`. All others meet none.
    pub fn next(&self, count: u64, call: &'static str, fault: Fault) {
        let met = AtomicU64::new(0);
        self.set(move |name| match name == call && met.fetch_add(1, Ordering::SeqCst) < count {
            true => fault,
            false => Fault::None,
        });
    }

    /// Draws faults from `env`. The given thousandths of all calls meet a fault, each kind equally often. Nothing is
    /// delayed by more than `latest`.
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

    /// Stops passing on calls and answers, without telling anyone.
    pub fn pause(&self) {
        self.shared.paused.send_replace(true);
    }

    /// Passes on everything that waits.
    pub fn resume(&self) {
        self.shared.paused.send_replace(false);
    }

    /// Waits until no call is under way: none arrives late or a second time after this.
    pub async fn silence(&self) {
        // The sender lives in `shared`.
        let _ = self.shared.underway.subscribe().wait_for(|calls| *calls == 0).await;
    }

    /// The number of calls that met a fault.
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
    // Dropped with this task, which closes the connections.
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

/// Serves one connection of a caller, over one connection to the server.
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
    // Ends when the last call, even a late one, releases the connection.
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
        let underway = UnderWay::new(shared.clone());
        let call = Call { shared: shared.clone(), server: server.clone(), lost: lost.clone() };
        // A task of its own, because the call goes on when the caller no longer waits.
        tokio::spawn(async move {
            let _underway = underway;
            if let Err(error) = call.pass_on(request, respond).await {
                tracing::debug!(%error, "a call through the proxy ended");
            }
        });
    }
}

struct Call {
    shared: Arc<Shared>,
    server: SendRequest<Bytes>,
    /// Notified when the connection to the caller is to be dropped.
    lost: Arc<Notify>,
}

/// A request with its whole body.
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
                // The second call must be made whatever the caller does with the first answer.
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
        // The end of the stream is sent with the last bytes: a server may answer and reset the stream as soon as it
        // has them.
        let mut whole_body = BytesMut::new();
        whole.body.iter().for_each(|data| whole_body.extend_from_slice(data));
        send(&mut stream, whole_body.freeze(), true).await?;
        response.await
    }

    /// Makes the call and reads its whole answer.
    async fn done(&self, whole: Whole) -> Result<(), h2::Error> {
        let mut stream = self.ask(whole).await?.into_body();
        while let Some(data) = stream.data().await {
            let length = data?.len();
            stream.flow_control().release_capacity(length)?;
        }
        self.running().await;
        Ok(())
    }

    /// Makes the call and passes the answer on, up to `frames` frames.
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

/// Sends data as the other side accepts it. If `end`, ends the stream with the last bytes.
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

/// Answers a call with the status UNAVAILABLE.
fn unavailable(caller: &mut SendResponse<Bytes>) -> Result<(), h2::Error> {
    let mut head = Response::new(());
    let headers: &mut HeaderMap = head.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static("14"));
    headers.insert("grpc-message", HeaderValue::from_static("the proxy says so"));
    caller.send_response(head, true).map(|_| ())
}
