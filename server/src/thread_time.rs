//! [`ThreadTime`]: what the calling thread has taken of a processor.

use std::time::Duration;

/// A reading, to be compared with the time that passes from it on, on the same thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTime {
    /// On a processor.
    computed: Duration,
    /// How often it gave its processor up by itself, for it had to wait.
    waits: i64,
}

impl ThreadTime {
    /// Of the calling thread. `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    pub fn now() -> Option<ThreadTime> {
        let mut computed = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes a timespec where it is told to, and this one is ours (clock_gettime(2)).
        let told = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut computed) };
        // SAFETY: a rusage is numbers alone, of which zeros are as good as any.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: as above, of a rusage (getrusage(2)).
        let used = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        let (seconds, nanos) = (u64::try_from(computed.tv_sec).ok()?, u32::try_from(computed.tv_nsec).ok()?);
        (told == 0 && used == 0).then(|| ThreadTime { computed: Duration::new(seconds, nanos), waits: usage.ru_nvcsw })
    }

    /// Of the calling thread. `None` where the system does not tell.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Option<ThreadTime> {
        None
    }

    /// Of the `passed` time since this reading, what the thread took itself, computing or waiting; not what the system gave to
    /// other threads while it was ready to go on.
    pub fn taken(&self, passed: Duration) -> Duration {
        match ThreadTime::now() {
            // For how long it waited nobody knows.
            Some(now) if now.waits == self.waits => passed.min(now.computed.saturating_sub(self.computed)),
            _ => passed,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn it_tells_computing_and_waiting_from_being_held_up() {
        let (began, before) = (Instant::now(), ThreadTime::now().unwrap());
        while before.taken(began.elapsed()) < Duration::from_millis(3) {}
        assert!(began.elapsed() >= Duration::from_millis(3));
        let (began, before) = (Instant::now(), ThreadTime::now().unwrap());
        std::thread::sleep(Duration::from_millis(3));
        assert!(before.taken(began.elapsed()) >= Duration::from_millis(3));
        let before = ThreadTime::now().unwrap();
        // Ready to go on all the time, as far as the reading knows.
        assert!(before.taken(Duration::from_secs(1000)) < Duration::from_secs(1));
    }
}
