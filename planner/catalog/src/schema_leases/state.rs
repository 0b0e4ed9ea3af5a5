//! [`State`]: a node's knowledge of the others, and the decisions that follow. It does no input or output and reads no
//! clock. Times are readings of this process's monotonic clock. They are never compared with another node's clock.

use super::NodeOptions;
use super::row::{Answer, NodeId, NodeRow, Wish};
use crate::versions::Stamp;
use bytes::Bytes;
use futures::channel::oneshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Weak;
use std::time::Duration;
use storage::Timestamp;
use txn::Transaction;

/// Another node as last seen.
pub(super) struct Other {
    /// Its row, as stored.
    pub(super) value: Bytes,
    pub(super) row: NodeRow,
    /// When the current row was first seen.
    pub(super) since: Duration,
    /// Time since then in which this node was looking: while it cannot look itself, it learns nothing of others.
    pub(super) silent: Duration,
}

impl Other {
    fn answer_to(&self, node: NodeId, wish: u64) -> Option<bool> {
        let to_it = |answer: &&Answer| answer.node == node && answer.wish == wish;
        self.row.answers.iter().find(to_it).map(|answer| answer.granted)
    }
}

/// A wish of this node.
pub(super) struct OwnWish {
    pub(super) wish: Wish,
    /// The time at which the wish was certainly stored and all rows were read after that. `None` before.
    pub(super) told: Option<Duration>,
}

/// The fulfillment of another node's wish.
pub(super) struct Grant {
    pub(super) answer: Option<bool>,
    /// Dropping it ends the fulfillment.
    pub(super) _stop: oneshot::Sender<()>,
}

/// The current catalog for new transactions.
pub(super) struct Calm {
    /// A snapshot that showed this catalog.
    pub(super) read_at: Timestamp,
    pub(super) stamp: Stamp,
}

/// The state of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Granted,
    Waiting,
    /// Transactions on several nodes wait for each other, and this one gives way.
    Refused,
}

pub(super) struct State {
    pub(super) node: NodeId,
    /// The number with which this node's writers are fenced. It stays the previous one, which is fenced off, until the
    /// others' wishes are fulfilled.
    pub(super) trusted: Option<NodeId>,
    pub(super) beat: u64,
    /// This node's row as last written.
    pub(super) stored: Option<Bytes>,
    pub(super) next_wish: u64,
    pub(super) wishes: BTreeMap<u64, OwnWish>,
    /// The wish for changing descriptors. `definers` are the transactions that need it.
    pub(super) definition: Option<u64>,
    pub(super) definers: Vec<Weak<Transaction>>,
    /// Until when it stays after they have ended.
    pub(super) definition_until: Duration,
    pub(super) others: BTreeMap<NodeId, Other>,
    pub(super) grants: BTreeMap<(NodeId, u64), Grant>,
    pub(super) calm: Option<Calm>,
    /// Until when the last look is valid.
    pub(super) lease_until: Duration,
    /// When the last look began.
    looked: Option<Duration>,
    /// The row published last.
    said: Option<NodeRow>,
    /// Until when further news is likely, so that beats are frequent.
    busy_until: Duration,
}

/// The changes found by a look at all rows.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// New wishes to fulfill.
    pub(super) begun: Vec<((NodeId, u64), Wish)>,
    /// There are no wishes, so the current catalog should be read.
    pub(super) may_be_calm: bool,
    /// Number of nodes that have gone since the last look.
    pub(super) gone: usize,
}

impl State {
    pub(super) fn new(node: NodeId) -> State {
        State {
            node,
            trusted: None,
            beat: 0,
            stored: None,
            next_wish: 1,
            wishes: BTreeMap::new(),
            definition: None,
            definers: Vec::new(),
            definition_until: Duration::ZERO,
            others: BTreeMap::new(),
            grants: BTreeMap::new(),
            calm: None,
            lease_until: Duration::ZERO,
            looked: None,
            said: None,
            busy_until: Duration::ZERO,
        }
    }
    /// Starts again under another number. Wishes stay. Grants in both directions are requested again.
    pub(super) fn join_again(&mut self, node: NodeId) {
        let old = std::mem::replace(self, State::new(node));
        self.trusted = old.trusted;
        self.next_wish = old.next_wish;
        self.wishes = old.wishes.into_iter().map(|(number, own)| (number, OwnWish { told: None, ..own })).collect();
        (self.definition, self.definers, self.definition_until) = (old.definition, old.definers, old.definition_until);
    }
    /// The row to write next.
    pub(super) fn next_row(&mut self) -> NodeRow {
        self.beat += 1;
        let answer = |((node, wish), grant): (&(NodeId, u64), &Grant)| {
            grant.answer.map(|granted| Answer { node: *node, wish: *wish, granted })
        };
        NodeRow {
            node: self.node,
            beat: self.beat,
            wishes: self.wishes.iter().map(|(number, own)| (*number, own.wish.clone())).collect(),
            answers: self.grants.iter().filter_map(answer).collect(),
        }
    }
    /// Processes all rows, which were read from `began` on, after `written` was stored.
    pub(super) fn look(
        &mut self,
        written: &NodeRow,
        rows: Vec<(Bytes, NodeRow)>,
        began: Duration,
        now: Duration,
        options: &NodeOptions,
    ) -> Seen {
        let mut seen = Seen::default();
        let lapsed = began >= self.lease_until;
        // After a longer gap between two looks, it is unknown whether this node or the others were stalled.
        let looking = self.looked.map_or(Duration::ZERO, |looked| began.saturating_sub(looked)).min(options.rest * 2);
        self.looked = Some(began);
        let same_words = |row: &NodeRow, before: &NodeRow| row.wishes == before.wishes && row.answers == before.answers;
        let mut busy = !self.said.as_ref().is_some_and(|before| same_words(written, before));
        self.said = Some(written.clone());
        let mut present = false;
        let mut there = BTreeSet::new();
        for (value, row) in rows {
            if row.node == self.node {
                present = self.stored.as_ref() == Some(&value);
                continue;
            }
            there.insert(row.node);
            match self.others.get_mut(&row.node) {
                Some(other) if other.value == value => other.silent += looking,
                other => {
                    busy |= !other.is_some_and(|other| same_words(&row, &other.row));
                    let seen = Other { value, row, since: now, silent: Duration::ZERO };
                    self.others.insert(seen.row.node, seen);
                }
            }
        }
        let before = self.others.len();
        self.others.retain(|node, _| there.contains(node));
        seen.gone = before - self.others.len();
        if busy || seen.gone > 0 {
            self.busy_until = now + options.linger;
        }
        let others = &self.others;
        let stands = |(node, wish): &(NodeId, u64)| others.get(node).is_some_and(|o| o.row.wishes.contains_key(wish));
        self.grants.retain(|key, _| stands(key));
        for other in self.others.values() {
            for (number, wish) in &other.row.wishes {
                let key = (other.row.node, *number);
                if !self.grants.contains_key(&key) {
                    seen.begun.push((key, wish.clone()));
                }
            }
        }
        if !present {
            // The others gave this node up, or the row is an earlier one. So nothing is certain.
            self.calm = None;
            self.lease_until = Duration::ZERO;
            return seen;
        }
        // A node that joins while others hold a lock first takes the lock for them.
        if seen.begun.is_empty() && self.grants.values().all(|grant| grant.answer.is_some()) {
            self.trusted = Some(self.node);
        }
        for number in written.wishes.keys() {
            if let Some(own) = self.wishes.get_mut(number) {
                own.told.get_or_insert(now);
            }
        }
        self.lease_until = began + options.lease;
        let quiet = self.is_quiet() && written.wishes.is_empty();
        if !quiet || lapsed {
            self.calm = None;
        }
        seen.may_be_calm = quiet && self.calm.is_none();
        seen
    }
    /// Whether no node, including this one, has a wish.
    pub(super) fn is_quiet(&self) -> bool {
        self.wishes.is_empty() && self.others.values().all(|other| other.row.wishes.is_empty())
    }
    /// Whether there was news recently, so that more may follow soon.
    pub(super) fn is_busy(&self, now: Duration) -> bool {
        now < self.busy_until
    }
    /// The nodes to give up, with their rows: those that are silent for too long while somebody waits for them. A slow
    /// node that blocks nobody is kept. `waiting` says that transactions of this node wait for locks.
    pub(super) fn lost(&self, waiting: bool, options: &NodeOptions) -> Vec<(NodeId, Bytes)> {
        let is_lost = |(node, other): (&NodeId, &Other)| {
            let unanswered = |(number, own): (&u64, &OwnWish)| {
                own.told.is_some() && own.wish.is_lock() && other.answer_to(self.node, *number).is_none()
            };
            let in_the_way =
                self.wishes.iter().any(unanswered) || waiting && other.row.wishes.values().any(Wish::is_lock);
            let bound = if in_the_way { options.dead_after } else { options.forget_after };
            (other.silent >= bound).then(|| (*node, other.value.clone()))
        };
        self.others.iter().filter_map(is_lost).collect()
    }
    /// The state of a wish of this node.
    pub(super) fn verdict(&self, number: u64, now: Duration, options: &NodeOptions) -> Verdict {
        let Some(own) = self.wishes.get(&number) else { return Verdict::Refused };
        let Some(told) = own.told else { return Verdict::Waiting };
        let mut verdict = Verdict::Granted;
        for other in self.others.values() {
            let silent = now >= other.since.max(told) + options.lease + options.margin;
            match other.answer_to(self.node, number) {
                Some(true) => {}
                Some(false) => return Verdict::Refused,
                // Its lease on the cached catalog has ended. Its later writes fail at its fence once it is given up.
                None if silent && !own.wish.is_lock() => {}
                None => {
                    let contested = own.wish.contested();
                    let mut its = other.row.wishes.values().filter_map(Wish::contested);
                    if contested.is_some() && other.row.node < self.node && its.any(|oid| Some(oid) == contested) {
                        return Verdict::Refused;
                    }
                    verdict = Verdict::Waiting;
                }
            }
        }
        verdict
    }
    /// The contents of the version slots for a transaction with this snapshot, if they are known.
    pub(super) fn stamp_at(&self, snapshot: Timestamp, now: Duration) -> Option<Stamp> {
        let calm = self.calm.as_ref()?;
        (now < self.lease_until && snapshot >= calm.read_at).then(|| calm.stamp.clone())
    }
    /// Whether this node has the lowest number of the live nodes, so that it does the work that one node does for all.
    pub(super) fn is_first(&self, now: Duration) -> bool {
        now < self.lease_until && self.others.keys().all(|other| self.node < *other)
    }
}
