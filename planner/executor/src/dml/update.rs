//! Updating rows: the keys that they give up and take, in the table and in every index.

use super::check::first_failure;
use super::claims::KeyChanges;
use super::run::{Run, delete_key, put_entry};
use bytes::Bytes;
use catalog::IndexDescriptor;
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError};
use std::collections::HashMap;
use txn::{LockStrength, Write, WriteKind};

impl Run {
    /// Replaces rows. `keys` are the old rows' distinct keys; `assigned` are positions of columns that may differ.
    /// Errors: 23502, 23514; 23505 for keys that are certainly taken twice (others at the statement's end).
    pub async fn update(
        &mut self,
        keys: &[Bytes],
        old: &[ArrayRef],
        new: &[ArrayRef],
        assigned: &[usize],
    ) -> Result<()> {
        let target = self.target.clone();
        let codec = &target.codec;
        let rows = keys.len();
        if let Some((row, error)) =
            first_failure(codec, &target.checks, &target.schema, new, rows, self.shown(&target))?
        {
            return Err(self.earlier_failure(keys, old, new, assigned, row).await?.unwrap_or(error));
        }
        let rekeyed =
            codec.key.has_primary_key() && codec.key.positions().iter().any(|position| assigned.contains(position));
        let new_keys = if rekeyed { codec.row_keys(new, rows)? } else { keys.to_vec() };
        let mut strengths = vec![LockStrength::NoKeyUpdate; rows];
        let mut deletes: Vec<Write> = Vec::new();
        let mut puts: Vec<Write> = Vec::new();

        let mut moved = false;
        if let (true, Some(primary)) = (rekeyed, codec.primary()) {
            let mut keys_change = Changes::default();
            for (row, (old_key, new_key)) in keys.iter().zip(&new_keys).enumerate() {
                if old_key != new_key {
                    moved = true;
                    mark(&mut strengths, row);
                    if !keys_change.replace(old_key.clone(), new_key.clone(), row, true) {
                        return Err(codec.unique_violation(&self.context, primary, new, row));
                    }
                }
            }
            self.settle(0, keys_change, primary, new, &mut deletes).await?;
        }

        for (space, index) in codec.indexes.iter().enumerate() {
            if !moved && !index.concerns(assigned) {
                continue;
            }
            let old_entries = codec.entries(index, old, keys)?;
            let new_entries = codec.entries(index, new, &new_keys)?;
            let mut change = Changes::default();
            let being_built = index.may_be_anothers();
            let mut same_key: Vec<(Write, Bytes)> = Vec::new();
            let mut given_up: HashMap<Bytes, Bytes> = HashMap::new();
            for (row, entries) in old_entries.into_iter().zip(new_entries).enumerate() {
                let (old_entry, new_entry) = match entries {
                    (Some(old_entry), Some(new_entry)) => (old_entry, new_entry),
                    (None, None) => continue,
                    // The row leaves or enters a partial index.
                    (Some(old_entry), None) => {
                        if let Some(row_key) = keys.get(row).filter(|_| being_built) {
                            given_up.insert(Bytes::copy_from_slice(&old_entry.key), row_key.clone());
                        }
                        if index.index.unique {
                            mark(&mut strengths, row);
                        }
                        change.keys.vacate(old_entry.key.into());
                        continue;
                    }
                    (None, Some(new_entry)) => {
                        if !index.maintained() {
                            continue;
                        }
                        if index.index.unique {
                            mark(&mut strengths, row);
                        }
                        let look_up = new_entry.unique || moved;
                        let put = put_entry(new_entry);
                        if !change.take(put.key.clone(), row, look_up) {
                            return Err(codec.unique_violation(&self.context, &index.index, new, row));
                        }
                        puts.push(put);
                        continue;
                    }
                };
                if old_entry.key == new_entry.key {
                    if index.maintained() && old_entry.value != new_entry.value {
                        match keys.get(row).filter(|_| being_built) {
                            Some(row_key) => same_key.push((put_entry(new_entry), row_key.clone())),
                            None => puts.push(put_entry(new_entry)),
                        }
                    }
                    continue;
                }
                if let Some(row_key) = keys.get(row).filter(|_| being_built) {
                    given_up.insert(Bytes::copy_from_slice(&old_entry.key), row_key.clone());
                }
                if index.index.unique {
                    mark(&mut strengths, row);
                }
                let old_key: Bytes = old_entry.key.into();
                if !index.maintained() {
                    change.keys.vacate(old_key);
                    continue;
                }
                // Two rows can share an entry of a non-unique index only if rows exchange primary keys.
                let look_up = new_entry.unique || moved;
                let put = put_entry(new_entry);
                if !change.replace(old_key, put.key.clone(), row, look_up) {
                    return Err(codec.unique_violation(&self.context, &index.index, new, row));
                }
                puts.push(put);
            }
            let first = deletes.len();
            self.settle(space + 1, change, &index.index, new, &mut deletes).await?;
            if being_built {
                let entries = deletes.split_off(first).into_iter();
                let entries = entries.filter_map(|write| Some((write.key.clone(), given_up.get(&write.key)?.clone())));
                deletes.extend(Box::pin(self.give_up(index, entries.collect())).await?);
                let entries = same_key.iter().map(|(put, row_key)| (put.key.clone(), row_key.clone())).collect();
                let mine = Box::pin(self.give_up(index, entries)).await?;
                puts.extend(
                    same_key.into_iter().zip(mine).map(
                        |((put, _), mine)| {
                            if mine.kind == WriteKind::Delete { put } else { mine }
                        },
                    ),
                );
            }
        }

        let values = codec.row_values(new, rows)?;
        for ((key, value), strength) in new_keys.into_iter().zip(values).zip(strengths) {
            puts.push(Write { key, kind: WriteKind::Put(value), strength });
        }
        // Taken keys overwrite keys that were given up.
        deletes.extend(puts);
        self.context.transaction.write(deletes).await?;
        self.references.updated(old, new, assigned, rows)
    }

    /// The error of the rows before a failing one, if any: PostgreSQL reports it first.
    async fn earlier_failure(
        &mut self,
        keys: &[Bytes],
        old: &[ArrayRef],
        new: &[ArrayRef],
        assigned: &[usize],
        rows: usize,
    ) -> Result<Option<SqlError>> {
        let first = |columns: &[ArrayRef]| columns.iter().map(|column| column.slice(0, rows)).collect::<Vec<_>>();
        let keys = keys.get(..rows).unwrap_or_default();
        let updated = Box::pin(self.update(keys, &first(old), &first(new), assigned)).await;
        Ok(updated.and_then(|()| self.finish_claims()).err())
    }

    async fn settle(
        &mut self,
        space: usize,
        changes: Changes,
        index: &IndexDescriptor,
        new: &[ArrayRef],
        deletes: &mut Vec<Write>,
    ) -> Result<()> {
        let mut to_look_up = changes.keys.to_look_up();
        to_look_up.retain(|key| changes.looked_up.contains_key(key));
        let found = self.existing(index, &to_look_up).await?;
        let exists: Vec<Bytes> =
            to_look_up.into_iter().zip(found).filter(|(_, value)| value.is_some()).map(|(key, _)| key).collect();
        let codec = &self.target.codec;
        let violation = |key: &Bytes| {
            let row = changes.looked_up.get(key).copied().unwrap_or(0);
            codec.unique_violation(&self.context, index, new, row)
        };
        let claims = self.claims.get_mut(space).ok_or_else(|| SqlError::internal("an unknown index"))?;
        deletes.extend(claims.settle(&changes.keys, &exists, violation)?.into_iter().map(delete_key));
        Ok(())
    }
}

/// The keys that the rows of a batch give up and take.
#[derive(Default)]
struct Changes {
    keys: KeyChanges,
    /// The taken keys that may exist, and the rows that take them.
    looked_up: HashMap<Bytes, usize>,
}

impl Changes {
    /// A row changes its key. False if the new key is taken twice.
    fn replace(&mut self, old: Bytes, new: Bytes, row: usize, look_up: bool) -> bool {
        self.keys.vacate(old);
        self.take(new, row, look_up)
    }
    /// A row takes a key. False if it is taken twice.
    fn take(&mut self, new: Bytes, row: usize, look_up: bool) -> bool {
        if look_up {
            self.looked_up.insert(new.clone(), row);
        }
        self.keys.claim(new)
    }
}

fn mark(strengths: &mut [LockStrength], row: usize) {
    if let Some(strength) = strengths.get_mut(row) {
        *strength = LockStrength::Update;
    }
}
