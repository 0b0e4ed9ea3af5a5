//! [`OracleClient`]: sends requests to other nodes. It keeps two connections per node and reconnects when they break.
//! One connection carries requests with an immediate answer, such as timestamps and keep-alives. The other carries lock
//! requests that wait, so that they delay no timestamp.

use super::lock_messages::{LockAnswer, LockMessage};
use super::{LOCK, MESSAGE_BYTES, TAKE, TakeRequest, TakeResponse};
use http::uri::PathAndQuery;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use storage::{BoxFuture, Timestamp};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;
use txn::locks::{LockCall, LockReply, LockRequest};
use txn::{OracleReading, OracleRequest, OracleTransport};

/// Time limit of a connection attempt. A dead node must not prevent requests to its successor.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// Sends requests for timestamps and locks to other nodes, over two kept connections each.
#[derive(Default)]
pub struct OracleClient {
    channels: Mutex<HashMap<(String, bool), Channel>>,
}

impl OracleClient {
    fn channel(&self, address: &str, waits: bool) -> Result<Channel, String> {
        let mut channels = self.channels.lock();
        let known = (address.to_owned(), waits);
        if let Some(channel) = channels.get(&known) {
            return Ok(channel.clone());
        }
        let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|error| error.to_string())?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_LIMIT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(Duration::from_secs(2))
            .keep_alive_timeout(Duration::from_secs(2));
        let channel = endpoint.connect_lazy();
        channels.insert(known, channel.clone());
        Ok(channel)
    }
}

fn told(status: tonic::Status) -> String {
    format!("{}: {}", status.code(), status.message())
}

async fn call<Q, A>(channel: Channel, path: &'static str, message: Q) -> Result<A, String>
where
    Q: prost::Message + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    let mut grpc = Grpc::new(channel).max_decoding_message_size(MESSAGE_BYTES);
    grpc.ready().await.map_err(|error| error.to_string())?;
    let codec = ProstCodec::<Q, A>::default();
    let answer = grpc.unary(tonic::Request::new(message), PathAndQuery::from_static(path), codec).await;
    Ok(answer.map_err(told)?.into_inner())
}

impl OracleTransport for OracleClient {
    fn ask(&self, address: &str, request: OracleRequest) -> BoxFuture<'static, Result<OracleReading, String>> {
        let channel = self.channel(address, false);
        Box::pin(async move {
            let message = TakeRequest { tenure: request.tenure, count: request.count };
            let answer: TakeResponse = call(channel?, TAKE, message).await?;
            let TakeResponse { first, physical_micros, locked } = answer;
            Ok(OracleReading { timestamp: Timestamp(first), physical_micros, locked })
        })
    }

    fn ask_for_locks(&self, address: &str, request: LockRequest) -> BoxFuture<'static, Result<LockReply, String>> {
        let channel = self.channel(address, matches!(request.call, LockCall::Acquire(_)));
        Box::pin(async move {
            let answer: LockAnswer = call(channel?, LOCK, LockMessage::from(request)).await?;
            answer.read()
        })
    }
}
