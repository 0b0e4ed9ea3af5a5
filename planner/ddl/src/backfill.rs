//! Fills indexes and rewrites rows. It streams a table in bounded memory, from a snapshot newer than the metadata lock.
//! Writes go through the statement's transaction.

use super::DdlContext;
use super::alter_type::Retyped;
use super::computed::{index_writer, row_computer};
use super::create_table::Making;
use super::evaluate::AddedDefault;
use bytes::Bytes;
use catalog::encoding::{RowDecoder, RowEncoder, TableKey};
use catalog::{Catalog, ColumnDescriptor, ColumnId, IndexDescriptor, StorageId, TableDescriptor, keys};
use datafusion::arrow::array::{Array, ArrayRef, new_null_array};
use executor::dml::{Arena, IndexWriter, RowComputer, key_text, live_schema};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use storage::{Family, ReadFilter, RowRange, ScanOptions, TimestampRange};
use txn::{KeyValue, LockStrength, OwnWrites, Transaction, TransactionOptions, TxnScanOptions, Write, WriteKind};
use types::{Oid, SqlType};

/// The transaction for reading a locked table. A snapshot from before the lock may miss commits made until
/// then. A transaction without writes reads through a fresh one. At READ COMMITTED the next statement's
/// snapshot sees those commits and own writes. A transaction with one snapshot for all statements fails if the
/// table changed since. Errors: 40001.
pub(super) async fn reader(context: &DdlContext, storage_id: StorageId) -> Result<Arc<Transaction>> {
    let own = &context.transaction;
    if !own.has_writes() {
        let options = TransactionOptions { read_only: true, ..TransactionOptions::default() };
        return Ok(context.store.transactions().begin(options));
    }
    if own.isolation().has_one_snapshot() {
        unchanged(context, storage_id).await?;
    }
    Ok(own.for_statement(own.is_quiet()))
}

/// Errors: 40001 if another transaction changed the table after this statement's snapshot.
async fn unchanged(context: &DdlContext, storage_id: StorageId) -> Result<()> {
    let snapshot = context.transaction.snapshot_ts().await?;
    let store = context.store.transactions().store();
    let mut filter = ReadFilter::new().with(Family::Write, TimestampRange::after(snapshot), 1);
    if store.atomic().is_none() {
        // A transaction that commits row by row may so far show only its lock.
        filter = filter.with(Family::Lock, TimestampRange::ALL, 1);
    }
    let options = ScanOptions { limit: Some(1), ..ScanOptions::default() };
    let newer = store.scan(keys::rows_of(storage_id), filter, options).try_next().await?;
    if newer.is_some_and(|rows| rows.iter().any(|row| !row.cells.is_empty())) {
        return Err(SqlError::new(
            state::SERIALIZATION_FAILURE,
            "could not serialize access: the table changed after this transaction's snapshot",
        )
        .hint("The transaction might succeed if retried."));
    }
    Ok(())
}

/// Reads the rows of a table batch by batch.
pub(super) struct Rows {
    stream: BoxStream<'static, txn::Result<Vec<KeyValue>>>,
    decoder: RowDecoder,
}

impl Rows {
    /// All rows that `transaction` sees.
    pub(super) fn new(transaction: &Arc<Transaction>, table: &TableDescriptor) -> Result<Self> {
        let columns: Vec<ColumnId> = table.live_columns().map(|column| column.id).collect();
        let range: RowRange = keys::rows_of(table.storage_id);
        let stream = transaction.scan(range, TxnScanOptions::once(), OwnWrites::All).boxed();
        Ok(Rows { stream, decoder: RowDecoder::new(table, &columns, false)? })
    }
    /// The next batch: the live columns in order, and the row keys.
    pub(super) async fn next(&mut self) -> Result<Option<(Vec<ArrayRef>, Vec<Bytes>)>> {
        let Some(pairs) = self.stream.try_next().await? else { return Ok(None) };
        let mut row_keys = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            self.decoder.push(&key, &value)?;
            row_keys.push(key);
        }
        Ok(Some((self.decoder.finish()?, row_keys)))
    }
}

/// Whether a table has rows, as this statement must see it.
pub(super) async fn has_rows(context: &DdlContext, storage_id: StorageId) -> Result<bool> {
    let reader = reader(context, storage_id).await?;
    let options = TxnScanOptions { limit: Some(1), ..TxnScanOptions::default() };
    let first = reader.scan(keys::rows_of(storage_id), options, OwnWrites::All).try_next().await?;
    Ok(first.is_some_and(|rows| !rows.is_empty()))
}

/// Collects writes to storage ids that no other transaction knows yet. It checks unique keys against its own writes
/// first, which needs no call of the store.
struct Sink<'a> {
    context: &'a DdlContext,
    writes: Vec<Write>,
}

impl<'a> Sink<'a> {
    fn new(context: &'a DdlContext) -> Self {
        Sink { context, writes: Vec::new() }
    }
    fn put(&mut self, key: Bytes, value: Bytes) {
        self.writes.push(Write { key, kind: WriteKind::Put(value), strength: LockStrength::Update });
    }
    /// The index of the first key that was written before or that occurs twice.
    fn duplicate(&self, unique: &[(usize, Bytes)]) -> Result<Option<usize>> {
        let mut seen = HashSet::with_capacity(unique.len());
        if let Some((row, _)) = unique.iter().find(|(_, key)| !seen.insert(key.clone())) {
            return Ok(Some(*row));
        }
        let wanted: Vec<Bytes> = unique.iter().map(|(_, key)| key.clone()).collect();
        let found = self.context.transaction.own_writes(&wanted)?;
        let first = unique.iter().zip(found).find(|(_, own)| matches!(own, Some(Some(_))));
        Ok(first.map(|((row, _), _)| *row))
    }
    async fn flush(&mut self) -> Result<()> {
        if !self.writes.is_empty() {
            self.context.transaction.write(std::mem::take(&mut self.writes)).await?;
        }
        Ok(())
    }
}

/// 23505. The detail shows the key if the role may read the index's columns.
pub(super) fn duplicated(
    (catalog, role): (&Catalog, Oid),
    table: &TableDescriptor,
    index: &IndexDescriptor,
    writer: Option<&IndexWriter>,
    columns: &[ArrayRef],
    row: usize,
) -> SqlError {
    let values = writer.and_then(|writer| writer.expression_values(columns, row).ok()).unwrap_or_default();
    let detail = match catalog.reads(role, table, index.columns.iter().map(|key| key.column)) {
        true => format!("Key {} is duplicated.", key_text(table, index, columns, &values, row)),
        false => "Duplicate keys exist.".into(),
    };
    SqlError::new(state::UNIQUE_VIOLATION, format!("could not create unique index \"{}\"", index.name))
        .detail(detail)
        .table(&table.schema, &table.name)
        .constraint(&index.name)
}

/// Adds the index entries of a batch of rows. Errors: 23505.
async fn add_entries(
    sink: &mut Sink<'_>,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    writer: &IndexWriter,
    columns: &[ArrayRef],
    row_keys: &[Bytes],
) -> Result<()> {
    let (mut rows, mut parts) = (Vec::with_capacity(row_keys.len()), Arena::default());
    for (row, entry) in writer.entries(columns, row_keys)?.into_iter().enumerate() {
        let Some(entry) = entry else { continue };
        rows.push((row, entry.unique));
        for part in [&entry.key, &entry.value] {
            parts.bytes.extend_from_slice(part);
            parts.end();
            parts.make_room(2 * row_keys.len());
        }
    }
    let mut parts = parts.into_parts().into_iter();
    let entries: Vec<(Bytes, Bytes)> = std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect();
    let unique = rows.iter().zip(&entries).filter(|((_, unique), _)| *unique);
    let unique: Vec<(usize, Bytes)> = unique.map(|((row, _), (key, _))| (*row, key.clone())).collect();
    if let Some(row) = sink.duplicate(&unique)? {
        return Err(duplicated(sink.context.reader(), table, index, Some(writer), columns, row));
    }
    for (key, value) in entries {
        sink.put(key, value);
    }
    Ok(())
}

/// Writes the entries of a new index. Errors: 23505 for duplicates in a unique index.
pub(super) async fn fill_index(context: &DdlContext, table: &TableDescriptor, index: &IndexDescriptor) -> Result<()> {
    let reader = reader(context, table.storage_id).await?;
    let mut rows = Rows::new(&reader, table)?;
    let writer = index_writer(&context.catalog, table, index)?;
    let mut sink = Sink::new(context);
    while let Some((columns, row_keys)) = rows.next().await? {
        add_entries(&mut sink, table, index, &writer, &columns, &row_keys).await?;
        sink.flush().await?;
    }
    Ok(())
}

/// The difference between old and rewritten rows.
pub(super) enum RowChange<'a> {
    /// The values stay the same.
    None,
    /// A column with a default was appended.
    Added(&'a AddedDefault),
    /// A generated column of this type was appended.
    Generated(SqlType),
    /// Columns have new types.
    Converted(&'a [Retyped<'a>]),
}

/// Rewrites the rows and indexes of a table under new storage ids. The rows have the form `before`. The new live
/// columns are the same except for `change`; a change of types may omit some. The old rows are removed later. Errors:
/// 23502 and 23505 for rows that violate the new primary key.
pub(super) async fn rewrite(making: &mut Making<'_>, before: &TableDescriptor, change: RowChange<'_>) -> Result<()> {
    let context = making.context;
    let numbers = context.store.numbers();
    making.writer.drop_storage(making.table.storage_id)?;
    making.table.storage_id = context.new_storage().await?;
    let storage_id = making.table.storage_id;
    for index in &mut making.table.indexes {
        if index.primary {
            index.storage_id = storage_id;
        } else {
            making.writer.drop_storage(index.storage_id)?;
            index.storage_id = context.new_storage().await?;
        }
    }
    if matches!(change, RowChange::Converted(..)) {
        // Values that differed may be equal after the conversion.
        let deferrable = making.table.indexes.iter().filter(|index| index.deferral.is_some());
        making.unvalidated.extend(deferrable.filter_map(|index| index.constraint));
    }
    let table = &making.table;
    let (row_key, encoder) = (TableKey::new(table)?, RowEncoder::new(table));
    let indexes = table
        .secondary_indexes()
        .map(|index| Ok((index, index_writer(&context.catalog, table, index)?)))
        .collect::<Result<Vec<_>>>()?;
    let generates = matches!(change, RowChange::Generated(_) | RowChange::Converted(..));
    let computer = if generates { row_computer(&context.catalog, table)? } else { RowComputer::default() };
    let schema = live_schema(table);
    let reader = reader(context, before.storage_id).await?;
    let mut rows = Rows::new(&reader, before)?;
    let mut sink = Sink::new(context);
    while let Some((mut columns, old_keys)) = rows.next().await? {
        let count = old_keys.len();
        match &change {
            RowChange::None => {}
            RowChange::Added(added) => columns.push(added.values(count)?),
            RowChange::Generated(ty) => columns.push(new_null_array(&ty.arrow(), count)),
            RowChange::Converted(retyped) => {
                columns = super::alter_type::converted(table, before, retyped, &columns, count)?
            }
        }
        computer.compute(&schema, &mut columns, count)?;
        no_nulls(table, &columns, |column| column.not_null)?;
        let mut new_keys = Vec::with_capacity(count);
        if let Some(primary) = table.primary_key() {
            no_nulls(table, &columns, |column| primary.columns.iter().any(|key| key.column == column.id))?;
            new_keys = Arena::strings(count, |row, out| row_key.encode(&columns, row, out))?;
            let unique: Vec<(usize, Bytes)> = new_keys.iter().cloned().enumerate().collect();
            if let Some(row) = sink.duplicate(&unique)? {
                return Err(duplicated(sink.context.reader(), table, primary, None, &columns, row));
            }
        } else {
            while new_keys.len() < count {
                for number in numbers.rows((count - new_keys.len()) as u64).await? {
                    let mut key = Vec::new();
                    row_key.encode_number(number, &mut key);
                    new_keys.push(Bytes::from(key));
                }
            }
        }
        // One allocation serves all keys. They live until COMMIT, and another thread frees them.
        let values = Arena::strings(count, |row, out| encoder.encode(&columns, row, out))?;
        for (key, value) in new_keys.iter().zip(values) {
            sink.put(key.clone(), value);
        }
        for (index, writer) in &indexes {
            add_entries(&mut sink, table, index, writer, &columns, &new_keys).await?;
        }
        sink.flush().await?;
    }
    Ok(())
}

/// Errors: 23502 for a NULL in a column that `must` have none.
fn no_nulls(table: &TableDescriptor, columns: &[ArrayRef], must: impl Fn(&ColumnDescriptor) -> bool) -> Result<()> {
    let null = table.live_columns().zip(columns).find(|(column, array)| array.null_count() > 0 && must(column));
    null.map_or(Ok(()), |(column, _)| Err(contains_null(table, &column.name)))
}

pub(super) fn contains_null(table: &TableDescriptor, column: &str) -> SqlError {
    let message = format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    SqlError::new(state::NOT_NULL_VIOLATION, message).table(&table.schema, &table.name).column(column)
}

/// Checks that a column contains no NULL. Errors: 23502.
pub(super) async fn validate_not_null(context: &DdlContext, table: &TableDescriptor, column: ColumnId) -> Result<()> {
    let reader = reader(context, table.storage_id).await?;
    let mut rows = Rows::new(&reader, table)?;
    while let Some((columns, _)) = rows.next().await? {
        no_nulls(table, &columns, |live| live.id == column)?;
    }
    Ok(())
}
