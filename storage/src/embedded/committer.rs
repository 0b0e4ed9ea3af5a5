//! [`CommitterThread`]: the queue before the committer, the thread that orders groups, and the thread that syncs
//! them. While one group is synced, the next ones are ordered. So one sync is always under way, and it covers
//! everything written before it began.
//!
//! A thread with a little request orders it itself if nobody else is ordering. That saves two thread
//! switches while others may wait for its rows. Otherwise the committer's thread orders it, together
//! with everything queued meanwhile.
//!
//! The requesting thread also serves other clients, so it never waits for the log: neither for a sync, nor for a
//! write stall of RocksDB, nor for files that are ingested. A group that would have to wait is left, validated and
//! stamped, to the committer's thread.

use crate::committer::snapshots::SnapshotRegistry;
use crate::committer::{Answer, CommitLog, Committer, Request, Settlement, Stop};
use crate::env::EnvRef;
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use futures::channel::oneshot;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The most requests in a group.
const GROUP_REQUESTS: usize = 4096;
/// A group takes no further request once it adds this many bytes.
const GROUP_BYTES: usize = 16 << 20;

/// The same limit for a group that is ordered on a requesting thread.
const OWN_GROUP_BYTES: usize = 256 << 10;

/// Syncs everything written to the log before the call. Called from a thread of its own, concurrently with writes.
pub type SyncLog = Box<dyn Fn() -> Result<()> + Send>;

struct Waiting {
    request: Request,
    /// Told the commit's timestamp once the commit is ordered.
    ordered: Option<oneshot::Sender<Timestamp>>,
    answer: oneshot::Sender<Answer>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Waiting>,
    /// A group is validated but not written. The committer's thread must write it before anything else is ordered.
    unwritten: bool,
    closed: bool,
    ended: bool,
}

/// Ordered groups that are not settled yet, oldest first, with their waiting clients.
#[derive(Default)]
struct Unsettled {
    groups: VecDeque<(Settlement, Vec<oneshot::Sender<Answer>>)>,
    /// Whether the syncing thread is settling groups that it has already taken.
    busy: bool,
    /// The deadline for the sync of writes that nobody waits for, by the monotonic clock.
    sync_at: Option<Duration>,
    /// Set when no more groups will come.
    closed: bool,
}

struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    ended: Condvar,
    unsettled: Mutex<Unsettled>,
    to_settle: Condvar,
    stop: Arc<Stop>,
    snapshots: Arc<SnapshotRegistry>,
}

impl Queue {
    /// Takes the next group from the queue. `little`: only little requests, up to the first that is not.
    fn next_group(&self, little: bool) -> Vec<Waiting> {
        let mut state = self.state.lock();
        let (mut group, mut bytes) = (Vec::new(), 0);
        let most = if little { OWN_GROUP_BYTES } else { GROUP_BYTES };
        while group.len() < GROUP_REQUESTS && bytes < most {
            if little && !state.requests.front().is_some_and(|waiting| waiting.request.is_little()) {
                break;
            }
            let Some(waiting) = state.requests.pop_front() else { break };
            bytes += waiting.request.added_bytes();
            group.push(waiting);
        }
        group
    }

    /// Called when a thread ends: no more requests are taken. If it ended too early, no more writes either.
    fn close(&self) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.closed, true) {
            self.stop.stop(&StoreError::Unavailable("the committer ended before its time".to_owned()));
            self.snapshots.stop();
        }
    }
}

/// The clients of a group: channels for its order and for its answers.
struct Asked {
    told: Vec<Option<oneshot::Sender<Timestamp>>>,
    answers: Vec<oneshot::Sender<Answer>>,
}

/// The committer, and the clients of the group that it has validated and not written.
struct Ordering<L> {
    committer: Committer<L>,
    unwritten: Option<Asked>,
}

/// The committer, shared by the threads that order groups.
struct Orderer<L> {
    ordering: Mutex<Ordering<L>>,
    env: EnvRef,
    /// Writes that are not synced at once are synced within this time.
    sync_interval: Duration,
}

/// An [`Orderer`] of any type of log.
trait Order: Send + Sync {
    /// Orders the next group without waiting for the log. False if another thread is ordering, or if the group is
    /// left to the committer's thread.
    fn order_now(&self, queue: &Queue) -> bool;
}

impl<L: CommitLog + Send> Order for Orderer<L> {
    fn order_now(&self, queue: &Queue) -> bool {
        let Some(mut ordering) = self.ordering.try_lock() else { return false };
        if ordering.unwritten.is_some() {
            return false;
        }
        let unfinished = Unfinished(queue);
        let ordered = self.order_group(queue, &mut ordering, true);
        std::mem::forget(unfinished);
        ordered
    }
}

/// Stops the committer if ordering panics, because nobody knows what was written.
struct Unfinished<'a>(&'a Queue);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.filled.notify_all();
    }
}

impl<L: CommitLog> Orderer<L> {
    /// Orders the next group. Groups are taken, ordered and handed over under one lock, so they stay in one order.
    /// `at_once`: on a thread that does not wait for the log. False if the next group is left to a thread that does.
    fn order_group(&self, queue: &Queue, ordering: &mut Ordering<L>, at_once: bool) -> bool {
        let group = queue.next_group(at_once);
        if group.is_empty() {
            return true;
        }
        let (mut requests, mut told, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for Waiting { request, ordered, answer } in group {
            requests.push(request);
            told.push(ordered);
            answers.push(answer);
        }
        let asked = Asked { told, answers };
        let settlement = match at_once {
            true => ordering.committer.order_at_once(&requests),
            false => Some(ordering.committer.order(&requests)),
        };
        let Some(settlement) = settlement else {
            ordering.unwritten = Some(asked);
            queue.state.lock().unwritten = true;
            return false;
        };
        self.tell(queue, settlement, asked);
        true
    }

    /// Writes the group that a thread without waiting left behind.
    fn finish(&self, queue: &Queue, ordering: &mut Ordering<L>) {
        if let Some(asked) = ordering.unwritten.take()
            && let Some(settlement) = ordering.committer.finish()
        {
            self.tell(queue, settlement, asked);
        }
    }

    fn tell(&self, queue: &Queue, settlement: Settlement, Asked { told, answers }: Asked) {
        for (ordered, answer) in told.into_iter().zip(&settlement.answers) {
            if let (Some(ordered), Ok(Ok(timestamp))) = (ordered, answer) {
                // The client may have stopped waiting.
                let _ = ordered.send(*timestamp);
            }
        }
        hand_over(queue, settlement, answers, self.env.monotonic() + self.sync_interval);
    }
}

/// A handle to the threads. Dropping it lets them finish the queued requests, and waits for that.
pub struct CommitterThread {
    queue: Arc<Queue>,
    /// For threads that order their own requests. `None` if only the committer's thread orders.
    orderer: Option<Arc<dyn Order>>,
}

impl CommitterThread {
    /// Starts the threads. Writes that are not synced at once are synced within `sync_interval`.
    pub fn start<L: CommitLog + Send + 'static>(
        committer: Committer<L>,
        sync: SyncLog,
        env: &EnvRef,
        sync_interval: Duration,
    ) -> CommitterThread {
        let queue = Arc::new(Queue {
            state: Mutex::default(),
            filled: Condvar::new(),
            ended: Condvar::new(),
            unsettled: Mutex::default(),
            to_settle: Condvar::new(),
            stop: committer.stop().clone(),
            snapshots: committer.snapshots().clone(),
        });
        let ordering = Mutex::new(Ordering { committer, unwritten: None });
        let orderer = Arc::new(Orderer { ordering, env: env.clone(), sync_interval });
        let (end, own) = (OrderGuard(queue.clone()), orderer.clone());
        env.spawn_thread(
            "committer",
            Box::new(move || {
                // Dropped in reverse order: when the end is signalled, the database must already be released, since
                // the waiter may reopen it.
                let (end, own) = (end, own);
                order(&end.0, &own);
            }),
        );
        let (end, clock) = (SettleGuard(queue.clone()), env.clone());
        env.spawn_thread(
            "log-sync",
            Box::new(move || {
                let (end, sync) = (end, sync);
                settle(&end.0, &sync, &clock);
            }),
        );
        CommitterThread { queue, orderer: Some(orderer) }
    }

    /// The write or sync failure that stopped the committer, if any.
    pub fn failure(&self) -> Option<String> {
        self.queue.stop.why()
    }

    /// Queues a request. The answer comes when the request is settled. `ordered` is told of the
    /// commit's order before that.
    pub async fn request(&self, request: Request, ordered: Option<oneshot::Sender<Timestamp>>) -> Answer {
        let (answer, receiver) = oneshot::channel();
        let little = request.is_little();
        {
            let mut state = self.queue.state.lock();
            if state.closed || state.ended {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
            state.requests.push_back(Waiting { request, ordered, answer });
        }
        let ordered = little && self.orderer.as_ref().is_some_and(|orderer| orderer.order_now(&self.queue));
        // Another thread may already have taken its group, without this request. The committer's
        // thread is then woken.
        if !ordered || !self.queue.state.lock().requests.is_empty() {
            self.queue.filled.notify_one();
        }
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

/// Ends the syncing thread after the ordering thread, however the latter ends.
struct OrderGuard(Arc<Queue>);

impl Drop for OrderGuard {
    fn drop(&mut self) {
        self.0.close();
        self.0.unsettled.lock().closed = true;
        self.0.to_settle.notify_all();
    }
}

/// Answers all waiting clients when the syncing thread ends, however it ends.
struct SettleGuard(Arc<Queue>);

impl Drop for SettleGuard {
    fn drop(&mut self) {
        self.0.close();
        // Dropping their senders answers them.
        self.0.unsettled.lock().groups.clear();
        let mut state = self.0.state.lock();
        state.requests.clear();
        state.ended = true;
        self.0.filled.notify_all();
        self.0.ended.notify_all();
    }
}

/// Orders queued requests, group by group, on the committer's thread.
fn order<L: CommitLog>(queue: &Queue, orderer: &Orderer<L>) {
    loop {
        {
            let mut state = queue.state.lock();
            while state.requests.is_empty() && !state.unwritten && !state.closed {
                queue.filled.wait(&mut state);
            }
            if state.requests.is_empty() && !state.unwritten {
                return;
            }
            state.unwritten = false;
        }
        let mut ordering = orderer.ordering.lock();
        orderer.finish(queue, &mut ordering);
        orderer.order_group(queue, &mut ordering, false);
    }
}

/// Hands a group to the syncing thread. If neither it nor an earlier group needs a sync, settles it at once. Writes
/// that nobody waits for are synced at `sync_at`.
fn hand_over(queue: &Queue, settlement: Settlement, answers: Vec<oneshot::Sender<Answer>>, sync_at: Duration) {
    let mut unsettled = queue.unsettled.lock();
    let wakes = settlement.wrote && !settlement.sync && unsettled.sync_at.is_none();
    if wakes {
        unsettled.sync_at = Some(sync_at);
    }
    // After a failed sync the state of earlier writes is unknown, so the syncing thread answers.
    let failed = queue.stop.why().is_some();
    if !settlement.sync && unsettled.groups.is_empty() && !unsettled.busy && !failed {
        drop(unsettled);
        if wakes {
            queue.to_settle.notify_one();
        }
        send(settlement.settle(&Ok(()), &queue.snapshots), answers);
        return;
    }
    unsettled.groups.push_back((settlement, answers));
    drop(unsettled);
    queue.to_settle.notify_one();
}

fn send(answers: Vec<Answer>, to: Vec<oneshot::Sender<Answer>>) {
    for (sender, answer) in to.into_iter().zip(answers) {
        // The client may have stopped waiting for the answer.
        let _ = sender.send(answer);
    }
}

/// Syncs and settles ordered groups, all available ones at a time.
fn settle(queue: &Queue, sync: &SyncLog, env: &EnvRef) {
    // After a failed sync the state of the writes stays unknown, whatever the next sync answers.
    let mut synced: Result<()> = Ok(());
    loop {
        let (groups, due) = {
            let mut unsettled = queue.unsettled.lock();
            unsettled.busy = false;
            let due = loop {
                let left = unsettled.sync_at.map(|at| at.saturating_sub(env.monotonic()));
                if !unsettled.groups.is_empty() || left == Some(Duration::ZERO) {
                    break left == Some(Duration::ZERO);
                }
                match left {
                    _ if unsettled.closed => break left.is_some(),
                    Some(left) => drop(queue.to_settle.wait_for(&mut unsettled, left)),
                    None => queue.to_settle.wait(&mut unsettled),
                }
            };
            if unsettled.groups.is_empty() && !due {
                return;
            }
            let groups = std::mem::take(&mut unsettled.groups);
            let due = due || groups.iter().any(|(settlement, _)| settlement.sync);
            if due {
                // This sync may miss writes from now on, so they set a new deadline.
                unsettled.sync_at = None;
            }
            unsettled.busy = true;
            (groups, due)
        };
        if due && synced.is_ok() {
            synced = sync();
            if let Err(error) = &synced {
                queue.stop.stop(error);
                queue.snapshots.stop();
            }
        }
        for (settlement, answers) in groups {
            send(settlement.settle(&synced, &queue.snapshots), answers);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
