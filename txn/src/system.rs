//! The names and rows that transactions keep for themselves: the oracle's high-water mark, the safe point, intents,
//! and the outcomes of transactions that asked for their identity.
//!
//! These rows begin with bytes that no table's key begins with, because storage ids never start with 0xff.

use crate::error::{Result, TxnError};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use storage::{RowRange, StoreError, StoreRef, Timestamp};

const PREFIX: &[u8] = b"\xff\xfepercosql/";

/// Name of the oracle's high-water mark.
pub(crate) const HIGH_WATER: &str = "oracle.high_water";

/// Name of the safe point of garbage collection.
pub(crate) const SAFE_POINT: &str = "gc.safe_point";

fn key(name: &str) -> Bytes {
    let mut key = BytesMut::with_capacity(PREFIX.len() + name.len());
    key.put_slice(PREFIX);
    key.put_slice(name.as_bytes());
    key.freeze()
}

fn key_of(name: &str, ts: Timestamp) -> Bytes {
    let mut bytes = BytesMut::from(&key(name)[..]);
    bytes.put_u64(ts.0);
    bytes.freeze()
}

/// The range of all intents.
pub(crate) fn intents() -> RowRange {
    RowRange::prefix(key("intent/"))
}

/// The row of the intent of the transaction `start_ts`.
pub(crate) fn intent_key(start_ts: Timestamp) -> Bytes {
    key_of("intent/", start_ts)
}

/// The row that lists the ranges of fresh rows that the two-phase transaction `start_ts` writes to.
pub(crate) fn made_key(start_ts: Timestamp) -> Bytes {
    key_of("made/", start_ts)
}

/// Encodes ranges. Each is the length of its start, the start, the length of its end, and the end. The greatest
/// length stands for no end.
pub(crate) fn encode_ranges(ranges: &[RowRange]) -> Bytes {
    let mut bytes = BytesMut::new();
    let mut put = |key: Option<&Bytes>| match key {
        Some(key) => {
            bytes.put_u32(u32::try_from(key.len()).unwrap_or(NO_END - 1));
            bytes.put_slice(key);
        }
        None => bytes.put_u32(NO_END),
    };
    for range in ranges {
        put(Some(&range.start));
        put(range.end.as_ref());
    }
    bytes.freeze()
}

const NO_END: u32 = u32::MAX;

/// Decodes what [`encode_ranges`] wrote. Errors: `Corrupted`.
pub(crate) fn decode_ranges(mut bytes: Bytes) -> Result<Vec<RowRange>> {
    let damaged = || TxnError::Store(StoreError::Corrupted("damaged ranges of a transaction".into()));
    let mut take = |first: bool| -> Result<Option<Bytes>> {
        if first && bytes.is_empty() {
            return Ok(None);
        }
        let length = bytes.try_get_u32().map_err(|_| damaged())?;
        match usize::try_from(length).map_err(|_| damaged())? {
            _ if length == NO_END && !first => Ok(None),
            length if length <= bytes.len() => Ok(Some(bytes.split_to(length))),
            _ => Err(damaged()),
        }
    };
    let mut ranges = Vec::new();
    while let Some(start) = take(true)? {
        ranges.push(RowRange { start, end: take(false)? });
    }
    Ok(ranges)
}

/// The transaction whose intent is at `key`, if it is one.
pub(crate) fn intent_of(key: &[u8]) -> Option<Timestamp> {
    let from = key.len().checked_sub(8)?;
    let bytes: [u8; 8] = key.get(from..)?.try_into().ok()?;
    Some(Timestamp(u64::from_be_bytes(bytes)))
}

/// The row of the oracle's lease, where several nodes share the store.
pub(crate) fn oracle_key() -> Bytes {
    key("oracle")
}

/// Whether `key` is the row of an outcome.
pub(crate) fn is_outcome(row: &[u8]) -> bool {
    row.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with(b"outcome/"))
}

/// The range of all outcomes.
pub(crate) fn outcomes() -> RowRange {
    RowRange::prefix(key("outcome/"))
}

/// The row of the outcome of the transaction `start_ts`, written if it asked for its identity. A multiplied hash in
/// front spreads neighbours over tablets.
pub(crate) fn outcome_key(start_ts: Timestamp) -> Bytes {
    let mut bytes = BytesMut::from(&key("outcome/")[..]);
    bytes.put_u8((start_ts.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8);
    bytes.put_u64(start_ts.0);
    bytes.freeze()
}

/// Whether the primary's key is the row of an outcome, as it is for large transactions.
pub(crate) fn is_outcome_key(key_of_primary: &[u8]) -> bool {
    key_of_primary.starts_with(&key("outcome/"))
}

/// The row of the garbage collector's lease.
pub(crate) fn gc_lease_key() -> Bytes {
    key("gc-lease")
}

/// The range of the rows that hold snapshots.
pub(crate) fn holds() -> RowRange {
    RowRange::prefix(key("hold/"))
}

/// The row by which a node holds the snapshots of its readers of the past.
pub(crate) fn node_hold_key(node: u64) -> Bytes {
    key_of("hold/node/", Timestamp(node))
}

/// The row that holds a snapshot under a name.
pub(crate) fn named_hold_key(name: &str) -> Bytes {
    let mut bytes = BytesMut::from(&key("hold/name/")[..]);
    bytes.put_slice(name.as_bytes());
    bytes.freeze()
}

/// The row of the safe point, where several nodes may move it.
pub(crate) fn safe_point_key() -> Bytes {
    key("safe-point")
}

/// Reads the timestamp saved under `name`. Zero if it was never saved.
pub(crate) async fn load(store: &StoreRef, name: &str) -> Result<Timestamp> {
    let Some(value) = store.get_meta(name).await? else { return Ok(Timestamp::ZERO) };
    match <[u8; 8]>::try_from(&value[..]) {
        Ok(bytes) => Ok(Timestamp(u64::from_be_bytes(bytes))),
        Err(_) => Err(TxnError::Store(StoreError::Corrupted(format!("the value of {name}")))),
    }
}

/// Saves a timestamp under `name`, durably.
pub(crate) async fn save(store: &StoreRef, name: &str, value: Timestamp) -> Result<()> {
    store.put_meta(name, Bytes::copy_from_slice(&value.0.to_be_bytes())).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_round_trip_and_damaged_ones_are_refused() {
        let ranges =
            vec![RowRange::prefix("abc"), RowRange { start: Bytes::new(), end: None }, RowRange::prefix(Bytes::new())];
        let bytes = encode_ranges(&ranges);
        assert_eq!(decode_ranges(bytes.clone()).unwrap(), ranges);
        assert_eq!(decode_ranges(Bytes::new()).unwrap(), Vec::new());
        for end in 1..bytes.len() {
            let cut = decode_ranges(bytes.slice(..end));
            assert!(cut.is_err() || cut.unwrap().len() < ranges.len());
        }
        assert!(decode_ranges(Bytes::from_static(b"\xff\xff\xff\xff")).is_err());
    }

    #[test]
    fn intent_keys_round_trip_and_sort() {
        let (a, b) = (intent_key(Timestamp(255)), intent_key(Timestamp(256)));
        assert!(a < b && intents().contains(&a) && intents().contains(&b));
        assert_eq!(intent_of(&b), Some(Timestamp(256)));
        assert!(!intents().contains(&outcome_key(Timestamp(255))));
        assert!(is_outcome_key(&outcome_key(Timestamp(255))) && !is_outcome_key(&a));
        assert!(outcomes().contains(&outcome_key(Timestamp(255))) && !outcomes().contains(&a));
        assert!(holds().contains(&node_hold_key(7)) && holds().contains(&named_hold_key("a")));
    }
}
