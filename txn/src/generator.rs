//! A stream written as an asynchronous function that emits items. The function may borrow from its own state, which
//! a hand-written stream cannot.
//!
//! The reader gets an item in the same poll in which it is emitted. A reader takes a pending stream for one that has
//! to wait, and would move it to other threads.

use futures::Stream;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// An item on its way to the reader.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// The function's handle to emit items.
pub(crate) struct Emitter<T>(Slot<T>);

impl<T> Emitter<T> {
    /// Hands `item` to the reader and waits until the reader asks for the next one. If the reader has gone, the
    /// function is dropped during the wait.
    pub(crate) async fn emit(&mut self, item: T) {
        *self.0.lock() = Some(item);
        let slot = &self.0;
        // No waker is needed: the reader takes the item and polls again when it wants the next.
        std::future::poll_fn(|_| if slot.lock().is_some() { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

/// A stream of the items that `body` emits until it returns. `body` runs only while the stream is polled.
pub(crate) fn generate<T, F, Work>(body: F) -> BoxStream<'static, T>
where
    T: Send + 'static,
    F: FnOnce(Emitter<T>) -> Work,
    Work: Future<Output = ()> + Send + 'static,
{
    let slot = Slot::default();
    let body = Box::pin(body(Emitter(slot.clone())));
    Box::pin(Generated { body: Some(body), slot })
}

struct Generated<T> {
    /// `None` once the function has returned.
    body: Option<BoxFuture<'static, ()>>,
    slot: Slot<T>,
}

impl<T> Stream for Generated<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let ended = body.as_mut().poll(context).is_ready();
        if ended {
            self.body = None;
        }
        match self.slot.lock().take() {
            Some(item) => Poll::Ready(Some(item)),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt, StreamExt};

    #[test]
    fn emits_in_order_and_ends() {
        let stream = generate(|mut out| async move {
            for i in 0..100 {
                out.emit(i).await;
            }
        });
        let all: Vec<i32> = futures::executor::block_on(stream.collect());
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn never_pauses_by_itself() {
        let mut stream = generate(|mut out| async move {
            out.emit(1).await;
            out.emit(2).await;
        });
        assert_eq!(stream.next().now_or_never(), Some(Some(1)));
        assert_eq!(stream.next().now_or_never(), Some(Some(2)));
        assert_eq!(stream.next().now_or_never(), Some(None));
        assert_eq!(stream.next().now_or_never(), Some(None));
    }

    #[test]
    fn waits_where_the_function_waits() {
        let (sender, receiver) = futures::channel::oneshot::channel();
        let mut stream = generate(|mut out| async move {
            if let Ok(item) = receiver.await {
                out.emit(item).await;
            }
        });
        assert_eq!(stream.next().now_or_never(), None);
        assert_eq!(sender.send(5), Ok(()));
        assert_eq!(futures::executor::block_on(stream.collect::<Vec<i32>>()), [5]);
    }

    #[test]
    fn stops_when_not_read() {
        let mut stream = generate(|mut out| async move {
            for i in 0u64.. {
                out.emit(i).await;
            }
        });
        assert_eq!(futures::executor::block_on(stream.next()), Some(0));
        drop(stream);
    }
}
