//! MERGE: each row of a batch is updated, deleted, inserted or left unchanged.

use super::check::batch_of;
use super::conflict::position;
use super::node::MergeAgain;
use super::recheck::Recheck;
use super::row_locks::patience;
use super::run::{Run, column, columns, pick};
use crate::held_rows::HeldRowsNode;
use crate::output::ScanOutput;
use bytes::Bytes;
use catalog::TableDescriptor;
use datafusion::arrow::array::{Array, AsArray, UInt32Array};
use datafusion::arrow::compute::{concat_batches, take};
use datafusion::arrow::datatypes::{Field, Int32Type, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use txn::{LockedRow, OwnWrites};

/// The action for a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeStep {
    /// UPDATE of the live columns at these positions.
    Update(Vec<usize>),
    /// DELETE the target row.
    Delete,
    /// INSERT a new row.
    Insert,
    /// DO NOTHING with the row.
    Nothing,
}

impl MergeStep {
    /// Sort order of actions: keys are given up before they are taken.
    fn rank(&self) -> u8 {
        match self {
            MergeStep::Delete => 0,
            MergeStep::Update(_) => 1,
            MergeStep::Insert => 2,
            MergeStep::Nothing => 3,
        }
    }
}

/// Rechecks rows of the source whose target row changed while its lock was awaited.
#[derive(Debug)]
pub struct MergeRecheck {
    part: usize,
    /// Schema of the rows held for [`MergeAgain::part`]: columns of the source, then row key and live columns.
    held: SchemaRef,
    /// The columns read from target rows: live columns, then the row key.
    output: ScanOutput,
    plan: Recheck,
}

impl MergeRecheck {
    /// Makes the recheck of a table. `plan` runs the plan of `again`.
    pub fn new(table: &Arc<TableDescriptor>, again: &MergeAgain, plan: Recheck) -> Result<MergeRecheck> {
        let mut held = None;
        again.plan.apply(|node| {
            if let LogicalPlan::Extension(extension) = node
                && let Some(rows) = extension.node.as_any().downcast_ref::<HeldRowsNode>()
                && rows.part == again.part
            {
                held = Some(rows.schema.inner().clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let held = held.ok_or_else(|| SqlError::internal("MERGE holds no rows"))?;
        let positions: Vec<usize> = (0..=table.live_columns().count()).collect();
        Ok(MergeRecheck { part: again.part, held, output: ScanOutput::new(table.clone(), &positions)?, plan })
    }
}

/// The row keys and action numbers of a batch.
fn chosen(batch: &RecordBatch, live: usize) -> Result<impl Iterator<Item = (Option<Bytes>, Option<usize>)> + use<>> {
    let keys = column(batch, 0)?;
    let keys = keys.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a row key that is not binary"))?.clone();
    let numbers = column(batch, 1 + live)?;
    let numbers = numbers.as_primitive_opt::<Int32Type>();
    let numbers = numbers.ok_or_else(|| SqlError::internal("an action that is no number"))?.clone();
    let number = move |row: usize| numbers.is_valid(row).then(|| usize::try_from(numbers.value(row)).ok()).flatten();
    let key = move |row: usize| keys.is_valid(row).then(|| Bytes::copy_from_slice(keys.value(row)));
    Ok((0..batch.num_rows()).map(move |row| (key(row), number(row))))
}

impl Run {
    /// Locks the rows that a batch updates or deletes. Rows that changed meanwhile are rechecked.
    async fn locked(&self, steps: &[MergeStep], again: &MergeRecheck, batch: &RecordBatch) -> Result<RecordBatch> {
        if !self.reads_newest() {
            return Ok(batch.clone());
        }
        let (mut places, mut rows) = (Vec::new(), Vec::new());
        for (row, (key, number)) in (0u32..).zip(self.rows_of(batch)?) {
            let strength = match number.and_then(|number| steps.get(number)) {
                Some(MergeStep::Update(assigned)) => self.strength_of(Some(assigned)),
                Some(MergeStep::Delete) => self.strength_of(None),
                Some(MergeStep::Insert | MergeStep::Nothing) | None => continue,
            };
            places.push(row);
            rows.push((key.ok_or_else(|| SqlError::internal("MERGE met no row"))?, strength));
        }
        if rows.is_empty() {
            return Ok(batch.clone());
        }
        let transaction = &self.context.transaction;
        let states = transaction.lock_rows(&rows, patience(&self.context)).await?;
        let mut changed = Vec::new();
        for ((place, (key, _)), state) in places.into_iter().zip(&rows).zip(states) {
            if state != LockedRow::Same {
                changed.push((place, key.clone()));
            }
        }
        if changed.is_empty() {
            return Ok(batch.clone());
        }
        let (changed, keys): (Vec<u32>, Vec<Bytes>) = changed.into_iter().unzip();
        let newest = transaction.get_many(&keys, OwnWrites::Newest).await?;
        let found: Vec<Option<(&[u8], &[u8])>> =
            keys.iter().zip(&newest).map(|(key, value)| Some((&key[..], value.as_deref()?))).collect();
        let decoded = again.output.decode(found.iter().flatten().copied())?;
        // A deleted row becomes NULL.
        let mut next = 0..;
        let there = UInt32Array::from_iter(found.iter().map(|found| found.and_then(|_| next.next())));
        let live = self.target.schema.fields().len();
        let mut columns = pick(&columns(batch, 2 + 2 * live..batch.num_columns())?, &changed)?;
        for position in std::iter::once(live).chain(0..live) {
            columns.push(take(&column(&decoded, position)?, &there, None)?);
        }
        self.context.held.put(again.part, vec![batch_of(&again.held, &columns, changed.len())?]);
        // A source row may not match any target row now.
        let schema = batch.schema();
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let changed: HashSet<u32> = changed.into_iter().collect();
        let left: Vec<u32> = (0..position(batch.num_rows())?).filter(|row| !changed.contains(row)).collect();
        let mut batches = vec![batch_of(&schema, &pick(batch.columns(), &left)?, left.len())?];
        for looked in again.plan.run(&self.context, Vec::new()).await? {
            // The action may have changed to one with a stronger lock.
            let mut stronger = Vec::new();
            for (key, number) in self.rows_of(&looked)? {
                let step = number.and_then(|number| steps.get(number));
                let assigned = match step {
                    Some(MergeStep::Update(assigned)) => Some(assigned.as_slice()),
                    Some(MergeStep::Delete) => None,
                    Some(MergeStep::Insert | MergeStep::Nothing) | None => continue,
                };
                stronger.extend(key.map(|key| (key, self.strength_of(assigned))));
            }
            transaction.lock_rows(&stronger, patience(&self.context)).await?;
            batches.push(batch_of(&schema, looked.columns(), looked.num_rows())?);
        }
        Ok(concat_batches(&schema, &batches)?)
    }

    fn rows_of(&self, batch: &RecordBatch) -> Result<impl Iterator<Item = (Option<Bytes>, Option<usize>)> + use<>> {
        chosen(batch, self.target.schema.fields().len())
    }

    /// Applies the actions of a batch. Returns the number of affected rows. Errors: 21000 for a row affected twice, and
    /// those of INSERT, UPDATE and DELETE.
    pub async fn merge(&mut self, steps: &[MergeStep], again: &MergeRecheck, batch: &RecordBatch) -> Result<usize> {
        let batch = &self.locked(steps, again, batch).await?;
        let target = self.target.clone();
        let live = target.schema.fields().len();
        let mut rows: Vec<(Vec<u32>, Vec<Bytes>)> = vec![Default::default(); steps.len()];
        for (row, (key, number)) in self.rows_of(batch)?.enumerate() {
            let Some(number) = number else { continue };
            let (Some(step), Some(chosen)) = (steps.get(number), rows.get_mut(number)) else {
                return Err(SqlError::internal("an unknown action of MERGE"));
            };
            match step {
                MergeStep::Nothing => continue,
                MergeStep::Insert => {}
                MergeStep::Update(_) | MergeStep::Delete => {
                    let key = key.ok_or_else(|| SqlError::internal("MERGE met no row"))?;
                    if !self.touched.insert(key.clone()) {
                        let message = "MERGE command cannot affect row a second time";
                        return Err(SqlError::new(state::CARDINALITY_VIOLATION, message)
                            .hint("Ensure that not more than one source row matches any one target row."));
                    }
                    // Ignore rows that another part of the statement has written.
                    if !self.note(&key) {
                        continue;
                    }
                    chosen.1.push(key);
                }
            }
            chosen.0.push(position(row)?);
        }
        let mut order: Vec<usize> = (0..steps.len()).collect();
        order.sort_by_key(|number| steps.get(*number).map(MergeStep::rank));
        let mut affected = 0;
        for number in order {
            let (Some(step), Some((chosen, keys))) = (steps.get(number), rows.get(number)) else { continue };
            if chosen.is_empty() {
                continue;
            }
            let old = pick(&columns(batch, 1..1 + live)?, chosen)?;
            let mut new = pick(&columns(batch, 2 + live..2 + 2 * live)?, chosen)?;
            affected += chosen.len();
            match step {
                MergeStep::Nothing => {}
                MergeStep::Delete => self.delete(keys, &old).await?,
                MergeStep::Update(assigned) => {
                    target.computer.compute(&target.schema, &mut new, chosen.len())?;
                    let changed: Vec<usize> = assigned.iter().copied().chain(target.computer.positions()).collect();
                    self.update(keys, &old, &new, &changed).await?;
                }
                MergeStep::Insert => {
                    target.computer.compute(&target.schema, &mut new, chosen.len())?;
                    self.insert(&new, chosen.len()).await?;
                }
            }
        }
        Ok(affected)
    }
}
