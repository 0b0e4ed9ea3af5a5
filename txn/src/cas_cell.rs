//! Registers: rows with one cell each, overwritten in place, and changed only on condition of the cell that was read.
//! Nodes share leases, holds and the safe point in such rows.

use crate::data::encode_data;
use crate::error::Result;
use crate::resolver::exactly;
use bytes::Bytes;
use storage::{Cell, ClassRange, Condition, Family, Mutation, ReadFilter, Store, Timestamp, TimestampRange};

/// The fixed timestamp of the cell.
const VERSION: Timestamp = Timestamp(1);

/// A cell with this content, which [`crate::data::decode_data`] extracts again.
pub(crate) fn cell(content: &[u8]) -> Cell {
    Cell { family: Family::Data, timestamp: VERSION, value: encode_data(content) }
}

/// The filter that reads a register.
pub(crate) fn filter() -> ReadFilter {
    ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1)
}

/// The cell of the register at `key`. `None` if it was never written, or was removed.
pub(crate) async fn read(store: &dyn Store, key: &Bytes) -> Result<Option<Cell>> {
    let rows = store.read(std::slice::from_ref(key), &filter()).await?;
    Ok(rows.first().and_then(|row| row.newest(Family::Data)).cloned())
}

/// The conditional change that replaces the cell `seen` by `next`. `None` stands for no cell.
pub(crate) fn change(seen: Option<&Cell>, next: Option<&Cell>) -> (Vec<Condition>, Vec<Mutation>) {
    let absent =
        Condition::NoCell { family: Family::Data, range: TimestampRange::ALL, class: ClassRange::ANY, except: None };
    let mutation = match next {
        Some(cell) => Mutation::Set { family: cell.family, timestamp: cell.timestamp, value: cell.value.clone() },
        None => Mutation::Delete { family: Family::Data, range: TimestampRange::at(VERSION) },
    };
    (vec![seen.map_or(absent, exactly)], vec![mutation])
}
