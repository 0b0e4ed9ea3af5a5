//! SCRAM-SHA-256 verifiers as PostgreSQL stores them (RFC 5802, RFC 7677):
//! `SCRAM-SHA-256$iterations:salt$stored_key:server_key`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;

/// PostgreSQL's default number of iterations.
const ITERATIONS: NonZeroU32 = match NonZeroU32::new(4096) {
    Some(iterations) => iterations,
    None => NonZeroU32::MIN,
};
/// The greatest number of iterations computed synchronously, about a tenth of a second.
const MOST_ITERATIONS: u32 = 500_000;
const PREFIX: &str = "SCRAM-SHA-256$";

/// The verifier of a password. ASCII passwords need no preparation. Others are used as they are, which agrees with
/// SASLprep for text in composed form.
pub fn verifier(password: &str, salt: &[u8]) -> String {
    verifier_of(password, salt, ITERATIONS)
}

/// Whether a verifier is that of the empty password, which is not a valid password. Returns false, without computing
/// it, for very many iterations.
pub fn is_of_empty_password(text: &str) -> bool {
    let parts = || {
        let (iterations, rest) = text.strip_prefix(PREFIX)?.split_once(':')?;
        let salt = STANDARD.decode(rest.split_once('$')?.0).ok()?;
        let iterations = iterations.parse().ok().filter(|count: &NonZeroU32| count.get() <= MOST_ITERATIONS)?;
        Some(verifier_of("", &salt, iterations))
    };
    parts().is_some_and(|empty| empty == text)
}

fn verifier_of(password: &str, salt: &[u8], iterations: NonZeroU32) -> String {
    let mut salted = [0_u8; digest::SHA256_OUTPUT_LEN];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password.as_bytes(), &mut salted);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
    let client_key = hmac::sign(&key, b"Client Key");
    let stored_key = digest::digest(&digest::SHA256, client_key.as_ref());
    let server_key = hmac::sign(&key, b"Server Key");
    format!(
        "{PREFIX}{iterations}:{}${}:{}",
        STANDARD.encode(salt),
        STANDARD.encode(stored_key.as_ref()),
        STANDARD.encode(server_key.as_ref())
    )
}

/// Whether a text is a verifier rather than a password.
pub fn is_verifier(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(PREFIX) else { return false };
    let Some((front, keys)) = rest.split_once('$') else { return false };
    let (Some((iterations, salt)), Some((stored, server))) = (front.split_once(':'), keys.split_once(':')) else {
        return false;
    };
    let is_key = |text: &str| STANDARD.decode(text).is_ok_and(|key| key.len() == digest::SHA256_OUTPUT_LEN);
    iterations.parse::<u32>().is_ok_and(|count| count > 0)
        && STANDARD.decode(salt).is_ok_and(|salt| !salt.is_empty())
        && is_key(stored)
        && is_key(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_7677_example_gives_its_keys() {
        // The password, salt and iteration count of RFC 7677, section 3.
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap_or_default();
        let text = verifier("pencil", &salt);
        assert_eq!(
            text,
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
        assert!(is_verifier(&text));
        assert!(!is_of_empty_password(&text));
        assert!(is_of_empty_password(&verifier("", &salt)));
        assert!(!is_verifier("pencil"));
        assert!(!is_verifier("SCRAM-SHA-256$4096:W22Z"));
    }
}
