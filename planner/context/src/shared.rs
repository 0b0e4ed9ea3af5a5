//! [`SessionShared`]: the part of a session that the functions of a running plan may use.

use super::advisory::AdvisoryLocks;
use super::cancel::CancelToken;
use super::contention_queue::Losses;
use super::cursor_list::CursorList;
use super::large_object::Descriptors;
use super::notice::Notice;
use super::notification::{Inbox, Said};
use super::part::Part;
use super::server::ServerShared;
use crate::random::{Generator, seeded};
use crate::workers::Workers;
use catalog::{HeldLocks, SchemaDescriptor, SequenceMemory};
use parking_lot::Mutex;
use settings::Settings;
use settings::stack::SettingsStack;
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use types::Oid;

/// The session's identity, settings, sequence values, cursors and notices. The session and its running plans share it.
pub struct SessionShared {
    /// The state of currval and lastval.
    pub sequences: SequenceMemory,
    /// The cursors of the session.
    pub cursors: OnceLock<Box<dyn CursorList>>,
    /// The prepared statements, by name.
    pub prepared: Mutex<BTreeMap<String, super::prepared::Shown>>,
    /// The cached INSERT of the last COPY FROM STDIN.
    pub copied: Part,
    /// The random generator, once it was used.
    pub random: Mutex<Option<Generator>>,
    /// The keys whose constraints are still to be checked.
    pub references: Part,
    /// The large objects that the current transaction has open.
    pub large_objects: Mutex<Descriptors>,
    /// The notifications of the current transaction.
    pub said: Mutex<Said>,
    /// The notifications from other sessions.
    pub inbox: Arc<Inbox>,
    database: Option<Arc<ServerShared>>,
    /// The role that logged in.
    pub user: String,
    /// The OID of that role.
    pub user_oid: Oid,
    /// Whether that role is a superuser.
    pub superuser: bool,
    /// The name of the database.
    pub database_name: String,
    /// The OID of the database.
    pub database_oid: Oid,
    /// The process number, `pg_backend_pid()`.
    pub backend_pid: i32,
    /// Cancels the session's statements.
    pub cancel: CancelToken,
    /// The deadline of the current statement, in microseconds of the monotonic clock.
    deadline: AtomicU64,
    /// How often the current transaction was retried after a conflict.
    retries: AtomicU32,
    /// The recent losses of its transactions to others.
    pub losses: Mutex<Losses>,
    settings: Mutex<SettingsStack>,
    notices: Mutex<Vec<Notice>>,
    locks: Mutex<Option<Arc<HeldLocks>>>,
    /// The advisory locks, and the owner of the session's locks.
    advisory: Option<AdvisoryLocks>,
    /// The schema of temporary relations, once one was needed.
    temporary: Mutex<Option<SchemaDescriptor>>,
    /// Whether a temporary table may have an ON COMMIT action.
    on_commit: AtomicBool,
}

impl SessionShared {
    /// The shared part of a new session.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        database: Arc<ServerShared>,
        user: (String, Oid, bool),
        database_name: (String, Oid),
        backend_pid: i32,
        cancel: CancelToken,
        settings: SettingsStack,
    ) -> Self {
        let locker = database.transactions().locker(backend_pid);
        let said = Said::over(database.channels());
        SessionShared {
            advisory: Some(AdvisoryLocks::new(locker)),
            database: Some(database),
            user: user.0,
            user_oid: user.1,
            superuser: user.2,
            database_name: database_name.0,
            database_oid: database_name.1,
            backend_pid,
            cancel,
            deadline: AtomicU64::new(u64::MAX),
            retries: AtomicU32::new(0),
            losses: Mutex::default(),
            settings: Mutex::new(settings),
            notices: Mutex::default(),
            sequences: SequenceMemory::default(),
            cursors: OnceLock::new(),
            prepared: Mutex::default(),
            copied: Part::default(),
            random: Mutex::default(),
            references: Part::default(),
            large_objects: Mutex::default(),
            said: Mutex::new(said),
            inbox: Arc::default(),
            locks: Mutex::default(),
            temporary: Mutex::default(),
            on_commit: AtomicBool::new(false),
        }
    }
    /// The advisory locks. `None` for a session without a database (tests).
    pub fn advisory(&self) -> Option<&AdvisoryLocks> {
        self.advisory.as_ref()
    }
    /// The schema of temporary relations, once one was needed.
    pub fn temporary(&self) -> Option<SchemaDescriptor> {
        self.temporary.lock().clone()
    }
    /// Sets the schema of temporary relations.
    pub fn set_temporary(&self, schema: SchemaDescriptor) {
        self.with_settings(|stack| stack.set_temporary(&schema.name));
        *self.temporary.lock() = Some(schema);
    }
    /// Whether a temporary table may have an ON COMMIT action.
    pub fn has_on_commit(&self) -> bool {
        self.on_commit.load(Ordering::Relaxed)
    }
    /// Notes whether temporary tables do something at COMMIT.
    pub fn set_on_commit(&self, on_commit: bool) {
        self.on_commit.store(on_commit, Ordering::Relaxed);
    }
    /// The server's shared state. Errors for a session without one (tests).
    pub fn database(&self) -> Result<&Arc<ServerShared>> {
        self.database.as_ref().ok_or_else(|| SqlError::internal("a session without a database"))
    }
    /// Sets the deadline of a statement that begins, by the monotonic clock.
    pub fn set_deadline(&self, deadline: Option<Duration>) {
        let deadline = deadline.and_then(|deadline| u64::try_from(deadline.as_micros()).ok());
        self.deadline.store(deadline.unwrap_or(u64::MAX), Ordering::Relaxed);
    }
    /// How often the current transaction was retried after a conflict.
    pub fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }
    /// Notes how often the transaction was retried.
    pub fn set_retries(&self, retries: u32) {
        self.retries.store(retries, Ordering::Relaxed);
    }
    /// Errors: 57014 if the current statement must stop. For operators that work long without a pause.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(SqlError::new(state::QUERY_CANCELED, "canceling statement due to user request"));
        }
        let deadline = self.deadline.load(Ordering::Relaxed);
        if deadline != u64::MAX
            && let Some(database) = &self.database
            && database.env().monotonic() >= Duration::from_micros(deadline)
        {
            return Err(SqlError::new(state::QUERY_CANCELED, "canceling statement due to statement timeout"));
        }
        Ok(())
    }
    /// The threads for long computations.
    pub fn workers(&self) -> Workers {
        self.database.as_ref().map(|database| database.workers().clone()).unwrap_or_default()
    }
    /// The current settings. A statement's own are in its `StatementContext`.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.lock().current().clone()
    }
    /// `set_config`: SET, or SET LOCAL. Returns the new value.
    pub fn set_config(&self, name: &str, value: &str, local: bool) -> Result<String> {
        let mut settings = self.settings.lock();
        settings.current().may_set(name)?;
        if name.eq_ignore_ascii_case("seed") {
            // `seed` has an effect, and its value is not kept.
            *self.random.lock() = Some(seeded(value)?);
            return Ok(settings.current().get(name).unwrap_or_default());
        }
        settings.set(name, value, local)?;
        self.tell_cut(name, value);
        Ok(settings.current().get(name).unwrap_or_default())
    }
    /// Notifies the client of a truncated name in a setting's value, as PostgreSQL does.
    pub fn tell_cut(&self, name: &str, value: &str) {
        if value.len() > syntax::names::LONGEST && name.eq_ignore_ascii_case("application_name") {
            self.notify(Notice::truncated(value));
        }
    }
    /// The same for RESET: restores the value at the start of the session.
    pub fn reset_config(&self, name: &str, local: bool) -> Result<String> {
        let mut settings = self.settings.lock();
        settings.current().may_set(name)?;
        match settings.first(name) {
            Some(value) if local => settings.set(name, &value, true)?,
            _ => settings.reset(name)?,
        }
        Ok(settings.current().get(name).unwrap_or_default())
    }
    /// Runs a change of the settings.
    pub fn with_settings<T>(&self, change: impl FnOnce(&mut SettingsStack) -> T) -> T {
        change(&mut self.settings.lock())
    }
    /// Queues a notice, which is sent with the statement's completion.
    pub fn notify(&self, notice: Notice) {
        self.notices.lock().push(notice);
    }
    /// Removes and returns the queued notices.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock())
    }
    /// The number of queued notices.
    pub fn notice_count(&self) -> usize {
        self.notices.lock().len()
    }
    /// Drops all but the first `count` notices, because the statement that sent the others runs again.
    pub fn keep_notices(&self, count: usize) {
        self.notices.lock().truncate(count);
    }
    /// The metadata locks of the current transaction.
    pub fn locks(&self) -> Option<Arc<HeldLocks>> {
        self.locks.lock().clone()
    }
    /// Sets the metadata locks of a new transaction. `None` at its end.
    pub fn set_locks(&self, locks: Option<Arc<HeldLocks>>) {
        *self.locks.lock() = locks;
    }
}

impl Default for SessionShared {
    /// A session of `postgres` without a database, for tests that need none.
    fn default() -> Self {
        SessionShared {
            advisory: None,
            database: None,
            user: "postgres".to_string(),
            user_oid: 10,
            superuser: true,
            database_name: "postgres".to_string(),
            database_oid: 5,
            backend_pid: 0,
            cancel: CancelToken::new(),
            deadline: AtomicU64::new(u64::MAX),
            retries: AtomicU32::new(0),
            losses: Mutex::default(),
            settings: Mutex::new(SettingsStack::new(Settings::default())),
            notices: Mutex::default(),
            sequences: SequenceMemory::default(),
            cursors: OnceLock::new(),
            prepared: Mutex::default(),
            copied: Part::default(),
            random: Mutex::default(),
            references: Part::default(),
            large_objects: Mutex::default(),
            said: Mutex::default(),
            inbox: Arc::default(),
            locks: Mutex::default(),
            temporary: Mutex::default(),
            on_commit: AtomicBool::new(false),
        }
    }
}

impl fmt::Debug for SessionShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionShared").field("user", &self.user).field("database", &self.database_name).finish()
    }
}
