//! [`table_source`]: a table or system view as DataFusion sees it, and the leaf for a scan of it.

use super::access_path::{self, AccessPath};
use super::computed_indexes::ComputedIndexes;
use super::dml::Computed;
use super::index_scan::IndexScanExec;
use super::interrupt::unanalyzed;
use super::leaf::Estimate;
use super::output::{ScanOutput, scan_schema};
use super::point_get::PointGetExec;
use super::recheck_rows::{RecheckRows, RecheckRowsExec};
use super::slots::Slots;
use super::system_view::SystemViewExec;
use super::table_scan::TableScanExec;
use crate::statistics::selectivity::{distinct_values, selectivity};
use catalog::{ColumnId, RelationKind, TableDescriptor};
use context::system_view::{SystemView, view_by_oid};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, Result as DataFusionResult};
use datafusion::logical_expr::utils::{conjunction, expr_to_columns};
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown, TableSource};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExecBuilder;
use functions::balanced;
use sql_error::Result;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Estimated rows of a scan without bounds if nothing is known of the table.
const UNKNOWN_ROWS: usize = 10_000;
/// Least number of rows a table is assumed to have.
const LEAST_ROWS: usize = 1000;
/// Estimated bytes of a row on disk.
const ROW_BYTES: u64 = 100;
/// Estimated compression ratio of rows on disk.
const COMPRESSION: u64 = 5;

/// A table as the source of a scan. `slots` belong to the plan instance that will read it.
pub fn table_source(table: Arc<TableDescriptor>, slots: Arc<Slots>) -> Arc<dyn TableSource> {
    if table.kind == RelationKind::SystemView
        && let Some(view) = view_by_oid(table.oid)
    {
        return view_source(Arc::clone(view), slots);
    }
    Arc::new(Table { schema: scan_schema(&table), table, view: None, slots, computed: None, recheck: None })
}

/// Like [`table_source`], for a table with expression or partial indexes, whose bound expressions are `computed`.
pub fn computed_source(table: Arc<TableDescriptor>, slots: Arc<Slots>, computed: &Computed) -> Arc<dyn TableSource> {
    if computed.indexes.is_empty() || table.kind == RelationKind::SystemView {
        return table_source(table, slots);
    }
    let computed = Some(ComputedIndexes::new(&table, computed));
    Arc::new(Table { schema: scan_schema(&table), table, view: None, slots, computed, recheck: None })
}

/// A system view as the source of a scan. Its schema has no row key.
pub fn view_source(view: Arc<dyn SystemView>, slots: Arc<Slots>) -> Arc<dyn TableSource> {
    let table = Arc::clone(view.descriptor());
    let all = scan_schema(&table);
    let columns = all.fields().len().saturating_sub(1);
    let schema = Arc::new(Schema::new(all.fields().iter().take(columns).cloned().collect::<Vec<_>>()));
    Arc::new(Table { schema, table, view: Some(view), slots, computed: None, recheck: None })
}

/// A table or system view bound to the slots of a plan instance.
pub struct Table {
    table: Arc<TableDescriptor>,
    view: Option<Arc<dyn SystemView>>,
    slots: Arc<Slots>,
    schema: SchemaRef,
    /// Expression and partial indexes.
    computed: Option<ComputedIndexes>,
    /// Rows that replace the table's.
    recheck: Option<Arc<RecheckRows>>,
}

impl TableSource for Table {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DataFusionResult<Vec<TableProviderFilterPushDown>> {
        // A filter right above the leaf applies what the bounds do not decide. Filters over outer rows stay where they
        // can become a join.
        let outer = |filter: &&Expr| filter.exists(|inner| Ok(matches!(inner, Expr::OuterReferenceColumn(..))));
        filters
            .iter()
            .map(|filter| {
                Ok(match outer(filter)? {
                    true => TableProviderFilterPushDown::Unsupported,
                    false => TableProviderFilterPushDown::Exact,
                })
            })
            .collect()
    }
}

/// When and how a scan is split into partitions.
#[derive(Clone, Copy, Debug)]
pub struct Parallelism {
    /// Least bytes of a large table.
    pub from_bytes: u64,
    /// Number of partitions of a large table's scan.
    pub partitions: usize,
}

/// Converts an expression over a schema to a physical one.
pub type ToPhysical<'a> = &'a (dyn Fn(&Expr, &DFSchema) -> Result<Arc<dyn PhysicalExpr>> + Sync);

impl Table {
    /// Descriptor of the table or view.
    pub fn descriptor(&self) -> &Arc<TableDescriptor> {
        &self.table
    }

    /// The same table with its rows replaced by `rows`.
    pub fn rechecking(&self, rows: Arc<RecheckRows>) -> Table {
        Table {
            table: Arc::clone(&self.table),
            view: None,
            slots: Arc::clone(&self.slots),
            schema: Arc::clone(&self.schema),
            computed: None,
            recheck: Some(rows),
        }
    }

    /// The leaf, and the filter above it if necessary, for a scan with `filters` (a conjunction, with unqualified
    /// columns). `projection` gives the column positions; `None` means all. At most `fetch` rows are returned.
    pub async fn scan(
        &self,
        projection: Option<&[usize]>,
        filters: &[Expr],
        fetch: Option<usize>,
        parallelism: Parallelism,
        physical: ToPhysical<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut positions: Vec<usize> = match projection {
            Some(projection) => projection.to_vec(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let width = positions.len();
        let share = selectivity(&self.table, filters);
        let (remaining, path) = if self.view.is_some() || self.recheck.is_some() {
            (filters.to_vec(), None)
        } else {
            let (needed, needs_key) = self.needed(&positions, filters)?;
            let empty = DFSchema::empty();
            let to_physical = |expression: &Expr| physical(expression, &empty);
            let path = match &self.computed {
                None => access_path::choose(&self.table, filters, &needed, needs_key, &to_physical)?,
                Some(computed) => {
                    let (table, filters) = computed.seen_by(filters)?;
                    access_path::choose(&table, &filters, &needed, needs_key, &to_physical)?
                }
            };
            let remaining = path.remaining.iter().filter_map(|position| filters.get(*position).cloned()).collect();
            (remaining, Some(path))
        };
        for column in columns_of(&remaining)? {
            let position = self.schema.index_of(&column.name)?;
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
        let fetch_below = fetch.filter(|_| remaining.is_empty());
        let leaf = match (path, &self.recheck) {
            (None, Some(rows)) => {
                let output = ScanOutput::new(Arc::clone(&self.table), &positions)?;
                Ok(Arc::new(RecheckRowsExec::new(output, Arc::clone(rows))) as Arc<dyn ExecutionPlan>)
            }
            (None, None) => self.view_leaf(positions, filters, physical),
            (Some(path), _) => {
                let known = self.estimate(&positions, &path, share, &remaining)?;
                self.table_leaf(path, &positions, known, fetch_below, parallelism).await
            }
        }?;
        /// More filters are joined as a balanced tree: walks of a deep tree are recursive.
        const FEW: usize = 64;
        let many = remaining.len() > FEW;
        let predicate = if many { Some(balanced(remaining, Operator::And)) } else { conjunction(remaining) };
        let Some(predicate) = predicate else { return Ok(leaf) };
        let schema = DFSchema::try_from(leaf.schema())?;
        let predicate = physical(&predicate, &schema)?;
        let predicate = if many { unanalyzed(predicate, &self.slots) } else { predicate };
        let narrow = (positions_differ(width, leaf.schema().fields().len())).then(|| (0..width).collect());
        let mut filter = FilterExecBuilder::new(predicate, leaf).apply_projection(narrow)?.with_fetch(fetch);
        if share.is_some() {
            // The leaf's estimate already includes the filter.
            filter = filter.with_default_selectivity(100);
        }
        Ok(Arc::new(filter.build()?))
    }

    fn view_leaf(
        &self,
        positions: Vec<usize>,
        filters: &[Expr],
        physical: ToPhysical<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = Arc::new(self.schema.project(&positions)?);
        let view = self.view.clone().ok_or_else(|| sql_error::SqlError::internal("a table without access path"))?;
        let empty = DFSchema::empty();
        let leaf = SystemViewExec::new(view, positions, schema, Arc::clone(&self.slots));
        Ok(Arc::new(leaf.with_filters(filters, &|expression| physical(expression, &empty))?))
    }

    async fn table_leaf(
        &self,
        path: AccessPath,
        positions: &[usize],
        known: Option<Estimate>,
        fetch: Option<usize>,
        parallelism: Parallelism,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let output = ScanOutput::new(Arc::clone(&self.table), positions)?;
        let AccessPath { index, bounds, constants, unused, share: _, remaining: _ } = path;
        let bounds = Arc::new(bounds);
        let slots = Arc::clone(&self.slots);
        let descriptor = index.and_then(|index| self.table.indexes.get(index));
        let leaf: Arc<dyn ExecutionPlan> = match (index, descriptor) {
            (Some(position), Some(index)) if index.primary && bounds.is_points() => {
                Arc::new(PointGetExec::new(output, position, bounds, &constants, slots))
            }
            (_, Some(index)) if !index.primary => {
                let expected = known.unwrap_or_else(|| {
                    let point = index.unique && bounds.is_points();
                    Estimate::guess(if point { 1 } else { expected_rows(&bounds, UNKNOWN_ROWS) })
                });
                Arc::new(IndexScanExec::new(output, Arc::new(index.clone()), bounds, constants, slots, expected))
            }
            _ => {
                let bytes = self.bytes(parallelism.from_bytes).await;
                let rows =
                    bytes.map_or(UNKNOWN_ROWS, |bytes| usize::try_from(bytes / ROW_BYTES).unwrap_or(UNKNOWN_ROWS));
                // Rows take about five times as many bytes in memory as on disk, where they are compressed.
                let least_bytes = parallelism.from_bytes.saturating_mul(COMPRESSION);
                let much = known.as_ref().is_some_and(|known| {
                    u64::try_from(known.read).unwrap_or(u64::MAX).saturating_mul(ROW_BYTES) >= least_bytes
                });
                // A part of a large table counts as large only if that is known. Sharing few rows out costs more than
                // reading them.
                let whole = bounds.is_full() && bytes.is_some_and(|bytes| bytes >= parallelism.from_bytes);
                let large = (whole || much) && bounds.equalities() == 0 && fetch.is_none();
                let partitions = if large { parallelism.partitions.max(1) } else { 1 };
                // Recent writes are not on disk yet, so a small size says little.
                let expected = known.unwrap_or_else(|| Estimate::guess(expected_rows(&bounds, rows.max(LEAST_ROWS))));
                let scan = TableScanExec::new(output, bounds, constants, slots, partitions, expected).knowing(unused);
                Arc::new(if large { scan.large() } else { scan })
            }
        };
        Ok(match fetch {
            Some(_) => leaf.with_fetch(fetch).unwrap_or(leaf),
            None => leaf,
        })
    }

    /// Estimates the rows that the leaf reads and keeps, by the table's statistics. `left` is the share of rows that
    /// all filters keep. `remaining` are the filters right above the leaf.
    fn estimate(
        &self,
        positions: &[usize],
        path: &AccessPath,
        left: Option<f64>,
        remaining: &[Expr],
    ) -> Result<Option<Estimate>> {
        let (Some(known), Some(share), Some(left)) = (&self.table.statistics, path.share, left) else {
            return Ok(None);
        };
        let rows = known.rows.max(1.0);
        let count = |rows: f64| rows.round().max(1.0) as usize;
        // If DataFusion has statistics of a filter's columns, it would apply the filter's selectivity twice.
        let filtered: HashSet<String> = columns_of(remaining)?.into_iter().map(|column| column.name).collect();
        let live: Vec<_> = self.table.live_columns().collect();
        let distinct = positions.iter().map(|position| {
            let column = live.get(*position).filter(|column| !filtered.contains(&column.name))?;
            if path.constants.contains(&column.id) {
                return Some(1);
            }
            Some(count(distinct_values(&self.table, column.id, column.ty)?))
        });
        let (read, left) = (count(rows * share), count(rows * left));
        Ok(Some(Estimate { read, left: left.min(read), distinct: distinct.collect() }))
    }

    /// Approximate bytes of the table, if the plan is made for a running transaction. Tablets may hold other tables
    /// too. So the table is examined more closely if its tablets have `large` bytes or more.
    async fn bytes(&self, large: u64) -> Option<u64> {
        let context = self.slots.get().ok()?;
        let range = storage::RowRange::prefix(catalog::encoding::table_prefix(self.table.storage_id));
        let tablets = context.transaction.tablets(&range).await.ok()?;
        let bytes = tablets.iter().map(|tablet| tablet.bytes).sum();
        if bytes < large {
            return Some(bytes);
        }
        Some(context.transaction.approximate_bytes(&range).await.map_or(bytes, |own| own.min(bytes)))
    }

    /// The columns that the output and the filters need, and whether they need the row key.
    fn needed(&self, positions: &[usize], filters: &[Expr]) -> Result<(BTreeSet<ColumnId>, bool)> {
        let live: Vec<ColumnId> = self.table.live_columns().map(|column| column.id).collect();
        let mut needed: BTreeSet<ColumnId> =
            positions.iter().filter_map(|position| live.get(*position).copied()).collect();
        let needs_key = positions.contains(&live.len());
        for column in columns_of(filters)? {
            needed.extend(self.table.column_named(&column.name).map(|column| column.id));
        }
        Ok((needed, needs_key))
    }
}

fn positions_differ(wanted: usize, read: usize) -> bool {
    wanted != read
}

fn expected_rows(bounds: &super::bounds::KeyBounds, all: usize) -> usize {
    match bounds.equalities() {
        0 if bounds.is_full() => all,
        0 => (all / 4).max(1),
        _ => (all / 100).clamp(1, 1000),
    }
}

fn columns_of(filters: &[Expr]) -> Result<HashSet<Column>> {
    let mut columns = HashSet::new();
    for filter in filters {
        expr_to_columns(filter, &mut columns)?;
    }
    Ok(columns)
}
