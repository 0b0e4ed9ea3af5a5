//! [`Link`]: the connection between a session and its client.

use std::net::SocketAddr;

/// The connection of a session.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The address of the client. `None` if it has none.
    pub client: Option<SocketAddr>,
    /// The server's address that the client connected to.
    pub server: Option<SocketAddr>,
    /// The parameters of TLS, if it is in use.
    pub tls: Option<Tls>,
}

/// The parameters of a TLS connection, named as in OpenSSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The protocol's version, such as `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The length of its key in bits.
    pub bits: i32,
}
