//! [`Client`]: connections to Bigtable, credentials, and calls that are repeated until they are answered or their
//! time is over.

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
/// What a token allows: rows, and the table's families and ranges.
const SCOPES: &[&str] =
    &["https://www.googleapis.com/auth/bigtable.data", "https://www.googleapis.com/auth/bigtable.admin.table"];
/// Bytes of one message that are taken: a row may have 256 MB.
const MAX_MESSAGE_BYTES: usize = 512 << 20;
/// Flow-control windows: what may be under way to us, on one call and on one connection.
const CALL_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// How a [`super::BigtableStore`] talks to Bigtable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigtableOptions {
    /// `HOST:PORT` of an emulator, talked to in plain text and without credentials;
    /// `None` for Google's service.
    pub emulator: Option<String>,
    /// Connections. One carries about a hundred calls at a time.
    pub connections: usize,
    /// How long one attempt of a call may take; of a streaming read, one message.
    pub attempt: Duration,
    /// How long a call may take with all its attempts; of a streaming read, one row. A write that was given up
    /// may still land, but no later than this after it was asked for, and the time that the network and the server
    /// hold on to a request: garbage collection must leave that much.
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
    /// The defaults, and the emulator that `BIGTABLE_EMULATOR_HOST` names.
    pub fn from_environment() -> BigtableOptions {
        let emulator = std::env::var("BIGTABLE_EMULATOR_HOST").ok().filter(|host| !host.is_empty());
        BigtableOptions { emulator, ..BigtableOptions::default() }
    }
}

/// The attempts of one call.
pub struct Attempts {
    /// When to give up, by the monotonic clock.
    end: Duration,
    failures: u32,
    /// Whether one of them may have been done.
    maybe_done: bool,
}

/// An answer, and whether an earlier attempt of the call may have been done too.
pub struct Answer<T> {
    pub value: T,
    pub repeated: bool,
}

/// See the head of the module.
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

/// For the header that routes a request: what is not plain is escaped.
fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

impl Client {
    /// Connects when the first call is made. Errors: there are no credentials.
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

    /// The next connection, in turn.
    pub fn data(&self) -> BigtableClient<Channel> {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % self.channels.len().max(1);
        let channel = self.channels.get(at).unwrap_or(&self.admin);
        BigtableClient::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// The connection for tables and families.
    pub fn admin(&self) -> BigtableTableAdminClient<Channel> {
        BigtableTableAdminClient::new(self.admin.clone())
    }

    async fn metadata(&self) -> std::result::Result<MetadataMap, Status> {
        let mut map = MetadataMap::new();
        map.insert("x-goog-request-params", self.routing.clone());
        if let Some(credentials) = &self.credentials {
            // Kept until it expires; fetched again then.
            let token = credentials.token(SCOPES).await;
            let token = token.map_err(|error| Status::unauthenticated(format!("no access token: {error}")))?;
            let value = MetadataValue::try_from(format!("Bearer {}", token.as_str()));
            map.insert("authorization", value.map_err(|_| Status::unauthenticated("the token is not text"))?);
        }
        Ok(map)
    }

    /// A request that carries `message`.
    pub async fn request<M>(&self, message: M) -> std::result::Result<Request<M>, Status> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata().await?;
        Ok(request)
    }

    /// Waits for one attempt, no longer than `limit`. Its answer is then lost, whatever it would have been.
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

    /// Makes a call until it is answered, refused, or its time is over.
    pub async fn call<M, T, F, A>(&self, what: &str, message: &M, attempt: F) -> Result<Answer<T>>
    where
        M: Clone,
        F: Fn(Request<M>) -> A,
        A: Future<Output = std::result::Result<T, Status>>,
    {
        self.call_within(self.options.attempt, what, message, attempt).await
    }

    /// The same, where an attempt may take `limit`.
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

    /// The attempts of a call that begins now, each of which may take `limit`.
    pub fn attempts(&self, limit: Duration) -> Attempts {
        let end = self.env.monotonic() + self.options.deadline.max(limit);
        Attempts { end, failures: 0, maybe_done: false }
    }

    /// Waits after an attempt that failed, until the next. Errors: it was refused, or the call's time is over.
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
