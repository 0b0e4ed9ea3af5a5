//! A stream written as an asynchronous function that emits items: the function may borrow from
//! what it owns, which a hand-written stream cannot. Must not know what flows through it.

use futures::channel::mpsc;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, SinkExt, StreamExt};
use std::future::Future;

/// Where the function puts its items.
pub(crate) struct Emitter<T>(mpsc::Sender<T>);

impl<T> Emitter<T> {
    /// Hands `item` to the reader and waits until there is room for the next. False when nobody
    /// reads any more.
    pub(crate) async fn emit(&mut self, item: T) -> bool {
        self.0.send(item).await.is_ok()
    }
}

/// The items that `body` emits, in order, until it returns. It runs only while it is read.
pub(crate) fn generate<T, F, Work>(body: F) -> BoxStream<'static, T>
where
    T: Send + 'static,
    F: FnOnce(Emitter<T>) -> Work,
    Work: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(0);
    let driver = body(Emitter(sender)).into_stream().filter_map(|()| std::future::ready(None));
    stream::select(receiver, driver).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emits_in_order_and_ends() {
        let stream = generate(|mut out| async move {
            for i in 0..100 {
                if !out.emit(i).await {
                    return;
                }
            }
        });
        let all: Vec<i32> = futures::executor::block_on(stream.collect());
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn stops_when_not_read() {
        let mut stream = generate(|mut out| async move {
            let mut i = 0u64;
            while out.emit(i).await {
                i += 1;
            }
        });
        assert_eq!(futures::executor::block_on(stream.next()), Some(0));
        drop(stream);
    }
}
