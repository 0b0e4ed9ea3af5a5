//! Reads key ranges one after another, up to a limit. Shares ranges among partitions by tablet.

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use sql_error::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use storage::RowRange;
use txn::{OwnWrites, Pairs, Transaction, TxnScanOptions};

/// Most pairs in one batch.
pub const BATCH_ROWS: usize = 2048;

/// Options for reading ranges.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Whether to read from the last key to the first.
    pub reverse: bool,
    /// Most pairs to read in total.
    pub fetch: Option<usize>,
    /// The own writes that are visible.
    pub own: OwnWrites,
}

/// Streams the pairs of `ranges`, which must be sorted by key and disjoint.
pub fn read_ranges(
    transaction: Arc<Transaction>,
    mut ranges: Vec<RowRange>,
    options: ReadOptions,
) -> BoxStream<'static, Result<Pairs>> {
    if !options.reverse && options.fetch.is_none() && ranges.len() > 1 {
        let batches = transaction.scan_ranges(ranges, BATCH_ROWS, options.own);
        return batches.map_err(sql_error::SqlError::from).boxed();
    }
    if options.reverse {
        ranges.reverse();
    }
    read(transaction, ranges.into_iter(), options)
}

fn read(
    transaction: Arc<Transaction>,
    ranges: impl Iterator<Item = RowRange> + Send + 'static,
    options: ReadOptions,
) -> BoxStream<'static, Result<Pairs>> {
    let batch_rows = options.fetch.map_or(BATCH_ROWS, |fetch| fetch.clamp(1, BATCH_ROWS));
    let scan =
        TxnScanOptions { reverse: options.reverse, batch_rows, limit: options.fetch, ..TxnScanOptions::default() };
    let batches = stream::iter(ranges)
        .flat_map(move |range| transaction.scan_pairs(range, scan, options.own))
        .map_err(sql_error::SqlError::from);
    match options.fetch {
        None => batches.boxed(),
        Some(fetch) => batches
            .scan(fetch, |left, batch| {
                let batch = batch.map(|mut pairs| {
                    pairs.truncate(*left);
                    *left -= pairs.len();
                    pairs
                });
                futures::future::ready(Some((batch, *left == 0)))
            })
            // The batch that reaches the limit still counts. Nothing is read after it.
            .scan(false, |done, (batch, last)| {
                let item = (!*done).then_some(batch);
                *done = last;
                futures::future::ready(item)
            })
            .boxed(),
    }
}

/// Least number of pieces per partition, if a range can be divided. A partition that finishes a piece takes the next
/// one. So none waits long for another whose piece was larger.
const PIECES_EACH: usize = 4;

/// Pieces of ranges in key order that several partitions read. Each partition takes the next piece when it has finished
/// one. So each partition reads in key order.
#[derive(Debug)]
pub struct Pieces {
    left: Arc<Mutex<VecDeque<RowRange>>>,
}

impl Pieces {
    /// Splits `ranges` at tablet boundaries, and tablets if there are too few.
    pub async fn of(transaction: &Transaction, ranges: &[RowRange], partitions: usize) -> Result<Pieces> {
        let mut pieces = Vec::new();
        for range in ranges {
            let tablets = transaction.tablets(range).await?;
            pieces.extend(tablets.iter().map(|tablet| tablet.range.intersect(range)).filter(|piece| !piece.is_empty()));
        }
        let wanted = partitions * PIECES_EACH;
        if pieces.len() < wanted {
            let each = wanted.div_ceil(pieces.len().max(1));
            let mut smaller = Vec::with_capacity(wanted);
            for piece in pieces {
                let mut start = piece.start.clone();
                for key in transaction.divide(&piece, each).await? {
                    smaller.push(RowRange { start: std::mem::replace(&mut start, key.clone()), end: Some(key) });
                }
                smaller.push(RowRange { start, end: piece.end });
            }
            pieces = smaller;
        }
        Ok(Pieces { left: Arc::new(Mutex::new(pieces.into())) })
    }

    /// Streams the pairs of the pieces that this partition takes. It takes a piece once the previous one is read.
    pub fn read(&self, transaction: Arc<Transaction>, options: ReadOptions) -> BoxStream<'static, Result<Pairs>> {
        let left = Arc::clone(&self.left);
        read(transaction, std::iter::from_fn(move || left.lock().pop_front()), options)
    }
}
