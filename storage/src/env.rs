//! [`Env`]: the one place from which time, randomness and background work come, so that a
//! simulation can hold all three. Must not know rows, transactions or SQL.

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
    /// A clock that never goes backwards, since an arbitrary start.
    fn monotonic(&self) -> Duration;
    /// Sixty-four random bits.
    fn random(&self) -> u64;
    /// Resolves after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
    /// Runs `task` to its end in the background.
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>);
    /// Runs `work`, which blocks, on a thread of its own called `name`, to its end.
    fn spawn_thread(&self, name: &'static str, work: Box<dyn FnOnce() + Send + 'static>);
}

/// Shared handle to an [`Env`].
pub type EnvRef = Arc<dyn Env>;
