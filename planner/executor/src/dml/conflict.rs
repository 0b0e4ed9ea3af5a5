//! ON CONFLICT: rows whose keys exist are skipped or update the existing row.

use super::check::{batch_of, first_failure};
use super::codec::TableCodec;
use super::recheck::Recheck;
use super::row_locks::patience;
use super::run::{Run, pick, put_entry};
use bytes::Bytes;
use catalog::IndexDescriptor;
use catalog::encoding::{IndexDecoder, IndexEntry, RowDecoder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt32Array};
use datafusion::arrow::compute::{concat, concat_batches, take};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use txn::{LockStrength, OwnWrites, Write, WriteKind};
use types::Oid;

/// Name of the last column, the row number, of rows for which a plan computes new values.
pub const ROW_NUMBER: &str = "\0number";

/// A set of unique keys: 0 is the table itself, followed by its secondary indexes in order.
pub type Space = usize;

/// A compiled ON CONFLICT clause.
#[derive(Debug)]
pub struct Conflict {
    /// The index that decides. `None` for any index.
    pub arbiter: Option<Space>,
    /// DO UPDATE. `None` is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// A compiled DO UPDATE clause.
#[derive(Debug)]
pub struct ConflictUpdate {
    /// Positions of the assigned columns among the live columns.
    pub positions: Vec<usize>,
    /// Computes the new values.
    pub values: NewValues,
    /// Schema of the expressions' input: the live columns, then the excluded ones.
    pub schema: SchemaRef,
}

impl ConflictUpdate {
    /// Whether it may change a unique key. The columns of the arbiter are equal in both rows.
    fn changes_keys(&self, codec: &TableCodec, arbiter: Option<Space>) -> bool {
        let width = codec.table.live_columns().count();
        let column_of = |position: usize| codec.table.live_columns().nth(position).map(|column| column.id);
        let index_of = |space: Space| match space.checked_sub(1) {
            None => codec.primary(),
            Some(at) => codec.indexes.get(at).map(|index| &index.index),
        };
        let has = |index: &IndexDescriptor, column| {
            index.is_computed() || index.columns.iter().any(|key| Some(key.column) == column)
        };
        let unique = || {
            codec
                .primary()
                .into_iter()
                .chain(codec.indexes.iter().map(|index| &index.index))
                .filter(|index| index.unique)
        };
        let changes = |at: usize, position: usize| {
            let column = column_of(position);
            let same = match &self.values {
                NewValues::Expressions { set, .. } => set
                    .get(at)
                    .and_then(|value| value.downcast_ref::<Column>())
                    .is_some_and(|value| value.index() == position || value.index() == position + width),
                NewValues::Planned { .. } => false,
            };
            let decides = arbiter.and_then(index_of).is_some_and(|index| !index.is_computed() && has(index, column));
            !(same && decides) && unique().any(|index| has(index, column))
        };
        self.positions.iter().enumerate().any(|(at, position)| changes(at, *position))
    }
}

/// Computes the new values of rows in conflict.
#[derive(Debug)]
pub enum NewValues {
    /// By expressions over each row.
    Expressions {
        /// The new values, one per assigned column.
        set: Vec<Arc<dyn PhysicalExpr>>,
        /// The condition of WHERE.
        filter: Option<Arc<dyn PhysicalExpr>>,
    },
    /// By a plan, because subqueries read the rows.
    Planned {
        /// The statement part under which the plan reads the rows. Their last column is the row number.
        part: usize,
        /// Returns the row numbers that WHERE keeps, and their new values.
        plan: Box<Recheck>,
    },
}

/// The space of a unique index of a table.
pub fn space_of(codec: &TableCodec, index: Oid) -> Result<Space> {
    if codec.primary().is_some_and(|primary| primary.oid == index) {
        return Ok(0);
    }
    codec
        .indexes
        .iter()
        .position(|candidate| candidate.index.oid == index)
        .map(|position| position + 1)
        .ok_or_else(|| SqlError::internal("ON CONFLICT names an unknown index"))
}

/// The keys of a batch in one space. `None` if NULLs make a row distinct from all others.
struct Keys<'a> {
    space: Space,
    index: &'a IndexDescriptor,
    keys: Vec<Option<Bytes>>,
    existing: Vec<Option<Bytes>>,
    taken: HashSet<Bytes>,
}

impl Keys<'_> {
    /// Whether the row's key exists (`Some(true)`), was taken by an earlier row of the batch (`Some(false)`), or is
    /// free.
    fn conflict(&self, row: usize) -> Option<bool> {
        let key = self.keys.get(row)?.as_ref()?;
        if self.existing.get(row).is_some_and(Option::is_some) {
            return Some(true);
        }
        self.taken.contains(key).then_some(false)
    }
    fn take(&mut self, row: usize) {
        if let Some(Some(key)) = self.keys.get(row) {
            self.taken.insert(key.clone());
        }
    }
}

impl Run {
    /// Inserts rows without conflict and applies ON CONFLICT to the others. Returns the affected rows in input order.
    /// Errors: 21000 if a row would be affected twice, 23505 for an index that is not the arbiter.
    pub async fn insert_or(
        &mut self,
        conflict: &Conflict,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<(Vec<ArrayRef>, usize)> {
        let target = self.target.clone();
        let codec = &target.codec;
        if rows > 0 {
            refuse_deferrable(codec, conflict.arbiter)?;
        }
        // PostgreSQL would not reach the rows after the first failure.
        let failure = first_failure(codec, &target.checks, &target.schema, columns, rows, self.shown(&target))?;
        let rows = failure.as_ref().map_or(rows, |(row, _)| *row);
        let failure = failure.map(|(_, error)| error);
        // A row that depends on an earlier one is processed once the earlier one is done.
        let (mut parts, mut start, mut most) = (Vec::new(), 0, rows);
        while start < rows || parts.is_empty() {
            let length = (rows - start).min(most);
            let part: Vec<ArrayRef> = columns.iter().map(|column| column.slice(start, length)).collect();
            let (affected, count, done) = self.insert_part(conflict, &part, length).await?;
            parts.push((affected, count));
            start += done;
            // If rows often depend on each other, use smaller parts.
            most = if done < length { done.saturating_mul(2).max(16) } else { most.saturating_mul(2) };
        }
        if let Some(error) = failure {
            return Err(error);
        }
        together(parts)
    }

    /// Like [`Run::insert_or`], for the first rows of a batch that do not depend on each other: at least one, if there
    /// are any. Also returns their number.
    async fn insert_part(
        &mut self,
        conflict: &Conflict,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<(Vec<ArrayRef>, usize, usize)> {
        let target = self.target.clone();
        let codec = &target.codec;
        let mut failure = None;
        let row_keys = self.new_keys(columns, rows).await?.into_parts();
        let mut entries: Vec<Vec<Option<IndexEntry>>> = Vec::new();
        for index in &codec.indexes {
            entries.push(if index.maintained() { codec.entries(index, columns, &row_keys)? } else { Vec::new() });
        }
        let mut spaces = self.unique_keys(codec, &row_keys, &entries).await?;

        let mut writes = Vec::new();
        let (mut inserted, mut updated) = (Vec::new(), Vec::new());
        let mut updated_keys: Vec<Bytes> = Vec::new();
        let mut pending: HashSet<Bytes> = HashSet::new();
        let mut done = rows;
        let changes_keys = conflict.update.as_ref().is_some_and(|update| update.changes_keys(codec, conflict.arbiter));
        'rows: for row in 0..rows {
            for keys in &spaces {
                let Some(exists) = keys.conflict(row) else { continue };
                if conflict.arbiter.is_some_and(|arbiter| arbiter != keys.space) {
                    continue;
                }
                if conflict.update.is_none() {
                    // Skipping the row is right only as long as the other row stays.
                    if let (true, Some(Some(key))) = (exists, keys.keys.get(row)) {
                        let kind = WriteKind::Lock;
                        writes.push(Write { key: key.clone(), kind, strength: LockStrength::KeyShare });
                    }
                    continue 'rows;
                }
                let row_key = match (exists, keys.existing.get(row)) {
                    (true, Some(Some(value))) => existing_row_key(codec, keys, row, value)?,
                    _ => {
                        done = row;
                        break 'rows;
                    }
                };
                if self.touched.contains(&row_key) {
                    failure = Some(affected_twice());
                    break 'rows;
                }
                // WHERE may keep the row unchanged, or the row may get another key.
                if !pending.insert(row_key.clone()) {
                    done = row;
                    break 'rows;
                }
                updated.push(position(row)?);
                updated_keys.push(row_key);
                continue 'rows;
            }
            // The arbiter has no conflict; the other indexes must not have one either.
            if let Some(keys) = spaces.iter().find(|keys| keys.conflict(row).is_some()) {
                if !pending.is_empty() {
                    // An update may give up the key.
                    done = row;
                    break 'rows;
                }
                failure = Some(codec.unique_violation(&self.context, keys.index, columns, row));
                break 'rows;
            }
            if changes_keys && !pending.is_empty() {
                // An update may take the key.
                done = row;
                break 'rows;
            }
            for keys in &mut spaces {
                keys.take(row);
            }
            if let Some(key) = row_keys.get(row) {
                self.note(key);
                if conflict.update.is_some() {
                    self.touched.insert(key.clone());
                }
            }
            inserted.push(position(row)?);
        }

        let mut new_rows = pick(columns, &inserted)?;
        let values = codec.row_values(&new_rows, inserted.len())?;
        for (row, value) in inserted.iter().zip(values) {
            if let Some(key) = row_keys.get(*row as usize) {
                writes.push(Write { key: key.clone(), kind: WriteKind::Put(value), strength: LockStrength::Update });
            }
            for entries in &entries {
                writes.extend(entries.get(*row as usize).cloned().flatten().map(put_entry));
            }
        }
        if !writes.is_empty() {
            self.context.transaction.write(writes).await?;
        }
        self.references.inserted(&new_rows, inserted.len())?;
        let tells = conflict.update.is_some() && target.returning;
        if tells {
            new_rows.push(Arc::new(Int64Array::from(vec![0; inserted.len()])));
        }
        let updates = conflict.update.as_ref().filter(|_| !updated.is_empty());
        let Some(update) = updates else {
            return failure.map_or(Ok((new_rows, inserted.len(), done)), Err);
        };
        let excluded = pick(columns, &updated)?;
        // An error in an earlier row's update precedes the failure of a later row.
        let (mut changed_rows, kept) = self.update_existing(update, &updated_keys, &excluded).await?;
        if let Some(error) = failure {
            return Err(error);
        }
        let affected: Vec<&Bytes> = kept.iter().filter_map(|row| updated_keys.get(*row as usize)).collect();
        let renamed = match codec.key.has_primary_key() {
            true => codec.row_keys(&changed_rows, kept.len())?,
            false => Vec::new(),
        };
        for key in affected {
            if !self.note(key) {
                return Err(affected_twice());
            }
            self.touched.insert(key.clone());
        }
        self.touched.extend(renamed);
        let updated: Vec<u32> = kept.iter().filter_map(|row| updated.get(*row as usize).copied()).collect();
        if tells {
            changed_rows.push(Arc::new(Int64Array::from(vec![self.number().await?; updated.len()])));
        }
        let count = inserted.len() + updated.len();
        Ok((in_order(&new_rows, &inserted, &changed_rows, &updated)?, count, done))
    }

    /// A transaction number as xid shows it, at least 3.
    async fn number(&self) -> Result<i64> {
        let snapshot = self.context.transaction.snapshot_ts().await?;
        Ok((snapshot.0 & u64::from(u32::MAX)).max(3) as i64)
    }

    /// Records for the statement's other parts that a row is written. False if one of them has written it.
    pub fn note(&mut self, key: &Bytes) -> bool {
        let new = !self.shared || self.context.held.note_written(key);
        self.noted += usize::from(self.shared && new);
        new
    }

    async fn unique_keys<'a>(
        &self,
        codec: &'a TableCodec,
        row_keys: &[Bytes],
        entries: &[Vec<Option<IndexEntry>>],
    ) -> Result<Vec<Keys<'a>>> {
        let mut spaces = Vec::new();
        if let Some(primary) = codec.primary() {
            let keys = row_keys.iter().cloned().map(Some).collect();
            spaces.push(Keys { space: 0, index: primary, keys, existing: Vec::new(), taken: HashSet::new() });
        }
        for (position, (index, entries)) in codec.indexes.iter().zip(entries).enumerate() {
            if index.index.unique && index.maintained() {
                let key = |entry: &Option<IndexEntry>| {
                    entry.as_ref().filter(|entry| entry.unique).map(|entry| entry.key.clone().into())
                };
                let keys = entries.iter().map(key).collect();
                let (space, index) = (position + 1, &index.index);
                spaces.push(Keys { space, index, keys, existing: Vec::new(), taken: HashSet::new() });
            }
        }
        spaces.sort_by_key(|keys| keys.index.oid);
        for keys in &mut spaces {
            let wanted: Vec<Bytes> = keys.keys.iter().flatten().cloned().collect();
            let mut found = self.existing(keys.index, &wanted).await?.into_iter();
            keys.existing = keys.keys.iter().map(|key| key.as_ref().and_then(|_| found.next().flatten())).collect();
        }
        Ok(spaces)
    }

    /// Updates the rows at `keys`. Returns the new rows and which rows WHERE kept.
    async fn update_existing(
        &mut self,
        update: &ConflictUpdate,
        keys: &[Bytes],
        excluded: &[ArrayRef],
    ) -> Result<(Vec<ArrayRef>, Vec<u32>)> {
        let table = self.target.codec.table.clone();
        let ids: Vec<_> = table.live_columns().map(|column| column.id).collect();
        let mut decoder = RowDecoder::new(&table, &ids, false)?;
        if self.reads_newest() {
            // They are already locked against deletion: see `existing`.
            let rows: Vec<(Bytes, LockStrength)> =
                keys.iter().map(|key| (key.clone(), LockStrength::NoKeyUpdate)).collect();
            self.context.transaction.lock_rows(&rows, patience(&self.context)).await?;
        }
        let values = self.context.transaction.get_many(keys, OwnWrites::Newest).await?;
        for (key, value) in keys.iter().zip(values) {
            let value = value.ok_or_else(|| {
                SqlError::new(state::DATA_CORRUPTED, format!("an index of \"{}\" has an entry without row", table.name))
            })?;
            decoder.push(key, &value)?;
        }
        let mut old = decoder.finish()?;
        let mut excluded = excluded.to_vec();
        let mut keys = keys.to_vec();
        let mut kept: Vec<u32> = (0..position(keys.len())?).collect();
        let mut planned = None;
        if let NewValues::Planned { part, plan } = &update.values {
            let (found, values) = self.planned_values(update, (*part, plan), &old, &excluded, keys.len()).await?;
            kept = found;
            planned = Some(values);
        }
        if let NewValues::Expressions { filter: Some(filter), .. } = &update.values {
            let batch = both(&update.schema, &old, &excluded, keys.len())?;
            let result = filter.evaluate(&batch)?.into_array(keys.len())?;
            let result = result.as_boolean_opt().ok_or_else(|| SqlError::internal("WHERE is not boolean"))?;
            kept = (0u32..).zip(result.iter()).filter(|(_, keep)| *keep == Some(true)).map(|(row, _)| row).collect();
        }
        if kept.len() < keys.len() {
            let kept_rows: HashSet<u32> = kept.iter().copied().collect();
            let left_alone: Vec<Write> = (0u32..)
                .zip(&keys)
                .filter(|(row, _)| !kept_rows.contains(row))
                .map(|(_, key)| Write { key: key.clone(), kind: WriteKind::Lock, strength: LockStrength::NoKeyUpdate })
                .collect();
            self.context.transaction.write(left_alone).await?;
            old = pick(&old, &kept)?;
            excluded = pick(&excluded, &kept)?;
            keys = kept.iter().filter_map(|row| keys.get(*row as usize).cloned()).collect();
        }
        let values = match (&update.values, planned) {
            (NewValues::Expressions { set, .. }, _) => {
                let batch = both(&update.schema, &old, &excluded, keys.len())?;
                let values = set.iter().map(|value| Ok(value.evaluate(&batch)?.into_array(keys.len())?));
                values.collect::<Result<Vec<_>>>()?
            }
            (NewValues::Planned { .. }, planned) => planned.unwrap_or_default(),
        };
        let mut new = old.clone();
        let mut assigned = Vec::new();
        for (position, array) in update.positions.iter().zip(values) {
            *new.get_mut(*position).ok_or_else(|| SqlError::internal("an unknown assigned column"))? = array;
            assigned.push(*position);
        }
        if !keys.is_empty() {
            let target = self.target.clone();
            target.computer.compute(&target.schema, &mut new, keys.len())?;
            assigned.extend(target.computer.positions());
            self.update(&keys, &old, &new, &assigned).await?;
        }
        Ok((new, kept))
    }
}

impl Run {
    /// The rows that WHERE keeps, in order, and their new values, if subqueries read the rows.
    async fn planned_values(
        &self,
        update: &ConflictUpdate,
        (part, plan): (usize, &Recheck),
        old: &[ArrayRef],
        excluded: &[ArrayRef],
        rows: usize,
    ) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let mut columns: Vec<ArrayRef> = old.iter().chain(excluded).cloned().collect();
        let mut fields: Vec<_> = update.schema.fields().iter().cloned().collect();
        columns.push(Arc::new(Int64Array::from_iter_values((0_i64..).take(rows))));
        fields.push(Arc::new(Field::new(ROW_NUMBER, DataType::Int64, true)));
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        self.context.held.put(part, vec![batch_of(&schema, &columns, rows)?]);
        let batches = plan.run(&self.context, Vec::new()).await?;
        let Some(first) = batches.first() else {
            let none = UInt32Array::from(Vec::<u32>::new());
            let values = update.positions.iter().filter_map(|position| old.get(*position));
            let none: Vec<ArrayRef> = values.map(|array| Ok(take(array, &none, None)?)).collect::<Result<_>>()?;
            return Ok((Vec::new(), none));
        };
        let made = concat_batches(&first.schema(), &batches)?;
        let (numbers, values) =
            made.columns().split_first().ok_or_else(|| SqlError::internal("new values without their rows"))?;
        let numbers =
            numbers.as_primitive_opt::<Int64Type>().ok_or_else(|| SqlError::internal("rows have no number"))?;
        let mut order: Vec<(u32, u32)> = (0u32..)
            .zip(numbers.values())
            .map(|(at, row)| Ok((position(usize::try_from(*row).unwrap_or(usize::MAX))?, at)))
            .collect::<Result<_>>()?;
        order.sort_unstable();
        let places: Vec<u32> = order.iter().map(|(_, at)| *at).collect();
        Ok((order.into_iter().map(|(row, _)| row).collect(), pick(values, &places)?))
    }
}

/// The key of the row in conflict.
fn existing_row_key(codec: &TableCodec, keys: &Keys<'_>, row: usize, value: &Bytes) -> Result<Bytes> {
    let key = keys.keys.get(row).cloned().flatten().ok_or_else(|| SqlError::internal("a conflict without a key"))?;
    if keys.space == 0 {
        return Ok(key);
    }
    IndexDecoder::new(&codec.table, keys.index, &[], true)?.row_key(&key, value)
}

/// Rejects deferrable constraints as arbiters. Errors: 55000, because their keys may temporarily occur twice.
fn refuse_deferrable(codec: &TableCodec, arbiter: Option<Space>) -> Result<()> {
    let decides = |place: usize| arbiter.is_none_or(|arbiter| arbiter == place + 1);
    let mut deciding = codec.indexes.iter().enumerate().filter(|(place, _)| decides(*place));
    match deciding.find(|(_, index)| index.index.deferral.is_some()) {
        None => Ok(()),
        Some((_, index)) => {
            let message =
                "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
            Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                .table(&codec.table.schema, &codec.table.name)
                .constraint(&index.index.name))
        }
    }
}

fn affected_twice() -> SqlError {
    SqlError::new(state::CARDINALITY_VIOLATION, "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

/// Concatenates the rows of several parts of a batch.
fn together(mut parts: Vec<(Vec<ArrayRef>, usize)>) -> Result<(Vec<ArrayRef>, usize)> {
    if parts.len() < 2 {
        return parts.pop().ok_or_else(|| SqlError::internal("a batch without parts"));
    }
    let count = parts.iter().map(|(_, count)| count).sum();
    let width = parts.first().map_or(0, |(columns, _)| columns.len());
    let columns = (0..width).map(|at| {
        let pieces: Vec<&dyn Array> =
            parts.iter().filter_map(|(columns, _)| columns.get(at)).map(AsRef::as_ref).collect();
        Ok(concat(&pieces)?)
    });
    Ok((columns.collect::<Result<_>>()?, count))
}

/// A row's number within its batch.
pub fn position(row: usize) -> Result<u32> {
    u32::try_from(row).map_err(|_| SqlError::internal("a batch is too large"))
}

fn both(
    schema: &SchemaRef,
    target: &[ArrayRef],
    excluded: &[ArrayRef],
    rows: usize,
) -> Result<datafusion::arrow::record_batch::RecordBatch> {
    let columns: Vec<ArrayRef> = target.iter().chain(excluded).cloned().collect();
    batch_of(schema, &columns, rows)
}

/// Merges inserted and updated rows in input order.
fn in_order(a: &[ArrayRef], a_rows: &[u32], b: &[ArrayRef], b_rows: &[u32]) -> Result<Vec<ArrayRef>> {
    let mut order: Vec<(u32, u32)> = (0u32..).zip(a_rows.iter().chain(b_rows)).map(|(at, row)| (*row, at)).collect();
    order.sort_unstable();
    let order = datafusion::arrow::array::UInt32Array::from_iter_values(order.into_iter().map(|(_, at)| at));
    a.iter().zip(b).map(|(a, b)| Ok(take(concat(&[a.as_ref(), b.as_ref()])?.as_ref(), &order, None)?)).collect()
}
