//! [`NodeLease`]: one node at a time on a store that several could open. Each node has an oracle of its own so far, and
//! two that know nothing of each other would hand out timestamps in no common order.
//!
//! The lease lies in one row, changed only on condition of what it was. Its holder counts it from when a renewal was
//! *sent*; who wants it watches the row for longer than a whole lease, without a change. Neither asks the wall clock.
//! Must not know what timestamps are for.

use crate::data::{decode_data, encode_data};
use crate::error::{Result, TxnError};
use crate::resolver::exactly;
use crate::system;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::{
    Cell, ClassRange, Condition, EnvRef, Family, Mutation, ReadFilter, Store, StoreError, StoreRef, Timestamp,
    TimestampRange,
};

/// How long a renewal is good for, counted from when it was sent.
const LEASE: Duration = Duration::from_secs(5);
/// How often it is renewed.
const RENEWAL: Duration = Duration::from_millis(1500);
/// How much longer than a lease it must lie still before it is taken: for clocks that do not run alike.
const MARGIN: Duration = Duration::from_secs(1);
/// The one version of the cell: it is overwritten in place.
const VERSION: Timestamp = Timestamp(1);

/// What the row says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder {
    /// Drawn by each holder.
    identity: u64,
    /// Grows with every renewal.
    beat: u64,
    /// Whether it is held: a holder that stops in order gives it free.
    held: bool,
    /// Who it is, for people.
    name: String,
}

impl Holder {
    fn cell(&self) -> Cell {
        let mut bytes = BytesMut::with_capacity(17 + self.name.len());
        bytes.put_u64(self.identity);
        bytes.put_u64(self.beat);
        bytes.put_u8(u8::from(self.held));
        bytes.put_slice(self.name.as_bytes());
        Cell { family: Family::Data, timestamp: VERSION, value: encode_data(&bytes) }
    }

    fn of(cell: &Cell) -> Result<Holder> {
        let mut bytes = decode_data(&cell.value)?;
        let damaged = |_| TxnError::Store(StoreError::Corrupted("the row of the node's lease".into()));
        let identity = bytes.try_get_u64().map_err(damaged)?;
        let beat = bytes.try_get_u64().map_err(damaged)?;
        let held = bytes.try_get_u8().map_err(damaged)? != 0;
        Ok(Holder { identity, beat, held, name: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

struct State {
    /// What we wrote last, as far as we know.
    holder: Holder,
    /// Until when it is good, by the monotonic clock.
    until: Duration,
    /// Why it will not be ours again.
    lost: Option<String>,
}

/// See the head of the module.
pub struct NodeLease {
    /// Weak, because a store may hold the oracle, which holds the lease.
    store: Weak<dyn Store>,
    env: EnvRef,
    state: Mutex<State>,
    changing: tokio::sync::Mutex<()>,
}

async fn read(store: &dyn Store) -> Result<Option<Cell>> {
    let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1);
    let key: Bytes = system::node_key();
    let rows = store.read(std::slice::from_ref(&key), &filter).await?;
    Ok(rows.first().and_then(|row| row.newest(Family::Data)).cloned())
}

/// Puts `next` in place of what was `seen`. `None`: nobody can tell whether it did.
async fn change(store: &dyn Store, seen: Option<&Cell>, next: &Cell) -> Result<Option<bool>> {
    let absent =
        || Condition::NoCell { family: Family::Data, range: TimestampRange::ALL, class: ClassRange::ANY, except: None };
    let set = Mutation::Set { family: next.family, timestamp: next.timestamp, value: next.value.clone() };
    let condition = seen.map_or_else(absent, exactly);
    match store.check_and_mutate(system::node_key(), vec![condition], vec![set]).await {
        Ok(done) => Ok(Some(done)),
        Err(StoreError::Undetermined(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl NodeLease {
    /// Takes the lease and renews it from then on, as long as somebody holds on to what is returned. `name` tells
    /// people who has it. Waits while a holder may live that gives no sign. Errors: `StoreError::InUse` with the
    /// name of a holder that lives.
    pub async fn acquire(store: &StoreRef, env: &EnvRef, name: &str) -> Result<Arc<NodeLease>> {
        let holder = Holder { identity: env.random(), beat: 0, held: true, name: name.to_owned() };
        let mut seen = read(&**store).await?;
        let sent = loop {
            if let Some(cell) = &seen
                && Holder::of(cell)?.held
            {
                tracing::info!(holder = Holder::of(cell)?.name, "waiting for the lease of a node that may have died");
                env.sleep(LEASE + MARGIN).await;
                let now = read(&**store).await?;
                if now != seen {
                    match now.as_ref().map(Holder::of).transpose()? {
                        Some(other) if other.held => return Err(StoreError::InUse(other.name).into()),
                        _ => seen = now,
                    }
                    continue;
                }
            }
            let sent = env.monotonic();
            if change(&**store, seen.as_ref(), &holder.cell()).await? == Some(true) {
                break sent;
            }
            seen = read(&**store).await?;
            if seen.as_ref() == Some(&holder.cell()) {
                break sent;
            }
        };
        let lease = Arc::new(NodeLease {
            store: Arc::downgrade(store),
            env: env.clone(),
            state: Mutex::new(State { holder, until: sent + LEASE, lost: None }),
            changing: tokio::sync::Mutex::new(()),
        });
        let (kept, clock) = (Arc::downgrade(&lease), env.clone());
        env.spawn(
            "node-lease",
            Box::pin(async move {
                loop {
                    clock.sleep(RENEWAL).await;
                    let Some(lease) = kept.upgrade() else { return };
                    if lease.lost().is_some() {
                        return;
                    }
                    if let Err(error) = lease.renew().await {
                        tracing::warn!(%error, "the node's lease could not be renewed");
                    }
                }
            }),
        );
        Ok(lease)
    }

    /// Whether it is held at this moment: a timestamp may be handed out for what was asked before. Errors:
    /// it ran out or was lost.
    pub fn check(&self) -> Result<()> {
        let state = self.state.lock();
        match &state.lost {
            Some(why) => Err(StoreError::Unavailable(why.clone()).into()),
            None if self.env.monotonic() < state.until => Ok(()),
            None => {
                let why = "the store did not answer for so long that this node's lease on it ran out";
                Err(StoreError::Unavailable(why.to_owned()).into())
            }
        }
    }

    /// Why it will not come back; `None` while it is held or may be again.
    pub fn lost(&self) -> Option<String> {
        self.state.lock().lost.clone()
    }

    fn store(&self) -> Result<StoreRef> {
        self.store.upgrade().ok_or_else(|| StoreError::Unavailable("the store was closed".into()).into())
    }

    async fn renew(&self) -> Result<()> {
        let _one_at_a_time = self.changing.lock().await;
        let store = self.store()?;
        loop {
            let holder = match &*self.state.lock() {
                State { lost: Some(_), .. } => return Ok(()),
                State { holder, .. } => holder.clone(),
            };
            let next = Holder { beat: holder.beat + 1, ..holder.clone() };
            let sent = self.env.monotonic();
            if change(&*store, Some(&holder.cell()), &next.cell()).await? == Some(true) {
                let mut state = self.state.lock();
                state.holder = next;
                state.until = sent + LEASE;
                return Ok(());
            }
            let found = read(&*store).await?;
            if found.as_ref() == Some(&next.cell()) {
                // Ours, by an attempt that may have been sent long before this one: good for nothing yet but the next.
                self.state.lock().holder = next;
            } else if found.as_ref() != Some(&holder.cell()) {
                let other = found.as_ref().map(Holder::of).transpose()?.map(|other| other.name).unwrap_or_default();
                let why = format!("another node ({other}) took the store over while this one gave no sign of life");
                tracing::error!(why);
                self.state.lock().lost = Some(why);
                return Ok(());
            }
        }
    }

    /// Gives it free, so that the next node need not wait. No timestamp may be needed any more.
    pub async fn release(&self) -> Result<()> {
        let _one_at_a_time = self.changing.lock().await;
        let store = self.store()?;
        let holder = {
            let mut state = self.state.lock();
            if state.lost.replace("this node gave the store free".to_owned()).is_some() {
                return Ok(());
            }
            state.holder.clone()
        };
        let free = Holder { beat: holder.beat + 1, held: false, ..holder.clone() };
        // Whoever comes next waits when this fails.
        change(&*store, Some(&holder.cell()), &free.cell()).await.map(|_| ())
    }
}
