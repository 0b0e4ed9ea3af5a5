//! [`RecentWrites`]: the recently written rows, in the order of the writes. With it, the ranges that a transaction
//! has read can be validated without reading them again.
//!
//! The memory is bounded, and writes are noted only while some transaction may ask. A write that is dropped or was
//! never noted raises the floor. A transaction with a snapshot below the floor must read its ranges again.

use crate::contract::RowRange;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Approximate memory per write in bytes, besides its key.
const WRITE_BYTES: usize = 64;

/// Counts the transactions that may ask about ranges.
#[derive(Clone, Debug, Default)]
pub struct Validators(Arc<AtomicUsize>);

/// Keeps [`RecentWrites`] noting writes. To be taken before the snapshot whose reads will be validated.
pub struct Validator(Validators);

impl Validators {
    /// Counts one more transaction, until the returned value is dropped.
    pub fn join(&self) -> Validator {
        self.0.fetch_add(1, Ordering::SeqCst);
        Validator(self.clone())
    }

    fn any(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Validator {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The writes to ranges since a snapshot, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// No row in the ranges was written.
    Nothing,
    /// This row was written at this timestamp.
    Written(Bytes, Timestamp),
    /// The snapshot is below the floor, so writes may be unknown.
    Forgotten,
}

struct NotedWrite {
    /// The newest commit timestamp before the write.
    after: Timestamp,
    timestamp: Timestamp,
    key: Bytes,
}

/// The recently written rows. See the module documentation.
pub struct RecentWrites {
    validators: Validators,
    writes: VecDeque<NotedWrite>,
    /// Every write above this timestamp is in `writes`.
    floor: Timestamp,
    bytes: usize,
    limit: usize,
}

impl RecentWrites {
    /// Starts with nothing known at or below `floor`. Uses about `bytes` bytes at most.
    pub fn new(validators: Validators, floor: Timestamp, bytes: usize) -> Self {
        RecentWrites { validators, writes: VecDeque::new(), floor, bytes: 0, limit: bytes }
    }

    /// Notes a row written at `timestamp`. `after` is the newest commit timestamp before it.
    pub fn note(&mut self, key: &Bytes, timestamp: Timestamp, after: Timestamp) {
        if !self.validators.any() {
            self.floor = self.floor.max(timestamp);
            if !self.writes.is_empty() {
                self.clear();
            }
            return;
        }
        self.bytes += key.len() + WRITE_BYTES;
        // A copy, because the key may be a slice of a large buffer.
        self.writes.push_back(NotedWrite { after, timestamp, key: Bytes::copy_from_slice(key) });
        while self.bytes > self.limit {
            let Some(dropped) = self.writes.pop_front() else { break };
            self.bytes -= dropped.key.len() + WRITE_BYTES;
            self.floor = self.floor.max(dropped.timestamp);
        }
    }

    /// Notes that unnamed rows were written up to `timestamp`, and raises the floor to it.
    pub fn raise(&mut self, timestamp: Timestamp) {
        self.clear();
        self.floor = self.floor.max(timestamp);
    }

    fn clear(&mut self) {
        let newest = self.writes.iter().map(|write| write.timestamp).max();
        self.floor = self.floor.max(newest.unwrap_or_default());
        self.writes = VecDeque::new();
        self.bytes = 0;
    }

    /// A write to one of `ranges` after the published commit `snapshot`, if there was one. The ranges are in key
    /// order and do not touch.
    pub fn since(&self, snapshot: Timestamp, ranges: &[RowRange]) -> Since {
        if snapshot < self.floor {
            return Since::Forgotten;
        }
        // Writes noted before the snapshot was published have timestamps at or below it.
        let later = self.writes.iter().rev().take_while(|write| write.after >= snapshot);
        for write in later.filter(|write| write.timestamp > snapshot) {
            if contains(ranges, &write.key) {
                return Since::Written(write.key.clone(), write.timestamp);
            }
        }
        Since::Nothing
    }
}

/// Whether one of `ranges` contains `key`. The ranges are in key order and do not touch.
pub fn contains(ranges: &[RowRange], key: &[u8]) -> bool {
    let behind = ranges.partition_point(|range| range.start[..] <= *key);
    behind.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|range| range.contains(key))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn range(start: &'static str, end: &'static str) -> RowRange {
        RowRange { start: Bytes::from_static(start.as_bytes()), end: Some(Bytes::from_static(end.as_bytes())) }
    }

    fn note(writes: &mut RecentWrites, key: &'static str, timestamp: u64) {
        writes.note(&Bytes::from_static(key.as_bytes()), Timestamp(timestamp), Timestamp(timestamp - 1));
    }

    #[test]
    fn finds_what_came_after_the_snapshot_inside_the_ranges() {
        let validators = Validators::default();
        let mut writes = RecentWrites::new(validators.clone(), Timestamp(10), 1 << 20);
        let _one = validators.join();
        note(&mut writes, "b", 11);
        note(&mut writes, "f", 12);
        let ranges = [range("a", "c"), range("e", "f")];
        assert_eq!(writes.since(Timestamp(9), &ranges), Since::Forgotten);
        assert_eq!(writes.since(Timestamp(10), &ranges), Since::Written(Bytes::from_static(b"b"), Timestamp(11)));
        assert_eq!(writes.since(Timestamp(11), &ranges), Since::Nothing, "the end lies outside");
        assert_eq!(writes.since(Timestamp(11), &[range("e", "g")]), Since::Written("f".into(), Timestamp(12)));
        assert_eq!(writes.since(Timestamp(10), &[]), Since::Nothing);
    }

    #[test]
    fn what_was_not_noted_is_not_known() {
        let validators = Validators::default();
        let mut writes = RecentWrites::new(validators.clone(), Timestamp::ZERO, 1 << 20);
        note(&mut writes, "a", 5);
        let one = validators.join();
        note(&mut writes, "b", 6);
        assert_eq!(writes.since(Timestamp(4), &[range("x", "z")]), Since::Forgotten);
        assert_eq!(writes.since(Timestamp(5), &[range("x", "z")]), Since::Nothing);
        drop(one);
        note(&mut writes, "c", 7);
        let _two = validators.join();
        assert_eq!(writes.since(Timestamp(6), &[range("x", "z")]), Since::Forgotten);
        assert_eq!(writes.since(Timestamp(7), &[range("x", "z")]), Since::Nothing);
    }

    #[test]
    fn memory_is_bounded() {
        let validators = Validators::default();
        let mut writes = RecentWrites::new(validators.clone(), Timestamp::ZERO, 100 * (WRITE_BYTES + 8));
        let _one = validators.join();
        for number in 1..=1000u64 {
            writes.note(&Bytes::from(number.to_be_bytes().to_vec()), Timestamp(number), Timestamp(number - 1));
        }
        assert_eq!(writes.writes.len(), 100);
        assert_eq!(writes.since(Timestamp(899), &[RowRange::all()]), Since::Forgotten);
        assert!(matches!(writes.since(Timestamp(900), &[RowRange::all()]), Since::Written(..)));
        assert_eq!(writes.since(Timestamp(1000), &[RowRange::all()]), Since::Nothing);
    }
}
