//! [`gather`]: reads a table and computes statistics of its rows.

use super::sample::Sample;
use super::values::{Sampled, summarize};
use bytes::Bytes;
use catalog::encoding::RowDecoder;
use catalog::{ColumnDescriptor, ColumnId, TableDescriptor, TableStatistics, keys};
use futures::TryStreamExt;
use sql_error::Result;
use std::sync::Arc;
use storage::RowRange;
use storage::env::Env;
use txn::{OwnWrites, Transaction, TxnScanOptions};

/// Default number of common values and of histogram bounds of a column (`default_statistics_target`).
pub const DEFAULT_TARGET: usize = 100;
/// Rows sampled per common value, as in PostgreSQL. The histogram's bins are then within 50 % with a probability of 99
/// % (Chaudhuri, Motwani, Narasayya 1998).
const ROWS_PER_TARGET: usize = 300;
/// Most bytes of sampled rows. Larger rows give a smaller sample.
const KEPT_BYTES: usize = 64 << 20;
/// Most bytes read of a larger table, in randomly chosen tablets.
const MOST_BYTES: u64 = 256 << 20;

/// The statistics to gather.
pub struct Wanted<'a> {
    /// The columns to analyze. `None` means all.
    pub columns: Option<&'a [ColumnId]>,
    /// The number of common values: `default_statistics_target`.
    pub target: usize,
    /// Whether the server gathers them on its own.
    pub automatic: bool,
}

/// The statistics that were gathered.
pub struct Gathered {
    /// Statistics of the table.
    pub statistics: TableStatistics,
    /// Number of rows that were sampled.
    pub sampled: usize,
}

/// Reads a table as `transaction` sees it, including own writes. Statistics of columns that are not wanted are kept.
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
        // An empty sample tells nothing. The previous statistics may apply again later.
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

/// Samples at most `most` rows, and estimates their total number.
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
                // Shrink to half the limit, so that the next batches do not exceed it again.
                sample.keep_at_most(sample.kept().len() * (KEPT_BYTES / 2) / bytes);
                bytes = sample.kept().iter().map(size).sum();
            }
            // A store that answers at once must not occupy the thread.
            tokio::task::yield_now().await;
        }
    }
    let rows = sample.offered() as f64 / part;
    Ok((sample.into_kept(), rows))
}

/// The key ranges to read, and their share of the table, above 0 and up to 1.
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
