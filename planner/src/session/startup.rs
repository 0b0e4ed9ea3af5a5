//! [`Startup`]: what a client says at the beginning, and what its role allows.

use super::cancel::CancelToken;
use std::net::SocketAddr;

/// The connection that a session's client speaks over.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// Where the client is.
    pub client: Option<SocketAddr>,
    /// Where it found the server.
    pub server: Option<SocketAddr>,
    /// Under TLS.
    pub tls: Option<Tls>,
}

/// What TLS agreed upon, named as OpenSSL names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// `TLSv1.3`.
    pub version: &'static str,
    /// `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Bits of its key.
    pub bits: i32,
}

/// What begins a session. The server has authenticated the user.
#[derive(Clone, Debug)]
pub struct Startup {
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// Settings out of the start-up message, later ones before earlier ones: those of `options` (`-c name=value`), then the message's own
    /// entries (`client_encoding`, `application_name`, …; not `user`, `database`, `options`, `replication`).
    pub options: Vec<(String, String)>,
    /// Process number told to the client (`pg_backend_pid()`).
    pub backend_pid: i32,
    /// What the client speaks over.
    pub link: Link,
    /// Stops the session's statements.
    pub cancel: CancelToken,
}

/// How a role logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLogin {
    /// SCRAM-SHA-256 verifier as PostgreSQL stores it (`SCRAM-SHA-256$iterations:salt$stored_key:server_key`).
    pub verifier: Option<String>,
    /// Whether its password is one no more: VALID UNTIL has passed.
    pub expired: bool,
    /// Whether it may log in.
    pub login: bool,
    /// Whether it may have a place that is kept for superusers.
    pub superuser: bool,
}

/// What is known of who wants to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// The role; `None` when there is none of that name.
    pub role: Option<RoleLogin>,
    /// Whether any role has a password: then nobody is trusted.
    pub any_password: bool,
}
