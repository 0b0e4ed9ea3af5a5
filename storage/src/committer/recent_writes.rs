//! [`RecentWrites`]: which rows were written lately, in the order in which they came, so that ranges that a transaction
//! has read can be validated without reading them again.
//!
//! Bounded, and filled only while somebody may ask: what is dropped or was never noted raises the floor, and whoever read
//! at a snapshot below it is told to look for himself.

use crate::contract::RowRange;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that a write costs besides its key, roughly.
const WRITE_BYTES: usize = 64;

/// Counts those who may ask about ranges.
#[derive(Clone, Debug, Default)]
pub struct Validators(Arc<AtomicUsize>);

/// Somebody who may ask. To be had before the snapshot whose reads are to be validated.
pub struct Validator(Validators);

impl Validators {
    /// One more may ask, until the answer is dropped.
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

/// What is known of ranges since a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// Nothing was written.
    Nothing,
    /// This row was, at this timestamp.
    Written(Bytes, Timestamp),
    /// Not known here.
    Forgotten,
}

struct NotedWrite {
    /// The newest commit when it came.
    after: Timestamp,
    timestamp: Timestamp,
    key: Bytes,
}

/// See the head of the module.
pub struct RecentWrites {
    validators: Validators,
    writes: VecDeque<NotedWrite>,
    /// Every write above it is here.
    floor: Timestamp,
    bytes: usize,
    limit: usize,
}

impl RecentWrites {
    /// Nothing is known at or below `floor`; about `bytes` are used at most.
    pub fn new(validators: Validators, floor: Timestamp, bytes: usize) -> Self {
        RecentWrites { validators, writes: VecDeque::new(), floor, bytes: 0, limit: bytes }
    }

    /// A row was written at `timestamp`, when the newest commit was at `after`.
    pub fn note(&mut self, key: &Bytes, timestamp: Timestamp, after: Timestamp) {
        if !self.validators.any() {
            self.floor = self.floor.max(timestamp);
            if !self.writes.is_empty() {
                self.clear();
            }
            return;
        }
        self.bytes += key.len() + WRITE_BYTES;
        // A copy: the key may be a slice of something large.
        self.writes.push_back(NotedWrite { after, timestamp, key: Bytes::copy_from_slice(key) });
        while self.bytes > self.limit {
            let Some(dropped) = self.writes.pop_front() else { break };
            self.bytes -= dropped.key.len() + WRITE_BYTES;
            self.floor = self.floor.max(dropped.timestamp);
        }
    }

    /// Rows were written up to `timestamp` that were not noted one by one.
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

    /// Whether a row in one of `ranges`, which are in order and do not touch, was written after the published commit
    /// `snapshot`.
    pub fn since(&self, snapshot: Timestamp, ranges: &[RowRange]) -> Since {
        if snapshot < self.floor {
            return Since::Forgotten;
        }
        // What came before the snapshot was published was stamped at or below it.
        let later = self.writes.iter().rev().take_while(|write| write.after >= snapshot);
        for write in later.filter(|write| write.timestamp > snapshot) {
            if contains(ranges, &write.key) {
                return Since::Written(write.key.clone(), write.timestamp);
            }
        }
        Since::Nothing
    }
}

/// Whether one of `ranges`, which are in order and do not touch, holds `key`.
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
