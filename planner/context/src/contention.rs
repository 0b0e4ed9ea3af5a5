//! [`Contention`]: the most recent conflicts that refused a transaction, and the log lines of long waits and deadlocks.
//! The lock table itself remembers current waits.

use super::activity::Activities;
use parking_lot::Mutex;
use sql_error::SqlError;
use std::collections::VecDeque;
use std::sync::Arc;
use txn::locks::{LONG_WAIT, LockEvent};
use types::Oid;

/// The greatest number of remembered conflicts. The oldest is dropped first.
const MOST: usize = 1000;

/// A transaction that was refused.
#[derive(Clone, Debug)]
pub struct RefusedTransaction {
    /// The time of the refusal, as a datum of timestamptz.
    pub at: i64,
    /// The OID of the database.
    pub database: Oid,
    /// The process number of the session.
    pub pid: i32,
    /// The error, with its detail. It names the table if that is known.
    pub error: SqlError,
    /// How often the server had retried the transaction before.
    pub retries: u32,
}

/// A bounded list of refused transactions.
#[derive(Debug, Default)]
pub struct Contention {
    refused: Mutex<VecDeque<RefusedTransaction>>,
}

impl Contention {
    /// Remembers a conflict.
    pub fn note(&self, refused: RefusedTransaction) {
        let mut all = self.refused.lock();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(refused);
    }

    /// The remembered conflicts, oldest first.
    pub fn refused(&self) -> Vec<RefusedTransaction> {
        self.refused.lock().iter().cloned().collect()
    }
}

/// The statement of a session, as the log shows it.
fn statement_of(activities: &Activities, pid: i32) -> Arc<str> {
    activities.find(pid).map_or_else(|| "(not a session of this server)".into(), |activity| activity.doing().query)
}

/// Logs a lock event with the statements of all sessions concerned.
pub fn log(activities: &Activities, event: &LockEvent<'_>) {
    match event {
        LockEvent::Long(wait) => {
            let blockers: Vec<_> = wait
                .blocked_by
                .iter()
                .map(|pid| format!("process {pid}: {}", statement_of(activities, *pid)))
                .collect();
            tracing::warn!(
                pid = wait.label,
                statement = %statement_of(activities, wait.label),
                blocked_by = %blockers.join("; "),
                "a process waits for a lock for more than {} ms",
                LONG_WAIT.as_millis(),
            );
        }
        LockEvent::Deadlock(circle) => {
            let members: Vec<_> = circle
                .iter()
                .map(|at| {
                    let statement = statement_of(activities, at.label);
                    format!("process {} is blocked by process {}: {statement}", at.label, at.blocked_by)
                })
                .collect();
            tracing::warn!(processes = %members.join("; "), "deadlock detected");
        }
    }
}
