//! [`gather`]: reads a table and says what its rows are like.

use super::sample::Sample;
use super::values::{Sampled, summarize};
use crate::catalog::{ColumnDescriptor, ColumnId, TableDescriptor, TableStatistics, keys};
use crate::encoding::RowDecoder;
use crate::error::Result;
use bytes::Bytes;
use futures::TryStreamExt;
use std::sync::Arc;
use storage::RowRange;
use storage::env::Env;
use txn::{OwnWrites, Transaction, TxnScanOptions};

/// Common values and histogram bounds of a column, unless it says otherwise (`default_statistics_target`).
pub const DEFAULT_TARGET: usize = 100;
/// Rows looked at for each of them, as in PostgreSQL: enough for a histogram whose parts are right within a half with
/// a probability of 99 % (Chaudhuri, Motwani, Narasayya 1998).
const ROWS_PER_TARGET: usize = 300;
/// Bytes of rows that are kept to be looked at; of larger rows there are fewer.
const KEPT_BYTES: usize = 64 << 20;
/// Of a table of more bytes on the medium only as many are read, in tablets that are drawn.
const MOST_BYTES: u64 = 256 << 20;

/// What is to be found out.
pub struct Wanted<'a> {
    /// The columns; all when there are none.
    pub columns: Option<&'a [ColumnId]>,
    /// `default_statistics_target`.
    pub target: usize,
    /// Whether the server asks by itself.
    pub automatic: bool,
}

/// What was found out.
pub struct Gathered {
    /// Of the table.
    pub statistics: TableStatistics,
    /// Rows that were looked at.
    pub sampled: usize,
}

/// Reads a table, own writes included, as `transaction` sees it. What is known of columns that are not asked for is kept.
pub async fn gather(
    env: &dyn Env,
    transaction: &Arc<Transaction>,
    table: &TableDescriptor,
    wanted: &Wanted<'_>,
) -> Result<Gathered> {
    let chosen = |column: &&ColumnDescriptor| wanted.columns.is_none_or(|columns| columns.contains(&column.id));
    let target = |column: &ColumnDescriptor| match column.statistics {
        Some(target) => usize::try_from(target).unwrap_or(wanted.target),
        None => wanted.target,
    };
    let columns: Vec<&ColumnDescriptor> = table.live_columns().filter(chosen).collect();
    let most = columns.iter().map(|column| target(column)).max().unwrap_or(1).max(1) * ROWS_PER_TARGET;
    let (sample, rows) = read(env, transaction, table, most).await?;

    let ids: Vec<ColumnId> = columns.iter().map(|column| column.id).collect();
    let mut decoder = RowDecoder::new(table, &ids, false)?;
    for (key, value) in &sample {
        decoder.push(key, value)?;
    }
    let arrays = decoder.finish()?;
    let mut known = Vec::with_capacity(columns.len());
    for (column, values) in columns.iter().zip(&arrays) {
        let target = target(column);
        // Of no rows nothing is learnt: what was known before may be true again.
        if target > 0 && !sample.is_empty() {
            let sampled = Sampled { column: column.id, ty: column.ty, values, rows, target };
            known.push(summarize(&sampled)?);
        }
        tokio::task::yield_now().await;
    }
    let before = table.statistics.iter().flat_map(|statistics| &statistics.columns);
    known.extend(before.filter(|column| sample.is_empty() || !ids.contains(&column.column)).cloned());
    let gathered = i64::try_from(env.now_micros()).unwrap_or(i64::MAX);
    let (number, automatic) = (env.random(), wanted.automatic);
    let statistics = TableStatistics { number, rows, gathered, automatic, columns: known };
    Ok(Gathered { statistics, sampled: sample.len() })
}

/// Some rows, `most` at most, and about how many there are.
async fn read(
    env: &dyn Env,
    transaction: &Arc<Transaction>,
    table: &TableDescriptor,
    most: usize,
) -> Result<(Vec<(Bytes, Bytes)>, f64)> {
    let (ranges, part) = chosen_ranges(env, transaction, keys::rows_of(table.storage_id)).await?;
    let mut sample = Sample::new(most, env.random());
    let size = |(key, value): &(Bytes, Bytes)| key.len() + value.len();
    let mut bytes = 0;
    for range in ranges {
        let mut rows = transaction.scan(range, TxnScanOptions::once(), OwnWrites::All);
        while let Some(batch) = rows.try_next().await? {
            for row in batch {
                bytes += size(&row);
                bytes -= sample.offer(row).as_ref().map_or(0, size);
            }
            if bytes > KEPT_BYTES {
                // Below the bound by a half, so that it is not met again with each batch.
                sample.keep_at_most(sample.kept().len() * (KEPT_BYTES / 2) / bytes);
                bytes = sample.kept().iter().map(size).sum();
            }
            // A store that answers at once must not keep the thread.
            tokio::task::yield_now().await;
        }
    }
    let rows = sample.offered() as f64 / part;
    Ok((sample.into_kept(), rows))
}

/// What is read of a table, and which part of it that is, above 0 to 1.
async fn chosen_ranges(env: &dyn Env, transaction: &Transaction, all: RowRange) -> Result<(Vec<RowRange>, f64)> {
    let mut tablets = transaction.tablets(&all).await?;
    let bytes: u64 = tablets.iter().map(|tablet| tablet.bytes).sum();
    if bytes <= MOST_BYTES || tablets.len() < 2 {
        return Ok((vec![all], 1.0));
    }
    let (mut chosen, mut read) = (Vec::new(), 0);
    while read < MOST_BYTES && !tablets.is_empty() {
        let drawn = usize::try_from(env.random() % tablets.len() as u64).unwrap_or(0);
        let tablet = tablets.swap_remove(drawn);
        read += tablet.bytes;
        chosen.push(tablet.range.intersect(&all));
    }
    chosen.sort_by(|one, other| one.start.cmp(&other.start));
    Ok((chosen, read as f64 / bytes as f64))
}
