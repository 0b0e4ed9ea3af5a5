//! [`Pairs`]: the keys and values that a scan returns, in key order. They stay packed as in the store's batch if the
//! scan changes nothing about them. Otherwise they are a list.

use crate::error::Result;
use crate::transaction::KeyValue;
use crate::write::{HEADER, Seen, seen};
use bytes::Bytes;
use storage::{Family, PackedRows, Row};

/// Keys and values in key order. See the module documentation.
#[derive(Clone, Debug)]
pub struct Pairs(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Listed(Vec<KeyValue>),
    /// Write cells with inlined values, as the store returned them.
    Packed(PackedRows),
}

/// The visible pairs of a batch of newest write cells.
pub(crate) enum Visible {
    /// All values are inlined.
    Pairs(Pairs),
    /// Some values are in the data family and must be read first.
    Rows(Vec<Row>),
}

impl Pairs {
    /// The visible pairs of newest write cells, for a snapshot that locks cannot hide anything from.
    /// Errors: a damaged cell.
    pub(crate) fn visible(mut rows: PackedRows) -> Result<Visible> {
        let (mut elsewhere, mut absent, mut damaged) = (false, false, None);
        for (_, cell) in rows.iter() {
            match seen(cell) {
                Ok(Seen::Inlined) => {}
                Ok(Seen::Absent) => absent = true,
                Ok(Seen::Elsewhere) => elsewhere = true,
                Err(error) => damaged = Some(error),
            }
        }
        if let Some(error) = damaged {
            return Err(error.into());
        }
        if elsewhere {
            return Ok(Visible::Rows(rows.into_rows(Family::Write)));
        }
        if absent {
            rows.retain(|cell| matches!(seen(cell), Ok(Seen::Inlined)));
        }
        Ok(Visible::Pairs(Pairs(Kept::Packed(rows))))
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Listed(pairs) => pairs.len(),
            Kept::Packed(rows) => rows.len(),
        }
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps the first `pairs` pairs at most.
    pub fn truncate(&mut self, pairs: usize) {
        match &mut self.0 {
            Kept::Listed(list) => list.truncate(pairs),
            Kept::Packed(rows) => rows.truncate(pairs),
        }
    }

    /// Iterates over the key and value of each pair.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
        let (listed, packed) = match &self.0 {
            Kept::Listed(pairs) => (Some(pairs), None),
            Kept::Packed(rows) => (None, Some(rows)),
        };
        let listed = listed.into_iter().flatten().map(|(key, value)| (&key[..], &value[..]));
        let packed = packed.into_iter().flat_map(PackedRows::iter);
        listed.chain(packed.map(|(key, cell)| (key, cell.get(HEADER..).unwrap_or_default())))
    }

    /// The last key, if there is any pair.
    pub(crate) fn last_key(&self) -> Option<&[u8]> {
        self.iter().next_back().map(|(key, _)| key)
    }

    /// The pairs as a list of separate keys and values.
    pub fn into_list(self) -> Vec<KeyValue> {
        match self.0 {
            Kept::Listed(pairs) => pairs,
            Kept::Packed(rows) => {
                let pair = |row: Row| {
                    let value = row.cells.into_iter().next().map_or_else(Bytes::new, |cell| cell.value);
                    (row.key, value.slice(HEADER.min(value.len())..))
                };
                rows.into_rows(Family::Write).into_iter().map(pair).collect()
            }
        }
    }
}

impl From<Vec<KeyValue>> for Pairs {
    fn from(pairs: Vec<KeyValue>) -> Self {
        Pairs(Kept::Listed(pairs))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::data::RecordKind;
    use crate::lock::LockStrength;
    use crate::write::encode_record;
    use storage::Timestamp;

    fn packed(rows: &[(&str, RecordKind, Option<&str>)]) -> PackedRows {
        let mut packed = PackedRows::default();
        for (key, kind, value) in rows {
            let value = value.map(str::as_bytes);
            let cell = encode_record(LockStrength::Update, *kind, Timestamp(3), value);
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(key.as_bytes());
                true
            };
            packed.push(put, Timestamp(5), &cell);
        }
        packed
    }

    fn shown(pairs: &Pairs) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        pairs.iter().map(|(key, value)| (text(key), text(value))).collect()
    }

    #[test]
    fn packed_and_listed_pairs_say_the_same() {
        let rows = packed(&[
            ("a", RecordKind::Put, Some("one")),
            ("b", RecordKind::Delete, None),
            ("c", RecordKind::Put, Some("")),
            ("d", RecordKind::Put, Some("four")),
        ]);
        let Visible::Pairs(pairs) = Pairs::visible(rows).unwrap() else { panic!("nothing lies elsewhere") };
        let mut listed = Pairs::from(pairs.clone().into_list());
        let mut packed = pairs;
        let expected = [("a", "one"), ("c", ""), ("d", "four")].map(|(a, b)| (a.to_string(), b.to_string()));
        for pairs in [&mut packed, &mut listed] {
            assert_eq!(shown(pairs), expected);
            assert_eq!((pairs.len(), pairs.last_key()), (3, Some(&b"d"[..])));
            pairs.truncate(2);
            assert_eq!(shown(pairs), expected[..2]);
            pairs.truncate(0);
            assert!(pairs.is_empty() && pairs.last_key().is_none());
        }
    }

    #[test]
    fn values_that_lie_elsewhere_and_damage_are_seen() {
        let rows = packed(&[("a", RecordKind::Put, Some("one")), ("b", RecordKind::Put, None)]);
        let Visible::Rows(rows) = Pairs::visible(rows).unwrap() else { panic!("one lies elsewhere") };
        assert_eq!(rows.len(), 2);
        let mut damaged = PackedRows::default();
        damaged.push(|_| true, Timestamp(5), b"U");
        assert!(Pairs::visible(damaged).is_err());
    }
}
