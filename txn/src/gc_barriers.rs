//! Holds: rows that keep garbage collection from passing a snapshot. A named hold stays until it is released.
//!
//! A node that reads the past keeps a hold with a lease, and renews it while it reads. A node that cannot renew it
//! ends those readers before the lease ends for others. Other nodes measure the lease on their own monotonic clocks,
//! from when they first saw the row unchanged. So a wall clock that jumps ends no hold.
//!
//! If one process owns the store, its own readers need no row; see [`crate::readers::Readers`].

use crate::backoff::Backoff;
use crate::commit::STORE_PATIENCE;
use crate::data::decode_data;
use crate::error::{Result, TxnError};
use crate::store::TransactionStore;
use crate::{cas_cell, system};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use storage::{Cell, Family, ScanOptions, StoreError, Timestamp};

/// How long a node's hold is valid, from when its renewal was sent.
const LEASE: Duration = Duration::from_secs(30);
/// The interval of renewals.
const RENEWAL: Duration = Duration::from_secs(10);
/// How much longer other nodes respect a hold, because clocks run at different speeds.
const MARGIN: Duration = Duration::from_secs(10);
/// The end of a named hold.
const NEVER: u64 = u64::MAX;

/// The contents of a hold's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    /// The oldest snapshot that must stay readable.
    oldest: Timestamp,
    /// The end of the hold by the oracle's clock, in microseconds, for people only. [`NEVER`] for a named hold.
    until: u64,
}

impl Hold {
    fn cell(self) -> Cell {
        let mut bytes = BytesMut::with_capacity(16);
        bytes.put_u64(self.oldest.0);
        bytes.put_u64(self.until);
        cas_cell::cell(&bytes)
    }

    fn of(cell: &Cell) -> Result<Hold> {
        let damaged = |_| StoreError::Corrupted("the row of a held snapshot".into());
        let mut bytes = decode_data(&cell.value)?;
        let oldest = Timestamp(bytes.try_get_u64().map_err(damaged)?);
        Ok(Hold { oldest, until: bytes.try_get_u64().map_err(damaged)? })
    }
}

/// This node's hold for its readers of the past.
#[derive(Default)]
pub(crate) struct NodeHold {
    state: Mutex<NodeHoldState>,
    changing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct NodeHoldState {
    /// The cell in the row, as far as known.
    row: Option<Cell>,
    /// The end of the hold's validity, by the monotonic clock.
    until: Duration,
    renewing: bool,
}

impl TransactionStore {
    /// Keeps the versions that a snapshot at `ts` reads until `name` is released, across restarts and on every node.
    /// Errors: garbage collection has already passed `ts`.
    pub async fn hold_snapshot(&self, name: &str, ts: Timestamp) -> Result<()> {
        let (key, cell) = (system::named_hold_key(name), Hold { oldest: ts, until: NEVER }.cell());
        self.change_hold(&key, None, Some(&cell)).await?;
        // Written first and checked later, because the collector announces the safe point first and
        // looks for holds later.
        self.reload_safe_point().await?;
        if ts < self.safe_point() {
            self.change_hold(&key, Some(&cell), None).await?;
            return Err(TxnError::SnapshotTooOld { snapshot_ts: ts, safe_point: self.safe_point() });
        }
        Ok(())
    }

    /// Releases the snapshot held under `name`. Answers whether there was one.
    pub async fn release_snapshot(&self, name: &str) -> Result<bool> {
        let key = system::named_hold_key(name);
        let Some(cell) = cas_cell::read(&*self.store, &key).await? else { return Ok(false) };
        self.change_hold(&key, Some(&cell), None).await?;
        Ok(true)
    }

    /// The oldest snapshot that a row holds. Removes the rows of nodes that are gone.
    pub(crate) async fn oldest_hold(&self) -> Result<Option<Timestamp>> {
        let mut rows = self.store.scan(system::holds(), cas_cell::filter(), ScanOptions::default());
        let (mut oldest, mut ended, mut seen) = (None, Vec::new(), HashMap::new());
        while let Some(batch) = rows.next().await {
            for row in batch? {
                let Some(cell) = row.newest(Family::Data) else { continue };
                let hold = Hold::of(cell)?;
                if hold.until != NEVER {
                    let since = self.still_since(&row.key, cell);
                    if self.env.monotonic().saturating_sub(since) > LEASE + MARGIN {
                        ended.push((row.key.clone(), cell.clone()));
                        continue;
                    }
                    seen.insert(row.key.clone(), (cell.clone(), since));
                }
                oldest = Some(oldest.map_or(hold.oldest, |oldest: Timestamp| oldest.min(hold.oldest)));
            }
        }
        drop(rows);
        *self.seen_holds.lock() = seen;
        for (key, cell) in ended {
            let (conditions, mutations) = cas_cell::change(Some(&cell), None);
            self.change_row(&key, conditions, mutations).await?;
        }
        Ok(oldest)
    }

    /// The monotonic time since which this node has seen the row of a hold unchanged.
    fn still_since(&self, key: &Bytes, cell: &Cell) -> Duration {
        let known = self.seen_holds.lock().get(key).filter(|(before, _)| before == cell).map(|(_, since)| *since);
        known.unwrap_or_else(|| self.env.monotonic())
    }

    /// Holds the oldest past snapshot of this node's readers, by a row with a lease.
    pub(crate) async fn hold_past_readers(&self) -> Result<()> {
        self.renew_hold().await?;
        if std::mem::replace(&mut self.node_hold.state.lock().renewing, true) {
            return Ok(());
        }
        let (weak, env) = (self.this.clone(), self.env.clone());
        self.env.spawn(
            "hold-snapshots",
            Box::pin(async move {
                loop {
                    env.sleep(RENEWAL).await;
                    let Some(store) = weak.upgrade() else { return };
                    match store.renew_hold().await {
                        Ok(true) => {}
                        Ok(false) => return,
                        Err(error) => tracing::warn!(%error, "the hold of this node's past snapshots was not renewed"),
                    }
                }
            }),
        );
        Ok(())
    }

    /// Whether this node's hold is valid now.
    pub(crate) fn holds_past_readers(&self) -> bool {
        self.env.monotonic() < self.node_hold.state.lock().until
    }

    /// Writes the oldest past snapshot into this node's row. If there is none, removes the row and answers false.
    async fn renew_hold(&self) -> Result<bool> {
        let _one_at_a_time = self.node_hold.changing.lock().await;
        let key = system::node_hold_key(self.node);
        let sent = self.env.monotonic();
        let physical = self.oracle.timestamp().await?.physical_micros;
        let before = self.node_hold.state.lock().row.clone();
        let Some(oldest) = self.past_readers.oldest() else {
            if let Some(before) = &before {
                self.change_hold(&key, Some(before), None).await?;
            }
            let mut state = self.node_hold.state.lock();
            (state.row, state.until) = (None, Duration::ZERO);
            // A reader that registers from here on starts a renewal of its own.
            state.renewing = self.past_readers.oldest().is_some();
            return Ok(state.renewing);
        };
        let cell = Hold { oldest, until: physical + LEASE.as_micros() as u64 }.cell();
        self.change_hold(&key, before.as_ref(), Some(&cell)).await?;
        let mut state = self.node_hold.state.lock();
        (state.row, state.until) = (Some(cell), sent + LEASE);
        Ok(true)
    }

    /// Replaces the cell at `key`, which should be `before`, by `next`. The change is conditional, so that a delayed
    /// older request cannot replace a newer cell.
    async fn change_hold(&self, key: &Bytes, before: Option<&Cell>, next: Option<&Cell>) -> Result<()> {
        let mut before = before.cloned();
        let mut patience = Backoff::within(self.env.clone(), STORE_PATIENCE);
        loop {
            let (conditions, mutations) = cas_cell::change(before.as_ref(), next);
            if self.change_row(key, conditions, mutations).await? {
                return Ok(());
            }
            before = cas_cell::read(&*self.store, key).await?;
            if before.as_ref() == next {
                return Ok(());
            }
            if !patience.pause().await {
                return Err(StoreError::Unavailable("a held snapshot could not be noted".into()).into());
            }
        }
    }
}
