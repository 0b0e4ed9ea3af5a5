//! [`check`]: whether the statement that computes on this thread is to stop, for functions that compute long over a few values;
//! between rows and batches operators look for themselves.

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

/// Who knows whether a statement is to stop.
pub trait Interrupt: Send + Sync {
    /// Errors: 57014 and its kin, when it is.
    fn check(&self) -> Result<()>;
    /// The monotonic clock.
    fn monotonic(&self) -> Duration;
    /// The memory that large values of the statement count against, if they do.
    fn memory(&self) -> Option<Arc<dyn MemoryPool>> {
        None
    }
}

tokio::task_local! {
    static CURRENT: Arc<dyn Interrupt>;
}

/// Errors when the statement that computes on this thread is to stop. Cheap, but for a look at the clock where there is a
/// time limit.
pub fn check() -> Result<()> {
    // It is about no place in the text.
    CURRENT.try_with(|current| current.check()).unwrap_or(Ok(())).map_err(SqlError::of_values)
}

/// The monotonic clock; none where no statement computes on this thread.
pub fn monotonic() -> Option<Duration> {
    CURRENT.try_with(|current| current.monotonic()).ok()
}

/// The memory of the statement that computes on this thread.
pub fn memory() -> Option<Arc<dyn MemoryPool>> {
    CURRENT.try_with(|current| current.memory()).ok().flatten()
}

/// Steps of a loop between two looks.
const STEPS: usize = 1 << 14;
/// Bytes that a function of bytes takes at a time.
const CHUNK: usize = 1 << 16;

thread_local! {
    static STEPPED: Cell<usize> = const { Cell::new(0) };
}

/// One step of something long, wherever it is. Errors: now and then, when the statement that computes on this thread is to stop.
pub fn step() -> Result<()> {
    let steps = STEPPED.get() + 1;
    if steps < STEPS {
        STEPPED.set(steps);
        return Ok(());
    }
    STEPPED.set(0);
    check()
}

/// Counts the steps of a loop over one large value, and looks now and then whether the statement is to stop.
#[derive(Debug, Default)]
pub struct Steps(usize);

impl Steps {
    /// One more. Errors: when the statement is to stop.
    pub fn step(&mut self) -> Result<()> {
        self.many(1)
    }
    /// Some more. Errors: when the statement is to stop.
    pub fn many(&mut self, steps: usize) -> Result<()> {
        self.0 = self.0.saturating_add(steps);
        if self.0 < STEPS {
            return Ok(());
        }
        self.0 = 0;
        check()
    }
}

/// Takes bytes piece by piece. Errors: when the statement is to stop.
pub fn in_pieces(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<()> {
    for (number, piece) in bytes.chunks(CHUNK).enumerate() {
        if number > 0 {
            check()?;
        }
        take(piece);
    }
    Ok(())
}

/// Runs a future of a statement.
pub fn watched<F: Future>(interrupt: Arc<dyn Interrupt>, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(interrupt, work)
}

/// Calls a function of a statement.
pub fn within<T>(interrupt: &Arc<dyn Interrupt>, work: impl FnOnce() -> T) -> T {
    CURRENT.sync_scope(interrupt.clone(), work)
}

/// A future that belongs to the statement that computes on this thread, wherever it runs.
pub fn passed_on<T: 'static>(work: impl Future<Output = T> + Send + 'static) -> BoxFuture<'static, T> {
    match CURRENT.try_with(Arc::clone) {
        Ok(current) => Box::pin(CURRENT.scope(current, work)),
        Err(_) => Box::pin(work),
    }
}

/// Computes what may take long without a pause: others need not wait for this thread.
pub fn long<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The same for work over so many bytes, or that makes them, when those are many.
pub fn long_when<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes >= LONG_BYTES { long(work) } else { work() }
}

/// Bytes that take long, beside what a short statement takes.
const LONG_BYTES: usize = 256 << 10;

/// A future each of whose polls may take long: others need not wait for its thread.
pub async fn long_polls<F: Future>(work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(move |context| long(|| work.as_mut().poll(context))).await
}

/// Tasks that operators start belong to the statement that starts them.
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

/// From now on it is so for the whole process.
pub fn pass_on_to_tasks() {
    // Who is second finds it done.
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
