//! A store that counts its calls and runs a test's hook before each. The hook may do other work, delay the call, or
//! lose its request or answer. Also an environment with a wrong wall clock.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::{
    AtomicCommit, BoxFuture, CommitBatch, Condition, Env, EnvRef, FailedCondition, Family, Mutation, ReadFilter,
    Result, Row, RowMutation, RowRange, ScanOptions, Store, StoreError, StoreRef, Timestamp,
};

/// A call to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read(Vec<Bytes>),
    Scan,
    /// A conditional change of one row.
    Change(Bytes, Vec<Mutation>),
    /// An unconditional change of this many rows.
    ChangeMany(usize),
}

impl Call {
    /// Whether it writes a commit's record at `name`.
    pub(crate) fn commits(&self, name: &str) -> bool {
        self.changes(name, |mutation| {
            matches!(mutation, Mutation::Set { family: Family::Write | Family::Rollback, timestamp, value }
                if value.first() != Some(&crate::write::ROLLBACK_CLASS) && *timestamp > Timestamp::ZERO)
        })
    }
    /// Whether it writes a lock at `name`.
    pub(crate) fn locks(&self, name: &str) -> bool {
        self.changes(name, |mutation| matches!(mutation, Mutation::Set { family: Family::Lock, .. }))
    }
    fn changes(&self, name: &str, what: impl Fn(&Mutation) -> bool) -> bool {
        matches!(self, Call::Change(key, mutations) if key == name && mutations.iter().any(what))
    }
}

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Done,
    /// Not done, and the caller learns nothing.
    LostRequest,
    /// Done, and the caller learns nothing.
    LostAnswer,
    Unavailable,
    /// Done, and a copy stays under way: see [`HookedStore::replay`].
    Copied,
    /// Not done, and the caller learns nothing. It may arrive later: see [`HookedStore::replay`].
    Late,
}

type Hook = Arc<dyn Fn(Call) -> BoxFuture<'static, Fate> + Send + Sync>;

pub(crate) struct HookedStore {
    inner: StoreRef,
    env: EnvRef,
    hook: Mutex<Option<Hook>>,
    log: Mutex<Vec<(Duration, Call)>>,
    copies: Mutex<Vec<(Bytes, Vec<Condition>, Vec<Mutation>)>>,
}

impl HookedStore {
    pub(crate) fn new(inner: StoreRef, env: EnvRef) -> Arc<HookedStore> {
        Arc::new(HookedStore { inner, env, hook: Mutex::default(), log: Mutex::default(), copies: Mutex::default() })
    }

    /// Runs `hook` before every later call.
    pub(crate) fn set<Work: Future<Output = Fate> + Send + 'static>(
        &self,
        hook: impl Fn(Call) -> Work + Send + Sync + 'static,
    ) {
        *self.hook.lock() = Some(Arc::new(move |call| Box::pin(hook(call))));
    }

    /// Runs `work` before every later attempt to commit at `name`, with the number of earlier attempts. Answers
    /// the counter of attempts.
    pub(crate) fn at_commits<Work: Future<Output = ()> + Send + 'static>(
        &self,
        name: &'static str,
        work: impl Fn(u64) -> Work + Send + Sync + 'static,
    ) -> Arc<AtomicU64> {
        let attempts = Arc::new(AtomicU64::new(0));
        let counted = attempts.clone();
        self.set(move |call| {
            let work = call.commits(name).then(|| work(counted.fetch_add(1, Ordering::SeqCst)));
            async move {
                if let Some(work) = work {
                    work.await;
                }
                Fate::Done
            }
        });
        attempts
    }

    /// Delays every later call as `delay` says.
    pub(crate) fn slow_down(&self, delay: impl Fn(&Call) -> Duration + Send + Sync + 'static) {
        let env = self.env.clone();
        self.set(move |call| {
            let late = env.sleep(delay(&call));
            async move {
                late.await;
                Fate::Done
            }
        });
    }

    pub(crate) fn clear(&self) {
        *self.hook.lock() = None;
    }

    /// The calls since the last time, each with its start.
    pub(crate) fn take_log(&self) -> Vec<(Duration, Call)> {
        std::mem::take(&mut *self.log.lock())
    }

    /// Lets the delayed conditional changes arrive. Answers whether each was applied.
    pub(crate) async fn replay(&self) -> Vec<bool> {
        let copies = std::mem::take(&mut *self.copies.lock());
        let mut done = Vec::new();
        for (key, conditions, mutations) in copies {
            done.push(self.inner.check_and_mutate(key, conditions, mutations).await.unwrap());
        }
        done
    }

    async fn before(&self, call: Call) -> Fate {
        self.log.lock().push((self.env.monotonic(), call.clone()));
        let hook = self.hook.lock().clone();
        match hook {
            Some(hook) => hook(call).await,
            None => Fate::Done,
        }
    }
}

async fn meet<T>(fate: Fate, work: impl Future<Output = Result<T>>) -> Result<T> {
    let lost = || Err(StoreError::Undetermined("the answer was lost".into()));
    match fate {
        Fate::Done | Fate::Copied => work.await,
        Fate::LostRequest | Fate::Late => lost(),
        Fate::LostAnswer => {
            work.await?;
            lost()
        }
        Fate::Unavailable => Err(StoreError::Unavailable("nobody there".into())),
    }
}

impl Store for HookedStore {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        Box::pin(async move {
            match self.before(Call::Read(keys.to_vec())).await {
                Fate::Done => self.inner.read(keys, filter).await,
                _ => Err(StoreError::Unavailable("nobody there".into())),
            }
        })
    }
    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        let first = stream::once(async {
            match self.before(Call::Scan).await {
                Fate::Done => Ok(Vec::new()),
                _ => Err(StoreError::Unavailable("nobody there".into())),
            }
        });
        first.chain(self.inner.scan(range, filter, options)).boxed()
    }
    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let fate = self.before(Call::Change(key.clone(), mutations.clone())).await;
            if matches!(fate, Fate::Copied | Fate::Late) {
                self.copies.lock().push((key.clone(), conditions.clone(), mutations.clone()));
            }
            meet(fate, self.inner.check_and_mutate(key, conditions, mutations)).await
        })
    }
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let fate = self.before(Call::ChangeMany(rows.len())).await;
            meet(fate, self.inner.mutate_rows(rows)).await
        })
    }
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        self.inner.delete_range(range)
    }
    storage::delegate_store_questions!(inner);
}

/// Only called if the inner store has the capability.
impl AtomicCommit for HookedStore {
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        storage::testing::delegate::commit_atomic(&*self.inner, batch)
    }
    storage::delegate_atomic_questions!(inner);
}

/// An environment whose wall clock is ahead of the others'.
pub(crate) struct AheadEnv {
    pub(crate) inner: EnvRef,
    pub(crate) ahead: Duration,
}

impl Env for AheadEnv {
    fn now_micros(&self) -> u64 {
        self.inner.now_micros() + self.ahead.as_micros() as u64
    }
    fn monotonic(&self) -> Duration {
        self.inner.monotonic()
    }
    fn random(&self) -> u64 {
        self.inner.random()
    }
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.inner.sleep(duration)
    }
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        self.inner.spawn(name, task);
    }
    fn spawn_thread(&self, name: &'static str, work: Box<dyn FnOnce() + Send + 'static>) {
        self.inner.spawn_thread(name, work);
    }
}
