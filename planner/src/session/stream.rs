//! [`guard`]: stops a row stream when its statement is cancelled or takes too long.

use super::cancel::CancelToken;
use crate::error::{Result, SqlError, state};
use crate::interrupt::{Interrupt, watched, within};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures::Stream;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use storage::env::EnvRef;

/// The limits of a statement: cancellation, deadlines and memory.
#[derive(Clone)]
pub struct Limits {
    cancel: CancelToken,
    env: EnvRef,
    /// The statement's deadline, by the monotonic clock.
    deadline: Option<Duration>,
    /// The transaction's deadline, by the monotonic clock.
    transaction_end: Option<Duration>,
    memory: Option<Arc<dyn MemoryPool>>,
}

impl Limits {
    /// The limits of a statement that starts now.
    pub fn new(cancel: CancelToken, env: EnvRef, timeout: Option<Duration>) -> Self {
        let deadline = timeout.map(|timeout| env.monotonic() + timeout);
        Limits { cancel, env, deadline, transaction_end: None, memory: None }
    }
    /// Adds the transaction's deadline, by the monotonic clock. Reaching it ends the connection.
    #[must_use]
    pub fn within(mut self, end: Option<Duration>) -> Self {
        self.transaction_end = end;
        self
    }
    /// Adds the memory pool that the statement's large values count against.
    #[must_use]
    pub fn counting(mut self, memory: Arc<dyn MemoryPool>) -> Self {
        self.memory = Some(memory);
        self
    }
    /// The statement's deadline, by the monotonic clock.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }
    /// Resolves to the error to report once the statement must stop.
    pub async fn reached(self) -> SqlError {
        let Limits { cancel, env, deadline, transaction_end, memory: _ } = self;
        let until = |end: Option<Duration>| {
            let left = end.map(|end| env.sleep(end.saturating_sub(env.monotonic())));
            async move {
                match left {
                    Some(left) => left.await,
                    None => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = cancel.cancelled() => cancelled(),
            () = until(transaction_end) => transaction_timeout(),
            () = until(deadline) => timed_out(),
        }
    }
    /// Runs `work` until it ends or the statement must stop.
    pub async fn run<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        if self.cancel.is_cancelled() {
            return Err(self.clone().reached().await);
        }
        tokio::select! {
            biased;
            result = watched(Arc::new(self.clone()), work) => result,
            error = self.clone().reached() => Err(error),
        }
    }
}

impl Interrupt for Limits {
    fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        if self.deadline.is_none() && self.transaction_end.is_none() {
            return Ok(());
        }
        let now = self.env.monotonic();
        let over = |end: Option<Duration>| end.is_some_and(|end| end <= now);
        if over(self.transaction_end) {
            return Err(transaction_timeout());
        }
        if over(self.deadline) { Err(timed_out()) } else { Ok(()) }
    }
    fn monotonic(&self) -> Duration {
        self.env.monotonic()
    }
    fn memory(&self) -> Option<Arc<dyn MemoryPool>> {
        self.memory.clone()
    }
}

fn cancelled() -> SqlError {
    SqlError::new(state::QUERY_CANCELED, "canceling statement due to user request")
}

fn timed_out() -> SqlError {
    SqlError::new(state::QUERY_CANCELED, "canceling statement due to statement timeout")
}

/// The error that ends the connection of a transaction that took too long.
pub fn transaction_timeout() -> SqlError {
    SqlError::new(state::TRANSACTION_TIMEOUT, "terminating connection due to transaction timeout")
}

/// Applies limits to a stream.
pub fn guard(stream: SendableRecordBatchStream, limits: &Limits) -> SendableRecordBatchStream {
    let schema = stream.schema();
    Box::pin(Guarded { stream: Some(stream), limits: Arc::new(limits.clone()), reached: None, schema })
}

struct Guarded {
    stream: Option<SendableRecordBatchStream>,
    limits: Arc<Limits>,
    /// Created when the stream first has to wait. Most streams never wait.
    reached: Option<Pin<Box<dyn Future<Output = SqlError> + Send>>>,
    schema: SchemaRef,
}

impl Stream for Guarded {
    type Item = DataFusionResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Guarded { stream, limits, reached, .. } = &mut *self;
        let interrupt: Arc<dyn Interrupt> = limits.clone();
        let Some(rows) = stream else { return Poll::Ready(None) };
        let stopped = match limits.check() {
            Err(error) => error,
            Ok(()) => match within(&interrupt, || rows.as_mut().poll_next(context)) {
                Poll::Ready(item) => return Poll::Ready(item),
                Poll::Pending => {
                    let reached = reached.get_or_insert_with(|| Box::pin(limits.as_ref().clone().reached()));
                    futures::ready!(reached.as_mut().poll(context))
                }
            },
        };
        *stream = None;
        Poll::Ready(Some(Err(stopped.into())))
    }
}

impl RecordBatchStream for Guarded {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::Schema;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use futures::StreamExt;
    use storage::env::SystemEnv;

    fn endless(limits: &Limits) -> SendableRecordBatchStream {
        let stream = futures::stream::pending();
        guard(Box::pin(RecordBatchStreamAdapter::new(Arc::new(Schema::empty()), stream)), limits)
    }

    async fn message(stream: &mut SendableRecordBatchStream) -> String {
        let error: SqlError = stream.next().await.unwrap().unwrap_err().into();
        assert_eq!(error.state(), "57014");
        assert!(stream.next().await.is_none());
        error.fields().message.clone()
    }

    #[tokio::test]
    async fn a_stream_ends_at_its_limits() {
        let env = SystemEnv::current().unwrap();
        let cancel = CancelToken::new();
        let limits = Limits::new(cancel.clone(), env.clone(), Some(Duration::from_millis(5)));
        assert_eq!(message(&mut endless(&limits)).await, "canceling statement due to statement timeout");
        let mut stream = endless(&Limits::new(cancel.clone(), env, None));
        let canceller = tokio::spawn(async move { cancel.cancel() });
        assert_eq!(message(&mut stream).await, "canceling statement due to user request");
        canceller.await.unwrap();
    }
}
