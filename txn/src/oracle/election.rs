//! [`Election`]: decides which node hands out timestamps: the holder of the lease. The holder counts its lease from
//! when a renewal was *sent*. Another node takes the lease when the row was unchanged for longer than a whole lease,
//! or when the lease was released. No wall clock is involved.
//!
//! A tenure begins above the high-water mark of the one before. A former holder may have assigned an answer in time
//! and sent it late. Even that answer lies below all timestamps of the successor.

use super::asking::{OracleTransport, Queue};
use super::lease::{self, LeaseRow};
use super::{Oracle, State, Tenure, unavailable};
use crate::error::{Result, TxnError};
use crate::locks::LockKeeper;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::{Cell, EnvRef, Store, StoreError, StoreRef, Timestamp};
use tokio::sync::{Notify, watch};

/// How long a renewal is valid, from when it was sent.
const LEASE: Duration = Duration::from_secs(3);
/// The interval of renewals.
const RENEWAL: Duration = Duration::from_millis(750);
/// How much longer than a lease the row must be unchanged before it is taken, because clocks run at different speeds.
const MARGIN: Duration = Duration::from_millis(750);
/// How often the other nodes look at the row.
const LOOK: Duration = Duration::from_millis(500);
/// How far ahead of need the high-water mark is set, in microseconds. A successor waits for longer than that.
const RESERVE_MICROS: u64 = 3_000_000;
/// Time limit of one read or change of the row.
const ATTEMPT: Duration = Duration::from_secs(1);
/// The most attempts to change the row in one renewal.
const ATTEMPTS: u32 = 5;

/// A node as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleNode {
    /// A name for people.
    pub name: String,
    /// `HOST:PORT` at which others ask it for timestamps. Without one it must be the only node.
    pub address: Option<String>,
}

/// The oracle, as far as this node knows.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// This node is the oracle. Holds the row as last written.
    Holder(LeaseRow),
    /// Another node is the oracle. Holds its row, and since when that is unchanged.
    Other { cell: Cell, row: LeaseRow, since: Duration },
    /// No node has been found yet.
    Nobody,
    /// This node takes no part any more.
    Left,
}

/// A node's part in the election. See the module documentation.
pub(super) struct Election {
    /// Weak, because a store may hold the oracle.
    store: Weak<dyn Store>,
    node: OracleNode,
    pub(super) transport: Arc<dyn OracleTransport>,
    pub(super) role: Mutex<Role>,
    /// Counts changes of the role.
    pub(super) changes: watch::Sender<u64>,
    /// Notified to look at the row.
    look: Arc<Notify>,
    changing: tokio::sync::Mutex<()>,
    pub(super) failure: Mutex<Option<String>>,
    pub(super) queue: Queue,
    /// The locks of all nodes, in use while this node is the oracle.
    pub(super) keeper: Arc<LockKeeper>,
}

impl Election {
    pub(super) fn role(&self) -> Role {
        self.role.lock().clone()
    }

    fn become_(&self, role: Role) {
        *self.role.lock() = role;
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Lets the row be looked at soon.
    pub(super) fn look_soon(&self) {
        self.look.notify_one();
    }

    /// Ends this node's part for good.
    pub(super) fn fail(&self, why: String) {
        tracing::error!(why, "this node cannot go on");
        self.failure.lock().get_or_insert(why);
        self.become_(Role::Left);
    }

    fn store(&self) -> Result<StoreRef> {
        self.store.upgrade().ok_or_else(|| unavailable("the store was closed"))
    }
}

/// Waits for `work` within the time limit of one attempt.
async fn soon<T>(env: &EnvRef, work: impl Future<Output = Result<T>>) -> Result<T> {
    match select(pin!(work), env.sleep(ATTEMPT)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(unavailable("the store does not answer about the oracle's lease")),
    }
}

/// Changes the row. `None`: it is unknown whether the change happened, and it may still happen.
async fn change(env: &EnvRef, store: &dyn Store, seen: Option<&Cell>, next: &LeaseRow) -> Result<Option<bool>> {
    match soon(env, lease::change(store, seen, &next.cell())).await {
        Err(TxnError::Store(StoreError::Unavailable(_))) => Ok(None),
        other => other,
    }
}

impl Oracle {
    /// Joins the nodes that share `store`. The node hands out timestamps while it holds the lease, and asks the
    /// holder otherwise. It takes part until the returned value is dropped. Errors: `StoreError::InUse` with the name
    /// of a live node that cannot be asked, or that could not ask this one.
    pub async fn join(
        store: &StoreRef,
        env: &EnvRef,
        node: OracleNode,
        transport: Arc<dyn OracleTransport>,
    ) -> Result<Arc<Oracle>> {
        let look = Arc::new(Notify::new());
        let election = Election {
            store: Arc::downgrade(store),
            node,
            transport,
            role: Mutex::new(Role::Nobody),
            changes: watch::Sender::new(0),
            look: look.clone(),
            changing: tokio::sync::Mutex::new(()),
            failure: Mutex::new(None),
            queue: Queue::default(),
            keeper: LockKeeper::new(env.clone()),
        };
        // The clock was never set. It shows the distant past, so nothing expires by it.
        let clock = super::Clock::showing(&**env, 0);
        let state = State { last: 0, clock, reserved: 0, tenure: Tenure::Not };
        let oracle = Oracle::with(env.clone(), state, Some(election));
        oracle.find_place().await?;
        let (weak, env) = (Arc::downgrade(&oracle), env.clone());
        env.clone().spawn("oracle-election", Box::pin(take_part(weak, env, look)));
        Ok(oracle)
    }

    /// Waits until this node is the oracle or can ask the oracle.
    async fn find_place(&self) -> Result<()> {
        let Some(election) = &self.election else { return Ok(()) };
        let mut first: Option<LeaseRow> = None;
        loop {
            // If the store does not answer at all, this is the error.
            self.look(election).await?;
            let row = match election.role() {
                Role::Holder(_) => return Ok(()),
                Role::Other { row, .. } => row,
                Role::Nobody => {
                    self.env.sleep(Duration::from_millis(20)).await;
                    continue;
                }
                Role::Left => return Err(unavailable(&self.failure().unwrap_or_default())),
            };
            if election.node.address.is_some() && !row.address.is_empty() {
                return Ok(());
            }
            match &first {
                Some(first) if first.beat != row.beat => return Err(StoreError::InUse(row.name).into()),
                Some(_) => {}
                None => {
                    tracing::info!(holder = row.name, "waiting for the lease of a node that may have died");
                    first = Some(row);
                }
            }
            self.env.sleep(LOOK).await;
        }
    }

    /// Looks at the row, and takes the lease if nobody has it.
    async fn look(&self, election: &Election) -> Result<()> {
        let _one_at_a_time = election.changing.lock().await;
        let role = election.role();
        if matches!(role, Role::Holder(_) | Role::Left) {
            return Ok(());
        }
        let store = election.store()?;
        let found = soon(&self.env, lease::read(&*store)).await?;
        // Taken after the read, so the row was written earlier.
        let now = self.env.monotonic();
        let row = found.as_ref().map(LeaseRow::of).transpose()?;
        let (Some(cell), Some(row)) = (&found, &row) else {
            return self.take_lease(election, &*store, None, None).await;
        };
        let still = match &role {
            Role::Other { cell: before, since, .. } if before == cell => Some(now.saturating_sub(*since)),
            _ => None,
        };
        if !row.held || still.is_some_and(|still| still > LEASE + MARGIN) {
            return self.take_lease(election, &*store, Some(cell), Some(row)).await;
        }
        if still.is_none() {
            self.follow(election, cell.clone(), row.clone(), now);
        }
        Ok(())
    }

    /// Notes that another node is the oracle, or was.
    fn follow(&self, election: &Election, cell: Cell, row: LeaseRow, now: Duration) {
        let known = matches!(election.role(), Role::Other { row: before, .. } if before.tenure == row.tenure);
        let next = Role::Other { cell, row: row.clone(), since: now };
        if known {
            *election.role.lock() = next;
            return;
        }
        if row.address.is_empty() {
            tracing::error!(
                holder = row.name,
                "timestamps come from a node that cannot be asked: it has no --advertise"
            );
        } else {
            tracing::info!(holder = row.name, address = row.address, "timestamps come from another node");
        }
        election.become_(next);
    }

    /// Takes the lease in place of the row that was seen.
    async fn take_lease(
        &self,
        election: &Election,
        store: &dyn Store,
        cell: Option<&Cell>,
        row: Option<&LeaseRow>,
    ) -> Result<()> {
        let floor = row.map_or(0, |row| row.high_water);
        let now = {
            let mut state = self.state.lock();
            if state.last > floor {
                let last = Timestamp(state.last);
                drop(state);
                election.fail(format!("timestamps go backwards: {last} was received, and the mark is at {floor}"));
                return Ok(());
            }
            state.clock.own(&*self.env)
        };
        let next = LeaseRow {
            tenure: self.env.random(),
            beat: row.map_or(0, |row| row.beat + 1),
            held: true,
            high_water: now.max(floor) + RESERVE_MICROS,
            holders: row.map(|row| row.holders.clone()).unwrap_or_default(),
            address: election.node.address.clone().unwrap_or_default(),
            name: election.node.name.clone(),
        };
        let sent = self.env.monotonic();
        if change(&self.env, store, cell, &next).await? != Some(true) {
            let found = soon(&self.env, lease::read(store)).await?;
            let read_at = self.env.monotonic();
            let Some(found) = found else { return Ok(()) };
            if found != next.cell() {
                let row = LeaseRow::of(&found)?;
                if row.held {
                    self.follow(election, found, row, read_at);
                }
                return Ok(());
            }
        }
        {
            let mut state = self.state.lock();
            self.start_above(&mut state, floor);
            state.reserved = next.high_water;
        }
        // Before any timestamp is handed out, because each tells commits whether to look for locks.
        election.keeper.begin(next.tenure, next.holders.clone()).await;
        self.state.lock().tenure = Tenure::Until(sent + LEASE);
        tracing::info!(above = floor, "this node hands out timestamps");
        election.become_(Role::Holder(next));
        Ok(())
    }

    /// Renews the lease, and moves the high-water mark ahead in the same change.
    pub(super) async fn renew_lease(&self, election: &Election) -> Result<()> {
        let _one_at_a_time = election.changing.lock().await;
        let store = election.store()?;
        for attempt in 0..ATTEMPTS {
            let Role::Holder(row) = election.role() else { return Err(unavailable("another node is the oracle")) };
            let needed = {
                let mut state = self.state.lock();
                state.clock.own(&*self.env).max(state.last)
            };
            let high_water = row.high_water.max(needed + RESERVE_MICROS);
            let holders = election.keeper.nodes_to_note();
            let next = LeaseRow { beat: row.beat + 1, high_water, holders, ..row.clone() };
            let sent = self.env.monotonic();
            if change(&self.env, &*store, Some(&row.cell()), &next).await? == Some(true) {
                {
                    let mut state = self.state.lock();
                    state.reserved = state.reserved.max(high_water);
                    state.tenure = Tenure::Until(sent + LEASE);
                }
                *election.role.lock() = Role::Holder(next.clone());
                election.keeper.noted(next.holders).await;
                return Ok(());
            }
            let found = soon(&self.env, lease::read(&*store)).await?;
            let read_at = self.env.monotonic();
            let cell =
                found.ok_or_else(|| TxnError::from(StoreError::Corrupted("the oracle's lease is gone".into())))?;
            let other = LeaseRow::of(&cell)?;
            if other.tenure != row.tenure || !other.held {
                self.state.lock().tenure = Tenure::Not;
                if election.node.address.is_none() {
                    let why = format!("another node ({}) took the store over while this one gave no sign", other.name);
                    election.fail(why);
                } else {
                    self.follow(election, cell, other, read_at);
                }
                election.keeper.end().await;
                return Err(unavailable("another node is the oracle"));
            }
            // Our own row, from an attempt that may have been sent long ago. It serves only as the condition
            // of the next attempt.
            *election.role.lock() = Role::Holder(other);
            self.env.sleep(Duration::from_millis(10) * attempt).await;
        }
        Err(unavailable("the oracle's lease could not be renewed"))
    }

    /// Releases the lease, so that the next node need not wait. This node hands out no timestamps afterwards.
    pub async fn leave(&self) -> Result<()> {
        let Some(election) = &self.election else { return Ok(()) };
        let _one_at_a_time = election.changing.lock().await;
        let last = {
            let mut state = self.state.lock();
            state.tenure = Tenure::Not;
            state.last
        };
        let role = election.role();
        election.become_(Role::Left);
        election.keeper.end().await;
        let Role::Holder(mut row) = role else { return Ok(()) };
        let store = election.store()?;
        for _ in 0..ATTEMPTS {
            let free = LeaseRow { beat: row.beat + 1, held: false, high_water: last, ..row.clone() };
            if change(&self.env, &*store, Some(&row.cell()), &free).await? == Some(true) {
                return Ok(());
            }
            let Some(found) = soon(&self.env, lease::read(&*store)).await? else { break };
            row = LeaseRow::of(&found)?;
            if row.tenure != free.tenure || !row.held {
                return Ok(());
            }
        }
        Err(unavailable("the oracle's lease is not given free: another node waits for it"))
    }

    /// Whether this node hands out timestamps now.
    pub fn is_holder(&self) -> bool {
        match self.state.lock().tenure {
            Tenure::Always => true,
            Tenure::Until(end) => self.env.monotonic() < end,
            Tenure::Not => false,
        }
    }

    /// The reason why this node must stop, if there is one: another node took the store over,
    /// or timestamps went backwards.
    pub fn failure(&self) -> Option<String> {
        self.election.as_ref().and_then(|election| election.failure.lock().clone())
    }
}

/// Renews the lease, or looks at the row, while the oracle is in use.
async fn take_part(oracle: Weak<Oracle>, env: EnvRef, look: Arc<Notify>) {
    let mut pause = LOOK;
    loop {
        select(env.sleep(pause), pin!(look.notified())).await;
        let Some(oracle) = oracle.upgrade() else { return };
        let Some(election) = &oracle.election else { return };
        let done = match election.role() {
            Role::Left => return,
            Role::Holder(_) => oracle.renew_lease(election).await,
            Role::Other { .. } | Role::Nobody => oracle.look(election).await,
        };
        if let Err(error) = done {
            tracing::warn!(%error, "the oracle's lease");
        }
        pause = if matches!(election.role(), Role::Holder(_)) { RENEWAL } else { LOOK };
    }
}
