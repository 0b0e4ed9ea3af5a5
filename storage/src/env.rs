//! [`Env`]: the only source of time, randomness and background work, so that a simulation can control all three.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A boxed future, as returned by every asynchronous call of the contract.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Time, randomness and spawning.
pub trait Env: Send + Sync + 'static {
    /// The wall clock: microseconds since the Unix epoch. May jump either way.
    fn now_micros(&self) -> u64;
    /// A clock that never goes backwards, since an arbitrary start. It goes on while the machine is suspended,
    /// because leases expire meanwhile.
    fn monotonic(&self) -> Duration;
    /// Sixty-four random bits, for identifiers and jitter.
    fn random(&self) -> u64;
    /// Resolves once `duration` has passed on the monotonic clock.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
    /// Runs `task` to completion in the background.
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>);
    /// Runs blocking `work` to completion on its own thread called `name`.
    fn spawn_thread(&self, name: &'static str, work: Box<dyn FnOnce() + Send + 'static>);
}

/// A shared handle to an [`Env`].
pub type EnvRef = Arc<dyn Env>;

/// The real environment: the operating system's clocks and randomness, and tasks on a tokio runtime.
pub struct SystemEnv {
    runtime: tokio::runtime::Handle,
    started: Duration,
}

/// Time since boot, suspensions included. `Instant` leaves those out.
fn since_boot() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable memory of the size of the structure, and lives as long as the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) } != 0;
    debug_assert!(!failed, "every Linux since 2.6.39 has this clock");
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[allow(clippy::disallowed_methods)] // This is where time comes from.
impl SystemEnv {
    /// An environment whose tasks and timers run on `runtime`.
    pub fn new(runtime: tokio::runtime::Handle) -> Arc<SystemEnv> {
        Arc::new(SystemEnv { runtime, started: since_boot() })
    }

    /// An environment on the current runtime. Errors: the caller does not run inside a runtime.
    pub fn current() -> std::result::Result<Arc<SystemEnv>, tokio::runtime::TryCurrentError> {
        Ok(SystemEnv::new(tokio::runtime::Handle::try_current()?))
    }
}

#[allow(clippy::disallowed_methods)] // This is where time comes from.
impl Env for SystemEnv {
    fn now_micros(&self) -> u64 {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX)
    }
    fn monotonic(&self) -> Duration {
        since_boot().saturating_sub(self.started)
    }
    fn random(&self) -> u64 {
        rand::random()
    }
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let runtime = self.runtime.clone();
        Box::pin(async move {
            // The timer is made inside the runtime, so that threads outside it can wait too.
            let sleep = {
                let _inside = runtime.enter();
                tokio::time::sleep(duration)
            };
            sleep.await;
        })
    }
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        tracing::trace!(name, "spawning a task");
        drop(self.runtime.spawn(task));
    }
    fn spawn_thread(&self, name: &'static str, work: Box<dyn FnOnce() + Send + 'static>) {
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
            // Dropping the work drops its channel ends, which tells the waiters.
            tracing::error!(name, %error, "cannot start a thread");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_and_spawns_from_outside_the_runtime() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let env = SystemEnv::new(runtime.handle().clone());
        let (sender, receiver) = futures::channel::oneshot::channel();
        env.spawn("test", Box::pin(async move { sender.send(1).unwrap() }));
        let before = env.monotonic();
        futures::executor::block_on(env.sleep(Duration::from_millis(5)));
        assert!(env.monotonic() - before >= Duration::from_millis(5));
        assert_eq!(futures::executor::block_on(receiver), Ok(1));
        assert_ne!(env.random(), env.random());
        assert!(env.now_micros() > 1_700_000_000_000_000);
    }
}
