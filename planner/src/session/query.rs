//! [`PlannedQuery`]: a query or write, bound and planned.

use super::current_rows;
use super::outcome::OutputColumn;
use super::statement::Statement;
use crate::bind::with_binding;
use crate::bind::{BindContext, Bound, BoundKind, Identified, Part, Verb, bind, bind_computed};
use crate::catalog::{Catalog, Difference, IndexDescriptor, Persistence, TableDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::{Slots, computed_source, table_source};
use crate::plan::{Engine, PreparedPlan};
use crate::settings::Settings;
use crate::types::datetime::{DateFormat, Reading, TimeZone};
use crate::types::interval::Style as IntervalStyle;
use crate::types::{Oid, SqlType};
use datafusion::logical_expr::LogicalPlan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The session state that binding depends on, beside the statement and the catalog's definitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    database: Oid,
    search_path: Arc<[String]>,
    /// The settings that constants of dates and intervals were read with.
    reading: (TimeZone, DateFormat, IntervalStyle),
    /// The current role. `None` if privileges are not checked.
    user: Option<Arc<str>>,
}

impl Surroundings {
    /// The surroundings of a statement.
    pub fn new(catalog: &Catalog, settings: &Settings) -> Self {
        Surroundings {
            database: catalog.database().oid,
            search_path: Arc::clone(settings.shared_search_path()),
            reading: (settings.time_zone(), settings.date_format(), settings.interval_style()),
            user: settings.is_checked().then(|| Arc::clone(settings.user())),
        }
    }

    /// Whether a statement prepared in these surroundings means the same in others. Its constants are read only once.
    pub fn serve(&self, others: &Surroundings) -> bool {
        let Surroundings { database, search_path, reading: _, user } = self;
        *database == others.database
            && *user == others.user
            && (Arc::ptr_eq(search_path, &others.search_path) || *search_path == others.search_path)
    }

    /// The OID of the database.
    pub fn database(&self) -> Oid {
        self.database
    }

    /// The schemas in which names are resolved.
    pub fn search_path(&self) -> &[String] {
        &self.search_path
    }

    /// The role whose privileges were checked. `None` if none were.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// The kind of a planned statement.
#[derive(Clone, Debug)]
pub enum QueryKind {
    /// A query, which returns rows.
    Query {
        /// Whether it locks rows (FOR UPDATE and its kin).
        locks: bool,
    },
    /// A write, which returns rows only with RETURNING.
    Write {
        /// INSERT, UPDATE, DELETE or another write.
        verb: Verb,
        /// Whether it has RETURNING.
        returning: bool,
        /// Whether it writes a temporary table, which read-only transactions permit.
        temporary: bool,
    },
}

/// A planned data-modifying WITH query.
pub struct PlannedPart {
    /// The pool of instances of its plan.
    pub plan: Arc<PreparedPlan>,
    /// Whether it runs after the main statement.
    pub last: bool,
}

/// A planned query or write.
pub struct PlannedQuery {
    /// The session state that it was bound with.
    pub surroundings: Surroundings,
    /// Whether it is a query or a write.
    pub kind: QueryKind,
    /// The types of the parameters.
    pub parameters: Vec<SqlType>,
    /// The columns that a client sees. `None` if it returns no rows.
    pub columns: Option<Arc<[OutputColumn]>>,
    /// The pool of instances of its plan.
    pub plan: Arc<PreparedPlan>,
    /// The data-modifying WITH queries.
    pub parts: Vec<PlannedPart>,
    /// Whether two of these statements, including the main one, write one table.
    pub overlapping: bool,
    /// Whether a number in the text may become a parameter. False if an index condition depends on its value.
    pub liftable: bool,
    /// The catalog that it was bound with.
    catalog: Arc<Catalog>,
    /// The settings that its constants were read with.
    pub settings: Arc<Settings>,
    text: Arc<str>,
    /// The size in bytes of the whole text that contained the statement and that it keeps alive.
    source_bytes: usize,
    /// Whether a constant means another time at another moment, as `'now'` does.
    momentary: bool,
    /// The relations that its names resolved to.
    relations: Vec<Oid>,
    /// The last version of the catalog that it was found to be valid for.
    good_for: AtomicU64,
}

/// The tables of a cursor's query whose rows its plan identifies: the names in the FROM clause, and the OIDs.
pub type IdentifiedTables = Arc<[(String, Oid)]>;

/// Binds a statement to slots. `now` is the transaction's start, for literals such as `'today'`.
pub fn bind_to(
    statement: &Statement,
    catalog: &Arc<Catalog>,
    settings: &Settings,
    given: &[Option<SqlType>],
    now: i64,
    slots: &Arc<Slots>,
) -> Result<Bound> {
    bind_identifying((statement, &[]), catalog, settings, given, now, slots)
}

/// The same with further columns that identify the rows of tables.
fn bind_identifying(
    (statement, tables): (&Statement, &[(String, Oid)]),
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
        // An index whose expression cannot be bound is ignored.
        let bind = |context: &BindContext<'_>| bind_computed(&table, context).unwrap_or_default();
        let computed = with_binding(catalog, settings, slots, now, bind);
        computed_source(table, slots.clone(), &computed)
    };
    let place = current_rows::place_of_select(statement).filter(|_| !tables.is_empty());
    let identified = place.map(|select| Identified { select, tables });
    let context = BindContext { catalog, settings, slots, parameters: given, now, identified, table_source: &source };
    bind(statement, &context)
}

/// The logical plan of a bound statement.
pub fn logical_plan(bound: Bound) -> LogicalPlan {
    match bound.kind {
        BoundKind::Query { plan, .. } | BoundKind::Dml { plan, .. } => plan,
    }
}

impl PlannedQuery {
    /// Binds a query or write. Its plan is made at the first execution.
    pub fn new(
        engine: &Arc<Engine>,
        statement: &Arc<Statement>,
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        given: &[Option<SqlType>],
        now: i64,
    ) -> Result<PlannedQuery> {
        PlannedQuery::identifying(engine, (statement, &IdentifiedTables::default()), catalog, settings, given, now)
    }

    /// The same for a cursor's query: columns that identify the rows of the tables follow its own.
    pub fn identifying(
        engine: &Arc<Engine>,
        (statement, tables): (&Arc<Statement>, &IdentifiedTables),
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        given: &[Option<SqlType>],
        now: i64,
    ) -> Result<PlannedQuery> {
        let (bound, momentary) = Reading::asks_for_now(|| {
            bind_identifying((statement, tables), catalog, settings, given, now, &Slots::new())
        });
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
        // Every instance of the plan is bound to the types that were inferred first.
        let types: Vec<Option<SqlType>> = parameters.iter().copied().map(Some).collect();
        let again = {
            let (statement, tables) = (statement.clone(), tables.clone());
            let (catalog, settings) = (catalog.clone(), settings.clone());
            Arc::new(move |slots: &Arc<Slots>| {
                bind_identifying((&statement, &tables), &catalog, &settings, &types, now, slots)
            })
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

    /// The plans of the statement and of its parts.
    pub fn plans(&self) -> impl Iterator<Item = &Arc<PreparedPlan>> {
        std::iter::once(&self.plan).chain(self.parts.iter().map(|part| &part.plan))
    }

    /// The size in bytes of its text or of the whole text around it, whichever is longer. Its memory
    /// is proportional to that.
    pub fn text_bytes(&self) -> usize {
        self.text.len().max(self.source_bytes)
    }

    /// Whether a constant means another time at another moment, as `'now'` does.
    pub fn is_momentary(&self) -> bool {
        self.momentary
    }

    /// The catalog that it was bound with.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Whether it has the same meaning under `catalog` as under its own catalog. `difference` compares the two. It is
    /// called once for each new version.
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
