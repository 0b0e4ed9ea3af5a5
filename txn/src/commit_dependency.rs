//! Tracks how far a transaction depends on commits that are ordered in the log and not yet published; see
//! [`Transaction::settled`] for the wait that follows from it.

use crate::error::Result;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::Timestamp;

impl Transaction {
    /// A snapshot of all ordered commits, to look at rows that the transaction has locked. If the caller uses a
    /// version that no published snapshot shows, it must call [`Transaction::looks_at`].
    pub(crate) async fn newest(&self) -> Result<Arc<Snapshot>> {
        Ok(Arc::new(self.shared.store.take_ordered_snapshot().await?))
    }

    /// Notes that the transaction may depend on everything that `newest` shows.
    pub(crate) fn looks_at(&self, newest: &Snapshot) {
        self.shared.looked_at.fetch_max(newest.ts().0, Ordering::SeqCst);
    }

    /// Resolves when everything the transaction has looked at is published. The caller must await it before it
    /// reports what a quiet statement, or one that locks rows, has found. Errors: the log has failed, so it
    /// never will be published.
    pub async fn settled(&self) -> Result<()> {
        match Timestamp(self.shared.looked_at.load(Ordering::SeqCst)) {
            Timestamp::ZERO => Ok(()),
            looked_at => self.when_published(looked_at).await,
        }
    }

    /// Resolves when every commit up to `timestamp` is published. Errors: the log has failed, so they never will be.
    pub(crate) async fn when_published(&self, timestamp: Timestamp) -> Result<()> {
        match self.shared.store.store.atomic() {
            Some(atomic) if atomic.published() < timestamp => Ok(atomic.when_published(timestamp).await?),
            _ => Ok(()),
        }
    }
}
