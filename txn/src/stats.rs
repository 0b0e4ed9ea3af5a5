//! [`TransactionStats`]: counters of a transaction, for EXPLAIN ANALYZE.

use crate::transaction::Transaction;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The counters of a transaction so far, for EXPLAIN ANALYZE and statistics.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransactionStats {
    /// The number of buffered writes.
    pub writes: u64,
    /// The memory of the buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether a part of the buffer is on disk.
    pub spilled: bool,
    /// Keys read from the store.
    pub keys_read: u64,
    /// Locks of other transactions that reads met.
    pub locks_met: u64,
    /// Remote calls to the store for reading.
    pub calls: u64,
    /// Remote calls that began when no other was under way.
    pub waves: u64,
    /// Calls that COMMIT must wait for.
    pub commit_calls: u64,
    /// Consecutive waves of calls that COMMIT must wait for.
    pub commit_waves: u64,
    /// Rows locked before COMMIT.
    pub rows_locked: u64,
    /// Locked rows with a newer version than the statement had seen.
    pub rows_changed: u64,
    /// Rows that were skipped because another transaction had locked them.
    pub rows_skipped: u64,
    /// Time spent on locking rows, nearly all of it waiting for others.
    pub lock_wait: Duration,
}

impl Transaction {
    /// The transaction's counters so far.
    pub fn stats(&self) -> TransactionStats {
        let buffer = self.shared.buffer.read();
        let writes = buffer.writes();
        let (commit_calls, commit_waves) = match self.shared.store.store.atomic() {
            _ if writes == 0 => (0, 0),
            Some(_) => (1, 1),
            None => {
                let guards = self.shared.row_locks.guards_any();
                let looks = u64::from(guards || !self.shared.unchanged.lock().is_empty());
                (writes.saturating_sub(buffer.locked()) + looks + 1, looks + 2)
            }
        };
        let locks = self.shared.row_locks.counts();
        TransactionStats {
            writes,
            buffer_bytes: buffer.memory_bytes() as u64,
            spilled: buffer.spilled(),
            keys_read: self.shared.counts.keys.load(Ordering::Relaxed),
            locks_met: self.shared.counts.locks.load(Ordering::Relaxed),
            calls: self.shared.counts.calls.load(Ordering::Relaxed),
            waves: self.shared.counts.waves.load(Ordering::Relaxed),
            commit_calls,
            commit_waves,
            rows_locked: locks.locked,
            rows_changed: locks.changed,
            rows_skipped: locks.skipped,
            lock_wait: locks.waited,
        }
    }
}
