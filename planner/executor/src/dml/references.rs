//! [`References`]: the effects of a write on keys of constraints that are checked later. These are keys with which rows
//! refer by FOREIGN KEYs, keys to which others may refer, and keys of deferrable unique constraints. They are collected
//! while rows are written. The caller checks them at the statement's end ([`Pending`]).

use catalog::{Catalog, TableDescriptor, TriggerState};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use types::{Datum, Oid};

/// The change to a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyChange {
    /// A row refers to it.
    Referring,
    /// The row that had it is deleted.
    Deleted,
    /// The row that had it now has this key.
    Changed(Vec<Datum>),
    /// A row takes it under a deferrable unique constraint.
    Taken,
}

/// The error detail for a key that is partly NULL under MATCH FULL.
pub const MIXED: &str = "MATCH FULL does not allow mixing of null and nonnull key values.";

/// The error 23503 for a row whose FOREIGN KEY finds no row.
pub fn dangling(schema: &str, table: &str, constraint: &str) -> SqlError {
    let message = format!("insert or update on table \"{table}\" violates foreign key constraint \"{constraint}\"");
    SqlError::new(state::FOREIGN_KEY_VIOLATION, message).table(schema, table).constraint(constraint)
}

/// A key to check at the statement's end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// OID of the constraint's table.
    pub table: Oid,
    /// OID of the FOREIGN KEY or unique constraint.
    pub constraint: Oid,
    /// The key: values of the FOREIGN KEY's columns, or of those it refers to, in its order. None is NULL.
    pub key: Vec<Datum>,
    /// The change to the key.
    pub change: KeyChange,
}

/// A constraint as seen from the written table.
#[derive(Debug)]
struct Side {
    table: Oid,
    constraint: Oid,
    name: String,
    /// Positions of its columns among the written table's live columns.
    positions: Vec<usize>,
    match_full: bool,
    /// Whether to check added rows (of the referring table) or deleted rows (of the other one).
    of_rows: bool,
    /// Whether to check changed keys.
    of_changes: bool,
    /// For a unique constraint: whether NULLs are equal.
    equal_nulls: bool,
}

/// Collects the keys of one statement.
#[derive(Debug, Default)]
pub struct References {
    schema: String,
    name: String,
    referring: Vec<Side>,
    referred: Vec<Side>,
    unique: Vec<Side>,
    pending: Vec<Pending>,
    seen: HashSet<Pending>,
}

impl References {
    /// A collector for writes to a table. `replica` means that session_replication_role is replica, so most FOREIGN
    /// KEYs are not checked.
    pub fn new(catalog: &Catalog, table: &TableDescriptor, replica: bool) -> References {
        let positions = |ids: &[i16]| -> Vec<usize> {
            ids.iter().filter_map(|id| table.live_columns().position(|column| column.id == *id)).collect()
        };
        let fires = |state: TriggerState| state.fires(replica);
        let referring = table.foreign_keys.iter().map(|key| {
            let [_, _, of_rows, of_changes] = key.triggers.map(fires);
            Side {
                table: table.oid,
                constraint: key.oid,
                name: key.name.clone(),
                positions: positions(&key.columns),
                match_full: key.match_full,
                of_rows,
                of_changes,
                equal_nulls: false,
            }
        });
        let referred = catalog.referencing(table.oid).into_iter().map(|(child, key)| {
            let [of_rows, of_changes, _, _] = key.triggers.map(fires);
            Side {
                table: child.oid,
                constraint: key.oid,
                name: key.name.clone(),
                positions: positions(&key.referenced),
                match_full: key.match_full,
                of_rows,
                of_changes,
                equal_nulls: false,
            }
        });
        let unique = table.indexes.iter().filter(|index| index.deferral.is_some()).map(|index| Side {
            table: table.oid,
            constraint: index.constraint.unwrap_or_default(),
            name: index.name.clone(),
            positions: positions(&index.columns.iter().map(|key| key.column).collect::<Vec<_>>()),
            match_full: false,
            of_rows: true,
            of_changes: true,
            equal_nulls: index.nulls_not_distinct,
        });
        References {
            schema: table.schema.clone(),
            name: table.name.clone(),
            referring: referring.collect(),
            referred: referred.collect(),
            unique: unique.collect(),
            ..References::default()
        }
    }

    /// Collects keys of added rows. Errors: 23503 for a key that is partly NULL under MATCH FULL.
    pub fn inserted(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        let mut found = Vec::new();
        for row in 0..rows {
            for side in self.referring.iter().filter(|side| side.of_rows) {
                if let Some(key) = self.complete(side, key_of(side, columns, row)?)? {
                    found.push(pending(side, key, KeyChange::Referring));
                }
            }
            for side in &self.unique {
                found.extend(taken(side, key_of(side, columns, row)?));
            }
        }
        self.add(found);
        Ok(())
    }

    /// Collects keys of deleted rows.
    pub fn deleted(&mut self, old: &[ArrayRef], rows: usize) -> Result<()> {
        let mut found = Vec::new();
        for row in 0..rows {
            for side in self.referred.iter().filter(|side| side.of_rows) {
                let key = key_of(side, old, row)?;
                if !key.iter().any(Datum::is_null) {
                    found.push(pending(side, key, KeyChange::Deleted));
                }
            }
        }
        self.add(found);
        Ok(())
    }

    /// Collects keys of updated rows. Errors: as for added rows.
    pub fn updated(&mut self, old: &[ArrayRef], new: &[ArrayRef], assigned: &[usize], rows: usize) -> Result<()> {
        let touched =
            |side: &&Side| side.of_changes && side.positions.iter().any(|position| assigned.contains(position));
        let mut found = Vec::new();
        let referred: Vec<&Side> = self.referred.iter().filter(touched).collect();
        let referring: Vec<&Side> = self.referring.iter().filter(touched).collect();
        let unique: Vec<&Side> = self.unique.iter().filter(touched).collect();
        if referred.is_empty() && referring.is_empty() && unique.is_empty() {
            return Ok(());
        }
        for row in 0..rows {
            for side in &referred {
                let (before, after) = (key_of(side, old, row)?, key_of(side, new, row)?);
                if before != after && !before.iter().any(Datum::is_null) {
                    found.push(pending(side, before, KeyChange::Changed(after)));
                }
            }
            for side in &referring {
                let (before, after) = (key_of(side, old, row)?, key_of(side, new, row)?);
                if before != after
                    && let Some(key) = self.complete(side, after)?
                {
                    found.push(pending(side, key, KeyChange::Referring));
                }
            }
            for side in &unique {
                let (before, after) = (key_of(side, old, row)?, key_of(side, new, row)?);
                if before != after {
                    found.extend(taken(side, after));
                }
            }
        }
        self.add(found);
        Ok(())
    }

    fn add(&mut self, found: Vec<Pending>) {
        for pending in found {
            if self.seen.insert(pending.clone()) {
                self.pending.push(pending);
            }
        }
    }

    /// The key if it refers to anything, that is, has no NULL.
    fn complete(&self, side: &Side, key: Vec<Datum>) -> Result<Option<Vec<Datum>>> {
        let nulls = key.iter().filter(|value| value.is_null()).count();
        if nulls == 0 {
            return Ok(Some(key));
        }
        if side.match_full && nulls < key.len() {
            return Err(dangling(&self.schema, &self.name, &side.name).detail(MIXED));
        }
        Ok(None)
    }

    /// Number of keys it holds.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Takes the collected keys, in order.
    pub fn take(&mut self) -> Vec<Pending> {
        self.seen.clear();
        std::mem::take(&mut self.pending)
    }
}

fn pending(side: &Side, key: Vec<Datum>, change: KeyChange) -> Pending {
    Pending { table: side.table, constraint: side.constraint, key, change }
}

/// A key that must not occur twice.
fn taken(side: &Side, key: Vec<Datum>) -> Option<Pending> {
    (side.equal_nulls || !key.iter().any(Datum::is_null)).then(|| pending(side, key, KeyChange::Taken))
}

fn key_of(side: &Side, columns: &[ArrayRef], row: usize) -> Result<Vec<Datum>> {
    side.positions
        .iter()
        .map(|position| {
            let array = columns.get(*position).ok_or_else(|| SqlError::internal("a key column is missing"))?;
            Ok(Datum::try_from_array(array, row)?)
        })
        .collect()
}
