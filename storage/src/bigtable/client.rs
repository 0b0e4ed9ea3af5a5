//! [`Client`]: connections to Bigtable, credentials, and calls. It repeats a call until the call is answered
//! or its deadline passes.

use super::address::BigtableAddress;
use super::calls::Calls;
use super::retry::{self, Verdict};
use crate::env::EnvRef;
use crate::error::{Result, StoreError};
use futures::future::{Either, select};
use gcp_auth::TokenProvider;
use googleapis_tonic_google_bigtable_admin_v2::google::bigtable::admin::v2::bigtable_table_admin_client::BigtableTableAdminClient;
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2::bigtable_client::BigtableClient;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

const DATA_HOST: &str = "https://bigtable.googleapis.com";
const ADMIN_HOST: &str = "https://bigtableadmin.googleapis.com";
/// The scopes of the access token: rows, and the administration of the table.
const SCOPES: &[&str] =
    &["https://www.googleapis.com/auth/bigtable.data", "https://www.googleapis.com/auth/bigtable.admin.table"];
/// The largest message that the client accepts, in bytes. A row may have 256 MB.
const MAX_MESSAGE_BYTES: usize = 512 << 20;
/// HTTP/2 flow-control windows for answers, in bytes: per call and per connection.
const CALL_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Options of the connections to Bigtable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigtableOptions {
    /// `HOST:PORT` of an emulator, which is called in plain text and without credentials.
    /// `None` for Google's service.
    pub emulator: Option<String>,
    /// The number of connections. One carries about a hundred concurrent calls.
    pub connections: usize,
    /// The time limit of one attempt of a call. For a streaming read: of one message.
    pub attempt: Duration,
    /// The time limit of a call with all its attempts. For a streaming read: of one row.
    ///
    /// A write that was given up may still land within this limit, plus the time that the network and the server
    /// hold a request. Garbage collection must wait at least that long.
    pub deadline: Duration,
}

impl Default for BigtableOptions {
    fn default() -> Self {
        BigtableOptions {
            emulator: None,
            connections: 4,
            attempt: Duration::from_secs(5),
            deadline: Duration::from_secs(30),
        }
    }
}

impl BigtableOptions {
    /// The default options, with the emulator that `BIGTABLE_EMULATOR_HOST` names.
    pub fn from_environment() -> BigtableOptions {
        let emulator = std::env::var("BIGTABLE_EMULATOR_HOST").ok().filter(|host| !host.is_empty());
        BigtableOptions { emulator, ..BigtableOptions::default() }
    }
}

/// The state of a call's attempts.
pub struct Attempts {
    /// The deadline of the call, by the monotonic clock.
    end: Duration,
    failures: u32,
    /// Whether an earlier attempt may have taken effect.
    maybe_done: bool,
}

/// An answer, and whether an earlier attempt of the call may have taken effect too.
pub struct Answer<T> {
    pub value: T,
    pub repeated: bool,
}

/// A client of one Bigtable table. See the module documentation.
pub struct Client {
    pub address: BigtableAddress,
    pub options: BigtableOptions,
    pub env: EnvRef,
    pub calls: Calls,
    channels: Vec<Channel>,
    next: AtomicUsize,
    admin: Channel,
    credentials: Option<Arc<dyn TokenProvider>>,
    routing: MetadataValue<tonic::metadata::Ascii>,
}

fn endpoint(host: &str, emulator: Option<&str>) -> Result<Endpoint> {
    let url = emulator.map_or_else(|| host.to_owned(), |address| format!("http://{address}"));
    let wrong = |error: tonic::transport::Error| StoreError::Io(format!("{url}: {error}"));
    let endpoint = Endpoint::from_shared(url.clone()).map_err(wrong)?;
    let endpoint = endpoint
        .connect_timeout(Duration::from_secs(5))
        .tcp_nodelay(true)
        .initial_stream_window_size(CALL_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10))
        .user_agent(concat!("percosql/", env!("CARGO_PKG_VERSION")))
        .map_err(wrong)?;
    match emulator {
        Some(_) => Ok(endpoint),
        None => endpoint.tls_config(ClientTlsConfig::new().with_native_roots()).map_err(wrong),
    }
}

/// Percent-encodes a name for the request-routing header.
fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

impl Client {
    /// Makes a client, which connects on the first call. Errors: there are no credentials.
    pub async fn new(address: BigtableAddress, options: BigtableOptions, env: EnvRef) -> Result<Arc<Client>> {
        let emulator = options.emulator.as_deref();
        let data = endpoint(DATA_HOST, emulator)?;
        let channels = (0..options.connections.max(1)).map(|_| data.connect_lazy()).collect();
        let admin = endpoint(ADMIN_HOST, emulator)?.connect_lazy();
        let credentials = match emulator {
            Some(_) => None,
            None => Some(gcp_auth::provider().await.map_err(|error| {
                StoreError::Io(format!(
                    "no Google credentials: {error}; set GOOGLE_APPLICATION_CREDENTIALS to a service account's key, \
                     run `gcloud auth application-default login`, or start on a machine with a service account"
                ))
            })?),
        };
        let name = escaped(&address.table_name());
        let profile = escaped(&address.app_profile);
        let routing = MetadataValue::try_from(format!("table_name={name}&app_profile_id={profile}"))
            .map_err(|error| StoreError::Io(format!("{address}: {error}")))?;
        Ok(Arc::new(Client {
            address,
            options,
            env,
            calls: Calls::default(),
            channels,
            next: AtomicUsize::new(0),
            admin,
            credentials,
            routing,
        }))
    }

    /// A client of the data service. Connections are used in turn.
    pub fn data(&self) -> BigtableClient<Channel> {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % self.channels.len().max(1);
        let channel = self.channels.get(at).unwrap_or(&self.admin);
        BigtableClient::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// A client of the administration service.
    pub fn admin(&self) -> BigtableTableAdminClient<Channel> {
        BigtableTableAdminClient::new(self.admin.clone())
    }

    async fn metadata(&self) -> std::result::Result<MetadataMap, Status> {
        let mut map = MetadataMap::new();
        map.insert("x-goog-request-params", self.routing.clone());
        if let Some(credentials) = &self.credentials {
            // The provider caches the token and fetches a new one when it expires.
            let token = credentials.token(SCOPES).await;
            let token = token.map_err(|error| Status::unauthenticated(format!("no access token: {error}")))?;
            let value = MetadataValue::try_from(format!("Bearer {}", token.as_str()));
            map.insert("authorization", value.map_err(|_| Status::unauthenticated("the token is not text"))?);
        }
        Ok(map)
    }

    /// A request that carries `message`, with its headers.
    pub async fn request<M>(&self, message: M) -> std::result::Result<Request<M>, Status> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata().await?;
        Ok(request)
    }

    /// Waits for one attempt, for `limit` at most. After that its answer is lost.
    pub async fn limited<T>(
        &self,
        limit: Duration,
        attempt: impl Future<Output = std::result::Result<T, Status>>,
    ) -> std::result::Result<T, Status> {
        match select(pin!(attempt), self.env.sleep(limit)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(Status::deadline_exceeded(format!("no answer within {limit:?}"))),
        }
    }

    /// Makes a call until it is answered or refused, or its deadline passes.
    pub async fn call<M, T, F, A>(&self, what: &str, message: &M, attempt: F) -> Result<Answer<T>>
    where
        M: Clone,
        F: Fn(Request<M>) -> A,
        A: Future<Output = std::result::Result<T, Status>>,
    {
        self.call_within(self.options.attempt, what, message, attempt).await
    }

    /// Like [`Client::call`], with `limit` as the time limit of one attempt.
    pub async fn call_within<M, T, F, A>(
        &self,
        limit: Duration,
        what: &str,
        message: &M,
        attempt: F,
    ) -> Result<Answer<T>>
    where
        M: Clone,
        F: Fn(Request<M>) -> A,
        A: Future<Output = std::result::Result<T, Status>>,
    {
        let mut attempts = self.attempts(limit);
        loop {
            let left = attempts.end.saturating_sub(self.env.monotonic());
            let answer = self.limited(limit.min(left), async { attempt(self.request(message.clone()).await?).await });
            match answer.await {
                Ok(value) => return Ok(Answer { value, repeated: attempts.maybe_done }),
                Err(status) => self.before_next(what, &status, &mut attempts).await?,
            }
        }
    }

    /// The attempts of a call that begins now. `limit` is the time limit of one attempt.
    pub fn attempts(&self, limit: Duration) -> Attempts {
        let end = self.env.monotonic() + self.options.deadline.max(limit);
        Attempts { end, failures: 0, maybe_done: false }
    }

    /// Waits after a failed attempt until the next one. Errors: the call was refused, or its deadline has passed.
    pub async fn before_next(&self, what: &str, status: &Status, attempts: &mut Attempts) -> Result<()> {
        let verdict = retry::verdict(status);
        attempts.maybe_done |= verdict == Verdict::Unknown;
        attempts.failures += 1;
        let pause = retry::pause(attempts.failures, self.env.random());
        if verdict == Verdict::Refused || self.env.monotonic() + pause >= attempts.end {
            return Err(retry::store_error(what, status, attempts.maybe_done));
        }
        tracing::debug!(what, %status, failures = attempts.failures, "a call of Bigtable is repeated");
        self.calls.repeated();
        self.env.sleep(pause).await;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_for_the_routing_header() {
        assert_eq!(escaped("projects/a.b:c/tables/t_1"), "projects%2Fa.b%3Ac%2Ftables%2Ft_1");
    }
}
