//! [`detached`]: a row stream that moves to a thread of its own once it takes long.
//!
//! A short query ends before its first pause and runs on the caller's thread. A stream that pauses takes long or waits
//! for the store. It continues on another thread, whose rows come through a channel of one batch. Meanwhile the caller
//! can react to a cancel request, a timeout or a disconnect. Dropping the stream ends the computation at its next
//! pause.
//!
//! It gets a thread, not a task. A join may compute for seconds without a pause. The operating system shares the
//! processors fairly among threads, as it does among PostgreSQL's server processes.

use super::slots::{Running, Slots};
pub use context::workers::Workers;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures::future::{AbortHandle, Abortable};
use futures::{Stream, StreamExt};
use sql_error::SqlError;
use sql_error::interrupt::passed_on;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Batches that the channel holds.
const WAITING: usize = 1;

/// Moves `stream`, of a plan that runs in `slots`, to `workers` when it pauses for the first time, or `at_once`.
pub fn detached(
    stream: SendableRecordBatchStream,
    workers: &Workers,
    slots: &Slots,
    at_once: bool,
) -> SendableRecordBatchStream {
    let schema = stream.schema();
    let state = State::Here { stream, running: slots.running() };
    let mut detached = Detached { state, workers: workers.clone(), schema };
    if at_once {
        detached.leave();
    }
    Box::pin(detached)
}

enum State {
    Here { stream: SendableRecordBatchStream, running: Running },
    There { rows: mpsc::Receiver<Message>, task: AbortHandle },
    Over,
}

/// A message from the computing thread.
enum Message {
    Rows(Result<RecordBatch>),
    /// The stream has ended. Without this message, the computation has panicked.
    End,
}

struct Detached {
    state: State,
    workers: Workers,
    schema: SchemaRef,
}

impl Detached {
    /// Polls the stream on the caller's thread.
    fn poll_here(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let State::Here { stream, .. } = &mut self.state else { return Poll::Ready(None) };
        let item = self.workers.enter(|| stream.as_mut().poll_next(context));
        if item.is_ready() {
            return item;
        }
        self.leave();
        match self.state {
            State::There { .. } => self.poll_there(context),
            _ => Poll::Pending,
        }
    }

    /// Moves the stream to a thread, if a runtime has one.
    fn leave(&mut self) {
        let Some(handle) = self.workers.handle() else { return };
        if let State::Here { stream, running } = std::mem::replace(&mut self.state, State::Over) {
            tracing::trace!("a stream leaves for the threads of long computations");
            let (sender, rows) = mpsc::channel(WAITING);
            let (task, registration) = AbortHandle::new_pair();
            let work = Abortable::new(passed_on(send_all(stream, running, sender)), registration);
            let runtime = handle.clone();
            // After an abort nobody waits for the end. After a panic no end is sent, and the receiver reports that.
            drop(handle.spawn_blocking(move || runtime.block_on(work)));
            self.state = State::There { rows, task };
        }
    }

    fn poll_there(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let State::There { rows, .. } = &mut self.state else { return Poll::Ready(None) };
        let message = futures::ready!(rows.poll_recv(context));
        if matches!(message, Some(Message::Rows(Ok(_)))) {
            let Some(Message::Rows(rows)) = message else { return Poll::Ready(None) };
            return Poll::Ready(Some(rows));
        }
        self.state = State::Over;
        Poll::Ready(match message {
            Some(Message::Rows(rows)) => Some(rows),
            Some(Message::End) => None,
            None => Some(Err(SqlError::internal("a computation ended in the middle").into())),
        })
    }
}

async fn send_all(stream: SendableRecordBatchStream, running: Running, sender: mpsc::Sender<Message>) {
    // A local variable is dropped before `running`, even on abort.
    let mut stream = stream;
    let last = loop {
        match stream.next().await {
            Some(Ok(rows)) => {
                if sender.send(Message::Rows(Ok(rows))).await.is_err() {
                    return;
                }
            }
            Some(error) => break Message::Rows(error),
            None => break Message::End,
        }
    };
    // Drop both first: the receiver of the last message may run the plan again at once.
    drop(stream);
    drop(running);
    let _ = sender.send(last).await;
}

impl Stream for Detached {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.state {
            State::Here { .. } => self.poll_here(context),
            State::There { .. } => self.poll_there(context),
            State::Over => Poll::Ready(None),
        }
    }
}

impl RecordBatchStream for Detached {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if let State::There { task, .. } = &self.state {
            task.abort();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::Schema;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use std::time::{Duration, Instant};

    fn stream(work: impl Stream<Item = Result<RecordBatch>> + Send + 'static) -> SendableRecordBatchStream {
        Box::pin(RecordBatchStreamAdapter::new(Arc::new(Schema::empty()), work))
    }

    fn empty() -> RecordBatch {
        RecordBatch::new_empty(Arc::new(Schema::empty()))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_waits_is_free_while_a_computation_blocks() {
        let blocking = futures::stream::once(async {
            super::super::interrupt::pause().await;
            std::thread::sleep(Duration::from_secs(2));
            Ok(empty())
        });
        let slots = Slots::new();
        let mut rows = detached(stream(blocking), &Workers::default(), &slots, false);
        let begin = Instant::now();
        assert!(tokio::time::timeout(Duration::from_millis(50), rows.next()).await.is_err());
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        assert!(slots.is_running());
        drop(rows);
        while slots.is_running() {
            assert!(begin.elapsed() < Duration::from_secs(20), "the task was not aborted");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn rows_and_errors_arrive_in_order_and_an_early_end_is_an_error() {
        let slots = Slots::new();
        let slow = futures::stream::iter(0..3).then(|number| async move {
            super::super::interrupt::pause().await;
            if number == 2 { Err(SqlError::new("22012", "division by zero").into()) } else { Ok(empty()) }
        });
        let mut rows = detached(stream(slow), &Workers::default(), &slots, false);
        assert!(rows.next().await.unwrap().is_ok());
        assert!(rows.next().await.unwrap().is_ok());
        let error: SqlError = rows.next().await.unwrap().unwrap_err().into();
        assert_eq!(error.state(), "22012");
        assert!(rows.next().await.is_none());
        drop(rows);

        let dies = futures::stream::once(async {
            super::super::interrupt::pause().await;
            panic!("on purpose")
        });
        let mut rows = detached(stream(dies), &Workers::default(), &slots, false);
        let error: SqlError = rows.next().await.unwrap().unwrap_err().into();
        assert_eq!(error.state(), "XX000");
        assert!(rows.next().await.is_none());
    }

    #[tokio::test]
    async fn what_never_pauses_stays_where_it_is() {
        let slots = Slots::new();
        let thread = std::thread::current().id();
        let short = futures::stream::iter(0..3).map(move |_| {
            assert_eq!(std::thread::current().id(), thread);
            Ok(empty())
        });
        let mut rows = detached(stream(short), &Workers::default(), &slots, false);
        while let Some(batch) = rows.next().await {
            batch.unwrap();
        }
    }
}
