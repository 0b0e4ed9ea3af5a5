//! [`Settler`]: groups of commits that are ordered, and those who wait for them, until they are synced and published. Must not know
//! how they were ordered.
//!
//! A thread syncs for all; what is ordered meanwhile is covered by its next sync. Who commits while nobody else reads or writes syncs
//! himself: to have it done would be two changes of threads, a fifth of what a short transaction takes.

use crate::committer::snapshots::SnapshotRegistry;
use crate::committer::{Answer, Settlement, Stop};
use crate::env::EnvRef;
use crate::error::{Result, StoreError};
use futures::channel::oneshot;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Syncs all that was written to the log before. Called beside writes, by one thread at a time.
pub type SyncLog = Box<dyn Fn() -> Result<()> + Send>;

/// Where the last sync took longer, who commits leaves it to the thread: the thread that asks has others to serve, should they come.
const OWN_SYNC: Duration = Duration::from_millis(2);

/// A group that is ordered, and those who wait for it, in the order of its answers.
pub type Group = (Settlement, Vec<oneshot::Sender<Answer>>);

#[derive(Default)]
struct Unsettled {
    /// Oldest first.
    groups: VecDeque<Group>,
    /// Whether some of before are being settled.
    busy: bool,
    /// When what nobody waits for has to be synced, by the monotonic clock.
    sync_at: Option<Duration>,
    /// There will be no more groups.
    closed: bool,
    /// Once a sync has failed nothing is known of what was written, whatever the next one says.
    failed: Option<StoreError>,
}

/// What is being settled.
struct Turn {
    groups: VecDeque<Group>,
    /// Whether it has to be synced.
    due: bool,
    /// What is known of the syncs before.
    synced: Result<()>,
}

/// See the head of the module.
pub struct Settler {
    unsettled: Mutex<Unsettled>,
    /// There are groups, or nobody is busy with those before any more.
    changed: Condvar,
    /// Until nobody settles any more. Locked by who is busy only.
    sync: Mutex<Option<SyncLog>>,
    /// What the last sync took, in µs.
    last_sync: AtomicU64,
    stop: Arc<Stop>,
    snapshots: Arc<SnapshotRegistry>,
    env: EnvRef,
    /// What is not synced at once is synced within this.
    sync_interval: Duration,
}

/// Whoever settles, until he is done, however he ends.
struct Busy<'a> {
    settler: &'a Settler,
    done: bool,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut unsettled = self.settler.unsettled.lock();
        unsettled.busy = false;
        if !self.done {
            unsettled.failed.get_or_insert_with(|| StoreError::Io("a sync ended before its time".to_owned()));
        }
        let more = !unsettled.groups.is_empty() || unsettled.sync_at.is_some() || unsettled.closed;
        drop(unsettled);
        if more {
            self.settler.changed.notify_all();
        }
    }
}

impl Settler {
    /// One that calls `sync`; what is not synced at once is synced within `sync_interval`.
    pub fn new(
        sync: SyncLog,
        stop: Arc<Stop>,
        snapshots: Arc<SnapshotRegistry>,
        env: EnvRef,
        sync_interval: Duration,
    ) -> Settler {
        let (unsettled, changed, last_sync) = (Mutex::default(), Condvar::new(), AtomicU64::new(0));
        let sync = Mutex::new(Some(sync));
        Settler { unsettled, changed, sync, last_sync, stop, snapshots, env, sync_interval }
    }

    /// Why no more writes are taken, once a write or sync has failed.
    pub fn failure(&self) -> Option<String> {
        self.stop.why()
    }

    /// No more writes are taken, and nothing more is published.
    pub fn fail(&self, error: &StoreError) {
        self.stop.stop(error);
        self.snapshots.stop();
    }

    /// Whether who commits now may sync himself: nobody but him reads or writes, and it does not take long.
    pub fn is_for_own(&self) -> bool {
        self.last_sync.load(Ordering::Relaxed) <= OWN_SYNC.as_micros() as u64 && self.snapshots.at_most_one_reader()
    }

    /// Whether somebody settles.
    #[cfg(test)]
    pub fn is_busy(&self) -> bool {
        self.unsettled.lock().busy
    }

    /// Takes a group over, or settles it at once when it needs no sync and none before it does. Called in the order of groups. `own`:
    /// who calls goes on with [`Settler::settle_own`], so that the thread need not be woken.
    pub fn take(&self, group: Group, own: bool) {
        let (settlement, answers) = group;
        let mut unsettled = self.unsettled.lock();
        let wakes = settlement.wrote && !settlement.sync && unsettled.sync_at.is_none();
        if wakes {
            unsettled.sync_at = Some(self.env.monotonic() + self.sync_interval);
        }
        // After a failed sync nothing is known of what was written before: the thread tells them.
        let failed = self.stop.why().is_some();
        if !settlement.sync && unsettled.groups.is_empty() && !unsettled.busy && !failed {
            drop(unsettled);
            if wakes {
                self.changed.notify_one();
            }
            send(settlement.settle(&Ok(()), &self.snapshots), answers);
            return;
        }
        unsettled.groups.push_back((settlement, answers));
        drop(unsettled);
        if !own {
            self.changed.notify_one();
        }
    }

    /// Settles what there is, unless another is at it, who looks again when he is done.
    pub fn settle_own(&self) {
        let mut unsettled = self.unsettled.lock();
        if unsettled.busy || unsettled.groups.is_empty() {
            return;
        }
        let turn = unsettled.begin(false);
        drop(unsettled);
        self.settle(turn);
    }

    /// There will be no more groups: the thread ends when it has settled those that there are.
    pub fn close(&self) {
        self.unsettled.lock().closed = true;
        self.changed.notify_all();
    }

    /// Nobody settles any more: dropping their senders answers those who wait, and the log is let go.
    pub fn forsake(&self) {
        self.unsettled.lock().groups.clear();
        *self.sync.lock() = None;
    }

    /// The thread: settles what is ordered, all that there is at a time, until there will be no more.
    pub fn run(&self) {
        loop {
            let mut unsettled = self.unsettled.lock();
            let due = loop {
                let left = unsettled.sync_at.map(|at| at.saturating_sub(self.env.monotonic()));
                if unsettled.busy {
                    self.changed.wait(&mut unsettled);
                    continue;
                }
                if !unsettled.groups.is_empty() || left == Some(Duration::ZERO) {
                    break left == Some(Duration::ZERO);
                }
                match left {
                    _ if unsettled.closed => break left.is_some(),
                    Some(left) => drop(self.changed.wait_for(&mut unsettled, left)),
                    None => self.changed.wait(&mut unsettled),
                }
            };
            if unsettled.groups.is_empty() && !due {
                return;
            }
            let turn = unsettled.begin(due);
            drop(unsettled);
            self.settle(turn);
        }
    }

    /// Settles what [`Unsettled::begin`] gave.
    fn settle(&self, turn: Turn) {
        let mut busy = Busy { settler: self, done: false };
        let Turn { groups, due, mut synced } = turn;
        if due && synced.is_ok() {
            let began = self.env.monotonic();
            let ended = || Err(StoreError::Unavailable("the store is closed".to_owned()));
            synced = self.sync.lock().as_ref().map_or_else(ended, |sync| sync());
            let took = self.env.monotonic().saturating_sub(began).as_micros();
            self.last_sync.store(u64::try_from(took).unwrap_or(u64::MAX), Ordering::Relaxed);
            if let Err(error) = &synced {
                self.fail(error);
                self.unsettled.lock().failed = Some(error.clone());
            }
        }
        for (settlement, answers) in groups {
            send(settlement.settle(&synced, &self.snapshots), answers);
        }
        busy.done = true;
    }
}

impl Unsettled {
    /// Begins to settle all that there is. `due`: what nobody waits for has to be synced.
    fn begin(&mut self, due: bool) -> Turn {
        let groups = std::mem::take(&mut self.groups);
        let due = due || groups.iter().any(|(settlement, _)| settlement.sync);
        if due {
            // Whatever is written from now on may be missed by this sync.
            self.sync_at = None;
        }
        self.busy = true;
        Turn { groups, due, synced: self.failed.clone().map_or(Ok(()), Err) }
    }
}

fn send(answers: Vec<Answer>, to: Vec<oneshot::Sender<Answer>>) {
    for (sender, answer) in to.into_iter().zip(answers) {
        // Whoever does not wait any longer does not want the answer.
        let _ = sender.send(answer);
    }
}
