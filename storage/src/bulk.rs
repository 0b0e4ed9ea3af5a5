//! [`CellBlock`], [`BulkLoad`] and [`BulkCommit`]: writing many new cells at a time, in key order, beside the log.

use crate::committer::key_reservations::Claim;
use crate::contract::{ClassRange, CommitBatch, Condition, FailedCondition, Family};
use crate::env::BoxFuture;
use crate::error::Result;
use crate::packed_bytes::Strings;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::path::PathBuf;
use std::sync::Arc;

/// Cells of one family, one per row. They lie in one allocation, or in runs that share the caller's.
#[derive(Clone, Debug, Default)]
pub struct CellBlock {
    bytes: Vec<u8>,
    cells: Vec<Place>,
    /// Runs, each with the number of `cells` that come before it.
    runs: Vec<(usize, Run)>,
    run_bytes: usize,
}

/// Cells in allocations that the caller shares.
#[derive(Clone, Debug)]
struct Run {
    keys: Strings,
    values: Strings,
    /// A common prefix of all values.
    head: Bytes,
}

impl Run {
    fn iter(&self) -> impl Iterator<Item = (&[u8], CellValue<'_>)> {
        let value = |rest| CellValue { head: &self.head, rest };
        self.keys.iter().zip(self.values.iter().map(value))
    }
}

/// The value of a cell, in up to two pieces.
#[derive(Clone, Copy, Debug)]
pub struct CellValue<'a> {
    head: &'a [u8],
    rest: &'a [u8],
}

impl<'a> CellValue<'a> {
    /// The length of both pieces together, in bytes.
    pub fn len(&self) -> usize {
        self.head.len() + self.rest.len()
    }

    /// Whether the value has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in one piece. Copies into `scratch` only if the value has two pieces.
    pub fn joined<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if self.head.is_empty() {
            return self.rest;
        }
        scratch.clear();
        scratch.extend_from_slice(self.head);
        scratch.extend_from_slice(self.rest);
        scratch
    }

    /// A copy of the value in one piece.
    pub fn to_bytes(&self) -> Bytes {
        Bytes::from([self.head, self.rest].concat())
    }
}

/// Offsets of a cell in its block's buffer. The key ends where the value begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u32,
    value: u32,
    end: u32,
}

/// Length in bytes of the prefix that all keys of a table or index share.
const COMMON_BYTES: usize = 9;

/// How many cells ahead of the current one are prefetched.
const SOON: usize = 12;

/// Prefetches memory that is read soon. The cells of a sorted block lie in random order, so each would be a cache
/// miss. Without prefetching, these misses were the largest cost of writing an index.
#[cfg(target_arch = "x86_64")]
fn prefetch(byte: &u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no visible effect and cannot fail, whatever the address (Intel's manual, PREFETCHh).
    // This address is that of a live byte. Every processor of this architecture has the instruction.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch(_: &u8) {}

/// Width in bits of a cell's position in [`telling`]. It tells which of two cells was added first.
const POSITION_BITS: u32 = 32;

/// The sort key of a cell: the twelve bytes after the block's common prefix, then the cell's position. Most
/// comparisons of keys end within these bytes, and integers compare without a branch.
fn telling(rest: &[u8], position: usize) -> u128 {
    let first = match rest.first_chunk::<16>() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut first = [0; 16];
            first.iter_mut().zip(rest).for_each(|(byte, of_key)| *byte = *of_key);
            u128::from_be_bytes(first)
        }
    };
    // A block has no more cells than bytes, and its offsets have 32 bits.
    (first >> POSITION_BITS << POSITION_BITS) | position as u128
}

/// The length in bytes of the common prefix of two keys.
fn common_bytes(one: &[u8], next: &[u8]) -> usize {
    one.iter().zip(next).take_while(|(a, b)| a == b).count()
}

/// A block with more bytes than this is expected to fill up.
const MANY_BYTES: usize = 1 << 20;

impl CellBlock {
    /// A block whose cells come in order is full at this size in bytes.
    pub const MOST_BYTES: usize = 32 << 20;
    /// A block that will be sorted is full at this size in bytes. Blocks of unordered keys overlap, and each
    /// overlapping block costs one more rewrite of the range beneath it, so they are larger.
    pub const MOST_SORTED_BYTES: usize = 64 << 20;

    /// A block without cells.
    pub fn new() -> CellBlock {
        CellBlock::default()
    }

    /// The memory that the block uses, in bytes, without spare capacity.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.cells.len() * size_of::<Place>() + self.run_bytes
    }

    /// Whether a block whose cells come in order is full ([`CellBlock::MOST_BYTES`]).
    pub fn is_full(&self) -> bool {
        self.bytes() >= CellBlock::MOST_BYTES
    }

    /// Whether a block that will be sorted is full ([`CellBlock::MOST_SORTED_BYTES`]).
    pub fn is_full_run(&self) -> bool {
        self.bytes() >= CellBlock::MOST_SORTED_BYTES
    }

    /// The number of cells, those in runs included.
    pub fn len(&self) -> usize {
        self.cells.len() + self.runs.iter().map(|(_, run)| run.keys.len()).sum::<usize>()
    }

    /// Whether the block holds no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends cells without copying them. The value of each is `head` followed by its entry in `values`.
    pub fn push_run(&mut self, keys: Strings, values: Strings, head: Bytes) {
        /// Memory per row beside its bytes: the ends of its key and value.
        const ROW_BYTES: usize = 8;
        if !keys.is_empty() {
            self.run_bytes += keys.bytes() + values.bytes() + keys.len() * (head.len() + ROW_BYTES);
            self.runs.push((self.cells.len(), Run { keys, values, head }));
        }
    }

    /// Adds a cell; `value` appends its content. Answers false and adds nothing if the block cannot hold the cell.
    pub fn push(&mut self, key: &[u8], value: impl FnOnce(&mut Vec<u8>)) -> bool {
        let start = self.bytes.len();
        let most = CellBlock::MOST_SORTED_BYTES + MANY_BYTES;
        if start > MANY_BYTES && self.bytes.capacity() < most {
            // A block of this size is expected to fill up, so reserve once instead of copying on the way. Untouched
            // pages take no memory.
            self.bytes.reserve_exact(most.saturating_sub(start));
            self.cells.reserve_exact(self.cells.len() * (most / start));
        }
        self.bytes.extend_from_slice(key);
        let behind_key = self.bytes.len();
        value(&mut self.bytes);
        let places = [start, behind_key, self.bytes.len()].map(u32::try_from);
        let [Ok(at), Ok(value), Ok(end)] = places else {
            self.bytes.truncate(start);
            return false;
        };
        self.cells.push(Place { key: at, value, end });
        true
    }

    /// Sorts the cells by key. Answers the position of a cell whose key occurs twice, if there is one.
    pub fn sort(&mut self) -> Option<usize> {
        // Runs come in order and are not sorted in practice. If they are, their cells are copied first.
        for (_, run) in std::mem::take(&mut self.runs) {
            for (key, value) in run.iter() {
                self.push(key, |out| out.extend_from_slice(&value.to_bytes()));
            }
        }
        self.run_bytes = 0;
        let CellBlock { bytes, cells, .. } = self;
        let key = |place: &Place| bytes.get(place.key as usize..place.value as usize).unwrap_or_default();
        let first = cells.first().map(key)?;
        let common = cells.iter().fold(first.len(), |common, cell| match key(cell).get(..common) {
            Some(begin) if Some(begin) == first.get(..common) => common,
            _ => common_bytes(first, key(cell)),
        });
        let rest = |place: &Place| key(place).get(common..).unwrap_or_default();
        let mut order: Vec<u128> = cells.iter().enumerate().map(|(at, cell)| telling(rest(cell), at)).collect();
        order.sort_unstable();
        // `order` holds each position of `cells` once.
        let mut sorted = Vec::with_capacity(cells.len());
        sorted.extend(order.iter().filter_map(|told| cells.get((*told as u32) as usize).copied()));
        *cells = sorted;
        let mut twice = None;
        let mut begin = 0;
        for alike in order.chunk_by(|one, next| one >> POSITION_BITS == next >> POSITION_BITS) {
            let end = begin + alike.len();
            if let [_, _, ..] = alike {
                let cells = cells.get_mut(begin..end).unwrap_or_default();
                cells.sort_by(|a, b| rest(a).cmp(rest(b)));
                let same = cells.windows(2).position(|pair| matches!(pair, [a, b] if rest(a) == rest(b)));
                twice = twice.or(same.map(|at| begin + at));
            }
            begin = end;
        }
        twice
    }

    /// The first and the last key, or `None` for an empty block.
    pub fn ends(&self) -> Option<(&[u8], &[u8])> {
        let key = |place: &Place| self.part(place.key, place.value);
        let (first_run, last_run) = (self.runs.first(), self.runs.last());
        let first = match first_run {
            Some((0, run)) => run.keys.get(0)?,
            _ => self.cells.first().map(key)?,
        };
        let last = match last_run {
            Some((before, run)) if *before == self.cells.len() => run.keys.iter().next_back()?,
            _ => self.cells.last().map(key)?,
        };
        Some((first, last))
    }

    fn part(&self, from: u32, to: u32) -> &[u8] {
        self.bytes.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Iterates over the key and value of each cell, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], CellValue<'_>)> {
        let mut before = 0;
        let runs = self.runs.iter().flat_map(move |(cells, run)| {
            let places = self.cells.get(std::mem::replace(&mut before, *cells)..*cells).unwrap_or_default();
            self.cells_of(places).chain(run.iter())
        });
        let behind = self.runs.last().map_or(0, |(before, _)| *before);
        runs.chain(self.cells_of(self.cells.get(behind..).unwrap_or_default()))
    }

    fn cells_of<'a>(&'a self, places: &'a [Place]) -> impl Iterator<Item = (&'a [u8], CellValue<'a>)> {
        places.iter().enumerate().map(move |(at, place)| {
            if let Some(soon) = places.get(at + SOON) {
                let cell = self.part(soon.key, soon.end);
                [cell.first(), cell.last()].into_iter().flatten().for_each(prefetch);
            }
            let rest = self.part(place.value, place.end);
            (self.part(place.key, place.value), CellValue { head: &[], rest })
        })
    }

    /// Removes all cells and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
        self.runs.clear();
        self.run_bytes = 0;
    }
}

/// Whether two keys belong to the same table or index.
pub(crate) fn are_alike(one: &[u8], next: &[u8]) -> bool {
    one.get(..COMMON_BYTES).unwrap_or_default() == next.get(..COMMON_BYTES).unwrap_or_default()
}

/// The optional capability to write many cells at once, beside the log. Only for rows that nobody else writes at that
/// timestamp, and that nobody reads before the call answers.
pub trait BulkLoad: Send + Sync {
    /// Writes a block whose keys ascend, with each cell stamped `timestamp`. The cells are durable and readable when
    /// it answers. After an error, or when the future is dropped, the store holds all cells or none. A crash may keep
    /// these cells and lose an earlier write to the log that was not durable. Errors: `DiskFull`, `Io`, `TooLarge`.
    fn load(&self, timestamp: Timestamp, block: CellBlock) -> BoxFuture<'_, Result<()>>;
}

/// Keys that a large commit claims, and the conditions that must hold when it claims them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKeys {
    /// The claim that the keys are added to.
    pub claim: Claim,
    /// The families that are searched for conflicting cells.
    pub families: [Family; 2],
    /// Keys that are claimed each with its own conditions.
    pub keys: Vec<ClaimedKey>,
    /// Further keys that share their conditions.
    pub run: Option<ClaimedRun>,
    /// Exact conditions on single rows, as in [`CommitBatch::row_conditions`].
    pub row_conditions: Vec<(Bytes, Condition)>,
}

/// Ascending keys with the same conditions; see [`ClaimedKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The row keys, in ascending order.
    pub keys: Strings,
    /// Ignore cells at or below this timestamp: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// The conditions ignore cells of other classes.
    pub conflicts: ClassRange,
    /// The class of the cells that will be written.
    pub class: u8,
}

/// A claimed key. Neither family may have a newer cell of the conflicting classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKey {
    /// The claimed row key.
    pub key: Bytes,
    /// Ignore cells at or below this timestamp: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// The condition ignores cells of other classes.
    pub conflicts: ClassRange,
    /// The class of the cell that will be written.
    pub class: u8,
}

/// Cells that an engine has prepared for a commit. Dropping them discards them.
#[derive(Clone, Debug)]
pub struct PreparedCells {
    pub(crate) family: Family,
    pub(crate) timestamp: Timestamp,
    /// The first and the last key.
    pub(crate) ends: (Bytes, Bytes),
    pub(crate) medium: Arc<Medium>,
}

impl PreparedCells {
    /// Whether the cells belong to [`Family::Write`].
    pub fn is_write(&self) -> bool {
        self.family == Family::Write
    }
}

/// The medium that holds prepared cells.
#[derive(Debug)]
pub(crate) enum Medium {
    Block(CellBlock),
    /// In a file that the engine has not ingested yet.
    File(TemporaryFile),
}

/// A file that is deleted on drop, if it still exists.
#[derive(Debug)]
pub(crate) struct TemporaryFile(pub(crate) PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The engine may have ingested (moved) the file. If removal fails, the next start cleans up.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The optional capability of an engine with one log to commit many cells at once beside it. The caller claims the
/// keys step by step, and other commits pass between the steps. It prepares the cells for a timestamp in the
/// future. The commit at that timestamp ingests them in whole. Each cell is written once, and no other commit waits
/// while the cells are prepared.
pub trait BulkCommit: Send + Sync {
    /// Claims keys if all conditions hold. The keys are free again when the last clone of the claim is dropped. The
    /// index of a failed condition counts two per key, one for each family; the keys of the run come last.
    fn claim(&self, keys: ClaimedKeys) -> BoxFuture<'_, Result<std::result::Result<(), FailedCondition>>>;

    /// Prepares a block whose keys ascend, with each cell stamped `timestamp`. The cells stay invisible.
    /// Errors: `DiskFull`, `Io`, `TooLarge`.
    fn prepare(
        &self,
        family: Family,
        timestamp: Timestamp,
        block: CellBlock,
    ) -> BoxFuture<'_, Result<Vec<PreparedCells>>>;

    /// Commits the cells prepared for `timestamp`, durably and all or nothing, if the conditions of `batch` hold. The
    /// batch itself writes no cells. Blocks of one family must not overlap, and there must be cells of
    /// [`Family::Write`]. [`FailedCondition::Passed`] asks for cells prepared for a later timestamp.
    ///
    /// Errors: `StoreError::Undetermined` if the failure came when the cells may already be committed.
    fn commit_prepared(
        &self,
        commit: PreparedCommit,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>>;
}

/// A commit of prepared cells, as a request to the committer.
#[derive(Clone, Debug)]
pub struct PreparedCommit {
    /// The claim that holds the keys.
    pub claim: Claim,
    /// The conditions. The batch publishes and has no cells.
    pub batch: CommitBatch,
    /// The timestamp that the cells were prepared for.
    pub timestamp: Timestamp,
    /// The prepared cells of all families.
    pub cells: Vec<PreparedCells>,
}

/// Two are equal if they belong to the same claim, because a claim commits once.
impl PartialEq for PreparedCommit {
    fn eq(&self, other: &PreparedCommit) -> bool {
        self.claim == other.claim
    }
}

impl Eq for PreparedCommit {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_keys_do(keys in prop::collection::vec((prop::bool::ANY, prop::collection::vec(0u8..3, 0..24)), 0..40)) {
            let long = |(alike, rest): &(bool, Vec<u8>)| match alike {
                true => [&b"t12345678"[..], rest].concat(),
                false => rest.clone(),
            };
            let mut keys: Vec<Vec<u8>> = keys.iter().map(long).collect();
            let mut block = CellBlock::new();
            for key in &keys {
                prop_assert!(block.push(key, |value| value.extend(key.iter().rev())));
            }
            let twice = block.sort();
            keys.sort();
            let found: Vec<Vec<u8>> = block.iter().map(|(key, _)| key.to_vec()).collect();
            prop_assert_eq!(&found, &keys);
            prop_assert!(block.iter().all(|(key, value)| key.iter().rev().eq(value.to_bytes().iter())));
            prop_assert_eq!(twice, keys.windows(2).position(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn runs_are_cells_among_others() {
        let strings = |list: &[&'static str]| Strings::copied(list.iter().map(|string| string.as_bytes())).unwrap();
        let shown = |block: &CellBlock| {
            let mut scratch = Vec::new();
            let mut text = |(key, value): (&[u8], CellValue<'_>)| {
                assert_eq!(value.to_bytes(), value.joined(&mut scratch));
                assert_eq!(value.to_bytes().len(), value.len());
                format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value.joined(&mut scratch)))
            };
            block.iter().map(&mut text).collect::<Vec<_>>().join(" ")
        };
        let mut block = CellBlock::new();
        block.push_run(strings(&[]), strings(&[]), Bytes::new());
        assert!(block.is_empty() && block.ends().is_none());
        block.push_run(strings(&["a", "b"]), strings(&["1", ""]), Bytes::from_static(b"h"));
        assert_eq!(block.ends(), Some((&b"a"[..], &b"b"[..])));
        assert!(block.push(b"c", |out| out.push(b'3')) && block.push(b"d", |out| out.push(b'4')));
        block.push_run(strings(&["e"]), strings(&["5"]), Bytes::new());
        block.push_run(strings(&["f"]), strings(&["6"]), Bytes::from_static(b"h"));
        assert_eq!(block.ends(), Some((&b"a"[..], &b"f"[..])));
        assert!(block.push(b"g", |out| out.push(b'7')));
        assert_eq!((block.len(), block.ends()), (7, Some((&b"a"[..], &b"g"[..]))));
        assert_eq!(shown(&block), "a=h1 b=h c=3 d=4 e=5 f=h6 g=7");
        assert!(block.push(b"a0", |out| out.push(b'0')));
        assert_eq!(block.sort(), None);
        assert_eq!(shown(&block), "a=h1 a0=0 b=h c=3 d=4 e=5 f=h6 g=7");
        block.clear();
        assert!(block.is_empty() && block.bytes() == 0);
    }

    #[test]
    fn keys_that_differ_in_length_alone_are_not_the_same() {
        let mut block = CellBlock::new();
        for key in [&b"t12345678\0"[..], b"t12345678"] {
            assert!(block.push(key, |_| {}));
        }
        assert_eq!(block.sort(), None);
        assert_eq!(block.iter().map(|(key, _)| key.len()).collect::<Vec<_>>(), [9, 10]);
    }
}
