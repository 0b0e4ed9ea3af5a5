//! [`Claim`]: the keys that a large commit is about to write. From the claim on until the claim is dropped,
//! nobody else may write a conflicting cell to these keys. So the validation stays valid, however long the
//! cells take to prepare.

use crate::bulk::{ClaimedKey, ClaimedRun};
use crate::contract::ClassRange;
use crate::packed_bytes::Strings;
use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::{Arc, Weak};

/// The keys of a claim, grouped by class. Most claims have one class. A claim may have millions of keys.
#[derive(Debug, Default)]
struct Keys(SmallVec<[(u8, Noted); 1]>);

/// Keys of one class.
#[derive(Debug, Default)]
struct Noted {
    /// Runs of ascending keys. Each run begins after the last key of the one before.
    runs: Vec<Strings>,
    /// Keys that came in another order.
    others: HashSet<Bytes, RandomState>,
}

impl Noted {
    /// Adds keys as one run, copied into one allocation.
    fn note(&mut self, keys: &[ClaimedKey]) {
        match Strings::copied(keys.iter().map(|key| &key.key[..])) {
            Some(run) => self.note_run(&run),
            None => self.others.extend(keys.iter().map(|key| key.key.clone())),
        }
    }

    fn note_run(&mut self, run: &Strings) {
        let last = self.runs.last().and_then(|run| run.iter().next_back());
        let behind = last.is_none_or(|last| run.get(0).is_some_and(|first| last < first));
        if behind && run.is_ascending() {
            self.runs.push(run.clone());
        } else {
            self.others.extend(run.list());
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        let behind = self.runs.partition_point(|run| run.get(0).is_some_and(|first| first <= key));
        let run = behind.checked_sub(1).and_then(|at| self.runs.get(at));
        run.is_some_and(|run| run.get(run.before(key)) == Some(key)) || self.others.contains(key)
    }
}

/// A handle to claimed keys. The keys are free again when the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Claim(Arc<Mutex<Keys>>);

impl PartialEq for Claim {
    fn eq(&self, other: &Claim) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Claim {}

/// All claims, as the committer knows them.
#[derive(Default)]
pub struct Claims {
    held: Vec<Weak<Mutex<Keys>>>,
}

impl Claims {
    /// Forgets the claims that were dropped.
    pub fn let_go(&mut self) {
        self.held.retain(|claim| claim.strong_count() > 0);
    }

    /// Adds keys to `claim`.
    pub fn note(&mut self, claim: &Claim, keys: &[ClaimedKey]) {
        for alike in keys.chunk_by(|one, next| one.class == next.class) {
            if let Some(key) = alike.first() {
                self.of_class(claim, key.class, |noted| noted.note(alike));
            }
        }
    }

    /// Adds a run of keys to `claim`.
    pub fn note_run(&mut self, claim: &Claim, run: &ClaimedRun) {
        self.of_class(claim, run.class, |noted| noted.note_run(&run.keys));
    }

    fn of_class(&mut self, claim: &Claim, class: u8, note: impl FnOnce(&mut Noted)) {
        if !self.held.iter().any(|held| std::ptr::eq(held.as_ptr(), Arc::as_ptr(&claim.0))) {
            self.held.push(Arc::downgrade(&claim.0));
        }
        let mut held = claim.0.lock();
        let place = held.0.iter().position(|(other, _)| *other == class).unwrap_or(held.0.len());
        if place == held.0.len() {
            held.0.push((class, Noted::default()));
        }
        if let Some((_, noted)) = held.0.get_mut(place) {
            note(noted);
        }
    }

    /// Whether there is no claim but `own`.
    pub fn is_alone(&self, own: &Claim) -> bool {
        self.held.iter().filter_map(Weak::upgrade).all(|held| Arc::ptr_eq(&held, &own.0))
    }

    /// Whether another claim than `own` holds the key for a write of one of these classes.
    pub fn conflict(&self, key: &[u8], class: ClassRange, own: Option<&Claim>) -> bool {
        let others = self.held.iter().filter_map(Weak::upgrade);
        let mut others = others.filter(|held| own.is_none_or(|own| !Arc::ptr_eq(held, &own.0)));
        others.any(|held| {
            let held = held.lock();
            held.0.iter().any(|(noted, keys)| class.contains(&[*noted]) && keys.contains(key))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_holds_against_others_until_it_is_dropped() {
        let mut claims = Claims::default();
        let (mine, theirs) = (Claim::default(), Claim::default());
        let key = |key: &'static str, class| ClaimedKey {
            key: key.into(),
            none_after: crate::Timestamp::ZERO,
            conflicts: ClassRange::ANY,
            class,
        };
        claims.note(&mine, &[key("a", 4), key("b", 1)]);
        let any = ClassRange::ANY;
        assert!(claims.conflict(b"a", any, None) && claims.conflict(b"a", any, Some(&theirs)));
        assert!(!claims.conflict(b"a", any, Some(&mine)) && !claims.conflict(b"c", any, None));
        // The claim only shares this key.
        assert!(!claims.conflict(b"b", ClassRange { from: 3, to: 4 }, None));
        let clone = mine.clone();
        drop(mine);
        claims.let_go();
        assert!(claims.conflict(b"a", any, None));
        drop(clone);
        assert!(!claims.conflict(b"a", any, None));
        claims.let_go();
        assert!(claims.held.is_empty());
    }

    #[test]
    fn keys_are_found_in_whatever_order_they_came() {
        let key = |number: u32| ClaimedKey {
            key: format!("k{number:05}").into(),
            none_after: crate::Timestamp::ZERO,
            conflicts: ClassRange::ANY,
            class: 4,
        };
        let (mut claims, claim) = (Claims::default(), Claim::default());
        let mut noted = HashSet::new();
        // Ascending with gaps, then a step back, then unordered within a run, then ascending again.
        for numbers in [vec![10, 12, 14], vec![20], vec![30, 31], vec![5, 7], vec![41, 40], vec![50, 52]] {
            claims.note(&claim, &numbers.iter().map(|number| key(*number)).collect::<Vec<_>>());
            noted.extend(numbers);
            for number in 0..60 {
                let held = claims.conflict(&key(number).key, ClassRange::ANY, None);
                assert_eq!(held, noted.contains(&number), "{number}");
            }
        }
        assert!(claims.is_alone(&claim) && !claims.is_alone(&Claim::default()));
        let strings = |numbers: &[u32]| {
            let keys: Vec<Bytes> = numbers.iter().map(|number| key(*number).key).collect();
            Strings::copied(keys.iter().map(|key| &key[..])).unwrap()
        };
        // First a run behind all others, then one before them.
        for numbers in [&[55, 57][..], &[1, 3]] {
            let (none_after, conflicts) = (crate::Timestamp::ZERO, ClassRange::ANY);
            claims.note_run(&claim, &ClaimedRun { keys: strings(numbers), none_after, conflicts, class: 4 });
            noted.extend(numbers);
            for number in 0..60 {
                let held = claims.conflict(&key(number).key, ClassRange::ANY, None);
                assert_eq!(held, noted.contains(&number), "{number}");
            }
        }
    }
}
