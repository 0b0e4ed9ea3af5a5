//! [`OracleClient`]: asks other nodes, over a connection each that is kept and made anew when it breaks.

use super::{PATH, TakeRequest, TakeResponse};
use http::uri::PathAndQuery;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use storage::{BoxFuture, Timestamp};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;
use txn::{OracleReading, OracleRequest, OracleTransport};

/// How long making a connection may take: a node that is gone must not keep us from asking its successor.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// See the head of the module.
#[derive(Default)]
pub struct OracleClient {
    channels: Mutex<HashMap<String, Channel>>,
}

impl OracleClient {
    fn channel(&self, address: &str) -> Result<Channel, String> {
        let mut channels = self.channels.lock();
        if let Some(channel) = channels.get(address) {
            return Ok(channel.clone());
        }
        let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|error| error.to_string())?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_LIMIT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(Duration::from_secs(2))
            .keep_alive_timeout(Duration::from_secs(2));
        let channel = endpoint.connect_lazy();
        channels.insert(address.to_owned(), channel.clone());
        Ok(channel)
    }
}

async fn take(channel: Channel, request: OracleRequest) -> Result<OracleReading, tonic::Status> {
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let message = TakeRequest { tenure: request.tenure, count: request.count };
    let codec = ProstCodec::<TakeRequest, TakeResponse>::default();
    let answer = grpc.unary(tonic::Request::new(message), PathAndQuery::from_static(PATH), codec).await?.into_inner();
    Ok(OracleReading { timestamp: Timestamp(answer.first), physical_micros: answer.physical_micros })
}

impl OracleTransport for OracleClient {
    fn ask(&self, address: &str, request: OracleRequest) -> BoxFuture<'static, Result<OracleReading, String>> {
        let channel = self.channel(address);
        Box::pin(async move {
            take(channel?, request).await.map_err(|status| format!("{}: {}", status.code(), status.message()))
        })
    }
}
