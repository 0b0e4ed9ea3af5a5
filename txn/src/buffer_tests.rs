//! Tests of the buffer. Each runs in memory, and with a limit so small that every write spills. The results
//! must be the same.

use super::*;
use proptest::prelude::*;
use storage::Strings;

fn both(test: impl Fn(Buffer)) {
    let folder = tempfile::tempdir().unwrap();
    test(Buffer::new(usize::MAX, None));
    test(Buffer::new(0, Some(folder.path().into())));
    test(Buffer::new(400, Some(folder.path().into())));
}

fn put(key: &str, value: &str) -> Write {
    Write {
        key: Bytes::copy_from_slice(key.as_bytes()),
        kind: WriteKind::Put(Bytes::copy_from_slice(value.as_bytes())),
        strength: LockStrength::Update,
    }
}

fn other(key: &str, kind: WriteKind, strength: LockStrength) -> Write {
    Write { key: Bytes::copy_from_slice(key.as_bytes()), kind, strength }
}

fn value(buffer: &Buffer, key: &str, own: OwnWrites) -> Option<Option<String>> {
    let found = buffer.get(key.as_bytes(), own).unwrap();
    found.map(|value| value.map(|value| String::from_utf8(value.to_vec()).unwrap()))
}

#[test]
fn a_statement_reads_earlier_commands_only() {
    both(|mut buffer| {
        buffer.write(1, put("a", "one")).unwrap();
        buffer.write(2, put("a", "two")).unwrap();
        buffer.write(3, other("a", WriteKind::Delete, LockStrength::Update)).unwrap();
        assert_eq!(value(&buffer, "a", OwnWrites::Before(1)), None);
        assert_eq!(value(&buffer, "a", OwnWrites::Before(2)), Some(Some("one".into())));
        assert_eq!(value(&buffer, "a", OwnWrites::Before(3)), Some(Some("two".into())));
        assert_eq!(value(&buffer, "a", OwnWrites::All), Some(None));
    });
}

#[test]
fn rollback_to_drops_later_commands() {
    both(|mut buffer| {
        buffer.write(1, put("a", "one")).unwrap();
        buffer.write(2, put("a", "two")).unwrap();
        buffer.write(2, put("b", "two")).unwrap();
        buffer.rollback_to(2, 2);
        assert_eq!(value(&buffer, "a", OwnWrites::All), Some(Some("one".into())));
        assert_eq!(value(&buffer, "b", OwnWrites::All), None);
        buffer.write(3, put("b", "three")).unwrap();
        assert_eq!(value(&buffer, "b", OwnWrites::All), Some(Some("three".into())));
        let (writes, next) = buffer.final_writes(&Bytes::new(), 100, 1 << 20).unwrap();
        assert_eq!((writes.len(), next), (2, None));
    });
}

#[test]
fn changes_come_in_order_both_ways_and_in_chunks() {
    both(|mut buffer| {
        for i in (0..50).rev() {
            buffer.write(1, put(&format!("k{i:02}"), &format!("{i}"))).unwrap();
        }
        buffer.write(2, other("k10", WriteKind::Delete, LockStrength::Update)).unwrap();
        buffer.write(2, put("k11", "eleven")).unwrap();
        for reverse in [false, true] {
            let mut range = RowRange { start: Bytes::from_static(b"k05"), end: Some(Bytes::from_static(b"k45")) };
            let mut seen = Vec::new();
            loop {
                let (chunk, complete) = buffer.changes(&range, reverse, OwnWrites::All, 7).unwrap();
                let Some(last) = chunk.last().map(|change| change.0.clone()) else { break };
                seen.extend(chunk);
                if complete {
                    break;
                }
                if reverse {
                    range.end = Some(last);
                } else {
                    range.start = [&last[..], &[0]].concat().into();
                }
            }
            if reverse {
                seen.reverse();
            }
            let keys: Vec<_> = (5..45).map(|i| format!("k{i:02}")).collect();
            assert_eq!(seen.iter().map(|change| String::from_utf8_lossy(&change.0)).collect::<Vec<_>>(), keys);
            assert_eq!(seen[5].1, None);
            assert_eq!(seen[6].1.as_deref(), Some(&b"eleven"[..]));
        }
    });
}

#[test]
fn final_writes_combine_the_versions_of_a_key() {
    both(|mut buffer| {
        buffer.write(1, other("a", WriteKind::Lock, LockStrength::KeyShare)).unwrap();
        buffer.write(2, other("a", WriteKind::Put(Bytes::new()), LockStrength::NoKeyUpdate)).unwrap();
        buffer.write(1, put("b", "x")).unwrap();
        buffer.write(2, other("b", WriteKind::Delete, LockStrength::Update)).unwrap();
        buffer.write(1, other("c", WriteKind::Delete, LockStrength::Update)).unwrap();
        buffer.write(2, other("c", WriteKind::Put(Bytes::new()), LockStrength::Update)).unwrap();
        buffer.write(1, other("d", WriteKind::Lock, LockStrength::Share)).unwrap();
        buffer.write(1, other("d", WriteKind::Lock, LockStrength::KeyShare)).unwrap();
        let (writes, _) = buffer.final_writes(&Bytes::new(), 100, 1 << 20).unwrap();
        let shown: Vec<_> = writes.iter().map(|w| (&w.kind, w.strength, w.put_then_deleted)).collect();
        let empty = WriteKind::Put(Bytes::new());
        assert_eq!(
            shown,
            [
                (&empty, LockStrength::NoKeyUpdate, false),
                (&WriteKind::Delete, LockStrength::Update, true),
                (&empty, LockStrength::Update, false),
                (&WriteKind::Lock, LockStrength::Share, false),
            ]
        );
    });
}

#[test]
fn a_large_buffer_stays_below_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut buffer = Buffer::new(256 * 1024, Some(folder.path().into()));
    for i in 0..20_000u32 {
        buffer.write(1, put(&format!("k{:08}", i.wrapping_mul(2_654_435_761)), "0123456789")).unwrap();
        assert!(buffer.memory_bytes < 512 * 1024);
    }
    assert!(buffer.spilled());
    let mut from = Bytes::new();
    let mut count = 0;
    let mut last = Bytes::new();
    loop {
        let (writes, next) = buffer.final_writes(&from, 1000, 1 << 20).unwrap();
        for write in writes {
            assert!(write.key > last);
            last = write.key;
            count += 1;
        }
        match next {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(count, 20_000);
}

#[test]
fn buffers_that_hold_too_much_together_spill() {
    let folder = tempfile::tempdir().unwrap();
    let all = BufferMemory::new(3 << 20);
    let new = || Buffer::new(usize::MAX, Some(folder.path().into())).counted(&all);
    // A few megabytes.
    let fill = |buffer: &mut Buffer| {
        for i in 0..30_000u32 {
            buffer.write(1, put(&format!("k{i:08}"), "0123456789")).unwrap();
        }
    };
    let (mut idle, mut growing) = (new(), new());
    fill(&mut idle);
    assert!(idle.spilled() && all.used() <= 3 << 20, "{}", all.used());
    let held = all.used();
    fill(&mut growing);
    assert!(growing.spilled() && all.used() <= 4 << 20, "{}", all.used());
    drop(growing);
    assert_eq!(all.used(), held);
    idle.rollback_to(0, 9);
    assert!(all.used() < 64 << 10, "{}", all.used());
    // A small buffer stays in memory, whatever the others hold.
    let mut small = new();
    all.add_for_test(4 << 20);
    small.write(1, put("a", "b")).unwrap();
    assert!(!small.spilled());
}

/// A put of rows, or another change to them.
#[derive(Clone, Debug)]
enum Step {
    /// Puts a number of rows from a start key on, at equal distances.
    Put {
        from: u8,
        rows: u8,
        apart: u8,
    },
    Write(u8),
    Delete(u8),
    Lock(u8),
    RollBack(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u8..200, 1u8..30, 1u8..4).prop_map(|(from, rows, apart)| Step::Put { from, rows, apart }),
        2 => (0u8..250).prop_map(Step::Write),
        1 => (0u8..250).prop_map(Step::Delete),
        1 => (0u8..250).prop_map(Step::Lock),
        1 => (1u32..20).prop_map(Step::RollBack),
    ]
}

/// All final writes, in steps of `rows` rows.
fn all_writes(buffer: &Buffer, rows: usize) -> Vec<FinalWrite> {
    let (mut all, mut from) = (Vec::new(), Some(Bytes::new()));
    while let Some(start) = from {
        let (writes, next) = buffer.final_writes(&start, rows, 1 << 20).unwrap();
        assert!(writes.len() <= rows && next.as_ref().is_none_or(|next| *next > start && !writes.is_empty()));
        all.extend(writes);
        from = next;
    }
    all
}

proptest! {
    /// Rows that were put together equal the same rows put one by one, whatever comes before and after.
    #[test]
    fn rows_put_together_are_rows(steps in prop::collection::vec(step(), 1..20), limit in prop::sample::select(vec![usize::MAX, 3000])) {
        let folder = tempfile::tempdir().unwrap();
        let mut buffers = [(); 2].map(|()| Buffer::new(limit, Some(folder.path().into())));
        let key = |number: u8| format!("k{number:03}");
        for (command, step) in (1..).zip(&steps) {
            let [together, single] = &mut buffers;
            let mut both = |write: Write| [&mut *together, &mut *single].map(|buffer| buffer.write(command, write.clone()).unwrap());
            match step {
                Step::Write(number) => drop(both(put(&key(*number), "written"))),
                Step::Delete(number) => drop(both(other(&key(*number), WriteKind::Delete, LockStrength::Update))),
                Step::Lock(number) => drop(both(other(&key(*number), WriteKind::Lock, LockStrength::KeyShare))),
                Step::RollBack(to) => [together, single].into_iter().for_each(|buffer| buffer.rollback_to(*to, command)),
                Step::Put { from, rows, apart } => {
                    let numbers = (0..*rows).filter_map(|row| from.checked_add(row * apart));
                    let writes: Vec<Write> = numbers.map(|number| put(&key(number), &format!("{command}"))).collect();
                    let strings = |parts: Vec<Bytes>| Strings::copied(parts.iter().map(|part| &part[..])).unwrap();
                    let value = |write: &Write| match &write.kind { WriteKind::Put(value) => value.clone(), _ => Bytes::new() };
                    let (keys, values) = (writes.iter().map(|write| write.key.clone()).collect(), writes.iter().map(value).collect());
                    together.put(command, Puts::new(strings(keys), strings(values), LockStrength::Update).unwrap()).unwrap();
                    writes.into_iter().for_each(|write| single.write(command, write).unwrap());
                }
            }
            let [together, single] = &buffers;
            for rows in [5, 1000] {
                prop_assert_eq!(all_writes(together, rows), all_writes(single, rows));
            }
            for own in [OwnWrites::All, OwnWrites::Before(command / 2)] {
                for reverse in [false, true] {
                    let range = RowRange { start: key(20).into(), end: Some(key(180).into()) };
                    prop_assert_eq!(together.changes(&range, reverse, own, 40).unwrap(), single.changes(&range, reverse, own, 40).unwrap());
                }
                for number in 0..=255 {
                    let key = key(number);
                    prop_assert_eq!(together.get(key.as_bytes(), own).unwrap(), single.get(key.as_bytes(), own).unwrap());
                }
            }
            // Spilled writes are counted to the end, and the two buffers spill at different rows.
            if limit == usize::MAX {
                let counts = |buffer: &Buffer| (buffer.total_bytes(), buffer.writes(), buffer.is_empty());
                prop_assert_eq!(counts(together), counts(single));
                prop_assert_eq!(together.memory_bytes() == 0, together.is_empty());
            }
        }
    }
}
