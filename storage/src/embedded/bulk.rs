//! [`BulkLoad`] and [`BulkCommit`] of the embedded engine. Threads of their own make the files ([`super::sst_ingest`]); the
//! committer ingests those of a commit.

use super::EmbeddedStore;
use super::sst_ingest::Load;
use super::tablets::Tablet;
use crate::bulk::{BulkCommit, BulkLoad, CellBlock, ClaimedKeys, PreparedCells, PreparedCommit};
use crate::committer::Request;
use crate::contract::{FailedCondition, Family};
use crate::env::BoxFuture;
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use futures::FutureExt;
use futures::channel::oneshot;
use std::time::Duration;

/// How often a load checks whether compaction has caught up.
const LOOK: Duration = Duration::from_millis(50);
const MOST_LOOKS: u32 = 200;

impl EmbeddedStore {
    /// Adds a block whose keys ascend to the tablets' write counts.
    fn count(&self, block: &CellBlock) {
        let Some((first, last)) = block.ends() else { return };
        if !self.directory.count_within(first, last, block.len() as u64, Tablet::count_writes) {
            self.directory.count(block.iter().map(|(key, _)| key), Tablet::count_writes);
        }
    }

    /// Makes one or more files from a block, on a thread.
    async fn make<T: Send + 'static>(
        &self,
        block: CellBlock,
        work: impl FnOnce(&Load, &CellBlock) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        for _ in 0..MOST_LOOKS {
            if !self.loads.are_behind()? {
                break;
            }
            self.env.sleep(LOOK).await;
        }
        self.count(&block);
        self.beside(self.loads.begin(), move |load| work(load, &block)).await
    }

    /// Runs blocking `work` on a thread. The store is closed only after it.
    pub(super) async fn beside<T: Send + 'static>(
        &self,
        load: Load,
        work: impl FnOnce(&Load) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, done) = oneshot::channel();
        let work = move || {
            let result = work(&load);
            drop(load);
            // The caller may have stopped waiting for the answer.
            let _ = answer.send(result);
        };
        self.env.spawn_thread("load", Box::new(work));
        done.await.unwrap_or_else(|_| Err(StoreError::Io("a load ended before its time".to_owned())))
    }
}

impl BulkLoad for EmbeddedStore {
    fn load(&self, timestamp: Timestamp, block: CellBlock) -> BoxFuture<'_, Result<()>> {
        self.make(block, move |load, block| load.run(timestamp, block)).boxed()
    }
}

impl BulkCommit for EmbeddedStore {
    fn claim(&self, keys: ClaimedKeys) -> BoxFuture<'_, Result<std::result::Result<(), FailedCondition>>> {
        async move { Ok(self.request(Request::Claim(keys), None).await?.map(|_| ())) }.boxed()
    }

    fn prepare(
        &self,
        family: Family,
        timestamp: Timestamp,
        block: CellBlock,
    ) -> BoxFuture<'_, Result<Vec<PreparedCells>>> {
        self.make(block, move |load, block| load.prepare(family, timestamp, block)).boxed()
    }

    fn commit_prepared(
        &self,
        commit: PreparedCommit,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.request(Request::Prepared(commit), None).boxed()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::tests::{commit, open, small};
    use super::*;
    use crate::committer::key_reservations::Claim;
    use crate::contract::{
        AtomicCommit, ClaimedKey, ClassRange, CommitCondition, ReadFilter, RowRange, ScanOptions, Store, TimestampRange,
    };
    use crate::testing::contract;
    use bytes::Bytes;
    use futures::executor::block_on;

    const AT: Timestamp = Timestamp(1 << 50);

    fn prepared(store: &EmbeddedStore, family: Family, at: Timestamp, keys: &[&str]) -> Vec<PreparedCells> {
        let mut block = CellBlock::new();
        for key in keys {
            assert!(block.push(key.as_bytes(), |out| out.extend_from_slice(b"prepared")));
        }
        block_on(store.prepare(family, at, block)).unwrap()
    }

    fn prepared_commit(claim: &Claim, at: Timestamp, cells: &[PreparedCells]) -> PreparedCommit {
        let batch = crate::CommitBatch { publishes: true, durable: true, ..crate::CommitBatch::default() };
        PreparedCommit { claim: claim.clone(), batch, timestamp: at, cells: cells.to_vec() }
    }

    fn claimed(claim: &Claim, since: Timestamp, keys: &[&str]) -> ClaimedKeys {
        let key = |key: &&str| ClaimedKey {
            key: Bytes::copy_from_slice(key.as_bytes()),
            none_after: since,
            conflicts: ClassRange::ANY,
            class: 4,
        };
        ClaimedKeys {
            claim: claim.clone(),
            families: [Family::Write, Family::Rollback],
            keys: keys.iter().map(key).collect(),
            run: None,
            row_conditions: Vec::new(),
        }
    }

    fn seen(store: &EmbeddedStore, at: Timestamp) -> Vec<String> {
        let filter = ReadFilter::new().with(Family::Write, TimestampRange::up_to(at), 1);
        let rows = contract::scan(store, RowRange::all(), filter, ScanOptions::default());
        rows.iter().map(|row| String::from_utf8(row.key.to_vec()).unwrap()).collect()
    }

    fn files(folder: &std::path::Path) -> usize {
        std::fs::read_dir(folder.join("load")).unwrap().count()
    }

    #[test]
    fn what_lies_ready_is_seen_from_its_commit_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let first = commit(&store, &["table 1: b", "table 2: x"], "1");
        let claim = Claim::default();
        let keys = ["table 1: a", "table 1: b", "table 2: y"];
        assert_eq!(block_on(store.claim(claimed(&claim, first, &keys))), Ok(Ok(())));
        let mut cells = prepared(&store, Family::Write, AT, &keys);
        cells.extend(prepared(&store, Family::Rollback, AT, &["table 2: z"]));
        // No file spans two tables.
        assert_eq!((cells.len(), files(folder.path())), (3, 3));
        assert_eq!(seen(&store, Timestamp::MAX), ["table 1: b", "table 2: x"]);
        assert_eq!(block_on(store.commit_prepared(prepared_commit(&claim, AT, &cells))), Ok(Ok(AT)));
        assert_eq!((store.published(), files(folder.path())), (AT, 0));
        assert_eq!(seen(&store, AT), ["table 1: a", "table 1: b", "table 2: x", "table 2: y"]);
        assert_eq!(seen(&store, Timestamp(AT.0 - 1)), ["table 1: b", "table 2: x"]);
        drop(claim);
        // A commit with the older snapshot conflicts; one with a new snapshot does not.
        let late = block_on(store.commit_atomic(contract::batch(&["table 2: y"], first, "2"))).unwrap();
        assert_eq!(late, Err(FailedCondition::Newer { index: 0, found: AT }));
        let next = commit(&store, &["table 2: y"], "2");
        assert!(next > AT);
        drop(store);
        let store = open(folder.path(), small()).unwrap();
        assert_eq!((store.published(), store.recovered_max_timestamp()), (next, next));
        assert_eq!(seen(&store, AT).len(), 4);
    }

    #[test]
    fn what_is_kept_of_rows_and_ranges_shows_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        commit(&store, &["a table: b"], "1");
        let range = RowRange::prefix("a table: ");
        let wanted = crate::FamilyFilter { family: Family::Write, range: TimestampRange::ALL, cells: 1 };
        let newest = || {
            let filter = ReadFilter::new().with(Family::Write, TimestampRange::ALL, 1);
            block_on(store.read(&[Bytes::from_static(b"a table: b")], &filter)).unwrap()[0].cells[0].timestamp
        };
        let rows = || contract::scan_packed(&*store, range.clone(), wanted, ScanOptions::default()).len();
        assert!(newest() < AT && newest() < AT);
        assert_eq!([rows(), rows(), rows()], [1; 3]);
        let cells = prepared(&store, Family::Write, AT, &["a table: a", "a table: b"]);
        block_on(store.commit_prepared(prepared_commit(&Claim::default(), AT, &cells))).unwrap().unwrap();
        assert_eq!((newest(), newest()), (AT, AT));
        assert_eq!([rows(), rows(), rows()], [2; 3]);
    }

    #[test]
    fn a_watch_hears_of_a_large_commit() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let watches = ["a", "b", "bb", "c"].map(|start| store.watch(RowRange::prefix(start)));
        let cells = prepared(&store, Family::Write, AT, &["b1", "bc"]);
        block_on(store.commit_prepared(prepared_commit(&Claim::default(), AT, &cells))).unwrap().unwrap();
        let heard = watches.map(|watch| watch.newest() == AT);
        // The bulk commit tells watches only its first and last key, so a range between them counts as written.
        assert_eq!(heard, [false, true, true, false]);
    }

    #[test]
    fn a_claim_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let first = commit(&store, &["a"], "1");
        let (claim, other) = (Claim::default(), Claim::default());
        assert_eq!(block_on(store.claim(claimed(&claim, first, &["a", "b"]))), Ok(Ok(())));
        assert_eq!(block_on(store.claim(claimed(&claim, first, &["a"]))), Ok(Ok(())), "its own");
        let refused = |index| Ok(Err(FailedCondition::Claimed { index }));
        assert_eq!(block_on(store.claim(claimed(&other, first, &["c", "b"]))), refused(2));
        let batch = || contract::batch(&["c", "b"], first, "2");
        assert_eq!(block_on(store.commit_atomic(batch())), refused(1).map(|failed| failed.map(|()| AT)));
        // A refused request has claimed nothing.
        commit(&store, &["c"], "2");
        drop(claim);
        assert!(block_on(store.commit_atomic(contract::batch(&["a", "b"], first, "2"))).unwrap().is_ok());
    }

    #[test]
    fn a_timestamp_that_was_passed_commits_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let early = commit(&store, &["a"], "1");
        let claim = Claim::default();
        let at = Timestamp(early.0 + 1);
        let cells = prepared(&store, Family::Write, at, &["b"]);
        let passed = commit(&store, &["a"], "2");
        assert_eq!(passed, at);
        let answer = block_on(store.commit_prepared(prepared_commit(&claim, at, &cells)));
        assert_eq!(answer, Ok(Err(FailedCondition::Passed)));
        assert_eq!((store.published(), files(folder.path())), (passed, 1));
        drop(cells);
        // The committer answers before it drops its request, and with it the claim.
        for _ in 0..1000 {
            if files(folder.path()) == 0 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(files(folder.path()), 0);
        assert_eq!(seen(&store, Timestamp::MAX), ["a"]);
    }

    #[test]
    fn a_crash_leaves_all_that_lay_ready_or_nothing() {
        // How many families were ingested before the crash.
        for taken_in in 0..=2 {
            let folder = tempfile::tempdir().unwrap();
            let store = open(folder.path(), small()).unwrap();
            commit(&store, &["a"], "1");
            let cells = prepared(&store, Family::Write, AT, &["b"]);
            let mut all = prepared(&store, Family::Rollback, AT, &["p"]);
            all.extend(cells.clone());
            // As far as the committer came before the crash.
            store.database.begin_taking_in(&cells[0], store.published(), AT).unwrap();
            super::super::sst_ingest::take_in_all(&store.database, &all[..taken_in]).unwrap();
            drop((cells, all));
            drop(store);
            let store = open(folder.path(), small()).unwrap();
            let written = usize::from(taken_in == 2);
            assert_eq!((store.published(), store.recovered_max_timestamp()), (AT, AT), "nobody is given it again");
            assert_eq!(seen(&store, store.published()).len(), 1 + written);
            // The discarded commit blocks no row.
            let unlocked = CommitCondition {
                key: "p".into(),
                family: Family::Rollback,
                none_after: store.published(),
                class: ClassRange::ANY,
            };
            let mut batch = contract::batch(&["c"], store.published(), "2");
            batch.conditions.push(unlocked);
            assert!(block_on(store.commit_atomic(batch)).unwrap().unwrap() > AT);
            drop(store);
            let store = open(folder.path(), small()).unwrap();
            assert_eq!(seen(&store, store.published()).len(), 2 + written);
        }
    }
}
