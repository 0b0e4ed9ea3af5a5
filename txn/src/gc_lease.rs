//! The garbage collector's lease: of several nodes one collects at a time. Two collectors would only duplicate work.
//! So the oracle's clock alone decides about the lease, and the next pass may follow at once.

use crate::data::decode_data;
use crate::error::Result;
use crate::store::TransactionStore;
use crate::{cas_cell, system};
use bytes::{Buf, BufMut, BytesMut};
use std::time::Duration;
use storage::{Cell, StoreError};

/// How long a collecting node keeps the lease without renewal.
const LEASE: Duration = Duration::from_secs(60);

/// A pass under way on this node.
pub(crate) struct GcLease {
    cell: Cell,
    /// When the lease must be renewed, by the monotonic clock.
    renew_at: Duration,
}

fn cell(node: u64, until: u64, finished: u64) -> Cell {
    let mut bytes = BytesMut::with_capacity(24);
    bytes.put_u64(node);
    bytes.put_u64(until);
    bytes.put_u64(finished);
    cas_cell::cell(&bytes)
}

/// The end of the lease and the end of the last pass, both by the oracle's clock.
fn parse(cell: &Cell) -> Result<(u64, u64)> {
    let damaged = |_| StoreError::Corrupted("the garbage collector's lease".into());
    let mut bytes = decode_data(&cell.value)?;
    bytes.try_get_u64().map_err(damaged)?;
    let until = bytes.try_get_u64().map_err(damaged)?;
    Ok((until, bytes.try_get_u64().map_err(damaged)?))
}

impl TransactionStore {
    /// Begins a pass, unless another node is collecting or finished a pass less than `pause` ago.
    pub(crate) async fn begin_collecting(&self, pause: Duration) -> Result<Option<GcLease>> {
        let found = cas_cell::read(&*self.store, &system::gc_lease_key()).await?;
        let now = self.oracle.timestamp().await?.physical_micros;
        let (until, finished) = found.as_ref().map_or(Ok((0, 0)), parse)?;
        if until > now || finished.saturating_add(pause.as_micros() as u64) > now {
            return Ok(None);
        }
        self.set_lease(found.as_ref(), finished, now).await
    }

    /// Renews the lease of a pass. `None` if it took so long that another node may be collecting.
    pub(crate) async fn go_on_collecting(&self, lease: GcLease) -> Result<Option<GcLease>> {
        if self.env.monotonic() < lease.renew_at {
            return Ok(Some(lease));
        }
        let (_, finished) = parse(&lease.cell)?;
        let now = self.oracle.timestamp().await?.physical_micros;
        self.set_lease(Some(&lease.cell), finished, now).await
    }

    /// Ends a pass. `finished` tells whether it was complete.
    pub(crate) async fn end_collecting(&self, lease: GcLease, finished: bool) -> Result<()> {
        let finished = match finished {
            true => self.oracle.timestamp().await?.physical_micros,
            false => parse(&lease.cell)?.1,
        };
        let (conditions, mutations) = cas_cell::change(Some(&lease.cell), Some(&cell(self.node, 0, finished)));
        self.change_row(&system::gc_lease_key(), conditions, mutations).await?;
        Ok(())
    }

    async fn set_lease(&self, seen: Option<&Cell>, finished: u64, now: u64) -> Result<Option<GcLease>> {
        let renew_at = self.env.monotonic() + LEASE / 3;
        let (key, cell) = (system::gc_lease_key(), cell(self.node, now + LEASE.as_micros() as u64, finished));
        let (conditions, mutations) = cas_cell::change(seen, Some(&cell));
        let held = self.change_row(&key, conditions, mutations).await?
            // The answer may have been lost.
            || cas_cell::read(&*self.store, &key).await?.as_ref() == Some(&cell);
        Ok(held.then_some(GcLease { cell, renew_at }))
    }
}
