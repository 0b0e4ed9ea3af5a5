//! [`VersionTable`]: the part of a transaction's buffer that is in memory: each key's versions, in key order. Must not know which
//! versions count.
//!
//! Rows of a load mostly arrive in the order of their keys. Such keys are appended to a list, which costs no search, no
//! allocation and no balancing; all others go to a tree.

use crate::buffer::Version;
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;
use storage::RowRange;

/// Most keys are written once.
pub(crate) type Versions = SmallVec<[Version; 1]>;

/// Keys in a piece of the list: what has been appended is not moved when more comes.
const PIECE: usize = 1024;

/// See the head of the module. Invariant: a key is in the list or in the tree, never in both.
#[derive(Default)]
pub(crate) struct VersionTable {
    /// Ascending, within pieces and from piece to piece; no piece is empty.
    list: Vec<Vec<(Bytes, Versions)>>,
    tree: BTreeMap<Bytes, Versions>,
    len: usize,
}

impl VersionTable {
    /// Keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = VersionTable::default();
    }

    /// The versions of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&[Version]> {
        if self.is_behind_list(key) {
            return self.tree.get(key).map(SmallVec::as_slice);
        }
        let (piece, at) = self.place(key);
        match self.list.get(piece).and_then(|piece| piece.get(at)) {
            Some((found, versions)) if found == key => Some(versions),
            _ => self.tree.get(key).map(SmallVec::as_slice),
        }
    }

    /// The versions of a key, which is added when it is not there.
    pub(crate) fn versions_of(&mut self, key: Bytes) -> &mut Versions {
        if self.is_behind_list(&key) {
            if self.tree.last_key_value().is_none_or(|(last, _)| *last < key) {
                return self.append(key);
            }
        } else {
            let (piece, at) = self.place(&key);
            let there = |place: &(Bytes, Versions)| place.0 == key;
            if self.list.get(piece).and_then(|piece| piece.get(at)).is_some_and(there)
                && let Some((_, versions)) = self.list.get_mut(piece).and_then(|piece| piece.get_mut(at))
            {
                return versions;
            }
        }
        let len = &mut self.len;
        self.tree.entry(key).or_insert_with(|| {
            *len += 1;
            Versions::new()
        })
    }

    fn append(&mut self, key: Bytes) -> &mut Versions {
        self.len += 1;
        // A transaction of a few rows should not pay for a load.
        let room = if self.list.is_empty() { 4 } else { PIECE };
        let piece = match self.list.pop_if(|piece| piece.len() < PIECE) {
            Some(piece) => piece,
            None => Vec::with_capacity(room),
        };
        &mut self.list.push_mut(piece).push_mut((key, Versions::new())).1
    }

    /// Keeps the keys that `keep` says; it may change their versions.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Bytes, &mut Versions) -> bool) {
        for piece in &mut self.list {
            piece.retain_mut(|(key, versions)| keep(key, versions));
        }
        self.list.retain(|piece| !piece.is_empty());
        self.tree.retain(keep);
        self.len = self.list.iter().map(Vec::len).sum::<usize>() + self.tree.len();
    }

    /// Whether a key is greater than all in the list.
    fn is_behind_list(&self, key: &[u8]) -> bool {
        self.list.last().and_then(|piece| piece.last()).is_none_or(|(last, _)| &last[..] < key)
    }

    /// Where in the list a key is, or would be: a piece and a position in it.
    fn place(&self, key: &[u8]) -> (usize, usize) {
        let first = |piece: &Vec<(Bytes, Versions)>| piece.first().is_some_and(|(first, _)| &first[..] <= key);
        let piece = self.list.partition_point(first).saturating_sub(1);
        let at = self.list.get(piece).map_or(0, |piece| piece.partition_point(|(other, _)| &other[..] < key));
        (piece, at)
    }

    /// Keys in a range, which is not empty, with their versions, ascending.
    pub(crate) fn range<'a>(&'a self, range: &RowRange) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        Merged { one: self.listed(range).peekable(), other: self.in_tree(range).peekable(), reverse: false }
    }

    /// The same, descending.
    pub(crate) fn range_reverse<'a>(&'a self, range: &RowRange) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        Merged { one: self.listed(range).rev().peekable(), other: self.in_tree(range).rev().peekable(), reverse: true }
    }

    /// All keys with their versions, ascending.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        Counted { entries: self.range(&RowRange { start: Bytes::new(), end: None }), left: self.len }
    }

    fn listed<'a>(&'a self, range: &RowRange) -> impl DoubleEndedIterator<Item = Entry<'a>> + use<'a> {
        let from = self.place(&range.start);
        let to = match &range.end {
            Some(end) => self.place(end),
            None => (self.list.len(), 0),
        };
        let part = move |number: usize| {
            let piece = self.list.get(number).map(Vec::as_slice).unwrap_or_default();
            let start = if number == from.0 { from.1 } else { 0 };
            let end = if number == to.0 { to.1 } else { piece.len() };
            piece.get(start..end).unwrap_or_default()
        };
        (from.0..=to.0).flat_map(part).map(|(key, versions)| (key, versions.as_slice()))
    }

    fn in_tree<'a>(&'a self, range: &RowRange) -> impl DoubleEndedIterator<Item = Entry<'a>> + use<'a> {
        let end = range.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..]));
        let entries = self.tree.range::<[u8], _>((Bound::Included(&range.start[..]), end));
        entries.map(|(key, versions)| (key, versions.as_slice()))
    }
}

/// A key and its versions.
pub(crate) type Entry<'a> = (&'a Bytes, &'a [Version]);

/// Two ordered sources, of different keys, as one.
struct Merged<A: Iterator, B: Iterator> {
    one: Peekable<A>,
    other: Peekable<B>,
    reverse: bool,
}

impl<'a, A: Iterator<Item = Entry<'a>>, B: Iterator<Item = Entry<'a>>> Iterator for Merged<A, B> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let first = match (self.one.peek(), self.other.peek()) {
            (Some((one, _)), Some((other, _))) => (one < other) != self.reverse,
            (one, _) => one.is_some(),
        };
        if first { self.one.next() } else { self.other.next() }
    }
}

/// An iterator whose length is known.
struct Counted<I> {
    entries: I,
    left: usize,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.saturating_sub(1);
        self.entries.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::lock::LockStrength;
    use crate::transaction::WriteKind;

    fn key(number: u32) -> Bytes {
        Bytes::from(format!("k{number:06}"))
    }

    fn version(command: u32) -> Version {
        Version { command, strength: LockStrength::Update, kind: WriteKind::Delete }
    }

    /// Beside a plain tree, with keys in several orders.
    #[test]
    fn it_is_an_ordered_map_whatever_the_order_of_keys() {
        let orders: [fn(u32) -> u32; 4] = [
            |number| number,
            |number| number.wrapping_mul(2_654_435_761) % 5000,
            |number| if number % 3000 < 2500 { number } else { number / 2 },
            |number| 10_000 - number,
        ];
        for order in orders {
            let mut table = VersionTable::default();
            let mut model: BTreeMap<Bytes, Vec<u32>> = BTreeMap::new();
            for number in 0..5000 {
                table.versions_of(key(order(number))).push(version(number));
                model.entry(key(order(number))).or_default().push(number);
            }
            let check = |table: &VersionTable, model: &BTreeMap<Bytes, Vec<u32>>| {
                let shown = |(key, versions): Entry<'_>| {
                    (key.clone(), versions.iter().map(|version| version.command).collect::<Vec<_>>())
                };
                assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(table.iter().len(), model.len());
                assert!(
                    table.iter().map(shown).eq(model.iter().map(|(key, versions)| (key.clone(), versions.clone())))
                );
                for (from, to) in
                    [(0, 0), (0, 20_000), (1, 1024), (1024, 1025), (1023, 4097), (2500, 2501), (9000, 9999)]
                {
                    let range = RowRange { start: key(from), end: Some(key(to)) };
                    let wanted: Vec<_> =
                        model.iter().filter(|(key, _)| range.contains(key)).map(|(key, _)| key).collect();
                    assert!(table.range(&range).map(|(key, _)| key).eq(wanted.iter().copied()), "{from} {to}");
                    assert!(table.range_reverse(&range).map(|(key, _)| key).eq(wanted.iter().rev().copied()));
                    let at = key(from);
                    assert_eq!(table.get(&at).map(<[Version]>::len), model.get(&at).map(Vec::len));
                }
            };
            check(&table, &model);
            table.retain(|key, versions| {
                versions.retain(|version| version.command % 3 == 0);
                !versions.is_empty() && key[key.len() - 1] != b'7'
            });
            model.retain(|key, versions| {
                versions.retain(|command| command % 3 == 0);
                !versions.is_empty() && key[key.len() - 1] != b'7'
            });
            check(&table, &model);
            for number in 0..5000 {
                table.versions_of(key(number)).push(version(number));
                model.entry(key(number)).or_default().push(number);
            }
            check(&table, &model);
            table.clear();
            check(&table, &BTreeMap::new());
        }
    }
}
