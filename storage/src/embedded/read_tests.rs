//! Tests of reads of many keys at a time.

use super::tests::{open, small};
use super::*;
use futures::executor::block_on;

#[test]
fn many_keys_are_found_where_few_or_none_of_their_rows_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let key = |number: u32| Bytes::from([&b"t\0\0\0\x01\0\0\0\x01"[..], &number.to_be_bytes()].concat());
    let keys: Vec<Bytes> = (1000..2000).map(key).collect();
    let write = |number: u32, timestamp| {
        let value = Bytes::from(number.to_string());
        let set = Mutation::Set { family: Family::Write, timestamp: Timestamp(timestamp), value };
        block_on(store.mutate_rows(vec![RowMutation { key: key(number), mutations: vec![set] }])).unwrap();
    };
    let found = |keys: &[Bytes], at| {
        let filter = ReadFilter::new().with(Family::Write, crate::TimestampRange::up_to(Timestamp(at)), 1);
        let rows = block_on(store.read(keys, &filter)).unwrap();
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    // A row as close to the others as possible.
    write(999, 5);
    write(2000, 5);
    for flushed in [false, true] {
        if flushed {
            store.flush().unwrap();
        }
        assert_eq!(found(&keys, 10), Vec::<Bytes>::new());
        assert_eq!(found(&(999..2000).map(key).collect::<Vec<_>>(), 10), [key(999)]);
        assert_eq!(found(&(1000..2001).map(key).collect::<Vec<_>>(), 10), [key(2000)]);
    }
    write(1500, 20);
    assert_eq!(found(&keys, 10), Vec::<Bytes>::new());
    assert_eq!(found(&keys, 20), [key(1500)]);
    write(1000, 20);
    write(1999, 20);
    assert_eq!(found(&keys, 20), [1000, 1500, 1999].map(key));
    let backwards: Vec<Bytes> = keys.iter().rev().cloned().collect();
    assert_eq!(found(&backwards, 20), [1999, 1500, 1000].map(key));
}
