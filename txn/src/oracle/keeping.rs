//! The oracle's node as keeper of the locks of all nodes, for as long as its lease is certainly valid.

use super::Oracle;
use super::election::{Election, Role};
use crate::locks::{LockKeeper, LockReply, LockRequest};
use futures::channel::oneshot;
use futures::future::{Either, select};
use std::pin::pin;
use std::result::Result;
use std::sync::Arc;
use storage::BoxFuture;
use tokio::sync::watch;

impl Oracle {
    /// Answers another node that asks for locks. Errors are messages: this node does not hold that tenure,
    /// or no longer does.
    pub async fn serve_locks(&self, request: LockRequest) -> Result<LockReply, String> {
        self.keep(request, false).await
    }

    /// Asks the node that keeps the locks.
    pub(crate) fn ask_for_locks(&self, request: LockRequest) -> BoxFuture<'_, Result<LockReply, String>> {
        let election = match &self.election {
            Some(election) => election,
            None => return Box::pin(async { Err("no other node shares the store".to_owned()) }),
        };
        match election.role() {
            Role::Holder(_) => Box::pin(self.keep_here(request)),
            Role::Other { row, .. } if row.tenure == request.tenure => {
                election.transport.ask_for_locks(&row.address, request)
            }
            _ => Box::pin(async { Err("another node keeps the locks".to_owned()) }),
        }
    }

    /// Serves the request in a task of its own, like a remote one. So a caller that does not poll
    /// its request blocks nobody.
    async fn keep_here(&self, request: LockRequest) -> Result<LockReply, String> {
        let (mut answer, answered) = oneshot::channel();
        if let Some(oracle) = self.this.upgrade() {
            let work = async move {
                let kept = oracle.keep(request, true);
                let kept = match select(pin!(kept), answer.cancellation()).await {
                    Either::Left((kept, _)) => kept,
                    Either::Right(_) => return,
                };
                // A caller that has gone abandons the request.
                let _ = answer.send(kept);
            };
            self.env.spawn("lock-request", Box::pin(work));
        }
        answered.await.unwrap_or_else(|_| Err("this node is stopping".to_owned()))
    }

    async fn keep(&self, request: LockRequest, own: bool) -> Result<LockReply, String> {
        let Some(election) = &self.election else { return Err("this node keeps no locks".to_owned()) };
        let tenure = request.tenure;
        self.check_tenure(election, tenure)?;
        while !election.keeper.admits(&request) {
            self.renew_lease(election).await.map_err(|error| error.to_string())?;
        }
        let reply = election.keeper.serve(request, own).await?;
        // During the wait another node may have become the keeper.
        self.check_tenure(election, tenure)?;
        Ok(reply)
    }

    fn check_tenure(&self, election: &Election, tenure: u64) -> Result<(), String> {
        match election.role() {
            Role::Holder(row) if row.tenure == tenure && self.is_holder() => Ok(()),
            _ => Err("this node is not the oracle that was asked for".to_owned()),
        }
    }

    /// Whether this node keeps the locks now, in this tenure.
    pub(crate) fn keeps_locks(&self, tenure: u64) -> bool {
        self.election.as_ref().is_some_and(|election| self.check_tenure(election, tenure).is_ok())
    }

    /// The current keeper's tenure, as far as this node knows.
    pub(crate) fn lock_tenure(&self) -> Option<u64> {
        match self.election.as_ref()?.role() {
            Role::Holder(row) | Role::Other { row, .. } => Some(row.tenure),
            Role::Nobody | Role::Left => None,
        }
    }

    /// Signals when another node becomes the oracle. `None` if there are no other nodes.
    pub(crate) fn role_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.election.as_ref()?.changes.subscribe())
    }

    /// Lets the row of the lease be looked at soon.
    pub(crate) fn look_soon(&self) {
        if let Some(election) = &self.election {
            election.look_soon();
        }
    }

    /// The keeper of locks on this node, where several nodes can share the store.
    pub(crate) fn keeper(&self) -> Option<&Arc<LockKeeper>> {
        self.election.as_ref().map(|election| &election.keeper)
    }
}
