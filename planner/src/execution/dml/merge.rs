//! MERGE: each row of a batch is updated, deleted, inserted or left alone.

use super::conflict::position;
use super::run::{Run, column, columns, pick};
use crate::error::{Result, SqlError, state};
use bytes::Bytes;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::arrow::record_batch::RecordBatch;

/// What is done to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeStep {
    /// UPDATE of the columns at these positions among the live ones.
    Update(Vec<usize>),
    /// DELETE.
    Delete,
    /// INSERT.
    Insert,
    /// DO NOTHING.
    Nothing,
}

impl MergeStep {
    /// Keys are given up before they are taken.
    fn rank(&self) -> u8 {
        match self {
            MergeStep::Delete => 0,
            MergeStep::Update(_) => 1,
            MergeStep::Insert => 2,
            MergeStep::Nothing => 3,
        }
    }
}

impl Run {
    /// Does to the rows of a batch what it says of them; answers how many were affected. Errors: 21000 for a row that is
    /// affected twice, and those of INSERT, UPDATE and DELETE.
    pub async fn merge(&mut self, steps: &[MergeStep], batch: &RecordBatch) -> Result<usize> {
        let target = self.target.clone();
        let live = target.schema.fields().len();
        let keys = column(batch, 0)?;
        let keys = keys.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a row key that is not binary"))?;
        let numbers = column(batch, 1 + live)?;
        let numbers =
            numbers.as_primitive_opt::<Int32Type>().ok_or_else(|| SqlError::internal("an action that is no number"))?;
        let mut rows: Vec<(Vec<u32>, Vec<Bytes>)> = vec![Default::default(); steps.len()];
        for row in 0..batch.num_rows() {
            if numbers.is_null(row) {
                continue;
            }
            let number = usize::try_from(numbers.value(row)).map_err(SqlError::internal)?;
            let (Some(step), Some(chosen)) = (steps.get(number), rows.get_mut(number)) else {
                return Err(SqlError::internal("an unknown action of MERGE"));
            };
            match step {
                MergeStep::Nothing => continue,
                MergeStep::Insert => {}
                MergeStep::Update(_) | MergeStep::Delete => {
                    if keys.is_null(row) {
                        return Err(SqlError::internal("MERGE met no row"));
                    }
                    let key = Bytes::copy_from_slice(keys.value(row));
                    if !self.touched.insert(key.clone()) {
                        let message = "MERGE command cannot affect row a second time";
                        return Err(SqlError::new(state::CARDINALITY_VIOLATION, message)
                            .hint("Ensure that not more than one source row matches any one target row."));
                    }
                    // What another part of the statement has written is left alone.
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
                MergeStep::Delete => {
                    self.lock_unchanged(keys, None).await?;
                    self.delete(keys, &old).await?;
                }
                MergeStep::Update(assigned) => {
                    self.lock_unchanged(keys, Some(assigned)).await?;
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
