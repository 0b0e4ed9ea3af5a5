//! [`CommitMemory`]: the memory of large commits under way: copies of their writes, claimed keys, and blocks of
//! cells. A commit that would exceed the limit waits for others to end.

use std::sync::Arc;
use storage::CellBlock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes per permit of the semaphore.
const UNIT: usize = 64 << 10;
/// A commit of fewer bytes takes no permit, because all sessions together need little for such commits.
const LITTLE: usize = 1 << 20;

/// How a commit is written, as far as its memory depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitWay {
    /// As one batch that holds all writes.
    Batch,
    /// Its keys are claimed, and its cells are in blocks.
    Bulk,
    /// Only its fresh rows, which nobody else knows, are in blocks.
    Blocks,
    /// In small steps, which need little memory.
    Steps,
}

impl CommitWay {
    /// The way of a commit. `one_log`: one log holds every row. `in_bulk`: it commits in bulk. `small`: it fits one
    /// batch. `fresh`: it has rows that nobody else knows.
    pub(crate) fn of(one_log: bool, in_bulk: bool, small: bool, fresh: bool) -> CommitWay {
        if !one_log {
            CommitWay::Steps
        } else if in_bulk {
            CommitWay::Bulk
        } else if small {
            CommitWay::Batch
        } else if fresh {
            CommitWay::Blocks
        } else {
            CommitWay::Steps
        }
    }

    /// The approximate memory of a commit beside its buffer. `bytes` and `writes` describe its keys and values.
    pub(crate) fn bytes(self, bytes: u64, writes: u64) -> usize {
        /// Memory per write in a batch: two conditions, a cell, and their entries in the committer.
        const WRITE_BYTES: u64 = 320;
        /// Memory per claimed key, with its entry in the claim.
        const CLAIM_BYTES: u64 = 96;
        let blocks = 2 * (CellBlock::MOST_BYTES as u64).min(bytes);
        let taken = match self {
            CommitWay::Batch => bytes + writes * WRITE_BYTES,
            CommitWay::Bulk => blocks + writes * CLAIM_BYTES,
            CommitWay::Blocks => blocks,
            CommitWay::Steps => 0,
        };
        usize::try_from(taken).unwrap_or(usize::MAX)
    }
}

/// The memory budget of large commits. See the module documentation.
#[derive(Debug)]
pub struct CommitMemory {
    permits: Arc<Semaphore>,
    units: u32,
}

impl CommitMemory {
    /// A budget of `limit` bytes, at least a megabyte.
    pub(crate) fn new(limit: usize) -> CommitMemory {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
        let units = (limit.max(LITTLE) / UNIT).min(most) as u32;
        CommitMemory { permits: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Bytes in use by commits under way.
    pub fn used(&self) -> usize {
        (self.units as usize).saturating_sub(self.permits.available_permits()) * UNIT
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.units as usize * UNIT
    }

    /// Takes `bytes` bytes until the answer is dropped, and waits in line for them. A commit that needs more than
    /// the limit takes all.
    pub(crate) async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        if bytes < LITTLE {
            return None;
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.units);
        // The semaphore is never closed.
        self.permits.clone().acquire_many_owned(units).await.ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn a_large_commit_waits_for_others_and_a_small_one_does_not() {
        let memory = CommitMemory::new(64 << 20);
        let first = memory.take(40 << 20).now_or_never().unwrap();
        assert_eq!((memory.used(), memory.limit()), (40 << 20, 64 << 20));
        let mut whole = Box::pin(memory.take(usize::MAX));
        assert!(whole.as_mut().now_or_never().is_none());
        assert!(memory.take(LITTLE - 1).now_or_never().unwrap().is_none());
        assert!(memory.take(LITTLE).now_or_never().is_none(), "it does not pass the one before");
        drop(first);
        let whole = whole.now_or_never().unwrap();
        assert_eq!(memory.used(), memory.limit());
        drop(whole);
        assert_eq!(memory.used(), 0);
    }
}
