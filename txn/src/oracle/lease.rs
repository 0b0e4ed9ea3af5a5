//! [`LeaseRow`]: the row that tells which node hands out timestamps, how far ahead it may go, and its address. The
//! row changes only on condition of its contents.

use crate::data::decode_data;
use crate::error::{Result, TxnError};
use crate::{cas_cell, system};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::collections::BTreeSet;
use storage::{Cell, Store, StoreError};

/// A bit in the byte for `held`: the nodes that may hold locks follow.
const HOLDERS: u8 = 2;

/// The contents of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeaseRow {
    /// A random number drawn each time a node takes the lease. It identifies the tenure.
    pub(super) tenure: u64,
    /// Grows with every change of the row.
    pub(super) beat: u64,
    /// Whether the lease is held. A holder that stops in order releases it.
    pub(super) held: bool,
    /// No timestamp above this mark was handed out. The next holder of the lease begins above it.
    pub(super) high_water: u64,
    /// The nodes that may hold locks: see `locks::lock_server`.
    pub(super) holders: BTreeSet<u64>,
    /// `HOST:PORT` at which others ask the holder. Empty if they cannot.
    pub(super) address: String,
    /// The holder's name for people.
    pub(super) name: String,
}

impl LeaseRow {
    pub(super) fn cell(&self) -> Cell {
        let mut bytes = BytesMut::with_capacity(29 + 8 * self.holders.len() + self.address.len() + self.name.len());
        bytes.put_u64(self.tenure);
        bytes.put_u64(self.beat);
        bytes.put_u8(u8::from(self.held) | if self.holders.is_empty() { 0 } else { HOLDERS });
        bytes.put_u64(self.high_water);
        if !self.holders.is_empty() {
            bytes.put_u16(u16::try_from(self.holders.len()).unwrap_or(u16::MAX));
            self.holders.iter().take(usize::from(u16::MAX)).for_each(|node| bytes.put_u64(*node));
        }
        bytes.put_u16(u16::try_from(self.address.len()).unwrap_or(0));
        bytes.put_slice(self.address.as_bytes());
        bytes.put_slice(self.name.as_bytes());
        cas_cell::cell(&bytes)
    }

    pub(super) fn of(cell: &Cell) -> Result<LeaseRow> {
        let mut bytes = decode_data(&cell.value)?;
        let damaged = || TxnError::Store(StoreError::Corrupted("the row of the oracle's lease".into()));
        let head = (|| {
            let tenure = bytes.try_get_u64()?;
            let beat = bytes.try_get_u64()?;
            let flags = bytes.try_get_u8()?;
            let high_water = bytes.try_get_u64()?;
            let mut holders = BTreeSet::new();
            if flags & HOLDERS != 0 {
                for _ in 0..bytes.try_get_u16()? {
                    holders.insert(bytes.try_get_u64()?);
                }
            }
            Ok::<_, bytes::TryGetError>((tenure, beat, flags & 1 != 0, high_water, holders, bytes.try_get_u16()?))
        })();
        let (tenure, beat, held, high_water, holders, length) = head.map_err(|_| damaged())?;
        if bytes.len() < usize::from(length) {
            return Err(damaged());
        }
        let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
        let address = text(bytes.split_to(usize::from(length)));
        Ok(LeaseRow { tenure, beat, held, high_water, holders, address, name: text(bytes) })
    }
}

/// The row's cell. `None` if the row was never written.
pub(super) async fn read(store: &dyn Store) -> Result<Option<Cell>> {
    cas_cell::read(store, &system::oracle_key()).await
}

/// Replaces the cell `seen` by `next`. `None`: it is unknown whether the change happened.
pub(super) async fn change(store: &dyn Store, seen: Option<&Cell>, next: &Cell) -> Result<Option<bool>> {
    let (conditions, mutations) = cas_cell::change(seen, Some(next));
    match store.check_and_mutate(system::oracle_key(), conditions, mutations).await {
        Ok(done) => Ok(Some(done)),
        Err(StoreError::Undetermined(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip_and_damage_is_told() {
        for (holders, head) in [(BTreeSet::new(), 27), (BTreeSet::from([5, u64::MAX]), 45)] {
            let row = LeaseRow {
                tenure: u64::MAX,
                beat: 2,
                held: true,
                high_water: 3,
                holders,
                address: "10.0.0.1:6501".to_owned(),
                name: "somebody".to_owned(),
            };
            assert_eq!(LeaseRow::of(&row.cell()).unwrap(), row);
            let whole = decode_data(&row.cell().value).unwrap();
            for length in 0..head + row.address.len() {
                assert!(LeaseRow::of(&cas_cell::cell(&whole[..length])).is_err(), "{length}");
            }
        }
    }
}
