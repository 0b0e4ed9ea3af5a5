//! [`DeadRuns`]: long runs of rows whose newest cells a reader takes for none (those of deleted rows), so that a scan goes over them
//! at once. The reader tells what a cell says.
//!
//! Invariant: the newest cell of [`Family::Write`] of each row of a run is dead, and not newer than the run says. Changes that are being
//! written are an exception: no snapshot shows them before [`DeadRuns::changed`] was told of them. A scan that is to note a run watches its range first, makes its cursor then, and notes what nobody changed meanwhile.

use super::key;
use crate::committer::Change;
use crate::contract::{Family, RowRange};
use crate::timestamp::Timestamp;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// Rows that follow each other from which they are worth a run; in tests of stores with a handful of rows, two.
pub const LONG: usize = if cfg!(test) { 2 } else { 256 };
/// Runs that are kept, at most. Beyond it all are forgotten.
const MOST: usize = 4096;

#[derive(Debug)]
struct Run {
    upper: Box<[u8]>,
    newest: Timestamp,
}

/// A range that a scan is about to note runs of.
#[derive(Debug)]
struct Watched {
    lower: Box<[u8]>,
    /// Before the first key that was changed since; `None` where none was.
    unchanged_before: Option<Box<[u8]>>,
}

#[derive(Debug, Default)]
struct State {
    /// By the prefix of the first row, up to that of the row behind the last. They do not overlap.
    runs: BTreeMap<Box<[u8]>, Run>,
    watched: HashMap<u64, Watched>,
    next: u64,
}

/// See the head of the module.
#[derive(Debug, Default)]
pub struct DeadRuns {
    state: Mutex<State>,
    /// Runs and watches: where there are none, nobody takes the lock.
    count: AtomicUsize,
}

/// A scan's word that it may note runs from some key on.
#[derive(Debug)]
pub struct Watch {
    runs: Arc<DeadRuns>,
    number: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.runs.state.lock();
        state.watched.remove(&self.number);
        self.runs.counted(&state);
    }
}

impl Watch {
    /// Notes that all rows from `lower` up to `upper` are dead, and none has a cell newer than `newest`.
    pub fn note(&self, lower: &[u8], upper: &[u8], newest: Timestamp) {
        let mut state = self.runs.state.lock();
        let Some(watched) = state.watched.get(&self.number) else { return };
        let changed = watched.unchanged_before.as_deref().is_some_and(|first| first < upper);
        if changed || lower < &*watched.lower || lower >= upper {
            return;
        }
        if state.runs.len() >= MOST {
            state.runs.clear();
        }
        let (mut from, mut newest) = (Box::from(lower), newest);
        // One that ends where this one begins goes on, and those within are part of it.
        let before = state.runs.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(lower))).next_back();
        if let Some((start, run)) = before
            && *run.upper >= *lower
        {
            (from, newest) = (start.clone(), newest.max(run.newest));
        }
        state.forget(&from, Bound::Excluded(upper));
        state.runs.insert(from, Run { upper: upper.into(), newest });
        self.runs.counted(&state);
    }
}

impl State {
    /// Forgets the runs in which keys from `lower` to `upper` may lie.
    fn forget(&mut self, lower: &[u8], upper: Bound<&[u8]>) {
        while let Some((start, run)) = self.runs.range::<[u8], _>((Bound::Unbounded, upper)).next_back() {
            // Those before it end before it begins.
            if *run.upper <= *lower {
                return;
            }
            let start = start.clone();
            self.runs.remove(&start);
        }
    }

    fn changed(&mut self, at: &[u8]) {
        for watched in self.watched.values_mut().filter(|watched| *watched.lower <= *at) {
            if watched.unchanged_before.as_deref().is_none_or(|first| at < first) {
                watched.unchanged_before = Some(at.into());
            }
        }
        let before = (Bound::Unbounded, Bound::Included(at));
        let Some((start, run)) = self.runs.range::<[u8], _>(before).next_back() else { return };
        if *run.upper <= *at {
            return;
        }
        // What lies before the row stays a run, and what lies behind it.
        let start = start.clone();
        let Some(run) = self.runs.remove(&start) else { return };
        let mut behind = at.to_vec();
        key::to_end_of_row(&mut behind);
        if *behind < *run.upper {
            self.runs.insert(behind.into(), Run { upper: run.upper, newest: run.newest });
        }
        if *start < *at {
            self.runs.insert(start, Run { upper: at.into(), newest: run.newest });
        }
        // Each row that is written within a run leaves one more.
        if self.runs.len() > MOST {
            self.runs.clear();
        }
    }
}

impl DeadRuns {
    fn counted(&self, state: &State) {
        self.count.store(state.runs.len() + state.watched.len(), Ordering::Release);
    }

    /// Whether nobody has to be told of what was written. Who writes changes the database and then loads the count; who watches
    /// stores the count and then reads the database. That one of the two sees the other takes a full fence on both sides.
    fn is_idle(&self) -> bool {
        fence(Ordering::SeqCst);
        self.count.load(Ordering::Acquire) == 0
    }

    /// The end of the run that a key lies in, if a snapshot of this timestamp sees none of its rows.
    pub fn end_of(&self, at: &[u8], snapshot: Timestamp) -> Option<Box<[u8]>> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let state = self.state.lock();
        let (_, run) = state.runs.range::<[u8], _>((Bound::Unbounded, Bound::Included(at))).next_back()?;
        (*run.upper > *at && run.newest <= snapshot).then(|| run.upper.clone())
    }

    /// From now on it is noted what is changed from this key on. To be called before the cursor is made.
    pub fn watch(self: &Arc<Self>, lower: &[u8]) -> Watch {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.watched.insert(number, Watched { lower: lower.into(), unchanged_before: None });
        self.counted(&state);
        // The count is stored before the cursor reads the database, see `is_idle`.
        fence(Ordering::SeqCst);
        Watch { runs: Arc::clone(self), number }
    }

    /// The database has these changes, and nobody was told of them yet.
    pub fn changed(&self, changes: &[Change]) {
        if self.is_idle() {
            return;
        }
        let mut state = self.state.lock();
        let mut at = Vec::with_capacity(64);
        for change in changes {
            match change {
                Change::Set { key, family: Family::Write, .. } | Change::Remove { key, family: Family::Write, .. } => {
                    at.clear();
                    key::push_prefix(key, &mut at);
                    state.changed(&at);
                }
                Change::Set { .. } | Change::Remove { .. } => {}
                Change::RemoveRange(RowRange { start, end }) => {
                    let upper = end.as_ref().map(|end| key::bound(end));
                    state.loaded(&key::bound(start), upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded));
                }
            }
        }
        self.counted(&state);
    }

    /// The database took in cells of rows between these keys, both included, beside the committer.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        if self.is_idle() {
            return;
        }
        let mut state = self.state.lock();
        let mut behind = Vec::with_capacity(last.len() + 4);
        key::push_prefix(last, &mut behind);
        key::to_end_of_row(&mut behind);
        state.loaded(&key::bound(first), Bound::Excluded(&behind));
        self.counted(&state);
    }
}

impl State {
    fn loaded(&mut self, lower: &[u8], upper: Bound<&[u8]>) {
        // Which of the keys between were changed is not told: it counts as the first.
        for watched in self.watched.values_mut() {
            let first = lower.max(&*watched.lower);
            let beyond = match upper {
                Bound::Included(upper) => first > upper,
                Bound::Excluded(upper) => first >= upper,
                Bound::Unbounded => false,
            };
            if !beyond && watched.unchanged_before.as_deref().is_none_or(|known| first < known) {
                watched.unchanged_before = Some(first.into());
            }
        }
        self.forget(lower, upper);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn prefix(row: &str) -> Vec<u8> {
        let mut prefix = Vec::new();
        key::push_prefix(row.as_bytes(), &mut prefix);
        prefix
    }

    fn set(row: &'static str) -> [Change; 1] {
        let value = bytes::Bytes::new();
        [Change::Set { key: row.as_bytes().into(), family: Family::Write, timestamp: Timestamp(9), value }]
    }

    #[test]
    fn runs_join_and_a_change_parts_them() {
        let runs = Arc::new(DeadRuns::default());
        let end = |row: &str, snapshot| runs.end_of(&prefix(row), Timestamp(snapshot)).map(|end| end.to_vec());
        let watch = runs.watch(&prefix("a"));
        watch.note(&prefix("b"), &prefix("d"), Timestamp(3));
        watch.note(&prefix("d"), &prefix("g"), Timestamp(5));
        drop(watch);
        assert_eq!((end("c", 5), end("a", 5), end("g", 5)), (Some(prefix("g")), None, None));
        assert_eq!(end("c", 4), None, "an older snapshot sees a row");
        runs.changed(&set("d"));
        assert_eq!((end("c", 5), end("d", 5), end("e", 5)), (Some(prefix("d")), None, Some(prefix("g"))));
        runs.loaded(b"e", b"e");
        assert_eq!((end("c", 5), end("f", 5)), (Some(prefix("d")), None));
        runs.changed(&[Change::RemoveRange(RowRange { start: "a".into(), end: None })]);
        assert_eq!(end("c", 5), None);
    }

    #[test]
    fn what_changed_while_it_was_read_is_not_noted() {
        let runs = Arc::new(DeadRuns::default());
        let end = |row: &str| runs.end_of(&prefix(row), Timestamp(5));
        let watch = runs.watch(&prefix("b"));
        runs.changed(&set("d"));
        watch.note(&prefix("c"), &prefix("e"), Timestamp(3));
        watch.note(&prefix("a"), &prefix("b"), Timestamp(3));
        assert_eq!((end("c"), end("a")), (None, None));
        watch.note(&prefix("b"), &prefix("d"), Timestamp(3));
        assert!(end("c").is_some());
        let other = runs.watch(&prefix("e"));
        runs.loaded(b"a", b"f");
        other.note(&prefix("f"), &prefix("g"), Timestamp(3));
        assert_eq!((end("c"), end("f")), (None, None));
    }

    #[test]
    fn a_run_of_which_row_by_row_is_written_does_not_leave_too_many() {
        let runs = Arc::new(DeadRuns::default());
        let watch = runs.watch(&prefix("r"));
        watch.note(&prefix("r"), &prefix("s"), Timestamp(3));
        drop(watch);
        let mut most = 0;
        for row in 0..MOST + 10 {
            runs.changed(&[Change::Set {
                key: format!("r{row:08}").into(),
                family: Family::Write,
                timestamp: Timestamp(9),
                value: bytes::Bytes::new(),
            }]);
            most = most.max(runs.state.lock().runs.len());
        }
        assert_eq!(most, MOST);
    }
}
