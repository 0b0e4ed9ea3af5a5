//! [`PlannedQuery`]: a query or write, bound and planned.

use super::outcome::OutputColumn;
use super::statement::Statement;
use crate::bind::{BindContext, Bound, BoundKind, Part, Verb, bind, bind_computed};
use crate::catalog::{Catalog, Difference, IndexDescriptor, Persistence, TableDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::{Slots, computed_source, table_source, with_binding};
use crate::plan::{Engine, PreparedPlan};
use crate::settings::Settings;
use crate::types::datetime::{DateFormat, Reading, TimeZone};
use crate::types::interval::Style as IntervalStyle;
use crate::types::{Oid, SqlType};
use datafusion::logical_expr::LogicalPlan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What binding depends on beside the statement and the definitions in the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    database: Oid,
    search_path: Arc<[String]>,
    /// What constants of dates and intervals were read by.
    reading: (TimeZone, DateFormat, IntervalStyle),
    /// The role in force, where privileges are asked for.
    user: Option<Arc<str>>,
}

impl Surroundings {
    /// Those of a statement.
    pub fn new(catalog: &Catalog, settings: &Settings) -> Self {
        Surroundings {
            database: catalog.database().oid,
            search_path: Arc::clone(settings.shared_search_path()),
            reading: (settings.time_zone(), settings.date_format(), settings.interval_style()),
            user: settings.is_checked().then(|| Arc::clone(settings.user())),
        }
    }

    /// Whether a statement prepared in these means the same in others: its constants are read once and for all.
    pub fn serve(&self, others: &Surroundings) -> bool {
        let Surroundings { database, search_path, reading: _, user } = self;
        *database == others.database
            && *user == others.user
            && (Arc::ptr_eq(search_path, &others.search_path) || *search_path == others.search_path)
    }

    /// OID of the database.
    pub fn database(&self) -> Oid {
        self.database
    }

    /// The schemas in which names are looked for.
    pub fn search_path(&self) -> &[String] {
        &self.search_path
    }

    /// The role whose privileges were asked for.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
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
    /// The catalog that it was bound by.
    catalog: Arc<Catalog>,
    /// The settings that its constants were read by.
    pub settings: Arc<Settings>,
    text: Arc<str>,
    /// Bytes of the whole text that it came in, which it keeps.
    source_bytes: usize,
    /// Whether a constant of it would mean another time at another moment, as `'now'` does.
    momentary: bool,
    /// The relations that it was found to mean.
    relations: Vec<Oid>,
    /// The version of the catalog that it was last found to be good for.
    good_for: AtomicU64,
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
        let (bound, momentary) =
            Reading::asks_for_now(|| bind_to(statement, catalog, settings, given, now, &Slots::new()));
        let bound = bound?;
        let parameters = bound.parameters.clone();
        let relations = bound.relations.iter().map(|table| table.oid).collect();
        let kept = catalog.clone();
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
            good_for: AtomicU64::new(kept.version()),
            catalog: kept,
            settings: settings.clone(),
            text: statement.text.clone(),
            source_bytes: statement.source.text().len(),
            momentary,
            relations,
        })
    }

    /// The plan of the statement and those of its parts.
    pub fn plans(&self) -> impl Iterator<Item = &Arc<PreparedPlan>> {
        std::iter::once(&self.plan).chain(self.parts.iter().map(|part| &part.plan))
    }

    /// Bytes of its text and of the whole text that it came in, whichever is longer: what is kept of it grows with them.
    pub fn text_bytes(&self) -> usize {
        self.text.len().max(self.source_bytes)
    }

    /// Whether a constant of it would mean another time at another moment, as `'now'` does.
    pub fn is_momentary(&self) -> bool {
        self.momentary
    }

    /// The catalog that it was bound by.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Whether it means by `catalog` what it meant by its own. `difference` answers what the two say differently; it is asked when
    /// a version is new to the plan.
    pub fn is_good_for(&self, catalog: &Catalog, difference: impl FnOnce() -> Arc<Difference>) -> bool {
        let version = catalog.version();
        if [self.good_for.load(Ordering::Relaxed), self.catalog.version()].contains(&version) {
            return true;
        }
        let good = difference().spares(&self.text, &self.relations);
        if good {
            self.good_for.store(version, Ordering::Relaxed);
        }
        good
    }
}
