//! [`Claims`]: uniqueness at the end of a statement.
//!
//! A row may take a key that another row still holds: this is an *early claim*. If the holder gives up the key later in
//! the same statement, there is no violation. The holder's delete must then not remove the claimant's write. An early
//! claim that remains at the statement's end is a violation.

use bytes::Bytes;
use sql_error::{Result, SqlError};
use std::collections::{HashMap, HashSet};

/// The keys claimed early so far, each with the error for its violation.
#[derive(Debug, Default)]
pub struct Claims {
    early: HashMap<Bytes, (u64, SqlError)>,
    next: u64,
}

/// The changes of one batch to the keys of one index (or of the table).
#[derive(Debug, Default)]
pub struct KeyChanges {
    /// Keys that rows give up.
    pub vacated: HashSet<Bytes>,
    /// Keys that rows take.
    pub claimed: HashSet<Bytes>,
}

impl KeyChanges {
    /// Records that a row gives up `key`.
    pub fn vacate(&mut self, key: Bytes) {
        self.vacated.insert(key);
    }
    /// Records that a row takes `key`. False if another row of this batch has taken it: a violation.
    pub fn claim(&mut self, key: Bytes) -> bool {
        self.claimed.insert(key)
    }
    /// The taken keys that no row of this batch gives up, which must be looked up.
    pub fn to_look_up(&self) -> Vec<Bytes> {
        self.claimed.difference(&self.vacated).cloned().collect()
    }
}

impl Claims {
    /// Settles a batch and returns the keys to delete. `exists` are the looked-up keys that exist. `violation` makes
    /// the error for a key. Errors: a key that is certainly taken twice.
    pub fn settle(
        &mut self,
        changes: &KeyChanges,
        exists: &[Bytes],
        violation: impl Fn(&Bytes) -> SqlError,
    ) -> Result<Vec<Bytes>> {
        let mut deletes = Vec::new();
        for key in &changes.vacated {
            let claimed_before = self.early.remove(key).is_some();
            let claimed_now = changes.claimed.contains(key);
            match (claimed_before, claimed_now) {
                (true, true) => return Err(violation(key)),
                (false, false) => deletes.push(key.clone()),
                // The key's new holder overwrites it.
                (true, false) | (false, true) => {}
            }
        }
        for key in exists {
            if self.early.contains_key(key) {
                return Err(violation(key));
            }
            self.early.insert(key.clone(), (self.next, violation(key)));
            self.next += 1;
        }
        Ok(deletes)
    }
    /// Number of early claims that remain.
    pub fn len(&self) -> usize {
        self.early.len()
    }
    /// Ends the statement. Errors: the violation of the first early claim that remains.
    pub fn finish(&mut self) -> Result<()> {
        match self.early.drain().map(|(_, claim)| claim).min_by_key(|(order, _)| *order) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Moves rows between keys in batches, as UPDATE does. Returns the remaining keys, or `None` on a violation.
    fn update(start: &[&str], batches: &[&[(&str, &str)]]) -> Option<BTreeSet<String>> {
        let mut store: BTreeSet<String> = start.iter().map(|key| (*key).to_string()).collect();
        let mut claims = Claims::default();
        let key = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let violation = |_: &Bytes| SqlError::internal("twice");
        for batch in batches {
            let mut changes = KeyChanges::default();
            for (from, to) in *batch {
                changes.vacate(key(from));
                if !changes.claim(key(to)) {
                    return None;
                }
            }
            let exists: Vec<Bytes> = changes
                .to_look_up()
                .into_iter()
                .filter(|key| store.contains(std::str::from_utf8(key).unwrap()))
                .collect();
            for deleted in claims.settle(&changes, &exists, violation).ok()? {
                store.remove(std::str::from_utf8(&deleted).unwrap());
            }
            store.extend(batch.iter().map(|(_, to)| (*to).to_string()));
        }
        claims.finish().ok()?;
        Some(store)
    }

    fn keys(text: &str) -> Option<BTreeSet<String>> {
        Some(text.split(' ').map(str::to_string).collect())
    }

    #[test]
    fn rows_may_trade_keys_within_and_across_batches() {
        assert_eq!(update(&["1", "2"], &[&[("1", "2"), ("2", "1")]]), keys("1 2"));
        assert_eq!(update(&["1", "2"], &[&[("1", "2")], &[("2", "1")]]), keys("1 2"));
        assert_eq!(update(&["1", "2", "3"], &[&[("1", "2")], &[("2", "3")], &[("3", "4")]]), keys("2 3 4"));
        assert_eq!(update(&["1", "2", "3"], &[&[("3", "4")], &[("2", "3"), ("1", "2")]]), keys("2 3 4"));
    }

    #[test]
    fn two_rows_with_one_key_are_refused_in_any_order() {
        assert_eq!(update(&["1", "2"], &[&[("1", "2")]]), None);
        assert_eq!(update(&["1", "2"], &[&[("1", "3"), ("2", "3")]]), None);
        assert_eq!(update(&["1", "2"], &[&[("1", "3")], &[("2", "3")]]), None);
        assert_eq!(update(&["1", "2", "3"], &[&[("1", "3")], &[("2", "3")], &[("3", "4")]]), None);
        assert_eq!(update(&["1", "2", "3"], &[&[("1", "3")], &[("3", "4")], &[("2", "3")]]), None);
        assert_eq!(update(&["1", "2", "3"], &[&[("1", "3")], &[("3", "4"), ("2", "3")]]), None);
        assert_eq!(update(&["1", "2", "3"], &[&[("3", "4")], &[("1", "3")], &[("2", "3")]]), None);
    }
}
