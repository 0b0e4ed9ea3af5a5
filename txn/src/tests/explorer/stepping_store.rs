//! A store in which every call is a step of its own. A read happens when its caller is polled again. A change travels
//! as a request, which is done and answered when the scheduler says.

use super::scheduler::{NETWORK, Request, Spawner, yield_now};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::stream::{BoxStream, StreamExt};
use parking_lot::Mutex;
use std::sync::Arc;
use storage::testing::MemoryStore;
use storage::{
    AtomicCommit, BoxFuture, BulkCommit, CellBlock, ClaimedKeys, CommitBatch, Condition, FailedCondition, Family,
    Mutation, PreparedCells, PreparedCommit, ReadFilter, Result, Row, RowMutation, RowRange, ScanOptions, Store,
    StoreError, Timestamp,
};

pub(super) struct SteppingStore {
    pub(super) memory: Arc<MemoryStore>,
    pub(super) spawner: Spawner,
}

impl SteppingStore {
    /// Sends a request. If its answer is lost, the scheduler's copy replaces it, and the first one does nothing.
    fn send<T: Send + 'static>(
        &self,
        request: impl Fn(Arc<MemoryStore>) -> BoxFuture<'static, Result<T>> + Send + Sync + 'static,
    ) -> BoxFuture<'_, Result<T>> {
        let memory = self.memory.clone();
        let spawner = self.spawner.clone();
        let request = Arc::new(request);
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let sender = Arc::new(Mutex::new(Some(sender)));
            let (of_loser, of_copy) = (sender.clone(), (memory.clone(), request.clone()));
            let number = spawner.sent(Request {
                lose: Some(Box::new(move || {
                    let lost = Err(StoreError::Undetermined("the answer was lost".into()));
                    drop(of_loser.lock().take().map(|sender| sender.send(lost)));
                })),
                repeat: Box::new(move || {
                    let (memory, request) = of_copy.clone();
                    Box::pin(async move { drop(request(memory).await) })
                }),
            });
            let of_work = spawner.clone();
            let work = async move {
                of_work.done(number);
                let Some(sender) = sender.lock().take() else { return };
                // The request is done even if its sender has died.
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
        // A step before each row, so that the scan meets concurrent changes.
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
        self.send(move |memory| {
            let (key, conditions, mutations) = (key.clone(), conditions.clone(), mutations.clone());
            Box::pin(async move { memory.check_and_mutate(key, conditions, mutations).await })
        })
    }
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        self.send(move |memory| {
            let rows = rows.clone();
            Box::pin(async move { memory.mutate_rows(rows).await })
        })
    }
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        self.memory.delete_range(range)
    }
    storage::delegate_store_questions!(memory);
}

impl AtomicCommit for SteppingStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.send(move |memory| {
            let batch = batch.clone();
            Box::pin(async move { memory.commit_atomic(batch).await })
        })
    }
    storage::delegate_atomic_questions!(memory);

    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        Some(self)
    }
}

impl BulkCommit for SteppingStore {
    fn claim(&self, keys: ClaimedKeys) -> BoxFuture<'_, Result<std::result::Result<(), FailedCondition>>> {
        self.send(move |memory| {
            let keys = keys.clone();
            Box::pin(async move { memory.claim(keys).await })
        })
    }

    fn prepare(
        &self,
        family: Family,
        timestamp: Timestamp,
        block: CellBlock,
    ) -> BoxFuture<'_, Result<Vec<PreparedCells>>> {
        Box::pin(async move {
            yield_now().await;
            self.memory.prepare(family, timestamp, block).await
        })
    }

    fn commit_prepared(
        &self,
        commit: PreparedCommit,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.send(move |memory| {
            let commit = commit.clone();
            Box::pin(async move { memory.commit_prepared(commit).await })
        })
    }
}
