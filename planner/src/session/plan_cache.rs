//! [`PlanCache`]: the planned statements that sessions share, by text. Bounded in number, in bytes of their texts, and in the number of
//! catalogs that they keep alive.

use super::query::{PlannedQuery, Surroundings};
use super::statement::Statement;
use crate::catalog::{Catalog, Difference};
use crate::error::Result;
use crate::types::SqlType;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

/// Statements that are kept, at most; those that are not asked for leave first.
const KEPT: usize = 512;
/// Bytes of their texts, at most. What is kept of one takes some thirty times as much.
const KEPT_BYTES: usize = 4 << 20;
/// Plans of longer texts are not kept: such texts hardly come again.
const MOST_BYTES: usize = 64 << 10;
/// Catalogs by which plans that are kept were made, at most: each is one of its own, with all definitions.
const CATALOGS: usize = 64;
/// Differences between catalogs that are remembered.
const DIFFERENCES: usize = 16;

/// What two plans must have in common to be one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanKey {
    /// The statement, whole numbers lifted where that was possible.
    pub text: Arc<str>,
    /// Types of parameters that are given, not inferred.
    pub given: Vec<Option<SqlType>>,
    /// What else binding depends on.
    pub surroundings: Surroundings,
}

/// What a plan takes of [`KEPT_BYTES`].
#[derive(Clone)]
struct TextBytes;

impl Weighter<PlanKey, Arc<PlannedQuery>> for TextBytes {
    fn weight(&self, _: &PlanKey, planned: &Arc<PlannedQuery>) -> u64 {
        planned.text_bytes().max(KEPT_BYTES / KEPT) as u64
    }
}

/// See the head of the module.
pub struct PlanCache {
    kept: Cache<PlanKey, Arc<PlannedQuery>, TextBytes>,
    /// Versions of the catalogs by which they were made, in the order in which they were first seen.
    catalogs: Mutex<VecDeque<u64>>,
    /// By the versions of two catalogs.
    differences: Mutex<VecDeque<((u64, u64), Arc<Difference>)>>,
    /// Plans of longer texts that somebody holds.
    held: Mutex<HashMap<PlanKey, Weak<PlannedQuery>>>,
}

impl Default for PlanCache {
    fn default() -> Self {
        let kept = Cache::with_weighter(KEPT, KEPT_BYTES as u64, TextBytes);
        PlanCache { kept, catalogs: Mutex::default(), differences: Mutex::default(), held: Mutex::default() }
    }
}

impl PlanCache {
    /// The plan of a statement, made with `plan` unless there is one that is good for `catalog`.
    pub fn get_or_plan(
        &self,
        statement: &Statement,
        given: &[Option<SqlType>],
        surroundings: Surroundings,
        catalog: &Catalog,
        plan: impl FnOnce() -> Result<PlannedQuery>,
    ) -> Result<Arc<PlannedQuery>> {
        let key = PlanKey { text: statement.text.clone(), given: given.to_vec(), surroundings };
        if let Some(found) = self.kept.get(&key).filter(|found| self.is_good(found, catalog)) {
            return Ok(found);
        }
        if statement.text.len() > MOST_BYTES
            && let Some(held) =
                self.held.lock().get(&key).and_then(Weak::upgrade).filter(|held| self.is_good(held, catalog))
        {
            return Ok(held);
        }
        let planned = Arc::new(plan()?);
        if !planned.is_momentary() && planned.text_bytes() <= MOST_BYTES {
            self.keep_catalog(planned.catalog().version());
            self.kept.insert(key, planned.clone());
        } else if statement.text.len() > MOST_BYTES && !planned.is_momentary() {
            let mut held = self.held.lock();
            held.retain(|_, planned| planned.strong_count() > 0);
            held.insert(key, Arc::downgrade(&planned));
        }
        Ok(planned)
    }

    /// A plan that was made by this catalog is about to be kept: where there are many, those of the one that was first seen go.
    fn keep_catalog(&self, version: u64) {
        let oldest = {
            let mut catalogs = self.catalogs.lock();
            if catalogs.contains(&version) {
                return;
            }
            catalogs.push_back(version);
            if catalogs.len() <= CATALOGS {
                return;
            }
            catalogs.pop_front()
        };
        if let Some(oldest) = oldest {
            self.kept.retain(|_, planned| planned.catalog().version() != oldest);
        }
    }

    /// Whether a plan means by `catalog` what it meant by the one that it was made with.
    pub fn is_good(&self, planned: &PlannedQuery, catalog: &Catalog) -> bool {
        planned.is_good_for(catalog, || self.difference(planned.catalog(), catalog))
    }

    /// What changed between two catalogs of one database.
    fn difference(&self, old: &Catalog, new: &Catalog) -> Arc<Difference> {
        let versions = (old.version(), new.version());
        let known = |kept: &VecDeque<((u64, u64), Arc<Difference>)>| {
            kept.iter().find(|(of, _)| *of == versions).map(|(_, difference)| difference.clone())
        };
        if let Some(known) = known(&self.differences.lock()) {
            return known;
        }
        let difference = Arc::new(Difference::between(old, new));
        let mut kept = self.differences.lock();
        kept.push_back((versions, difference.clone()));
        while kept.len() > DIFFERENCES {
            kept.pop_front();
        }
        difference
    }

    /// What is kept.
    pub fn list(&self) -> Vec<(PlanKey, Arc<PlannedQuery>)> {
        self.kept.iter().collect()
    }

    /// Forgets all (DISCARD PLANS).
    pub fn clear(&self) {
        self.kept.clear();
    }
}
