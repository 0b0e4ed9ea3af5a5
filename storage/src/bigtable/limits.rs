//! Bigtable's limits, which its emulator does not enforce. They are checked before a request is sent, so that the
//! error names the oversized item. <https://docs.cloud.google.com/bigtable/quotas>

use crate::contract::{Mutation, RowMutation};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::collections::HashMap;

/// Bytes of a row key in Bigtable, including the byte in front of our key.
pub const MAX_ROW_KEY_BYTES: usize = 4096;
/// Bytes of one cell. Bigtable refuses 100 MB and recommends at most 10 MB.
pub const MAX_CELL_BYTES: usize = 64 << 20;
/// Bytes of one row with all its cells. Bigtable refuses more.
pub const MAX_ROW_BYTES: usize = 256 << 20;
/// Bytes of one filter that Bigtable accepts.
pub const MAX_FILTER_BYTES: usize = 20 << 10;
/// Mutations in one request.
pub const MAX_MUTATIONS: usize = 100_000;
/// Bytes of a `MutateRows` request before it is split. Far below gRPC's limit, so that
/// several calls run concurrently.
pub const BATCH_BYTES: usize = 4 << 20;
/// Rows of a `MutateRows` request before it is split.
pub const BATCH_ROWS: usize = 5_000;
/// Row keys of a `ReadRows` request before it is split.
pub const READ_KEYS: usize = 5_000;
/// Bytes of row keys of a `ReadRows` request before it is split.
pub const READ_KEY_BYTES: usize = 512 << 10;

/// Checks the length of a row key. Errors: `TooLarge`.
pub fn check_key(key: &[u8]) -> Result<()> {
    let most = MAX_ROW_KEY_BYTES - 1;
    if key.len() > most {
        return Err(StoreError::TooLarge(format!("a key of {} bytes exceeds Bigtable's {most}", key.len())));
    }
    Ok(())
}

/// Checks the mutations of a row, and answers their approximate size in bytes. Errors: `TooLarge`.
pub fn check_row(key: &[u8], mutations: &[Mutation]) -> Result<usize> {
    check_key(key)?;
    if mutations.len() > MAX_MUTATIONS {
        let count = mutations.len();
        return Err(StoreError::TooLarge(format!("{count} changes of one row exceed Bigtable's {MAX_MUTATIONS}")));
    }
    let mut bytes = key.len();
    for mutation in mutations {
        bytes += 32;
        let Mutation::Set { timestamp, value, .. } = mutation else { continue };
        if *timestamp > Timestamp::MAX {
            return Err(StoreError::TooLarge(format!("timestamp {timestamp} exceeds {}", Timestamp::MAX)));
        }
        if value.len() > MAX_CELL_BYTES {
            let length = value.len();
            return Err(StoreError::TooLarge(format!("a value of {length} bytes exceeds {MAX_CELL_BYTES}")));
        }
        bytes += value.len();
    }
    if bytes > MAX_ROW_BYTES {
        return Err(StoreError::TooLarge(format!("{bytes} bytes of one row exceed Bigtable's {MAX_ROW_BYTES}")));
    }
    Ok(bytes)
}

/// Splits rows into requests of legal size that may run concurrently. Rows with the same key are merged in their
/// order, because a request does not define the order of its rows.
pub fn batches(rows: Vec<RowMutation>) -> Result<Vec<Vec<RowMutation>>> {
    let mut batches: Vec<Vec<RowMutation>> = Vec::new();
    let mut places: HashMap<Bytes, (usize, usize)> = HashMap::with_capacity(rows.len());
    let (mut bytes, mut mutations) = (0, 0);
    for row in rows {
        if row.mutations.is_empty() {
            continue;
        }
        let size = check_row(&row.key, &row.mutations)?;
        let earlier = places.get(&row.key).and_then(|(batch, at)| batches.get_mut(*batch)?.get_mut(*at));
        if let Some(earlier) = earlier {
            earlier.mutations.extend(row.mutations);
            check_row(&earlier.key, &earlier.mutations)?;
            continue;
        }
        let most = bytes + size > BATCH_BYTES || mutations + row.mutations.len() > MAX_MUTATIONS;
        if batches.last().is_none_or(|batch| batch.len() >= BATCH_ROWS || most) {
            batches.push(Vec::new());
            (bytes, mutations) = (0, 0);
        }
        bytes += size;
        mutations += row.mutations.len();
        let batch = batches.len().saturating_sub(1);
        if let Some(last) = batches.last_mut() {
            places.insert(row.key.clone(), (batch, last.len()));
            last.push(row);
        }
    }
    Ok(batches)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::contract::Family;

    fn row(key: &str, bytes: usize) -> RowMutation {
        let value = Bytes::from(vec![0; bytes]);
        let mutations = vec![Mutation::Set { family: Family::Data, timestamp: Timestamp(1), value }];
        RowMutation { key: Bytes::copy_from_slice(key.as_bytes()), mutations }
    }

    #[test]
    fn requests_are_cut_where_they_are_full() {
        let rows: Vec<RowMutation> = (0..10).map(|number| row(&number.to_string(), BATCH_BYTES / 4)).collect();
        let cut = batches(rows.clone()).unwrap();
        assert!(cut.len() > 3);
        assert_eq!(cut.concat(), rows);
        let many = (0..BATCH_ROWS + 1).map(|number| row(&number.to_string(), 1)).collect();
        assert_eq!(batches(many).unwrap().iter().map(Vec::len).collect::<Vec<_>>(), [BATCH_ROWS, 1]);
        let big = batches(vec![row("a", BATCH_BYTES * 2), row("b", 1)]).unwrap();
        assert_eq!(big.len(), 2);
    }

    #[test]
    fn changes_of_one_row_stay_in_order() {
        let cut = batches(vec![row("a", 1), row("b", 2), row("a", 3)]).unwrap();
        assert_eq!(cut.len(), 1);
        assert_eq!(cut[0].len(), 2);
        assert_eq!(cut[0][0].mutations.len(), 2);
    }

    #[test]
    fn what_bigtable_would_refuse_is_refused_here() {
        let refused = |row: RowMutation| matches!(batches(vec![row]), Err(StoreError::TooLarge(_)));
        assert!(!refused(row(&"k".repeat(4095), 1)));
        assert!(refused(row(&"k".repeat(4096), 1)));
        assert!(refused(row("k", MAX_CELL_BYTES + 1)));
        let mut late = row("k", 1);
        late.mutations =
            vec![Mutation::Set { family: Family::Data, timestamp: Timestamp::MAX.next(), value: Bytes::new() }];
        assert!(refused(late));
        let mut many = row("k", 1);
        many.mutations = many.mutations.into_iter().cycle().take(MAX_MUTATIONS + 1).collect();
        assert!(refused(many));
    }
}
