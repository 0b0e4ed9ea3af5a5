//! [`LookupJoin`]: hash joins that look up their probe side by key.
//!
//! It applies if a hash join would scan a whole table as its probe side, and the join columns are a key of the table or
//! a prefix of one. Filters of the table may fix further key columns, and a range may restrict the next. Ranges of the
//! primary key or of the same index are supported too. The keys of the build side are recorded, and only rows with
//! these keys are read. If keys identify single rows, the join keeps the order of the other side ([`KeyJoinExec`]). If
//! there are too many keys, the table is scanned after all. That is decided at run time, not guessed.

use super::passed_columns::{beneath_projection, column_beneath, over};
use super::{alternative_keys, view_lookup};
use catalog::{ColumnId, IndexDescriptor, IndexState, TableDescriptor};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, PartitionMode};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use executor::access_path::Saying;
use executor::index_lookup_join::KeyJoinExec;
use executor::index_scan::IndexScanExec;
use executor::key_lookup::LookupKey;
use executor::lookup_scan::{LookupKeys, LookupScanExec, Scan};
use executor::runtime_join_filter::{KeyTap, KeyTapExec, TappedKeys};
use executor::statistics::selectivity::distinct_values;
use executor::table_scan::TableScanExec;
use std::sync::Arc;

/// Most keys looked up in one join.
const MOST_KEYS: usize = 20_000;
/// Looking up a whole key costs about as much as scanning this many rows, most of which are in memory.
const ROWS_PER_KEY: usize = 2;
/// Looking up a key prefix costs about as much as scanning this many rows, plus the rows found.
const ROWS_PER_LOOKUP: usize = 8;
/// Each of these rows costs this much if an index only refers to it.
const ROWS_PER_INDEXED_ROW: usize = 8;
/// A join is swapped, so that the other side is the build side, if that side has at most this many rows.
const TURNED_ROWS: usize = 1000;
/// This many keys are looked up whatever the size of the table.
const ALWAYS_KEYS: usize = 64;

/// The rule. It runs once the build side is known, and before orders are enforced: a lookup may have another order than
/// the scan that it replaces.
#[derive(Debug)]
pub struct LookupJoin;

impl PhysicalOptimizerRule for LookupJoin {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
                return Ok(match alternative_keys::of_nested_loop(join)? {
                    Some(tapped) => Transformed::yes(tapped),
                    None => Transformed::no(plan),
                });
            }
            let Some(join) = plan.downcast_ref::<HashJoinExec>() else { return Ok(Transformed::no(plan)) };
            let read = match is_built_from_unknown(join)? {
                true => turned(join)?.map_or_else(|| by_lookup(join), |turned| Ok(Some(turned)))?,
                false => by_lookup(join)?.map_or_else(|| turned_to_small(join), |read| Ok(Some(read)))?,
            };
            Ok(read.map_or(Transformed::no(plan), Transformed::yes))
        })
        .data()
    }

    fn name(&self) -> &str {
        "LookupJoin"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether probe rows without a match do not affect the join's result.
fn drops_unmatched_probe_rows(join_type: JoinType) -> bool {
    match join_type {
        JoinType::Inner
        | JoinType::Left
        | JoinType::LeftSemi
        | JoinType::LeftAnti
        | JoinType::LeftMark
        | JoinType::RightSemi => true,
        JoinType::Right | JoinType::Full | JoinType::RightAnti | JoinType::RightMark => false,
    }
}

/// Whether a join builds the side of unknown size although the other one is small.
fn is_built_from_unknown(join: &HashJoinExec) -> Result<bool> {
    Ok(rows_of(join.left())?.is_none() && rows_of(join.right())?.is_some_and(|rows| rows <= ALWAYS_KEYS))
}

/// Expected number of rows of a side. `None` if unknown.
pub(super) fn rows_of(side: &Arc<dyn ExecutionPlan>) -> Result<Option<usize>> {
    let known = StatisticsContext::new().compute(side.as_ref(), &StatisticsArgs::new())?;
    Ok(known.num_rows.get_value().copied())
}

/// Swaps a join if that lets a small table be looked up instead of scanned. Starting a scan takes as long as some
/// lookups of cached rows, and a small table has at most as many keys as rows.
fn turned_to_small(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let small = match probe_scan(join.left()) {
        Some((scan, _)) => scan
            .downcast_ref::<TableScanExec>()
            .is_some_and(|scan| scan.output().table.statistics.is_some() && scan.estimate().read <= ALWAYS_KEYS),
        None => false,
    };
    match small && rows_of(join.right())?.is_some_and(|rows| rows <= TURNED_ROWS) {
        true => turned(join),
        false => Ok(None),
    }
}

/// Swaps a join and looks up its new probe side. `None` if that is impossible.
fn turned(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if *join.join_type() != JoinType::Inner || *join.partition_mode() != PartitionMode::CollectLeft {
        return Ok(None);
    }
    beneath_projection(&join.swap_inputs(PartitionMode::CollectLeft)?, |turned| {
        match turned.downcast_ref::<HashJoinExec>() {
            Some(turned) => by_lookup(turned),
            None => Ok(None),
        }
    })
}

/// Looks up the probe side of a join. `None` if that is impossible or does not pay.
fn by_lookup(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let single = join.left().output_partitioning().partition_count() == 1
        && join.right().output_partitioning().partition_count() == 1;
    // NOT IN depends on whether the probe side has NULLs or any rows at all.
    let null_aware = join.null_aware;
    if !drops_unmatched_probe_rows(*join.join_type())
        || null_aware
        // NULL keys are not looked up.
        || join.null_equality() != NullEquality::NullEqualsNothing
        || !single
        || *join.partition_mode() != PartitionMode::CollectLeft
    {
        return Ok(None);
    }
    if let Some(of_views) = view_lookup::of_views(join)? {
        return Ok(Some(of_views));
    }
    let Some((found, columns)) = probe_scan(join.right()) else { return Ok(None) };
    if found.fetch().is_some() {
        return Ok(None);
    }
    let scan = match (found.downcast_ref::<TableScanExec>(), found.downcast_ref::<IndexScanExec>()) {
        (Some(scan), _) => Scan::Table(scan),
        (None, Some(scan)) => Scan::Index(scan),
        (None, None) => return Ok(None),
    };
    // For each join key the table's column, if it has the same type.
    let build_schema = join.left().schema();
    let names: Vec<Option<String>> = join
        .on()
        .iter()
        .map(|(left, right)| {
            let column = right.downcast_ref::<Column>()?;
            let position = columns.get(column.index()).copied().flatten()?;
            let schema = found.schema();
            let field = schema.fields().get(position)?;
            (left.data_type(&build_schema).ok()? == *field.data_type()).then(|| field.name().clone())
        })
        .collect();
    let table = &scan.output().table;
    let Some((index, looked_up)) = best_index(table, &names, scan) else { return Ok(None) };
    let whole = looked_up.columns.len() == index.columns.len() && (index.primary || index.unique);
    let rows = if whole { ROWS_PER_KEY } else { rows_per_lookup(scan, index, &looked_up) };
    // Reading a small range is faster than lookups in it. If it may be large, a few keys cost little.
    let least = if scan.is_whole() || !scan.is_range_known() { ALWAYS_KEYS } else { 0 };
    let most = (scan.estimate().read / rows).clamp(least, MOST_KEYS);
    if most == 0 {
        return Ok(None);
    }
    let tap = Arc::new(KeyTap::default());
    let keys: Vec<Arc<dyn PhysicalExpr>> = join.on().iter().map(|(left, _)| Arc::clone(left)).collect();
    let build = Arc::new(KeyTapExec::new(Arc::clone(join.left()), TappedKeys::Row(keys), most, Arc::clone(&tap)));
    let lookup = Arc::new(LookupScanExec::new(scan, index, looked_up, tap));
    let probe = replace_scan(join.right(), &(Arc::clone(&lookup) as Arc<dyn ExecutionPlan>))?;
    if lookup.names_rows()
        && let Some(joined) = KeyJoinExec::of(join, Arc::clone(&probe), lookup, most)?
    {
        return Ok(Some(Arc::new(joined)));
    }
    Ok(Some(join.builder().with_new_children(vec![build, probe])?.build_exec()?))
}

/// The cost of reading the rows with a key prefix, in rows scanned. Without statistics the rows themselves are not
/// counted.
fn rows_per_lookup(scan: Scan<'_>, index: &IndexDescriptor, keys: &LookupKeys) -> usize {
    let table = &scan.output().table;
    let columns = index.columns.iter().take(keys.columns.len()).filter_map(|key| table.column(key.column));
    let distinct = columns.filter_map(|column| distinct_values(table, column.id, column.ty)).reduce(f64::max);
    let (Some(known), Some(distinct)) = (&table.statistics, distinct) else { return ROWS_PER_LOOKUP };
    let covers = index.primary || executor::index_scan::covers(scan.output(), index);
    let each = if covers { 1 } else { ROWS_PER_INDEXED_ROW };
    // Fewer than one row per key brings no gain. The conversion saturates.
    let rows = (known.rows / distinct.max(1.0)) as usize;
    ROWS_PER_LOOKUP.saturating_add(rows.saturating_mul(each))
}

/// The scan below a chain of filters, projections, sorts and groupings. Also, for each output column of the chain, its
/// position in the scan's output.
fn probe_scan(plan: &Arc<dyn ExecutionPlan>) -> Option<(Arc<dyn ExecutionPlan>, Vec<Option<usize>>)> {
    if plan.is::<TableScanExec>() || plan.is::<IndexScanExec>() {
        return Some((Arc::clone(plan), (0..plan.schema().fields().len()).map(Some).collect()));
    }
    let beneath = column_beneath(plan)?;
    let (scan, columns) = probe_scan(plan.children().first()?)?;
    let through = |position| columns.get(beneath(position)?).copied().flatten();
    Some((scan, (0..plan.schema().fields().len()).map(through).collect()))
}

fn replace_scan(plan: &Arc<dyn ExecutionPlan>, scan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.children().first() {
        None => Ok(Arc::clone(scan)),
        Some(child) => over(plan, replace_scan(child, scan)?),
    }
}

/// The index whose leading columns are join keys or fixed by filters. A complete primary key or unique index is
/// preferred, otherwise the longest prefix. Also answers the sources of these columns' values.
fn best_index<'a>(
    table: &'a TableDescriptor,
    names: &[Option<String>],
    scan: Scan<'_>,
) -> Option<(&'a IndexDescriptor, LookupKeys)> {
    let unused = match scan {
        Scan::Table(scan) => scan.unused(),
        Scan::Index(_) => &[],
    };
    let says = |column: ColumnId| {
        unused.iter().filter(move |(said_of, _)| *said_of == column).map(|(_, saying)| saying.clone())
    };
    table
        .indexes
        .iter()
        .filter(|index| index.primary || index.state == IndexState::Public && index.predicate.is_none())
        .filter(|index| scan.can_be_looked_up_by(index))
        .filter_map(|index| {
            let known = index.columns.iter().map_while(|key| {
                let column = table.column(key.column)?;
                let joined = names.iter().position(|name| name.as_ref() == Some(&column.name)).map(LookupKey::Joined);
                joined.or_else(|| {
                    says(key.column).find_map(|saying| match saying {
                        Saying::Is(value) => Some(LookupKey::Fixed(value)),
                        Saying::Within(_) => None,
                    })
                })
            });
            let columns: Vec<LookupKey> = known.collect();
            let next = index.columns.get(columns.len());
            let limits = next.into_iter().flat_map(|key| says(key.column)).filter_map(|saying| match saying {
                Saying::Within(limit) => Some(limit),
                Saying::Is(_) => None,
            });
            let joins = columns.iter().any(|key| matches!(key, LookupKey::Joined(_)));
            joins.then(|| (index, LookupKeys { limits: limits.collect(), columns }))
        })
        .max_by_key(|(index, keys)| {
            let whole = keys.columns.len() == index.columns.len();
            let covers = index.primary || executor::index_scan::covers(scan.output(), index);
            let length = (keys.columns.len(), keys.limits.len().min(2));
            (whole && (index.primary || index.unique), length, covers, index.primary)
        })
}
