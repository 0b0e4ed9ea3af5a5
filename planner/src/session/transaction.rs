//! [`TransactionBlock`]: BEGIN to COMMIT as PostgreSQL's clients know it: implicit transactions, blocks, failed blocks
//! and savepoints. Must not know queries or plans.

mod ending;

use super::contention_queue::Turn;
use super::database::Database;
use super::exported;
use super::outcome::{Notice, TransactionStatus};
use super::shared::SessionShared;
use super::stream::Limits;
use crate::catalog::{Catalog, HeldLocks};
use crate::error::{Result, SqlError, state};
use crate::parse::{Isolation, TransactionModes};
use crate::settings::Characteristics;
use std::sync::Arc;
use std::time::Duration;
use txn::locks::Locker;
use txn::{CommandNumber, Transaction, TransactionOptions, TxnError};

/// A session's transaction, or the absence of one.
pub struct TransactionBlock {
    database: Arc<Database>,
    shared: Arc<SessionShared>,
    open: Option<Open>,
    /// The identity under which its transactions hold locks.
    locker: Arc<Locker>,
    /// Whether the notice about READ COMMITTED was sent.
    told_read_committed: bool,
    /// The first command that ROLLBACK TO SAVEPOINT undid since the last call of `take_undone`.
    undone: Option<CommandNumber>,
    /// The time of the client's last statement. It is the start of the transaction that the statement opens. So `now()`
    /// equals `statement_timestamp()` outside a block, and one clock reading serves both.
    moment: i64,
}

struct Open {
    transaction: Arc<Transaction>,
    /// The metadata locks, released with the transaction.
    locks: Arc<HeldLocks>,
    /// The transaction's start, `now()`.
    started: i64,
    /// The transaction's start by the monotonic clock.
    began: Duration,
    /// Whether it is a block rather than implicit.
    explicit: bool,
    failed: bool,
    read_only: bool,
    savepoints: Vec<Savepoint>,
    /// The catalog that it last read.
    catalog: Option<Arc<Catalog>>,
    /// Whether a statement ran in it.
    used: bool,
    /// Whether the next statement needs a new snapshot, at levels with one for each statement.
    stale: bool,
    /// The turn in a queue, kept until the transaction ends.
    turn: Option<Turn>,
}

struct Savepoint {
    name: String,
    /// Writes with this command number or a later one follow the savepoint.
    command: CommandNumber,
    /// The height of the settings' stack.
    settings: usize,
}

/// The transaction data that a statement needs.
pub struct StatementTransaction {
    /// The transaction that the statement runs in.
    pub transaction: Arc<Transaction>,
    /// The number of the statement in its transaction.
    pub command: CommandNumber,
    /// The transaction's start, `now()`.
    pub started: i64,
    /// The catalog at the transaction's snapshot.
    pub catalog: Arc<Catalog>,
}

impl TransactionBlock {
    /// No transaction is open.
    pub fn new(database: Arc<Database>, shared: Arc<SessionShared>) -> Self {
        let locker = match shared.advisory() {
            Some(advisory) => advisory.locker().clone(),
            None => database.transactions().locker(shared.backend_pid),
        };
        let moment = database.now();
        TransactionBlock { database, shared, open: None, locker, told_read_committed: false, undone: None, moment }
    }
    /// A statement of the client begins: at READ COMMITTED it sees all earlier commits.
    pub fn next_statement(&mut self) {
        // An unused implicit transaction was opened by preparing this statement, so the time stays.
        if !self.open.as_ref().is_some_and(|open| !open.explicit && !open.used) {
            self.moment = self.now();
        }
        if let Some(open) = &mut self.open {
            open.stale = true;
        }
    }
    /// The time of the client's last statement: `statement_timestamp()`.
    pub fn moment(&self) -> i64 {
        self.moment
    }
    /// The status for ReadyForQuery.
    pub fn status(&self) -> TransactionStatus {
        match &self.open {
            Some(open) if open.explicit && open.failed => TransactionStatus::Failed,
            Some(open) if open.explicit => TransactionStatus::InBlock,
            _ => TransactionStatus::Idle,
        }
    }
    /// Whether the current block has failed and refuses statements.
    pub fn is_failed(&self) -> bool {
        self.status() == TransactionStatus::Failed
    }
    /// Whether an implicit transaction is open.
    pub fn is_implicit(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.explicit)
    }
    /// Whether a block with one snapshot for all statements is open.
    pub fn keeps_a_snapshot(&self) -> bool {
        let keeps = |open: &Open| open.explicit && open.transaction.isolation().has_one_snapshot();
        self.open.as_ref().is_some_and(keeps)
    }
    /// Whether no block is open and no statement ran in the current transaction.
    pub fn is_untouched(&self) -> bool {
        self.open.as_ref().is_none_or(|open| !open.explicit && !open.used)
    }
    /// Whether the current transaction, or the next one, refuses writes.
    pub fn read_only(&self) -> bool {
        match &self.open {
            Some(open) => open.read_only || self.shared.settings().transaction().read_only,
            None => self.shared.settings().transaction_defaults().read_only,
        }
    }
    /// Whether no statement ran yet in the current transaction, or none is open.
    pub fn is_renewable(&self) -> bool {
        self.open.as_ref().is_none_or(|open| !open.used)
    }
    /// Restarts the current transaction with a new snapshot and keeps its locks. Only before its first statement.
    pub async fn renew(&mut self) -> Result<()> {
        let isolation = self.open.as_ref().map_or(txn::Isolation::Snapshot, |open| open.transaction.isolation());
        self.begin_anew(isolation).await
    }
    /// Undoes the statement that began with this command, and keeps its locks. The next one gets a new snapshot.
    /// At READ COMMITTED only.
    pub fn run_again(&mut self, command: CommandNumber) {
        let Some(open) = &mut self.open else { return };
        crate::session::referential::references_of(&self.shared).lock().rolled_back_to(command);
        open.transaction.undo_writes(command);
        open.stale = true;
        open.catalog = None;
    }
    async fn begin_anew(&mut self, isolation: txn::Isolation) -> Result<()> {
        let fresh = self.new_transaction(isolation);
        self.replace(fresh).await
    }
    async fn replace(&mut self, fresh: Arc<Transaction>) -> Result<()> {
        let open = self.open.as_mut().ok_or_else(|| SqlError::internal("no transaction"))?;
        std::mem::replace(&mut open.transaction, fresh).rollback().await;
        open.catalog = None;
        open.used = false;
        Ok(())
    }
    /// The limits of a statement that begins now.
    pub fn limits(&self) -> Limits {
        self.limits_of(self.open.as_ref())
    }
    /// The limits of a statement of the open transaction, or of one that begins with it.
    fn limits_of(&self, open: Option<&Open>) -> Limits {
        let (settings, env) = (self.shared.settings(), self.database.env());
        let began = || open.map_or_else(|| env.monotonic(), |open| open.began);
        let end = settings.transaction_timeout().map(|timeout| began() + timeout);
        let memory = Arc::clone(self.database.engine().task_context().memory_pool());
        Limits::new(self.shared.cancel.clone(), env.clone(), settings.statement_timeout()).within(end).counting(memory)
    }
    /// The time left until transaction_timeout.
    pub fn time_left(&self) -> Option<Duration> {
        let open = self.open.as_ref()?;
        let timeout = self.shared.settings().transaction_timeout()?;
        Some((open.began + timeout).saturating_sub(self.database.env().monotonic()))
    }
    /// `now()` of the current transaction, if there is one.
    pub fn started(&self) -> Option<i64> {
        self.open.as_ref().map(|open| open.started)
    }
    fn now(&self) -> i64 {
        self.database.now()
    }
    /// The catalog that the current transaction last read.
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.open.as_ref()?.catalog.as_ref()
    }
    /// Forgets the catalog after a statement that changed it.
    pub fn catalog_changed(&mut self) {
        if let Some(open) = &mut self.open {
            open.catalog = None;
        }
    }
    /// The metadata locks of the current transaction.
    pub fn locks(&self) -> Option<Arc<HeldLocks>> {
        self.open.as_ref().map(|open| open.locks.clone())
    }

    /// The transaction for a statement: the current one, or a new implicit one. `counts` says that the statement runs
    /// in it and takes a command number. Otherwise it only reads the catalog.
    pub async fn statement(&mut self, counts: bool) -> Result<StatementTransaction> {
        self.statement_of(counts, false).await
    }

    /// The same. A `quiet` statement does not announce its reads before
    /// it has settled ([`Transaction::for_statement`]).
    pub async fn statement_of(&mut self, counts: bool, quiet: bool) -> Result<StatementTransaction> {
        if self.open.is_none() {
            self.start(false, TransactionModes::default())?;
        }
        self.wait_for_turn().await;
        let database = self.database.clone();
        let oid = self.shared.database_oid;
        let open = self.open.as_mut().ok_or_else(|| SqlError::internal("no transaction"))?;
        let anew = std::mem::take(&mut open.stale) && open.transaction.isolation() == txn::Isolation::ReadCommitted;
        if anew {
            open.transaction = open.transaction.for_statement(quiet);
            open.catalog = None;
        }
        open.used |= counts;
        // A statement with a newer snapshot needs its own number. Earlier writes are compared with the snapshot of
        // their statement.
        let command = match counts || anew {
            true => open.transaction.advance_command(),
            false => open.transaction.command(),
        };
        let catalog = match &open.catalog {
            Some(catalog) => catalog.clone(),
            None => {
                let catalog = database.catalog().snapshot(&open.transaction, oid).await?;
                open.catalog = Some(catalog.clone());
                catalog
            }
        };
        Ok(StatementTransaction { transaction: open.transaction.clone(), command, started: open.started, catalog })
    }

    /// Waits for its turn before a snapshot, if earlier transactions of the session lost several times in a
    /// row. Applies to a block that may write and to a retried statement. At READ COMMITTED row locks
    /// already provide an order.
    async fn wait_for_turn(&mut self) {
        let Some(open) = self.open.as_mut().filter(|open| !open.read_only && open.turn.is_none()) else { return };
        let again = open.explicit || self.shared.retries() > 0;
        if !again || open.transaction.has_snapshot() || !open.transaction.isolation().has_one_snapshot() {
            return;
        }
        let Some(key) = self.shared.losses.lock().take() else { return };
        open.turn = self.database.turns().wait(self.database.env(), &key).await;
    }

    /// Opens an implicit transaction unless one is open, for statements that change settings.
    pub fn ensure(&mut self) -> Result<()> {
        if self.open.is_none() { self.start(false, TransactionModes::default()) } else { Ok(()) }
    }

    /// This layer enforces read-only mode, because SET TRANSACTION may still change it.
    fn new_transaction(&self, isolation: txn::Isolation) -> Arc<Transaction> {
        let durable = self.shared.settings().durable();
        let options = TransactionOptions { durable, isolation, ..TransactionOptions::default() };
        self.database.transactions().begin_for(options, &self.locker)
    }
    fn start(&mut self, explicit: bool, modes: TransactionModes) -> Result<()> {
        let settings = self.shared.settings();
        let defaults = settings.transaction_defaults();
        let isolation = modes.isolation.unwrap_or(defaults.isolation);
        let read_only = modes.read_only.unwrap_or(defaults.read_only);
        let deferrable = modes.deferrable.unwrap_or(defaults.deferrable);
        let level = self.level_of(isolation, read_only);
        let transaction = self.new_transaction(level);
        let locks = self.database.catalog().locks().begin();
        self.shared.set_locks(Some(locks.clone()));
        self.shared.with_settings(|stack| stack.begin(Characteristics { isolation, read_only, deferrable }));
        self.open = Some(Open {
            transaction,
            locks,
            started: self.moment,
            began: self.database.env().monotonic(),
            explicit,
            failed: false,
            read_only,
            savepoints: Vec::new(),
            catalog: None,
            used: false,
            stale: false,
            turn: None,
        });
        Ok(())
    }

    /// The level at which a transaction that requests `isolation` runs.
    fn level_of(&mut self, isolation: Isolation, read_only: bool) -> txn::Isolation {
        match isolation {
            // A reader sees a state that some serial order produces, and needs no validation, deferrable or not.
            Isolation::Serializable if read_only => txn::Isolation::Snapshot,
            Isolation::Serializable => txn::Isolation::Serializable,
            Isolation::RepeatableRead => txn::Isolation::Snapshot,
            Isolation::ReadCommitted | Isolation::ReadUncommitted => {
                if self.database.transactions().can_lock_rows() {
                    return txn::Isolation::ReadCommitted;
                }
                if !self.told_read_committed {
                    self.told_read_committed = true;
                    self.shared.notify(Notice::notice(format!(
                        "isolation level {} runs as REPEATABLE READ (snapshot isolation)",
                        isolation.name().to_uppercase()
                    )));
                }
                txn::Isolation::Snapshot
            }
        }
    }

    /// BEGIN. In a block it warns and sets the modes.
    pub async fn begin(&mut self, modes: TransactionModes) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.explicit) {
            self.warn(state::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress");
            return self.set_modes(modes).await;
        }
        if self.open.is_none() {
            return self.start(true, modes);
        }
        // Earlier statements of the implicit transaction become part of the block.
        self.set_modes(modes).await?;
        if let Some(open) = &mut self.open {
            open.explicit = true;
        }
        Ok(())
    }
    /// Runs SET TRANSACTION, and the modes of BEGIN.
    pub async fn set_modes(&mut self, modes: TransactionModes) -> Result<()> {
        let Some(open) = &self.open else {
            self.warn(state::NO_ACTIVE_SQL_TRANSACTION, "SET TRANSACTION can only be used in transaction blocks");
            return Ok(());
        };
        let (used, read_only, within) = (open.used, open.read_only, !open.savepoints.is_empty());
        let wrong = |message: &str| Err(SqlError::new(state::ACTIVE_SQL_TRANSACTION, message));
        if let Some(isolation) = modes.isolation {
            if within && !used && self.shared.settings().transaction().isolation != isolation {
                return wrong("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
            }
            if used && self.shared.settings().transaction().isolation != isolation {
                return wrong("SET TRANSACTION ISOLATION LEVEL must be called before any query");
            }
            self.shared.with_settings(|stack| stack.change_transaction(|now| now.isolation = isolation));
        }
        if let Some(wanted) = modes.read_only {
            if !wanted && read_only && within {
                return wrong("cannot set transaction read-write mode inside a read-only transaction");
            }
            if !wanted && read_only && used {
                return wrong("transaction read-write mode must be set before any query");
            }
            if let Some(open) = &mut self.open {
                open.read_only = wanted;
            }
            self.shared.with_settings(|stack| stack.change_transaction(|now| now.read_only = wanted));
        }
        if !used && (modes.isolation.is_some() || modes.read_only.is_some()) {
            let isolation = self.shared.settings().transaction().isolation;
            let level = self.level_of(isolation, modes.read_only.unwrap_or(read_only));
            if self.open.as_ref().is_some_and(|open| open.transaction.isolation() != level) {
                self.begin_anew(level).await?;
            }
        }
        if let Some(deferrable) = modes.deferrable {
            self.shared.with_settings(|stack| stack.change_transaction(|now| now.deferrable = deferrable));
        }
        Ok(())
    }

    /// SET TRANSACTION SNAPSHOT: the transaction gets the snapshot exported as `name`. Errors: 25001, 0A000, 22023.
    pub async fn import_snapshot(&mut self, name: &str) -> Result<()> {
        let open = self.block("SET TRANSACTION")?;
        if open.used {
            let message = "SET TRANSACTION SNAPSHOT must be called before any query";
            return Err(SqlError::new(state::ACTIVE_SQL_TRANSACTION, message));
        }
        let level = open.transaction.isolation();
        let read_only = open.read_only;
        let isolation = self.shared.settings().transaction().isolation;
        if !matches!(isolation, Isolation::RepeatableRead | Isolation::Serializable) {
            return Err(SqlError::new(
                state::FEATURE_NOT_SUPPORTED,
                "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ",
            ));
        }
        let at = exported::parse(name)?;
        if !read_only && !self.database.transactions().has_one_log() {
            return Err(SqlError::unsupported(
                "a transaction that writes and imports a snapshot, on a store of several servers",
            )
            .hint("Make it READ ONLY before SET TRANSACTION SNAPSHOT."));
        }
        let durable = self.shared.settings().durable();
        let options = TransactionOptions {
            durable,
            isolation: level,
            as_of: Some(at),
            imports: !read_only,
            ..TransactionOptions::default()
        };
        let imported = self.database.transactions().begin_for(options, &self.locker);
        imported.snapshot_ts().await.map_err(|error| match error {
            // The timestamp lies in the future.
            TxnError::Invalid(_) => exported::unknown(name),
            error => match SqlError::from(error) {
                // The timestamp is so old that its versions are gone, if it was ever valid.
                error if error.state() == state::SNAPSHOT_TOO_OLD => exported::unknown(name),
                error => error,
            },
        })?;
        self.replace(imported).await
    }

    /// COMMIT. Returns the command tag, which is ROLLBACK for a failed block. Errors: 40001, 40003.
    pub async fn commit(&mut self, chain: bool) -> Result<&'static str> {
        let (explicit, failed) = match &self.open {
            Some(open) => (open.explicit, open.failed),
            None => (false, false),
        };
        if !explicit {
            if chain {
                return Err(only_in_blocks("COMMIT AND CHAIN"));
            }
            self.warn(state::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        let modes = self.current_modes();
        if failed {
            self.abort().await;
        } else {
            self.finish().await?;
        }
        if chain {
            self.start(true, modes)?;
        }
        Ok(if failed { "ROLLBACK" } else { "COMMIT" })
    }
    /// ROLLBACK. `chain` begins another block at once.
    pub async fn rollback(&mut self, chain: bool) -> Result<()> {
        let explicit = self.open.as_ref().is_some_and(|open| open.explicit);
        if !explicit {
            if chain {
                return Err(only_in_blocks("ROLLBACK AND CHAIN"));
            }
            self.warn(state::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        let modes = self.current_modes();
        self.abort().await;
        if chain {
            self.start(true, modes)?;
        }
        Ok(())
    }
    fn current_modes(&self) -> TransactionModes {
        let Characteristics { isolation, read_only, deferrable } = self.shared.settings().transaction();
        TransactionModes { isolation: Some(isolation), read_only: Some(read_only), deferrable: Some(deferrable) }
    }

    /// SAVEPOINT. Errors: 25P01 outside a block.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        let open = self.block("SAVEPOINT")?;
        let command = open.transaction.advance_command();
        let name = name.to_string();
        let settings = self.shared.with_settings(|stack| {
            let mark = stack.height();
            stack.push();
            mark
        });
        if let Some(open) = &mut self.open {
            open.savepoints.push(Savepoint { name, command, settings });
        }
        Ok(())
    }
    /// RELEASE SAVEPOINT: forgets the savepoint and later ones, and keeps the changes since.
    pub fn release(&mut self, name: &str) -> Result<()> {
        let open = self.block("RELEASE SAVEPOINT")?;
        let position = find_savepoint(&open.savepoints, name)?;
        let removed = open.savepoints.drain(position..).next();
        if let Some(savepoint) = removed {
            self.shared.with_settings(|stack| stack.release(savepoint.settings));
        }
        Ok(())
    }
    /// ROLLBACK TO SAVEPOINT: undoes the changes since, forgets later savepoints, and ends the failed state.
    pub async fn rollback_to(&mut self, name: &str) -> Result<()> {
        let shared = self.shared.clone();
        let open = self.block("ROLLBACK TO SAVEPOINT")?;
        let position = find_savepoint(&open.savepoints, name)?;
        open.savepoints.truncate(position + 1);
        let Some(savepoint) = open.savepoints.last_mut() else { return Ok(()) };
        crate::session::cursors::cursors_of(&shared).lock().rolled_back_to(savepoint.command);
        crate::session::referential::references_of(&shared).lock().rolled_back_to(savepoint.command);
        shared.large_objects.lock().rolled_back_to(savepoint.command);
        if let Some(advisory) = shared.advisory() {
            advisory.rolled_back_to(savepoint.command);
        }
        open.transaction.rollback_to(savepoint.command).await?;
        let undone = std::mem::replace(&mut savepoint.command, open.transaction.advance_command());
        shared.with_settings(|stack| stack.rollback_to(savepoint.settings));
        open.failed = false;
        open.catalog = None;
        self.undone = Some(undone);
        Ok(())
    }
    /// The number of the block's last command. `None` outside a block.
    pub fn command(&self) -> Option<CommandNumber> {
        self.open.as_ref().filter(|open| open.explicit).map(|open| open.transaction.command())
    }
    /// Whether the block has a savepoint to return to.
    pub fn has_savepoint(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.explicit && !open.savepoints.is_empty())
    }
    /// The first command that ROLLBACK TO SAVEPOINT undid since the last call.
    pub fn take_undone(&mut self) -> Option<CommandNumber> {
        self.undone.take()
    }
    fn block(&mut self, what: &str) -> Result<&mut Open> {
        match &mut self.open {
            Some(open) if open.explicit => Ok(open),
            _ => Err(only_in_blocks(what)),
        }
    }
    fn warn(&self, sqlstate: crate::error::SqlState, message: &str) {
        self.shared.notify(Notice::warning(sqlstate, message));
    }
}

fn only_in_blocks(what: &str) -> SqlError {
    SqlError::new(state::NO_ACTIVE_SQL_TRANSACTION, format!("{what} can only be used in transaction blocks"))
}

/// The innermost savepoint of a name: a new one hides an older one.
fn find_savepoint(savepoints: &[Savepoint], name: &str) -> Result<usize> {
    savepoints
        .iter()
        .rposition(|savepoint| savepoint.name == name)
        .ok_or_else(|| SqlError::new(state::INVALID_SAVEPOINT, format!("savepoint \"{name}\" does not exist")))
}
