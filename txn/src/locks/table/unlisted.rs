//! Row locks that [`LockTable`] does not list: those of commits that did not look for locks, and those on disk. A row
//! is granted only after passing both.

use super::{LockFailure, LockTable, LockWait};
use crate::locks::locker::{Locker, LockerId};
use crate::locks::mode::{LockMode, LockName};
use crate::locks::spilled::{ListedRow, SpilledLocks};
use bytes::Bytes;
use futures::future::select;
use std::pin::pin;
use std::sync::Arc;

impl LockTable {
    /// Waits for the commits that write a row without having looked for its locks. Answers the rest of the wait.
    pub(super) async fn pass_unlooking(
        &self,
        key: &[u8],
        mode: LockMode,
        wait: LockWait,
    ) -> Result<LockWait, LockFailure> {
        let began = self.env.monotonic();
        loop {
            let mut ended = pin!(self.unlooking.ended());
            // Registered before the check, so that no end is missed.
            ended.as_mut().enable();
            let excluded = self.unlooking.exclude(key, mode);
            let waited = self.env.monotonic().saturating_sub(began);
            match wait {
                LockWait::For(Some(timeout)) if !excluded => {
                    return Ok(LockWait::For(Some(timeout.saturating_sub(waited))));
                }
                _ if !excluded => return Ok(wait),
                LockWait::No => return Err(LockFailure::Held),
                LockWait::For(None) => ended.await,
                LockWait::For(Some(timeout)) if waited >= timeout => return Err(LockFailure::TimedOut),
                LockWait::For(Some(timeout)) => drop(select(ended, self.env.sleep(timeout - waited)).await),
            }
        }
    }

    /// After a row was taken: releases it and takes it again while others hold it that the table did not list.
    pub(super) async fn pass_spilled(
        &self,
        locker: &Locker,
        name: LockName,
        mode: LockMode,
        key: &Bytes,
        wait: LockWait,
    ) -> Result<(), LockFailure> {
        let (id, began) = (locker.id(), self.env.monotonic());
        let list = |owner, held| self.state.lock().list(owner, name, held);
        loop {
            let listed = self.spilled.list(id, (name, key), mode, list);
            if listed == Ok(false) {
                return Ok(());
            }
            self.state.lock().release(id, name, mode.bit());
            listed?;
            let waited = self.env.monotonic().saturating_sub(began);
            let left = match wait {
                LockWait::No => return Err(LockFailure::Held),
                LockWait::For(timeout) => LockWait::For(timeout.map(|timeout| timeout.saturating_sub(waited))),
            };
            self.acquire_listed(locker, name, mode, key, left).await?;
        }
    }

    /// From now on every acquisition of a row looks at `locks`.
    pub(in crate::locks) fn begin_spilled(&self, locks: &Arc<SpilledLocks>) {
        self.spilled.enter(locks.clone());
    }

    /// Notes that all of `locks` will be released by their owner.
    pub(in crate::locks) fn end_spilled(&self, id: LockerId, locks: &Arc<SpilledLocks>) {
        self.spilled.leave(locks);
        self.release_listed(id, locks.end());
    }

    /// Releases rows that were listed for the spilled locks of `id`.
    pub(in crate::locks) fn release_listed(&self, id: LockerId, rows: Vec<ListedRow>) {
        let rows: Vec<(LockName, LockMode)> = rows.into_iter().map(|row| (row.name, row.mode)).collect();
        self.release(id, &rows);
    }
}
