//! [`Clock`]: the oracle's physical clock as one node knows it. On the node that hands out timestamps it is the
//! wall clock, but never goes backwards. Elsewhere it continues from the oracle's last answer, and lags by at most
//! the answer's travel time.
//!
//! The clock does not jump. The wall clock may jump ahead, or a new oracle's wall clock may be ahead of the one
//! before. Then this clock runs twice as fast until it has caught up. So whatever expires by it (locks, the age of
//! versions) has at least half of its time.

use storage::Env;

/// How far the wall clock may be ahead to be followed at once, in microseconds.
const STEP: u64 = 1_000_000;
/// A jump of more than this is logged, in microseconds.
const TOLD: u64 = 10_000_000;

/// A clock in microseconds since the Unix epoch. See the module documentation.
pub(super) struct Clock {
    /// The reading at the monotonic time `since`.
    base: u64,
    /// A monotonic time, in microseconds.
    since: u64,
    /// The greatest reading given. Later ones are not smaller.
    newest: u64,
    /// Whether it was logged that the wall clock is far ahead.
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

    /// Sets the clock to `base`, whatever it showed before.
    pub(super) fn set(&mut self, env: &dyn Env, base: u64) {
        (self.base, self.since) = (base, monotonic(env));
    }

    /// The reading without the wall clock: the oracle's last answer plus the time since.
    pub(super) fn carried(&mut self, env: &dyn Env) -> u64 {
        let carried = self.base + monotonic(env).saturating_sub(self.since);
        self.newest = self.newest.max(carried);
        self.newest
    }

    /// The reading on the node that hands out timestamps: the wall clock, unless that is behind.
    pub(super) fn own(&mut self, env: &dyn Env) -> u64 {
        let (wall, since) = (env.now_micros(), monotonic(env).saturating_sub(self.since));
        let ahead = wall.saturating_sub(self.base + since);
        // A clock that was never set has nothing to continue from.
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
