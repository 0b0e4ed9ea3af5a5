//! Looks up many referenced keys at once and locks their rows with KEY SHARE, without the planner. This works for keys
//! whose index bytes can be computed from the referring values.

use super::reference::Reference;
use crate::catalog::{IndexDescriptor, IndexState, TableDescriptor};
use crate::encoding::{IndexDecoder, KeyColumn, KeyEncoder, push_prefix};
use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::execution::dml::{hold_table, patience, reads_newest};
use crate::session::table_locks::TableLockMode;
use crate::types::{BaseType, Datum, SqlType};
use bytes::Bytes;
use txn::{LockStrength, OwnWrites, Write, WriteKind};

/// The greatest number of keys looked up at once.
const AT_ONCE: usize = 4096;

/// Whether values of one type convert to the other without a change of their key bytes.
pub fn same_in_keys(own: SqlType, other: SqlType) -> bool {
    use BaseType as B;
    let text = |ty: SqlType| matches!(ty.base, B::Text | B::Varchar);
    let plain = matches!(
        other.base,
        B::Bool
            | B::Int2
            | B::Int4
            | B::Int8
            | B::Text
            | B::Varchar
            | B::Bytea
            | B::Uuid
            | B::Date
            | B::Timestamp
            | B::Timestamptz
    );
    let same = own.base == other.base || (own.is_integer() && other.is_integer()) || (text(own) && text(other));
    plain && same && !own.array && !other.array
}

/// The key columns of an index, each with its position in the FOREIGN KEY.
fn layout(reference: &Reference, index: &IndexDescriptor) -> Option<(Vec<usize>, Vec<KeyColumn>)> {
    let mut places = Vec::new();
    let mut columns = Vec::new();
    for part in &index.columns {
        let place = reference.key.referenced.iter().position(|id| *id == part.column)?;
        let own = reference.child.column(*reference.key.columns.get(place)?)?.ty;
        let other = reference.parent.column(part.column)?.ty;
        if !same_in_keys(own, other) {
            return None;
        }
        places.push(place);
        columns.push(KeyColumn {
            ty: other,
            descending: part.descending,
            nulls_first: part.nulls_first,
            in_memory: false,
        });
    }
    Some((places, columns))
}

/// Converts the values to the types of the index's columns. `None` if a value does not fit.
fn converted(key: &[Datum], places: &[usize], columns: &[KeyColumn]) -> Option<Vec<Datum>> {
    let convert = |(place, column): (&usize, &KeyColumn)| {
        let value = key.get(*place)?;
        let wanted = column.ty.arrow();
        if value.data_type() == wanted {
            return Some(value.clone());
        }
        value.cast_to(&wanted).ok().filter(|value| !value.is_null())
    };
    places.iter().zip(columns).map(convert).collect()
}

/// Tells for each key whether it exists, and locks the rows found. `None` if the keys cannot be looked up this way.
pub async fn find_and_lock(
    context: &StatementContext,
    reference: &Reference,
    keys: &[&[Datum]],
) -> Result<Option<Vec<bool>>> {
    let parent: &TableDescriptor = &reference.parent;
    let Some(index) = parent.indexes.iter().find(|index| index.oid == reference.key.index) else { return Ok(None) };
    let Some((places, columns)) = layout(reference, index).filter(|_| index.state == IndexState::Public) else {
        return Ok(None);
    };
    hold_table(context, parent, TableLockMode::RowShare).await?;
    let encoder = KeyEncoder::new(columns);
    let mut present = Vec::with_capacity(keys.len());
    for chunk in keys.chunks(AT_ONCE) {
        context.session.check_interrupt()?;
        let mut wanted: Vec<Bytes> = Vec::with_capacity(chunk.len());
        let mut asked = Vec::with_capacity(chunk.len());
        for key in chunk {
            let values = converted(key, &places, encoder.columns());
            asked.push(values.is_some());
            if let Some(values) = values {
                let mut bytes = Vec::new();
                push_prefix(index.storage_id, &mut bytes);
                encoder.encode_datums(&values, &mut bytes)?;
                wanted.push(bytes.into());
            }
        }
        let mut decoder = IndexDecoder::new(parent, index, &[], true)?;
        let mut found = context.transaction.get_many(&wanted, OwnWrites::Newest).await?;
        let rows = loop {
            let mut rows = Vec::with_capacity(found.len());
            for (key, value) in wanted.iter().zip(&found) {
                if let Some(value) = value {
                    let row = if index.primary { key.clone() } else { decoder.row_key(key, value)? };
                    rows.push((row, LockStrength::KeyShare));
                }
            }
            if !reads_newest(context) {
                break rows;
            }
            // A row that exists once it is locked cannot disappear.
            context.transaction.lock_rows(&rows, patience(context)).await?;
            let again = context.transaction.get_many(&wanted, OwnWrites::Newest).await?;
            if again.iter().zip(&found).all(|(one, other)| one.is_some() == other.is_some()) {
                break rows;
            }
            found = again;
        };
        let answers: Vec<bool> = found.iter().map(Option::is_some).collect();
        let locks: Vec<Write> =
            rows.into_iter().map(|(key, strength)| Write { key, kind: WriteKind::Lock, strength }).collect();
        if !locks.is_empty() {
            context.transaction.write(locks).await?;
        }
        let mut answers = answers.into_iter();
        for asked in asked {
            let there = if asked { answers.next() } else { Some(false) };
            present.push(there.ok_or_else(|| SqlError::internal("a key was not looked up"))?);
        }
    }
    Ok(Some(present))
}
