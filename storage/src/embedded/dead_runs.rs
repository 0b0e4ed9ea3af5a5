//! [`DeadRuns`]: long runs of rows whose newest cells a reader treats as deleted. A scan skips such a run in one
//! step. The reader decides which cells are dead.
//!
//! Invariant: the newest [`Family::Write`] cell of each row in a run is dead and not newer than the run's
//! timestamp. Changes that are being written are exempt: no snapshot shows them before [`DeadRuns::changed`]
//! was told of them. To add runs, a scan first watches its range and then makes its cursor. It notes only rows
//! that nobody changed meanwhile.

use super::key;
use crate::committer::Change;
use crate::contract::{Family, RowRange};
use crate::timestamp::Timestamp;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// The fewest consecutive rows that are noted as a run. Tests have few rows, so there it is two.
pub const LONG: usize = if cfg!(test) { 2 } else { 256 };
/// The most runs that are kept. Beyond it all runs are forgotten.
const MOST: usize = 4096;

#[derive(Debug)]
struct Run {
    upper: Box<[u8]>,
    newest: Timestamp,
}

/// A range in which a scan is about to note runs.
#[derive(Debug)]
struct Watched {
    lower: Box<[u8]>,
    /// The least key changed since the watch began. `None` if no key was changed.
    unchanged_before: Option<Box<[u8]>>,
}

#[derive(Debug, Default)]
struct State {
    /// Runs by the prefix of their first row. Each ends before the prefix of the row behind its last.
    /// They do not overlap.
    runs: BTreeMap<Box<[u8]>, Run>,
    watched: HashMap<u64, Watched>,
    next: u64,
}

/// The known runs of deleted rows. See the module documentation.
#[derive(Debug, Default)]
pub struct DeadRuns {
    state: Mutex<State>,
    /// The number of runs and watches. If it is zero, writers need not take the lock.
    count: AtomicUsize,
}

/// A scan's permission to note runs from some key on.
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
    /// Notes that all rows from `lower` up to `upper` are dead, and that none has a cell newer than `newest`.
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
        // A run that ends where this one begins is extended, and runs within this one are replaced.
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
    /// Forgets the runs that may contain keys from `lower` to `upper`.
    fn forget(&mut self, lower: &[u8], upper: Bound<&[u8]>) {
        while let Some((start, run)) = self.runs.range::<[u8], _>((Bound::Unbounded, upper)).next_back() {
            // Runs do not overlap, so all earlier runs end before this one begins.
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
        // The parts before and behind the row remain runs.
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
        // Each write within a run splits it and adds one more.
        if self.runs.len() > MOST {
            self.runs.clear();
        }
    }
}

impl DeadRuns {
    fn counted(&self, state: &State) {
        self.count.store(state.runs.len() + state.watched.len(), Ordering::Release);
    }

    /// Whether no run or watch must be told of writes. A writer changes the database and then loads the count; a
    /// watching scan stores the count and then reads the database. Both sides need a full fence, so that at least
    /// one sees the other.
    fn is_idle(&self) -> bool {
        fence(Ordering::SeqCst);
        self.count.load(Ordering::Acquire) == 0
    }

    /// The end of the run that contains `at`, if a snapshot at `snapshot` sees none of its rows.
    pub fn end_of(&self, at: &[u8], snapshot: Timestamp) -> Option<Box<[u8]>> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let state = self.state.lock();
        let (_, run) = state.runs.range::<[u8], _>((Bound::Unbounded, Bound::Included(at))).next_back()?;
        (*run.upper > *at && run.newest <= snapshot).then(|| run.upper.clone())
    }

    /// Tracks changes from the key `lower` on. Must be called before the scan's cursor is made.
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

    /// Applies changes that are in the database and not published yet.
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

    /// Notes that the database ingested rows between these keys, both included.
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
        // The changed keys are unknown, so the first key counts as changed.
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
