//! Deferrable unique constraints: checks that new keys occur once.
//!
//! The indexes of these constraints have the entries of non-unique indexes, so rows may share a key. The check counts
//! the entries of each key. Two transactions that take one key must not both commit. So each deletes the bare key,
//! without a row behind it. No entry has that key, but the two writes conflict.

use super::Queue;
use super::runner::Runner;
use super::shown;
use crate::catalog::{Deferral, IndexDescriptor, TableDescriptor};
use crate::encoding::{KeyColumn, KeyEncoder, push_prefix};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::execution::dml::{self, KeyChange, Pending, patience, reads_newest};
use crate::parse::names::quote;
use crate::session::database::Database;
use crate::types::Datum;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, new_null_array};
use futures::TryStreamExt;
use std::sync::Arc;
use storage::RowRange;
use txn::{LockStrength, OwnWrites, TxnScanOptions, Write, WriteKind};

/// A deferrable unique constraint and its table.
pub struct Unique {
    table: Arc<TableDescriptor>,
    index: IndexDescriptor,
    deferral: Deferral,
}

impl Unique {
    /// The constraint of a pending check. `None` for FOREIGN KEYs, and if the constraint was dropped meanwhile.
    pub fn of(context: &StatementContext, pending: &Pending) -> Option<Unique> {
        if pending.change != KeyChange::Taken {
            return None;
        }
        let table = context.catalog.relation_by_oid(pending.table)?;
        let index = table.indexes.iter().find(|index| index.constraint == Some(pending.constraint))?.clone();
        let deferral = index.deferral?;
        Some(Unique { table, index, deferral })
    }
    /// Whether it is checked at COMMIT.
    pub fn is_deferred(&self, queue: &Queue) -> bool {
        self.index.constraint.and_then(|oid| queue.said(oid)).unwrap_or(self.deferral.deferred)
    }
    /// The prefix of the index entries with a key.
    fn prefix(&self, key: &[Datum]) -> Result<Bytes> {
        let columns = self.index.columns.iter().map(|part| {
            let column =
                self.table.column(part.column).ok_or_else(|| SqlError::internal("a key without its column"))?;
            let (descending, nulls_first) = (part.descending, part.nulls_first);
            Ok(KeyColumn { ty: column.ty, descending, nulls_first, in_memory: false })
        });
        let mut bytes = Vec::new();
        push_prefix(self.index.storage_id, &mut bytes);
        KeyEncoder::new(columns.collect::<Result<_>>()?).encode_datums(key, &mut bytes)?;
        Ok(bytes.into())
    }
    /// 23505: several rows have this key.
    fn violation(&self, context: &StatementContext, key: &[Datum]) -> Result<SqlError> {
        let columns = self.table.live_columns().map(|column| {
            let place = self.index.columns.iter().position(|part| part.column == column.id);
            match place.and_then(|place| key.get(place)) {
                Some(value) => Ok(value.to_array()?),
                None => Ok(new_null_array(&column.ty.arrow(), 1)),
            }
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(dml::unique_violation(context, &self.table, &self.index, &columns, &[], 0))
    }
}

/// Checks keys. Errors: 23505 for the first key that several rows have.
pub async fn hold(context: &StatementContext, all: &[(Unique, Pending)]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let prefixes = all.iter().map(|(unique, pending)| unique.prefix(&pending.key)).collect::<Result<Vec<_>>>()?;
    if reads_newest(context) {
        // Another transaction that takes the same key waits here, and then sees the commit.
        let rows: Vec<(Bytes, LockStrength)> =
            prefixes.iter().map(|prefix| (prefix.clone(), LockStrength::Update)).collect();
        context.transaction.lock_rows(&rows, patience(context)).await?;
    }
    let newest = context.transaction.for_statement(context.transaction.is_quiet());
    for ((unique, pending), prefix) in all.iter().zip(&prefixes) {
        context.session.check_interrupt()?;
        let mut entries = newest.scan(
            RowRange::prefix(prefix.clone()),
            TxnScanOptions { batch_rows: 2, limit: Some(2), ..TxnScanOptions::default() },
            OwnWrites::Newest,
        );
        let mut count = 0;
        while let Some(pairs) = entries.try_next().await? {
            count += pairs.len();
        }
        if count > 1 {
            return Err(unique.violation(context, &pending.key)?);
        }
    }
    let meet = |key: Bytes| Write { key, kind: WriteKind::Delete, strength: LockStrength::Update };
    context.transaction.write(prefixes.into_iter().map(meet).collect()).await?;
    Ok(())
}

/// Checks that no two rows of a table with a new constraint share a key. Errors: 23505.
pub async fn validate(
    database: &Arc<Database>,
    context: &Arc<StatementContext>,
    table: &Arc<TableDescriptor>,
    index: &IndexDescriptor,
) -> Result<()> {
    let (mut columns, mut present) = (Vec::new(), Vec::new());
    for part in &index.columns {
        let column = table.column(part.column).ok_or_else(|| SqlError::internal("a key without its column"))?;
        columns.push(format!("x.{}", quote(&column.name)));
        present.push(format!("x.{} IS NOT NULL", quote(&column.name)));
    }
    let condition = if index.nulls_not_distinct { "true".to_string() } else { present.join(" AND ") };
    let columns = columns.join(", ");
    let text = format!(
        "SELECT {columns} FROM {} x WHERE {condition} GROUP BY {columns} HAVING count(*) > 1 LIMIT 1",
        shown(table)
    );
    let found = Runner::new(database, context).run(text, Vec::new(), Vec::new()).await?;
    let Some(batch) = found.iter().find(|batch| batch.num_rows() > 0) else { return Ok(()) };
    let values = table.live_columns().map(|column| {
        let place = index.columns.iter().position(|part| part.column == column.id);
        let array = place.and_then(|place| batch.columns().get(place)).cloned();
        array.unwrap_or_else(|| new_null_array(&column.ty.arrow(), batch.num_rows()))
    });
    let detail = match context.shows(table, index.columns.iter().map(|part| part.column)) {
        true => format!("Key {} is duplicated.", dml::key_text(table, index, &values.collect::<Vec<_>>(), &[], 0)),
        false => "Duplicate keys exist.".into(),
    };
    Err(SqlError::new(state::UNIQUE_VIOLATION, format!("could not create unique index \"{}\"", index.name))
        .detail(detail)
        .table(&table.schema, &table.name)
        .constraint(&index.name))
}
