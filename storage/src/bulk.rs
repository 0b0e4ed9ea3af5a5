//! [`CellBlock`], [`BulkLoad`] and [`BulkCommit`]: many new cells at a time, handed to the engine in order, beside its
//! log.

use crate::committer::claims::Claim;
use crate::contract::{ClassRange, CommitBatch, Condition, FailedCondition, Family};
use crate::env::BoxFuture;
use crate::error::Result;
use crate::strings::Strings;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::path::PathBuf;
use std::sync::Arc;

/// Cells of one family, one a row, that lie in one allocation; or in runs, as somebody has them.
#[derive(Clone, Debug, Default)]
pub struct CellBlock {
    bytes: Vec<u8>,
    cells: Vec<Place>,
    /// With how many of `cells` are before each.
    runs: Vec<(usize, Run)>,
    run_bytes: usize,
}

/// Cells that lie elsewhere.
#[derive(Clone, Debug)]
struct Run {
    keys: Strings,
    values: Strings,
    /// What each value begins with.
    head: Bytes,
}

impl Run {
    fn iter(&self) -> impl Iterator<Item = (&[u8], CellValue<'_>)> {
        let value = |rest| CellValue { head: &self.head, rest };
        self.keys.iter().zip(self.values.iter().map(value))
    }
}

/// The value of a cell, which may lie in two pieces.
#[derive(Clone, Copy, Debug)]
pub struct CellValue<'a> {
    head: &'a [u8],
    rest: &'a [u8],
}

impl<'a> CellValue<'a> {
    /// Bytes of both.
    pub fn len(&self) -> usize {
        self.head.len() + self.rest.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In one piece, which is `scratch` where it is not.
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

    /// A copy in one piece.
    pub fn to_bytes(&self) -> Bytes {
        Bytes::from([self.head, self.rest].concat())
    }
}

/// Where a cell lies in its block.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u32,
    value: u32,
    end: u32,
}

/// Keys of a table or index have so many bytes in common.
const COMMON_BYTES: usize = 9;

/// Cells between the one that is looked at and the one that is asked of memory.
const SOON: usize = 12;

/// Has the processor bring memory near that is wanted soon. Sorted, the cells of a block lie anywhere in it: each would be waited for,
/// which was the most that writing an index took.
#[cfg(target_arch = "x86_64")]
fn prefetch(byte: &u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: it changes nothing that a program can see and cannot fail, whatever the address (Intel's manual, PREFETCHh), and
    // this one is that of a byte that is there. Every processor of this architecture has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch(_: &u8) {}

/// So many bits tell which of two cells was added first.
const POSITION_BITS: u32 = 32;

/// The twelve bytes behind what all keys of a block have in common, and where the key stands: most comparisons of keys end with the
/// first, and a number is compared without a jump.
fn telling(rest: &[u8], position: usize) -> u128 {
    let first = match rest.first_chunk::<16>() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut first = [0; 16];
            first.iter_mut().zip(rest).for_each(|(byte, of_key)| *byte = *of_key);
            u128::from_be_bytes(first)
        }
    };
    // A block has no more cells than bytes, whose places are of 32 bits.
    (first >> POSITION_BITS << POSITION_BITS) | position as u128
}

/// How many bytes two keys have in common at their beginning.
fn common_bytes(one: &[u8], next: &[u8]) -> usize {
    one.iter().zip(next).take_while(|(a, b)| a == b).count()
}

/// A block with more bytes than this is going to be full.
const MANY_BYTES: usize = 1 << 20;

impl CellBlock {
    /// A block is full with so many bytes.
    pub const MOST_BYTES: usize = 32 << 20;
    /// A block that is to be sorted is, with so many: blocks of keys in any order overlap, and what they are written to is read
    /// and written once more for each that does.
    pub const MOST_SORTED_BYTES: usize = 64 << 20;

    /// An empty block.
    pub fn new() -> CellBlock {
        CellBlock::default()
    }

    /// Bytes that it holds in memory, but for room to grow.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.cells.len() * size_of::<Place>() + self.run_bytes
    }

    /// Whether no more should be added: it is as large as a block is meant to be whose cells come in order.
    pub fn is_full(&self) -> bool {
        self.bytes() >= CellBlock::MOST_BYTES
    }

    /// The same of a block that is to be sorted.
    pub fn is_full_run(&self) -> bool {
        self.bytes() >= CellBlock::MOST_SORTED_BYTES
    }

    /// Cells.
    pub fn len(&self) -> usize {
        self.cells.len() + self.runs.iter().map(|(_, run)| run.keys.len()).sum::<usize>()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds cells behind those before, as they lie: the value of each is `head` and its own.
    pub fn push_run(&mut self, keys: Strings, values: Strings, head: Bytes) {
        /// What a row takes beside its bytes: where its key and its value end.
        const ROW_BYTES: usize = 8;
        if !keys.is_empty() {
            self.run_bytes += keys.bytes() + values.bytes() + keys.len() * (head.len() + ROW_BYTES);
            self.runs.push((self.cells.len(), Run { keys, values, head }));
        }
    }

    /// Adds the cell of a row; `value` appends its content. False, and nothing is added, when the block cannot hold it.
    pub fn push(&mut self, key: &[u8], value: impl FnOnce(&mut Vec<u8>)) -> bool {
        let start = self.bytes.len();
        let most = CellBlock::MOST_SORTED_BYTES + MANY_BYTES;
        if start > MANY_BYTES && self.bytes.capacity() < most {
            // One that grew so far becomes full: not to be copied on the way there. What is not touched takes no memory.
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

    /// Puts the cells in the order of their keys. Answers the position of a cell whose key another one has too, if there is one.
    pub fn sort(&mut self) -> Option<usize> {
        // Nobody sorts what comes in runs; but if.
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
        // `order` has the positions of `cells`, each once.
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

    /// The keys of the first and the last cell.
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

    /// Key and value of each cell, in order.
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

    /// Takes all cells out; the memory stays for the next.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
        self.runs.clear();
        self.run_bytes = 0;
    }
}

/// Whether two keys are of one table or index.
pub(crate) fn are_alike(one: &[u8], next: &[u8]) -> bool {
    one.get(..COMMON_BYTES).unwrap_or_default() == next.get(..COMMON_BYTES).unwrap_or_default()
}

/// The optional capability to take many cells at once, beside the log. For rows that nobody else writes at that timestamp, and
/// that nobody is told of before the call has answered.
pub trait BulkLoad: Send + Sync {
    /// Writes a block whose keys ascend, each cell stamped `timestamp`. Durable and readable when it answers; after an error, or
    /// when the future is dropped, all of it or nothing is. What was written through the log before may be lost in a crash that
    /// leaves these cells, unless it was durable. Errors: `DiskFull`, `Io`, `TooLarge`.
    fn load(&self, timestamp: Timestamp, block: CellBlock) -> BoxFuture<'_, Result<()>>;
}

/// Keys that a large commit claims, and what must hold of them at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKeys {
    /// Who claims them.
    pub claim: Claim,
    /// The families in which cells count.
    pub families: [Family; 2],
    /// The keys.
    pub keys: Vec<ClaimedKey>,
    /// More of them.
    pub run: Option<ClaimedRun>,
    /// As in a [`CommitBatch`].
    pub row_conditions: Vec<(Bytes, Condition)>,
}

/// Keys that are claimed alike, ascending; see [`ClaimedKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRun {
    /// Row keys.
    pub keys: Strings,
    /// Cells at or below this timestamp do not count.
    pub none_after: Timestamp,
    /// Classes that count.
    pub conflicts: ClassRange,
    /// The class of what will be written.
    pub class: u8,
}

/// A key that is claimed. In neither family may it have a cell of these classes that is newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKey {
    /// Row key.
    pub key: Bytes,
    /// Cells at or below this timestamp do not count: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// Classes that count.
    pub conflicts: ClassRange,
    /// The class of what will be written.
    pub class: u8,
}

/// Cells that an engine has ready to be committed. Dropped, they come to nothing.
#[derive(Clone, Debug)]
pub struct PreparedCells {
    pub(crate) family: Family,
    pub(crate) timestamp: Timestamp,
    /// The keys of the first and the last.
    pub(crate) ends: (Bytes, Bytes),
    pub(crate) medium: Arc<Medium>,
}

impl PreparedCells {
    /// Whether they are of [`Family::Write`].
    pub fn is_write(&self) -> bool {
        self.family == Family::Write
    }
}

/// Where prepared cells lie.
#[derive(Debug)]
pub(crate) enum Medium {
    /// In memory.
    Block(CellBlock),
    /// In a file that the engine has not taken in.
    File(TemporaryFile),
}

/// A file that is removed when it is dropped, if it is still there.
#[derive(Debug)]
pub(crate) struct TemporaryFile(pub(crate) PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The engine has moved it away, or nobody knows it; the next start looks again.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The optional capability of an engine with one log to commit many cells at once beside it. The keys are claimed step by step,
/// which others pass between; the cells are made ready for a timestamp that is not reached yet; and the commit at that timestamp takes
/// them in whole. So each cell is written once, and nobody waits for the making of the cells.
pub trait BulkCommit: Send + Sync {
    /// Claims keys, if everything holds. Their claims end with the claim. The position that a failed condition names counts two for
    /// each key, one for each family; those of the run come last.
    fn claim(&self, keys: ClaimedKeys) -> BoxFuture<'_, Result<std::result::Result<(), FailedCondition>>>;

    /// Makes cells ready: a block whose keys ascend, each stamped `timestamp`. Nobody sees anything of them. Errors: `DiskFull`, `Io`,
    /// `TooLarge`.
    fn prepare(
        &self,
        family: Family,
        timestamp: Timestamp,
        block: CellBlock,
    ) -> BoxFuture<'_, Result<Vec<PreparedCells>>>;

    /// Commits at `timestamp` what was prepared for it, all or nothing, durably, when the batch's conditions hold; the batch
    /// writes no cells of its own. [`FailedCondition::Passed`]: the cells are to be prepared for a later one. Blocks of a family
    /// do not overlap, and there are cells of [`Family::Write`]. `Err` is `StoreError::Undetermined` from the moment on at which it may have
    /// been committed.
    fn commit_prepared(
        &self,
        commit: PreparedCommit,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>>;
}

/// A commit of prepared cells.
#[derive(Clone, Debug)]
pub struct PreparedCommit {
    /// By whom their keys are claimed.
    pub claim: Claim,
    /// What must hold. Publishes, without cells.
    pub batch: CommitBatch,
    /// For when they were prepared.
    pub timestamp: Timestamp,
    /// The cells.
    pub cells: Vec<PreparedCells>,
}

/// Two are the same when they are by the same claim: it commits once.
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
