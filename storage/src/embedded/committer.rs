//! [`CommitterThread`]: the queue before the committer and the one thread that drains it. While a group is
//! written and synced, the next one fills the queue.

use super::log::RocksLog;
use crate::committer::{Answer, Committer, Request};
use crate::env::EnvRef;
use crate::error::StoreError;
use futures::channel::oneshot;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A group is closed when it has this many requests.
const GROUP_REQUESTS: usize = 4096;
/// A group is closed when it adds this many bytes.
const GROUP_BYTES: usize = 16 << 20;

type Waiting = (Request, oneshot::Sender<Answer>);

#[derive(Default)]
struct State {
    requests: VecDeque<Waiting>,
    closed: bool,
    ended: bool,
    /// Why the committer takes no more writes.
    failure: Option<String>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    ended: Condvar,
}

/// A handle on the thread. Dropping it lets the thread finish what was asked, and waits for that.
pub struct CommitterThread {
    queue: Arc<Queue>,
}

impl CommitterThread {
    /// Starts the thread. What is not synced at once is synced within `sync_interval`.
    pub fn start(committer: Committer<RocksLog>, env: &EnvRef, sync_interval: Duration) -> CommitterThread {
        let queue = Arc::new(Queue::default());
        let end = EndGuard(queue.clone());
        let clock = env.clone();
        env.spawn_thread(
            "committer",
            Box::new(move || {
                let end = end;
                run(&end.0, committer, &clock, sync_interval);
            }),
        );
        CommitterThread { queue }
    }

    /// Why no more writes are taken, once a write or sync has failed.
    pub fn failure(&self) -> Option<String> {
        self.queue.state.lock().failure.clone()
    }

    /// Hands a request over; the answer comes when the request is settled.
    pub async fn request(&self, request: Request) -> Answer {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.queue.state.lock();
            if state.closed || state.ended {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
            state.requests.push_back((request, sender));
        }
        self.queue.filled.notify_one();
        receiver.await.unwrap_or_else(|_| Err(StoreError::Undetermined("the committer ended".to_owned())))
    }
}

impl Drop for CommitterThread {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.closed = true;
        self.queue.filled.notify_one();
        while !state.ended {
            self.queue.ended.wait(&mut state);
        }
    }
}

/// However the thread ends, whoever waits for it is told.
struct EndGuard(Arc<Queue>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.ended = true;
        // Dropping their senders answers them.
        state.requests.clear();
        self.0.ended.notify_all();
    }
}

fn run(queue: &Queue, mut committer: Committer<RocksLog>, env: &EnvRef, sync_interval: Duration) {
    let mut sync_at: Option<Duration> = None;
    loop {
        let mut group: Vec<Waiting> = Vec::new();
        {
            let mut state = queue.state.lock();
            while state.requests.is_empty() && !state.closed {
                match sync_at.map(|at| at.saturating_sub(env.monotonic())) {
                    Some(Duration::ZERO) => break,
                    Some(left) => {
                        queue.filled.wait_for(&mut state, left);
                    }
                    None => queue.filled.wait(&mut state),
                }
            }
            let mut bytes = 0;
            while group.len() < GROUP_REQUESTS && bytes < GROUP_BYTES {
                let Some(waiting) = state.requests.pop_front() else { break };
                bytes += waiting.0.added_bytes();
                group.push(waiting);
            }
            if group.is_empty() && state.closed {
                break;
            }
        }
        if !group.is_empty() {
            let (requests, senders): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            let answers = committer.run(&requests);
            for (sender, answer) in senders.into_iter().zip(answers) {
                // Whoever does not wait any longer does not want the answer.
                let _ = sender.send(answer);
            }
        }
        match (committer.needs_sync(), sync_at) {
            (false, _) => sync_at = None,
            (true, None) => sync_at = Some(env.monotonic() + sync_interval),
            (true, Some(at)) if env.monotonic() >= at => {
                sync_at = None;
                // A failure is logged, and stops the committer.
                let _ = committer.sync();
            }
            (true, Some(_)) => {}
        }
        if let Some(why) = committer.stopped() {
            let mut state = queue.state.lock();
            if state.failure.is_none() {
                state.failure = Some(why.to_owned());
            }
        }
    }
    let _ = committer.sync();
}
