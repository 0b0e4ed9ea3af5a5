//! [`OracleService`]: answers requests of other nodes for timestamps and locks.

use super::lock_messages::{LockAnswer, LockMessage};
use super::{LOCK, MESSAGE_BYTES, TAKE, TakeRequest, TakeResponse};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::BoxFuture;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tonic::server::{Grpc, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use txn::{Oracle, OracleReading, OracleRequest};

/// Concurrent calls of one node, at most.
const MOST_CALLS: u32 = 1 << 20;

/// A listening socket that does not answer its callers yet.
pub struct OracleService {
    listener: TcpListener,
    address: SocketAddr,
}

/// Answers calls until it is dropped.
pub struct ServingOracle {
    listening: JoinHandle<()>,
}

impl Drop for ServingOracle {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl OracleService {
    /// Binds to `HOST:PORT`. Errors are sentences for a person.
    pub async fn bind(address: &str) -> Result<OracleService, String> {
        let failed = |error: std::io::Error| format!("cannot listen on {address}, given by --advertise: {error}");
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(OracleService { listener, address })
    }

    /// The bound address of the socket.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts to answer calls. The service ends when the returned value is dropped.
    pub fn serve(self, oracle: Arc<Oracle>) -> ServingOracle {
        ServingOracle { listening: tokio::spawn(listen(self.listener, Arc::downgrade(&oracle))) }
    }
}

async fn listen(listener: TcpListener, oracle: Weak<Oracle>) {
    // The set is dropped with this task and closes its connections.
    let mut connections = JoinSet::new();
    loop {
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => {
                tracing::warn!(%error, "accepting another node's connection failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(socket, Weak::clone(&oracle)));
    }
}

async fn connection(socket: TcpStream, oracle: Weak<Oracle>) {
    let _ = socket.set_nodelay(true);
    let answer = service_fn(move |request: http::Request<Incoming>| {
        let oracle = Weak::clone(&oracle);
        async move {
            Ok::<_, Infallible>(match request.uri().path() {
                TAKE => Grpc::new(ProstCodec::<TakeResponse, _>::default()).unary(Take { oracle }, request).await,
                LOCK => {
                    let grpc = Grpc::new(ProstCodec::<LockAnswer, _>::default());
                    grpc.max_decoding_message_size(MESSAGE_BYTES).unary(Lock { oracle }, request).await
                }
                _ => Status::unimplemented("no such call").into_http(),
            })
        }
    });
    let served = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(10))
        .max_header_list_size(16 * 1024)
        // Each session that waits for a lock occupies one stream.
        .max_concurrent_streams(MOST_CALLS)
        .serve_connection(TokioIo::new(socket), answer);
    if let Err(error) = served.await {
        tracing::debug!(%error, "another node's connection ended");
    }
}

struct Take {
    oracle: Weak<Oracle>,
}

impl UnaryService<TakeRequest> for Take {
    type Response = TakeResponse;
    type Future = BoxFuture<'static, Result<Response<TakeResponse>, Status>>;

    fn call(&mut self, request: Request<TakeRequest>) -> Self::Future {
        let oracle = self.oracle.upgrade();
        Box::pin(async move {
            let TakeRequest { tenure, count } = request.into_inner();
            let oracle = oracle.ok_or_else(|| Status::unavailable("the node is stopping"))?;
            let reading = oracle.serve(OracleRequest { tenure, count }).await.map_err(Status::failed_precondition)?;
            let OracleReading { timestamp, physical_micros, locked } = reading;
            Ok(Response::new(TakeResponse { first: timestamp.0, physical_micros, locked }))
        })
    }
}

struct Lock {
    oracle: Weak<Oracle>,
}

impl UnaryService<LockMessage> for Lock {
    type Response = LockAnswer;
    type Future = BoxFuture<'static, Result<Response<LockAnswer>, Status>>;

    /// The future is dropped when the caller disconnects, which removes its waiters from the lock queues.
    fn call(&mut self, request: Request<LockMessage>) -> Self::Future {
        let oracle = self.oracle.upgrade();
        Box::pin(async move {
            let request = request.into_inner().read().map_err(Status::invalid_argument)?;
            let oracle = oracle.ok_or_else(|| Status::unavailable("the node is stopping"))?;
            let reply = oracle.serve_locks(request).await.map_err(Status::failed_precondition)?;
            Ok(Response::new(LockAnswer::from(reply)))
        })
    }
}
