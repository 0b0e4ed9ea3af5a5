//! [`Stream`]: the socket of a connection, plain or under TLS.

use planner::session::Tls;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::rustls::ProtocolVersion;
use tokio_rustls::server::TlsStream;

/// The socket of a client.
pub enum Stream {
    /// A plain TCP socket.
    Plain(TcpStream),
    /// A socket under TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }
    /// Whether the connection uses TLS.
    pub fn is_tls(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }
    /// The local address of the socket; `None` if it is unknown.
    pub fn local(&self) -> Option<SocketAddr> {
        self.socket().local_addr().ok()
    }
    /// The negotiated TLS parameters; `None` for a plain socket.
    pub fn tls(&self) -> Option<Tls> {
        let Stream::Tls(stream) = self else { return None };
        let session = stream.get_ref().1;
        let suite = session.negotiated_cipher_suite()?.suite();
        let version = match session.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2",
            ProtocolVersion::TLSv1_3 => "TLSv1.3",
            _ => return None,
        };
        let cipher = openssl_name(suite.as_str().unwrap_or_default());
        let bits = if cipher.contains("128") { 128 } else { 256 };
        Some(Tls { version, cipher, bits })
    }
}

/// OpenSSL's name of a cipher suite, from its IANA name.
fn openssl_name(registered: &str) -> String {
    match registered.strip_prefix("TLS13_") {
        Some(rest) => format!("TLS_{rest}"),
        None => {
            let name = registered.trim_start_matches("TLS_").replace("_WITH_", "_").replace("AES_", "AES");
            let name = name.replace("_POLY1305_SHA256", "_POLY1305");
            name.replace('_', "-")
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::openssl_name;

    #[test]
    fn cipher_suites_have_openssls_names() {
        for (registered, name) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("TLS13_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
            ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ] {
            assert_eq!(openssl_name(registered), name);
        }
    }
}
