//! What a failed call means, and how long to wait before it is made again. Pure.

use crate::error::StoreError;
use std::error::Error;
use std::time::Duration;
use tonic::{Code, ConnectError, Status};

/// First wait before a call is repeated; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Longest wait before a call is repeated.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What to do about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did not reach the server: repeat it.
    NotSent,
    /// It may have been done: repeat it, and remember.
    Unknown,
    /// The server refused it: it was not done, and never will be.
    Refused,
}

/// Looks at a failed attempt.
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
        // What the transport below reports has a cause; what the server says has none.
        _ if status.source().is_some() => Verdict::Unknown,
        Code::Unknown if status.message().contains("not ready") => Verdict::NotSent,
        _ => Verdict::Refused,
    }
}

/// The wait before the attempt after `failures` failed ones: doubled each time, half of it drawn from `random`, so
/// that those who failed together do not come back together.
pub fn pause(failures: u32, random: u64) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    let half = whole / 2;
    half + half.mul_f64((random % 1000) as f64 / 1000.0)
}

/// The store's error for a call that failed for good. `maybe_done`: an attempt may have had its effect.
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
        // The size of a row, of a filter, of a key: the message says which.
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
