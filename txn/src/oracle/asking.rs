//! Asks another node for timestamps. One call at a time asks for all waiting requests. A request that comes meanwhile
//! waits for the next call. No timestamp is requested ahead of need or kept.

use super::election::{Election, Role};
use super::{Oracle, OracleReading, unavailable};
use crate::error::Result;
use crate::locks::{LockReply, LockRequest};
use futures::channel::oneshot;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{BoxFuture, Timestamp};

/// How long a request waits for a timestamp: longer than an election takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time limit of one call before the next is made.
const ATTEMPT: Duration = Duration::from_secs(1);
/// Pause between calls that fail.
const PAUSE: Duration = Duration::from_millis(20);
/// The most timestamps of one call.
const MAX_COUNT: u64 = 100_000;

/// A request for timestamps from another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleRequest {
    /// The asked tenure, from the row of the lease. Only that tenure may answer.
    pub tenure: u64,
    /// How many consecutive timestamps are wanted.
    pub count: u64,
}

/// The network between nodes.
pub trait OracleTransport: Send + Sync + 'static {
    /// Calls [`Oracle::serve`] of the node at `address` (`HOST:PORT`), and answers the first of the timestamps.
    /// Errors are messages: there was no answer, or a refusal.
    fn ask(
        &self,
        address: &str,
        request: OracleRequest,
    ) -> BoxFuture<'static, std::result::Result<OracleReading, String>>;

    /// Calls [`Oracle::serve_locks`] of the node at `address`. If the future is dropped, the call should be
    /// dropped there too, so that no caller waits in a queue after it has gone. Errors are messages: there was no
    /// answer, or a refusal.
    fn ask_for_locks(
        &self,
        address: &str,
        request: LockRequest,
    ) -> BoxFuture<'static, std::result::Result<LockReply, String>>;
}

/// A request that waits for a timestamp.
struct Waiter {
    /// The start of the wait, by the monotonic clock.
    since: Duration,
    answer: oneshot::Sender<OracleReading>,
}

/// The requests that wait for timestamps.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    requests: Vec<Waiter>,
    /// Whether a task attends to the queue.
    attended: bool,
    /// The error of the last call.
    why: String,
}

impl Waiting {
    /// Removes requests that have waited too long or were dropped.
    fn let_go(&mut self, now: Duration) {
        self.requests.retain(|waiter| now.saturating_sub(waiter.since) < PATIENCE && !waiter.answer.is_canceled());
    }
}

impl Oracle {
    /// Answers another node. If the answer is delayed after this point, its timestamps were still assigned in time.
    /// Errors are messages: this node does not hold that tenure.
    pub async fn serve(&self, request: OracleRequest) -> std::result::Result<OracleReading, String> {
        let holder = match self.election.as_ref().map(Election::role) {
            Some(Role::Holder(row)) => row.tenure == request.tenure,
            _ => false,
        };
        if !holder {
            return Err("this node is not the oracle that was asked for".to_owned());
        }
        if request.count > MAX_COUNT {
            return Err(format!("{} timestamps in one call are more than {MAX_COUNT}", request.count));
        }
        self.take_here(request.count).await.map_err(|error| error.to_string())
    }

    /// A timestamp from this node if it is the oracle, or else from the oracle's node.
    pub(super) async fn ask(&self, election: &Election) -> Result<OracleReading> {
        if let Ok((reading, true, _)) = self.try_take(1) {
            return Ok(reading);
        }
        let (answer, receiver) = oneshot::channel();
        // The attending task looks for requests that waited too long. A timer for each would cost more than all else.
        let since = self.env.monotonic();
        {
            let mut waiting = election.queue.state.lock();
            waiting.requests.push(Waiter { since, answer });
            if !std::mem::replace(&mut waiting.attended, true)
                && let Some(this) = self.this.upgrade()
            {
                self.env.spawn("oracle-asking", Box::pin(async move { this.attend().await }));
            }
        }
        if let Ok(reading) = receiver.await {
            return Ok(reading);
        }
        if self.env.monotonic().saturating_sub(since) >= PATIENCE {
            let why = election.queue.state.lock().why.clone();
            return Err(unavailable(&format!("no timestamp could be had for {} s: {why}", PATIENCE.as_secs())));
        }
        let failure = election.failure.lock().clone();
        Err(unavailable(&failure.unwrap_or_else(|| "this node is stopping".to_owned())))
    }

    /// Answers the waiting requests until there are none.
    async fn attend(&self) {
        let Some(election) = &self.election else { return };
        loop {
            let mut batch = {
                let mut waiting = election.queue.state.lock();
                waiting.let_go(self.env.monotonic());
                let left = matches!(*election.role.lock(), Role::Left);
                if waiting.requests.is_empty() || left {
                    waiting.requests.clear();
                    waiting.attended = false;
                    return;
                }
                let most = waiting.requests.len().min(MAX_COUNT as usize);
                waiting.requests.drain(..most).collect::<Vec<_>>()
            };
            let mut changes = election.changes.subscribe();
            match self.obtain(election, batch.len() as u64).await {
                Ok(first) => {
                    for (at, request) in (0..).zip(batch) {
                        // The requester may have gone away.
                        let timestamp = Timestamp(first.timestamp.0 + at);
                        let _ = request.answer.send(OracleReading { timestamp, ..first });
                    }
                }
                Err(why) => {
                    tracing::debug!(why, "asking for timestamps again");
                    {
                        let mut waiting = election.queue.state.lock();
                        batch.append(&mut waiting.requests);
                        waiting.requests = batch;
                        waiting.why = why;
                    }
                    election.look_soon();
                    select(pin!(changes.changed()), self.env.sleep(PAUSE)).await;
                }
            }
        }
    }

    /// Makes one attempt to get `count` timestamps, here or from the oracle's node.
    async fn obtain(&self, election: &Election, count: u64) -> std::result::Result<OracleReading, String> {
        let mut changes = election.changes.subscribe();
        let row = match election.role() {
            Role::Holder(_) => return self.take_here(count).await.map_err(|error| error.to_string()),
            Role::Other { row, .. } => row,
            Role::Nobody | Role::Left => return Err("no node is the oracle yet".to_owned()),
        };
        if row.address.is_empty() {
            return Err(format!("{} hands out timestamps and was started without --advertise", row.name));
        }
        // Later requests must get timestamps above all that were received until now.
        let before = self.last();
        let call = election.transport.ask(&row.address, OracleRequest { tenure: row.tenure, count });
        let ended = async {
            let changed = async {
                // The sender lives in the election.
                let _ = changes.changed().await;
            };
            select(self.env.sleep(ATTEMPT), pin!(changed)).await;
        };
        let answer = match select(call, pin!(ended)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err("no answer in time".to_owned()),
        };
        let first = answer.map_err(|why| format!("{} at {}: {why}", row.name, row.address))?;
        if first.timestamp <= before {
            let why = format!("timestamps go backwards: {before}, then {} from {}", first.timestamp, row.name);
            election.fail(why.clone());
            return Err(why);
        }
        let mut state = self.state.lock();
        state.last = state.last.max(first.timestamp.0 + count - 1);
        state.clock.set(&*self.env, first.physical_micros);
        self.locked.store(first.locked, Ordering::Relaxed);
        Ok(first)
    }
}
