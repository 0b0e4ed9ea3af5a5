//! [`CommitterThread`]: the queue before the committer, the thread that drains it, and the thread that syncs. While one group is
//! synced, the next are ordered: there is always one sync under way, and it covers all that was written before it began.
//!
//! Who asks for little orders it itself when nobody else is at it, which spares two changes of threads while others may wait
//! for its rows. Otherwise the thread does, and finds all that was asked meanwhile.
//!
//! A thread that asks has others to serve. It orders little requests alone, and it never waits for the log: not for a sync, not
//! for a stall of RocksDB, not for files that are taken in. A group that would have to wait is left to the committer's thread,
//! validated and stamped as it is.

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

/// A group is closed when it has this many requests.
const GROUP_REQUESTS: usize = 4096;
/// A group is closed when it adds this many bytes.
const GROUP_BYTES: usize = 16 << 20;

/// A group that somebody orders on a thread with others to serve is closed when it adds this many bytes.
const OWN_GROUP_BYTES: usize = 256 << 10;

/// Syncs all that was written to the log before. Called from a thread of its own, beside writes.
pub type SyncLog = Box<dyn Fn() -> Result<()> + Send>;

struct Waiting {
    request: Request,
    /// To be told of the commit's place in the log, if it gets one.
    ordered: Option<oneshot::Sender<Timestamp>>,
    answer: oneshot::Sender<Answer>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Waiting>,
    /// A group is left to the thread that has to wait for the log.
    unwritten: bool,
    closed: bool,
    ended: bool,
}

/// Groups that are ordered, oldest first, and those who wait for them.
#[derive(Default)]
struct Unsettled {
    groups: VecDeque<(Settlement, Vec<oneshot::Sender<Answer>>)>,
    /// Whether some of before are being settled.
    busy: bool,
    /// When what nobody waits for has to be synced, by the monotonic clock.
    sync_at: Option<Duration>,
    /// There will be no more groups.
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
    /// What is asked, as much as makes a group. `little`: of little requests, up to the first that is not.
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

    /// A thread ends: no more requests are taken. Before its time, no more writes either.
    fn close(&self) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.closed, true) {
            self.stop.stop(&StoreError::Unavailable("the committer ended before its time".to_owned()));
            self.snapshots.stop();
        }
    }
}

/// Those who asked for a group: to be told of its order, and answered.
struct Asked {
    told: Vec<Option<oneshot::Sender<Timestamp>>>,
    answers: Vec<oneshot::Sender<Answer>>,
}

/// The committer, and who asked for the group that it holds validated and has not written.
struct Ordering<L> {
    committer: Committer<L>,
    unwritten: Option<Asked>,
}

/// The committer, for whoever orders.
struct Orderer<L> {
    ordering: Mutex<Ordering<L>>,
    env: EnvRef,
    /// What is not synced at once is synced within this.
    sync_interval: Duration,
}

/// An [`Orderer`] of any log.
trait Order: Send + Sync {
    /// Orders a group of what is asked, without waiting for the log. False: another is at it, or it is left to the thread.
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

/// Should ordering panic, nothing more is taken: nobody knows what was written.
struct Unfinished<'a>(&'a Queue);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.filled.notify_all();
    }
}

impl<L: CommitLog> Orderer<L> {
    /// Orders the next group. Groups are taken, ordered and handed over under one lock: in one order. `at_once`: on a thread that
    /// does not wait. False: what comes next is left to one that does.
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

    /// Writes what was left by a thread that does not wait.
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
                // Whoever does not wait any longer does not want to know.
                let _ = ordered.send(*timestamp);
            }
        }
        hand_over(queue, settlement, answers, self.env.monotonic() + self.sync_interval);
    }
}

/// A handle on the threads. Dropping it lets them finish what was asked, and waits for that.
pub struct CommitterThread {
    queue: Arc<Queue>,
    /// For who orders itself; `None`: only the thread does.
    orderer: Option<Arc<dyn Order>>,
}

impl CommitterThread {
    /// Starts the threads. What is not synced at once is synced within `sync_interval`.
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
                // Dropped in reverse order: who waits for the end may open the database again.
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

    /// Why no more writes are taken, once a write or sync has failed.
    pub fn failure(&self) -> Option<String> {
        self.queue.stop.why()
    }

    /// Hands a request over; the answer comes when the request is settled. `ordered` is told of a commit's place before that.
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
        // Whoever else is at it may have taken its group already: then the thread comes after it.
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

/// However the thread that orders ends, the other ends after it.
struct OrderGuard(Arc<Queue>);

impl Drop for OrderGuard {
    fn drop(&mut self) {
        self.0.close();
        self.0.unsettled.lock().closed = true;
        self.0.to_settle.notify_all();
    }
}

/// However the thread that settles ends, whoever waits for it is told.
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

/// Orders what is asked, group by group.
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

/// Gives a group to the thread that syncs, or settles it at once when it needs no sync and none before it does. What nobody
/// waits for is synced at `sync_at`.
fn hand_over(queue: &Queue, settlement: Settlement, answers: Vec<oneshot::Sender<Answer>>, sync_at: Duration) {
    let mut unsettled = queue.unsettled.lock();
    let wakes = settlement.wrote && !settlement.sync && unsettled.sync_at.is_none();
    if wakes {
        unsettled.sync_at = Some(sync_at);
    }
    // After a failed sync nothing is known of what was written before: the thread that syncs tells them.
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
        // Whoever does not wait any longer does not want the answer.
        let _ = sender.send(answer);
    }
}

/// Syncs and settles what is ordered, all that there is at a time.
fn settle(queue: &Queue, sync: &SyncLog, env: &EnvRef) {
    // Once a sync has failed nothing is known of what was written, whatever the next one says.
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
                // Whatever is written from now on may be missed by this sync.
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
