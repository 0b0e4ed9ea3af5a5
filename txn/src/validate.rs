//! Validates the reads of a transaction by reading again (docs/protocol.md, section 8). Over rows every COMMIT at
//! [`Isolation::Serializable`](crate::Isolation::Serializable) does so, after taking its commit_ts. On one log it is
//! needed only if the committer does not remember far enough back.
//!
//! Why this suffices over rows: a transaction that commits at or below our commit_ts wrote all its locks before
//! it took its own commit_ts. So it wrote them before we took ours. A change that is not visible now, as a write
//! or as a lock, lies above. A validation before commit_ts is taken would miss changes in between. So would one
//! at a commit_ts that readers pushed ahead of the oracle. A commit that validates therefore waits for the oracle
//! to catch up ([`crate::distributed_commit`]).

use crate::commit::CommitJob;
use crate::data::RecordKind;
use crate::error::{ConflictKind, Result};
use crate::lock::{Lock, LockStrength};
use crate::scan::successor;
use crate::snapshot::{ReadCounts, Snapshot};
use futures::StreamExt;
use storage::{Family, ReadFilter, Row, RowRange, ScanOptions, TimestampRange};

/// How many rows one call reads.
const BATCH: usize = 1024;

impl CommitJob {
    /// Checks whether anything that was read has been written since, up to `up_to`. Errors: a conflict
    /// that names the key.
    pub(crate) async fn validate_reads(&self, up_to: &Snapshot) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        let since = TimestampRange { from: self.snapshot.ts().next(), to: up_to.ts() };
        let locks = TimestampRange::up_to(up_to.ts());
        let filter = ReadFilter::new().with(Family::Lock, locks, usize::MAX).with(Family::Write, since, 1);
        let mut keys = Vec::new();
        for range in reads.iter() {
            if is_one_key(range) {
                keys.push(range.start.clone());
                continue;
            }
            let options = ScanOptions { batch_rows: BATCH, ..ScanOptions::default() };
            let mut batches = self.store.store.scan(range.clone(), filter.clone(), options);
            while let Some(rows) = batches.next().await.transpose()? {
                self.look_at(&rows, up_to).await?;
            }
        }
        for keys in keys.chunks(BATCH) {
            self.look_at(&self.store.store.read(keys, &filter).await?, up_to).await?;
        }
        Ok(())
    }

    async fn look_at(&self, rows: &[Row], up_to: &Snapshot) -> Result<()> {
        let mut locked = Vec::new();
        for row in rows {
            if let Some(write) = row.newest(Family::Write) {
                return Err(self.conflict(&row.key, ConflictKind::Read, write.timestamp));
            }
            let changes = LockStrength::Share.conflicting_classes();
            let mut others = false;
            let mut own = false;
            for cell in row.family(Family::Lock) {
                let is_change = changes.contains(&cell.value) && Lock::decode(&cell.value)?.kind != RecordKind::Lock;
                match cell.timestamp == self.start_ts {
                    true => own |= is_change,
                    false => others |= is_change,
                }
            }
            // Our prewrite has validated the rows that we write ourselves.
            if others && !own {
                locked.push(row.key.clone());
            }
        }
        if locked.is_empty() {
            return Ok(());
        }
        // Reading resolves the fates of the owners, or pushes them above us.
        let counts = ReadCounts::default();
        let before = self.store.read_many(&self.snapshot, &locked, &counts).await?;
        let after = self.store.read_many(up_to, &locked, &counts).await?;
        match locked.iter().zip(before.iter().zip(&after)).find(|(_, (before, after))| before != after) {
            Some((key, _)) => Err(self.conflict(key, ConflictKind::Read, up_to.ts())),
            None => Ok(()),
        }
    }
}

fn is_one_key(range: &RowRange) -> bool {
    range.end.as_ref().is_some_and(|end| *end == successor(&range.start))
}
