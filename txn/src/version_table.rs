//! [`VersionTable`]: the part of a transaction's buffer in memory: the versions of each key, in key order.
//!
//! The rows of a load mostly arrive in key order. Such keys are appended to a list, which needs no search and no
//! balancing. Whole batches are kept packed ([`Packed`]). All other keys go to a tree.

use crate::buffer::Version;
use crate::put_batch::Puts;
use crate::transaction::CommandNumber;
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;
use storage::RowRange;

/// Most keys are written once, which needs no allocation.
pub(crate) type Versions = SmallVec<[Version; 1]>;

/// Keys in a piece of the list. Appending never moves the keys of earlier pieces.
const PIECE: usize = 1024;

/// The fewest rows that are inserted packed between others. For fewer rows, moving the pieces behind them costs more
/// than inserting them into the tree.
const MANY: usize = 256;

/// Rows that one command put. Each has one version.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) puts: Puts,
    pub(crate) command: CommandNumber,
}

impl Packed {
    fn version(&self, at: usize) -> Version {
        Version { command: self.command, strength: self.puts.strength(), kind: self.puts.kind(at) }
    }
}

/// A part of the list, with ascending keys. Invariant: the keys are loose or packed, never both.
#[derive(Default)]
struct Piece {
    loose: Vec<(Bytes, Versions)>,
    packed: Option<Packed>,
}

impl Piece {
    fn with_capacity(keys: usize) -> Piece {
        Piece { loose: Vec::with_capacity(keys), packed: None }
    }

    fn has_room(&self) -> bool {
        self.packed.is_none() && self.loose.len() < PIECE
    }

    fn packed_len(&self) -> usize {
        self.packed.as_ref().map_or(0, |packed| packed.puts.len())
    }

    fn len(&self) -> usize {
        self.loose.len() + self.packed_len()
    }

    fn key(&self, at: usize) -> Option<&[u8]> {
        match &self.packed {
            Some(packed) => packed.puts.keys().get(at),
            None => self.loose.get(at).map(|(key, _)| &key[..]),
        }
    }

    fn last_key(&self) -> Option<&[u8]> {
        self.key(self.len().checked_sub(1)?)
    }

    /// The number of keys less than `key`.
    fn before(&self, key: &[u8]) -> usize {
        match &self.packed {
            Some(packed) => packed.puts.keys().before(key),
            None => self.loose.partition_point(|(other, _)| &other[..] < key),
        }
    }

    fn entry(&self, at: usize) -> Option<Entry<'_>> {
        match &self.packed {
            Some(packed) => packed.puts.keys().get(at).map(|key| Entry::Packed(key, packed, at)),
            None => self.loose.get(at).map(|(key, versions)| Entry::Loose(key, versions)),
        }
    }

    /// The keys with their versions, loose from now on, so that they can be changed.
    fn loosened(&mut self) -> &mut Vec<(Bytes, Versions)> {
        if let Some(packed) = self.packed.take() {
            let row = |at| Some((packed.puts.keys().share(at)?, Versions::from_iter([packed.version(at)])));
            self.loose = (0..packed.puts.len()).filter_map(row).collect();
        }
        &mut self.loose
    }
}

/// A key and its versions.
#[derive(Clone, Copy)]
pub(crate) enum Entry<'a> {
    Loose(&'a Bytes, &'a [Version]),
    /// The packed row at this position.
    Packed(&'a [u8], &'a Packed, usize),
}

impl<'a> Entry<'a> {
    pub(crate) fn key(&self) -> &'a [u8] {
        match *self {
            Entry::Loose(key, _) => key,
            Entry::Packed(key, ..) => key,
        }
    }

    /// The key, for storing it.
    pub(crate) fn to_key(self) -> Bytes {
        match self {
            Entry::Loose(key, _) => key.clone(),
            Entry::Packed(_, packed, at) => packed.puts.keys().share(at).unwrap_or_default(),
        }
    }

    /// Calls `show` with the versions.
    pub(crate) fn with_versions<T>(self, show: impl FnOnce(&[Version]) -> T) -> T {
        match self {
            Entry::Loose(_, versions) => show(versions),
            Entry::Packed(_, packed, at) => show(&[packed.version(at)]),
        }
    }
}

/// The versions of each key. Invariant: a key is in the list or in the tree, never in both.
#[derive(Default)]
pub(crate) struct VersionTable {
    /// Keys ascend within pieces and from piece to piece. No piece is empty.
    list: Vec<Piece>,
    tree: BTreeMap<Bytes, Versions>,
    len: usize,
    packed: usize,
}

impl VersionTable {
    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of packed rows among the keys.
    pub(crate) fn packed(&self) -> usize {
        self.packed
    }

    /// Whether there is no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn clear(&mut self) {
        *self = VersionTable::default();
    }

    /// The entry of a key.
    pub(crate) fn get<'a>(&'a self, key: &[u8]) -> Option<Entry<'a>> {
        if !self.is_behind_list(key) {
            let (piece, at) = self.place(key);
            let found = self.list.get(piece).and_then(|piece| piece.entry(at));
            if let Some(entry) = found.filter(|entry| entry.key() == key) {
                return Some(entry);
            }
        }
        self.tree.get_key_value(key).map(|(key, versions)| Entry::Loose(key, versions))
    }

    /// The versions of a key, which is added if it is absent.
    pub(crate) fn versions_of(&mut self, key: Bytes) -> &mut Versions {
        if self.is_behind_list(&key) {
            if self.is_behind_tree(&key) {
                return self.append(key);
            }
        } else {
            let (piece, at) = self.place(&key);
            if self.list.get(piece).and_then(|piece| piece.key(at)).is_some_and(|there| *there == key)
                && let Some(piece) = self.list.get_mut(piece)
            {
                self.packed -= piece.packed_len();
                if let Some((_, versions)) = piece.loosened().get_mut(at) {
                    return versions;
                }
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
        // A transaction of a few rows should not reserve memory for a load.
        let room = if self.list.is_empty() { 4 } else { PIECE };
        let piece = self.list.pop_if(|piece| piece.has_room()).unwrap_or_else(|| Piece::with_capacity(room));
        &mut self.list.push_mut(piece).loose.push_mut((key, Versions::new())).1
    }

    /// Adds packed rows behind all keys. Many rows may also be added where no other key is among them. Errors: other
    /// keys are among them, or they are few and belong before others.
    pub(crate) fn add_packed(&mut self, packed: Packed) -> Result<(), Box<Packed>> {
        let keys = packed.puts.keys();
        let Some((first, last)) = keys.get(0).zip(keys.iter().next_back()) else { return Ok(()) };
        let Some(number) = self.gap(first, last, keys.len()) else { return Err(Box::new(packed)) };
        self.len += packed.puts.len();
        self.packed += packed.puts.len();
        self.list.insert(number, Piece { packed: Some(packed), ..Piece::default() });
        Ok(())
    }

    /// The index of the piece before which `keys` keys with these ends belong. `None` if another key is among them,
    /// or if moving the later pieces costs too much.
    fn gap(&self, first: &[u8], last: &[u8], keys: usize) -> Option<usize> {
        if self.is_behind_list(first) && self.is_behind_tree(first) {
            return Some(self.list.len());
        }
        let number = self.list.partition_point(|piece| piece.key(0).is_some_and(|begin| begin <= first));
        let before = number.checked_sub(1).and_then(|before| self.list.get(before)).and_then(Piece::last_key);
        let behind = self.list.get(number).and_then(|piece| piece.key(0));
        let among = (Bound::Included(first), Bound::Included(last));
        let free = before.is_none_or(|before| before < first)
            && behind.is_none_or(|behind| last < behind)
            && self.tree.range::<[u8], _>(among).next().is_none();
        (free && keys >= MANY).then_some(number)
    }

    /// The packed rows that begin with the first key at or behind `from`, if no other key is among them,
    /// and the next key.
    pub(crate) fn packed_from(&self, from: &[u8]) -> Option<(&Packed, Option<Bytes>)> {
        let (mut number, mut at) = self.place(from);
        if self.list.get(number).is_some_and(|piece| at == piece.len()) {
            (number, at) = (number + 1, 0);
        }
        let packed = self.list.get(number).filter(|_| at == 0)?.packed.as_ref()?;
        let last = packed.puts.keys().iter().next_back()?;
        let in_tree = self.tree.range::<[u8], _>((Bound::Included(from), Bound::Unbounded)).next().map(|(key, _)| key);
        if in_tree.is_some_and(|key| &key[..] <= last) {
            return None;
        }
        let in_list = self.list.get(number + 1).and_then(|piece| piece.entry(0)).map(Entry::to_key);
        let next = [in_tree.cloned(), in_list].into_iter().flatten().min();
        Some((packed, next))
    }

    /// Keeps the keys that `keep` accepts, whose versions it may change, and the packed
    /// rows that `keep_packed` accepts.
    pub(crate) fn retain(
        &mut self,
        mut keep: impl FnMut(&Bytes, &mut Versions) -> bool,
        mut keep_packed: impl FnMut(&Packed) -> bool,
    ) {
        self.list.retain_mut(|piece| match &piece.packed {
            Some(packed) => keep_packed(packed),
            None => {
                piece.loose.retain_mut(|(key, versions)| keep(key, versions));
                !piece.loose.is_empty()
            }
        });
        self.tree.retain(keep);
        self.len = self.list.iter().map(Piece::len).sum::<usize>() + self.tree.len();
        self.packed = self.list.iter().map(Piece::packed_len).sum();
    }

    /// Whether a key is greater than all in the list.
    fn is_behind_list(&self, key: &[u8]) -> bool {
        self.list.last().and_then(Piece::last_key).is_none_or(|last| last < key)
    }

    /// Whether a key is greater than all in the tree.
    fn is_behind_tree(&self, key: &[u8]) -> bool {
        self.tree.last_key_value().is_none_or(|(last, _)| &last[..] < key)
    }

    /// The place of a key in the list, or where it would be inserted: a piece, and an index in it.
    fn place(&self, key: &[u8]) -> (usize, usize) {
        let begins = |piece: &Piece| piece.key(0).is_some_and(|first| first <= key);
        let piece = self.list.partition_point(begins).saturating_sub(1);
        (piece, self.list.get(piece).map_or(0, |piece| piece.before(key)))
    }

    /// The entries in a range, which is not empty, in ascending order.
    pub(crate) fn range<'a>(&'a self, range: &RowRange) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        Merged { one: self.listed(range).peekable(), other: self.in_tree(range).peekable(), reverse: false }
    }

    /// The entries in a range, which is not empty, in descending order.
    pub(crate) fn range_reverse<'a>(&'a self, range: &RowRange) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        Merged { one: self.listed(range).rev().peekable(), other: self.in_tree(range).rev().peekable(), reverse: true }
    }

    /// All entries in ascending order.
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
            let piece = self.list.get(number);
            let start = if number == from.0 { from.1 } else { 0 };
            let end = if number == to.0 { to.1 } else { piece.map_or(0, Piece::len) };
            (start..end).filter_map(move |at| piece?.entry(at))
        };
        (from.0..=to.0).flat_map(part)
    }

    fn in_tree<'a>(&'a self, range: &RowRange) -> impl DoubleEndedIterator<Item = Entry<'a>> + use<'a> {
        let end = range.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..]));
        let entries = self.tree.range::<[u8], _>((Bound::Included(&range.start[..]), end));
        entries.map(|(key, versions)| Entry::Loose(key, versions))
    }
}

/// Merges two ordered sources with different keys.
struct Merged<A: Iterator, B: Iterator> {
    one: Peekable<A>,
    other: Peekable<B>,
    reverse: bool,
}

impl<'a, A: Iterator<Item = Entry<'a>>, B: Iterator<Item = Entry<'a>>> Iterator for Merged<A, B> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let first = match (self.one.peek(), self.other.peek()) {
            (Some(one), Some(other)) => (one.key() < other.key()) != self.reverse,
            (one, _) => one.is_some(),
        };
        if first { self.one.next() } else { self.other.next() }
    }
}

/// An iterator of known length.
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
    use storage::Strings;

    fn key(number: u32) -> Bytes {
        Bytes::from(format!("k{number:06}"))
    }

    fn version(command: u32) -> Version {
        Version { command, strength: LockStrength::Update, kind: WriteKind::Delete }
    }

    type Model = BTreeMap<Bytes, Vec<u32>>;

    fn write(table: &mut VersionTable, model: &mut Model, number: u32, command: u32) {
        table.versions_of(key(number)).push(version(command));
        model.entry(key(number)).or_default().push(command);
    }

    fn pack(numbers: std::ops::Range<u32>, command: u32) -> Packed {
        let keys: Vec<Bytes> = numbers.clone().map(key).collect();
        let ends = |length: usize| (1..=keys.len()).map(|at| at * length).collect::<Vec<_>>();
        let strings = |bytes: Vec<u8>, length| Strings::new(bytes.into(), &ends(length)).unwrap();
        let (keys, values) = (strings(keys.concat(), 7), strings(vec![b'v'; keys.len()], 1));
        Packed { puts: Puts::new(keys, values, LockStrength::Update).unwrap(), command }
    }

    /// Compares every query of the table with the model.
    fn check(table: &VersionTable, model: &Model) {
        let commands = |versions: &[Version]| versions.iter().map(|version| version.command).collect::<Vec<_>>();
        let shown = |entry: Entry<'_>| (entry.to_key(), entry.with_versions(commands));
        let copied = |(key, versions): (&Bytes, &Vec<u32>)| (key.clone(), versions.clone());
        assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
        assert_eq!(table.iter().len(), model.len());
        assert!(table.iter().map(shown).eq(model.iter().map(copied)));
        for (from, to) in [(0, 0), (0, 20_000), (1, 1024), (1024, 1025), (1023, 4097), (2500, 2501), (9000, 9999)] {
            let range = RowRange { start: key(from), end: Some(key(to)) };
            let wanted: Vec<_> = model.iter().filter(|(key, _)| range.contains(key)).map(|(key, _)| key).collect();
            assert!(table.range(&range).map(|entry| entry.key()).eq(wanted.iter().copied()), "{from} {to}");
            assert!(table.range_reverse(&range).map(|entry| entry.key()).eq(wanted.iter().rev().copied()));
            assert_eq!(table.get(&key(from)).map(shown), model.get_key_value(&key(from)).map(copied));
        }
    }

    fn keep_some(table: &mut VersionTable, model: &mut Model) {
        let keep = |command: u32| command.is_multiple_of(3);
        let counts = |key: &[u8]| key[key.len() - 1] != b'7';
        table.retain(
            |key, versions| {
                versions.retain(|version| keep(version.command));
                !versions.is_empty() && counts(key)
            },
            |packed| keep(packed.command),
        );
        model.retain(|key, versions| {
            let packed = versions == &[PACKED_ONLY];
            versions.retain(|command| keep(*command));
            !versions.is_empty() && (packed || counts(key))
        });
    }

    /// A command whose rows stay packed, because nothing else is written to them.
    const PACKED_ONLY: u32 = 9999;

    /// Compares the table with a plain tree, with keys in several orders.
    #[test]
    fn it_is_an_ordered_map_whatever_the_order_of_keys() {
        let orders: [fn(u32) -> u32; 4] = [
            |number| number,
            |number| number.wrapping_mul(2_654_435_761) % 5000,
            |number| if number % 3000 < 2500 { number } else { number / 2 },
            |number| 10_000 - number,
        ];
        for order in orders {
            let (mut table, mut model) = (VersionTable::default(), Model::default());
            for number in 0..5000 {
                write(&mut table, &mut model, order(number), number);
            }
            check(&table, &model);
            keep_some(&mut table, &mut model);
            check(&table, &model);
            for number in 0..5000 {
                write(&mut table, &mut model, number, number);
            }
            check(&table, &model);
            table.clear();
            check(&table, &Model::default());
        }
    }

    #[test]
    fn packed_rows_are_rows_like_others() {
        let (mut table, mut model) = (VersionTable::default(), Model::default());
        write(&mut table, &mut model, 5, 1);
        for (number, numbers) in [10..400, 1000..1001, 1001..1500, 3000..5000, 9000..9500].into_iter().enumerate() {
            let command = if number == 4 { PACKED_ONLY } else { number as u32 };
            table.add_packed(pack(numbers.clone(), command)).unwrap();
            model.extend(numbers.map(|number| (key(number), vec![command])));
            check(&table, &model);
        }
        let packed = |table: &VersionTable, from| {
            let (packed, next) = table.packed_from(&key(from))?;
            Some((packed.puts.len(), next))
        };
        assert_eq!([0, 5, 11, 3001, 9001].map(|from| packed(&table, from)), [(); 5].map(|()| None));
        assert_eq!([6, 10].map(|from| packed(&table, from)), [(); 2].map(|()| Some((390, Some(key(1000))))));
        assert_eq!(packed(&table, 400), Some((1, Some(key(1001)))));
        assert_eq!(packed(&table, 8000), Some((500, None)));
        assert_eq!(packed(&table, 9500), None);
        assert_eq!(table.packed(), table.len() - 1);
        table.add_packed(pack(0..0, 1)).unwrap();
        for early in [5..7, 9499..9600, 0..10_000] {
            assert_eq!(table.add_packed(pack(early, 1)).unwrap_err().command, 1);
        }
        // Many rows are inserted packed where no key is among them.
        write(&mut table, &mut model, 2500, 2);
        for few_or_not_alone in [1600..1855, 1400..1700, 2900..3001, 2300..2600, 2245..2501, 0..300] {
            assert!(table.add_packed(pack(few_or_not_alone, 1)).is_err());
        }
        for numbers in [2501..2800, 1600..1900, 410..999] {
            table.add_packed(pack(numbers.clone(), PACKED_ONLY)).unwrap();
            model.extend(numbers.map(|number| (key(number), vec![PACKED_ONLY])));
            check(&table, &model);
        }
        assert_eq!(packed(&table, 2501), Some((299, Some(key(3000)))));
        assert_eq!([1600, 410].map(|from| packed(&table, from).map(|(rows, _)| rows)), [Some(300), Some(589)]);
        assert_eq!((packed(&table, 1900), packed(&table, 1600).unwrap().1), (None, Some(key(2500))));
        // Between packed rows, at one of them, and behind them.
        for (number, command) in [(405, 20), (1200, 21), (1200, 22), (10, 24), (4999, 27), (9700, 30)] {
            write(&mut table, &mut model, number, command);
            check(&table, &model);
        }
        assert_eq!(table.packed(), 1 + 500 + 299 + 300 + 589);
        // Tree keys before the packed rows come first.
        assert_eq!([400, 406, 5000].map(|from| packed(&table, from).is_some()), [false, true, true]);
        assert_eq!(packed(&table, 5000), Some((500, Some(key(9700)))));
        // Behind the list, but not behind the tree.
        write(&mut table, &mut model, 9600, 30);
        assert!(table.add_packed(pack(9650..9651, 1)).is_err());
        keep_some(&mut table, &mut model);
        check(&table, &model);
        assert_eq!(table.packed(), 500 + 299 + 300 + 589);
    }
}
