//! [`check`] tells whether the statement that computes on this thread must stop. It serves functions that
//! compute long over a few values. Operators check by themselves between rows and batches. Must not know who
//! stops a statement, or why.

use crate::{Result, SqlError};
use datafusion_common_runtime::{JoinSetTracer, set_join_set_tracer};
use datafusion_execution::memory_pool::MemoryPool;
use futures::future::BoxFuture;
use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// The source of stop requests for one statement.
pub trait Interrupt: Send + Sync {
    /// Errors: 57014 or a related code if the statement must stop.
    fn check(&self) -> Result<()>;
    /// The time of the monotonic clock.
    fn monotonic(&self) -> Duration;
    /// The memory pool that large values of the statement count against, if there is one.
    fn memory(&self) -> Option<Arc<dyn MemoryPool>> {
        None
    }
}

tokio::task_local! {
    static CURRENT: Arc<dyn Interrupt>;
}

/// Errors if the statement that computes on this thread must stop. Cheap, except that a time limit costs a
/// look at the clock.
pub fn check() -> Result<()> {
    // The error belongs to no position in the text.
    CURRENT.try_with(|current| current.check()).unwrap_or(Ok(())).map_err(SqlError::of_values)
}

/// The time of the monotonic clock. `None` if no statement computes on this thread.
pub fn monotonic() -> Option<Duration> {
    CURRENT.try_with(|current| current.monotonic()).ok()
}

/// The memory pool of the statement that computes on this thread.
pub fn memory() -> Option<Arc<dyn MemoryPool>> {
    CURRENT.try_with(|current| current.memory()).ok().flatten()
}

/// Steps of a loop between two checks.
const STEPS: usize = 1 << 14;
/// Bytes that a function over bytes processes between two checks.
const CHUNK: usize = 1 << 16;

thread_local! {
    static STEPPED: Cell<usize> = const { Cell::new(0) };
}

/// Counts one step of a long computation. Errors: every 2^14 steps, if the statement on this thread must stop.
pub fn step() -> Result<()> {
    let steps = STEPPED.get() + 1;
    if steps < STEPS {
        STEPPED.set(steps);
        return Ok(());
    }
    STEPPED.set(0);
    check()
}

/// Counts the steps of a loop over one large value, and regularly checks whether the statement must stop.
#[derive(Debug, Default)]
pub struct Steps(usize);

impl Steps {
    /// Counts one step. Errors: if the statement must stop.
    pub fn step(&mut self) -> Result<()> {
        self.many(1)
    }
    /// Counts several steps. Errors: if the statement must stop.
    pub fn many(&mut self, steps: usize) -> Result<()> {
        self.0 = self.0.saturating_add(steps);
        if self.0 < STEPS {
            return Ok(());
        }
        self.0 = 0;
        check()
    }
}

/// Passes bytes to `take` piece by piece. Errors: if the statement must stop.
pub fn in_pieces(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<()> {
    for (number, piece) in bytes.chunks(CHUNK).enumerate() {
        if number > 0 {
            check()?;
        }
        take(piece);
    }
    Ok(())
}

/// Runs a future as part of a statement.
pub fn watched<F: Future>(interrupt: Arc<dyn Interrupt>, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(interrupt, work)
}

/// Calls a function as part of a statement.
pub fn within<T>(interrupt: &Arc<dyn Interrupt>, work: impl FnOnce() -> T) -> T {
    CURRENT.sync_scope(interrupt.clone(), work)
}

/// Binds a future to the statement that computes on this thread, whichever thread polls it.
pub fn passed_on<T: 'static>(work: impl Future<Output = T> + Send + 'static) -> BoxFuture<'static, T> {
    match CURRENT.try_with(Arc::clone) {
        Ok(current) => Box::pin(CURRENT.scope(current, work)),
        Err(_) => Box::pin(work),
    }
}

/// Runs a computation that may take long without a pause. Other tasks of this thread move to other threads.
pub fn long<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The same if the work reads or makes at least `LONG_BYTES`. Smaller work runs directly.
pub fn long_when<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes >= LONG_BYTES { long(work) } else { work() }
}

/// Work over this many bytes takes long compared with a short statement.
const LONG_BYTES: usize = 256 << 10;

/// Runs a future whose polls may each take long. Other tasks of its thread move to other threads.
pub async fn long_polls<F: Future>(work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(move |context| long(|| work.as_mut().poll(context))).await
}

/// Binds the tasks that operators start to the statement that starts them.
struct PassOn;

impl JoinSetTracer for PassOn {
    fn trace_future(&self, work: BoxFuture<'static, Box<dyn Any + Send>>) -> BoxFuture<'static, Box<dyn Any + Send>> {
        passed_on(work)
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        match CURRENT.try_with(Arc::clone) {
            Ok(current) => Box::new(move || within(&current, work)),
            Err(_) => work,
        }
    }
}

/// Installs `PassOn` for the whole process.
pub fn pass_on_to_tasks() {
    // A second call fails because the tracer is already installed.
    let _ = set_join_set_tracer(&PassOn);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::SqlError;
    use datafusion_common_runtime::SpawnedTask;

    struct Stopped;

    impl Interrupt for Stopped {
        fn check(&self) -> Result<()> {
            Err(SqlError::new("57014", "stopped"))
        }
        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_statement_is_told_to_stop_wherever_it_computes() {
        pass_on_to_tasks();
        assert!(check().is_ok());
        let stopped: Arc<dyn Interrupt> = Arc::new(Stopped);
        assert!(within(&stopped, check).is_err());
        let work = async {
            tokio::task::yield_now().await;
            assert!(check().is_err());
            assert!(long(check).is_err());
            assert!(SpawnedTask::spawn(async { check() }).await.unwrap().is_err());
            assert!(SpawnedTask::spawn_blocking(check).await.unwrap().is_err());
            assert!(tokio::spawn(passed_on(async { check() })).await.unwrap().is_err());
        };
        watched(stopped, work).await;
        assert!(check().is_ok());
        assert!(long(check).is_ok());
    }
}
