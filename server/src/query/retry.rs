//! Repeats an implicit transaction after a conflict. It does so only while no reply was sent, and only if every
//! statement can run again.

use planner::SqlError;
use planner::session::CancelToken;
use std::time::Duration;

/// Runs of a transaction, at most, including the first one.
const TRIES: u32 = 20;
/// Longest pause between two runs.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// The failed runs of one implicit transaction.
#[derive(Debug, Default)]
pub struct Tries(u32);

impl Tries {
    /// Number of failed runs so far.
    pub fn count(&self) -> u32 {
        self.0
    }

    /// Whether `error` permits another run. Counts the failure and pauses before the next run. The pause is random
    /// within a range that doubles, so that conflicting transactions do not meet again.
    pub async fn again(&mut self, error: &SqlError, cancel: &CancelToken) -> bool {
        self.0 += 1;
        if !error.is_retryable() || self.0 >= TRIES || cancel.is_cancelled() {
            return false;
        }
        let range = Duration::from_micros(500).saturating_mul(1 << self.0.min(16)).min(LONGEST_PAUSE);
        let pause = range.mul_f64(rand::random::<f64>());
        tracing::trace!(tries = self.0, ?pause, "running a conflicting transaction again");
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = cancel.cancelled() => false,
        }
    }
}

/// Whether a command tag names transaction control. After such a command the batch is more than one implicit
/// transaction, so it must not run again.
pub fn is_transaction_control(tag: &str) -> bool {
    matches!(
        tag,
        "BEGIN"
            | "START TRANSACTION"
            | "COMMIT"
            | "ROLLBACK"
            | "SAVEPOINT"
            | "RELEASE"
            | "PREPARE TRANSACTION"
            | "COMMIT PREPARED"
            | "ROLLBACK PREPARED"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn conflicts_are_tried_again_a_bounded_number_of_times() {
        let conflict = SqlError::new("40001", "conflict");
        let (mut tries, cancel) = (Tries::default(), CancelToken::new());
        let mut runs = 1;
        while tries.again(&conflict, &cancel).await {
            runs += 1;
        }
        assert_eq!(runs, TRIES);
        assert!(!Tries::default().again(&SqlError::new("23505", "duplicate"), &cancel).await);
        cancel.cancel();
        assert!(!Tries::default().again(&conflict, &cancel).await);
    }
}
