//! The garbage collector's lease: one node collects at a time where several could. Two at once would do no harm but
//! double work, so the lease is judged by the oracle's clock alone, and the next pass may follow at once.

use crate::data::{decode_data, encode_data};
use crate::error::Result;
use crate::resolver::exactly;
use crate::store::TransactionStore;
use crate::system;
use bytes::{Buf, BufMut, BytesMut};
use std::time::Duration;
use storage::{Cell, ClassRange, Condition, Family, Mutation, ReadFilter, StoreError, Timestamp, TimestampRange};

/// How long a node that collects may give no sign.
const LEASE: Duration = Duration::from_secs(60);
/// The one version of the lease's cell: it is overwritten in place.
const VERSION: Timestamp = Timestamp(1);

/// A pass under way on this node.
pub(crate) struct GcLease {
    cell: Cell,
    /// When it has to be renewed, by the monotonic clock.
    renew_at: Duration,
}

fn cell(node: u64, until: u64, finished: u64) -> Cell {
    let mut bytes = BytesMut::with_capacity(24);
    bytes.put_u64(node);
    bytes.put_u64(until);
    bytes.put_u64(finished);
    Cell { family: Family::Data, timestamp: VERSION, value: encode_data(&bytes) }
}

/// Until when it is held, and when the last pass was finished, both by the oracle's clock.
fn parse(cell: &Cell) -> Result<(u64, u64)> {
    let damaged = |_| StoreError::Corrupted("the garbage collector's lease".into());
    let mut bytes = decode_data(&cell.value)?;
    bytes.try_get_u64().map_err(damaged)?;
    let until = bytes.try_get_u64().map_err(damaged)?;
    Ok((until, bytes.try_get_u64().map_err(damaged)?))
}

impl TransactionStore {
    /// Begins a pass, unless another node is at one or finished one less than `pause` ago.
    pub(crate) async fn begin_collecting(&self, pause: Duration) -> Result<Option<GcLease>> {
        let found = self.read_lease().await?;
        let now = self.oracle.timestamp().await?.physical_micros;
        let mut condition = Condition::NoCell {
            family: Family::Data,
            range: TimestampRange::ALL,
            class: ClassRange::ANY,
            except: None,
        };
        let mut finished = 0;
        if let Some(found) = &found {
            let (until, last) = parse(found)?;
            if until > now || last.saturating_add(pause.as_micros() as u64) > now {
                return Ok(None);
            }
            (condition, finished) = (exactly(found), last);
        }
        self.set_lease(condition, finished, now).await
    }

    /// Goes on with a pass. `None`: it took so long that another node may be at it.
    pub(crate) async fn go_on_collecting(&self, lease: GcLease) -> Result<Option<GcLease>> {
        if self.env.monotonic() < lease.renew_at {
            return Ok(Some(lease));
        }
        let (_, finished) = parse(&lease.cell)?;
        let now = self.oracle.timestamp().await?.physical_micros;
        self.set_lease(exactly(&lease.cell), finished, now).await
    }

    /// Ends a pass.
    pub(crate) async fn end_collecting(&self, lease: GcLease) -> Result<()> {
        let now = self.oracle.timestamp().await?.physical_micros;
        let free = cell(self.node, 0, now);
        let set = Mutation::Set { family: Family::Data, timestamp: VERSION, value: free.value };
        self.change_row(&system::gc_lease_key(), vec![exactly(&lease.cell)], vec![set]).await?;
        Ok(())
    }

    async fn read_lease(&self) -> Result<Option<Cell>> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1);
        let rows = self.store.read(&[system::gc_lease_key()], &filter).await?;
        Ok(rows.first().and_then(|row| row.newest(Family::Data)).cloned())
    }

    async fn set_lease(&self, condition: Condition, finished: u64, now: u64) -> Result<Option<GcLease>> {
        let renew_at = self.env.monotonic() + LEASE / 3;
        let cell = cell(self.node, now + LEASE.as_micros() as u64, finished);
        let set = Mutation::Set { family: Family::Data, timestamp: VERSION, value: cell.value.clone() };
        let held = self.change_row(&system::gc_lease_key(), vec![condition], vec![set]).await?
            // The answer may have been lost.
            || self.read_lease().await?.as_ref() == Some(&cell);
        Ok(held.then_some(GcLease { cell, renew_at }))
    }
}
