//! [`CommitterThread`]: the queue before the committer, the thread that drains it, and the thread that syncs. While one group is
//! synced, the next are ordered: there is always one sync under way, and it covers all that was written before it began.
//!
//! Who asks for little orders it itself when nobody else is at it, which spares two changes of threads while others may wait
//! for its rows. Otherwise the thread does, and finds all that was asked meanwhile.

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

/// Requests that add more bytes than this are left to the thread: who asks has others to serve.
const OWN_BYTES: usize = 64 << 10;

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
    /// What is asked, as much as makes a group.
    fn next_group(&self) -> Vec<Waiting> {
        let mut state = self.state.lock();
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < GROUP_REQUESTS && bytes < GROUP_BYTES {
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

/// The committer, for whoever orders.
struct Orderer<L> {
    committer: Mutex<Committer<L>>,
    env: EnvRef,
    /// What is not synced at once is synced within this.
    sync_interval: Duration,
}

/// An [`Orderer`] of any log.
trait Order: Send + Sync {
    /// Orders a group of what is asked, unless another is at it.
    fn order_now(&self, queue: &Queue) -> bool;
}

impl<L: CommitLog + Send> Order for Orderer<L> {
    fn order_now(&self, queue: &Queue) -> bool {
        let Some(mut committer) = self.committer.try_lock() else { return false };
        let unfinished = Unfinished(queue);
        self.order_group(queue, &mut committer);
        std::mem::forget(unfinished);
        true
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
    /// Orders the next group. Groups are taken, ordered and handed over under the committer's lock: in one order.
    fn order_group(&self, queue: &Queue, committer: &mut Committer<L>) {
        let group = queue.next_group();
        if group.is_empty() {
            return;
        }
        let (mut requests, mut told, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for Waiting { request, ordered, answer } in group {
            requests.push(request);
            told.push(ordered);
            answers.push(answer);
        }
        let settlement = committer.order(&requests);
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
        let orderer = Arc::new(Orderer { committer: Mutex::new(committer), env: env.clone(), sync_interval });
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
        let little = request.added_bytes() <= OWN_BYTES && !request.is_long();
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
            while state.requests.is_empty() && !state.closed {
                queue.filled.wait(&mut state);
            }
            if state.requests.is_empty() {
                return;
            }
        }
        orderer.order_group(queue, &mut orderer.committer.lock());
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
mod tests {
    use super::*;
    use crate::bulk::PreparedCells;
    use crate::committer::{LogRecord, Recovered, VersionReader};
    use crate::contract::{CommitBatch, Family, RowRange, TimestampRange};
    use crate::embedded::tests::env;
    use crate::env::BoxFuture;
    use crate::error::Result;
    use crate::testing::{CountingTimestamps, contract};
    use crate::timestamp::Timestamp;
    use futures::FutureExt;
    use futures::executor::block_on;
    use futures::future::join_all;
    use std::sync::mpsc;

    /// What reached the log: the number of changes, or a sync.
    #[derive(Debug, PartialEq, Eq)]
    enum Event {
        Write(usize),
        Sync,
    }

    struct Recorder {
        events: mpsc::Sender<Event>,
        /// Each write waits for one of these, which says whether it succeeds.
        permits: mpsc::Receiver<bool>,
    }

    struct Nothing;

    impl VersionReader for Nothing {
        fn versions(
            &mut self,
            _: &[u8],
            _: Family,
            _: TimestampRange,
            _: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
        ) -> Result<()> {
            Ok(())
        }
        fn rows(&mut self, _: &RowRange, _: Family, _: &mut dyn FnMut(&[u8], Timestamp, &[u8]) -> bool) -> Result<()> {
            Ok(())
        }
    }

    impl CommitLog for Recorder {
        type Reader<'a> = Nothing;
        fn reader(&self) -> Nothing {
            Nothing
        }
        fn reserve(&self, _: u64) -> Result<()> {
            Ok(())
        }
        fn write(&mut self, record: &LogRecord<'_>, sync: bool) -> Result<()> {
            assert!(!sync, "another thread syncs");
            let success = self.permits.recv().unwrap();
            self.events.send(Event::Write(record.changes.len())).unwrap();
            success.then_some(()).ok_or_else(|| StoreError::Io("broken".to_owned()))
        }
        fn sync(&mut self) -> Result<()> {
            panic!("another thread syncs");
        }
        fn take_in(&mut self, _: &[PreparedCells], _: Timestamp, _: &LogRecord<'_>) -> Result<()> {
            panic!("nothing is prepared");
        }
    }

    struct Harness {
        /// Each sync waits for one, as writes do, as long as this is there.
        syncs: mpsc::Sender<bool>,
        /// Its requests are left to the thread, unless it is given the next.
        thread: CommitterThread,
        orderer: Option<Arc<dyn Order>>,
        permits: mpsc::Sender<bool>,
        events: mpsc::Receiver<Event>,
        snapshots: Arc<SnapshotRegistry>,
    }

    fn start() -> Harness {
        let ((events, seen), (permits, waiting)) = (mpsc::channel(), mpsc::channel());
        let (syncs, awaited) = mpsc::channel::<bool>();
        let snapshots = SnapshotRegistry::new(Timestamp::ZERO);
        let source = Arc::new(CountingTimestamps::after(Timestamp(10)));
        let log = Recorder { events: events.clone(), permits: waiting };
        let sync = move || {
            let success = awaited.recv().unwrap_or(true);
            let _ = events.send(Event::Sync);
            success.then_some(()).ok_or_else(|| StoreError::Io("broken".to_owned()))
        };
        let committer = Committer::new(log, source, snapshots.clone(), Recovered::default(), 1 << 20);
        let mut thread = CommitterThread::start(committer, Box::new(sync), &env(), Duration::from_millis(50));
        let orderer = thread.orderer.take();
        Harness { syncs, thread, orderer, permits, events: seen, snapshots }
    }

    fn batch(key: &str, durable: bool) -> Request {
        Request::Commit(CommitBatch { durable, ..contract::batch(&[key], Timestamp::MAX, "v") })
    }

    impl Harness {
        /// Hands a request over and lets it be written. Answers what tells of its order, and the answer to come.
        fn ask(&self, key: &str, durable: bool) -> (oneshot::Receiver<Timestamp>, BoxFuture<'_, Answer>) {
            let (ordered, told) = oneshot::channel();
            let mut answer = self.thread.request(batch(key, durable), Some(ordered)).boxed();
            assert!(poll(&mut answer).is_pending());
            self.permits.send(true).unwrap();
            (told, answer)
        }
    }

    fn poll(answer: &mut BoxFuture<'_, Answer>) -> std::task::Poll<Answer> {
        answer.poll_unpin(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }

    #[test]
    fn the_next_are_ordered_while_one_is_synced() {
        let harness = start();
        let (first, mut one) = harness.ask("a", true);
        assert_eq!(block_on(first), Ok(Timestamp(11)));
        // The sync of the first is under way, or about to be.
        let (second, mut two) = harness.ask("b", true);
        assert_eq!(block_on(second), Ok(Timestamp(12)));
        let (third, mut three) = harness.ask("c", false);
        assert_eq!(block_on(third), Ok(Timestamp(13)));
        assert_eq!(harness.snapshots.ordered_snapshot().timestamp(), Timestamp(13));
        assert!(poll(&mut one).is_pending() && poll(&mut two).is_pending());
        // It needs no sync, but it may not be seen before those that do.
        assert!(poll(&mut three).is_pending());
        assert_eq!(harness.snapshots.published(), Timestamp::ZERO);
        harness.syncs.send(true).unwrap();
        assert_eq!(block_on(one), Ok(Ok(Timestamp(11))));
        harness.syncs.send(true).unwrap();
        assert_eq!(block_on(join_all([two, three])), [Ok(Ok(Timestamp(12))), Ok(Ok(Timestamp(13)))]);
        assert_eq!(harness.snapshots.published(), Timestamp(13));
    }

    #[test]
    fn who_asks_for_little_orders_it_itself() {
        let mut harness = start();
        harness.thread.orderer = harness.orderer.take();
        harness.permits.send(true).unwrap();
        let (ordered, mut told) = oneshot::channel();
        let mut answer = harness.thread.request(batch("a", true), Some(ordered)).boxed();
        assert!(poll(&mut answer).is_pending());
        // No thread had a hand in it.
        assert_eq!(told.try_recv(), Ok(Some(Timestamp(11))));
        let long = Request::Commit(contract::batch(&["b"], Timestamp::MAX, &"v".repeat(OWN_BYTES)));
        let mut thread = harness.thread.request(long, None).boxed();
        assert!(poll(&mut thread).is_pending());
        // While the thread is at it, the next is left to it.
        let mut third = harness.thread.request(batch("c", true), None).boxed();
        while !harness.thread.queue.state.lock().requests.is_empty() {
            std::thread::yield_now();
        }
        assert!(poll(&mut third).is_pending());
        (0..2).for_each(|_| harness.permits.send(true).unwrap());
        (0..3).for_each(|_| harness.syncs.send(true).unwrap());
        assert!(block_on(join_all([answer, thread, third])).iter().all(|answer| matches!(answer, Ok(Ok(_)))));
    }

    #[test]
    fn one_who_dies_ordering_ends_it_for_all() {
        let mut harness = start();
        harness.thread.orderer = harness.orderer.take();
        drop(harness.permits);
        let ask = || block_on(harness.thread.request(batch("a", true), None));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).is_err());
        let answer = block_on(harness.thread.request(batch("b", true), None));
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
        assert!(harness.thread.failure().is_some());
    }

    #[test]
    fn those_who_wait_for_one_sync_share_the_next() {
        let harness = start();
        let (_, one) = harness.ask("a", true);
        assert_eq!(harness.events.recv().unwrap(), Event::Write(1));
        let rest: Vec<_> = ["b", "c", "d"].map(|key| harness.ask(key, true).1).into_iter().collect();
        let mut written = 0;
        while written < 3 {
            let Event::Write(count) = harness.events.recv().unwrap() else { panic!("synced without leave") };
            written += count;
        }
        harness.syncs.send(true).unwrap();
        harness.syncs.send(true).unwrap();
        assert!(block_on(one).unwrap().is_ok());
        assert!(block_on(join_all(rest)).iter().all(|answer| matches!(answer, Ok(Ok(_)))));
        let left: Vec<Event> = harness.events.try_iter().collect();
        // The first may have waited for the others.
        assert!(left.len() <= 2 && left.iter().all(|event| *event == Event::Sync), "{left:?}");
    }

    #[test]
    fn what_did_not_wait_is_synced_soon() {
        let harness = start();
        let began = env();
        let before = began.monotonic();
        let (_, answer) = harness.ask("a", false);
        assert_eq!(block_on(answer), Ok(Ok(Timestamp(11))));
        assert_eq!(harness.snapshots.published(), Timestamp(11));
        assert_eq!(harness.events.recv().unwrap(), Event::Write(1));
        harness.syncs.send(true).unwrap();
        assert_eq!(harness.events.recv_timeout(Duration::from_secs(5)).unwrap(), Event::Sync);
        assert!(began.monotonic() - before >= Duration::from_millis(50));
        assert!(harness.events.recv_timeout(Duration::from_millis(100)).is_err(), "nothing more to sync");
    }

    #[test]
    fn nobody_sees_a_write_that_failed() {
        let harness = start();
        harness.permits.send(false).unwrap();
        let answer = block_on(harness.thread.request(batch("a", true), None));
        assert!(matches!(answer, Err(StoreError::Undetermined(_))));
        assert_eq!(harness.snapshots.published(), Timestamp::ZERO);
        let answer = block_on(harness.thread.request(batch("b", true), None));
        assert!(matches!(answer, Err(StoreError::ReadOnly(_))));
        assert!(harness.thread.failure().is_some());
    }

    #[test]
    fn a_sync_that_failed_leaves_all_behind_it_unknown() {
        let harness = start();
        let (first, one) = harness.ask("a", true);
        let (second, two) = harness.ask("b", true);
        assert_eq!((block_on(first), block_on(second)), (Ok(Timestamp(11)), Ok(Timestamp(12))));
        harness.syncs.send(false).unwrap();
        // Should there be a second one, it does not help.
        let _ = harness.syncs.send(true);
        for answer in block_on(join_all([one, two])) {
            assert!(matches!(answer, Err(StoreError::Undetermined(_))), "{answer:?}");
        }
        assert_eq!(harness.snapshots.published(), Timestamp::ZERO);
        assert!(block_on(harness.snapshots.when_published(Timestamp(11))).is_err());
        assert!(matches!(block_on(harness.thread.request(batch("c", true), None)), Err(StoreError::ReadOnly(_))));
        assert!(harness.thread.failure().is_some());
    }

    #[test]
    fn a_thread_that_dies_answers_everybody() {
        let harness = start();
        // The log panics when it cannot wait for permits any more.
        drop(harness.permits);
        let answer = block_on(harness.thread.request(batch("a", true), None));
        assert!(matches!(answer, Err(StoreError::Undetermined(_))));
        let answer = block_on(harness.thread.request(batch("b", true), None));
        assert!(matches!(answer, Err(StoreError::Unavailable(_) | StoreError::Undetermined(_))));
        assert!(harness.thread.failure().is_some());
    }
}
