//! [`Contention`]: the conflicts for which transactions were refused, the newest ones, and what the log says of long waits
//! and deadlocks. What waits there were the lock table remembers itself.

use super::activity::Activities;
use crate::error::SqlError;
use crate::types::Oid;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use txn::locks::{LONG_WAIT, LockEvent};

/// Conflicts that are remembered, at most.
const MOST: usize = 1000;

/// A transaction that was refused.
#[derive(Clone, Debug)]
pub struct RefusedTransaction {
    /// When, as a datum of timestamptz.
    pub at: i64,
    /// In which database.
    pub database: Oid,
    /// The session.
    pub pid: i32,
    /// The error: its table, where it names one, and its detail.
    pub error: SqlError,
    /// How often the server had run it before.
    pub retries: u32,
}

/// See the head of the module.
#[derive(Debug, Default)]
pub struct Contention {
    refused: Mutex<VecDeque<RefusedTransaction>>,
}

impl Contention {
    pub(super) fn note(&self, refused: RefusedTransaction) {
        let mut all = self.refused.lock();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(refused);
    }

    /// The newest, oldest first.
    pub fn refused(&self) -> Vec<RefusedTransaction> {
        self.refused.lock().iter().cloned().collect()
    }
}

/// What sessions run, as the log says it.
fn statement_of(activities: &Activities, pid: i32) -> Arc<str> {
    activities.find(pid).map_or_else(|| "(not a session of this server)".into(), |activity| activity.doing().query)
}

/// Writes what happened to locks into the log, with the statements of all who are concerned.
pub(super) fn log(activities: &Activities, event: &LockEvent<'_>) {
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
