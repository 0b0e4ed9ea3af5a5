//! [`Watch`]: the timestamp of the newest write to a range of rows. A caller that read the range in one snapshot
//! learns without reading whether a later snapshot shows the same.

use super::Change;
use crate::contract::{Family, RowRange};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most changes of a group that are checked one by one. A larger group counts as a write to the range.
const MOST_CHANGES: usize = 1024;

/// The timestamp of the newest write to a range of rows.
///
/// Invariant: [`Watch::newest`] reaches the timestamp of a [`Family::Write`] cell in the range before any
/// snapshot that shows the cell is handed out. A large transaction's writes may become visible earlier, as locks.
/// The caller must exclude such locks in its snapshot by itself. Removals are ignored, because no reader sees
/// removed cells any more.
#[derive(Debug)]
pub struct Watch {
    range: RowRange,
    newest: AtomicU64,
}

impl Watch {
    /// A watch on `range`. It assumes that the range was last written at `ordered`.
    pub(super) fn new(range: RowRange, ordered: Timestamp) -> Watch {
        Watch { range, newest: AtomicU64::new(ordered.0) }
    }

    /// The timestamp of the newest write to the range, for every snapshot that was taken before the call.
    pub fn newest(&self) -> Timestamp {
        Timestamp(self.newest.load(Ordering::SeqCst))
    }

    /// Looks for writes to the range in a group. No cell of the group is newer than `max`.
    pub(super) fn look_at(&self, changes: &[Change], max: Timestamp) {
        if changes.len() > MOST_CHANGES {
            self.raise(max);
            return;
        }
        for change in changes {
            match change {
                Change::Set { key, family: Family::Write, timestamp, .. } if self.range.contains(key) => {
                    self.raise(*timestamp);
                }
                Change::Set { .. } | Change::Remove { .. } | Change::RemoveRange(_) => {}
            }
        }
    }

    /// Notes that rows between two keys, both included, were written. Some may lie in the range.
    pub(super) fn look_at_ends(&self, (first, last): &(Bytes, Bytes), timestamp: Timestamp) {
        if *last >= self.range.start && self.range.end.as_ref().is_none_or(|end| first < end) {
            self.raise(timestamp);
        }
    }

    fn raise(&self, timestamp: Timestamp) {
        self.newest.fetch_max(timestamp.0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn set(key: &'static str, family: Family, timestamp: u64) -> Change {
        let key = Bytes::from_static(key.as_bytes());
        Change::Set { key, family, timestamp: Timestamp(timestamp), value: Bytes::new() }
    }

    #[test]
    fn only_writes_to_the_range_count() {
        let watch = Watch::new(RowRange::prefix(Bytes::from_static(b"v")), Timestamp(5));
        watch.look_at(
            &[set("u", Family::Write, 7), set("v", Family::Lock, 8), set("w", Family::Write, 9)],
            Timestamp(9),
        );
        assert_eq!(watch.newest(), Timestamp(5));
        watch.look_at(&[set("v1", Family::Write, 10), set("v", Family::Write, 8)], Timestamp(10));
        assert_eq!(watch.newest(), Timestamp(10));
        let many: Vec<Change> = (0..=MOST_CHANGES as u64).map(|at| set("u", Family::Write, at)).collect();
        watch.look_at(&many, Timestamp(2000));
        assert_eq!(watch.newest(), Timestamp(2000));
    }
}
