//! [`check`]: whether the statement that computes on this thread is to stop, for functions that compute long over a few values;
//! between rows and batches operators look for themselves. Must not know who stops it, or why.

use crate::error::Result;
use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::future::BoxFuture;
use std::any::Any;
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
}

tokio::task_local! {
    static CURRENT: Arc<dyn Interrupt>;
}

/// Errors when the statement that computes on this thread is to stop. Cheap, but for a look at the clock where there is a
/// time limit.
pub fn check() -> Result<()> {
    CURRENT.try_with(|current| current.check()).unwrap_or(Ok(()))
}

/// The monotonic clock; none where no statement computes on this thread.
pub fn monotonic() -> Option<Duration> {
    CURRENT.try_with(|current| current.monotonic()).ok()
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
    use crate::error::SqlError;
    use datafusion::common::runtime::SpawnedTask;

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
