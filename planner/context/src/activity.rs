//! [`Activities`]: the sessions of a server and what each is doing. They serve `pg_stat_activity`, `pg_cancel_backend`
//! and `pg_terminate_backend`. Must not know how statements run.

use super::cancel::CancelToken;
use super::link::Link;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Oid;

/// The status for ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: outside a block.
    Idle,
    /// `T`: in a block.
    InBlock,
    /// `E`: in a failed block.
    Failed,
}

/// The facts of a session that never change.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The process number that the client was told.
    pub pid: i32,
    /// OID and name of the database.
    pub database: (Oid, String),
    /// OID and name of the role.
    pub user: (Oid, String),
    /// The addresses and TLS parameters of the connection.
    pub link: Link,
    /// The session's start, as a datum of timestamptz.
    pub started: i64,
    /// Cancels the statement that runs.
    pub cancel: CancelToken,
    /// Ends the connection to the client.
    pub terminate: CancelToken,
}

/// The present state of a session. Times are datums of timestamptz.
#[derive(Clone, Debug, Default)]
pub struct Doing {
    /// `active`, `idle` and the other states of `pg_stat_activity`.
    pub state: &'static str,
    /// The text of the current statement, or of the last one.
    pub query: Arc<str>,
    /// The start of that statement.
    pub query_start: Option<i64>,
    /// The start of the current transaction.
    pub transaction_start: Option<i64>,
    /// The time at which `state` last changed.
    pub state_change: Option<i64>,
    /// The value of the session's application_name.
    pub application_name: Arc<str>,
}

/// The entry of a session in [`Activities`]. Dropping it removes the entry.
#[derive(Debug)]
pub struct Activity {
    /// The fixed facts of the session.
    pub backend: Backend,
    doing: Mutex<Doing>,
    number: u64,
    all: Arc<Activities>,
}

impl Activity {
    /// The present state of the session.
    pub fn doing(&self) -> Doing {
        self.doing.lock().clone()
    }
    /// Records that a statement begins.
    pub fn begin(&self, query: &Arc<str>, transaction_start: i64, now: i64, application_name: &Arc<str>) {
        let mut doing = self.doing.lock();
        doing.state = "active";
        doing.query = query.clone();
        doing.query_start = Some(now);
        doing.state_change = Some(now);
        doing.transaction_start = Some(transaction_start);
        doing.application_name = Arc::clone(application_name);
    }
    /// Records that the session waits for its client.
    pub fn rest(&self, status: TransactionStatus, now: i64) {
        let mut doing = self.doing.lock();
        doing.state = match status {
            TransactionStatus::Idle => "idle",
            TransactionStatus::InBlock => "idle in transaction",
            TransactionStatus::Failed => "idle in transaction (aborted)",
        };
        doing.state_change = Some(now);
        if status == TransactionStatus::Idle {
            doing.transaction_start = None;
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.all.state.lock().sessions.remove(&self.number);
    }
}

/// All sessions of a server, oldest first.
#[derive(Debug, Default)]
pub struct Activities {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    sessions: BTreeMap<u64, std::sync::Weak<Activity>>,
}

impl Activities {
    /// Adds an entry for a session.
    pub fn register(self: &Arc<Self>, backend: Backend, application_name: Arc<str>) -> Arc<Activity> {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let (state_change, all) = (Some(backend.started), self.clone());
        let doing = Mutex::new(Doing { state: "idle", state_change, application_name, ..Doing::default() });
        let activity = Arc::new(Activity { backend, doing, number, all });
        state.sessions.insert(number, Arc::downgrade(&activity));
        activity
    }
    /// All sessions that exist now, oldest first.
    pub fn list(&self) -> Vec<Arc<Activity>> {
        // Dropping an [`Activity`] takes the lock again, so the entries are collected under the lock and dropped after
        // it.
        let sessions: Vec<_> = self.state.lock().sessions.values().cloned().collect();
        sessions.iter().filter_map(std::sync::Weak::upgrade).collect()
    }
    /// The session with this process number.
    pub fn find(&self, pid: i32) -> Option<Arc<Activity>> {
        self.list().into_iter().find(|activity| activity.backend.pid == pid)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_and_go() {
        let all = Arc::new(Activities::default());
        let backend = |pid| Backend {
            pid,
            database: (5, "postgres".into()),
            user: (10, "postgres".into()),
            link: Link::default(),
            started: 1,
            cancel: CancelToken::new(),
            terminate: CancelToken::new(),
        };
        let first = all.register(backend(7), "psql".into());
        let second = all.register(backend(8), "".into());
        assert_eq!(all.list().len(), 2);
        first.begin(&"SELECT 1".into(), 2, 3, &"other".into());
        let doing = all.find(7).unwrap().doing();
        assert_eq!((doing.state, doing.query.as_ref(), doing.transaction_start), ("active", "SELECT 1", Some(2)));
        first.rest(TransactionStatus::Failed, 4);
        assert_eq!(first.doing().state, "idle in transaction (aborted)");
        first.rest(TransactionStatus::Idle, 5);
        assert_eq!(first.doing().transaction_start, None);
        drop(second);
        assert!(all.find(8).is_none());
    }
}
