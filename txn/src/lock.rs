//! [`LockStrength`]: how strongly a transaction holds a key. [`Lock`]: the contents of the cell `l@start_ts`.
//!
//! ```text
//! byte 0      strength (the class of the cell)
//! byte 1      kind: P inlined value, p value in the data family, D delete, L lock only
//! 2..10       expires_at: physical microseconds after which the owner counts as dead
//! 10..18      min_commit_ts: readers pushed the commit above here
//! 18..22      length of the primary's key, then the key, then the inlined value
//! ```

use crate::data::RecordKind;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use storage::{ClassRange, StoreError, Timestamp};

/// The strength of a lock or lock-only record: PostgreSQL's four row locks (manual, chapter 13.3.2). The number is
/// the class byte of the record, so that conflicts are ranges of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LockStrength {
    /// `FOR KEY SHARE`: a foreign-key check; only a delete or key change conflicts.
    KeyShare = 1,
    /// `FOR SHARE`: the row must not change.
    Share = 2,
    /// `FOR NO KEY UPDATE`: an update that leaves the keys alone.
    NoKeyUpdate = 3,
    /// `FOR UPDATE`: a delete, an insert, or an update of a key.
    Update = 4,
}

impl LockStrength {
    /// The weakest strength that conflicts with this one. All stronger ones conflict too.
    pub fn weakest_conflicting(self) -> LockStrength {
        match self {
            LockStrength::KeyShare => LockStrength::Update,
            LockStrength::Share => LockStrength::NoKeyUpdate,
            LockStrength::NoKeyUpdate => LockStrength::Share,
            LockStrength::Update => LockStrength::KeyShare,
        }
    }

    /// Whether two holders with these strengths exclude each other.
    pub fn conflicts_with(self, other: LockStrength) -> bool {
        other >= self.weakest_conflicting()
    }

    /// The classes of cells that conflict with this strength.
    pub fn conflicting_classes(self) -> ClassRange {
        ClassRange { from: self.weakest_conflicting() as u8, to: LockStrength::Update as u8 }
    }

    /// The strength with this class byte, if there is one.
    pub fn from_class(class: u8) -> Option<LockStrength> {
        Some(match class {
            1 => LockStrength::KeyShare,
            2 => LockStrength::Share,
            3 => LockStrength::NoKeyUpdate,
            4 => LockStrength::Update,
            _ => return None,
        })
    }
}

/// The decoded contents of a lock cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// How strongly the lock holds its key.
    pub strength: LockStrength,
    /// The kind of the record that the lock becomes at commit.
    pub kind: RecordKind,
    /// The key whose fate decides the transaction's fate.
    pub primary: Bytes,
    /// The physical time, in microseconds, after which the owner counts as dead.
    pub expires_at: u64,
    /// The least commit timestamp that readers have left to the owner.
    pub min_commit_ts: Timestamp,
    /// The value of a `Put` if it is short. Otherwise it is in the data family at the same timestamp.
    pub inlined: Option<Bytes>,
}

impl Lock {
    /// Encodes the lock as a cell.
    pub fn encode(&self) -> Bytes {
        let value = self.inlined.as_deref().unwrap_or_default();
        let mut cell = BytesMut::with_capacity(22 + self.primary.len() + value.len());
        cell.put_u8(self.strength as u8);
        cell.put_u8(encode_kind(self.kind, self.inlined.is_some()));
        cell.put_u64(self.expires_at);
        cell.put_u64(self.min_commit_ts.0);
        cell.put_u32(self.primary.len() as u32);
        cell.put_slice(&self.primary);
        cell.put_slice(value);
        cell.freeze()
    }

    /// Decodes a lock cell. Errors: `Corrupted`.
    pub fn decode(cell: &Bytes) -> Result<Lock, StoreError> {
        let damaged = || StoreError::Corrupted("damaged lock cell".into());
        let mut rest = cell.clone();
        if rest.len() < 22 {
            return Err(damaged());
        }
        let strength = LockStrength::from_class(rest.get_u8()).ok_or_else(damaged)?;
        let (kind, inlined) = decode_kind(rest.get_u8()).ok_or_else(damaged)?;
        let expires_at = rest.get_u64();
        let min_commit_ts = Timestamp(rest.get_u64());
        let length = rest.get_u32() as usize;
        if rest.len() < length {
            return Err(damaged());
        }
        let primary = rest.split_to(length);
        let inlined = inlined.then_some(rest);
        Ok(Lock { strength, kind, primary, expires_at, min_commit_ts, inlined })
    }
}

/// Encodes a kind as a byte.
pub(crate) fn encode_kind(kind: RecordKind, inlined: bool) -> u8 {
    match (kind, inlined) {
        (RecordKind::Put, true) => b'P',
        (RecordKind::Put, false) => b'p',
        (RecordKind::Delete, _) => b'D',
        (RecordKind::Lock, _) => b'L',
    }
}

/// Decodes a kind, and whether the value is inlined.
pub(crate) fn decode_kind(byte: u8) -> Option<(RecordKind, bool)> {
    Some(match byte {
        b'P' => (RecordKind::Put, true),
        b'p' => (RecordKind::Put, false),
        b'D' => (RecordKind::Delete, false),
        b'L' => (RecordKind::Lock, false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_table_is_postgresqls() {
        use LockStrength::*;
        let table = [
            (KeyShare, [false, false, false, true]),
            (Share, [false, false, true, true]),
            (NoKeyUpdate, [false, true, true, true]),
            (Update, [true, true, true, true]),
        ];
        for (a, row) in table {
            for (b, expected) in [KeyShare, Share, NoKeyUpdate, Update].into_iter().zip(row) {
                assert_eq!(a.conflicts_with(b), expected, "{a:?} {b:?}");
                assert_eq!(a.conflicting_classes().contains(&[b as u8]), expected);
            }
        }
    }

    #[test]
    fn locks_round_trip() {
        for (kind, inlined) in
            [(RecordKind::Put, Some(Bytes::new())), (RecordKind::Put, None), (RecordKind::Delete, None)]
        {
            let lock = Lock {
                strength: LockStrength::NoKeyUpdate,
                kind,
                primary: Bytes::from_static(b"primary"),
                expires_at: 77,
                min_commit_ts: Timestamp(5),
                inlined,
            };
            assert_eq!(Lock::decode(&lock.encode()), Ok(lock));
        }
        assert!(Lock::decode(&Bytes::from_static(b"\x04P")).is_err());
    }
}
