//! [`PlanCache`]: the planned statements that sessions share, by text. Bounded in number here and in bytes by the plans themselves.

use super::query::{PlannedQuery, Surroundings};
use super::statement::Statement;
use crate::catalog::{Catalog, Difference};
use crate::error::Result;
use crate::types::SqlType;
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use std::collections::VecDeque;
use std::sync::Arc;

/// Statements that are kept, at most; those that are not asked for leave first.
const KEPT: usize = 512;
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

/// See the head of the module.
pub struct PlanCache {
    kept: Cache<PlanKey, Arc<PlannedQuery>>,
    /// By the versions of two catalogs.
    differences: Mutex<VecDeque<((u64, u64), Arc<Difference>)>>,
}

impl Default for PlanCache {
    fn default() -> Self {
        PlanCache { kept: Cache::new(KEPT), differences: Mutex::default() }
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
        if depends_on_the_moment(&statement.text) {
            return Ok(Arc::new(plan()?));
        }
        let key = PlanKey { text: statement.text.clone(), given: given.to_vec(), surroundings };
        if let Some(found) = self.kept.get(&key).filter(|found| self.is_good(found, catalog)) {
            return Ok(found);
        }
        let planned = Arc::new(plan()?);
        self.kept.insert(key, planned.clone());
        Ok(planned)
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

/// Whether a literal of the text may mean another time whenever it is bound: `'now'`, `'today'` and the like.
fn depends_on_the_moment(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["'now", "'today", "'tomorrow", "'yesterday"].iter().any(|word| lower.contains(word))
}
