//! [`Registry`]: what a node's lockers hold at the keeper, as far as the node was told. The node reclaims this when
//! another node becomes the keeper. The registry also holds the releases that are still to be sent, in order.

use super::call::{GivenBack, HeldLock, Taken, WantedLock};
use super::mode::{LockMode, LockName, ROW};
use bytes::Bytes;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The most names in one release.
const AT_ONCE: usize = 1024;
/// The most releases in one request.
const ITEMS: usize = 16;

/// The locks of a locker.
struct Holder {
    label: i32,
    locks: HashMap<LockName, Vec<(LockMode, Bytes)>>,
    /// Names that were lost and not released since.
    lost: HashSet<LockName>,
    /// The number of held names that are not rows.
    named: usize,
    /// The number of transactions whose locks commits must look for.
    looked_for: usize,
    /// The number of releases in the outbox that are not known to have arrived.
    unsent: usize,
    /// The number of its last acquisition.
    last: u64,
    /// Serializes the locker's acquisitions.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The locks and pending releases of a node. See the module documentation.
#[derive(Default)]
pub(super) struct Registry {
    holders: HashMap<u64, Holder>,
    outbox: VecDeque<(u64, GivenBack)>,
    /// The numbers of the acquisitions under way.
    under_way: BTreeSet<u64>,
    newest: u64,
}

impl Registry {
    pub(super) fn enter(&mut self, locker: u64, label: i32) {
        let (locks, lost, turn) = (HashMap::new(), HashSet::new(), Arc::default());
        let holder = Holder { label, locks, lost, named: 0, looked_for: 0, unsent: 0, last: 0, turn };
        self.holders.insert(locker, holder);
    }

    pub(super) fn turn(&self, locker: u64) -> Arc<tokio::sync::Mutex<()>> {
        self.holders.get(&locker).map(|holder| holder.turn.clone()).unwrap_or_default()
    }

    /// Whether the held modes of a locker cover this lock.
    pub(super) fn covers(&self, locker: u64, lock: &WantedLock) -> bool {
        let modes = self.holders.get(&locker).and_then(|holder| holder.locks.get(&lock.name));
        let held = modes.map_or(0, |modes| modes.iter().fold(0, |bits, (mode, _)| bits | mode.bit()));
        lock.mode.is_covered_by(held)
    }

    /// Whether all releases of a locker have arrived.
    pub(super) fn is_clear(&self, locker: u64) -> bool {
        self.holders.get(&locker).is_none_or(|holder| holder.unsent == 0)
    }

    /// Begins an acquisition. Answers its number, the locker's label, and whether commits must look for its locks.
    pub(super) fn begin(&mut self, locker: u64) -> (u64, i32, bool) {
        self.newest += 1;
        self.under_way.insert(self.newest);
        match self.holders.get_mut(&locker) {
            Some(holder) => {
                holder.last = self.newest;
                (self.newest, holder.label, holder.looked_for > 0)
            }
            None => (self.newest, 0, false),
        }
    }

    /// Notes the answer of an acquisition, which ends it.
    pub(super) fn note(&mut self, number: u64, locker: u64, names: &[WantedLock], taken: &[Taken]) {
        self.under_way.remove(&number);
        let Some(holder) = self.holders.get_mut(&locker) else { return };
        for (lock, _) in names.iter().zip(taken).filter(|(_, taken)| **taken == Taken::Newly) {
            let row = lock.name.kind() == ROW;
            let modes = holder.locks.entry(lock.name).or_default();
            holder.named += usize::from(!row && modes.is_empty());
            // The tag of a row is shown only while somebody waits for the row.
            modes.push((lock.mode, if row { Bytes::new() } else { lock.tag.clone() }));
        }
    }

    /// Abandons an acquisition. `open`: it was sent in the current session. Then it stays under way until the keeper
    /// was told, which keeps the floor at or below its number. With a greater floor the keeper would take it for
    /// ended, and would not stop it.
    pub(super) fn abandon(&mut self, number: u64, locker: u64, names: &[WantedLock], open: bool) {
        let Some(holder) = self.holders.get_mut(&locker).filter(|_| open) else {
            self.under_way.remove(&number);
            return;
        };
        let locks = names.iter().map(|lock| (lock.name, lock.mode)).collect();
        let item = GivenBack::Abandoned { locker, label: holder.label, number, locks };
        self.send(locker, item);
    }

    fn send(&mut self, locker: u64, item: GivenBack) {
        if let Some(holder) = self.holders.get_mut(&locker) {
            holder.unsent += 1;
        }
        self.outbox.push_back((locker, item));
    }

    pub(super) fn release(&mut self, locker: u64, given_back: &[(LockName, LockMode)]) {
        let Some(holder) = self.holders.get_mut(&locker) else { return };
        let mut held = Vec::with_capacity(given_back.len());
        for (name, mode) in given_back {
            holder.lost.remove(name);
            let Some(modes) = holder.locks.get_mut(name) else { continue };
            let before = modes.len();
            modes.retain(|(held, _)| held != mode);
            if modes.len() < before {
                held.push((*name, *mode));
            }
            if modes.is_empty() {
                holder.locks.remove(name);
                holder.named -= usize::from(name.kind() != ROW);
            }
        }
        for locks in held.chunks(AT_ONCE) {
            self.send(locker, GivenBack::Locks { locker, locks: locks.to_vec() });
        }
    }

    pub(super) fn begin_row_locks(&mut self, locker: u64) {
        if let Some(holder) = self.holders.get_mut(&locker) {
            holder.looked_for += 1;
        }
    }

    pub(super) fn end_row_locks(&mut self, locker: u64) {
        let Some(holder) = self.holders.get_mut(&locker) else { return };
        holder.looked_for = holder.looked_for.saturating_sub(1);
        if holder.looked_for == 0 {
            self.send(locker, GivenBack::LookedFor { locker });
        }
    }

    /// Forgets a dropped locker, and releases its locks.
    pub(super) fn forget(&mut self, locker: u64) {
        if let Some(holder) = self.holders.remove(&locker).filter(|holder| holder.last > 0) {
            self.outbox.push_back((locker, GivenBack::Locker { locker, last: holder.last }));
        }
    }

    pub(super) fn has_lost(&self, locker: u64) -> bool {
        self.holders.get(&locker).is_some_and(|holder| !holder.lost.is_empty())
    }

    /// Whether a locker has lost names that are not rows.
    pub(super) fn has_lost_named(&self, locker: u64) -> bool {
        self.holders.get(&locker).is_some_and(|holder| holder.lost.iter().any(|name| name.kind() != ROW))
    }

    /// Whether a locker holds any name that is not a row.
    pub(super) fn holds_named(&self, locker: u64) -> bool {
        self.holders.get(&locker).is_some_and(|holder| holder.named > 0)
    }

    /// The oldest releases with their number, and the floor: acquisitions below it have ended. The releases stay here
    /// until they have [`arrived`](Registry::arrived).
    pub(super) fn unsent(&self) -> Option<(usize, u64, Vec<GivenBack>)> {
        let items: Vec<GivenBack> = self.outbox.iter().take(ITEMS).map(|(_, item)| item.clone()).collect();
        let floor = self.under_way.first().copied().unwrap_or(self.newest + 1);
        (!items.is_empty()).then_some((items.len(), floor, items))
    }

    /// Removes the oldest `items` releases, which have arrived.
    pub(super) fn arrived(&mut self, items: usize) {
        for (locker, item) in self.outbox.drain(..items.min(self.outbox.len())) {
            if let GivenBack::Abandoned { number, .. } = item {
                self.under_way.remove(&number);
            }
            if let Some(holder) = self.holders.get_mut(&locker) {
                holder.unsent = holder.unsent.saturating_sub(1);
            }
        }
    }

    /// All held locks, for reclaiming them in a new session. The session knows nothing yet, so
    /// earlier releases are dropped.
    pub(super) fn begin_reclaim(&mut self) -> (Vec<HeldLock>, Vec<(u64, i32)>) {
        for (_, item) in self.outbox.drain(..) {
            if let GivenBack::Abandoned { number, .. } = item {
                self.under_way.remove(&number);
            }
        }
        self.holders.values_mut().for_each(|holder| holder.unsent = 0);
        let of = |(locker, holder): (&u64, &Holder)| {
            let (locker, label) = (*locker, holder.label);
            let lock = |(name, modes): (&LockName, &Vec<(LockMode, Bytes)>)| {
                let name = *name;
                let held = move |(mode, tag): &(LockMode, Bytes)| HeldLock {
                    locker,
                    label,
                    lock: WantedLock { name, mode: *mode, tag: tag.clone() },
                };
                modes.iter().map(held).collect::<Vec<_>>()
            };
            holder.locks.iter().flat_map(lock).collect::<Vec<_>>()
        };
        let looked_for = self.holders.iter().filter(|(_, holder)| holder.looked_for > 0);
        let looked_for = looked_for.map(|(locker, holder)| (*locker, holder.label)).collect();
        (self.holders.iter().flat_map(of).collect(), looked_for)
    }

    /// Notes names that could not be reclaimed, unless they were released meanwhile. Rows count too: COMMIT validates
    /// a command's writes against commits since its newest read, which may be newer than the loss.
    pub(super) fn lose(&mut self, lost: &[(u64, LockName)]) {
        for (locker, name) in lost {
            let Some(holder) = self.holders.get_mut(locker) else { continue };
            if holder.locks.remove(name).is_some() {
                holder.named -= usize::from(name.kind() != ROW);
                holder.lost.insert(*name);
            }
        }
    }
}
