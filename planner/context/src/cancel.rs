//! [`CancelToken`] tells a statement to stop. Must not know who asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Shared between the session that runs statements and those who may cancel them. A cancelled token stays cancelled
/// until [`CancelToken::reset`]. The server resets it when it takes up a client's next message after being idle.
/// `Session::fail` and `Session::end_implicit` reset it too.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    wake: Notify,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }
    /// Cancels the current work.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.wake.notify_waiters();
    }
    /// Forgets an earlier request.
    pub fn reset(&self) {
        self.0.cancelled.store(false, Ordering::SeqCst);
    }
    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }
    /// Resolves once the token is cancelled, immediately if it already is.
    pub async fn cancelled(&self) {
        loop {
            let woken = self.0.wake.notified();
            tokio::pin!(woken);
            // The waiter registers before it reads the flag. Otherwise it could miss a request made in between.
            woken.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            woken.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_waiter_sees_a_request_made_before_or_after() {
        let token = CancelToken::new();
        let other = token.clone();
        let waiter = tokio::spawn(async move { other.cancelled().await });
        tokio::task::yield_now().await;
        token.cancel();
        assert!(waiter.await.is_ok());
        token.cancelled().await;
        token.reset();
        assert!(!token.is_cancelled());
    }
}
