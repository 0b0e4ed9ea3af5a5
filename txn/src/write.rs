//! [`WriteRecord`]: the cell `w@commit_ts` of a committed write, the cell `r@commit_ts` of a key that was only
//! locked, and the cell `r@start_ts` of a rollback.
//!
//! ```text
//! byte 0      strength (the class of the cell), or R for a rollback
//! byte 1      kind: P inlined value, p value in the data family, D delete, L lock only, R rollback
//! 2..10       start_ts of the transaction; zero when it committed in one phase and nobody asked
//! 10..        inlined value
//! ```

use crate::data::{INLINE_VALUE_BYTES, RecordKind};
use crate::lock::{Lock, LockStrength, decode_kind, encode_kind};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use storage::{Cell, ClassRange, CommitCell, Family, Stamp, StoreError, Timestamp};

/// The class of rollback records. It is outside the range of strengths, so they conflict with nobody.
pub const ROLLBACK_CLASS: u8 = b'R';

/// The class of rollback records, as a range.
pub const ROLLBACK: ClassRange = ClassRange { from: ROLLBACK_CLASS, to: ROLLBACK_CLASS };

/// Bytes before an inlined value.
pub(crate) const HEADER: usize = 10;

/// A committed write or lock-only record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRecord {
    /// How strongly the key was held.
    pub strength: LockStrength,
    /// The kind of the change.
    pub kind: RecordKind,
    /// The transaction's identity. Zero if it had none.
    pub start_ts: Timestamp,
    /// The value of a `Put`. `None` if it is in the data family at `start_ts`.
    pub inlined: Option<Bytes>,
}

/// The decoded contents of a cell in the write or rollback family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Committed at the cell's timestamp.
    Committed(WriteRecord),
    /// The transaction whose start_ts is the cell's timestamp was rolled back.
    RolledBack,
}

impl WriteRecord {
    /// The family that the record belongs to.
    pub fn family(&self) -> Family {
        match self.kind {
            RecordKind::Put | RecordKind::Delete => Family::Write,
            RecordKind::Lock => Family::Rollback,
        }
    }

    /// Encodes the record as a cell.
    pub fn encode(&self) -> Bytes {
        encode_record(self.strength, self.kind, self.start_ts, self.inlined.as_deref())
    }
}

/// Encodes a committed record as a cell.
pub(crate) fn encode_record(
    strength: LockStrength,
    kind: RecordKind,
    start_ts: Timestamp,
    inlined: Option<&[u8]>,
) -> Bytes {
    let mut cell = Vec::with_capacity(HEADER + inlined.map_or(0, <[u8]>::len));
    push_record(strength, kind, start_ts, inlined, &mut cell);
    cell.into()
}

/// Appends the encoding of a committed record.
pub(crate) fn push_record(
    strength: LockStrength,
    kind: RecordKind,
    start_ts: Timestamp,
    inlined: Option<&[u8]>,
    out: &mut Vec<u8>,
) {
    out.put_u8(strength as u8);
    out.put_u8(encode_kind(kind, inlined.is_some()));
    out.put_u64(start_ts.0);
    out.put_slice(inlined.unwrap_or_default());
}

/// The bytes before the value in the cell of an inlined `Put`.
pub(crate) fn put_header(strength: LockStrength, start_ts: Timestamp) -> Bytes {
    encode_record(strength, RecordKind::Put, start_ts, Some(&[]))
}

/// Encodes a rollback record as a cell.
pub fn encode_rollback(start_ts: Timestamp) -> Bytes {
    let mut cell = BytesMut::with_capacity(HEADER);
    cell.put_u8(ROLLBACK_CLASS);
    cell.put_u8(ROLLBACK_CLASS);
    cell.put_u64(start_ts.0);
    cell.freeze()
}

/// The value that a committed write left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// There is no value.
    Absent,
    /// The value was inlined in the record.
    Inlined(Bytes),
    /// The value is in the data family at this timestamp.
    At(Timestamp),
}

/// The place of the value that a committed write left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// There is no value.
    Absent,
    /// Behind the [`HEADER`] of the cell.
    Inlined,
    /// In a cell of the data family.
    Elsewhere,
}

/// The place of a write cell's value. Every read calls this for the newest write in its snapshot, so it must be fast.
pub(crate) fn seen(cell: &[u8]) -> Result<Seen, StoreError> {
    match cell.get(1) {
        Some(b'P') if cell.len() >= HEADER => Ok(Seen::Inlined),
        Some(b'D') => Ok(Seen::Absent),
        Some(b'p') => Ok(Seen::Elsewhere),
        _ => Err(StoreError::Corrupted("damaged write cell".into())),
    }
}

/// Whether a write cell is a delete.
pub(crate) fn is_delete(cell: &[u8]) -> bool {
    matches!(seen(cell), Ok(Seen::Absent))
}

/// Like [`seen`], with the value if it is inlined.
pub(crate) fn visible(cell: &Bytes) -> Result<Visible, StoreError> {
    Ok(match seen(cell)? {
        Seen::Inlined => Visible::Inlined(cell.slice(HEADER..)),
        Seen::Absent => Visible::Absent,
        Seen::Elsewhere => Visible::At(start_of(cell)?),
    })
}

/// Like [`visible`], but takes an inlined value out of the cell.
pub(crate) fn take_visible(cell: &mut Bytes) -> Result<Visible, StoreError> {
    match cell.get(1) {
        Some(b'P') if cell.len() >= HEADER => {
            let mut value = std::mem::take(cell);
            value.advance(HEADER);
            Ok(Visible::Inlined(value))
        }
        _ => visible(cell),
    }
}

/// The start_ts in a record.
pub(crate) fn start_of(cell: &[u8]) -> Result<Timestamp, StoreError> {
    let bytes: Option<[u8; 8]> = cell.get(2..HEADER).and_then(|bytes| bytes.try_into().ok());
    bytes
        .map(|bytes| Timestamp(u64::from_be_bytes(bytes)))
        .ok_or_else(|| StoreError::Corrupted("damaged write cell".into()))
}

/// Decodes a cell of the write or rollback family.
pub fn decode_record(cell: &Cell) -> Result<Record, StoreError> {
    let damaged = || StoreError::Corrupted("damaged write cell".into());
    let class = *cell.value.first().ok_or_else(damaged)?;
    let start_ts = start_of(&cell.value)?;
    if class == ROLLBACK_CLASS {
        return Ok(Record::RolledBack);
    }
    let strength = LockStrength::from_class(class).ok_or_else(damaged)?;
    let (kind, inlined) = cell.value.get(1).copied().and_then(decode_kind).ok_or_else(damaged)?;
    let inlined = inlined.then(|| cell.value.slice(HEADER..));
    Ok(Record::Committed(WriteRecord { strength, kind, start_ts, inlined }))
}

/// Whether a value is short enough to be inlined on the two-phase path.
pub(crate) fn is_short(value: &[u8]) -> bool {
    value.len() <= INLINE_VALUE_BYTES
}

/// The cells that replace a lock at commit: the record, and the lock's removal.
pub(crate) fn committed_cells(key: &Bytes, start_ts: Timestamp, commit_ts: Timestamp, lock: &Lock) -> Vec<CommitCell> {
    let family = if lock.kind == RecordKind::Lock { Family::Rollback } else { Family::Write };
    let record = encode_record(lock.strength, lock.kind, start_ts, lock.inlined.as_deref());
    vec![
        CommitCell { key: key.clone(), family, stamp: Stamp::At(commit_ts), value: Some(record) },
        CommitCell { key: key.clone(), family: Family::Lock, stamp: Stamp::At(start_ts), value: None },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        for (kind, inlined) in [
            (RecordKind::Put, Some(Bytes::from_static(b"v"))),
            (RecordKind::Put, None),
            (RecordKind::Delete, None),
            (RecordKind::Lock, None),
        ] {
            let record = WriteRecord { strength: LockStrength::Update, kind, start_ts: Timestamp(9), inlined };
            let cell = Cell { family: record.family(), timestamp: Timestamp(10), value: record.encode() };
            assert_eq!(decode_record(&cell), Ok(Record::Committed(record)));
        }
    }

    #[test]
    fn rollbacks_conflict_with_no_strength() {
        let cell = encode_rollback(Timestamp(4));
        for class in 1..=4 {
            let strength = LockStrength::from_class(class).unwrap();
            assert!(!strength.conflicting_classes().contains(&cell));
        }
        assert!(ROLLBACK.contains(&cell));
    }
}
