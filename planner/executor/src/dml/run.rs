//! [`Run`]: one execution of an INSERT, UPDATE or DELETE. It takes batches and buffers writes.

use super::check::{Check, Shown, batch_of, first_failure};
use super::claims::Claims;
use super::codec::{Arena, IndexCodec, TableCodec};
use super::computed::RowComputer;
use super::conflict::Conflict;
use super::merge::{MergeRecheck, MergeStep};
use super::recheck::Recheck;
use super::references::References;
use super::row_locks::patience;
use crate::StatementContext;
use bytes::Bytes;
use catalog::encoding::{IndexDecoder, IndexEntry};
use catalog::{CatalogStore, IndexDescriptor, TableDescriptor, changed_meanwhile};
use context::table_locks::{self, TableLockMode};
use datafusion::arrow::array::{ArrayRef, AsArray, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use sql_error::{Result, SqlError};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use storage::{RowRange, Strings};
use txn::{LockStrength, OwnWrites, Puts, TxnScanOptions, Write, WriteKind};

/// Fewer keys are looked up one by one.
const WORTH_A_SCAN: usize = 64;

/// The target and rules of a write: the part that does not change between runs.
#[derive(Debug)]
pub struct Target {
    /// Encoders of the table's rows and indexes.
    pub codec: TableCodec,
    /// The kind of statement.
    pub operation: Operation,
    /// CHECK constraints and CHECK OPTIONs, compiled.
    pub checks: Vec<Check>,
    /// Computes the generated columns.
    pub computer: RowComputer,
    /// Schema of the live columns.
    pub schema: SchemaRef,
    /// Whether affected rows are returned.
    pub returning: bool,
    /// Rechecks rows that changed while their lock was awaited.
    pub recheck: Option<Arc<Recheck>>,
}

/// The kind of a writing statement.
#[derive(Debug)]
pub enum Operation {
    /// INSERT, with its conflict action.
    Insert {
        /// The ON CONFLICT clause, if any.
        on_conflict: Option<Conflict>,
        /// Positions, among the live columns, of the columns that the statement gives values.
        given: Vec<usize>,
    },
    /// UPDATE of existing rows.
    Update {
        /// Positions of the assigned columns among the live ones.
        assigned: Vec<usize>,
    },
    /// DELETE of existing rows.
    Delete,
    /// MERGE with its actions.
    Merge {
        /// The actions, by number.
        steps: Vec<MergeStep>,
        /// Rechecks rows that changed while their lock was awaited.
        again: Box<MergeRecheck>,
    },
}

impl Operation {
    /// The name in EXPLAIN's output.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Insert { .. } => "Insert",
            Operation::Update { .. } => "Update",
            Operation::Delete => "Delete",
            Operation::Merge { .. } => "Merge",
        }
    }
}

/// Locks a table in `mode` until the transaction ends, and requires that its definition stays the same until COMMIT.
/// Errors: 40001 if the definition changed while the lock was awaited; the statement can then run again.
pub async fn hold_table(context: &StatementContext, table: &TableDescriptor, mode: TableLockMode) -> Result<()> {
    let database = context.catalog.database().oid;
    let (transaction, wait) = (&context.transaction, patience(context));
    if table_locks::acquire_or_wait(transaction, database, table.oid, mode, wait).await? {
        let fence = [(CatalogStore::fence_key(database, table.oid, table.version), LockStrength::KeyShare)];
        if Box::pin(transaction.lock_keys(&fence, wait)).await?.contains(&true) {
            return Err(changed_meanwhile().outdated());
        }
    }
    if let Some(locks) = context.session.locks() {
        locks.shared(table.oid, table.version, context.settings.lock_timeout()).await?;
    }
    context.transaction.require_unchanged(CatalogStore::fence_key(database, table.oid, table.version));
    if let Some(nodes) = context.session.database().ok().and_then(|database| database.catalog().nodes()) {
        context.transaction.require_unchanged(Box::pin(nodes.fence()).await?);
    }
    Ok(())
}

/// The state of one execution.
pub struct Run {
    /// The target and rules of the write.
    pub target: Arc<Target>,
    /// The context of the statement.
    pub context: Arc<StatementContext>,
    /// Keys claimed early: those of the table, then of each secondary index.
    pub claims: Vec<Claims>,
    /// Keys of FOREIGN KEYs to check.
    pub references: References,
    /// Keys of rows updated or deleted so far. `None` if no row can occur twice.
    seen: Option<HashSet<Bytes>>,
    /// Whether other parts of the statement also write the table, so that writes are recorded for them.
    pub shared: bool,
    /// Number of rows it has recorded.
    pub noted: usize,
    /// Keys of rows that ON CONFLICT DO UPDATE has written.
    pub touched: HashSet<Bytes>,
    /// Whether rows come from COPY. As in PostgreSQL, a batch is then checked for other failures before it reaches the
    /// indexes.
    fed: bool,
    /// Row numbers reserved for a table without primary key.
    numbers: Range<u64>,
    count: u64,
    /// Number of input rows in previous batches.
    taken: u64,
    returned_bytes: usize,
    returned: Option<Vec<RecordBatch>>,
}

impl Run {
    /// Begins an execution. `linear` means that no row of the table occurs twice; `fed` means that rows come from COPY.
    pub async fn begin(target: Arc<Target>, context: Arc<StatementContext>, linear: bool, fed: bool) -> Result<Run> {
        hold_table(&context, &target.codec.table, TableLockMode::RowExclusive).await?;
        let spaces = target.codec.indexes.len() + 1;
        Ok(Run {
            claims: std::iter::repeat_with(Claims::default).take(spaces).collect(),
            seen: (!linear).then(HashSet::new),
            references: References::new(&context.catalog, &target.codec.table, context.settings.is_replica()),
            touched: HashSet::new(),
            shared: context.held.remembers_written(),
            noted: 0,
            fed,
            numbers: 0..0,
            count: 0,
            taken: 0,
            returned_bytes: 0,
            returned: target.returning.then(Vec::new),
            target,
            context,
        })
    }

    /// Processes one batch of input. `output` is the schema of RETURNING's rows.
    pub async fn batch(&mut self, batch: &RecordBatch, output: &SchemaRef) -> Result<()> {
        let target = self.target.clone();
        let live = target.schema.fields().len();
        let returned = match &target.operation {
            Operation::Insert { on_conflict: None, .. } => {
                let mut columns = batch.columns().to_vec();
                target.computer.compute(&target.schema, &mut columns, batch.num_rows())?;
                self.insert(&columns, batch.num_rows()).await?;
                (columns, batch.num_rows())
            }
            Operation::Insert { on_conflict: Some(conflict), .. } => {
                let mut columns = batch.columns().to_vec();
                target.computer.compute(&target.schema, &mut columns, batch.num_rows())?;
                Box::pin(self.insert_or(conflict, &columns, batch.num_rows())).await?
            }
            Operation::Update { assigned } => {
                let (batch, keys) = self.distinct(batch)?;
                let (batch, keys) = self.lock_found(batch, keys, Some(assigned)).await?;
                let old: Vec<ArrayRef> = columns(&batch, 1..live + 1)?;
                let mut new = old.clone();
                for (value, position) in assigned.iter().enumerate() {
                    let array = column(&batch, 1 + live + value)?;
                    *new.get_mut(*position).ok_or_else(|| SqlError::internal("an unknown assigned column"))? = array;
                }
                target.computer.compute(&target.schema, &mut new, batch.num_rows())?;
                let changed: Vec<usize> = assigned.iter().copied().chain(target.computer.positions()).collect();
                self.update(&keys, &old, &new, &changed).await?;
                new.extend(columns(&batch, 1 + live + assigned.len()..batch.num_columns())?);
                (new, batch.num_rows())
            }
            Operation::Merge { steps, again } => (Vec::new(), Box::pin(self.merge(steps, again, batch)).await?),
            Operation::Delete => {
                let (batch, keys) = self.distinct(batch)?;
                let (batch, keys) = self.lock_found(batch, keys, None).await?;
                let old = columns(&batch, 1..live + 1)?;
                self.delete(&keys, &old).await?;
                (columns(&batch, 1..batch.num_columns())?, batch.num_rows())
            }
        };
        self.taken += batch.num_rows() as u64;
        self.count += returned.1 as u64;
        self.target.codec.table.changes.add(returned.1 as u64);
        if let Some(batches) = &mut self.returned
            && returned.1 > 0
        {
            let batch = batch_of(output, &returned.0, returned.1)?;
            self.returned_bytes += batch.get_array_memory_size();
            batches.push(batch);
        }
        Ok(())
    }

    /// Approximate bytes held: returned rows, and the keys that are remembered.
    pub fn held_bytes(&self) -> usize {
        /// Bytes of a key in a hash set.
        const KEY_BYTES: usize = 96;
        /// Bytes of a claimed key with its possible error: a message, a detail and three names.
        const CLAIM_BYTES: usize = 640;
        let keys =
            self.seen.as_ref().map_or(0, HashSet::len) + self.noted + self.touched.len() + 2 * self.references.len();
        let claims = self.claims.iter().map(Claims::len).sum::<usize>();
        self.returned_bytes + keys * KEY_BYTES + claims * CLAIM_BYTES
    }

    /// Ends the execution. Returns the number of rows and, for RETURNING, the rows. Errors: a remaining violation,
    /// 23505.
    pub async fn finish(mut self) -> Result<(u64, Option<Vec<RecordBatch>>)> {
        self.finish_claims()?;
        let pending = self.references.take();
        if !pending.is_empty() {
            crate::dml::reference_queue::references_of(&self.context.session).lock().extend(pending);
        }
        Ok((self.count, self.returned))
    }

    /// Reports the first early claim that remains. Errors: 23505.
    pub fn finish_claims(&mut self) -> Result<()> {
        // The violation of the oldest index is reported first.
        let oid = |space: usize| match space.checked_sub(1) {
            None => self.target.codec.primary().map_or(0, |primary| primary.oid),
            Some(position) => self.target.codec.indexes.get(position).map_or(0, |index| index.index.oid),
        };
        let mut claims: Vec<_> =
            self.claims.iter_mut().enumerate().map(|(space, claims)| (oid(space), claims)).collect();
        claims.sort_by_key(|(oid, _)| *oid);
        for (_, claims) in claims {
            claims.finish()?;
        }
        Ok(())
    }

    /// Drops rows that the statement has written already, as PostgreSQL does if a join finds a row twice.
    fn distinct(&mut self, batch: &RecordBatch) -> Result<(RecordBatch, Vec<Bytes>)> {
        let keys = column(batch, 0)?;
        let keys = keys.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a row key that is not binary"))?;
        // Copy all keys once; the writes share them.
        let (values, offsets) = (Bytes::copy_from_slice(keys.value_data()), keys.value_offsets());
        let key = |row: usize| -> Result<Bytes> {
            let bounds = offsets.get(row).zip(offsets.get(row + 1));
            let (start, end) = bounds.ok_or_else(|| SqlError::internal("a row key out of bounds"))?;
            Ok(values.slice(*start as usize..*end as usize))
        };
        let keys = (0..batch.num_rows()).map(key).collect::<Result<Vec<_>>>()?;
        // It also drops rows that another part of the statement has written.
        let held = self.shared.then_some(&self.context.held);
        if self.seen.is_none() && held.is_none() {
            return Ok((batch.clone(), keys));
        }
        let mut kept = Vec::with_capacity(keys.len());
        for (row, key) in (0u32..).zip(&keys) {
            let new = match (&mut self.seen, held) {
                (_, Some(held)) => held.note_written(key),
                (Some(seen), None) => seen.insert(key.clone()),
                (None, None) => true,
            };
            if new {
                kept.push(row);
            }
        }
        if held.is_some() {
            self.noted += kept.len();
        }
        if kept.len() == keys.len() {
            return Ok((batch.clone(), keys));
        }
        let distinct = kept.iter().filter_map(|row| keys.get(*row as usize).cloned()).collect();
        let arrays = pick(batch.columns(), &kept)?;
        Ok((batch_of(&batch.schema(), &arrays, kept.len())?, distinct))
    }

    /// Makes the keys of new rows.
    pub async fn new_keys(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Arena> {
        let codec = &self.target.codec;
        if codec.key.has_primary_key() {
            return codec.keys_of_rows(columns, rows);
        }
        let mut keys = Arena::default();
        for row in 0..rows {
            let number = match self.numbers.next() {
                Some(number) => number,
                None => {
                    let store = self.context.session.database()?.catalog();
                    let missing = (rows - row) as u64;
                    self.numbers = store.numbers().rows(missing).await?;
                    self.numbers.next().ok_or_else(|| SqlError::internal("no row numbers were reserved"))?
                }
            };
            codec.key.encode_number(number, &mut keys.bytes);
            keys.end();
        }
        Ok(keys)
    }

    /// The number, among all input rows, of a row of the current batch.
    fn input_row(&self, row: usize) -> u64 {
        self.taken + row as u64
    }

    /// The values of rows that errors may show.
    pub fn shown<'t>(&'t self, target: &'t Target) -> Shown<'t> {
        let given: &[usize] = match &target.operation {
            Operation::Insert { given, .. } | Operation::Update { assigned: given } => given,
            Operation::Delete | Operation::Merge { .. } => &[],
        };
        Shown { context: &self.context, given }
    }

    /// Inserts rows. Errors: 23502, 23514, 23505.
    pub async fn insert(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        let target = self.target.clone();
        let codec = &target.codec;
        let failure = first_failure(codec, &target.checks, &target.schema, columns, rows, self.shown(&target))?;
        // PostgreSQL would not reach the rows after the first failure.
        let rows = failure.as_ref().map_or(rows, |(row, _)| *row);
        let before: Vec<ArrayRef> = match &failure {
            Some(_) => columns.iter().map(|column| column.slice(0, rows)).collect(),
            None => Vec::new(),
        };
        let columns = if failure.is_some() { before.as_slice() } else { columns };
        let strings = self.new_keys(columns, rows).await?.into_strings()?;
        // Make separate keys only on demand.
        let listed = LazyLock::new(|| strings.list());
        if self.shared {
            self.noted += listed.iter().filter(|key| self.context.held.note_written(key)).count();
        }
        // Of several violations, report the first row's, and within a row that of the oldest index.
        let mut violation: Option<(usize, &IndexDescriptor)> = None;
        let mut found = |row: Option<usize>, index| {
            let new = row.map(|row| (row, index));
            let earlier = |(row, index): &(usize, &IndexDescriptor)| (*row, index.oid);
            violation = [violation, new].into_iter().flatten().min_by_key(earlier);
        };
        let runs = kept_apart(&strings);
        if let Some(primary) = codec.primary()
            && !self.lie_apart(&strings, &runs).await?
        {
            found(self.first_existing(primary, listed.iter().cloned().enumerate()).await?, primary);
        }
        let mut writes = Vec::new();
        let values = codec.values_of_rows(columns, rows)?.into_strings()?;
        for index in &codec.indexes {
            if !index.maintained() {
                continue;
            }
            let entries = codec.entries(index, columns, &listed)?;
            let mut unique = Vec::new();
            for (row, entry) in entries.into_iter().enumerate() {
                let Some(entry) = entry else { continue };
                let is_unique = entry.unique;
                let write = put_entry(entry);
                if is_unique {
                    unique.push((row, write.key.clone()));
                }
                writes.push(write);
            }
            found(self.first_existing(&index.index, unique.into_iter()).await?, &index.index);
        }
        let violation = violation.filter(|_| !self.fed || failure.is_none());
        if let Some((row, index)) = violation {
            return Err(codec.unique_violation(&self.context, index, columns, row).row(self.input_row(row)));
        }
        if let Some((row, error)) = failure {
            return Err(error.row(self.input_row(row)));
        }
        drop(listed);
        let transaction = &self.context.transaction;
        let all = 0..rows;
        for run in if runs.is_empty() { std::slice::from_ref(&all) } else { &runs[..] } {
            let part = strings.part(run.clone()).zip(values.part(run.clone()));
            let (keys, values) = part.ok_or_else(|| SqlError::internal("rows without keys"))?;
            match Puts::new(keys, values, LockStrength::Update) {
                Ok(rows) => transaction.put(rows).await?,
                Err(rows) => writes.extend(rows),
            }
        }
        if !writes.is_empty() {
            transaction.write(writes).await?;
        }
        self.references.inserted(columns, rows)
    }

    /// The first row whose key exists in the store or occurs twice.
    async fn first_existing(
        &self,
        index: &IndexDescriptor,
        keys: impl Iterator<Item = (usize, Bytes)>,
    ) -> Result<Option<usize>> {
        let (rows, keys): (Vec<usize>, Vec<Bytes>) = keys.unzip();
        let existing = self.existing(index, &keys).await?;
        let mut taken = HashSet::new();
        let distinct = are_distinct(&keys);
        for ((row, key), existing) in rows.into_iter().zip(&keys).zip(existing) {
            if existing.is_some() || !(distinct || taken.insert(key)) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// The stored values at keys of a unique index or of the primary key, including own writes. At READ COMMITTED, they
    /// are the newest ones and stay so: existing keys are kept, and missing keys are reserved for this transaction.
    pub async fn existing(&self, index: &IndexDescriptor, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        if self.reads_newest() {
            Box::pin(self.existing_locked(index, keys)).await
        } else {
            Box::pin(self.stored(keys)).await
        }
    }

    /// Whether no existing key lies among the keys of new rows, and no new key occurs twice. One read per ascending run
    /// of keys decides this. Loads mostly arrive in key order, or in a few interleaved orders, and fill empty ranges.
    /// False if unknown, or if each key must be checked.
    async fn lie_apart(&self, keys: &Strings, runs: &[Range<usize>]) -> Result<bool> {
        if self.reads_newest() || runs.is_empty() {
            return Ok(false);
        }
        let ends = |run: &Range<usize>| keys.get(run.start).zip(keys.get(run.end.checked_sub(1)?));
        let mut ends: Vec<(&[u8], &[u8])> = runs.iter().filter_map(ends).collect();
        ends.sort_unstable();
        if !ends.is_sorted_by(|(_, last), (first, _)| last < first) {
            return Ok(false);
        }
        for (first, last) in ends {
            if !Box::pin(self.is_nothing_among(Bytes::copy_from_slice(first), last)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether nothing is stored between two keys, both included.
    async fn is_nothing_among(&self, first: Bytes, last: &[u8]) -> Result<bool> {
        let mut end = last.to_vec();
        end.push(0);
        let range = RowRange { start: first, end: Some(end.into()) };
        let options = TxnScanOptions { batch_rows: 1, limit: Some(1), ..TxnScanOptions::default() };
        let mut found = self.context.transaction.scan(range, options, OwnWrites::Newest);
        while let Some(pairs) = found.try_next().await? {
            if !pairs.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values currently stored at keys.
    pub(super) async fn stored(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        if keys.len() >= WORTH_A_SCAN
            && let (Some(first), Some(last)) = (keys.iter().min(), keys.iter().max())
            && self.is_nothing_among(first.clone(), last).await?
        {
            return Ok(vec![None; keys.len()]);
        }
        Ok(self.context.transaction.get_many(keys, OwnWrites::Newest).await?)
    }

    /// Deletes rows. Each of `keys` occurs once.
    pub async fn delete(&mut self, keys: &[Bytes], old: &[ArrayRef]) -> Result<()> {
        let codec = &self.target.codec;
        let mut writes: Vec<Write> = keys.iter().cloned().map(delete_key).collect();
        for index in &codec.indexes {
            let given_up: Vec<(Bytes, Bytes)> = codec
                .entries(index, old, keys)?
                .into_iter()
                .zip(keys)
                .filter_map(|(entry, row_key)| Some((entry?.key.into(), row_key.clone())))
                .collect();
            if index.may_be_anothers() {
                writes.extend(Box::pin(self.give_up(index, given_up)).await?);
            } else {
                writes.extend(given_up.into_iter().map(|(key, _)| delete_key(key)));
            }
        }
        self.context.transaction.write(writes).await?;
        self.references.deleted(old, keys.len())
    }
}

impl Run {
    /// The writes that remove rows' entries from a unique index under construction. An entry of another row stays and
    /// is only locked, so that the index builder checks again. `entries` are pairs of index key and row key.
    pub async fn give_up(&self, index: &IndexCodec, entries: Vec<(Bytes, Bytes)>) -> Result<Vec<Write>> {
        let (keys, rows): (Vec<Bytes>, Vec<Bytes>) = entries.into_iter().unzip();
        let found = self.context.transaction.get_many(&keys, OwnWrites::Newest).await?;
        let mut decoder = IndexDecoder::new(&self.target.codec.table, &index.index, &[], true)?;
        let mut writes = Vec::with_capacity(keys.len());
        for ((key, row), value) in keys.into_iter().zip(rows).zip(found) {
            let own = match value {
                Some(value) => decoder.row_key(&key, &value)? == row,
                None => true,
            };
            writes.push(if own { delete_key(key) } else { lock_key(key) });
        }
        Ok(writes)
    }
}

/// The ascending runs of keys. None if there are few keys, or many short runs: then each key is looked up separately.
fn kept_apart(keys: &Strings) -> Vec<Range<usize>> {
    if keys.len() < WORTH_A_SCAN {
        return Vec::new();
    }
    let runs = keys.ascending_runs();
    if runs.len() * WORTH_A_SCAN <= keys.len() { runs } else { Vec::new() }
}

/// Whether no key occurs twice.
fn are_distinct(keys: &[Bytes]) -> bool {
    if keys.is_sorted_by(|one, next| one < next) {
        return true;
    }
    let mut sorted: Vec<&Bytes> = keys.iter().collect();
    sorted.sort_unstable();
    sorted.is_sorted_by(|one, next| one < next)
}

/// A write that only conflicts with other writes of the key.
pub fn lock_key(key: Bytes) -> Write {
    Write { key, kind: WriteKind::Lock, strength: LockStrength::Update }
}

/// A write that removes a key.
pub fn delete_key(key: Bytes) -> Write {
    Write { key, kind: WriteKind::Delete, strength: LockStrength::Update }
}

/// A write that adds an index entry.
pub fn put_entry(entry: IndexEntry) -> Write {
    Write { key: entry.key.into(), kind: WriteKind::Put(entry.value.into()), strength: LockStrength::Update }
}

/// Selects rows of columns.
pub fn pick(columns: &[ArrayRef], rows: &[u32]) -> Result<Vec<ArrayRef>> {
    let indices = UInt32Array::from(rows.to_vec());
    Ok(columns.iter().map(|column| take(column.as_ref(), &indices, None)).collect::<std::result::Result<_, _>>()?)
}

/// The column of a batch at a position.
pub fn column(batch: &RecordBatch, position: usize) -> Result<ArrayRef> {
    batch.columns().get(position).cloned().ok_or_else(|| SqlError::internal("a write lacks a column"))
}

/// The columns of a batch in a range of positions.
pub fn columns(batch: &RecordBatch, range: Range<usize>) -> Result<Vec<ArrayRef>> {
    Ok(batch.columns().get(range).ok_or_else(|| SqlError::internal("a write lacks columns"))?.to_vec())
}
