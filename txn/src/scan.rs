//! Transactional scans: streams the pairs that a snapshot sees, merged in key order with the transaction's own
//! writes. A scan holds one batch at a time.

use crate::buffer::OwnChange;
use crate::error::Result;
use crate::generator::{Emitter, generate};
use crate::pairs::Pairs;
use crate::transaction::{KeyValue, OwnWrites, Transaction};
use bytes::Bytes;
use futures::stream::BoxStream;
use std::collections::VecDeque;
use std::sync::Arc;
use storage::{RowRange, ScanOptions};

/// How many own changes are fetched from the buffer at a time.
const CHUNK: usize = 1024;

/// The options of a transactional scan.
#[derive(Clone, Copy, Debug)]
pub struct TxnScanOptions {
    /// Whether the scan runs from the end of the range to its start.
    pub reverse: bool,
    /// The most pairs in one item of the stream. At least 1.
    pub batch_rows: usize,
    /// The most pairs in all. `None` for no limit.
    pub limit: Option<usize>,
    /// Whether the scan may evict other data from caches.
    pub cached: bool,
}

impl TxnScanOptions {
    /// For a table or an index that is read once, whatever its size.
    pub fn once() -> Self {
        TxnScanOptions { cached: false, ..TxnScanOptions::default() }
    }
}

impl Default for TxnScanOptions {
    fn default() -> Self {
        TxnScanOptions { reverse: false, batch_rows: 1024, limit: None, cached: true }
    }
}

/// Streams `range`; see [`Transaction::scan`].
pub(crate) fn scan(
    transaction: Arc<Transaction>,
    range: RowRange,
    options: TxnScanOptions,
    own: OwnWrites,
) -> BoxStream<'static, Result<Pairs>> {
    generate(move |mut out| async move {
        if let Err(error) = run(&transaction, range, options, own, &mut out).await {
            out.emit(Err(error)).await;
        }
    })
}

/// Streams `ranges`; see [`Transaction::scan_ranges`].
pub(crate) fn scan_ranges(
    transaction: Arc<Transaction>,
    ranges: Vec<RowRange>,
    batch_rows: usize,
    own: OwnWrites,
) -> BoxStream<'static, Result<Pairs>> {
    generate(move |mut out| async move {
        if let Err(error) = run_each(&transaction, &ranges, batch_rows, own, &mut out).await {
            out.emit(Err(error)).await;
        }
    })
}

async fn run_each(
    transaction: &Transaction,
    mut ranges: &[RowRange],
    batch_rows: usize,
    own: OwnWrites,
    out: &mut Emitter<Result<Pairs>>,
) -> Result<()> {
    while let Some((first, others)) = ranges.split_first() {
        let (pairs, read) = match others {
            [] => (Pairs::from(Vec::new()), 0),
            _ => short(transaction, ranges, batch_rows, own).await?,
        };
        if !pairs.is_empty() {
            out.emit(Ok(pairs)).await;
        }
        ranges = match ranges.get(read..) {
            Some(rest) if read > 0 => rest,
            _ => {
                let options = TxnScanOptions { batch_rows, ..TxnScanOptions::default() };
                run(transaction, first.clone(), options, own, out).await?;
                others
            }
        };
    }
    Ok(())
}

/// The pairs of as many of `ranges` as can be read together, from the first on, and the number of these ranges. It is
/// zero if locks or own writes must be considered.
async fn short(
    transaction: &Transaction,
    ranges: &[RowRange],
    batch_rows: usize,
    own: OwnWrites,
) -> Result<(Pairs, usize)> {
    let none = (Pairs::from(Vec::new()), 0);
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(none) };
    let snapshot = transaction.snapshot_for(own).await?;
    if transaction.has_written(&RowRange { start: first.start.clone(), end: last.end.clone() }, own)? {
        return Ok(none);
    }
    let short = transaction.store().scan_short(&snapshot, ranges, batch_rows.max(1)).await?;
    let Some((rows, read)) = short else { return Ok(none) };
    let pairs = transaction.store().visible_pairs(&snapshot, rows, transaction.counts(), false).await?;
    for range in ranges.iter().take(read) {
        Noted { transaction, range: range.clone(), reverse: false }.all();
    }
    Ok((pairs, read))
}

/// The first pairs of `range`; see [`Transaction::first_pairs`].
pub(crate) async fn first(
    transaction: &Transaction,
    range: RowRange,
    most: usize,
    reverse: bool,
    own: OwnWrites,
) -> Result<Option<Pairs>> {
    if range.is_empty() || most == 0 {
        return Ok(Some(Pairs::from(Vec::new())));
    }
    let snapshot = transaction.snapshot_for(own).await?;
    if transaction.has_written(&range, own)? {
        return Ok(None);
    }
    let noted = Noted { transaction, range: range.clone(), reverse };
    let raw = ScanOptions { reverse, batch_rows: most, ..ScanOptions::default() };
    let store = transaction.store();
    let mut batches = store.scan_rows(&snapshot, range, raw, transaction.counts());
    let Some(rows) = batches.next().await? else {
        noted.all();
        return Ok(Some(Pairs::from(Vec::new())));
    };
    let mut pairs = store.visible_pairs(&snapshot, rows, transaction.counts(), reverse).await?;
    pairs.truncate(most);
    if pairs.len() == most {
        noted.up_to(pairs.last_key());
        return Ok(Some(pairs));
    }
    // There are no more pairs, or the batch left some out.
    let complete = batches.next().await?.is_none();
    if complete {
        noted.all();
    }
    Ok(complete.then_some(pairs))
}

async fn run(
    transaction: &Transaction,
    range: RowRange,
    options: TxnScanOptions,
    own: OwnWrites,
    out: &mut Emitter<Result<Pairs>>,
) -> Result<()> {
    let batch_rows = options.batch_rows.max(1);
    let mut left = options.limit.unwrap_or(usize::MAX);
    if range.is_empty() || left == 0 {
        return Ok(());
    }
    let snapshot = transaction.snapshot_for(own).await?;
    let mut own = OwnChanges::new(transaction, range.clone(), options.reverse, own);
    let noted = Noted { transaction, range: range.clone(), reverse: options.reverse };
    let raw =
        ScanOptions { reverse: options.reverse, batch_rows: batch_rows.min(left), limit: None, cached: options.cached };
    let store = transaction.store();
    let mut batches = store.scan_rows(&snapshot, range, raw, transaction.counts());
    let mut pairs: Vec<KeyValue> = Vec::new();
    loop {
        let batch = batches.next().await?;
        let end = batch.is_none();
        let stored = match batch {
            Some(rows) => store.visible_pairs(&snapshot, rows, transaction.counts(), options.reverse).await?,
            None => Pairs::from(Vec::new()),
        };
        if own.peek()?.is_none() && pairs.is_empty() && stored.len() <= left {
            // There are no more own changes, so the batch is passed on unchanged.
            left -= stored.len();
            match end {
                true => noted.all(),
                false => noted.up_to(stored.last_key()),
            }
            if !stored.is_empty() {
                out.emit(Ok(stored)).await;
            }
            if end || left == 0 {
                return Ok(());
            }
            continue;
        }
        let mut stored = stored.into_list().into_iter().peekable();
        loop {
            if pairs.len() >= batch_rows.min(left) {
                left -= pairs.len();
                noted.up_to(pairs.last().map(|(key, _)| &key[..]));
                out.emit(Ok(std::mem::take(&mut pairs).into())).await;
                if left == 0 {
                    return Ok(());
                }
            }
            let ours = own.peek()?;
            match (stored.peek(), ours) {
                (None, None) => break,
                (Some(_), None) => pairs.extend(stored.next()),
                // The rest of the range may still hold keys of the store that come before our next key.
                (None, Some(_)) if !end => break,
                (None, Some(_)) => push(&mut pairs, own.next()),
                (Some((key, _)), Some((own_key, _))) => {
                    if key == own_key {
                        stored.next();
                        push(&mut pairs, own.next());
                    } else if (key < own_key) != options.reverse {
                        pairs.extend(stored.next());
                    } else {
                        push(&mut pairs, own.next());
                    }
                }
            }
        }
        if end {
            noted.all();
            if !pairs.is_empty() {
                out.emit(Ok(pairs.into())).await;
            }
            return Ok(());
        }
    }
}

fn push(pairs: &mut Vec<KeyValue>, change: Option<OwnChange>) {
    if let Some((key, Some(value))) = change {
        pairs.push((key, value));
    }
}

/// Notes how much of a range was read, if reads are validated at COMMIT.
struct Noted<'a> {
    transaction: &'a Transaction,
    range: RowRange,
    reverse: bool,
}

impl Noted<'_> {
    fn all(&self) {
        if let Some(reads) = self.transaction.reads() {
            reads.note(self.range.clone());
        }
    }

    /// Notes the part from the start of the scan to this pair.
    fn up_to(&self, last: Option<&[u8]>) {
        let (Some(reads), Some(key)) = (self.transaction.reads(), last) else { return };
        let mut range = self.range.clone();
        match self.reverse {
            true => range.start = Bytes::copy_from_slice(key),
            false => range.end = Some(successor(key)),
        }
        reads.note(range);
    }
}

/// The transaction's own changes in a range. They are fetched in chunks, so that the statement can
/// write while it reads.
struct OwnChanges<'a> {
    transaction: &'a Transaction,
    range: RowRange,
    reverse: bool,
    own: OwnWrites,
    chunk: VecDeque<OwnChange>,
    complete: bool,
}

impl<'a> OwnChanges<'a> {
    fn new(transaction: &'a Transaction, range: RowRange, reverse: bool, own: OwnWrites) -> Self {
        OwnChanges { transaction, range, reverse, own, chunk: VecDeque::new(), complete: false }
    }

    fn peek(&mut self) -> Result<Option<&OwnChange>> {
        if self.chunk.is_empty() && !self.complete {
            let (chunk, complete) =
                self.transaction.buffer().read().changes(&self.range, self.reverse, self.own, CHUNK)?;
            if let Some((last, _)) = chunk.last() {
                if self.reverse {
                    self.range.end = Some(last.clone());
                } else {
                    self.range.start = successor(last);
                }
            }
            self.chunk = chunk.into();
            self.complete = complete;
        }
        Ok(self.chunk.front())
    }

    fn next(&mut self) -> Option<OwnChange> {
        self.chunk.pop_front()
    }
}

/// The smallest key greater than `key`.
pub(crate) fn successor(key: &[u8]) -> Bytes {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next.into()
}
