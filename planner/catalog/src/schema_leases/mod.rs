//! [`Nodes`]: coordination of several servers over one store. No node may use a descriptor that another one has
//! replaced, and DDL must wait for the writers of all nodes.
//!
//! Each node has a row (`row`), which it rewrites periodically: a *beat*, the heartbeat. After each beat it reads the
//! rows of all nodes. A row contains the node's *wishes*, which are requests to the others, and its *answers* to their
//! wishes.
//!
//! A node that sees no wishes is *calm*. For one lease, counted from the start of that look, it uses its cached catalog
//! for every snapshot without a call to the store. A node that wants to change a descriptor first publishes a wish
//! (`Definition`). It commits once each other node has answered, and so is not calm any more, or has been silent for
//! longer than a lease. Hence:
//!
//! - A transaction takes its snapshot from the oracle, then checks whether the node is calm. If so, every definition
//!   outside the cached catalog gets a later commit timestamp, above the snapshot.
//! - If the node is not calm, the transaction reads the version slots at its snapshot. That is one more call until the
//!   definition is over.
//! - No node reads another node's clock. A waiting node counts a lease on its own monotonic clock, from the time its
//!   wish was stored.
//!
//! The same rows carry DDL's metadata locks. Each node takes the lock among its own transactions (`grants`) for the
//! requesting node. The requester waits until a silent node is *given up*. Its fence is written first, a row that all
//! its writing or defining transactions require to be unchanged. Then its row is removed. A node that was given up
//! joins again under another number. A node that nobody waits for is not given up soon: after a pause of some seconds,
//! it continues its work.
//!
//! A store that is used by a single process has no such rows and no such cost.

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

/// The intervals and timeouts of nodes. They must be equal on all nodes of a store.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions {
    /// Interval between beats while nothing changes.
    pub rest: Duration,
    /// Interval between beats while something changes.
    pub short_rest: Duration,
    /// How long a look at the other nodes is valid, counted from its start.
    pub lease: Duration,
    /// Additional wait beyond a lease for a silent node, because clocks run at different speeds.
    pub margin: Duration,
    /// A node without a beat for this long is given up if another one waits for it. Only time in which the waiting node
    /// looked at least every second rest counts: a stalled store or machine does not mean that a node is dead.
    pub dead_after: Duration,
    /// A node without a beat for this long is given up even if nobody waits for it.
    pub forget_after: Duration,
    /// How long a definition stays announced after its end, because more may follow. Also how long beats stay frequent
    /// after a wish or an answer.
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

/// Longest wait for other nodes without a timeout. After it, the wait counts as a deadlock across nodes.
const PATIENCE: Duration = Duration::from_secs(60);

/// This node among those that serve the store. A server has one instance, if there can be several nodes.
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
    /// Notifies about new information in either direction.
    changed: Notify,
    /// Requests the next beat at once.
    wake: Notify,
    /// Notifies that a node has gone.
    gone: Notify,
    /// This node has left and writes no more beats.
    left: AtomicBool,
    this: Weak<Nodes>,
}

/// A wish of this node. Dropping it withdraws the wish.
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
    /// Joins the nodes of a store and starts the beats. Errors: those of the store.
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
    /// The environment: time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
    /// This node's current number.
    pub fn id(&self) -> u64 {
        self.state.lock().node
    }
    /// The row that this node's writing or defining transactions require to be unchanged at COMMIT. Other nodes write
    /// it when they give this node up. Call it after taking the snapshot, so that the row is unwritten in it. Waits
    /// while this node has no valid look at the others. Errors: 40001 if that takes long.
    pub async fn fence(&self) -> Result<bytes::Bytes> {
        self.until(|now, waited| {
            let state = self.state.lock();
            // A node that saw its own row less than a lease ago cannot have been given up since.
            if now < state.lease_until && state.trusted == Some(state.node) {
                return Some(Ok(keys::node_fence(state.node)));
            }
            self.wake.notify_one();
            (waited >= PATIENCE).then(|| Err(gives_way()))
        })
        .await
    }
    /// Calls `look` after each change until it answers. Its arguments are the current time and the time waited so far.
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
    /// Number of other nodes that are known.
    pub fn others(&self) -> usize {
        self.state.lock().others.len()
    }
    /// The contents of the version slots for a transaction with this snapshot, if they are known without reading.
    pub(super) fn stamp_at(&self, snapshot: Timestamp) -> Option<Stamp> {
        // The snapshot was taken before this moment: see the module head.
        self.state.lock().stamp_at(snapshot, self.env.monotonic())
    }
    /// Whether a new transaction knows its catalog without a call to the store.
    pub fn is_calm(&self) -> bool {
        self.stamp_at(Timestamp::MAX).is_some()
    }
    /// Whether this node does the work that one node does for all: removing dropped data.
    pub fn is_first(&self) -> bool {
        self.state.lock().is_first(self.env.monotonic())
    }
    /// Whether reserved sequence values may be handed out.
    pub(super) fn has_lease(&self) -> bool {
        self.env.monotonic() < self.state.lock().lease_until
    }
    /// Whether the store currently has a row of the node. Errors: those of the store.
    pub async fn is_there(&self, node: u64) -> Result<bool> {
        Ok(self.rows.read_one(node).await?.is_some())
    }
    /// Resolves when another node has gone. Its index builds may be unfinished.
    pub async fn a_node_went(&self) {
        self.gone.notified().await;
    }

    /// Prepares the commit of a transaction that changes descriptors. From now until it ends, all other nodes read the
    /// version slots. Errors: 40001 if the store does not let them know.
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
    /// Takes a lock on all other nodes, or waits there for older writers, until the answer is dropped. Errors: 55P03
    /// after `timeout`; 40001 if another node wants the same lock and goes first, or on a deadlock across nodes.
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
            // A transaction that overlooks this one fails at COMMIT and runs again.
            _ => return Ok(None),
        };
        self.wish(wish, timeout).await.map(Some)
    }
    /// Invalidates values of a sequence that other nodes have reserved, until the answer is dropped.
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

    /// Makes one beat: writes this node's row, reads all rows, and acts on them. Errors: those of the store.
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
            // The answers are sent with the next beat.
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
    /// Withdraws the definition once all transactions that change descriptors have ended.
    async fn end_definition(&self) -> Result<()> {
        {
            let mut state = self.state.lock();
            state.definers.retain(|definer| definer.strong_count() > 0);
            let over = state.definers.is_empty() && self.env.monotonic() >= state.definition_until;
            if state.definition.is_none() || !over {
                return Ok(());
            }
        }
        // A commit whose answer was lost may still take effect. Readers of the slots resolve such locks.
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
    /// Reads the current catalog. The snapshot is taken after a look that found no definition.
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
    /// Gives up a silent node: fences its transactions, then removes its row.
    async fn give_up(&self, node: u64, value: &bytes::Bytes) -> Result<()> {
        let transaction = self.transactions.begin(TransactionOptions::default());
        // A tombstone, which garbage collection removes.
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
    /// Tells the other nodes that this one leaves, so that they need not wait for it.
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

/// The error 40001: run again, this node may be first then.
fn gives_way() -> SqlError {
    SqlError::new(sqlstate::SERIALIZATION_FAILURE, "could not serialize access due to a definition on another server")
        .hint("The transaction might succeed if retried.")
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Nodes")
    }
}
