//! What COMMIT would refuse, told before it where that costs no call. Must not be relied on: COMMIT decides.

use super::Transaction;
use crate::error::{Conflict, ConflictKind, Result};
use bytes::Bytes;
use storage::{Family, FamilyFilter, TimestampRange};

impl Transaction {
    /// That another has written one of `keys` since the snapshot, which all of the transaction's writes are held against: writing
    /// that key would be refused at COMMIT. For rows that were just read: the store is asked for what it has at hand, and where
    /// it has nothing, or where statements have snapshots of their own, `None` says nothing.
    ///
    /// Answers when what was found can be read, as COMMIT's refusal does: who is told earlier and runs again takes a snapshot
    /// without it, and is refused for the same commit again and again for as long as the log is being synced.
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
