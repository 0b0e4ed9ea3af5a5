//! [`Slots`]: the values that a finished plan looks up when it runs. So the plan can run again with other parameters,
//! in another transaction, at another time.
//!
//! Every plan instance owns one `Slots`. The caller puts a [`StatementContext`] in, executes the plan, and takes the
//! context out. An instance serves one execution at a time.

use super::held_rows::HeldRows;
use super::shared::SessionShared;
use super::view_rows::ViewRows;
use catalog::sequences::SequenceUser;
use catalog::{Catalog, SequenceMemory};
use parking_lot::RwLock;
use settings::Settings;
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;
use txn::{CommandNumber, Transaction};
use types::Datum;
use types::text::{InputContext, Moment, OutputContext};

/// Everything that one execution of a statement depends on.
pub struct StatementContext {
    /// Values of `$1`, `$2`, … in the Arrow form of their types.
    pub parameters: Vec<Datum>,
    /// The transaction that it runs in.
    pub transaction: Arc<Transaction>,
    /// Number of the statement. It reads own writes of earlier commands, and writes under this number.
    pub command: CommandNumber,
    /// The transaction's catalog, including its own changes.
    pub catalog: Arc<Catalog>,
    /// Settings at the start of the statement.
    pub settings: Arc<Settings>,
    /// State that outlives statements: user, database, last sequence values, notices.
    pub session: Arc<SessionShared>,
    /// `now()`: start of the transaction, microseconds since 2000.
    pub transaction_time: i64,
    /// `statement_timestamp()`, in microseconds since 2000.
    pub statement_time: i64,
    /// Data shared by the parts of a statement with data-modifying WITH.
    pub held: HeldRows,
    /// The statement checks a FOREIGN KEY. At every isolation level, rows that it locks with KEY SHARE leave a record
    /// at COMMIT.
    pub for_reference: bool,
    /// Rows of system views that the execution has computed.
    pub view_rows: ViewRows,
}

impl StatementContext {
    /// What the text input of values depends on in this statement.
    pub fn text_input(&self) -> InputContext<'_> {
        self.settings.text_input(Some(self.catalog.as_ref()), Moment::Is(self.transaction_time))
    }
    /// What the text output of values depends on in this statement.
    pub fn text_output(&self) -> OutputContext<'_> {
        self.settings.text_output(Some(self.catalog.as_ref()))
    }
    /// The role in force.
    pub fn role(&self) -> types::Oid {
        self.catalog.role(self.settings.user()).map_or(self.session.user_oid, |role| role.oid)
    }
    /// The same of the whole table.
    pub fn shows_all(&self, table: &catalog::TableDescriptor) -> bool {
        let (kind, select) = (catalog::acl::Kind::Table, catalog::acl::SELECT);
        self.catalog.rights(self.role(), kind, table.owner, table.acl.as_ref(), select) == select
    }
    /// Whether errors may show the values of these columns: the role may read them.
    pub fn shows(
        &self,
        table: &catalog::TableDescriptor,
        columns: impl IntoIterator<Item = catalog::ColumnId>,
    ) -> bool {
        self.catalog.reads(self.role(), table, columns)
    }
}

impl SequenceUser for StatementContext {
    fn transaction(&self) -> &Arc<Transaction> {
        &self.transaction
    }
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }
    fn memory(&self) -> &SequenceMemory {
        &self.session.sequences
    }
}

/// The slot that a plan instance's leaves and slot functions read.
#[derive(Default)]
pub struct Slots {
    current: RwLock<Option<Arc<StatementContext>>>,
    running: Running,
}

/// Held by tasks that compute for a plan instance outside its stream. The instance is not reused while one is left.
#[derive(Clone, Debug, Default)]
pub struct Running(#[allow(dead_code)] Arc<()>);

impl Slots {
    /// Empty slots for a new plan instance.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }
    /// Puts a context in before the plan is executed.
    pub fn fill(&self, context: Arc<StatementContext>) {
        *self.current.write() = Some(context);
    }
    /// Removes the context, so that a pooled plan keeps no transaction alive.
    pub fn clear(&self) {
        *self.current.write() = None;
    }
    /// A guard for a task that runs for this instance.
    pub fn running(&self) -> Running {
        self.running.clone()
    }
    /// Whether such a task still runs.
    pub fn is_running(&self) -> bool {
        Arc::strong_count(&self.running.0) > 1
    }
    /// The context of the current execution. Errors: XX000 outside an execution, which is a bug or a constant folding
    /// that must not happen.
    pub fn get(&self) -> Result<Arc<StatementContext>> {
        self.current.read().clone().ok_or_else(|| SqlError::internal("a plan ran without its slots filled"))
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slots")
    }
}
