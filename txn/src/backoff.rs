//! [`Backoff`]: how long a writer waits for another's lock, or for a store that does not answer, before it gives up.

use std::time::Duration;
use storage::EnvRef;

const FIRST_MICROS: u64 = 500;
const LONGEST_MICROS: u64 = 50_000;

/// Growing, jittered pauses with a limit in all.
pub(crate) struct Backoff {
    env: EnvRef,
    attempt: u32,
    limit: Duration,
    left: Duration,
    /// Monotonic time from which on there is no more pause.
    end: Option<Duration>,
}

impl Backoff {
    /// Pauses that add up to at most `limit`.
    pub(crate) fn new(env: EnvRef, limit: Duration) -> Self {
        Backoff { env, attempt: 0, limit, left: limit, end: None }
    }

    /// Pauses within `limit` from now, what is tried between them included: a call that nobody answers takes long itself.
    pub(crate) fn within(env: EnvRef, limit: Duration) -> Self {
        let end = env.monotonic().saturating_add(limit);
        Backoff { end: Some(end), ..Backoff::new(env, limit) }
    }

    /// How long it has paused in all.
    pub(crate) fn waited(&self) -> Duration {
        self.limit.saturating_sub(self.left)
    }

    /// Waits a little longer than last time. False, at once, when the limit is reached.
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
