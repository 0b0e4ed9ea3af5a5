//! [`PlanCache`]: the planned statements that sessions share, by text. It limits the number of plans, the bytes of
//! their texts, and the number of catalogs that they keep alive.

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

/// The greatest number of cached plans. The least used are evicted first.
const KEPT: usize = 512;
/// The greatest size of their texts in bytes. A plan takes some thirty times as much.
const KEPT_BYTES: usize = 4 << 20;
/// The greatest size of a cached text in bytes. Longer texts hardly recur.
const MOST_BYTES: usize = 64 << 10;
/// The greatest number of catalogs that cached plans refer to. Each is a full copy of the definitions.
const CATALOGS: usize = 64;
/// The number of cached differences between catalogs.
const DIFFERENCES: usize = 16;

/// The key of a cached plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanKey {
    /// The statement's text, with whole numbers lifted where possible.
    pub text: Arc<str>,
    /// Whether further columns of the plan identify the rows of its tables, as a cursor's do.
    pub identifying: bool,
    /// The parameter types that the client gave. `None` is inferred.
    pub given: Vec<Option<SqlType>>,
    /// The session state that binding depends on.
    pub surroundings: Surroundings,
}

/// Weighs a plan by the bytes of its text, against [`KEPT_BYTES`].
#[derive(Clone)]
struct TextBytes;

impl Weighter<PlanKey, Arc<PlannedQuery>> for TextBytes {
    fn weight(&self, _: &PlanKey, planned: &Arc<PlannedQuery>) -> u64 {
        planned.text_bytes().max(KEPT_BYTES / KEPT) as u64
    }
}

/// The plans that all sessions of a server share.
pub struct PlanCache {
    kept: Cache<PlanKey, Arc<PlannedQuery>, TextBytes>,
    /// The versions of the catalogs behind the plans, in the order in which they were first seen.
    catalogs: Mutex<VecDeque<u64>>,
    /// Cached differences, by the versions of the two catalogs.
    differences: Mutex<VecDeque<((u64, u64), Arc<Difference>)>>,
    /// Plans of longer texts that a session still uses.
    held: Mutex<HashMap<PlanKey, Weak<PlannedQuery>>>,
}

impl Default for PlanCache {
    fn default() -> Self {
        let kept = Cache::with_weighter(KEPT, KEPT_BYTES as u64, TextBytes);
        PlanCache { kept, catalogs: Mutex::default(), differences: Mutex::default(), held: Mutex::default() }
    }
}

impl PlanCache {
    /// The cached plan of a statement if it is valid for `catalog`. Otherwise makes one with `plan`. For `identifying`,
    /// see [`PlanKey`].
    pub fn get_or_plan(
        &self,
        (statement, identifying): (&Statement, bool),
        given: &[Option<SqlType>],
        surroundings: Surroundings,
        catalog: &Catalog,
        plan: impl FnOnce() -> Result<PlannedQuery>,
    ) -> Result<Arc<PlannedQuery>> {
        let key = PlanKey { text: statement.text.clone(), identifying, given: given.to_vec(), surroundings };
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

    /// Registers the catalog of a plan that is about to be cached. Beyond `CATALOGS`, evicts the plans
    /// of the oldest catalog.
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

    /// Whether a plan has the same meaning under `catalog` as under its own catalog.
    pub fn is_good(&self, planned: &PlannedQuery, catalog: &Catalog) -> bool {
        planned.is_good_for(catalog, || self.difference(planned.catalog(), catalog))
    }

    /// The definitions that differ between two catalogs of one database.
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

    /// All cached plans with their keys.
    pub fn list(&self) -> Vec<(PlanKey, Arc<PlannedQuery>)> {
        self.kept.iter().collect()
    }

    /// Evicts all plans (DISCARD PLANS).
    pub fn clear(&self) {
        self.kept.clear();
    }
}
