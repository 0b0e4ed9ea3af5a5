//! Tells how a transaction ended that asked for its identity. `pg_xact_status` answers this, also after a
//! COMMIT whose answer was lost. The primary of such a transaction is the row of its outcome;
//! [`crate::resolver`] explains that row.

use crate::data::RecordKind;
use crate::error::{Result, TxnError};
use crate::lock::{Lock, LockStrength};
use crate::resolver::{Status, roll_back_mutations};
use crate::store::TransactionStore;
use crate::system;
use bytes::Bytes;
use std::time::Duration;
use storage::Timestamp;

/// The outcome of a transaction that asked for its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Committed at this timestamp.
    Committed(Timestamp),
    /// Rolled back, or not committed before its server went down.
    Aborted,
    /// Still open or committing, here or on another node.
    InProgress,
    /// Ended so long ago that its row was garbage-collected.
    Forgotten,
}

/// The most undetermined transactions that are remembered.
const UNDETERMINED: usize = 4096;

impl TransactionStore {
    /// Remembers the primary of a transaction with an unknown outcome, for later questions. The oldest are forgotten.
    pub(crate) fn remember_undetermined(&self, start_ts: Timestamp, primary: Bytes) {
        let mut undetermined = self.undetermined.lock();
        undetermined.insert(start_ts, primary);
        if undetermined.len() > UNDETERMINED {
            undetermined.pop_first();
        }
    }

    /// The outcome of the transaction with this start_ts. It must have asked for its identity, or this process must
    /// have answered its COMMIT with [`TxnError::Undetermined`]. A state that may still change is `InProgress`.
    /// Errors: no transaction has this start_ts yet.
    pub async fn outcome(&self, start_ts: Timestamp) -> Result<Outcome> {
        if self.identified.lock().contains(&start_ts) {
            return Ok(Outcome::InProgress);
        }
        let key = system::outcome_key(start_ts);
        if self.store.atomic().is_none() {
            return self.outcome_by_row(start_ts).await;
        }
        if start_ts > self.oracle.last() {
            return Err(TxnError::Invalid(FUTURE));
        }
        let row = self.read_primary(&key, start_ts).await?;
        Ok(match row.committed {
            Some(commit_ts) => Outcome::Committed(commit_ts),
            None if start_ts < self.safe_point() => Outcome::Forgotten,
            None => Outcome::Aborted,
        })
    }

    /// Records that a transaction which asked for its identity ended without a commit, here and for other nodes. If
    /// the record does not get through, other nodes find out by themselves.
    pub(crate) async fn note_abort(&self, start_ts: Timestamp) {
        self.final_states.remember(start_ts, Status::RolledBack);
        if self.store.atomic().is_some() {
            return;
        }
        let mutations = roll_back_mutations(start_ts);
        if let Err(error) = self.change_row(&system::outcome_key(start_ts), Vec::new(), mutations).await {
            tracing::debug!(%error, %start_ts, "the end of a transaction could not be noted");
        }
    }

    /// The outcome on a store where the transaction may be open on another node.
    async fn outcome_by_row(&self, start_ts: Timestamp) -> Result<Outcome> {
        let now = self.oracle.timestamp().await?;
        if start_ts > now.timestamp {
            return Err(TxnError::Invalid(FUTURE));
        }
        let known = self.undetermined.lock().get(&start_ts).cloned();
        let primary = known.unwrap_or_else(|| system::outcome_key(start_ts));
        let row = self.read_primary(&primary, start_ts).await?;
        let expires_at = match &row.lock {
            Some(cell) => Lock::decode(&cell.value)?.expires_at,
            None if row.committed.is_some() || row.rolled_back => 0,
            None => {
                self.load_safe_point().await?;
                if start_ts < self.safe_point() {
                    return Ok(Outcome::Forgotten);
                }
                // Every node ends its own transactions at half the history. A prewrite that is under way then is
                // refused by the record that this question leaves.
                start_ts.0.saturating_add(half(self.options.history))
            }
        };
        let lock = Lock {
            strength: LockStrength::Update,
            kind: RecordKind::Put,
            primary,
            expires_at,
            min_commit_ts: Timestamp::ZERO,
            inlined: None,
        };
        Ok(match self.primary_status(start_ts, &lock, false, None).await? {
            Status::Committed(commit_ts) => Outcome::Committed(commit_ts),
            Status::RolledBack => Outcome::Aborted,
            Status::Live | Status::Gone => Outcome::InProgress,
        })
    }
}

const FUTURE: &str = "the transaction ID is in the future";

fn half(history: Duration) -> u64 {
    u64::try_from(history.as_micros() / 2).unwrap_or(u64::MAX)
}
