//! Operations for definitions and checks beyond a snapshot: reads of the newest commits, locked keys that are
//! compared with the snapshot, and writes that do not conflict with those of others.

use super::{CommandNumber, Shared, Transaction, Write};
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::locks::{LockMode, LockName, LockWait};
use bytes::Bytes;
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use storage::{Family, ReadFilter, TimestampRange};

/// Identifies a transaction without keeping it alive.
#[derive(Clone, Default)]
pub struct TransactionHandle(Weak<Shared>);

impl TransactionHandle {
    /// Whether it identifies this transaction, in any of its statements.
    pub fn is_of(&self, transaction: &Transaction) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&transaction.shared))
    }
    /// Whether the transaction no longer exists.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Transaction {
    /// A handle that identifies this transaction.
    pub fn handle(&self) -> TransactionHandle {
        TransactionHandle(Arc::downgrade(&self.shared))
    }

    /// The transaction from the view of a statement that reads the newest commits, at every level. For reads that
    /// must know of commits after the snapshot. Writes are still validated against the transaction's own snapshot.
    pub async fn for_newest(self: &Arc<Self>) -> Result<Arc<Transaction>> {
        if !self.isolation().has_one_snapshot() {
            return Ok(self.for_statement(self.quiet));
        }
        // The transaction's own snapshot comes first, because over rows it defines the start_ts.
        let own = self.snapshot().await?.ts();
        let mut newest = self.shared.store.take_snapshot(None).await?;
        newest.locks_at = Some(own);
        let snapshot = RwLock::new(Some(Arc::new(newest)));
        Ok(Arc::new(Transaction { shared: self.shared.clone(), snapshot, quiet: self.quiet }))
    }

    /// Locks keys like rows, until the transaction ends. Answers for each key whether another transaction has
    /// committed a conflicting write or lock-only record since the statement's snapshot.
    ///
    /// Unlike [`lock_rows`](Transaction::lock_rows) it leaves the consequence to the caller.
    /// Commits at snapshot level do not look for these locks, so every writer of such keys must
    /// take them first. Errors: [`TxnError::NotLocked`].
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
        // Asked before the read. If a commit ends meanwhile, the read may have met a lock where a record is now.
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
            // A later look must see it.
            self.when_published(newest.ts()).await?;
        }
        Ok(names.iter().map(|key| written.contains(key)).collect())
    }

    /// Buffers writes that do not depend on their keys' old values, so commits of others to these keys since the
    /// snapshot are no conflict. Each key is locked first, so that nobody else writes it before this transaction
    /// ends. The writes are a command of their own. Errors: [`TxnError::NotLocked`].
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

    /// Drops the writes of `command` and later commands, and keeps the locks taken meanwhile. The numbers are not
    /// used again: the current number advances.
    pub fn undo_writes(&self, command: CommandNumber) {
        let mut buffer = self.shared.buffer.write();
        buffer.rollback_to(command, self.command());
        self.advance_command();
    }
}
