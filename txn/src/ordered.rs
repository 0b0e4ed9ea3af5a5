//! What a transaction has seen of commits that are ordered in the log and not yet published: [`Transaction::settled`].

use crate::error::Result;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::Timestamp;

impl Transaction {
    /// A snapshot of all that is ordered, for who looks at what it has locked. Whoever finds there what no published
    /// snapshot shows has to say so: [`Transaction::looks_at`].
    pub(crate) async fn newest(&self) -> Result<Arc<Snapshot>> {
        Ok(Arc::new(self.shared.store.take_ordered_snapshot().await?))
    }

    /// What the transaction does from now on may depend on all that a snapshot shows.
    pub(crate) fn looks_at(&self, newest: &Snapshot) {
        self.shared.looked_at.fetch_max(newest.ts().0, Ordering::SeqCst);
    }

    /// Resolves when all that it has looked at is published: to be awaited before anybody is told of what a quiet statement,
    /// or one that locks rows, has found. Errors: it never will be, for the log has failed.
    pub async fn settled(&self) -> Result<()> {
        match Timestamp(self.shared.looked_at.load(Ordering::SeqCst)) {
            Timestamp::ZERO => Ok(()),
            looked_at => self.when_published(looked_at).await,
        }
    }

    /// Resolves when every commit up to `timestamp` is published. Errors: it never will be, for the log has failed.
    pub(crate) async fn when_published(&self, timestamp: Timestamp) -> Result<()> {
        match self.shared.store.store.atomic() {
            Some(atomic) if atomic.published() < timestamp => Ok(atomic.when_published(timestamp).await?),
            _ => Ok(()),
        }
    }
}
