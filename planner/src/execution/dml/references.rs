//! [`References`]: what a write does to the keys of FOREIGN KEYs: those that its rows refer with, and those of its rows
//! that others may refer to; and to the keys of constraints that are unique and deferrable. Collected while rows are written; whoever ran the statement looks at them when it has
//! ended ([`Pending`]).

use crate::catalog::{Catalog, TableDescriptor, TriggerState};
use crate::error::{Result, SqlError, state};
use crate::types::{Datum, Oid};
use datafusion::arrow::array::ArrayRef;
use std::collections::HashSet;

/// What happened to a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyChange {
    /// A row refers with it.
    Referring,
    /// The row that had it is deleted.
    Deleted,
    /// The row that had it has this one now.
    Changed(Vec<Datum>),
    /// A row has it under a unique constraint that is deferrable.
    Taken,
}

/// Why a key that is NULL in part does not do under MATCH FULL.
pub const MIXED: &str = "MATCH FULL does not allow mixing of null and nonnull key values.";

/// 23503 for a row of a table whose key finds no row by a FOREIGN KEY of it.
pub fn dangling(schema: &str, table: &str, constraint: &str) -> SqlError {
    let message = format!("insert or update on table \"{table}\" violates foreign key constraint \"{constraint}\"");
    SqlError::new(state::FOREIGN_KEY_VIOLATION, message).table(schema, table).constraint(constraint)
}

/// A key to be looked at when the statement has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The table of the constraint.
    pub table: Oid,
    /// The FOREIGN KEY, or unique constraint.
    pub constraint: Oid,
    /// The key: values of the FOREIGN KEY's columns, or of those it refers to, in its order. None is NULL.
    pub key: Vec<Datum>,
    /// What happened.
    pub change: KeyChange,
}

/// A constraint as a write meets it.
#[derive(Debug)]
struct Side {
    table: Oid,
    constraint: Oid,
    name: String,
    /// Positions of its columns among the live ones of the written table.
    positions: Vec<usize>,
    match_full: bool,
    /// Whether it is looked at when a row is added (of the table that refers) or deleted (of the other one).
    of_rows: bool,
    /// Whether it is looked at when the key of a row changes.
    of_changes: bool,
    /// Of a unique constraint: whether NULLs are equal.
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
    /// Of writes to a table. `replica`: session_replication_role is replica, so that most FOREIGN KEYs are not looked at.
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

    /// Rows were added. Errors: 23503 for a key that is NULL in part under MATCH FULL.
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

    /// Rows were removed.
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

    /// Rows were replaced. Errors: as for added ones.
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

    /// The key, when it refers to anything: none of it is NULL.
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

    /// How many keys it holds.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// What was collected, in order.
    pub fn take(&mut self) -> Vec<Pending> {
        self.seen.clear();
        std::mem::take(&mut self.pending)
    }
}

fn pending(side: &Side, key: Vec<Datum>, change: KeyChange) -> Pending {
    Pending { table: side.table, constraint: side.constraint, key, change }
}

/// A key that must not be there twice.
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
