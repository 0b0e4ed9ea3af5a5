//! A store whose every call is a step of its own. Reads happen when their caller is polled
//! again; changes travel as requests, which happen, and are answered, when the scheduler says.

use super::scheduler::{NETWORK, Spawner, yield_now};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::stream::{BoxStream, StreamExt};
use std::sync::Arc;
use storage::testing::MemoryStore;
use storage::{
    AtomicCommit, BoxFuture, CommitBatch, Condition, FailedCondition, Mutation, ReadFilter, Result, Row, RowMutation,
    RowRange, ScanOptions, SnapshotGuard, Store, StoreError, TabletInfo, Timestamp,
};

pub(super) struct SteppingStore {
    pub(super) memory: Arc<MemoryStore>,
    pub(super) spawner: Spawner,
}

impl SteppingStore {
    /// Sends a request.
    fn send<T: Send + 'static>(
        &self,
        request: impl FnOnce(Arc<MemoryStore>) -> BoxFuture<'static, Result<T>> + Send + 'static,
    ) -> BoxFuture<'_, Result<T>> {
        let memory = self.memory.clone();
        let spawner = self.spawner.clone();
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let work = async move {
                // The sender may have died: the request was on its way nevertheless.
                let _ = sender.send(request(memory).await);
            };
            spawner.spawn(NETWORK, Box::pin(work));
            receiver.await.unwrap_or_else(|_| Err(StoreError::Unavailable("crashed".into())))
        })
    }
}

impl Store for SteppingStore {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        Box::pin(async move {
            yield_now().await;
            self.memory.read(keys, filter).await
        })
    }
    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        let batches = self.memory.scan(range, filter, ScanOptions { batch_rows: 1, ..options });
        // A step before each row, so that the scan meets what happens half way.
        futures::stream::unfold(batches, |mut batches| async move {
            yield_now().await;
            batches.next().await.map(|batch| (batch, batches))
        })
        .boxed()
    }
    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        self.send(move |memory| Box::pin(async move { memory.check_and_mutate(key, conditions, mutations).await }))
    }
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        self.send(move |memory| Box::pin(async move { memory.mutate_rows(rows).await }))
    }
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        self.memory.delete_range(range)
    }
    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>> {
        self.memory.tablets(range)
    }
    fn can_scan_reverse(&self) -> bool {
        self.memory.can_scan_reverse()
    }
    fn atomic(&self) -> Option<&dyn AtomicCommit> {
        self.memory.atomic().map(|_| self as &dyn AtomicCommit)
    }
    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>> {
        self.memory.get_meta(name)
    }
    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>> {
        self.memory.put_meta(name, value)
    }
    fn recovered_max_timestamp(&self) -> Timestamp {
        self.memory.recovered_max_timestamp()
    }
    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>> {
        self.memory.approximate_bytes(range)
    }
}

impl AtomicCommit for SteppingStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.send(move |memory| Box::pin(async move { memory.commit_atomic(batch).await }))
    }
    fn published(&self) -> Timestamp {
        self.memory.published()
    }
    fn snapshot(&self) -> SnapshotGuard {
        self.memory.snapshot()
    }
    fn oldest_snapshot(&self) -> Timestamp {
        self.memory.oldest_snapshot()
    }
}
