//! What definitions and checks need beyond a snapshot: the newest of what is committed, keys that are locked and compared with the
//! snapshot, and writes that are no conflict with those of others.

use super::{CommandNumber, Shared, Transaction, Write};
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::locks::{LockMode, LockName, LockWait};
use bytes::Bytes;
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use storage::{Family, ReadFilter, TimestampRange};

/// Knows a transaction again, and whether it is still there.
#[derive(Clone, Default)]
pub struct TransactionHandle(Weak<Shared>);

impl TransactionHandle {
    /// Whether it is the handle of this transaction, in whichever statement.
    pub fn is_of(&self, transaction: &Transaction) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&transaction.shared))
    }
    /// Whether nobody has the transaction any more.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Transaction {
    /// See [`TransactionHandle`].
    pub fn handle(&self) -> TransactionHandle {
        TransactionHandle(Arc::downgrade(&self.shared))
    }

    /// The transaction as a statement sees it that looks at what is newest, at every level. For reads that must know of commits after
    /// the snapshot: what is written is still held against the transaction's own.
    pub async fn for_newest(self: &Arc<Self>) -> Result<Arc<Transaction>> {
        if !self.isolation().has_one_snapshot() {
            return Ok(self.for_statement(self.quiet));
        }
        // The transaction's own snapshot comes first: over rows it names the transaction.
        let own = self.snapshot().await?.ts();
        let mut newest = self.shared.store.take_snapshot(None).await?;
        newest.locks_at = Some(own);
        let snapshot = RwLock::new(Some(Arc::new(newest)));
        Ok(Arc::new(Transaction { shared: self.shared.clone(), snapshot, quiet: self.quiet }))
    }

    /// Locks keys as rows are locked, until the transaction ends, and answers of each whether another has committed something to it
    /// since the statement's snapshot that excludes the strength: a write or a lock-only record. Unlike
    /// [`lock_rows`](Transaction::lock_rows) it leaves to the caller what follows from that, and others that commit at snapshot level
    /// do not look for these locks: whoever writes such keys takes them first. Errors: [`TxnError::NotLocked`].
    pub async fn lock_keys(&self, keys: &[(Bytes, LockStrength)], wait: LockWait) -> Result<Vec<bool>> {
        let snapshot = self.snapshot().await?;
        for (key, strength) in keys {
            let locked = self.lock_name(LockName::row(key), LockMode::of_row(*strength), key, wait).await;
            locked.map_err(|failure| TxnError::NotLocked { key: key.clone(), failure })?;
        }
        let store = self.store();
        let newest = self.newest().await?;
        let range = TimestampRange { from: snapshot.ts().next(), to: newest.ts() };
        let filter = ReadFilter::new().with(Family::Write, range, usize::MAX).with(Family::Rollback, range, usize::MAX);
        // Asked before it is read: of a commit that ends meanwhile the read may have met a lock where a record stands now.
        let lean = store.is_lean(&newest);
        if !lean {
            // A committed record may still be a lock.
            let own = self.shared.state.read().start_ts;
            for (key, strength) in keys {
                store.clear_locks(key, *strength, own).await?;
            }
        }
        let names: Vec<Bytes> = keys.iter().map(|(key, _)| key.clone()).collect();
        let mut written = HashSet::new();
        for row in store.store.read(&names, &filter).await? {
            let Some((key, strength)) = keys.iter().find(|(key, _)| *key == row.key) else { continue };
            let excluded = strength.conflicting_classes();
            let excludes =
                |class: Option<&u8>| class.is_some_and(|class| (excluded.from..=excluded.to).contains(class));
            if row.cells.iter().any(|cell| excludes(cell.value.first())) {
                written.insert(key.clone());
            }
        }
        if !written.is_empty() {
            // Who looks again must see it.
            self.when_published(newest.ts()).await?;
        }
        Ok(names.iter().map(|key| written.contains(key)).collect())
    }

    /// Buffers writes that do not depend on what their keys held: what others committed to those since the snapshot is no conflict. Each key
    /// is locked first, so that nobody else writes it before this transaction ends. The writes are a command of their own. Errors:
    /// [`TxnError::NotLocked`].
    pub async fn overwrite(&self, writes: Vec<Write>, wait: LockWait) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        let snapshot = self.snapshot().await?;
        for write in &writes {
            let locked = self.lock_name(LockName::row(&write.key), LockMode::of_row(write.strength), &write.key, wait);
            locked.await.map_err(|failure| TxnError::NotLocked { key: write.key.clone(), failure })?;
        }
        let newest = self.newest().await?;
        let own = self.advance_command();
        self.shared.row_locks.based_at(own, newest.ts());
        self.write(writes).await?;
        let next = self.advance_command();
        self.shared.row_locks.based_at(next, snapshot.ts());
        Ok(())
    }

    /// Drops what was buffered under `command` and later numbers, and keeps the locks that were taken meanwhile. The numbers are not used
    /// again: the current one advances.
    pub fn undo_writes(&self, command: CommandNumber) {
        let mut buffer = self.shared.buffer.write();
        buffer.rollback_to(command, self.command());
        self.advance_command();
    }
}
