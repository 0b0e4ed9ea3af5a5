//! [`TlsIdentity`]: the server's certificate chain and key, read once at start.

use pgwire::api::auth::sasl::scram::ScramServerAuth;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The ALPN name of PostgreSQL's protocol.
pub const PROTOCOL_NAME: &[u8] = b"postgresql";

/// The server's identity for clients that use TLS.
pub struct TlsIdentity {
    /// Accepts connections under TLS with this identity.
    pub acceptor: TlsAcceptor,
    /// SCRAM bound to the certificate. `None` if the certificate's signature has no hash that channel binding supports.
    pub binding: Option<ScramServerAuth>,
}

/// Reads the identity from both files. Errors are sentences for a person.
pub fn identity(certificate: &Path, key: &Path) -> Result<TlsIdentity, String> {
    let failed = |error: &dyn std::fmt::Display| format!("TLS certificate {}: {error}", certificate.display());
    let pem = std::fs::read(certificate).map_err(|e| failed(&e))?;
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(|e| failed(&e))?;
    if chain.is_empty() {
        return Err(failed(&"no certificate in the file"));
    }
    crate::data_directory::check_key(key)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| format!("TLS key {}: {e}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS: {e}"))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|e| format!("TLS certificate {} and key {}: {e}", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![PROTOCOL_NAME.to_vec()];
    let mut binding = ScramServerAuth::new();
    let binding = match binding.configure_certificate(&pem) {
        Ok(()) => Some(binding),
        Err(error) => {
            tracing::warn!(%error, "clients cannot bind their passwords to the TLS certificate");
            None
        }
    };
    Ok(TlsIdentity { acceptor: TlsAcceptor::from(Arc::new(config)), binding })
}
