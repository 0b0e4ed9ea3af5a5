//! Finds conflicts before COMMIT, if that costs no call. COMMIT still decides.

use super::Transaction;
use crate::error::{Conflict, ConflictKind, Result};
use bytes::Bytes;
use storage::{Family, FamilyFilter, TimestampRange};

impl Transaction {
    /// A committed write of another transaction to one of `keys` since the snapshot, if one is found. COMMIT would
    /// refuse a write of that key. Only for transactions with one snapshot, and for rows that were just read: the
    /// store answers from what it has at hand. `None` means nothing.
    ///
    /// Answers when the found commit is published, as COMMIT's refusal does. Otherwise the transaction would
    /// run again with a snapshot that misses the commit. It would be refused again and again for as long as the
    /// log is being synced.
    pub async fn changed_since(&self, keys: &[Bytes]) -> Result<Option<Conflict>> {
        if !self.isolation().has_one_snapshot() {
            return Ok(None);
        }
        let snapshot_ts = self.snapshot_ts().await?;
        let newer = FamilyFilter { family: Family::Write, range: TimestampRange::after(snapshot_ts), cells: 1 };
        for key in keys {
            if let Some(found) = self.store().store.read_at_once(key, &newer)
                && let Some(cell) = found?
            {
                let (key, found) = (key.clone(), cell.timestamp);
                self.when_published(found).await?;
                return Ok(Some(Conflict { key, snapshot_ts, found, kind: ConflictKind::Write }));
            }
        }
        Ok(None)
    }
}
