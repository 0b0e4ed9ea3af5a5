//! [`Activities`]: the sessions of a server and what each is doing, for `pg_stat_activity`, `pg_cancel_backend` and
//! `pg_terminate_backend`.

use super::cancel::CancelToken;
use super::outcome::TransactionStatus;
use super::startup::Link;
use crate::types::Oid;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What does not change while a session lasts.
#[derive(Clone, Debug)]
pub struct Backend {
    /// Process number told to the client.
    pub pid: i32,
    /// Its database.
    pub database: (Oid, String),
    /// Its role.
    pub user: (Oid, String),
    /// What its client speaks over.
    pub link: Link,
    /// When it began.
    pub started: i64,
    /// Stops its statement.
    pub cancel: CancelToken,
    /// Ends its connection.
    pub terminate: CancelToken,
}

/// What a session does. Times are moments as datums have them.
#[derive(Clone, Debug, Default)]
pub struct Doing {
    /// `active`, `idle` and so on.
    pub state: &'static str,
    /// The statement under way, or the last.
    pub query: Arc<str>,
    /// When it began.
    pub query_start: Option<i64>,
    /// When the transaction under way began.
    pub transaction_start: Option<i64>,
    /// When `state` became what it is.
    pub state_change: Option<i64>,
    /// The setting application_name.
    pub application_name: Arc<str>,
}

/// A session among the others; gone from them when dropped.
#[derive(Debug)]
pub struct Activity {
    /// Who.
    pub backend: Backend,
    doing: Mutex<Doing>,
    number: u64,
    all: Arc<Activities>,
}

impl Activity {
    /// What it does now.
    pub fn doing(&self) -> Doing {
        self.doing.lock().clone()
    }
    /// A statement begins.
    pub(super) fn begin(&self, query: &Arc<str>, transaction_start: i64, now: i64, application_name: &Arc<str>) {
        let mut doing = self.doing.lock();
        doing.state = "active";
        doing.query = query.clone();
        doing.query_start = Some(now);
        doing.state_change = Some(now);
        doing.transaction_start = Some(transaction_start);
        doing.application_name = Arc::clone(application_name);
    }
    /// The client is awaited.
    pub(super) fn rest(&self, status: TransactionStatus, now: i64) {
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
    /// Adds a session.
    pub(super) fn register(self: &Arc<Self>, backend: Backend, application_name: Arc<str>) -> Arc<Activity> {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let (state_change, all) = (Some(backend.started), self.clone());
        let doing = Mutex::new(Doing { state: "idle", state_change, application_name, ..Doing::default() });
        let activity = Arc::new(Activity { backend, doing, number, all });
        state.sessions.insert(number, Arc::downgrade(&activity));
        activity
    }
    /// The sessions there are.
    pub fn list(&self) -> Vec<Arc<Activity>> {
        // Collected before the lock is let go, dropped after: a drop takes it again.
        let sessions: Vec<_> = self.state.lock().sessions.values().cloned().collect();
        sessions.iter().filter_map(std::sync::Weak::upgrade).collect()
    }
    /// The session of a process number.
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
