//! [`LockRowsExec`]: FOR UPDATE and similar clauses. It locks each row that is taken from it, and waits for rows that
//! others have locked. It rechecks rows that changed meanwhile. If row locks are not available, it buffers a lock-only
//! record for each row, so that others conflict at COMMIT.

use super::check::batch_of;
use super::node::{LockedTable, RowWait};
use super::recheck::Recheck;
use super::row_locks::patience;
use super::run::hold_table;
use crate::detached::detached;
use crate::{Slots, StatementContext, limit};
use bytes::Bytes;
use context::table_locks::TableLockMode;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use sql_error::{SqlError, state};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use txn::locks::{LockFailure, LockWait};
use txn::{LockStrength, LockedRow, OwnWrites, TxnError, Write, WriteKind};

/// Rows locked in one step if all are taken.
const AT_ONCE: usize = 1024;

type Count = Option<Arc<dyn PhysicalExpr>>;

/// Locks each row of its input and passes it on.
#[derive(Debug)]
pub struct LockRowsExec {
    tables: Arc<[LockedTable]>,
    input: Arc<dyn ExecutionPlan>,
    /// OFFSET and LIMIT of the operator above.
    taken: (Count, Count),
    recheck: Arc<Recheck>,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
}

impl LockRowsExec {
    /// Locks the rows of `tables`. `taken` is the OFFSET and LIMIT above.
    pub fn new(
        tables: Vec<LockedTable>,
        input: Arc<dyn ExecutionPlan>,
        taken: (Count, Count),
        recheck: Arc<Recheck>,
        slots: Arc<Slots>,
    ) -> Self {
        let properties = properties_over(&input);
        LockRowsExec { tables: tables.into(), input, taken, recheck, slots, properties }
    }
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        // The input may have been sorted since.
        let properties = properties_over(&input);
        let (tables, taken) = (self.tables.clone(), self.taken.clone());
        LockRowsExec { tables, input, taken, recheck: self.recheck.clone(), slots: self.slots.clone(), properties }
    }
}

fn properties_over(input: &Arc<dyn ExecutionPlan>) -> Arc<PlanProperties> {
    Arc::new(input.properties().as_ref().clone().with_partitioning(Partitioning::UnknownPartitioning(1)))
}

/// The state of one execution.
struct Locking {
    context: Arc<StatementContext>,
    tables: Arc<[LockedTable]>,
    recheck: Arc<Recheck>,
    input: SendableRecordBatchStream,
    /// Rows that may still be taken.
    left: usize,
    /// Input rows that were not processed yet.
    waiting: Option<RecordBatch>,
    /// Rows that are locked.
    ready: Vec<RecordBatch>,
    /// Combinations of row keys that were rechecked.
    rechecked: HashSet<Vec<Option<Bytes>>>,
}

/// The outcome for a row of the input.
enum Fate {
    Passes,
    Goes,
    Again,
}

impl Locking {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if !self.ready.is_empty() {
                let batch = self.ready.remove(0);
                self.left = self.left.saturating_sub(batch.num_rows());
                return Ok(Some(batch));
            }
            if self.left == 0 {
                return Ok(None);
            }
            let batch = match self.waiting.take() {
                Some(batch) => batch,
                None => match self.input.try_next().await? {
                    Some(batch) => batch,
                    None => return Ok(None),
                },
            };
            let now = self.left.min(AT_ONCE).min(batch.num_rows());
            if now < batch.num_rows() {
                self.waiting = Some(batch.slice(now, batch.num_rows() - now));
            }
            let batch = batch.slice(0, now);
            if now > 0 {
                self.lock(&batch).await?;
            }
        }
    }

    /// The row keys of a table in a batch.
    fn keys(table: &LockedTable, batch: &RecordBatch) -> Result<Vec<Option<Bytes>>> {
        let keys = batch.columns().get(table.key_column).and_then(|column| column.as_binary_opt::<i32>());
        let keys = keys.ok_or_else(|| SqlError::internal("the rows to lock have no key"))?;
        Ok(keys.iter().map(|key| key.map(Bytes::copy_from_slice)).collect())
    }

    async fn lock(&mut self, batch: &RecordBatch) -> Result<()> {
        let transaction = &self.context.transaction;
        let mut keys = Vec::with_capacity(self.tables.len());
        let mut fates: Vec<Fate> = (0..batch.num_rows()).map(|_| Fate::Passes).collect();
        for table in self.tables.iter() {
            let of_table = Self::keys(table, batch)?;
            // A row that occurs several times is locked once. A row that is already skipped is not locked.
            let mut seen: HashMap<Bytes, LockedRow> = HashMap::new();
            let wanted = of_table.iter().zip(&fates).filter(|(_, fate)| !matches!(fate, Fate::Goes));
            let mut rows: Vec<(Bytes, LockStrength)> =
                wanted.filter_map(|(key, _)| Some((key.clone()?, table.strength))).collect();
            rows.dedup();
            let states = lock_rows(&self.context, table, &rows).await?;
            seen.extend(rows.into_iter().zip(states).map(|((key, _), state)| (key, state)));
            for (key, fate) in of_table.iter().zip(&mut fates) {
                match key.as_ref().and_then(|key| seen.get(key)) {
                    Some(LockedRow::Held) => *fate = Fate::Goes,
                    Some(LockedRow::Changed) if !matches!(fate, Fate::Goes) => *fate = Fate::Again,
                    _ => {}
                }
            }
            keys.push(of_table);
        }
        let mut from = 0;
        for (row, fate) in fates.iter().enumerate() {
            if matches!(fate, Fate::Passes) {
                continue;
            }
            if from < row {
                self.ready.push(batch.slice(from, row - from));
            }
            from = row + 1;
            if matches!(fate, Fate::Goes) {
                continue;
            }
            let combination: Vec<Option<Bytes>> = keys.iter().map(|keys| keys.get(row).cloned().flatten()).collect();
            if !self.rechecked.insert(combination.clone()) {
                continue;
            }
            let mut rows = Vec::with_capacity(combination.len());
            for key in combination {
                let value = match &key {
                    Some(key) => transaction.get(key, OwnWrites::Newest).await.map_err(SqlError::from)?,
                    None => None,
                };
                rows.push(key.zip(value).into_iter().collect());
            }
            for again in self.recheck.run(&self.context, rows).await? {
                if again.num_rows() > 0 {
                    self.ready.push(batch_of(&batch.schema(), again.columns(), again.num_rows())?);
                }
            }
        }
        if from < batch.num_rows() {
            self.ready.push(batch.slice(from, batch.num_rows() - from));
        }
        Ok(())
    }
}

/// Locks rows of a table. Errors: 55P03; 40001 if a row changed at snapshot level.
async fn lock_rows(
    context: &StatementContext,
    table: &LockedTable,
    rows: &[(Bytes, LockStrength)],
) -> Result<Vec<LockedRow>, SqlError> {
    let transaction = &context.transaction;
    let recorded = !transaction.can_lock_rows();
    // A transaction at snapshot level does not check locks that were released before it commits. If its snapshot is
    // older, only a record tells it that a row refers to this one.
    let needs_record = table.strength == LockStrength::KeyShare
        && (context.for_reference || transaction.isolation().has_one_snapshot());
    if recorded || needs_record {
        match table.wait {
            RowWait::Error if recorded => return Err(SqlError::unsupported("NOWAIT on this store")),
            RowWait::Skip if recorded => return Err(SqlError::unsupported("SKIP LOCKED on this store")),
            _ => {}
        }
    }
    let states = if recorded {
        vec![LockedRow::Same; rows.len()]
    } else {
        let wait = if table.wait == RowWait::Block { patience(context) } else { LockWait::No };
        match transaction.lock_rows(rows, wait).await {
            Ok(states) => states,
            Err(TxnError::Conflict(_)) => {
                let message = "could not serialize access due to concurrent update";
                return Err(SqlError::new(state::SERIALIZATION_FAILURE, message)
                    .detail(format!("A row of table \"{}\" was changed by another transaction.", table.table.name))
                    .hint("The transaction might succeed if retried.")
                    .table(&table.table.schema, &table.table.name));
            }
            Err(TxnError::NotLocked { failure: failure @ LockFailure::Deadlock(_), .. }) => {
                return Err(SqlError::from(failure).table(&table.table.schema, &table.table.name));
            }
            Err(error) => return Err(error.into()),
        }
    };
    if !transaction.is_quiet() {
        // The rows are about to be shown to the client.
        transaction.settled().await?;
    }
    if table.wait == RowWait::Error && states.contains(&LockedRow::Held) {
        let message = format!("could not obtain lock on row in relation \"{}\"", table.table.name);
        return Err(SqlError::new(state::LOCK_NOT_AVAILABLE, message));
    }
    if recorded || needs_record {
        let held = rows.iter().zip(&states).filter(|(_, state)| **state != LockedRow::Held);
        let writes: Vec<Write> = held
            .map(|((key, strength), _)| Write { key: key.clone(), kind: WriteKind::Lock, strength: *strength })
            .collect();
        if !writes.is_empty() {
            transaction.write(writes).await?;
        }
    }
    Ok(states)
}

impl DisplayAs for LockRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockRows:")?;
        for (at, table) in self.tables.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            write!(f, "{separator} {} {:?}", table.table.name, table.strength)?;
        }
        Ok(())
    }
}

impl ExecutionPlan for LockRowsExec {
    fn name(&self) -> &str {
        "LockRows"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!();
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for count in [&self.taken.0, &self.taken.1].into_iter().flatten() {
            f(count)?;
        }
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema: SchemaRef = self.schema();
        let context = self.slots.get()?;
        let input = detached(self.input.execute(0, task)?, &context.session.workers(), &self.slots, false);
        let (skip, fetch) = limit::counts(&self.taken.0, &self.taken.1)?;
        let left = fetch.map_or(usize::MAX, |fetch| fetch.saturating_add(skip));
        let (tables, recheck) = (self.tables.clone(), self.recheck.clone());
        let stream = futures::stream::once(async move {
            for table in tables.iter() {
                hold_table(&context, &table.table, TableLockMode::RowShare).await?;
            }
            let (waiting, ready) = (None, Vec::new());
            let locking = Locking { context, tables, recheck, input, left, waiting, ready, rechecked: HashSet::new() };
            Ok::<_, DataFusionError>(futures::stream::try_unfold(locking, |mut locking| async move {
                Ok(locking.next().await?.map(|batch| (batch, locking)))
            }))
        })
        .try_flatten()
        .boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
