//! [`Claim`]: keys that a large commit is about to write. Nobody else may write what conflicts with it from the moment at which the
//! committer has noted them to the moment at which the claim is dropped: what was validated for it stays valid, however long its
//! cells take to be made. Must not know what becomes of them.

use crate::bulk::ClaimedKey;
use crate::contract::ClassRange;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::{Arc, Weak};

/// A digest is as good a hash as any.
type Digests = HashSet<u64, BuildHasherDefault<AsItIs>>;

/// The keys of a claim, by their digests, of each class apart: mostly there is one. A claim may have millions.
#[derive(Debug, Default)]
struct Keys(SmallVec<[(u8, Digests); 1]>);

#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Somebody who claims keys. They are free again when the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Claim(Arc<ClaimState>);

#[derive(Debug, Default)]
struct ClaimState {
    keys: Mutex<Keys>,
    /// How many there will be, about.
    expected: usize,
}

impl Claim {
    /// Of about so many keys.
    pub fn of(expected: usize) -> Claim {
        Claim(Arc::new(ClaimState { expected, ..ClaimState::default() }))
    }
}

impl PartialEq for Claim {
    fn eq(&self, other: &Claim) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Claim {}

/// What is claimed, as the committer knows it. Two keys with one digest (one pair of 2⁶⁴) are one here: then somebody waits who
/// need not.
#[derive(Default)]
pub struct Claims {
    held: Vec<Weak<ClaimState>>,
    /// Seeded anew in each process, so that nobody can choose keys that meet.
    digests: RandomState,
}

impl Claims {
    /// Forgets the claims that were dropped.
    pub fn let_go(&mut self) {
        self.held.retain(|claim| claim.strong_count() > 0);
    }

    /// Notes keys for `claim`.
    pub fn note(&mut self, claim: &Claim, keys: &[ClaimedKey]) {
        if !self.held.iter().any(|held| std::ptr::eq(held.as_ptr(), Arc::as_ptr(&claim.0))) {
            self.held.push(Arc::downgrade(&claim.0));
        }
        let mut noted = claim.0.keys.lock();
        for alike in keys.chunk_by(|one, next| one.class == next.class) {
            let Some(class) = alike.first().map(|key| key.class) else { continue };
            let place = match noted.0.iter().position(|(other, _)| *other == class) {
                Some(place) => place,
                None => {
                    let room = if noted.0.is_empty() { claim.0.expected } else { 0 };
                    noted.0.push((class, Digests::with_capacity_and_hasher(room, BuildHasherDefault::default())));
                    noted.0.len() - 1
                }
            };
            if let Some((_, digests)) = noted.0.get_mut(place) {
                digests.extend(alike.iter().map(|key| self.digests.hash_one(&key.key[..])));
            }
        }
    }

    /// Whether anybody but `own` claims the key for a write of one of these classes.
    pub fn conflict(&self, key: &[u8], class: ClassRange, own: Option<&Claim>) -> bool {
        let others = self.held.iter().filter_map(Weak::upgrade);
        let mut others = others.filter(|held| own.is_none_or(|own| !Arc::ptr_eq(held, &own.0))).peekable();
        if others.peek().is_none() {
            return false;
        }
        let digest = self.digests.hash_one(key);
        others.any(|held| {
            let keys = held.keys.lock();
            keys.0.iter().any(|(noted, digests)| class.contains(&[*noted]) && digests.contains(&digest))
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
        // A key that is only shared.
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
}
