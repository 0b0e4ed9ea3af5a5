//! [`FaultyStore`]: a store whose calls are delayed, lost, or done without an answer. It draws the faults from an
//! [`Env`](crate::Env), so a seed of a [`SimEnv`](super::SimEnv) reproduces them.

use crate::contract::{
    AtomicCommit, CommitBatch, Condition, FailedCondition, Mutation, ReadFilter, Row, RowMutation, RowRange,
    ScanOptions, Store, StoreRef,
};
use crate::env::{BoxFuture, EnvRef};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};
use parking_lot::RwLock;
use std::sync::Arc;
use std::time::Duration;

/// The frequency of each fault, in thousandths of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The write is not done, and the answer is `Unavailable`.
    pub lost_writes: u64,
    /// The write is done, and the answer is `Undetermined`.
    pub lost_answers: u64,
    /// The write is not done, and the answer is `Undetermined` too.
    pub unknown_writes: u64,
    /// The read fails with `Unavailable`. A scan may do so after any batch.
    pub lost_reads: u64,
    /// The longest delay before a call is done, and again before it answers. Zero for none.
    pub delay: Duration,
}

/// A store with random faults in front of another one.
pub struct FaultyStore {
    inner: StoreRef,
    env: EnvRef,
    faults: RwLock<Faults>,
}

impl FaultyStore {
    /// A store that behaves like `inner`, except for the faults.
    pub fn new(inner: StoreRef, env: EnvRef, faults: Faults) -> Arc<FaultyStore> {
        Arc::new(FaultyStore { inner, env, faults: RwLock::new(faults) })
    }

    /// Replaces the frequencies of the faults.
    pub fn set_faults(&self, faults: Faults) {
        *self.faults.write() = faults;
    }

    fn happens(&self, thousandths: u64) -> bool {
        thousandths > 0 && self.env.random() % 1000 < thousandths
    }

    async fn delay(&self) {
        let longest = u64::try_from(self.faults.read().delay.as_micros()).unwrap_or(u64::MAX);
        if longest > 0 {
            self.env.sleep(Duration::from_micros(self.env.random() % longest)).await;
        }
    }

    async fn write<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let faults = *self.faults.read();
        self.delay().await;
        if self.happens(faults.lost_writes) {
            return Err(StoreError::Unavailable("a write was lost".to_owned()));
        }
        if self.happens(faults.unknown_writes) {
            return Err(StoreError::Undetermined("a write was lost".to_owned()));
        }
        let answer = call.await;
        self.delay().await;
        if answer.is_ok() && self.happens(faults.lost_answers) {
            return Err(StoreError::Undetermined("an answer was lost".to_owned()));
        }
        answer
    }

    async fn read_with<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.delay().await;
        if self.happens(self.faults.read().lost_reads) {
            return Err(StoreError::Unavailable("a read was lost".to_owned()));
        }
        call.await
    }
}

impl Store for FaultyStore {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        self.read_with(self.inner.read(keys, filter)).boxed()
    }

    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        self.inner.scan(range, filter, options).then(|batch| self.read_with(async move { batch })).boxed()
    }

    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        self.write(self.inner.check_and_mutate(key, conditions, mutations)).boxed()
    }

    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        self.write(self.inner.mutate_rows(rows)).boxed()
    }

    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        self.write(self.inner.delete_range(range)).boxed()
    }

    crate::delegate_store_questions!(inner);
}

/// Only called if the inner store has the capability.
impl AtomicCommit for FaultyStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.write(super::delegate::commit_atomic(&*self.inner, batch)).boxed()
    }

    crate::delegate_atomic_questions!(inner);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::testing::{CountingTimestamps, MemoryStore, SimEnv, contract};

    #[test]
    fn without_faults_it_honours_the_contract() {
        let env = SimEnv::new(1);
        contract::check_all(&|| {
            let store = MemoryStore::new(Arc::new(CountingTimestamps::after(Timestamp(1000))));
            FaultyStore::new(store, env.clone(), Faults::default())
        });
    }

    #[test]
    fn answers_say_what_may_have_happened() {
        let faults = Faults {
            lost_writes: 200,
            lost_answers: 200,
            unknown_writes: 200,
            delay: Duration::from_secs(1),
            ..Faults::default()
        };
        let env = SimEnv::new(3);
        let memory = MemoryStore::new(Arc::new(CountingTimestamps::after(Timestamp(1000))));
        let store = FaultyStore::new(memory.clone(), env.clone(), faults);
        let mut seen = [0; 4];
        for number in 0..200 {
            let (name, inner) = (format!("k{number}"), store.clone());
            let batch = contract::batch(&[&name], Timestamp::ZERO, "v");
            let answer = env.block_on(async move { inner.commit_atomic(batch).await }).unwrap();
            let there = memory.dump().iter().any(|row| row.key == name);
            let case = match (answer, there) {
                (Ok(Ok(_)), true) => 0,
                (Err(StoreError::Unavailable(_)), false) => 1,
                (Err(StoreError::Undetermined(_)), true) => 2,
                (Err(StoreError::Undetermined(_)), false) => 3,
                other => panic!("{other:?}"),
            };
            seen[case] += 1;
        }
        assert!(seen.iter().all(|times| *times > 10), "{seen:?}");
        assert!(env.monotonic() > Duration::from_secs(10));
    }
}
