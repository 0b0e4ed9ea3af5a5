//! Who the client is: trust on loopback while its role has no password, SCRAM-SHA-256 where it has one.

use super::reading::Input;
use super::stream::Stream;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::reader::Reader;
use crate::protocol::{Message, Output};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth};
use pgwire::messages::startup::Authentication;
use planner::session::Database;
use planner::types::encoding::Encoding;
use planner::{SqlError, state};
use std::net::IpAddr;

const MECHANISM: &str = "SCRAM-SHA-256";

/// Authenticates `user` and sends AuthenticationOk. Every failure is fatal.
pub async fn authenticate(
    stream: &mut Stream,
    input: &mut Input,
    out: &mut Output,
    database: &Database,
    user: &str,
    peer: IpAddr,
) -> Result<()> {
    let role = database.authentication(user).await.map_err(ConnectionError::Fatal)?;
    let refused = |message: String| ConnectionError::Fatal(SqlError::new(state::INVALID_AUTHORIZATION, message));
    let Some(role) = role else {
        return Err(refused(format!("role \"{user}\" does not exist")));
    };
    match role.verifier {
        Some(verifier) => scram(stream, input, out, user, (&verifier, role.expired)).await?,
        None if peer.to_canonical().is_loopback() => {}
        None => return Err(refused(format!("role \"{user}\" has no password and may connect only from this machine"))),
    }
    if !role.login {
        return Err(refused(format!("role \"{user}\" is not permitted to log in")));
    }
    out.message(&Authentication::Ok);
    Ok(())
}

/// `verifier`: with whether it has expired, which is told to nobody.
async fn scram(
    stream: &mut Stream,
    input: &mut Input,
    out: &mut Output,
    user: &str,
    (verifier, expired): (&str, bool),
) -> Result<()> {
    let failed = || {
        ConnectionError::Fatal(SqlError::new(
            state::INVALID_PASSWORD,
            format!("password authentication failed for user \"{user}\""),
        ))
    };
    let secret = parse_verifier(verifier).ok_or_else(failed)?;
    out.message(&Authentication::SASL(vec![MECHANISM.to_string()]));
    out.flush(stream).await?;

    let first = initial_response(response(stream, input).await?).map_err(ConnectionError::Fatal)?;
    let server = ScramServerAuth::new();
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
    if expired {
        tracing::info!(user, "the password has expired");
        return Err(failed());
    }
    out.message(&Authentication::SASLFinal(Bytes::from(proof)));
    Ok(())
}

async fn response(stream: &mut Stream, input: &mut Input) -> Result<Bytes> {
    // Other kinds may be very long, which nobody may be who has not said who he is.
    let frame = match input.frame_of(b'p', stream).await? {
        Some(frame) => frame,
        None => return Err(ConnectionError::Io(std::io::ErrorKind::UnexpectedEof.into())),
    };
    match Message::decode(frame, Encoding::Utf8) {
        Ok(Message::Password(body)) => Ok(body),
        _ => Err(ConnectionError::Fatal(protocol_violation("expected SASL response"))),
    }
}

fn initial_response(body: Bytes) -> std::result::Result<Bytes, SqlError> {
    let mut body = Reader::new(body);
    let mechanism = body.string()?;
    if mechanism != MECHANISM {
        return Err(protocol_violation("client selected an invalid SASL authentication mechanism"));
    }
    let data = body.value()?.ok_or_else(|| protocol_violation("malformed SCRAM message: empty"))?;
    body.end()?;
    Ok(data)
}

/// `SCRAM-SHA-256$iterations:salt$stored_key:server_key`.
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
    fn initial_responses_state_their_mechanism_and_length() {
        let body = |bytes: &'static [u8]| initial_response(Bytes::from_static(bytes));
        assert_eq!(body(b"SCRAM-SHA-256\0\0\0\0\x01n").unwrap().as_ref(), b"n");
        assert!(body(b"SCRAM-SHA-256\0\0\0\0\x02n").is_err());
        assert!(body(b"SCRAM-SHA-256\0\xff\xff\xff\xff").is_err());
        assert!(body(b"PLAIN\0\0\0\0\x01n").is_err());
        assert!(body(b"").is_err());
    }
}
