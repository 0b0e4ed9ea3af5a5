//! [`Backoff`]: pauses between the attempts of a writer, up to a total time. The writer waits for a lock, or for a
//! store that does not answer.

use std::time::Duration;
use storage::EnvRef;

const FIRST_MICROS: u64 = 500;
const LONGEST_MICROS: u64 = 50_000;

/// Growing, jittered pauses with a limit on their total.
pub(crate) struct Backoff {
    env: EnvRef,
    attempt: u32,
    limit: Duration,
    left: Duration,
    /// The monotonic time after which there is no more pause.
    end: Option<Duration>,
}

impl Backoff {
    /// Pauses that add up to `limit` at most.
    pub(crate) fn new(env: EnvRef, limit: Duration) -> Self {
        Backoff { env, attempt: 0, limit, left: limit, end: None }
    }

    /// Pauses that end `limit` from now. Unlike [`Backoff::new`] this includes the attempts, which
    /// may take long themselves.
    pub(crate) fn within(env: EnvRef, limit: Duration) -> Self {
        let end = env.monotonic().saturating_add(limit);
        Backoff { end: Some(end), ..Backoff::new(env, limit) }
    }

    /// The total time paused so far.
    pub(crate) fn waited(&self) -> Duration {
        self.limit.saturating_sub(self.left)
    }

    /// Pauses a little longer than last time. Answers false at once when the limit is reached.
    pub(crate) async fn pause(&mut self) -> bool {
        if self.left.is_zero() || self.end.is_some_and(|end| self.env.monotonic() >= end) {
            return false;
        }
        let ceiling = FIRST_MICROS.saturating_mul(1 << self.attempt.min(10)).min(LONGEST_MICROS);
        let micros = ceiling / 2 + self.env.random() % (ceiling / 2 + 1);
        let pause = Duration::from_micros(micros).min(self.left);
        self.left = self.left.saturating_sub(pause);
        self.attempt += 1;
        self.env.sleep(pause).await;
        true
    }
}
