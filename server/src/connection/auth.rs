//! Authentication. While no role has a password, the server trusts connections from this machine. As soon as one role
//! has a password, every role needs its own.
//!
//! Clients prove a password by SCRAM-SHA-256 (RFC 5802, RFC 7677). Over TLS the exchange can also be bound to the
//! channel (SCRAM-SHA-256-PLUS, `tls-server-end-point`, RFC 5929).
//!
//! A role without a password and an unknown role go through the same exchange, against a verifier that no password
//! matches. Their salts derive from a secret of the store, so they are the same each time.

use super::reading::Input;
use super::stream::Stream;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::listener::Shared;
use crate::protocol::reader::Reader;
use crate::protocol::{Message, Output};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth};
use pgwire::messages::startup::Authentication;
use planner::types::encoding::Encoding;
use planner::{SqlError, state};
use ring::hmac;
use std::net::IpAddr;

const MECHANISM: &str = "SCRAM-SHA-256";
const BOUND_MECHANISM: &str = "SCRAM-SHA-256-PLUS";
/// Bytes of a salt, equal to the salts of the verifiers that the server makes.
const SALT_BYTES: usize = 16;
/// Iterations of a verifier, equal to those of the verifiers that the server makes.
const ITERATIONS: usize = 4096;

/// The rules for clients without a password, and the data that hides which roles exist.
#[derive(Debug)]
pub struct AccessRules {
    /// Secret of the store from which the salts of unknown roles derive.
    pub secret: [u8; 32],
    /// Whether connections from this machine are trusted, whatever passwords there are.
    pub trust_loopback: bool,
}

/// Authenticates `user` and sends AuthenticationOk. Answers whether the role is a superuser. Every failure is fatal.
pub async fn authenticate(
    stream: &mut Stream,
    input: &mut Input,
    out: &mut Output,
    shared: &Shared,
    user: &str,
    peer: IpAddr,
) -> Result<bool> {
    let found = shared.database.authentication(user).await.map_err(ConnectionError::Fatal)?;
    let refused = |message: String| ConnectionError::Fatal(SqlError::new(state::INVALID_AUTHORIZATION, message));
    let local = peer.to_canonical().is_loopback();
    if !found.any_password && !local {
        return Err(refused("no role has a password, so connections are accepted from this machine only".to_string()));
    }
    let trusted = local && (shared.access.trust_loopback || !found.any_password);
    if !trusted {
        let verifier = found.role.as_ref().filter(|role| !role.expired).and_then(|role| role.verifier.as_deref());
        // The mock is always computed, so that the time does not reveal whether the role exists.
        let mock = mock_verifier(&shared.access.secret, user);
        let secret = verifier.and_then(parse_verifier);
        let known = secret.is_some();
        let binding = shared.tls.as_ref().and_then(|tls| tls.binding.as_ref()).filter(|_| stream.is_tls());
        let server = binding.cloned().unwrap_or_default();
        scram(stream, input, out, user, server, (secret.unwrap_or(mock), known)).await?;
    }
    let role = found.role.ok_or_else(|| refused(format!("role \"{user}\" does not exist")))?;
    if !role.login {
        return Err(refused(format!("role \"{user}\" is not permitted to log in")));
    }
    out.message(&Authentication::Ok);
    Ok(role.superuser)
}

/// Runs the SCRAM exchange. The flag in `secret` tells whether a password can match its verifier.
async fn scram(
    stream: &mut Stream,
    input: &mut Input,
    out: &mut Output,
    user: &str,
    server: ScramServerAuth,
    (secret, known): (ScramSecret, bool),
) -> Result<()> {
    let failed = || {
        ConnectionError::Fatal(SqlError::new(
            state::INVALID_PASSWORD,
            format!("password authentication failed for user \"{user}\""),
        ))
    };
    let offered: &[&str] = if server.supports_channel_binding() { &[BOUND_MECHANISM, MECHANISM] } else { &[MECHANISM] };
    out.message(&Authentication::SASL(offered.iter().map(ToString::to_string).collect()));
    out.flush(stream).await?;

    let first = initial_response(response(stream, input).await?, offered).map_err(ConnectionError::Fatal)?;
    let (challenge, waiting) = server
        .on_client_first_message_with_secret(&first, secret)
        .map_err(|error| ConnectionError::Fatal(protocol_violation(format!("malformed SCRAM message: {error}"))))?;
    out.message(&Authentication::SASLContinue(Bytes::from(challenge)));
    out.flush(stream).await?;

    let last = response(stream, input).await?;
    let proof = waiting.on_client_final_message(&last).map_err(|error| {
        tracing::info!(user, %error, "authentication failed");
        failed()
    })?;
    if !known {
        return Err(failed());
    }
    out.message(&Authentication::SASLFinal(Bytes::from(proof)));
    Ok(())
}

async fn response(stream: &mut Stream, input: &mut Input) -> Result<Bytes> {
    // Messages of other types may be very long. An unauthenticated client must not send long messages.
    let frame = match input.frame_of(b'p', stream).await? {
        Some(frame) => frame,
        None => return Err(ConnectionError::Io(std::io::ErrorKind::UnexpectedEof.into())),
    };
    match Message::decode(frame, Encoding::Utf8) {
        Ok(Message::Password(body)) => Ok(body),
        _ => Err(ConnectionError::Fatal(protocol_violation("expected SASL response"))),
    }
}

/// Reads the client-first message. Errors: 08P01 for a mechanism that was not offered, or that contradicts the channel
/// binding in the message.
fn initial_response(body: Bytes, offered: &[&str]) -> std::result::Result<Bytes, SqlError> {
    let mut body = Reader::new(body);
    let mechanism = body.string()?;
    if !offered.contains(&mechanism.as_str()) {
        return Err(protocol_violation("client selected an invalid SASL authentication mechanism"));
    }
    let data = body.value()?.ok_or_else(|| protocol_violation("malformed SCRAM message: empty"))?;
    body.end()?;
    let says = match (mechanism == BOUND_MECHANISM, data.first() == Some(&b'p')) {
        (true, false) => {
            "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data."
        }
        (false, true) => {
            "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data."
        }
        _ => return Ok(data),
    };
    Err(protocol_violation("malformed SCRAM message").detail(says))
}

/// Parses a verifier of the form `SCRAM-SHA-256$iterations:salt$stored_key:server_key`.
fn parse_verifier(text: &str) -> Option<ScramSecret> {
    let (head, keys) = text.strip_prefix(MECHANISM)?.strip_prefix('$')?.split_once('$')?;
    let (iterations, salt) = head.split_once(':')?;
    let (stored_key, server_key) = keys.split_once(':')?;
    Some(ScramSecret::Verifier {
        salt: STANDARD.decode(salt).ok()?,
        iterations: iterations.parse().ok()?,
        stored_key: STANDARD.decode(stored_key).ok().filter(|key| key.len() == 32)?,
        server_key: STANDARD.decode(server_key).ok().filter(|key| key.len() == 32)?,
    })
}

/// A verifier for a role that has none. Its salt is the same each time; its keys are random.
fn mock_verifier(secret: &[u8], user: &str) -> ScramSecret {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let salt = hmac::sign(&key, user.as_bytes()).as_ref().iter().copied().take(SALT_BYTES).collect();
    let (stored_key, server_key) = (rand::random::<[u8; 32]>().to_vec(), rand::random::<[u8; 32]>().to_vec());
    ScramSecret::Verifier { salt, iterations: ITERATIONS, stored_key, server_key }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn verifiers_are_parsed_whole_or_not_at_all() {
        let key = STANDARD.encode([7u8; 32]);
        let text = format!("SCRAM-SHA-256$4096:{}${key}:{key}", STANDARD.encode(b"salt"));
        let Some(ScramSecret::Verifier { iterations, salt, .. }) = parse_verifier(&text) else { panic!() };
        assert_eq!((iterations, salt.as_slice()), (4096, b"salt".as_slice()));
        assert!(parse_verifier("md5abc").is_none());
        assert!(parse_verifier(&text[..text.len() - 8]).is_none());
    }

    #[test]
    fn a_role_without_a_verifier_looks_as_one_with() {
        let parts = |secret: &[u8], user| match mock_verifier(secret, user) {
            ScramSecret::Verifier { salt, iterations, stored_key, .. } => (salt, iterations, stored_key),
            _ => panic!(),
        };
        let (salt, iterations, stored_key) = parts(&[1; 32], "ada");
        assert_eq!((salt.len(), iterations), (SALT_BYTES, ITERATIONS));
        let again = parts(&[1; 32], "ada");
        assert_eq!(again.0, salt);
        assert_ne!(again.2, stored_key, "nobody can work it out");
        assert_ne!(parts(&[2; 32], "ada").0, salt);
        assert_ne!(parts(&[1; 32], "bob").0, salt);
    }

    #[test]
    fn initial_responses_state_their_mechanism_and_length() {
        let body = |bytes: &'static [u8]| initial_response(Bytes::from_static(bytes), &[MECHANISM]);
        assert_eq!(body(b"SCRAM-SHA-256\0\0\0\0\x01n").unwrap().as_ref(), b"n");
        assert!(body(b"SCRAM-SHA-256\0\0\0\0\x02n").is_err());
        assert!(body(b"SCRAM-SHA-256\0\xff\xff\xff\xff").is_err());
        assert!(body(b"PLAIN\0\0\0\0\x01n").is_err());
        assert!(body(b"SCRAM-SHA-256-PLUS\0\0\0\0\x01p").is_err());
        assert!(body(b"").is_err());
    }

    #[test]
    fn a_mechanism_fits_what_is_said_of_the_channel() {
        let body = |bytes: &'static [u8]| initial_response(Bytes::from_static(bytes), &[BOUND_MECHANISM, MECHANISM]);
        assert!(body(b"SCRAM-SHA-256-PLUS\0\0\0\0\x01p").is_ok());
        assert!(body(b"SCRAM-SHA-256\0\0\0\0\x01n").is_ok());
        assert!(body(b"SCRAM-SHA-256\0\0\0\0\x01y").is_ok());
        assert_eq!(body(b"SCRAM-SHA-256-PLUS\0\0\0\0\x01n").unwrap_err().state(), "08P01");
        assert_eq!(body(b"SCRAM-SHA-256\0\0\0\0\x01p").unwrap_err().state(), "08P01");
    }
}
