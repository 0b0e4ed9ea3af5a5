//! [`Clock`]: the oracle's physical clock as one node knows it. Where timestamps are handed out it is the wall clock, but
//! never backwards; elsewhere it goes on from what the oracle last told, and is behind it by no more than an answer's way.

use storage::Env;

/// See the head of the module. Microseconds since the Unix epoch.
pub(super) struct Clock {
    /// Reading at `since`.
    base: u64,
    /// Monotonic reading, in microseconds.
    since: u64,
    /// The greatest reading given: no later one is smaller.
    newest: u64,
}

fn monotonic(env: &dyn Env) -> u64 {
    env.monotonic().as_micros() as u64
}

impl Clock {
    /// A clock that shows `base` now.
    pub(super) fn showing(env: &dyn Env, base: u64) -> Clock {
        Clock { base, since: monotonic(env), newest: base }
    }

    /// Goes on from `base`, whatever it showed.
    pub(super) fn set(&mut self, env: &dyn Env, base: u64) {
        (self.base, self.since) = (base, monotonic(env));
    }

    /// What it shows without the wall clock: what the oracle told, and the time since.
    pub(super) fn carried(&mut self, env: &dyn Env) -> u64 {
        let carried = self.base + monotonic(env).saturating_sub(self.since);
        self.newest = self.newest.max(carried);
        self.newest
    }

    /// What it shows on the node that hands out timestamps: the wall clock where that is not behind.
    pub(super) fn own(&mut self, env: &dyn Env) -> u64 {
        let wall = env.now_micros();
        if wall > self.base + monotonic(env).saturating_sub(self.since) {
            self.set(env, wall);
        }
        self.carried(env)
    }
}
