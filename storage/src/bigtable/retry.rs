//! Classifies failed calls and decides how long to wait before a repetition. Pure functions.

use crate::error::StoreError;
use std::error::Error;
use std::time::Duration;
use tonic::{Code, ConnectError, Status};

/// The first pause before a repetition. Each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause before a repetition.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The consequence of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The attempt did not reach the server. Repeat it.
    NotSent,
    /// The attempt may have taken effect. Repeat it and remember that.
    Unknown,
    /// The server refused the attempt, which has no effect.
    Refused,
}

/// Classifies a failed attempt.
pub fn verdict(status: &Status) -> Verdict {
    let mut cause: Option<&(dyn Error + 'static)> = status.source();
    while let Some(error) = cause {
        if error.downcast_ref::<ConnectError>().is_some() {
            return Verdict::NotSent;
        }
        cause = error.source();
    }
    match status.code() {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::Aborted
        | Code::Cancelled
        | Code::Internal
        | Code::ResourceExhausted => Verdict::Unknown,
        // An error of the transport has a cause; a status from the server has none.
        _ if status.source().is_some() => Verdict::Unknown,
        Code::Unknown if status.message().contains("not ready") => Verdict::NotSent,
        _ => Verdict::Refused,
    }
}

/// The pause after `failures` failed attempts. It doubles each time, and half of it is drawn from `random`, so that
/// callers that failed together do not return together.
pub fn pause(failures: u32, random: u64) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    let half = whole / 2;
    half + half.mul_f64((random % 1000) as f64 / 1000.0)
}

/// The store's error for a call that finally failed. `maybe_done`: an attempt may have taken effect.
pub fn store_error(what: &str, status: &Status, maybe_done: bool) -> StoreError {
    let text = format!("{what}: {}: {}", status.code(), status.message());
    if maybe_done {
        return StoreError::Undetermined(text);
    }
    match status.code() {
        Code::NotFound => StoreError::Format(format!(
            "{text}; does the table exist? `percosql init-store bigtable://PROJECT/INSTANCE/TABLE` makes it"
        )),
        Code::PermissionDenied | Code::Unauthenticated => StoreError::Io(format!("access to Bigtable: {text}")),
        Code::OutOfRange => StoreError::TooLarge(text),
        // A row, a filter or a key is too large. The message says which.
        Code::InvalidArgument | Code::FailedPrecondition
            if ["exceed", "too large", "too long", "limit"].iter().any(|word| status.message().contains(word)) =>
        {
            StoreError::TooLarge(text)
        }
        _ if verdict(status) == Verdict::Refused => StoreError::Io(text),
        _ => StoreError::Unavailable(text),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_server_refused_is_final() {
        assert_eq!(verdict(&Status::invalid_argument("x")), Verdict::Refused);
        assert_eq!(verdict(&Status::unavailable("x")), Verdict::Unknown);
        assert_eq!(verdict(&Status::unknown("bad timestamp")), Verdict::Refused);
        let broken = std::io::Error::other("broken pipe");
        assert_eq!(verdict(&Status::from_error(Box::new(broken))), Verdict::Unknown);
        let down = ConnectError(Box::new(std::io::Error::other("refused")));
        assert_eq!(verdict(&Status::from_error(Box::new(down))), Verdict::NotSent);
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        assert!(pause(1, 0) >= FIRST_PAUSE / 2 && pause(1, 999) <= FIRST_PAUSE);
        assert!(pause(5, 0) > pause(1, 999));
        assert!(pause(99, 999) <= LONGEST_PAUSE && pause(99, 0) >= LONGEST_PAUSE / 2);
    }

    #[test]
    fn limits_of_the_server_are_told_as_such() {
        let limit = Status::invalid_argument("Row key size exceeds the limit");
        assert!(matches!(store_error("read", &limit, false), StoreError::TooLarge(_)));
        assert!(matches!(store_error("read", &limit, true), StoreError::Undetermined(_)));
        assert!(matches!(store_error("read", &Status::unavailable(""), false), StoreError::Unavailable(_)));
    }
}
