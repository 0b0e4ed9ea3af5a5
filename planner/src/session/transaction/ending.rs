//! The end of a session's transaction: commit, refusal, failure or rollback, and the notifications of it.

use super::super::conflict::name_conflict;
use super::super::contention::RefusedTransaction;
use super::super::shared::SessionShared;
use super::{Open, TransactionBlock};
use crate::error::{Result, SqlError};
use txn::TxnError;

impl TransactionBlock {
    /// Commits the implicit transaction, if one is open.
    pub async fn end_implicit(&mut self) -> Result<()> {
        if self.is_implicit() { self.finish().await } else { Ok(()) }
    }
    /// Handles a reported error: ends an implicit transaction, or marks a block as failed.
    pub async fn fail(&mut self) {
        match &mut self.open {
            Some(open) if open.explicit => {
                open.failed = true;
                if open.savepoints.is_empty() {
                    // Without a savepoint nothing of it can be saved, so it releases its table locks
                    // and its snapshot now.
                    crate::session::referential::references_of(&self.shared).lock().end();
                    self.shared.large_objects.lock().end();
                    crate::session::cursors::cursors_of(&self.shared).lock().after_rollback();
                    open.transaction.rollback().await;
                    end_advisory(&self.shared);
                    open.locks = self.database.catalog().locks().begin();
                    self.shared.set_locks(None);
                }
            }
            Some(_) => self.abort().await,
            None => {}
        }
    }

    pub(super) async fn finish(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        crate::session::referential::references_of(&self.shared).lock().end();
        self.shared.large_objects.lock().end();
        self.shared.set_locks(None);
        crate::session::cursors::cursors_of(&self.shared).lock().before_commit();
        let committed = match self.wait_for_locks(&open).await {
            Ok(()) => {
                let writes = open.transaction.has_writes();
                let committed = open.transaction.commit().await.map(drop).map_err(Refusal::Conflict);
                if writes && committed.is_ok() {
                    self.shared.losses.lock().won();
                }
                committed
            }
            Err(refusal) => {
                open.transaction.rollback().await;
                Err(refusal)
            }
        };
        end_advisory(&self.shared);
        match committed {
            Ok(()) => {
                crate::session::cursors::cursors_of(&self.shared).lock().after_commit();
                self.shared.with_settings(|stack| stack.commit());
                Ok(())
            }
            Err(refusal) => {
                crate::session::cursors::cursors_of(&self.shared).lock().after_rollback();
                // The rollback undoes SET ROLE, but the error must be worded for the role that ran the statement.
                let settings = self.shared.settings();
                self.shared.with_settings(|stack| stack.rollback());
                let error = match refusal {
                    Refusal::Conflict(error) => {
                        let catalog = open.catalog.as_ref();
                        Box::pin(name_conflict(&self.database, &self.shared, catalog, &settings, error)).await
                    }
                    Refusal::Stopped(error) => error,
                };
                self.note_refused(&error);
                Err(error)
            }
        }
    }
    /// Waits, before COMMIT, for rows that others have locked. This wait can be cancelled. A commit
    /// that has begun cannot.
    async fn wait_for_locks(&self, open: &Open) -> std::result::Result<(), Refusal> {
        let (settings, transaction) = (self.shared.settings(), &open.transaction);
        transaction.set_lock_timeout(settings.lock_timeout());
        if !transaction.waits_at_commit() {
            return Ok(());
        }
        let limits = self.limits_of(Some(open));
        let locked = Box::pin(limits.run(async { Ok(transaction.lock_writes().await) })).await;
        locked.map_err(Refusal::Stopped)?.map_err(Refusal::Conflict)
    }
    /// Records that the transaction was refused, if the error says so.
    pub fn note_refused(&self, error: &SqlError) {
        if error.is_retryable() {
            self.database.contention().note(RefusedTransaction {
                at: self.now(),
                database: self.shared.database_oid,
                pid: self.shared.backend_pid,
                error: error.clone(),
                retries: self.shared.retries(),
            });
        }
    }
    /// Rolls back an open transaction.
    pub async fn abort(&mut self) {
        if let Some(open) = self.open.take() {
            crate::session::referential::references_of(&self.shared).lock().end();
            self.shared.large_objects.lock().end();
            crate::session::cursors::cursors_of(&self.shared).lock().after_rollback();
            open.transaction.rollback().await;
            end_advisory(&self.shared);
            self.shared.set_locks(None);
            self.shared.with_settings(|stack| stack.rollback());
        }
    }
}

/// The reason why a transaction did not commit.
enum Refusal {
    Conflict(TxnError),
    /// COMMIT was cancelled while it waited.
    Stopped(SqlError),
}

/// Releases the advisory locks of a finished transaction.
fn end_advisory(shared: &SessionShared) {
    if let Some(advisory) = shared.advisory() {
        advisory.end_transaction();
    }
}
