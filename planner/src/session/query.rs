//! [`PlannedQuery`]: a query or write, bound and planned, and the cache of those that sessions share.

use super::outcome::OutputColumn;
use super::settings::Settings;
use super::statement::Statement;
use crate::bind::{BindContext, Bound, BoundKind, Part, Verb, bind, bind_computed};
use crate::catalog::{Catalog, IndexDescriptor, Persistence, TableDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::{Slots, computed_source, table_source, with_binding};
use crate::plan::{Engine, PreparedPlan};
use crate::types::SqlType;
use crate::types::datetime::{DateFormat, TimeZone};
use datafusion::logical_expr::LogicalPlan;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What binding depends on beside the statement and the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    catalog_version: u64,
    database: crate::types::Oid,
    search_path: Arc<[String]>,
    /// What constants of dates were read by.
    reading: (TimeZone, DateFormat),
    /// The role in force, where privileges are asked for.
    user: Option<Arc<str>>,
}

impl Surroundings {
    /// Those of a statement.
    pub fn new(catalog: &Catalog, settings: &Settings) -> Self {
        Surroundings {
            catalog_version: catalog.version(),
            database: catalog.database().oid,
            search_path: Arc::clone(settings.shared_search_path()),
            reading: (settings.time_zone(), settings.date_format()),
            user: settings.is_checked().then(|| Arc::clone(settings.user())),
        }
    }
}

/// What kind of statement was planned.
#[derive(Clone, Debug)]
pub enum QueryKind {
    /// Returns rows.
    Query {
        /// FOR UPDATE or its kin.
        locks: bool,
    },
    /// Writes.
    Write {
        /// Which statement.
        verb: Verb,
        /// Whether it has RETURNING.
        returning: bool,
        /// Whether it writes a temporary table, which a read-only transaction may.
        temporary: bool,
    },
}

/// A planned data-modifying WITH query.
pub struct PlannedPart {
    /// Its pool of plans.
    pub plan: Arc<PreparedPlan>,
    /// Whether it runs after the statement that it stands before.
    pub last: bool,
}

/// A planned query or write.
pub struct PlannedQuery {
    /// What it was bound to.
    pub surroundings: Surroundings,
    /// What kind.
    pub kind: QueryKind,
    /// Parameters.
    pub parameters: Vec<SqlType>,
    /// Columns that a client sees.
    pub columns: Option<Arc<[OutputColumn]>>,
    /// Its pool of plans.
    pub plan: Arc<PreparedPlan>,
    /// Its data-modifying WITH queries.
    pub parts: Vec<PlannedPart>,
    /// Whether two of them, the statement itself counted, write one table.
    pub overlapping: bool,
    /// Whether a number in its text may be a parameter: no index asks what it says.
    pub liftable: bool,
}

/// Binds a statement to slots. `now`: start of the transaction, for literals such as `'today'`.
pub fn bind_to(
    statement: &Statement,
    catalog: &Arc<Catalog>,
    settings: &Settings,
    given: &[Option<SqlType>],
    now: i64,
    slots: &Arc<Slots>,
) -> Result<Bound> {
    let source = |table: Arc<TableDescriptor>| {
        if !table.indexes.iter().any(IndexDescriptor::is_computed) {
            return table_source(table, slots.clone());
        }
        // An index that cannot be read is none.
        let bind = |context: &BindContext<'_>| bind_computed(&table, context).unwrap_or_default();
        let computed = with_binding(catalog, settings, slots, now, bind);
        computed_source(table, slots.clone(), &computed)
    };
    bind(statement, &BindContext { catalog, settings, slots, parameters: given, now, table_source: &source })
}

/// The plan of a bound statement.
pub fn logical_plan(bound: Bound) -> LogicalPlan {
    match bound.kind {
        BoundKind::Query { plan, .. } | BoundKind::Dml { plan, .. } => plan,
    }
}

impl PlannedQuery {
    /// Binds a query or write; it is planned when it first runs.
    pub fn new(
        engine: &Arc<Engine>,
        statement: &Arc<Statement>,
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        given: &[Option<SqlType>],
        now: i64,
    ) -> Result<PlannedQuery> {
        let bound = bind_to(statement, catalog, settings, given, now, &Slots::new())?;
        let parameters = bound.parameters.clone();
        let (kind, columns) = match bound.kind {
            BoundKind::Query { columns, locks, .. } => (QueryKind::Query { locks }, Some(columns)),
            BoundKind::Dml { columns, verb, ref table, .. } => {
                let temporary = bound.parts.is_empty()
                    && table.as_ref().is_some_and(|table| table.persistence == Persistence::Temporary);
                (QueryKind::Write { verb, returning: columns.is_some(), temporary }, columns)
            }
        };
        // Every instance of the plan is bound alike: to the types that were inferred the first time.
        let types: Vec<Option<SqlType>> = parameters.iter().copied().map(Some).collect();
        let again = {
            let (statement, catalog, settings) = (statement.clone(), catalog.clone(), settings.clone());
            Arc::new(move |slots: &Arc<Slots>| bind_to(&statement, &catalog, &settings, &types, now, slots))
        };
        let part = |(number, part): (usize, &Part)| {
            let again = again.clone();
            let builder = move |slots: &Arc<Slots>| {
                let part = again(slots)?.parts.into_iter().nth(number);
                Ok(part.ok_or_else(|| SqlError::internal("a statement lost a part"))?.plan)
            };
            PlannedPart { plan: PreparedPlan::new(engine.clone(), Box::new(builder)), last: part.last }
        };
        let parts = bound.parts.iter().enumerate().map(part).collect();
        let builder = move |slots: &Arc<Slots>| Ok(logical_plan(again(slots)?));
        Ok(PlannedQuery {
            surroundings: Surroundings::new(catalog, settings),
            kind,
            parameters,
            columns: columns.map(Into::into),
            plan: PreparedPlan::new(engine.clone(), Box::new(builder)),
            parts,
            overlapping: bound.overlapping,
            liftable: !bound.relations.iter().any(|table| table.indexes.iter().any(IndexDescriptor::is_computed)),
        })
    }
}

/// Statements that are kept, at most.
const KEPT: usize = 512;

type Key = (Arc<str>, Vec<Option<SqlType>>, Surroundings);

/// Planned statements by text, parameter types and surroundings; the oldest leave first.
#[derive(Default)]
pub struct StatementCache {
    kept: Mutex<(HashMap<Key, Arc<PlannedQuery>>, VecDeque<Key>)>,
}

impl StatementCache {
    /// The plan of a statement, made with `plan` unless it is kept.
    pub fn get_or_plan(
        &self,
        statement: &Statement,
        given: &[Option<SqlType>],
        surroundings: Surroundings,
        plan: impl FnOnce() -> Result<PlannedQuery>,
    ) -> Result<Arc<PlannedQuery>> {
        if depends_on_the_moment(&statement.text) {
            return Ok(Arc::new(plan()?));
        }
        let key: Key = (statement.text.clone(), given.to_vec(), surroundings);
        if let Some(found) = self.kept.lock().0.get(&key) {
            return Ok(found.clone());
        }
        let planned = Arc::new(plan()?);
        let mut kept = self.kept.lock();
        let (map, order) = &mut *kept;
        if map.insert(key.clone(), planned.clone()).is_none() {
            order.push_back(key);
        }
        while order.len() > KEPT {
            if let Some(oldest) = order.pop_front() {
                map.remove(&oldest);
            }
        }
        Ok(planned)
    }
    /// Forgets all (DISCARD PLANS).
    pub fn clear(&self) {
        *self.kept.lock() = Default::default();
    }
}

/// Whether a literal of the text may mean another time whenever it is bound: `'now'`, `'today'` and the like.
fn depends_on_the_moment(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["'now", "'today", "'tomorrow", "'yesterday"].iter().any(|word| lower.contains(word))
}
