//! [`CommitterThread`]: the queue before the committer and the one thread that drains it. While a group is
//! written and synced, the next one fills the queue.

use crate::committer::{Answer, CommitLog, Committer, Request};
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
    pub fn start<L: CommitLog + Send + 'static>(
        committer: Committer<L>,
        env: &EnvRef,
        sync_interval: Duration,
    ) -> CommitterThread {
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
        if !state.closed && state.failure.is_none() {
            state.failure = Some("the committer ended before its time".to_owned());
        }
        // Dropping their senders answers them.
        state.requests.clear();
        self.0.ended.notify_all();
    }
}

fn run<L: CommitLog>(queue: &Queue, mut committer: Committer<L>, env: &EnvRef, sync_interval: Duration) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::committer::snapshots::SnapshotRegistry;
    use crate::committer::{LogRecord, Recovered, VersionReader};
    use crate::contract::{CommitBatch, Family, RowRange, TimestampRange};
    use crate::embedded::tests::env;
    use crate::error::Result;
    use crate::testing::{CountingTimestamps, contract};
    use crate::timestamp::Timestamp;
    use futures::executor::block_on;
    use futures::future::join_all;
    use std::sync::mpsc;

    /// What reached the log: the number of changes and whether they were synced, or a sync.
    #[derive(Debug, PartialEq, Eq)]
    enum Event {
        Write(usize, bool),
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
            let success = self.permits.recv().unwrap();
            self.events.send(Event::Write(record.changes.len(), sync)).unwrap();
            success.then_some(()).ok_or_else(|| StoreError::Io("broken".to_owned()))
        }
        fn sync(&mut self) -> Result<()> {
            self.events.send(Event::Sync).unwrap();
            Ok(())
        }
    }

    struct Harness {
        thread: CommitterThread,
        permits: mpsc::Sender<bool>,
        events: mpsc::Receiver<Event>,
        snapshots: Arc<SnapshotRegistry>,
    }

    fn start() -> Harness {
        let ((events, seen), (permits, waiting)) = (mpsc::channel(), mpsc::channel());
        let snapshots = SnapshotRegistry::new(Timestamp::ZERO);
        let source = Arc::new(CountingTimestamps::after(Timestamp(10)));
        let log = Recorder { events, permits: waiting };
        let committer = Committer::new(log, source, snapshots.clone(), Recovered::default(), 1 << 20);
        let thread = CommitterThread::start(committer, &env(), Duration::from_millis(50));
        Harness { thread, permits, events: seen, snapshots }
    }

    fn batch(key: &str, durable: bool) -> Request {
        Request::Commit(CommitBatch { durable, ..contract::batch(&[key], Timestamp::MAX, "v") })
    }

    #[test]
    fn a_group_fills_while_the_one_before_is_written() {
        let harness = start();
        let asked = ["a", "b", "c", "d"].map(|key| harness.thread.request(batch(key, key != "d")));
        let mut asked = join_all(asked);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::Pin::new(&mut asked).poll(&mut context).is_pending());
        harness.permits.send(true).unwrap();
        let Event::Write(first, true) = harness.events.recv().unwrap() else { panic!() };
        if first < 4 {
            harness.permits.send(true).unwrap();
            // Everything that came meanwhile, with one sync.
            assert_eq!(harness.events.recv().unwrap(), Event::Write(4 - first, true));
        }
        let answers = block_on(asked);
        assert_eq!(
            answers.iter().map(|answer| answer.clone().unwrap().unwrap().0).collect::<Vec<_>>(),
            [11, 12, 13, 14]
        );
        assert!(harness.events.try_recv().is_err());
    }

    #[test]
    fn what_did_not_wait_is_synced_soon() {
        let harness = start();
        let began = env();
        let before = began.monotonic();
        harness.permits.send(true).unwrap();
        let answer = block_on(harness.thread.request(batch("a", false)));
        assert_eq!(answer, Ok(Ok(Timestamp(11))));
        assert_eq!(harness.snapshots.published(), Timestamp(11));
        assert_eq!(harness.events.recv().unwrap(), Event::Write(1, false));
        assert_eq!(harness.events.recv_timeout(Duration::from_secs(5)).unwrap(), Event::Sync);
        assert!(began.monotonic() - before >= Duration::from_millis(50));
        assert!(harness.events.recv_timeout(Duration::from_millis(100)).is_err(), "nothing more to sync");
    }

    #[test]
    fn nobody_sees_a_write_that_failed() {
        let harness = start();
        harness.permits.send(false).unwrap();
        let answer = block_on(harness.thread.request(batch("a", true)));
        assert!(matches!(answer, Err(StoreError::Undetermined(_))));
        assert_eq!(harness.snapshots.published(), Timestamp::ZERO);
        let answer = block_on(harness.thread.request(batch("b", true)));
        assert!(matches!(answer, Err(StoreError::ReadOnly(_))));
        assert!(harness.thread.failure().is_some());
    }

    #[test]
    fn a_thread_that_dies_answers_everybody() {
        let harness = start();
        // The log panics when it cannot wait for permits any more.
        drop(harness.permits);
        let answer = block_on(harness.thread.request(batch("a", true)));
        assert!(matches!(answer, Err(StoreError::Undetermined(_))));
        let answer = block_on(harness.thread.request(batch("b", true)));
        assert!(matches!(answer, Err(StoreError::Unavailable(_) | StoreError::Undetermined(_))));
        assert!(harness.thread.failure().is_some());
    }
}
