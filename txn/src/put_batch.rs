//! [`Puts`]: rows that a statement puts, in two allocations instead of two per row. A load keeps its rows in
//! this form until COMMIT.

use crate::lock::LockStrength;
use crate::transaction::{Write, WriteKind};
use storage::Strings;

/// Rows to put: ascending keys, and their values.
#[derive(Clone, Debug)]
pub struct Puts {
    keys: Strings,
    values: Strings,
    strength: LockStrength,
}

impl Puts {
    /// Errors: the keys do not ascend. The error holds the rows as separate writes.
    pub fn new(keys: Strings, values: Strings, strength: LockStrength) -> Result<Puts, Vec<Write>> {
        let puts = Puts { keys, values, strength };
        if puts.keys.is_ascending() && puts.keys.len() == puts.values.len() {
            return Ok(puts);
        }
        Err(puts.into_writes())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn keys(&self) -> &Strings {
        &self.keys
    }

    pub(crate) fn values(&self) -> &Strings {
        &self.values
    }

    /// The bytes of all keys and values.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.bytes() + self.values.bytes()
    }

    /// The strength of the lock on each key.
    pub(crate) fn strength(&self) -> LockStrength {
        self.strength
    }

    /// The write kind of the row at index `at`.
    pub(crate) fn kind(&self, at: usize) -> WriteKind {
        WriteKind::Put(self.values.share(at).unwrap_or_default())
    }

    /// The rows as separate writes.
    pub(crate) fn into_writes(self) -> Vec<Write> {
        let write = |at| Some(Write { key: self.keys.share(at)?, kind: self.kind(at), strength: self.strength });
        (0..self.len().min(self.values.len())).filter_map(write).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn strings(list: &[&str]) -> Strings {
        Strings::copied(list.iter().map(|string| string.as_bytes())).unwrap()
    }

    #[test]
    fn rows_out_of_order_are_writes() {
        let values = strings(&["1", "2"]);
        let puts = Puts::new(strings(&["a", "b"]), values.clone(), LockStrength::Update).unwrap();
        assert_eq!((puts.len(), puts.bytes()), (2, 4));
        let writes = Puts::new(strings(&["b", "a"]), values, LockStrength::Update).unwrap_err();
        let write = |key, value| Write {
            key: Bytes::from_static(key),
            kind: WriteKind::Put(Bytes::from_static(value)),
            strength: LockStrength::Update,
        };
        assert_eq!(writes, [write(b"b", b"1"), write(b"a", b"2")]);
    }
}
