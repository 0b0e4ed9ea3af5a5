//! [`Nodes`]: what several servers over one store tell each other, so that none of them uses a descriptor that another
//! one has replaced, and so that DDL waits for the writers of all.
//!
//! Each node has a row (`row`) that it writes anew again and again, a *beat*, and after that reads those of all. The row
//! carries what it *wishes* of the others and what it *answers* to their wishes. A node that saw nobody wish anything is
//! calm: for one lease from the beginning of that look it takes the catalog that it knows for the catalog of every snapshot,
//! without a call. Who wants to change a descriptor wishes it first (`Definition`), and commits when each other node has
//! answered, so is not calm any more, or has said nothing for longer than a lease. So:
//!
//! - a transaction takes its snapshot from the oracle, then looks whether the node is calm. If so, every definition that is
//!   not in the catalog it knows takes its commit timestamp later, and lies above the snapshot;
//! - if not, it reads the version slots at its snapshot: one call more, until the definition is over;
//! - no clock of another node is read: who waits counts a lease on its own monotonic clock, from when its wish was stored.
//!
//! The same rows carry the metadata locks of DDL: each node takes the lock among its own transactions (`grants`), on
//! behalf of the one that asks. Who asks waits until a node that says nothing is *given up*: its fence is written, a row that
//! every transaction of it that writes or defines anything requires to be unchanged, then its row is taken away. It joins
//! again under another number. Nobody is given up soon whom nobody waits for: who was paused or starved for some seconds
//! goes on with what it began.
//!
//! A store of one process has no such rows, and none of this costs it anything.

mod grants;
mod row;
mod state;
#[cfg(test)]
mod tests;

use super::metadata_lock::LockTarget;
use super::versions::{Stamp, Versions};
use super::{StorageId, TableLocks, keys, sequences::Sequences};
use parking_lot::Mutex;
use row::{NodeRows, Wish};
use sql_error::{Result, SqlError, state as sqlstate};
use state::{Calm, OwnWish, State, Verdict};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::Timestamp;
use storage::env::EnvRef;
use tokio::sync::Notify;
use txn::{LockStrength, Transaction, TransactionOptions, TransactionStore, Write, WriteKind};

/// The times that nodes keep. The same on all nodes of a store.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions {
    /// Between two beats when nobody says anything new.
    pub rest: Duration,
    /// Between two beats when somebody does.
    pub short_rest: Duration,
    /// How long what was read of the others is good, from the beginning of the look.
    pub lease: Duration,
    /// How much longer than a lease is waited for a node that says nothing: for clocks that do not run alike.
    pub margin: Duration,
    /// After how long without a beat a node is given up that somebody waits for. Only time in which the other one looked
    /// at least every second rest counts: a store or a machine that is held up is nobody's death.
    pub dead_after: Duration,
    /// The same for one that is in nobody's way.
    pub forget_after: Duration,
    /// How long after a definition the others are told that there may be more, and after a wish or an answer the next one is
    /// looked for at short rests.
    pub linger: Duration,
}

impl Default for NodeOptions {
    fn default() -> Self {
        NodeOptions {
            rest: Duration::from_millis(250),
            short_rest: Duration::from_millis(25),
            lease: Duration::from_secs(2),
            margin: Duration::from_millis(500),
            dead_after: Duration::from_secs(6),
            forget_after: Duration::from_secs(60),
            linger: Duration::from_secs(1),
        }
    }
}

/// How long others are waited for when no time is set, before it counts as a deadlock across nodes.
const PATIENCE: Duration = Duration::from_secs(60);

/// This node among those that serve the store. One per server, where there can be several.
pub struct Nodes {
    transactions: Arc<TransactionStore>,
    env: EnvRef,
    options: NodeOptions,
    rows: NodeRows,
    locks: Arc<TableLocks>,
    sequences: Arc<Sequences>,
    versions: Arc<Versions>,
    state: Mutex<State>,
    /// The locks that are held for transactions of other nodes.
    held_for: Mutex<HashMap<(u64, u64), Weak<super::HeldLocks>>>,
    beating: tokio::sync::Mutex<()>,
    /// Something was seen or said.
    changed: Notify,
    /// The next beat is wanted now.
    wake: Notify,
    /// A node went.
    gone: Notify,
    /// This one has left: it says nothing any more.
    left: AtomicBool,
    this: Weak<Nodes>,
}

/// A wish, until it is dropped.
#[derive(Debug)]
pub(super) struct Wished {
    nodes: Weak<Nodes>,
    number: u64,
}

impl Drop for Wished {
    fn drop(&mut self) {
        if let Some(nodes) = self.nodes.upgrade() {
            nodes.state.lock().wishes.remove(&self.number);
            nodes.wake.notify_one();
        }
    }
}

impl Nodes {
    /// Joins the nodes of a store, and beats from then on. Errors of the store.
    pub(super) async fn join(
        transactions: &Arc<TransactionStore>,
        env: &EnvRef,
        options: NodeOptions,
        locks: &Arc<TableLocks>,
        sequences: &Arc<Sequences>,
        versions: &Arc<Versions>,
    ) -> Result<Arc<Nodes>> {
        let nodes = Arc::new_cyclic(|this| Nodes {
            transactions: Arc::clone(transactions),
            env: Arc::clone(env),
            options,
            rows: NodeRows { store: Arc::clone(transactions.store()) },
            locks: Arc::clone(locks),
            sequences: Arc::clone(sequences),
            versions: Arc::clone(versions),
            state: Mutex::new(State::new(env.random() >> 1)),
            held_for: Mutex::default(),
            beating: tokio::sync::Mutex::new(()),
            changed: Notify::new(),
            wake: Notify::new(),
            gone: Notify::new(),
            left: AtomicBool::new(false),
            this: this.clone(),
        });
        while nodes.state.lock().trusted.is_none() {
            nodes.beat().await?;
        }
        let (weak, clock) = (Arc::downgrade(&nodes), Arc::clone(env));
        let beats = async move {
            loop {
                let Some(nodes) = weak.upgrade().filter(|nodes| !nodes.left.load(Ordering::SeqCst)) else { return };
                if let Err(error) = nodes.beat().await {
                    tracing::warn!(%error, "this node could not tell the others that it lives");
                }
                let rest = nodes.rest();
                let woken = nodes.wake.notified();
                futures::future::select(std::pin::pin!(woken), clock.sleep(rest)).await;
            }
        };
        env.spawn("node beats", Box::pin(beats));
        Ok(nodes)
    }
    fn rest(&self) -> Duration {
        let busy = self.state.lock().is_busy(self.env.monotonic());
        if busy { self.options.short_rest } else { self.options.rest }
    }
    /// Time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
    /// This node's number.
    pub fn id(&self) -> u64 {
        self.state.lock().node
    }
    /// What transactions of this node that write or define require to be unchanged at COMMIT: it is written when the others
    /// give the node up. To be called after the snapshot was taken: it is not written up to now. Waits while this node has
    /// no word of the others. Errors: 40001 when that takes long.
    pub async fn fence(&self) -> Result<bytes::Bytes> {
        self.until(|now, waited| {
            let state = self.state.lock();
            // Who was seen by itself for less than a lease cannot have been given up since.
            if now < state.lease_until && state.trusted == Some(state.node) {
                return Some(Ok(keys::node_fence(state.node)));
            }
            self.wake.notify_one();
            (waited >= PATIENCE).then(|| Err(gives_way()))
        })
        .await
    }
    /// Looks after each change until there is an answer: at the time, and at how long was waited.
    async fn until<T>(&self, mut look: impl FnMut(Duration, Duration) -> Option<T>) -> T {
        let begun = self.env.monotonic();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let now = self.env.monotonic();
            if let Some(answer) = look(now, now.saturating_sub(begun)) {
                return answer;
            }
            futures::future::select(changed, self.env.sleep(self.options.short_rest)).await;
        }
    }
    /// Says nothing from now on, as if the process were stopped. For tests.
    pub fn fall_silent(&self) {
        self.left.store(true, Ordering::SeqCst);
    }
    /// How many other nodes are known.
    pub fn others(&self) -> usize {
        self.state.lock().others.len()
    }
    /// What a transaction that reads at this timestamp finds in the version slots, when that is known without looking.
    pub(super) fn stamp_at(&self, snapshot: Timestamp) -> Option<Stamp> {
        // The snapshot was taken before this moment: see the head of the module.
        self.state.lock().stamp_at(snapshot, self.env.monotonic())
    }
    /// Whether a transaction that begins now needs no call to know its catalog.
    pub fn is_calm(&self) -> bool {
        self.stamp_at(Timestamp::MAX).is_some()
    }
    /// Whether this node does what one node does for all: removing what was dropped.
    pub fn is_first(&self) -> bool {
        self.state.lock().is_first(self.env.monotonic())
    }
    /// Whether values of sequences that were reserved may be given out.
    pub(super) fn has_lease(&self) -> bool {
        self.env.monotonic() < self.state.lock().lease_until
    }
    /// Whether a node is among those of the store, as the store says it now. Errors of the store.
    pub async fn is_there(&self, node: u64) -> Result<bool> {
        Ok(self.rows.read_one(node).await?.is_some())
    }
    /// Resolves when another node has gone: what it was building may be unfinished.
    pub async fn a_node_went(&self) {
        self.gone.notified().await;
    }

    /// Before a transaction that changes descriptors can commit: every other node looks into the store from now on, until
    /// the transaction has ended. Errors: 40001 when the store does not let them know.
    pub(super) async fn announce(&self, transaction: &Arc<Transaction>) -> Result<()> {
        transaction.require_unchanged(self.fence().await?);
        let number = {
            let mut state = self.state.lock();
            state.calm = None;
            state.definition_until = self.env.monotonic() + self.options.linger;
            if !state.definers.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(transaction))) {
                state.definers.push(Arc::downgrade(transaction));
            }
            match state.definition {
                Some(number) => number,
                None => {
                    let number = state.next_wish;
                    state.next_wish += 1;
                    state.wishes.insert(number, OwnWish { wish: Wish::Definition, told: None });
                    state.definition = Some(number);
                    number
                }
            }
        };
        self.granted(number, None).await
    }
    /// Takes a lock on all other nodes, or waits there for older writers, until the answer is dropped. Errors: 55P03 after
    /// `timeout`; 40001 when another node wants the same and goes first, or transactions of several nodes wait for each other.
    pub(super) async fn everywhere(
        &self,
        owner: u64,
        target: &LockTarget,
        drain: Option<u64>,
        timeout: Option<Duration>,
    ) -> Result<Option<Wished>> {
        let wish = match (target, drain) {
            (LockTarget::Table(oid), None) => Wish::Table { owner, oid: *oid },
            (LockTarget::Table(oid), Some(version)) => Wish::Drain { owner, oid: *oid, version },
            (LockTarget::Change(oid), None) => Wish::Change { owner, oid: *oid },
            // Who overlooks somebody here fails at COMMIT, and is run again.
            _ => return Ok(None),
        };
        self.wish(wish, timeout).await.map(Some)
    }
    /// Voids what other nodes reserved of a sequence, until the answer is dropped.
    pub(super) async fn void_reserved(&self, sequence: StorageId) -> Result<Wished> {
        self.wish(Wish::Sequence(sequence), None).await
    }
    async fn wish(&self, wish: Wish, timeout: Option<Duration>) -> Result<Wished> {
        let wished = {
            let mut state = self.state.lock();
            let number = state.next_wish;
            state.next_wish += 1;
            state.wishes.insert(number, OwnWish { wish, told: None });
            Wished { nodes: self.this.clone(), number }
        };
        self.granted(wished.number, timeout).await?;
        Ok(wished)
    }
    async fn granted(&self, number: u64, timeout: Option<Duration>) -> Result<()> {
        self.wake.notify_one();
        self.until(|now, waited| match (self.state.lock().verdict(number, now, &self.options), timeout) {
            (Verdict::Granted, _) => Some(Ok(())),
            (Verdict::Refused, _) => Some(Err(gives_way())),
            (Verdict::Waiting, Some(timeout)) if waited >= timeout => {
                let message = "canceling statement due to lock timeout";
                Some(Err(SqlError::new(sqlstate::LOCK_NOT_AVAILABLE, message)
                    .detail("Another server of this store did not answer in time.")))
            }
            (Verdict::Waiting, None) if waited >= PATIENCE => Some(Err(gives_way())),
            (Verdict::Waiting, _) => None,
        })
        .await
    }

    /// One sign of life: writes this node's row, reads all, does what follows. Errors of the store.
    pub(super) async fn beat(&self) -> Result<()> {
        let _one_at_a_time = self.beating.lock().await;
        if self.left.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.end_definition().await?;
        let written = self.write_row().await?;
        let began = self.env.monotonic();
        let rows = self.rows.read(keys::nodes()).await?;
        if began >= self.state.lock().lease_until {
            self.sequences.forget_reserved();
        }
        let seen = self.state.lock().look(&written, rows, began, self.env.monotonic(), &self.options);
        let answered = !seen.begun.is_empty();
        for (key, wish) in seen.begun {
            self.begin_grant(key, wish);
        }
        if seen.gone > 0 {
            self.gone.notify_one();
        }
        self.changed.notify_waiters();
        if answered {
            // The answers go out with the next beat.
            self.wake.notify_one();
        }
        if seen.may_be_calm {
            self.become_calm().await?;
        }
        let lost = self.state.lock().lost(self.locks.is_waited_for(), &self.options);
        for (node, value) in lost {
            self.give_up(node, &value).await?;
        }
        Ok(())
    }
    async fn write_row(&self) -> Result<row::NodeRow> {
        for _ in 0..3 {
            let (row, stored) = {
                let mut state = self.state.lock();
                (state.next_row(), state.stored.clone())
            };
            if let Some(value) = self.rows.write(stored.as_ref(), &row).await? {
                self.state.lock().stored = Some(value);
                return Ok(row);
            }
            let found = self.rows.read_one(row.node).await?;
            let mut state = self.state.lock();
            if found.is_none() && stored.is_some() {
                tracing::warn!("this node gave no sign of life for so long that the others gave it up; it joins again");
                state.join_again(self.env.random() >> 1);
            } else {
                state.stored = found;
            }
        }
        let message = "the row of this node keeps changing";
        Err(SqlError::new(sqlstate::SERIALIZATION_FAILURE, message))
    }
    /// Takes the word of a definition back when everybody who changed descriptors has ended.
    async fn end_definition(&self) -> Result<()> {
        {
            let mut state = self.state.lock();
            state.definers.retain(|definer| definer.strong_count() > 0);
            let over = state.definers.is_empty() && self.env.monotonic() >= state.definition_until;
            if state.definition.is_none() || !over {
                return Ok(());
            }
        }
        // A commit whose answer was lost may still become one. Whoever reads the slots clears what is over.
        let reader = self.reader();
        self.versions.stamp(&reader).await?;
        reader.rollback().await;
        if self.rows.any_lock(keys::versions()).await? {
            return Ok(());
        }
        let mut state = self.state.lock();
        if state.definers.is_empty()
            && let Some(number) = state.definition.take()
        {
            state.wishes.remove(&number);
        }
        Ok(())
    }
    /// Learns the catalog in force. The snapshot is taken after the look that found nobody changing it.
    async fn become_calm(&self) -> Result<()> {
        let reader = self.reader();
        let read_at = reader.snapshot_ts().await?;
        let stamp = self.versions.stamp(&reader).await?;
        reader.rollback().await;
        let mut state = self.state.lock();
        if state.is_quiet() {
            state.calm = Some(Calm { read_at, stamp });
        }
        Ok(())
    }
    fn reader(&self) -> Arc<Transaction> {
        self.transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() })
    }
    /// Gives up a node that is silent: what it began can commit no more, then its row goes.
    async fn give_up(&self, node: u64, value: &bytes::Bytes) -> Result<()> {
        let transaction = self.transactions.begin(TransactionOptions::default());
        // A mark that garbage collection removes.
        let fence = Write { key: keys::node_fence(node), kind: WriteKind::Delete, strength: LockStrength::Update };
        transaction.write(vec![fence]).await?;
        if let Err(error) = transaction.commit().await {
            tracing::debug!(%error, "a node that is silent is given up later");
            return Ok(());
        }
        if self.rows.remove(node, value).await? {
            tracing::warn!(node, "another node gave no sign of life and was given up");
        }
        Ok(())
    }
    /// Tells the others that this node goes, so that they need not wait for it.
    pub(super) async fn leave(&self) {
        let _one_at_a_time = self.beating.lock().await;
        self.left.store(true, Ordering::SeqCst);
        let (node, stored) = {
            let mut state = self.state.lock();
            state.calm = None;
            state.lease_until = Duration::ZERO;
            (state.node, state.stored.clone())
        };
        if let Some(stored) = stored
            && let Err(error) = self.rows.remove(node, &stored).await
        {
            tracing::warn!(%error, "the others are not told that this node goes: they wait for it a little");
        }
    }
}

/// 40001: run again, it may be the first.
fn gives_way() -> SqlError {
    SqlError::new(sqlstate::SERIALIZATION_FAILURE, "could not serialize access due to a definition on another server")
        .hint("The transaction might succeed if retried.")
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Nodes")
    }
}
