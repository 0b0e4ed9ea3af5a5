//! [`TransactionStats`]: what a transaction has done so far, for EXPLAIN ANALYZE. Must not change anything.

use crate::transaction::Transaction;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What a transaction has done so far, for EXPLAIN ANALYZE and statistics.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransactionStats {
    /// Keys buffered.
    pub writes: u64,
    /// Bytes buffered in memory.
    pub buffer_bytes: u64,
    /// Whether the buffer went to disk.
    pub spilled: bool,
    /// Keys read from the store.
    pub keys_read: u64,
    /// Locks of others met while reading.
    pub locks_met: u64,
    /// Calls of the store made for reading, where calls travel.
    pub calls: u64,
    /// How many of them began when no other was under way.
    pub waves: u64,
    /// Calls that COMMIT has to wait for.
    pub commit_calls: u64,
    /// Waves of calls that COMMIT has to wait for, one after the other.
    pub commit_waves: u64,
    /// Rows locked before COMMIT, for others to wait.
    pub rows_locked: u64,
    /// Of them, those of which a newer version was there than the statement had seen.
    pub rows_changed: u64,
    /// Rows that another had locked, and that were skipped.
    pub rows_skipped: u64,
    /// Time that locking rows took: waiting for others, nearly all of it.
    pub lock_wait: Duration,
}

impl Transaction {
    /// What it has done so far.
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
