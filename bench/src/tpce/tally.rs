//! [`Tally`]: the measurements of each kind of transaction.

use super::transactions::{KINDS, Kind};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// Latencies are kept in microseconds with three digits, up to ten minutes.
const LONGEST: u64 = 600_000_000;

/// Measurements of one kind of transaction.
#[derive(Clone)]
pub struct OfKind {
    pub count: u64,
    pub latency: Histogram<u64>,
    pub rolled_back: u64,
    pub warnings: u64,
    /// Number of repeated attempts by SQLSTATE.
    pub retries: BTreeMap<String, u64>,
    /// Number of abandoned transactions by SQLSTATE, with the first message.
    pub aborts: BTreeMap<String, (u64, String)>,
}

/// Measurements of one statement in all transactions: the number of answers and their total time.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfStatement {
    pub count: u64,
    pub took: Duration,
}

#[derive(Clone)]
pub struct Tally {
    kinds: Vec<OfKind>,
    /// Measurements by the statement's text.
    statements: BTreeMap<&'static str, OfStatement>,
}

/// Creates an empty histogram.
#[allow(clippy::expect_used)]
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds of ours, that are allowed")
}

impl Default for Tally {
    fn default() -> Tally {
        let empty = OfKind {
            count: 0,
            latency: histogram(),
            rolled_back: 0,
            warnings: 0,
            retries: BTreeMap::new(),
            aborts: BTreeMap::new(),
        };
        Tally { kinds: vec![empty; KINDS.len()], statements: BTreeMap::new() }
    }
}

impl Tally {
    pub fn of(&self, kind: Kind) -> &OfKind {
        &self.kinds[kind.place()]
    }

    pub fn done(&mut self, kind: Kind, took: Duration, warnings: u64, rolled_back: bool) {
        let own = &mut self.kinds[kind.place()];
        own.count += 1;
        own.warnings += warnings;
        own.rolled_back += u64::from(rolled_back);
        own.latency.saturating_record(u64::try_from(took.as_micros()).unwrap_or(LONGEST).max(1));
    }

    pub fn answered(&mut self, statement: &'static str, took: Duration) {
        let own = self.statements.entry(statement).or_default();
        own.count += 1;
        own.took += took;
    }

    /// The statements by total time, the longest first.
    pub fn statements(&self) -> Vec<(&'static str, OfStatement)> {
        let mut all: Vec<_> = self.statements.iter().map(|(text, own)| (*text, *own)).collect();
        all.sort_by_key(|(_, own)| std::cmp::Reverse(own.took));
        all
    }

    pub fn retried(&mut self, kind: Kind, code: &str) {
        *self.kinds[kind.place()].retries.entry(code.to_string()).or_default() += 1;
    }

    pub fn aborted(&mut self, kind: Kind, code: &str, said: String) {
        self.kinds[kind.place()].aborts.entry(code.to_string()).or_insert((0, said)).0 += 1;
    }

    pub fn add(&mut self, other: &Tally) {
        for (own, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            own.count += theirs.count;
            own.warnings += theirs.warnings;
            own.rolled_back += theirs.rolled_back;
            // Both histograms have the same bounds, so adding cannot fail.
            let _ = own.latency.add(&theirs.latency);
            for (code, count) in &theirs.retries {
                *own.retries.entry(code.clone()).or_default() += count;
            }
            for (code, (count, said)) in &theirs.aborts {
                own.aborts.entry(code.clone()).or_insert((0, said.clone())).0 += count;
            }
        }
        for (text, theirs) in &other.statements {
            let own = self.statements.entry(text).or_default();
            own.count += theirs.count;
            own.took += theirs.took;
        }
    }

    /// Number of completed transactions, except maintenance, which is not part of the mix.
    pub fn total(&self) -> u64 {
        KINDS.iter().filter(|kind| **kind != Kind::DataMaintenance).map(|kind| self.of(*kind).count).sum()
    }

    pub fn retries(&self) -> u64 {
        self.kinds.iter().flat_map(|own| own.retries.values()).sum()
    }

    pub fn aborts(&self) -> u64 {
        self.kinds.iter().flat_map(|own| own.aborts.values().map(|(count, _)| count)).sum()
    }
}
