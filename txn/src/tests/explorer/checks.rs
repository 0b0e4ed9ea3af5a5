//! The invariants of every run's history.

use super::scenarios::Record;
use crate::write::{Record as Cell, decode_record};
use crate::{TxnError, WriteKind};
use std::collections::BTreeMap;
use storage::testing::MemoryStore;
use storage::{Family, Timestamp};

/// Committed versions of each key: commit_ts to value.
pub(super) type Versions = BTreeMap<String, BTreeMap<Timestamp, Option<String>>>;

/// The committed versions in the store, once every lock is resolved.
pub(super) fn versions(memory: &MemoryStore) -> Versions {
    let mut versions = Versions::new();
    for row in memory.dump() {
        let Ok(key) = String::from_utf8(row.key.to_vec()) else { continue };
        assert!(row.newest(Family::Lock).is_none(), "a lock is left on {key}");
        for cell in row.family(Family::Write) {
            let Cell::Committed(record) = decode_record(cell).unwrap() else { panic!("a rollback in w") };
            let value = record.inlined.map(|value| String::from_utf8(value.to_vec()).unwrap());
            versions.entry(key.clone()).or_default().insert(cell.timestamp, value);
        }
    }
    versions
}

/// Checks all invariants of a run.
pub(super) fn check(records: &[Record], versions: &Versions) {
    for record in records {
        all_or_nothing(record, versions);
        acknowledged_stays_and_refused_never_happened(record, versions);
        reads_are_of_one_snapshot(record, versions);
        snapshots_see_what_was_acknowledged(record, records);
        unchanged_until_the_commit(record, versions);
        what_was_undone_never_happened(record, versions);
    }
    no_update_is_lost(records, versions);
}

/// The commit timestamp of a transaction, by its values in the store.
pub(super) fn commit_ts(record: &Record, versions: &Versions) -> Option<Timestamp> {
    let mut found = None;
    for (key, kind) in &record.writes {
        let WriteKind::Put(value) = kind else { continue };
        let mine = |(_, stored): &(&Timestamp, &Option<String>)| stored.as_deref() == std::str::from_utf8(value).ok();
        if let Some((ts, _)) = versions.get(key).and_then(|versions| versions.iter().find(mine)) {
            found = Some(*ts);
        }
    }
    found
}

fn all_or_nothing(record: &Record, versions: &Versions) {
    let Some(ts) = commit_ts(record, versions) else { return };
    for (key, kind) in &record.writes {
        let stored = versions.get(key).and_then(|versions| versions.get(&ts));
        let expected = match kind {
            WriteKind::Put(value) => Some(Some(String::from_utf8_lossy(value).into_owned())),
            WriteKind::Delete => Some(None),
            WriteKind::Lock => continue,
        };
        assert_eq!(stored.cloned(), expected, "half of a transaction: {record:?} at {ts}");
    }
}

fn acknowledged_stays_and_refused_never_happened(record: &Record, versions: &Versions) {
    let has_put = record.writes.iter().any(|(_, kind)| matches!(kind, WriteKind::Put(_)));
    let stored = commit_ts(record, versions);
    match &record.result {
        Some(Ok(ts)) if has_put => assert_eq!(stored, Some(*ts), "acknowledged, but not there: {record:?}"),
        Some(Err(TxnError::Undetermined { .. })) | None => {}
        Some(Err(_)) => assert_eq!(stored, None, "refused, but there: {record:?}"),
        Some(Ok(_)) => {}
    }
}

fn what_was_undone_never_happened(record: &Record, versions: &Versions) {
    for key in &record.undone {
        let mine = versions.get(key).into_iter().flatten().find(|(_, value)| value.as_ref() == Some(&record.name));
        assert_eq!(mine, None, "{key} was undone: {record:?}");
    }
}

fn reads_are_of_one_snapshot(record: &Record, versions: &Versions) {
    let Some(snapshot_ts) = record.snapshot_ts else { return };
    for (key, read) in &record.reads {
        let expected = versions.get(key).and_then(|versions| versions.range(..=snapshot_ts).next_back());
        let expected = expected.and_then(|(_, value)| value.clone());
        assert_eq!(*read, expected, "{key} at {snapshot_ts}: {record:?}\nversions {versions:?}");
    }
}

fn unchanged_until_the_commit(record: &Record, versions: &Versions) {
    let (Some(snapshot_ts), Some(ts)) = (record.snapshot_ts, commit_ts(record, versions)) else { return };
    for key in &record.unchanged {
        let between = versions.get(key).into_iter().flat_map(|versions| versions.range(snapshot_ts.next()..ts));
        let changes: Vec<_> = between.collect();
        assert!(changes.is_empty(), "{record:?} at {ts} committed over changes {changes:?} of {key}");
    }
}

/// In real time: a snapshot taken after an acknowledgement is at or above that commit.
fn snapshots_see_what_was_acknowledged(record: &Record, records: &[Record]) {
    let Some(snapshot_ts) = record.snapshot_ts else { return };
    for earlier in records {
        if let Some(Ok(commit_ts)) = &earlier.result
            && !earlier.writes.is_empty()
            && earlier.acknowledged_at < record.began_at
        {
            assert!(snapshot_ts >= *commit_ts, "{record:?} does not see {earlier:?}");
        }
    }
}

fn no_update_is_lost(records: &[Record], versions: &Versions) {
    for one in records {
        let (Some(snapshot_ts), Some(ts)) = (one.snapshot_ts, commit_ts(one, versions)) else { continue };
        assert!(ts > snapshot_ts, "commit_ts above the snapshot: {one:?}");
        for (key, kind) in &one.writes {
            if *kind == WriteKind::Lock {
                continue;
            }
            let between = versions.get(key).into_iter().flat_map(|versions| versions.range(snapshot_ts.next()..ts));
            let overwritten: Vec<_> = between.collect();
            assert!(overwritten.is_empty(), "{one:?} at {ts} overwrote {overwritten:?} of {key} unseen");
        }
    }
}
