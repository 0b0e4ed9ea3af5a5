//! [`ThreadTime`]: the processor time of the calling thread.

use std::time::Duration;

/// A reading of the calling thread's processor time, to compare with a later reading on the same thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTime {
    /// Processor time of the thread.
    computed: Duration,
    /// Number of voluntary context switches, which mean that the thread had to wait.
    waits: i64,
}

impl ThreadTime {
    /// Reads the calling thread's times. `None` if the system does not report them.
    #[cfg(target_os = "linux")]
    pub fn now() -> Option<ThreadTime> {
        let mut computed = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes a timespec to the given address, which is a local variable (clock_gettime(2)).
        let told = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut computed) };
        // SAFETY: a rusage consists of numbers, for which zero is a valid value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: as above, of a rusage (getrusage(2)).
        let used = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        let (seconds, nanos) = (u64::try_from(computed.tv_sec).ok()?, u32::try_from(computed.tv_nsec).ok()?);
        (told == 0 && used == 0).then(|| ThreadTime { computed: Duration::new(seconds, nanos), waits: usage.ru_nvcsw })
    }

    /// `None`, because only Linux reports the times of a thread.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Option<ThreadTime> {
        None
    }

    /// The part of `passed` that the thread itself spent computing or waiting. Time that other threads had while this
    /// one was runnable does not count.
    pub fn taken(&self, passed: Duration) -> Duration {
        match ThreadTime::now() {
            // The length of voluntary waits is unknown, so with waits all of `passed` counts.
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
        // The thread was runnable all the time, according to the reading.
        assert!(before.taken(Duration::from_secs(1000)) < Duration::from_secs(1));
    }
}
