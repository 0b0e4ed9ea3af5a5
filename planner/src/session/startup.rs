//! [`Startup`]: the parameters of a client's connection, and the rights of its role.

use context::cancel::CancelToken;
pub use context::link::{Link, Tls};

/// The parameters of a new session. The server has authenticated the user.
#[derive(Clone, Debug)]
pub struct Startup {
    /// The role that logs in.
    pub user: String,
    /// The database to connect to.
    pub database: String,
    /// Settings from the start-up message. Later entries override earlier ones. First come those of `options` (`-c
    /// name=value`), then the message's own (`client_encoding`, `application_name`, …). `user`, `database`, `options`
    /// and `replication` are excluded.
    pub options: Vec<(String, String)>,
    /// The process number for the client (`pg_backend_pid()`).
    pub backend_pid: i32,
    /// The connection to the client.
    pub link: Link,
    /// Cancels the session's statements.
    pub cancel: CancelToken,
}

/// The login data of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLogin {
    /// SCRAM-SHA-256 verifier as PostgreSQL stores it (`SCRAM-SHA-256$iterations:salt$stored_key:server_key`).
    pub verifier: Option<String>,
    /// Whether the password has expired (VALID UNTIL).
    pub expired: bool,
    /// Whether the role may log in.
    pub login: bool,
    /// Whether the role may use a connection reserved for superusers.
    pub superuser: bool,
}

/// The data for authenticating a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// The role. `None` if no role has the name.
    pub role: Option<RoleLogin>,
    /// Whether any role has a password. If so, no client is trusted without one.
    pub any_password: bool,
}
