//! [`LookupJoin`]: makes hash joins look their probe side up by key.
//!
//! Where a hash join would scan a whole table to probe, and the join's columns are a key of the table or
//! the beginning of one (with columns that the table's filters fix between them, and a range of the next), the keys of the build
//! side are noted and only rows with these keys are read; so are those of a range of the primary key or of the same index. Where they name single rows, the join keeps the order of the
//! other side ([`KeyJoinExec`]). Too many keys, and the table is scanned after all: that is found out while the join runs, not guessed.

use super::passed_columns::{beneath_projection, column_beneath, over};
use super::{alternative_keys, view_lookup};
use crate::catalog::{ColumnId, IndexDescriptor, IndexState, TableDescriptor};
use crate::execution::access_path::Saying;
use crate::execution::index_scan::IndexScanExec;
use crate::execution::key_join::KeyJoinExec;
use crate::execution::key_lookup::LookupKey;
use crate::execution::key_tap::{KeyTap, KeyTapExec, TappedKeys};
use crate::execution::lookup_scan::{LookupKeys, LookupScanExec, Scan};
use crate::execution::table_scan::TableScanExec;
use crate::statistics::selectivity::distinct_values;
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
use std::sync::Arc;

/// Keys looked up in one join, at most.
const MOST_KEYS: usize = 20_000;
/// To look a whole key up costs about as much as scanning this many rows, of which most are in memory,
const ROWS_PER_KEY: usize = 2;
/// to look at all rows with the beginning of a key as scanning this many, and those rows themselves,
const ROWS_PER_LOOKUP: usize = 8;
/// each of which costs so much when an index only says where it is.
const ROWS_PER_INDEXED_ROW: usize = 8;
/// A join is turned so that the other side is built if that has this many rows at most.
const TURNED_ROWS: usize = 1000;
/// Keys looked up whatever the size of the table.
const ALWAYS_KEYS: usize = 64;

/// The rule. Runs once it is known which side is built, and before orders are enforced: a look-up may have
/// another order than the scan that it stands for.
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

/// Whether rows of the probe side that match nothing leave the join's result as it is.
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

/// Whether a join builds a side of which it is not known how many rows there are, while the other has few.
fn is_built_from_unknown(join: &HashJoinExec) -> Result<bool> {
    Ok(rows_of(join.left())?.is_none() && rows_of(join.right())?.is_some_and(|rows| rows <= ALWAYS_KEYS))
}

/// How many rows a side is expected to have; `None` where that is not known.
pub(super) fn rows_of(side: &Arc<dyn ExecutionPlan>) -> Result<Option<usize>> {
    let known = StatisticsContext::new().compute(side.as_ref(), &StatisticsArgs::new())?;
    Ok(known.num_rows.get_value().copied())
}

/// The same join the other way round, where that lets a small table be looked up instead of scanned: to begin a scan takes as long as
/// some look-ups of rows that are in memory, and of a small table there are no more keys than rows.
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

/// The join the other way round with what is its probe side then looked up; `None` where that cannot be.
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

/// The join with its probe side looked up; `None` where that cannot be, or does not pay.
fn by_lookup(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let single = join.left().output_partitioning().partition_count() == 1
        && join.right().output_partitioning().partition_count() == 1;
    // NOT IN looks at whether the probe side has NULLs or any rows at all.
    let null_aware = join.null_aware;
    if !drops_unmatched_probe_rows(*join.join_type())
        || null_aware
        // Keys that are NULL are not looked up.
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
    // Which column of the table each join key is, where it is one of the same type.
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
    // A range of few rows is read sooner than it is looked into; where it may be of many, a few keys cost little.
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

/// What it costs to read the rows that begin with a key, in rows scanned. Nothing is added for the rows themselves where
/// nothing is known of how many there are.
fn rows_per_lookup(scan: Scan<'_>, index: &IndexDescriptor, keys: &LookupKeys) -> usize {
    let table = &scan.output().table;
    let columns = index.columns.iter().take(keys.columns.len()).filter_map(|key| table.column(key.column));
    let distinct = columns.filter_map(|column| distinct_values(table, column.id, column.ty)).reduce(f64::max);
    let (Some(known), Some(distinct)) = (&table.statistics, distinct) else { return ROWS_PER_LOOKUP };
    let covers = index.primary || crate::execution::index_scan::covers(scan.output(), index);
    let each = if covers { 1 } else { ROWS_PER_INDEXED_ROW };
    // Fewer than a row for each key are no gain; the conversion saturates.
    let rows = (known.rows / distinct.max(1.0)) as usize;
    ROWS_PER_LOOKUP.saturating_add(rows.saturating_mul(each))
}

/// The scan at the bottom of a chain of filters, projections, sorts and groupings, and for each output column of the
/// chain its position in the scan's output.
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

/// The index whose leading columns are the join's keys or fixed by filters: the primary key or a unique index in full,
/// else the longest beginning. Answers where the values of these columns come from.
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
            let covers = index.primary || crate::execution::index_scan::covers(scan.output(), index);
            let length = (keys.columns.len(), keys.limits.len().min(2));
            (whole && (index.primary || index.unique), length, covers, index.primary)
        })
}
