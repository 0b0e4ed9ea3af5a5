//! Fulfills the wishes of other nodes. It takes metadata locks among this node's transactions for them, and drops
//! reserved sequence values, until the wish is withdrawn.

use super::Nodes;
use super::row::{NodeId, Wish};
use super::state::Grant;
use crate::HeldLocks;
use crate::metadata_lock::{LockMode, LockTarget};
use futures::channel::oneshot;
use futures::future::{Either, select};
use sql_error::Result;
use std::sync::{Arc, Weak};

impl Nodes {
    /// Starts to fulfill a wish of another node.
    pub(super) fn begin_grant(&self, key: (NodeId, u64), wish: Wish) {
        let (stop, stopped) = oneshot::channel();
        // From now on, new transactions read the version slots.
        let answer = (wish == Wish::Definition).then_some(true);
        {
            let mut state = self.state.lock();
            state.calm = None;
            state.grants.insert(key, Grant { answer, _stop: stop });
        }
        let Some(this) = self.this.upgrade() else { return };
        let work = async move {
            match wish {
                Wish::Definition => {}
                Wish::Sequence(storage_id) => {
                    let _voided = this.sequences.void(storage_id).await;
                    this.answer(key, true);
                    let _ = stopped.await;
                }
                Wish::Table { owner, .. } | Wish::Change { owner, .. } | Wish::Drain { owner, .. } => {
                    let held = this.held_for(key.0, owner);
                    let result = select(Box::pin(take(&held, &wish)), stopped).await;
                    if let Either::Left((result, stopped)) = result {
                        this.answer(key, result.is_ok());
                        let _ = stopped.await;
                    }
                }
            }
        };
        self.env.spawn("node grant", Box::pin(work));
    }
    /// The locks of another node's transaction. All of its wishes share one owner, so that cycles of waiting are
    /// detected.
    fn held_for(&self, node: NodeId, owner: u64) -> Arc<HeldLocks> {
        let mut held_for = self.held_for.lock();
        held_for.retain(|_, held| held.strong_count() > 0);
        if let Some(held) = held_for.get(&(node, owner)).and_then(Weak::upgrade) {
            return held;
        }
        let held = self.locks.begin();
        held_for.insert((node, owner), Arc::downgrade(&held));
        held
    }
    fn answer(&self, key: (NodeId, u64), granted: bool) {
        if let Some(grant) = self.state.lock().grants.get_mut(&key) {
            grant.answer = Some(granted);
        }
        self.wake.notify_one();
    }
}

async fn take(held: &HeldLocks, wish: &Wish) -> Result<()> {
    match wish {
        Wish::Table { oid, .. } => held.exclusive_here(*oid, None).await,
        Wish::Change { oid, .. } => held.acquire_here(LockTarget::Change(*oid), LockMode::Exclusive, None).await,
        Wish::Drain { oid, version, .. } => {
            held.acquire_here(LockTarget::Table(*oid), LockMode::Drain(*version), None).await
        }
        Wish::Definition | Wish::Sequence(_) => Ok(()),
    }
}
