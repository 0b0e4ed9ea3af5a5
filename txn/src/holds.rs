//! Holds: rows that keep garbage collection from passing a snapshot. A named one stays until it is released. A node
//! that reads the past keeps one with a lease, which it renews while it reads; a node that cannot renew it
//! ends those readers before the lease is over for others. Others count it by their own monotonic clocks, from when they found
//! the row as it is: no wall clock, which may jump, ends a hold.
//!
//! Where one process owns the store its own readers need no row; see [`crate::readers::Readers`].

use crate::backoff::Backoff;
use crate::commit::STORE_PATIENCE;
use crate::data::decode_data;
use crate::error::{Result, TxnError};
use crate::store::TransactionStore;
use crate::{register, system};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use storage::{Cell, Family, ScanOptions, StoreError, Timestamp};

/// How long a node's hold is good for, counted from when its renewal was sent.
const LEASE: Duration = Duration::from_secs(30);
/// How often it is renewed.
const RENEWAL: Duration = Duration::from_secs(10);
/// How much longer others respect it: for clocks that do not run alike.
const MARGIN: Duration = Duration::from_secs(10);
/// When a named hold ends.
const NEVER: u64 = u64::MAX;

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    /// Oldest snapshot that must stay readable.
    oldest: Timestamp,
    /// The oracle's clock, in microseconds, at which it ends; [`NEVER`] of a named one. What the clock shows is for people.
    until: u64,
}

impl Hold {
    fn cell(self) -> Cell {
        let mut bytes = BytesMut::with_capacity(16);
        bytes.put_u64(self.oldest.0);
        bytes.put_u64(self.until);
        register::cell(&bytes)
    }

    fn of(cell: &Cell) -> Result<Hold> {
        let damaged = |_| StoreError::Corrupted("the row of a held snapshot".into());
        let mut bytes = decode_data(&cell.value)?;
        let oldest = Timestamp(bytes.try_get_u64().map_err(damaged)?);
        Ok(Hold { oldest, until: bytes.try_get_u64().map_err(damaged)? })
    }
}

/// This node's hold.
#[derive(Default)]
pub(crate) struct NodeHold {
    state: Mutex<NodeHoldState>,
    changing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct NodeHoldState {
    /// What lies in the row, as far as we know.
    row: Option<Cell>,
    /// Until when it is good, by the monotonic clock.
    until: Duration,
    renewing: bool,
}

impl TransactionStore {
    /// Keeps what a snapshot at `ts` reads from being collected until `name` is released, across restarts and on
    /// every node. Errors: `ts` was collected already.
    pub async fn hold_snapshot(&self, name: &str, ts: Timestamp) -> Result<()> {
        let (key, cell) = (system::named_hold_key(name), Hold { oldest: ts, until: NEVER }.cell());
        self.change_hold(&key, None, Some(&cell)).await?;
        // Written first, checked then: the collector announces the safe point first and looks for holds then.
        self.reload_safe_point().await?;
        if ts < self.safe_point() {
            self.change_hold(&key, Some(&cell), None).await?;
            return Err(TxnError::SnapshotTooOld { snapshot_ts: ts, safe_point: self.safe_point() });
        }
        Ok(())
    }

    /// Lets garbage collection pass a snapshot held under `name`. Answers whether there was one.
    pub async fn release_snapshot(&self, name: &str) -> Result<bool> {
        let key = system::named_hold_key(name);
        let Some(cell) = register::read(&*self.store, &key).await? else { return Ok(false) };
        self.change_hold(&key, Some(&cell), None).await?;
        Ok(true)
    }

    /// The oldest snapshot that a row holds. Removes the rows of nodes that are gone.
    pub(crate) async fn oldest_hold(&self) -> Result<Option<Timestamp>> {
        let mut rows = self.store.scan(system::holds(), register::filter(), ScanOptions::default());
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
            let (conditions, mutations) = register::change(Some(&cell), None);
            self.change_row(&key, conditions, mutations).await?;
        }
        Ok(oldest)
    }

    /// Since when the row of a hold lies still, as far as this node has looked.
    fn still_since(&self, key: &Bytes, cell: &Cell) -> Duration {
        let known = self.seen_holds.lock().get(key).filter(|(before, _)| before == cell).map(|(_, since)| *since);
        known.unwrap_or_else(|| self.env.monotonic())
    }

    /// Holds the oldest past snapshot of this node's readers from now on, by a row with a lease.
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

    /// Whether this node's hold is good at this moment.
    pub(crate) fn holds_past_readers(&self) -> bool {
        self.env.monotonic() < self.node_hold.state.lock().until
    }

    /// Puts the oldest past snapshot into this node's row; answers false, with the row removed, when there is none.
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
            // Who registers from here on begins a renewal of its own.
            state.renewing = self.past_readers.oldest().is_some();
            return Ok(state.renewing);
        };
        let cell = Hold { oldest, until: physical + LEASE.as_micros() as u64 }.cell();
        self.change_hold(&key, before.as_ref(), Some(&cell)).await?;
        let mut state = self.node_hold.state.lock();
        (state.row, state.until) = (Some(cell), sent + LEASE);
        Ok(true)
    }

    /// Puts `next` in place of what lies at `key`, `before` being what should. On condition of what lies there: an
    /// older request that comes late must not take its place.
    async fn change_hold(&self, key: &Bytes, before: Option<&Cell>, next: Option<&Cell>) -> Result<()> {
        let mut before = before.cloned();
        let mut patience = Backoff::within(self.env.clone(), STORE_PATIENCE);
        loop {
            let (conditions, mutations) = register::change(before.as_ref(), next);
            if self.change_row(key, conditions, mutations).await? {
                return Ok(());
            }
            before = register::read(&*self.store, key).await?;
            if before.as_ref() == next {
                return Ok(());
            }
            if !patience.pause().await {
                return Err(StoreError::Unavailable("a held snapshot could not be noted".into()).into());
            }
        }
    }
}
