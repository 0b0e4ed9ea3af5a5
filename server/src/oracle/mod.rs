//! Requests for timestamps and locks between the nodes of one store: two unary calls over gRPC, in plain text, at the
//! address of `--advertise`. A caller proves that it can read the store by naming the holder's tenure, a random number
//! in the row of the lease. `txn` decides who may hand out timestamps.

mod client;
mod lock_messages;
mod service;

pub use client::OracleClient;
pub use service::{OracleService, ServingOracle};

use prost::Message;

/// gRPC path of the call for timestamps.
const TAKE: &str = "/percosql.Oracle/Take";
/// gRPC path of the call for locks.
const LOCK: &str = "/percosql.Oracle/Lock";
/// Largest message in bytes. It is large because a message can carry many waiting lockers.
const MESSAGE_BYTES: usize = 64 << 20;

/// The request of `Take`.
#[derive(Clone, PartialEq, Message)]
struct TakeRequest {
    /// Tenure of the lease holder that the caller addresses.
    #[prost(fixed64, tag = "1")]
    tenure: u64,
    /// Number of consecutive timestamps.
    #[prost(uint64, tag = "2")]
    count: u64,
}

/// The answer of `Take`.
#[derive(Clone, PartialEq, Message)]
struct TakeResponse {
    /// First of the consecutive timestamps.
    #[prost(fixed64, tag = "1")]
    first: u64,
    /// The oracle's clock: microseconds since the Unix epoch.
    #[prost(fixed64, tag = "2")]
    physical_micros: u64,
    /// Whether commits must check for locks.
    #[prost(bool, tag = "3")]
    locked: bool,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use storage::testing::{CountingTimestamps, MemoryOptions, MemoryStore};
    use storage::{EnvRef, StoreRef, SystemEnv, Timestamp};
    use txn::{Oracle, OracleNode, OracleRequest, OracleTransport};

    #[tokio::test(flavor = "multi_thread")]
    async fn one_node_takes_timestamps_from_another() {
        let env: EnvRef = SystemEnv::current().unwrap();
        let options = MemoryOptions { atomic: false, ..MemoryOptions::default() };
        let store: StoreRef = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1))), options);
        let (first, second) = (OracleService::bind("127.0.0.1:0").await, OracleService::bind("127.0.0.1:0").await);
        let (first, second) = (first.unwrap(), second.unwrap());
        let node = |service: &OracleService| OracleNode {
            name: service.address().to_string(),
            address: Some(service.address().to_string()),
        };
        let join = async |service: &OracleService| {
            Oracle::join(&store, &env, node(service), Arc::new(OracleClient::default())).await.unwrap()
        };
        let one = join(&first).await;
        let two = join(&second).await;
        let address = first.address().to_string();
        let _serving = (first.serve(Arc::clone(&one)), second.serve(Arc::clone(&two)));
        assert!(one.is_holder() && !two.is_holder());
        let mut last = Timestamp::ZERO;
        for _ in 0..20 {
            for oracle in [&one, &two] {
                let reading = oracle.timestamp().await.unwrap();
                assert!(reading.timestamp > last);
                assert!(oracle.physical_now() >= reading.physical_micros);
                last = reading.timestamp;
            }
        }
        // A caller that cannot read the lease row gets no answer.
        let guessed = OracleClient::default().ask(&address, OracleRequest { tenure: 1, count: 1 }).await;
        assert!(guessed.unwrap_err().contains("not the oracle"));
        one.leave().await.unwrap();
        assert!(one.timestamp().await.is_err());
        assert!(two.timestamp().await.unwrap().timestamp > last);
        assert!(two.is_holder());
    }
}
