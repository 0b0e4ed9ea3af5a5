//! Tests of the committer's threads over a log that waits for permission to write and to sync.

use super::*;
use crate::bulk::PreparedCells;
use crate::committer::{LITTLE_BYTES, LogRecord, Recovered, VersionReader};
use crate::contract::{CommitBatch, Family, RowRange, TimestampRange};
use crate::embedded::tests::env;
use crate::env::BoxFuture;
use crate::error::Result;
use crate::testing::{CountingTimestamps, contract};
use crate::timestamp::Timestamp;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join_all;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// An event at the log: a write with its number of changes, or a sync.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Write(usize),
    Sync,
}

struct Recorder {
    events: mpsc::Sender<Event>,
    /// Each write waits for a permit, which says whether the write succeeds.
    permits: mpsc::Receiver<bool>,
    /// While set, a write that must not wait is refused.
    stalled: Arc<AtomicBool>,
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
    fn write_at_once(&mut self, record: &LogRecord<'_>) -> Result<bool> {
        if self.stalled.load(Ordering::SeqCst) { Ok(false) } else { self.write(record, false).map(|()| true) }
    }
    fn sync(&mut self) -> Result<()> {
        panic!("another thread syncs");
    }
    fn take_in(&mut self, _: &[PreparedCells], _: Timestamp, _: &LogRecord<'_>) -> Result<()> {
        panic!("nothing is prepared");
    }
}

struct Harness {
    /// Permits for syncs, as for writes. Without a sender, syncs need no permit.
    syncs: mpsc::Sender<bool>,
    /// Leaves all requests to the committer's thread, unless a test gives it `orderer`.
    thread: CommitterThread,
    orderer: Option<Arc<dyn Order>>,
    permits: mpsc::Sender<bool>,
    stalled: Arc<AtomicBool>,
    events: mpsc::Receiver<Event>,
    snapshots: Arc<SnapshotRegistry>,
}

fn start() -> Harness {
    let ((events, seen), (permits, waiting)) = (mpsc::channel(), mpsc::channel());
    let (syncs, awaited) = mpsc::channel::<bool>();
    let snapshots = SnapshotRegistry::new(Timestamp::ZERO);
    let source = Arc::new(CountingTimestamps::after(Timestamp(10)));
    let stalled = Arc::new(AtomicBool::new(false));
    let log = Recorder { events: events.clone(), permits: waiting, stalled: stalled.clone() };
    let sync = move || {
        let success = awaited.recv().unwrap_or(true);
        let _ = events.send(Event::Sync);
        success.then_some(()).ok_or_else(|| StoreError::Io("broken".to_owned()))
    };
    let committer = Committer::new(log, source, snapshots.clone(), Recovered::default(), 1 << 20);
    let mut thread = CommitterThread::start(committer, Box::new(sync), &env(), Duration::from_millis(50));
    let orderer = thread.orderer.take();
    Harness { syncs, thread, orderer, permits, stalled, events: seen, snapshots }
}

fn batch(key: &str, durable: bool) -> Request {
    Request::Commit(CommitBatch { durable, ..contract::batch(&[key], Timestamp::MAX, "v") })
}

impl Harness {
    /// Queues a request and permits its write. Returns the channel for its order, and the pending answer.
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
    // The sync of the first commit is under way, or about to be.
    let (second, mut two) = harness.ask("b", true);
    assert_eq!(block_on(second), Ok(Timestamp(12)));
    let (third, mut three) = harness.ask("c", false);
    assert_eq!(block_on(third), Ok(Timestamp(13)));
    assert_eq!(harness.snapshots.ordered_snapshot().timestamp(), Timestamp(13));
    assert!(poll(&mut one).is_pending() && poll(&mut two).is_pending());
    // This commit needs no sync, but must not be visible before earlier commits that do.
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
    // No thread switch was needed.
    assert_eq!(told.try_recv(), Ok(Some(Timestamp(11))));
    let long = Request::Commit(contract::batch(&["b"], Timestamp::MAX, &"v".repeat(LITTLE_BYTES)));
    let mut thread = harness.thread.request(long, None).boxed();
    assert!(poll(&mut thread).is_pending());
    // While the committer's thread is busy, the next request is left to it.
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
fn a_log_that_would_have_to_wait_is_left_to_the_thread() {
    let mut harness = start();
    harness.thread.orderer = harness.orderer.take();
    harness.stalled.store(true, Ordering::SeqCst);
    // Neither request waits for the log, whose writes are permitted below.
    let (ordered, mut told) = oneshot::channel();
    let mut first = harness.thread.request(batch("a", true), Some(ordered)).boxed();
    assert!(poll(&mut first).is_pending());
    harness.stalled.store(false, Ordering::SeqCst);
    let mut second = harness.thread.request(batch("a", true), None).boxed();
    assert!(poll(&mut second).is_pending());
    assert_eq!(told.try_recv(), Ok(None));
    harness.permits.send(true).unwrap();
    assert_eq!(block_on(told), Ok(Timestamp(11)));
    harness.permits.send(true).unwrap();
    (0..2).for_each(|_| harness.syncs.send(true).unwrap());
    assert_eq!(block_on(join_all([first, second])), [Ok(Ok(Timestamp(11))), Ok(Ok(Timestamp(12)))]);
    assert_eq!(harness.snapshots.published(), Timestamp(12));
}

#[test]
fn what_takes_long_is_not_ordered_by_who_asks_for_little() {
    let queue = Queue {
        state: Mutex::default(),
        filled: Condvar::new(),
        ended: Condvar::new(),
        unsettled: Mutex::default(),
        to_settle: Condvar::new(),
        stop: Arc::default(),
        snapshots: SnapshotRegistry::new(Timestamp::ZERO),
    };
    let long = Request::Commit(contract::batch(&["b"], Timestamp::MAX, &"v".repeat(LITTLE_BYTES)));
    for request in [batch("a", true), long, batch("c", true)] {
        let (answer, _) = oneshot::channel();
        queue.state.lock().requests.push_back(Waiting { request, ordered: None, answer });
    }
    let sizes = [true, true, false, true].map(|little| queue.next_group(little).len());
    assert_eq!(sizes, [1, 0, 2, 0]);
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
    // The first sync may have waited for the other groups.
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
    // A second sync would not help.
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
    // Without permits the log panics.
    drop(harness.permits);
    let answer = block_on(harness.thread.request(batch("a", true), None));
    assert!(matches!(answer, Err(StoreError::Undetermined(_))));
    let answer = block_on(harness.thread.request(batch("b", true), None));
    assert!(matches!(answer, Err(StoreError::Unavailable(_) | StoreError::Undetermined(_))));
    assert!(harness.thread.failure().is_some());
}
