//! CHECK INDEX and CHECK TABLE: compare an index with its table in both directions, in bounded memory and
//! at the statement's snapshot.

use super::backfill::Rows;
use super::computed::index_writer;
use bytes::Bytes;
use catalog::encoding::{IndexDecoder, RowDecoder};
use catalog::{IndexDescriptor, RelationKind, TableDescriptor, keys};
use executor::StatementContext;
use futures::TryStreamExt;
use sql_error::{Result, SqlError, state};
use std::fmt::Write;
use syntax::ast::Name;
use syntax::fold_name;
use txn::{OwnWrites, TxnScanOptions};

/// An inconsistency of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The name of the index.
    pub index: String,
    /// A description of the problem.
    pub problem: &'static str,
    /// The key of the entry or row concerned, in hexadecimal.
    pub key: String,
}

/// The greatest number of problems reported for one index.
const MOST: usize = 1000;

/// Errors: 42501 if the role does not own the table. The check reveals keys and reads the whole table.
fn must_own(context: &StatementContext, table: &TableDescriptor) -> Result<()> {
    if context.catalog.owns(context.role(), table.owner) {
        return Ok(());
    }
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be owner of table {}", table.name)))
}

/// CHECK INDEX name. No problems means that the index and its table agree. Errors: 42P01, 42501.
pub async fn check_index(context: &StatementContext, name: &Name) -> Result<Vec<Problem>> {
    let (schema, index_name) = fold_name(name)?;
    let path = context.settings.search_path();
    let Some((table, position)) = context.catalog.index_named(schema.as_deref(), &index_name, path) else {
        return Err(SqlError::new(state::UNDEFINED_OBJECT, format!("index \"{name}\" does not exist")));
    };
    must_own(context, &table)?;
    let mut problems = Vec::new();
    if let Some(index) = table.indexes.get(position) {
        check(context, &table, index, &mut problems).await?;
    }
    Ok(problems)
}

/// CHECK TABLE name: its rows, and all its indexes. Errors: 42P01, 42501.
pub async fn check_table(context: &StatementContext, name: &Name) -> Result<Vec<Problem>> {
    let (schema, table_name) = fold_name(name)?;
    let path = context.settings.search_path();
    let Some(table) = context.catalog.relation(schema.as_deref(), &table_name, path) else {
        return Err(context.catalog.no_relation(schema.as_deref(), &table_name, path));
    };
    super::names::expect_kind(&table, RelationKind::Table)?;
    must_own(context, &table)?;
    let mut problems = Vec::new();
    // Checks that every row can be decoded.
    let mut rows = Rows::new(&context.transaction, &table)?;
    while rows.next().await?.is_some() {}
    for index in &table.indexes {
        check(context, &table, index, &mut problems).await?;
    }
    Ok(problems)
}

fn hexadecimal(key: &[u8]) -> String {
    key.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

async fn check(
    context: &StatementContext,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    if index.state != catalog::IndexState::Public {
        // The index is still being built, or it is being dropped.
        return Ok(());
    }
    let transaction = &context.transaction;
    let (mut rows, most) = (Rows::new(transaction, table)?, problems.len() + MOST);
    let mut report = |problem, key: &[u8]| {
        problems.push(Problem { index: index.name.clone(), problem, key: hexadecimal(key) });
        problems.len() >= most
    };
    if index.primary {
        // The rows are the index: each must be stored under the key of its columns.
        let key = catalog::encoding::TableKey::new(table)?;
        while let Some((columns, row_keys)) = rows.next().await? {
            for (row, row_key) in row_keys.iter().enumerate() {
                let mut made = Vec::new();
                key.encode(&columns, row, &mut made)?;
                if made != row_key[..] && report("a row lies under another key than its own", row_key) {
                    return Ok(());
                }
            }
        }
        return Ok(());
    }
    let writer = index_writer(&context.catalog, table, index)?;
    while let Some((columns, row_keys)) = rows.next().await? {
        let entries = writer.entries(&columns, &row_keys)?;
        let entries: Vec<_> =
            entries.into_iter().zip(&row_keys).filter_map(|(entry, row_key)| Some((entry?, row_key))).collect();
        let entry_keys: Vec<Bytes> = entries.iter().map(|(entry, _)| Bytes::copy_from_slice(&entry.key)).collect();
        let found = transaction.get_many(&entry_keys, OwnWrites::All).await?;
        for ((entry, row_key), found) in entries.iter().zip(found) {
            let problem = match found {
                None => "a row has no entry in the index",
                Some(value) if value[..] != entry.value[..] => "a row's entry in the index holds other values",
                Some(_) => continue,
            };
            if report(problem, row_key) {
                return Ok(());
            }
        }
    }
    // The other direction: every entry must belong to a row.
    let mut decoder = IndexDecoder::new(table, index, &[], true)?;
    let ids: Vec<_> = table.live_columns().map(|column| column.id).collect();
    let mut row_decoder = RowDecoder::new(table, &ids, false)?;
    let mut entries = transaction.scan(keys::rows_of(index.storage_id), TxnScanOptions::once(), OwnWrites::All);
    while let Some(batch) = entries.try_next().await? {
        let row_keys = batch.iter().map(|(key, value)| decoder.row_key(key, value)).collect::<Result<Vec<Bytes>>>()?;
        let found = transaction.get_many(&row_keys, OwnWrites::All).await?;
        for (((entry_key, _), row_key), row) in batch.iter().zip(&row_keys).zip(found) {
            let problem = match row {
                None => "an entry of the index points at no row",
                Some(row) => {
                    row_decoder.push(row_key, &row)?;
                    let columns = row_decoder.finish()?;
                    let own = writer.entries(&columns, std::slice::from_ref(row_key))?.into_iter().next().flatten();
                    if own.is_some_and(|own| own.key[..] == entry_key[..]) {
                        continue;
                    }
                    "an entry of the index is not that of the row it points at"
                }
            };
            if report(problem, entry_key) {
                return Ok(());
            }
        }
    }
    Ok(())
}
