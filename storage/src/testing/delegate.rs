//! Delegation for a store that wraps another one and changes only some calls.

use crate::contract::{CommitBatch, FailedCondition, Store};
use crate::env::BoxFuture;
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;

/// Lets `inner` commit across rows, if it can.
pub fn commit_atomic(
    inner: &dyn Store,
    batch: CommitBatch,
) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
    match inner.atomic() {
        Some(atomic) => atomic.commit_atomic(batch),
        None => Box::pin(std::future::ready(Err(StoreError::Unsupported("commit_atomic".to_owned())))),
    }
}

/// Implements the methods of [`Store`](crate::Store) that do not write rows by delegating to the store in this field.
#[macro_export]
macro_rules! delegate_store_questions {
    ($inner:ident) => {
        fn tablets<'a>(
            &'a self,
            range: &'a $crate::RowRange,
        ) -> $crate::BoxFuture<'a, $crate::Result<Vec<$crate::TabletInfo>>> {
            self.$inner.tablets(range)
        }

        fn divide<'a>(
            &'a self,
            range: &'a $crate::RowRange,
            pieces: usize,
        ) -> $crate::BoxFuture<'a, $crate::Result<Vec<::bytes::Bytes>>> {
            self.$inner.divide(range, pieces)
        }

        fn can_scan_reverse(&self) -> bool {
            self.$inner.can_scan_reverse()
        }

        fn atomic(&self) -> Option<&dyn $crate::AtomicCommit> {
            self.$inner.atomic().map(|_| self as &dyn $crate::AtomicCommit)
        }

        fn get_meta<'a>(&'a self, name: &'a str) -> $crate::BoxFuture<'a, $crate::Result<Option<::bytes::Bytes>>> {
            self.$inner.get_meta(name)
        }

        fn put_meta<'a>(&'a self, name: &'a str, value: ::bytes::Bytes) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            self.$inner.put_meta(name, value)
        }

        fn recovered_max_timestamp(&self) -> $crate::Timestamp {
            self.$inner.recovered_max_timestamp()
        }

        fn approximate_bytes<'a>(&'a self, range: &'a $crate::RowRange) -> $crate::BoxFuture<'a, $crate::Result<u64>> {
            self.$inner.approximate_bytes(range)
        }
    };
}

/// Implements the methods of [`AtomicCommit`](crate::AtomicCommit) that do not write by delegating to the store in
/// this field. Only called if that store has the capability.
#[macro_export]
macro_rules! delegate_atomic_questions {
    ($inner:ident) => {
        fn published(&self) -> $crate::Timestamp {
            self.$inner.atomic().map_or($crate::Timestamp::ZERO, $crate::AtomicCommit::published)
        }

        fn when_published(&self, timestamp: $crate::Timestamp) -> $crate::BoxFuture<'_, $crate::Result<()>> {
            match self.$inner.atomic() {
                Some(atomic) => atomic.when_published(timestamp),
                None => Box::pin(::std::future::ready(Ok(()))),
            }
        }

        fn ordered_snapshot(&self) -> $crate::SnapshotGuard {
            let none = || $crate::SnapshotGuard::new($crate::Timestamp::ZERO, None);
            self.$inner.atomic().map_or_else(none, $crate::AtomicCommit::ordered_snapshot)
        }

        fn snapshot(&self) -> $crate::SnapshotGuard {
            let none = || $crate::SnapshotGuard::new($crate::Timestamp::ZERO, None);
            self.$inner.atomic().map_or_else(none, $crate::AtomicCommit::snapshot)
        }

        fn oldest_snapshot(&self) -> $crate::Timestamp {
            self.$inner.atomic().map_or($crate::Timestamp::ZERO, $crate::AtomicCommit::oldest_snapshot)
        }

        fn watch(&self, range: $crate::RowRange) -> ::std::sync::Arc<$crate::Watch> {
            let nothing =
                |range| $crate::committer::snapshots::SnapshotRegistry::new($crate::Timestamp::MAX).watch(range);
            match self.$inner.atomic() {
                Some(atomic) => atomic.watch(range),
                None => nothing(range),
            }
        }

        fn validator(&self) -> $crate::Validator {
            let nobody = || $crate::committer::recent_writes::Validators::default().join();
            self.$inner.atomic().map_or_else(nobody, $crate::AtomicCommit::validator)
        }

        fn log_statistics(&self) -> $crate::LogStatistics {
            self.$inner.atomic().map_or_else($crate::LogStatistics::default, $crate::AtomicCommit::log_statistics)
        }
    };
}
