//! [`TabletDirectory`]: the contiguous ranges of rows that the store is divided into, with their load.
//!
//! Tablets are metadata. All of them share one keyspace, so reads and scans do not depend on their bounds, and a
//! split or merge moves no data.

use crate::contract::{RowRange, TabletInfo};
use crate::error::{Result, StoreError};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tablet and its counters.
#[derive(Debug)]
pub struct Tablet {
    /// Identifies the tablet within the store, and never changes.
    pub id: u64,
    /// The rows that the tablet holds.
    pub range: RowRange,
    bytes: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
    /// Reads and writes at the last call of [`Tablet::take_load`].
    measured: AtomicU64,
}

impl Tablet {
    fn new(id: u64, range: RowRange) -> Arc<Tablet> {
        let zero = || AtomicU64::new(0);
        Arc::new(Tablet { id, range, bytes: zero(), reads: zero(), writes: zero(), measured: zero() })
    }

    /// Counts reads of rows.
    pub fn count_reads(&self, rows: u64) {
        self.reads.fetch_add(rows, Ordering::Relaxed);
    }

    /// Counts writes of rows.
    pub fn count_writes(&self, rows: u64) {
        self.writes.fetch_add(rows, Ordering::Relaxed);
    }

    /// Stores the approximate size of the tablet in bytes.
    pub fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// The number of reads and writes since the last call.
    pub fn take_load(&self) -> u64 {
        let now = self.reads.load(Ordering::Relaxed) + self.writes.load(Ordering::Relaxed);
        now.saturating_sub(self.measured.swap(now, Ordering::Relaxed))
    }

    /// The tablet's range and counters, for [`Store::tablets`](crate::Store::tablets).
    pub fn info(&self) -> TabletInfo {
        TabletInfo {
            id: self.id,
            range: self.range.clone(),
            bytes: self.bytes.load(Ordering::Relaxed),
            reads: self.reads.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
        }
    }
}

type Tablets = Arc<Vec<Arc<Tablet>>>;

/// The tablets in key order. The first begins at the empty key, and there are no gaps.
pub struct TabletDirectory {
    tablets: RwLock<Tablets>,
    next_id: Mutex<u64>,
}

impl TabletDirectory {
    /// A directory with one tablet that holds all rows.
    pub fn new() -> TabletDirectory {
        let tablets = Arc::new(vec![Tablet::new(1, RowRange::all())]);
        TabletDirectory { tablets: RwLock::new(tablets), next_id: Mutex::new(2) }
    }

    /// All tablets, in key order.
    pub fn all(&self) -> Tablets {
        self.tablets.read().clone()
    }

    /// The tablets that overlap a range.
    pub fn overlapping(&self, range: &RowRange) -> Vec<Arc<Tablet>> {
        if range.is_empty() {
            return Vec::new();
        }
        let tablets = self.all();
        let first = position(&tablets, &range.start);
        let inside = tablets.iter().skip(first);
        inside.take_while(|tablet| !tablet.range.intersect(range).is_empty()).cloned().collect()
    }

    /// Calls `count` for each run of keys that lie in one tablet.
    pub fn count<'k>(&self, keys: impl Iterator<Item = &'k [u8]>, count: impl Fn(&Tablet, u64)) {
        let tablets = self.tablets.read();
        let mut run: Option<(&Arc<Tablet>, u64)> = None;
        for key in keys {
            match &mut run {
                Some((tablet, rows)) if tablet.range.contains(key) => *rows += 1,
                _ => {
                    if let Some((tablet, rows)) = run.take() {
                        count(tablet, rows);
                    }
                    run = tablets.get(position(&tablets, key)).map(|tablet| (tablet, 1));
                }
            }
        }
        if let Some((tablet, rows)) = run {
            count(tablet, rows);
        }
    }

    /// Like [`TabletDirectory::count`], for ascending or descending keys. If the first and the last lie in one
    /// tablet, so do the others.
    pub fn count_ordered<'k, K>(&self, keys: K, count: impl Fn(&Tablet, u64))
    where
        K: DoubleEndedIterator<Item = &'k [u8]> + ExactSizeIterator + Clone,
    {
        let (Some(first), Some(last)) = (keys.clone().next(), keys.clone().next_back()) else { return };
        if !self.count_within(first, last, keys.len() as u64, &count) {
            self.count(keys, count);
        }
    }

    /// Counts `keys` ordered keys with these ends, if they lie in one tablet. Otherwise it counts
    /// nothing and answers false.
    pub fn count_within(&self, first: &[u8], last: &[u8], keys: u64, count: impl Fn(&Tablet, u64)) -> bool {
        let tablets = self.tablets.read();
        let tablet = tablets.get(position(&tablets, first)).filter(|tablet| tablet.range.contains(last));
        tablet.is_some_and(|tablet| {
            count(tablet, keys);
            true
        })
    }

    /// Splits a tablet at those keys that lie inside it. The first part keeps the identity and the counters.
    /// Answers whether anything changed.
    pub fn split(&self, id: u64, keys: &[Bytes]) -> bool {
        let mut next_id = self.next_id.lock();
        let mut tablets = self.tablets.write();
        let Some(at) = tablets.iter().position(|tablet| tablet.id == id) else { return false };
        let Some(old) = tablets.get(at).cloned() else { return false };
        let mut keys: Vec<Bytes> =
            keys.iter().filter(|key| old.range.contains(key) && **key != old.range.start).cloned().collect();
        keys.sort();
        keys.dedup();
        if keys.is_empty() {
            return false;
        }
        let parts = keys.len() as u64 + 1;
        let ends = keys.iter().cloned().map(Some).chain([old.range.end.clone()]);
        let starts = [old.range.start.clone()].into_iter().chain(keys.iter().cloned());
        let mut children = Vec::with_capacity(keys.len() + 1);
        for (start, end) in starts.zip(ends) {
            let id = match children.is_empty() {
                true => id,
                false => {
                    *next_id += 1;
                    *next_id - 1
                }
            };
            let child = Tablet::new(id, RowRange { start, end });
            child.set_bytes(old.bytes.load(Ordering::Relaxed) / parts);
            children.push(child);
        }
        if let Some(first) = children.first() {
            first.count_reads(old.reads.load(Ordering::Relaxed));
            first.count_writes(old.writes.load(Ordering::Relaxed));
            first.measured.store(old.measured.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let mut new = Vec::clone(&tablets);
        new.splice(at..=at, children);
        *tablets = Arc::new(new);
        true
    }

    /// Merges the tablet that begins at `key` into the one before it, which keeps its identity. Answers
    /// whether there was one.
    pub fn merge(&self, key: &Bytes) -> bool {
        let mut tablets = self.tablets.write();
        let Some(at) = tablets.iter().position(|tablet| tablet.range.start == *key).filter(|at| *at > 0) else {
            return false;
        };
        let (Some(left), Some(right)) = (tablets.get(at - 1), tablets.get(at)) else { return false };
        let range = RowRange { start: left.range.start.clone(), end: right.range.end.clone() };
        let merged = Tablet::new(left.id, range);
        let sum = |figure: fn(&Tablet) -> &AtomicU64| {
            figure(left).load(Ordering::Relaxed) + figure(right).load(Ordering::Relaxed)
        };
        merged.set_bytes(sum(|tablet| &tablet.bytes));
        merged.count_reads(sum(|tablet| &tablet.reads));
        merged.count_writes(sum(|tablet| &tablet.writes));
        merged.measured.store(sum(|tablet| &tablet.measured), Ordering::Relaxed);
        let mut new = Vec::clone(&tablets);
        new.splice(at - 1..=at, [merged]);
        *tablets = Arc::new(new);
        true
    }

    /// The bytes of the directory, as FORMAT.md defines them.
    pub fn encode(&self) -> Vec<u8> {
        let next_id = *self.next_id.lock();
        let mut out = next_id.to_be_bytes().to_vec();
        for tablet in self.all().iter() {
            out.extend(tablet.id.to_be_bytes());
            out.extend((tablet.range.start.len() as u32).to_be_bytes());
            out.extend_from_slice(&tablet.range.start);
        }
        out
    }

    /// Reads a directory that [`TabletDirectory::encode`] wrote. Errors: `Corrupted`.
    pub fn decode(bytes: &[u8]) -> Result<TabletDirectory> {
        decode(bytes).ok_or_else(|| StoreError::Corrupted("the directory of tablets cannot be read".to_owned()))
    }
}

impl Default for TabletDirectory {
    fn default() -> Self {
        Self::new()
    }
}

fn decode(bytes: &[u8]) -> Option<TabletDirectory> {
    let (next_id, mut rest) = bytes.split_first_chunk::<8>()?;
    let next_id = u64::from_be_bytes(*next_id);
    let mut starts = Vec::new();
    while !rest.is_empty() {
        let (id, behind) = rest.split_first_chunk::<8>()?;
        let (length, behind) = behind.split_first_chunk::<4>()?;
        let (start, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        starts.push((u64::from_be_bytes(*id), Bytes::copy_from_slice(start)));
        rest = behind;
    }
    if starts.first().is_none_or(|(_, start)| !start.is_empty()) || !starts.is_sorted_by(|a, b| a.1 < b.1) {
        return None;
    }
    let ends = starts.iter().skip(1).map(|(_, start)| Some(start.clone())).chain([None]);
    let tablets = starts.iter().zip(ends);
    let tablets = tablets.map(|((id, start), end)| Tablet::new(*id, RowRange { start: start.clone(), end })).collect();
    Some(TabletDirectory { tablets: RwLock::new(Arc::new(tablets)), next_id: Mutex::new(next_id) })
}

/// The index of the tablet that holds `key`.
fn position(tablets: &[Arc<Tablet>], key: &[u8]) -> usize {
    tablets.partition_point(|tablet| &tablet.range.start[..] <= key).saturating_sub(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn starts(directory: &TabletDirectory) -> Vec<(u64, Bytes)> {
        let tablets = directory.all();
        assert_eq!(tablets[0].range.start, Bytes::new());
        assert_eq!(tablets.last().unwrap().range.end, None);
        for pair in tablets.windows(2) {
            assert_eq!(pair[0].range.end.as_ref(), Some(&pair[1].range.start));
        }
        tablets.iter().map(|tablet| (tablet.id, tablet.range.start.clone())).collect()
    }

    #[test]
    fn splits_merges_and_survives() {
        let directory = TabletDirectory::new();
        let key = |text: &'static str| Bytes::from_static(text.as_bytes());
        assert!(directory.split(1, &[key("m"), key("c"), key("c")]));
        assert!(!directory.split(1, &[key("m"), key("")]));
        assert!(!directory.split(9, &[key("x")]));
        assert_eq!(starts(&directory), [(1, key("")), (2, key("c")), (3, key("m"))]);
        directory.count([&b"a"[..], b"b", b"n", b"c"].into_iter(), Tablet::count_reads);
        let reads: Vec<u64> = directory.all().iter().map(|tablet| tablet.info().reads).collect();
        assert_eq!(reads, [2, 1, 1]);
        assert!(directory.merge(&key("m")));
        assert!(!directory.merge(&key("")));
        assert_eq!(directory.all()[1].info().reads, 2);
        assert!(directory.split(2, &[key("d")]));
        let expected = [(1, key("")), (2, key("c")), (4, key("d"))];
        assert_eq!(starts(&directory), expected);
        let again = TabletDirectory::decode(&directory.encode()).unwrap();
        assert_eq!(starts(&again), expected);
        assert!(TabletDirectory::decode(&directory.encode()[1..]).is_err());
        let inside = again.overlapping(&RowRange { start: key("c"), end: Some(key("d")) });
        assert_eq!(inside.iter().map(|tablet| tablet.id).collect::<Vec<_>>(), [2]);
        assert_eq!(again.overlapping(&RowRange::all()).len(), 3);
    }
}
