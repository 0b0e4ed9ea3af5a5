//! [`State`]: what a node knows of the others, and what follows from it. No input or output, no time of its own.
//! The times are readings of this process's monotonic clock; no clock of another node is ever compared with it.

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

/// Another node as it was last seen.
pub(super) struct Other {
    /// Its row, as stored.
    pub(super) value: Bytes,
    pub(super) row: NodeRow,
    /// Since when the row is seen to be this one.
    pub(super) since: Duration,
    /// For how long of that this node was looking: while it could not look itself, it learns nothing of others.
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
    /// When it was in the store for certain, and every row was read after that; `None` before.
    pub(super) told: Option<Duration>,
}

/// What this node does for a wish of another.
pub(super) struct Grant {
    pub(super) answer: Option<bool>,
    /// Dropped to end it.
    pub(super) _stop: oneshot::Sender<()>,
}

/// The catalog that is in force for whoever begins now.
pub(super) struct Calm {
    /// A snapshot that showed it.
    pub(super) read_at: Timestamp,
    pub(super) stamp: Stamp,
}

/// Whether a wish came true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Granted,
    Waiting,
    /// Transactions on several nodes wait for each other, and this one gives way.
    Refused,
}

pub(super) struct State {
    pub(super) node: NodeId,
    /// The number under which this node's writers write: the one before, fenced, until what others wish is seen to.
    pub(super) trusted: Option<NodeId>,
    pub(super) beat: u64,
    /// This node's row as last written.
    pub(super) stored: Option<Bytes>,
    pub(super) next_wish: u64,
    pub(super) wishes: BTreeMap<u64, OwnWish>,
    /// The wish of those who change descriptors, and who they are.
    pub(super) definition: Option<u64>,
    pub(super) definers: Vec<Weak<Transaction>>,
    /// How long it stays when they are gone.
    pub(super) definition_until: Duration,
    pub(super) others: BTreeMap<NodeId, Other>,
    pub(super) grants: BTreeMap<(NodeId, u64), Grant>,
    pub(super) calm: Option<Calm>,
    /// Until when what was read of the others is good.
    pub(super) lease_until: Duration,
    /// When the last look began.
    looked: Option<Duration>,
    /// What this node said last.
    said: Option<NodeRow>,
    /// Until when there may be more to say or to see soon.
    busy_until: Duration,
}

/// What changed with a look at all rows.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Wishes to see to.
    pub(super) begun: Vec<((NodeId, u64), Wish)>,
    /// Nobody wishes anything, and the catalog in force is to be read.
    pub(super) may_be_calm: bool,
    /// Nodes that were there before and are not any more.
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
    /// Begins again under another number. What is wished goes on; what was granted to others and by them is asked for again.
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
    /// Takes in all rows, read from `began` on after `written` was stored.
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
        // Of a longer gap between two looks nobody knows whether this node or the others were held up.
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
            // The others gave this node up, or its row is an earlier one: nothing is certain.
            self.calm = None;
            self.lease_until = Duration::ZERO;
            return seen;
        }
        // Who joins while others hold a lock has it held for them first.
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
    /// Whether no node, this one included, wishes anything.
    pub(super) fn is_quiet(&self) -> bool {
        self.wishes.is_empty() && self.others.values().all(|other| other.row.wishes.is_empty())
    }
    /// Whether something was said a short time ago, so that the next thing may follow soon.
    pub(super) fn is_busy(&self, now: Duration) -> bool {
        now < self.busy_until
    }
    /// Nodes to give up, and their rows: those that were silent for so long, while somebody waits for what they keep. Who is
    /// merely slow, and in nobody's way, loses nothing. `waiting`: transactions of this node wait for locks.
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
    /// Whether a wish of this node came true.
    pub(super) fn verdict(&self, number: u64, now: Duration, options: &NodeOptions) -> Verdict {
        let Some(own) = self.wishes.get(&number) else { return Verdict::Refused };
        let Some(told) = own.told else { return Verdict::Waiting };
        let mut verdict = Verdict::Granted;
        for other in self.others.values() {
            let silent = now >= other.since.max(told) + options.lease + options.margin;
            match other.answer_to(self.node, number) {
                Some(true) => {}
                Some(false) => return Verdict::Refused,
                // What it knew without looking has ended. What it still writes meets its fence when it was given up.
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
    /// What a transaction that reads at this timestamp finds in the version slots, when it is known.
    pub(super) fn stamp_at(&self, snapshot: Timestamp, now: Duration) -> Option<Stamp> {
        let calm = self.calm.as_ref()?;
        (now < self.lease_until && snapshot >= calm.read_at).then(|| calm.stamp.clone())
    }
    /// Whether this node is the first of those that live: what one node does for all, it does.
    pub(super) fn is_first(&self, now: Duration) -> bool {
        now < self.lease_until && self.others.keys().all(|other| self.node < *other)
    }
}
