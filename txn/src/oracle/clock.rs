//! [`Clock`]: the oracle's physical clock as one node knows it. Where timestamps are handed out it is the wall clock, but
//! never backwards; elsewhere it goes on from what the oracle last told, and is behind it by no more than an answer's way.
//!
//! When the wall clock jumps ahead, or when the wall clock of a node that becomes the oracle is ahead of what the one before told,
//! this clock does not jump: it runs twice as fast until it is there. So what expires by it (locks, the age of versions) has half its
//! time at least, and never none.

use storage::Env;

/// How far the wall clock may be ahead to be followed at once: microseconds.
const STEP: u64 = 1_000_000;
/// A jump of more than this is told: microseconds.
const TOLD: u64 = 10_000_000;

/// See the head of the module. Microseconds since the Unix epoch.
pub(super) struct Clock {
    /// Reading at `since`.
    base: u64,
    /// Monotonic reading, in microseconds.
    since: u64,
    /// The greatest reading given: no later one is smaller.
    newest: u64,
    /// The wall clock is far ahead, and it was told.
    told: bool,
}

fn monotonic(env: &dyn Env) -> u64 {
    env.monotonic().as_micros() as u64
}

impl Clock {
    /// A clock that shows `base` now.
    pub(super) fn showing(env: &dyn Env, base: u64) -> Clock {
        Clock { base, since: monotonic(env), newest: base, told: false }
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
        let (wall, since) = (env.now_micros(), monotonic(env).saturating_sub(self.since));
        let ahead = wall.saturating_sub(self.base + since);
        // A clock that was never told anything has nothing to go on from.
        if self.base == 0 || (ahead > 0 && ahead <= STEP) {
            self.set(env, wall);
            self.told = false;
        } else if ahead > 0 {
            if ahead > TOLD && !std::mem::replace(&mut self.told, true) {
                tracing::warn!(
                    seconds = ahead / 1_000_000,
                    "the system clock jumped ahead: timestamps follow it at twice the speed of time"
                );
            }
            self.set(env, self.base + since + since.min(ahead));
        }
        self.carried(env)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use storage::testing::SimEnv;

    #[test]
    fn a_jump_ahead_is_followed_at_twice_the_speed() {
        let env = SimEnv::new(1);
        let mut clock = Clock::showing(&*env, 0);
        assert_eq!(clock.own(&*env), env.now_micros(), "the first time at once");
        let before = clock.own(&*env);
        env.jump_wall_clock(3_660_000_000);
        assert_eq!(clock.own(&*env), before);
        for second in 1..=100 {
            env.advance(Duration::from_secs(1));
            assert_eq!(clock.own(&*env), before + second * 2_000_000);
        }
        env.advance(Duration::from_secs(4000));
        assert_eq!(clock.own(&*env), env.now_micros());
        env.jump_wall_clock(900_000);
        assert_eq!(clock.own(&*env), env.now_micros(), "a small step");
        let newest = clock.own(&*env);
        env.jump_wall_clock(-60_000_000);
        assert_eq!(clock.own(&*env), newest);
    }
}
