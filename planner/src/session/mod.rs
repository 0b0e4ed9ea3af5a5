//! [`Session`]: a client's conversation below the wire: settings, transaction, statements.
//!
//! The `server` crate uses this module alone. The module must not know messages, sockets or value formats. Rows leave
//! as Arrow batches in the form of `types`. Parameters come in as [`Datum`](crate::types::Datum).

mod analyze;
pub mod auto_parameterized;
mod control;
pub mod copy;
mod current_rows;
mod cursor_rows;
mod cursor_statements;
pub mod cursors;
pub mod database;
mod dispatch;
mod explain_statement;
mod name_suggestions;
pub mod outcome;
mod parsed;
pub mod plan_cache;
pub mod prepared;
pub mod query;
pub mod referential;
mod run;
mod set;
pub mod startup;
pub mod statement;
pub mod statement_memory;
mod stream;
mod table_as;
mod temporary;
mod transaction;
mod utility;

pub use cancel::CancelToken;
pub use context::exported;
pub use context::private_settings::{private, sees_private};
pub use context::{
    activity, advisory, cancel, conflict, contention, contention_queue, lock_tag, notification, shared, table_locks,
};
pub use copy::{BinaryCodec, CopyChunk, CopyFormat, CopyIn, CopyOut};
pub use database::Database;
pub use notification::{Inbox, Notification};
pub use outcome::{Deallocated, Notice, Outcome, OutputColumn, RowsTag, TransactionStatus};
pub use prepared::Prepared;
pub use startup::{Authentication, Link, RoleLogin, Startup, Tls};
pub use statement::Statement;
pub use txn::CommandNumber;

use crate::catalog::Catalog;
use crate::error::{LOCKS_LOST, Result, SqlError, state};
use crate::interrupt::{Interrupt, long, long_polls, watched, within};
use crate::types::{Datum, Oid, SqlType};
use activity::{Activity, Backend};
use dispatch::refuse_among_others;
use settings::Settings;
use settings::stack::SettingsStack;
use shared::SessionShared;
use statement_memory::StatementMemory;
use std::collections::HashMap;
use std::sync::Arc;
use stream::transaction_timeout;
use transaction::TransactionBlock;
use txn::TransactionOptions;

/// The size in bytes from which parsing and planning a statement takes long.
const LONG_TEXT: usize = 32 << 10;

/// One client's conversation. All its work on data happens in its transaction. That is an explicit block, or an
/// implicit transaction that the server ends with [`Session::end_implicit`].
pub struct Session {
    database: Arc<Database>,
    shared: Arc<SessionShared>,
    block: TransactionBlock,
    /// The statements of PREPARE.
    statements: HashMap<String, Arc<Prepared>>,
    /// The memory of all statements kept by name, including the server's protocol-level ones.
    kept: Arc<StatementMemory>,
    /// The statements that DEALLOCATE and DISCARD removed.
    deallocated: Vec<Deallocated>,
    /// The settings that the client was last told.
    reported: Option<Arc<Settings>>,
    /// The session's entry among all sessions.
    activity: Arc<Activity>,
    /// The catalog that the last statement used.
    catalog: Option<Arc<Catalog>>,
}

impl Session {
    /// Starts a session. Errors: 3D000 for an unknown database, 28000 for an unknown role or one that may not log in,
    /// and 22023 or similar for bad start-up options.
    pub async fn start(database: Arc<Database>, startup: Startup) -> Result<Session> {
        let reader = database.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
        let roles = database.roles_seen_by(&reader).await;
        let descriptor = database.database_seen_by(&reader, &startup.database).await;
        reader.rollback().await;
        let roles = roles?;
        let role = roles.iter().find(|role| role.name == startup.user).cloned().ok_or_else(|| {
            SqlError::new(state::INVALID_AUTHORIZATION, format!("role \"{}\" does not exist", startup.user))
        })?;
        if !role.login {
            return Err(SqlError::new(
                state::INVALID_AUTHORIZATION,
                format!("role \"{}\" is not permitted to log in", role.name),
            ));
        }
        if let Some(limit) = role.connection_limit.filter(|_| !role.superuser) {
            let sessions = database.activities().list();
            let own = sessions.iter().filter(|session| session.backend.user.0 == role.oid).count();
            if own >= limit as usize {
                let message = format!("too many connections for role \"{}\"", role.name);
                return Err(SqlError::new(state::TOO_MANY_CONNECTIONS, message));
            }
        }
        let descriptor = descriptor?;
        if descriptor.is_closed() {
            let message = format!("database \"{}\" is not currently accepting connections", descriptor.name);
            return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        if !crate::catalog::acl::may_connect(&role, &descriptor, &roles) {
            let message = format!("permission denied for database \"{}\"", descriptor.name);
            return Err(
                SqlError::new(state::INSUFFICIENT_PRIVILEGE, message).detail("User does not have CONNECT privilege.")
            );
        }
        if let Some(limit) = descriptor.connection_limit.filter(|_| !role.superuser) {
            let sessions = database.activities().list();
            let own = sessions.iter().filter(|session| session.backend.database.0 == descriptor.oid).count();
            if own >= limit as usize {
                let message = format!("too many connections for database \"{}\"", descriptor.name);
                return Err(SqlError::new(state::TOO_MANY_CONNECTIONS, message));
            }
        }
        let settings = Settings::new(&role.name)
            .with_fixed("is_superuser", if role.superuser { "on" } else { "off" })?
            .with_fixed("session_authorization", &role.name)?
            .with_fixed("lc_collate", descriptor.collation())?
            .with_fixed("lc_ctype", descriptor.lc_ctype())?
            .with_all_fixed(database.server_settings());
        let settings = match database.isolation() {
            Some(level) => settings.with("default_transaction_isolation", level)?,
            None => settings,
        };
        let (mut settings, wrong) = crate::ddl::first_settings(settings, &roles, &role, &descriptor);
        for (name, value) in &startup.options {
            settings.may_set(name)?;
            settings = settings.with(name, value)?;
        }
        let now = database.now();
        let backend = Backend {
            pid: startup.backend_pid,
            database: (descriptor.oid, descriptor.name.clone()),
            user: (role.oid, role.name.clone()),
            link: startup.link,
            started: now,
            cancel: startup.cancel.clone(),
            terminate: CancelToken::new(),
        };
        let application_name = Arc::clone(settings.application_name());
        let activity = database.activities().register(backend, application_name);
        let shared = Arc::new(SessionShared::new(
            Arc::clone(database.server()),
            (role.name.clone(), role.oid, role.superuser),
            (descriptor.name.clone(), descriptor.oid),
            startup.backend_pid,
            startup.cancel,
            SettingsStack::new(settings),
        ));
        for (name, value) in &startup.options {
            shared.tell_cut(name, value);
        }
        for error in wrong {
            shared.notify(Notice::warning(error.state(), error.fields().message.clone()));
        }
        // One session may use at most half of the memory.
        let kept = StatementMemory::new(database.statement_memory().limit() / 2);
        Ok(Session {
            block: TransactionBlock::new(database.clone(), shared.clone()),
            database,
            shared,
            statements: HashMap::new(),
            kept,
            deallocated: Vec::new(),
            reported: None,
            activity,
            catalog: None,
        })
    }
    /// The server's shared state.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }
    /// Parses a text that a client prepares, through the cache of parsed statements. Empty for an empty query.
    pub fn parse_again(&self, sql: &str) -> Result<Vec<Arc<Statement>>> {
        if !self.shared.settings().has_conforming_strings() {
            return self.parse(sql);
        }
        if let Some(known) = self.database.parsed().find(sql) {
            self.tell_long_names(&known);
            return Ok(vec![known]);
        }
        let statements = self.parse(sql)?;
        self.database.parsed().keep(sql, &statements);
        Ok(statements)
    }
    /// Splits and parses a query string. Empty for an empty query.
    pub fn parse(&self, sql: &str) -> Result<Vec<Arc<Statement>>> {
        if self.shared.settings().has_conforming_strings() || !sql.contains('\\') {
            return self.parse_standard(sql);
        }
        let (text, escapes) = crate::parse::lexical::standard(sql)?;
        let warned = self.shared.settings().get("escape_string_warning") != Some("off".into());
        for escaped in escapes.into_iter().filter(|_| warned) {
            let (what, hint) = match escaped {
                '\'' => ("\\'", "Use '' to write quotes in strings, or use the escape string syntax (E'...')."),
                '\\' => ("\\\\", "Use the escape string syntax for backslashes, e.g., E'\\\\'."),
                _ => ("escape", "Use the escape string syntax for escapes, e.g., E'\\r\\n'."),
            };
            let message = format!("nonstandard use of {what} in a string literal");
            self.shared.notify(Notice::warning(state::NONSTANDARD_USE_OF_ESCAPE_CHARACTER, message).hint(hint));
        }
        self.parse_standard(&text)
    }
    /// Splits and parses a text with `standard_conforming_strings = on`.
    fn parse_standard(&self, sql: &str) -> Result<Vec<Arc<Statement>>> {
        let parsed = match sql.len() >= LONG_TEXT {
            true => {
                let limits: Arc<dyn Interrupt> = Arc::new(self.block.limits());
                long(|| within(&limits, || crate::parse::parse(sql)))
            }
            false => crate::parse::parse(sql),
        };
        let statements: Vec<_> = parsed?.into_iter().map(Arc::new).collect();
        if let Some(first) = statements.first() {
            self.tell_long_names(first);
        }
        Ok(statements)
    }
    /// Notifies the client of truncated names in a statement's text.
    fn tell_long_names(&self, statement: &Statement) {
        for name in statement.source.long_names() {
            self.shared.notify(Notice::truncated(name));
        }
    }
    /// Replaces the whole numbers of a text by parameters, and returns the prepared statement with their values. Texts
    /// that differ only in these numbers share a plan. `None` if the text must be parsed and prepared as it is.
    pub async fn prepare_lifted(&mut self, sql: &str) -> Option<(Arc<Prepared>, Vec<Datum>)> {
        if self.block.is_failed() || !self.shared.settings().has_conforming_strings() {
            return None;
        }
        let (text, values) = crate::parse::auto_parameterize::lift(sql)?;
        let database = self.database.clone();
        let statement = database.lifted().statement(&text)?;
        self.block.next_statement();
        let given = values.iter().map(|value| Some(auto_parameterized::type_of(*value))).collect::<Vec<_>>();
        let limits = Arc::new(self.block.limits());
        let planned = match watched(limits, std::pin::pin!(self.planned(&statement, &given))).await {
            Ok(planned) => planned,
            Err(error) => {
                database.lifted().refused(&text, &error);
                return None;
            }
        };
        if !planned.liftable {
            database.lifted().forbid(&text);
            return None;
        }
        let prepared = Prepared {
            parameters: planned.parameters.clone(),
            columns: planned.columns.clone(),
            given,
            sent: Some(sql.trim().trim_end_matches(';').trim_end().into()),
            planned: parking_lot::Mutex::new(Some(planned)),
            kept: std::sync::OnceLock::new(),
            statement,
        };
        Some((Arc::new(prepared), values.into_iter().map(auto_parameterized::datum).collect()))
    }
    /// Determines a statement's parameters and columns. `parameter_oids` are the types that the client gave. A type
    /// that is 0 or missing is inferred. It reads the catalog, so it may begin an implicit transaction.
    pub async fn prepare(&mut self, statement: Arc<Statement>, parameter_oids: &[Oid]) -> Result<Arc<Prepared>> {
        self.block.next_statement();
        let mut types = Vec::with_capacity(parameter_oids.len());
        for oid in parameter_oids {
            types.push(match (oid, SqlType::from_oid(*oid)) {
                (0, _) => Ok(None),
                (_, Some(ty)) => Ok(Some(ty)),
                // The OID of a user-defined type is in the catalog.
                (oid, None) => {
                    self.block.statement(false).await?.catalog.type_by_oid(*oid).map(Some).ok_or_else(|| {
                        SqlError::new(state::UNDEFINED_OBJECT, format!("type with OID {oid} does not exist"))
                    })
                }
            });
        }
        let given = types
            .into_iter()
            // Clients give a type that they do not know as `unknown`.
            .map(|ty| ty.map(|ty| ty.filter(|ty| *ty != SqlType::UNKNOWN)))
            .collect::<Result<Vec<_>>>()?;
        self.refuse_in_failed_block(&statement)?;
        for reduced in &statement.reduced {
            let mut warning = Notice::warning(state::INVALID_PARAMETER_VALUE, &reduced.message);
            warning.fields.position = reduced.position;
            self.shared.notify(warning);
        }
        // Planning computes constants, so it runs under the statement's limits.
        let limits = Arc::new(self.block.limits());
        let source = Arc::clone(&statement.source);
        let is_long = statement.text.len() >= LONG_TEXT;
        let work = Box::pin(watched(limits, self.prepare_statement(statement, given)));
        let prepared = if is_long { long_polls(work).await } else { work.await };
        match prepared {
            Ok(prepared) => Ok(prepared),
            Err(error) => Err(Box::pin(self.explain_missing(source.error_at_its_token(error))).await),
        }
    }
    /// Call this before keeping a statement under a name. Errors: 53200 if memory is short.
    pub fn keep(&self, prepared: &Prepared) -> Result<()> {
        if prepared.kept.get().is_none() {
            let own = self.kept.keep(&prepared.statement)?;
            let all = self.database.statement_memory().keep(&prepared.statement)?;
            // If another task counted it first, its count stands.
            let _ = prepared.kept.set([own, all]);
        }
        Ok(())
    }
    /// Whether a statement may now get a portal or a description. `None` is the empty statement. Errors: 25P02.
    pub fn check_usable(&self, prepared: Option<&Prepared>) -> Result<()> {
        match prepared {
            Some(prepared) => self.refuse_in_failed_block(&prepared.statement),
            None if self.block.is_failed() => Err(dispatch::in_failed_block()),
            None => Ok(()),
        }
    }
    /// The number of the block's last command. It tells whether a portal is older or newer than a savepoint.
    /// `None` outside a block.
    pub fn command(&self) -> Option<CommandNumber> {
        self.block.command()
    }
    /// Whether the block has a savepoint to return to, so that portals may outlive an error.
    pub fn has_savepoint(&self) -> bool {
        self.block.has_savepoint()
    }
    /// The first command that ROLLBACK TO SAVEPOINT undid since the last call. The caller closes portals
    /// made since that command.
    pub fn take_undone(&mut self) -> Option<CommandNumber> {
        self.block.take_undone()
    }
    /// Runs a statement up to its first row. The outcome streams its rows and borrows nothing from the session, so
    /// several portals can be open. After an error call [`Session::fail`].
    pub async fn execute(&mut self, prepared: &Arc<Prepared>, parameters: Vec<Datum>) -> Result<Outcome> {
        self.refuse_in_failed_block(&prepared.statement)?;
        refuse_among_others(&prepared.statement)?;
        self.block.next_statement();
        let settings = self.shared.settings();
        let now = self.block.moment();
        self.activity.begin(prepared.text(), self.block.started().unwrap_or(now), now, settings.application_name());
        // A commit must not be cancelled half way.
        if control::controls_transactions(&prepared.statement.kind) {
            return Box::pin(self.transaction_control(&prepared.statement)).await;
        }
        let limits = self.block.limits();
        self.shared.set_deadline(limits.deadline());
        let statement_limits = limits.clone();
        let done = {
            // The future is large, so it is pinned in place and never moved.
            let work = std::pin::pin!(self.dispatch(prepared, parameters, &statement_limits));
            if prepared.statement.text.len() >= LONG_TEXT {
                limits.run(long_polls(work)).await
            } else {
                limits.run(work).await
            }
        };
        let done = done.map_err(|error| match &prepared.sent {
            Some(sent) => crate::parse::source::Source::new(sent).error_at_its_token(error),
            None => prepared.statement.source.error_at_its_token(error),
        });
        match done {
            Ok(outcome) => Ok(outcome),
            Err(error) => {
                self.block.note_refused(&error);
                Err(Box::pin(self.explain_missing(error)).await)
            }
        }
    }
    fn now(&self) -> i64 {
        self.database.now()
    }
    /// Tells how often the server already ran the next transaction, which failed with a conflict each time. EXPLAIN
    /// ANALYZE shows the number.
    pub fn set_retries(&self, retries: u32) {
        self.shared.set_retries(retries);
    }
    /// Marks the session as waiting for its client.
    pub fn rest(&self) {
        self.activity.rest(self.status(), self.now());
    }
    /// How long the client may stay idle now, and the error that then ends the connection: 25P03, 25P04 or 57P05.
    pub fn idle_limit(&self) -> Option<(std::time::Duration, SqlError)> {
        let settings = self.shared.settings();
        let (limit, code, what) = match self.status() {
            TransactionStatus::Idle => (settings.idle_session_timeout(), "57P05", "idle-session"),
            _ => (settings.idle_in_transaction_timeout(), "25P03", "idle-in-transaction"),
        };
        let idle =
            limit.map(|limit| (limit, SqlError::new(code, format!("terminating connection due to {what} timeout"))));
        let whole = self.block.time_left().map(|left| (left, transaction_timeout()));
        match (idle, whole) {
            (Some(idle), Some(whole)) => Some(if whole.0 < idle.0 { whole } else { idle }),
            (idle, whole) => idle.or(whole),
        }
    }
    /// The token that ends the connection (pg_terminate_backend).
    pub fn terminated(&self) -> CancelToken {
        self.activity.backend.terminate.clone()
    }
    /// The error that ends the connection if its advisory locks may be lost (57P01).
    pub fn lost_locks(&self) -> Option<SqlError> {
        let lost = self.shared.advisory().is_some_and(advisory::AdvisoryLocks::are_lost);
        let message = "terminating connection because its advisory locks were lost";
        lost.then(|| SqlError::new(state::ADMIN_SHUTDOWN, message).detail(LOCKS_LOST))
    }
    /// Waits until released locks are available to others. Call it before telling the client that a transaction is over
    /// or a lock released.
    pub async fn locks_are_free(&self) {
        if let Some(advisory) = self.shared.advisory() {
            advisory.locker().has_given_back().await;
        }
    }
    /// The status for ReadyForQuery.
    pub fn status(&self) -> TransactionStatus {
        self.block.status()
    }
    /// Commits the implicit transaction, if there is one: at Sync, and at the end of a simple query. After an error
    /// (40001) nothing is kept.
    pub async fn end_implicit(&mut self) -> Result<()> {
        self.shared.cancel.reset();
        if self.block.is_implicit() {
            self.before_commit().await?;
        }
        let implicit = self.block.is_implicit();
        self.block.end_implicit().await?;
        if implicit {
            self.tell_others();
        }
        Ok(())
    }
    /// Delivers the notifications of the transaction that has just committed.
    pub(super) fn tell_others(&mut self) {
        let shared = &self.shared;
        let channels = self.database.channels();
        shared.said.lock().commit(channels, shared.database_oid, shared.backend_pid, &shared.inbox);
    }
    /// The notifications from other sessions.
    pub fn inbox(&self) -> Arc<Inbox> {
        self.shared.inbox.clone()
    }
    /// Rolls an implicit transaction back, or marks a block as failed. Call it after reporting an error, including an
    /// error from a row stream.
    pub async fn fail(&mut self) {
        self.shared.cancel.reset();
        self.block.fail().await;
        if self.status() == TransactionStatus::Idle {
            self.shared.said.lock().forget();
        }
    }
    /// The notices since the last call that client_min_messages permits. The server sends them
    /// before the command's completion.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = self.shared.take_notices();
        if notices.is_empty() {
            return notices;
        }
        let least = severity_rank(self.shared.settings().client_min_messages());
        notices.retain(|notice| severity_rank(notice.severity) >= least);
        notices
    }
    /// The reported settings whose values changed since the last call, for ParameterStatus. The first call
    /// returns all of them.
    pub fn take_parameter_changes(&mut self) -> Vec<(String, String)> {
        let settings = self.shared.settings();
        let mut changes = Vec::new();
        let news = settings.reported_beside(self.reported.as_deref());
        changes.extend(news.map(|(name, value)| (name.to_string(), value.clone())));
        self.reported = Some(settings);
        changes
    }
    /// The prepared statements that DEALLOCATE and DISCARD ALL removed since the last call. The server
    /// drops its own copies.
    pub fn take_deallocated(&mut self) -> Vec<Deallocated> {
        std::mem::take(&mut self.deallocated)
    }
    /// The settings at present, including SET LOCAL.
    pub fn settings(&self) -> Arc<Settings> {
        self.shared.settings()
    }
    /// The catalog that the last statement used, for names of regclass values. `None` before the first statement.
    pub fn catalog(&self) -> Option<Arc<Catalog>> {
        self.block.catalog().or(self.catalog.as_ref()).cloned()
    }
    /// `now()` of the current transaction, or of the next one.
    pub fn transaction_time(&self) -> i64 {
        self.block.started().unwrap_or_else(|| self.now())
    }
    /// Ends the session and rolls back an open transaction.
    pub async fn close(&mut self) {
        self.block.abort().await;
        self.end_temporary().await;
        crate::session::cursors::cursors_of(&self.shared).lock().clear();
        self.statements.clear();
    }
}

/// The rank of a severity in the order of client_min_messages. The setting does not suppress errors.
fn severity_rank(severity: &str) -> u8 {
    match severity.to_ascii_lowercase().as_str() {
        "debug5" => 0,
        "debug4" => 1,
        "debug3" => 2,
        "debug2" | "debug" => 3,
        "debug1" => 4,
        "log" => 5,
        "notice" => 6,
        "warning" => 7,
        "error" => 8,
        // INFO is always sent.
        _ => 9,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
pub(crate) mod tests;
