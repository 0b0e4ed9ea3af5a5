//! What a node does for the wishes of others: it takes metadata locks among its own transactions on their behalf, and
//! forgets reserved values of sequences, until the wish is gone.

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
    /// Sees to a wish of another node.
    pub(super) fn begin_grant(&self, key: (NodeId, u64), wish: Wish) {
        let (stop, stopped) = oneshot::channel();
        // From here on transactions that begin look into the store.
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
    /// The locks of a transaction of another node: one owner for all of its wishes, so that waiting in a circle shows.
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
