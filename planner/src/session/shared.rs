//! [`SessionShared`]: what functions inside a running plan may reach of their session.

use super::advisory::AdvisoryLocks;
use super::cancel::CancelToken;
use super::copy::KeptPlan;
use super::cursors::Cursors;
use super::database::Database;
use super::notification::{Inbox, Said};
use super::outcome::Notice;
use super::referential::Queue;
use super::turn::Losses;
use crate::catalog::{HeldLocks, SchemaDescriptor, SequenceMemory};
use crate::error::{Result, SqlError, state};
use crate::execution::detached::Workers;
use crate::functions::random::{Generator, seeded};
use crate::large_object::Descriptors;
use crate::settings::Settings;
use crate::settings::stack::SettingsStack;
use crate::types::Oid;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// User, database, settings, sequences' last values, notices. Shared by the session and its running plans.
pub struct SessionShared {
    /// currval and lastval.
    pub sequences: SequenceMemory,
    /// What DECLARE made.
    pub cursors: Mutex<Cursors>,
    /// What was prepared, by name.
    pub prepared: Mutex<BTreeMap<String, super::prepared::Shown>>,
    /// The INSERT of the last COPY FROM STDIN.
    pub copied: Mutex<Option<Box<KeptPlan>>>,
    /// What random gives next, once it was asked.
    pub random: Mutex<Option<Generator>>,
    /// Keys that FOREIGN KEYs are still to be held to.
    pub references: Mutex<Queue>,
    /// The large objects that the transaction under way has open.
    pub large_objects: Mutex<Descriptors>,
    /// What the transaction under way has said with NOTIFY.
    pub said: Mutex<Said>,
    /// What others told it.
    pub inbox: Arc<Inbox>,
    database: Option<Arc<Database>>,
    /// The role that logged in.
    pub user: String,
    /// Its OID.
    pub user_oid: Oid,
    /// Whether it is a superuser.
    pub superuser: bool,
    /// Name of the database.
    pub database_name: String,
    /// Its OID.
    pub database_oid: Oid,
    /// `pg_backend_pid()`.
    pub backend_pid: i32,
    /// Stops the session's statements.
    pub cancel: CancelToken,
    /// When the statement under way has to end, by the monotonic clock in microseconds.
    deadline: AtomicU64,
    /// How often the transaction under way was run again because of a conflict.
    retries: AtomicU32,
    /// What its transactions lost to others.
    pub losses: Mutex<Losses>,
    settings: Mutex<SettingsStack>,
    notices: Mutex<Vec<Notice>>,
    locks: Mutex<Option<Arc<HeldLocks>>>,
    /// Advisory locks, and who it is to those who wait for its locks.
    advisory: Option<AdvisoryLocks>,
    /// Its schema of temporary relations, from when the first was asked for.
    temporary: Mutex<Option<SchemaDescriptor>>,
    /// Whether temporary tables may have something done to them at COMMIT.
    on_commit: AtomicBool,
}

impl SessionShared {
    /// A session's share.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        database: Arc<Database>,
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
            cursors: Mutex::default(),
            prepared: Mutex::default(),
            copied: Mutex::default(),
            random: Mutex::default(),
            references: Mutex::default(),
            large_objects: Mutex::default(),
            said: Mutex::new(said),
            inbox: Arc::default(),
            locks: Mutex::default(),
            temporary: Mutex::default(),
            on_commit: AtomicBool::new(false),
        }
    }
    /// The transaction has ended: what its statements left for later ones is gone.
    pub(super) fn end_statements(&self) {
        self.references.lock().end();
        self.large_objects.lock().end();
    }
    /// Its advisory locks; none for a session without a database (tests).
    pub fn advisory(&self) -> Option<&AdvisoryLocks> {
        self.advisory.as_ref()
    }
    /// Its schema of temporary relations, once one was asked for.
    pub fn temporary(&self) -> Option<SchemaDescriptor> {
        self.temporary.lock().clone()
    }
    /// Gives it a schema of temporary relations.
    pub(super) fn set_temporary(&self, schema: SchemaDescriptor) {
        self.with_settings(|stack| stack.set_temporary(&schema.name));
        *self.temporary.lock() = Some(schema);
    }
    /// Whether temporary tables may have something done to them at COMMIT.
    pub(super) fn has_on_commit(&self) -> bool {
        self.on_commit.load(Ordering::Relaxed)
    }
    pub(super) fn set_on_commit(&self, on_commit: bool) {
        self.on_commit.store(on_commit, Ordering::Relaxed);
    }
    /// The server's database set. Errors for a session without one (tests).
    pub fn database(&self) -> Result<&Arc<Database>> {
        self.database.as_ref().ok_or_else(|| SqlError::internal("a session without a database"))
    }
    /// A statement begins, which has to end by then.
    pub(super) fn set_deadline(&self, deadline: Option<Duration>) {
        let deadline = deadline.and_then(|deadline| u64::try_from(deadline.as_micros()).ok());
        self.deadline.store(deadline.unwrap_or(u64::MAX), Ordering::Relaxed);
    }
    /// How often the transaction under way was run again because of a conflict.
    pub fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }
    pub(super) fn set_retries(&self, retries: u32) {
        self.retries.store(retries, Ordering::Relaxed);
    }
    /// Errors with 57014 when the statement under way is to stop. For operators that work long without a pause.
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
    /// Where its long computations run.
    pub fn workers(&self) -> Workers {
        self.database.as_ref().map(|database| database.engine().workers().clone()).unwrap_or_default()
    }
    /// The settings in force now; a statement's own are in its `StatementContext`.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.lock().current().clone()
    }
    /// `set_config`: SET, or SET LOCAL. Answers the new value.
    pub fn set_config(&self, name: &str, value: &str, local: bool) -> Result<String> {
        let mut settings = self.settings.lock();
        settings.current().may_set(name)?;
        if name.eq_ignore_ascii_case("seed") {
            // It is carried out, and not kept.
            *self.random.lock() = Some(seeded(value)?);
            return Ok(settings.current().get(name).unwrap_or_default());
        }
        settings.set(name, value, local)?;
        self.tell_cut(name, value);
        Ok(settings.current().get(name).unwrap_or_default())
    }
    /// Tells that the value of a setting which holds a name is cut, as PostgreSQL does.
    pub(super) fn tell_cut(&self, name: &str, value: &str) {
        if value.len() > crate::parse::names::LONGEST && name.eq_ignore_ascii_case("application_name") {
            self.notify(Notice::truncated(value));
        }
    }
    /// The same without a value: back to what the session began with.
    pub fn reset_config(&self, name: &str, local: bool) -> Result<String> {
        let mut settings = self.settings.lock();
        settings.current().may_set(name)?;
        match settings.first(name) {
            Some(value) if local => settings.set(name, &value, true)?,
            _ => settings.reset(name)?,
        }
        Ok(settings.current().get(name).unwrap_or_default())
    }
    /// The settings' history, for the session.
    pub(super) fn with_settings<T>(&self, change: impl FnOnce(&mut SettingsStack) -> T) -> T {
        change(&mut self.settings.lock())
    }
    /// Sends a notice with the statement's completion.
    pub fn notify(&self, notice: Notice) {
        self.notices.lock().push(notice);
    }
    /// Takes the notices so far.
    pub(super) fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock())
    }
    /// How many there are.
    pub(super) fn notice_count(&self) -> usize {
        self.notices.lock().len()
    }
    /// Forgets all but the first `count`: what said the others is run again.
    pub(super) fn keep_notices(&self, count: usize) {
        self.notices.lock().truncate(count);
    }
    /// The metadata locks of the transaction under way.
    pub fn locks(&self) -> Option<Arc<HeldLocks>> {
        self.locks.lock().clone()
    }
    /// A transaction began (its locks) or ended (`None`).
    pub(super) fn set_locks(&self, locks: Option<Arc<HeldLocks>>) {
        *self.locks.lock() = locks;
    }
}

impl Default for SessionShared {
    /// A session of `postgres` without a database behind it, for tests of what needs none.
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
            cursors: Mutex::default(),
            prepared: Mutex::default(),
            copied: Mutex::default(),
            random: Mutex::default(),
            references: Mutex::default(),
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
