//! The locks that a write at READ COMMITTED takes before it writes. It locks the rows that it found and rechecks those
//! that changed meanwhile. It also locks keys of unique indexes, whether or not they exist. At snapshot level, nothing
//! is locked before COMMIT. A conflict that is already known is reported at once.

use super::check::batch_of;
use super::run::{Operation, Run, pick};
use crate::StatementContext;
use crate::bounds::KeyBounds;
use bytes::Bytes;
use catalog::IndexDescriptor;
use catalog::encoding::IndexDecoder;
use context::conflict::name_conflict;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::concat;
use datafusion::arrow::compute::kernels::cmp::distinct;
use datafusion::arrow::record_batch::RecordBatch;
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use txn::locks::LockWait;
use txn::{Isolation, LockStrength, LockedRow, OwnWrites, TxnError};

/// Batches of more rows are not checked for conflicts before COMMIT, which checks all rows together.
const FEW_ROWS: usize = 16;

/// Whether statements lock the rows that they write, and then see the newest versions.
pub fn reads_newest(context: &StatementContext) -> bool {
    context.transaction.isolation() == Isolation::ReadCommitted && context.transaction.can_lock_rows()
}

/// How long a statement waits for locks.
pub fn patience(context: &StatementContext) -> LockWait {
    LockWait::For(context.settings.lock_timeout())
}

impl Run {
    pub(super) fn reads_newest(&self) -> bool {
        reads_newest(&self.context)
    }

    /// Waits for the lock of the row before the statement reads it. This applies if the statement writes the one row
    /// within these bounds, without other conditions.
    pub(super) async fn lock_contended(&self, bounds: &KeyBounds) -> Result<()> {
        if !self.reads_newest() {
            return Ok(());
        }
        let strength = match &self.target.operation {
            Operation::Update { assigned } => match self.strength_of(Some(assigned)) {
                LockStrength::NoKeyUpdate => LockStrength::NoKeyUpdate,
                // The lock's strength depends on the new values.
                _ => return Ok(()),
            },
            Operation::Delete => LockStrength::Update,
            Operation::Insert { .. } | Operation::Merge { .. } => return Ok(()),
        };
        if let [key] = bounds.points(&self.context)?.as_slice() {
            self.context.transaction.lock_contended(key, strength, patience(&self.context)).await?;
        }
        Ok(())
    }

    /// Locks the rows that UPDATE (with assigned columns at these positions) or DELETE has found. Rows that changed
    /// meanwhile are replaced by the recheck's results for their newest versions.
    pub(super) async fn lock_found(
        &self,
        batch: RecordBatch,
        keys: Vec<Bytes>,
        assigned: Option<&[usize]>,
    ) -> Result<(RecordBatch, Vec<Bytes>)> {
        if !self.reads_newest() || keys.is_empty() {
            self.refuse_changed(&keys).await?;
            return Ok((batch, keys));
        }
        let transaction = &self.context.transaction;
        let strengths = self.strengths(&batch, assigned)?;
        let rows: Vec<(Bytes, LockStrength)> = keys.iter().cloned().zip(strengths).collect();
        let states = transaction.lock_rows(&rows, patience(&self.context)).await?;
        if states.iter().all(|state| *state == LockedRow::Same) {
            return Ok((batch, keys));
        }
        Box::pin(self.replace_changed(batch, keys, states, assigned)).await
    }

    /// At snapshot level, fails early if another transaction changed one of a few rows since the snapshot. COMMIT would
    /// fail later, and the work until then would be in vain. Errors: 40001.
    async fn refuse_changed(&self, keys: &[Bytes]) -> Result<()> {
        if keys.len() > FEW_ROWS {
            return Ok(());
        }
        let Some(conflict) = self.context.transaction.changed_since(keys).await? else { return Ok(()) };
        let (session, catalog) = (&self.context.session, &self.context.catalog);
        let error = TxnError::Conflict(conflict);
        Err(Box::pin(name_conflict(session.database()?, session, Some(catalog), &self.context.settings, error)).await)
    }

    /// Replaces the rows that changed before they were locked, or were deleted, by the recheck's results for their
    /// newest versions.
    async fn replace_changed(
        &self,
        batch: RecordBatch,
        keys: Vec<Bytes>,
        states: Vec<LockedRow>,
        assigned: Option<&[usize]>,
    ) -> Result<(RecordBatch, Vec<Bytes>)> {
        let transaction = &self.context.transaction;
        let (mut kept, mut changed) = (Vec::new(), Vec::new());
        for ((at, key), state) in (0u32..).zip(&keys).zip(states) {
            match state {
                LockedRow::Same => kept.push(at),
                _ => changed.push(key.clone()),
            }
        }
        let newest = transaction.get_many(&changed, OwnWrites::Newest).await?;
        let found: Vec<(Bytes, Bytes)> =
            changed.into_iter().zip(newest).filter_map(|(key, value)| Some((key, value?))).collect();
        let mut columns = pick(batch.columns(), &kept)?;
        let mut locked: Vec<Bytes> = kept.iter().filter_map(|at| keys.get(*at as usize).cloned()).collect();
        if !found.is_empty() {
            let recheck = self.target.recheck.as_ref().ok_or_else(changed_meanwhile)?;
            let mut seen = HashSet::new();
            for again in recheck.run(&self.context, vec![found]).await? {
                let again = batch_of(&batch.schema(), again.columns(), again.num_rows())?;
                let (again, keys) = first_of_each(&again, &mut seen)?;
                // The new values, and so the keys, may differ now.
                let strengths = self.strengths(&again, assigned)?;
                let stronger: Vec<(Bytes, LockStrength)> = keys.iter().cloned().zip(strengths).collect();
                transaction.lock_rows(&stronger, patience(&self.context)).await?;
                columns = columns
                    .iter()
                    .zip(again.columns())
                    .map(|(one, other)| Ok(concat(&[one.as_ref(), other.as_ref()])?))
                    .collect::<Result<_>>()?;
                locked.extend(keys);
            }
        }
        Ok((batch_of(&batch.schema(), &columns, locked.len())?, locked))
    }

    /// The strength with which MERGE locks rows that it updates (columns at these positions) or deletes.
    pub(super) fn strength_of(&self, assigned: Option<&[usize]>) -> LockStrength {
        let (unique, computed) = self.unique_positions();
        let keeps = |assigned: &[usize]| !computed && !assigned.iter().any(|position| unique.contains(position));
        if assigned.is_some_and(keeps) { LockStrength::NoKeyUpdate } else { LockStrength::Update }
    }

    /// Positions of the columns of unique keys, and whether there are unique keys over expressions.
    fn unique_positions(&self) -> (HashSet<usize>, bool) {
        let codec = &self.target.codec;
        let unique = codec.indexes.iter().filter(|index| index.index.unique);
        let computed = unique.clone().any(|index| index.writer.is_computed());
        let mut positions: HashSet<usize> = unique.flat_map(|index| index.positions.iter().copied()).collect();
        if codec.key.has_primary_key() {
            positions.extend(codec.key.positions());
        }
        (positions, computed)
    }

    /// The lock strength for each row of a batch. It is FOR NO KEY UPDATE as long as no column of a unique key changes.
    fn strengths(&self, batch: &RecordBatch, assigned: Option<&[usize]>) -> Result<Vec<LockStrength>> {
        let rows = batch.num_rows();
        let Some(assigned) = assigned else { return Ok(vec![LockStrength::Update; rows]) };
        let (positions, computed) = self.unique_positions();
        if computed {
            return Ok(vec![LockStrength::Update; rows]);
        }
        let mut strengths = vec![LockStrength::NoKeyUpdate; rows];
        let live = self.target.schema.fields().len();
        for (value, position) in assigned.iter().enumerate() {
            if !positions.contains(position) {
                continue;
            }
            let arrays = (batch.columns().get(1 + position), batch.columns().get(1 + live + value));
            let (Some(old), Some(new)) = arrays else { return Err(SqlError::internal("a write lacks a column")) };
            let changes = changes(old, new);
            for (row, strength) in strengths.iter_mut().enumerate() {
                if changes.as_ref().is_none_or(|changes| changes.value(row)) {
                    *strength = LockStrength::Update;
                }
            }
        }
        Ok(strengths)
    }

    /// The implementation of [`Run::existing`] at READ COMMITTED. For an existing key, its row is locked against
    /// deletion and key changes. A missing key is locked itself, so that other inserts of it wait.
    pub(super) async fn existing_locked(&self, index: &IndexDescriptor, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let transaction = &self.context.transaction;
        let mut decoder = IndexDecoder::new(&self.target.codec.table, index, &[], true)?;
        let mut stored = self.stored(keys).await?;
        loop {
            let mut rows = Vec::with_capacity(keys.len());
            for (key, value) in keys.iter().zip(&stored) {
                rows.push(match value {
                    None => (key.clone(), LockStrength::Update),
                    Some(_) if index.primary => (key.clone(), LockStrength::KeyShare),
                    Some(value) => (decoder.row_key(key, value)?, LockStrength::KeyShare),
                });
            }
            transaction.lock_rows(&rows, patience(&self.context)).await?;
            let again = self.stored(keys).await?;
            let same = again.iter().zip(&stored).all(|(one, other)| one.is_some() == other.is_some());
            stored = again;
            if same {
                return Ok(stored);
            }
        }
    }
}

fn changed_meanwhile() -> SqlError {
    SqlError::new(state::SERIALIZATION_FAILURE, "could not serialize access due to concurrent update")
        .hint("The transaction might succeed if retried.")
}

/// The rows in which two columns differ. `None` if they cannot be compared.
fn changes(old: &ArrayRef, new: &ArrayRef) -> Option<datafusion::arrow::array::BooleanArray> {
    if old.data_type() != new.data_type() || old.data_type().is_nested() {
        return None;
    }
    distinct(old, new).ok()
}

/// The rows of a batch whose keys (in its first column) were not seen before, and these keys.
fn first_of_each(batch: &RecordBatch, seen: &mut HashSet<Bytes>) -> Result<(RecordBatch, Vec<Bytes>)> {
    let keys = batch.columns().first().and_then(|keys| keys.as_binary_opt::<i32>());
    let keys = keys.ok_or_else(|| SqlError::internal("a row key that is not binary"))?;
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    for (at, key) in (0u32..).zip(keys.iter()) {
        let key = Bytes::copy_from_slice(key.unwrap_or_default());
        if seen.insert(key.clone()) {
            rows.push(at);
            kept.push(key);
        }
    }
    let columns = pick(batch.columns(), &rows)?;
    Ok((batch_of(&batch.schema(), &columns, kept.len())?, kept))
}
