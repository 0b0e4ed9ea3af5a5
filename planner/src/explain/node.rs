//! What each operator is called in an EXPLAIN, and what is said below its name.

use super::text::{condition, readable};
use crate::execution::apply::ApplyExec;
use crate::execution::bounds::KeyBounds;
use crate::execution::generate_series::GenerateSeriesExec;
use crate::execution::index_scan::IndexScanExec;
use crate::execution::interrupt::PaceExec;
use crate::execution::key_tap::KeyTapExec;
use crate::execution::limit::LimitExec;
use crate::execution::lookup_scan::LookupScanExec;
use crate::execution::point_get::PointGetExec;
use crate::execution::projection::LeanProjectionExec;
use crate::execution::system_view::SystemViewExec;
use crate::execution::table_scan::TableScanExec;
use crate::execution::values::ValuesExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::work_table::WorkTableExec;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use std::sync::Arc;

/// An operator's description.
pub struct Line {
    /// Its name and what it works on.
    pub text: String,
    /// Lines below it.
    pub details: Vec<String>,
    /// The keys it reads, for a scan.
    pub bounds: Option<Arc<KeyBounds>>,
    /// What it reads from, with a title where PostgreSQL gives one.
    pub children: Vec<(Option<String>, Arc<dyn ExecutionPlan>)>,
}

/// The input of an operator that is not shown.
pub fn transparent(operator: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let hidden = operator.is::<ProjectionExec>()
        || operator.is::<LeanProjectionExec>()
        || operator.is::<CooperativeExec>()
        || operator.is::<KeyTapExec>()
        || operator.is::<PaceExec>();
    hidden.then(|| operator.children().first().map(|child| Arc::clone(child))).flatten()
}

fn is_scan(operator: &Arc<dyn ExecutionPlan>) -> bool {
    operator.is::<PointGetExec>()
        || operator.is::<TableScanExec>()
        || operator.is::<IndexScanExec>()
        || operator.is::<LookupScanExec>()
        || operator.is::<SystemViewExec>()
}

/// The condition and the scan, when the operator is a filter right above a scan.
pub fn scan_filter(operator: &Arc<dyn ExecutionPlan>) -> Option<(String, Arc<dyn ExecutionPlan>)> {
    let filter = operator.downcast_ref::<FilterExec>()?;
    let mut input = Arc::clone(filter.input());
    while let Some(below) = transparent(&input) {
        input = below;
    }
    is_scan(&input).then(|| (condition(filter.predicate()), input))
}

fn line(text: impl Into<String>, operator: &Arc<dyn ExecutionPlan>, details: Vec<String>) -> Line {
    let children = operator.children().into_iter().map(|child| (None, Arc::clone(child))).collect();
    Line { text: text.into(), details, bounds: None, children }
}

/// The description of an operator.
pub fn describe(operator: &Arc<dyn ExecutionPlan>) -> Line {
    scan(operator).or_else(|| join(operator)).or_else(|| other(operator)).unwrap_or_else(|| {
        // Operators that write describe themselves; DataFusion's rare ones go by their own names.
        let text = displayable(operator.as_ref()).one_line().to_string();
        match text.trim().split_once(": ") {
            Some((verb @ ("Insert" | "Update" | "Delete"), table)) => {
                line(format!("{verb} on {table}"), operator, vec![])
            }
            Some(("LockRows", _)) => line("LockRows", operator, vec![]),
            _ => line(readable(text.trim()), operator, vec![]),
        }
    })
}

fn index_condition(bounds: &KeyBounds) -> Vec<String> {
    if bounds.is_full() { vec![] } else { vec![format!("Index Cond: {}", readable(&bounds.to_string()))] }
}

fn scan(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    let described = |text: String, bounds: &Arc<KeyBounds>, more: Vec<String>| {
        let mut details = index_condition(bounds);
        details.extend(more);
        Some(Line { text, details, bounds: Some(Arc::clone(bounds)), children: vec![] })
    };
    if let Some(get) = operator.downcast_ref::<PointGetExec>() {
        return described(
            format!("Point Get using {} on {}", get.index_name(), get.table_name()),
            get.bounds(),
            vec![],
        );
    }
    if let Some(scan) = operator.downcast_ref::<TableScanExec>() {
        let table = scan.table_name();
        let text = match (scan.index_name(), scan.bounds().is_full(), scan.is_reverse()) {
            (Some(index), _, true) => format!("Index Scan Backward using {index} on {table}"),
            (Some(index), false, false) => format!("Index Scan using {index} on {table}"),
            (None, _, true) => format!("Seq Scan Backward on {table}"),
            _ if scan.partitions() > 1 => format!("Parallel Seq Scan on {table}"),
            _ => format!("Seq Scan on {table}"),
        };
        let workers = (scan.partitions() > 1).then(|| format!("Partitions: {}", scan.partitions()));
        return described(text, scan.bounds(), workers.into_iter().collect());
    }
    if let Some(scan) = operator.downcast_ref::<IndexScanExec>() {
        let only = if scan.is_index_only() { " Only" } else { "" };
        let backward = if scan.is_reverse() { " Backward" } else { "" };
        let text = format!("Index{only} Scan{backward} using {} on {}", scan.index_name(), scan.table_name());
        return described(text, scan.bounds(), vec![]);
    }
    if let Some(lookup) = operator.downcast_ref::<LookupScanExec>() {
        let text = format!("Index Lookup using {} on {}", lookup.index_name(), lookup.table_name());
        let details = vec![format!("Lookup Keys: {}", lookup.key_names())];
        return Some(line(text, operator, details));
    }
    if let Some(view) = operator.downcast_ref::<SystemViewExec>() {
        return Some(line(format!("Seq Scan on {}", view.view_name()), operator, vec![]));
    }
    if operator.is::<ValuesExec>() || operator.is::<DataSourceExec>() {
        return Some(line("Values Scan on \"*VALUES*\"", operator, vec![]));
    }
    if let Some(table) = operator.downcast_ref::<WorkTableExec>() {
        return Some(line(format!("WorkTable Scan on {}", table.name()), operator, vec![]));
    }
    (operator.is::<EmptyExec>() || operator.is::<PlaceholderRowExec>()).then(|| line("Result", operator, vec![]))
}

fn join_word(join_type: JoinType) -> &'static str {
    match join_type {
        JoinType::Inner => "",
        JoinType::Left => " Left",
        JoinType::Right => " Right",
        JoinType::Full => " Full",
        JoinType::LeftSemi => " Semi",
        JoinType::RightSemi => " Right Semi",
        JoinType::LeftAnti => " Anti",
        JoinType::RightAnti => " Right Anti",
        JoinType::LeftMark | JoinType::RightMark => " Mark",
    }
}

fn pairs(
    on: &[(Arc<dyn datafusion::physical_expr::PhysicalExpr>, Arc<dyn datafusion::physical_expr::PhysicalExpr>)],
) -> String {
    let pairs: Vec<_> =
        on.iter().map(|(left, right)| format!("({})", readable(&format!("{left} = {right}")))).collect();
    pairs.join(" AND ")
}

fn join(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    let filtered = |filter: Option<String>| filter.into_iter().map(|filter| format!("Join Filter: {filter}"));
    if let Some(join) = operator.downcast_ref::<HashJoinExec>() {
        let mut details = vec![format!("Hash Cond: {}", pairs(join.on()))];
        details.extend(filtered(join.filter().map(|filter| condition(filter.expression()))));
        return Some(line(format!("Hash{} Join", join_word(*join.join_type())), operator, details));
    }
    if let Some(join) = operator.downcast_ref::<SortMergeJoinExec>() {
        let mut details = vec![format!("Merge Cond: {}", pairs(join.on()))];
        details.extend(filtered(join.filter().as_ref().map(|filter| condition(filter.expression()))));
        return Some(line(format!("Merge{} Join", join_word(join.join_type())), operator, details));
    }
    if let Some(join) = operator.downcast_ref::<NestedLoopJoinExec>() {
        let word = join_word(*join.join_type());
        let text = if word.is_empty() { "Nested Loop".to_string() } else { format!("Nested Loop{word} Join") };
        let details = filtered(join.filter().map(|filter| condition(filter.expression()))).collect();
        return Some(line(text, operator, details));
    }
    operator.is::<CrossJoinExec>().then(|| line("Nested Loop", operator, vec![]))
}

fn sort_keys(order: &LexOrdering) -> String {
    let keys: Vec<_> = order
        .iter()
        .map(|key| {
            let direction = if key.options.descending { " DESC" } else { "" };
            // Said only where it is not PostgreSQL's default.
            let nulls = match (key.options.descending, key.options.nulls_first) {
                (false, true) => " NULLS FIRST",
                (true, false) => " NULLS LAST",
                _ => "",
            };
            format!("{}{direction}{nulls}", readable(&key.expr.to_string()))
        })
        .collect();
    format!("Sort Key: {}", keys.join(", "))
}

fn aggregate(operator: &Arc<dyn ExecutionPlan>, aggregate: &AggregateExec) -> Line {
    let groups: Vec<_> =
        aggregate.group_expr().expr().iter().map(|(expression, _)| readable(&expression.to_string())).collect();
    let phase = match aggregate.mode() {
        AggregateMode::Partial => "Partial ",
        AggregateMode::Final | AggregateMode::FinalPartitioned => "Finalize ",
        _ => "",
    };
    let kind = if groups.is_empty() {
        "Aggregate"
    } else if matches!(aggregate.input_order_mode(), datafusion::physical_plan::InputOrderMode::Sorted) {
        "GroupAggregate"
    } else {
        "HashAggregate"
    };
    let details = if groups.is_empty() { vec![] } else { vec![format!("Group Key: {}", groups.join(", "))] };
    line(format!("{phase}{kind}"), operator, details)
}

fn other(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    if let Some(found) = operator.downcast_ref::<AggregateExec>() {
        return Some(aggregate(operator, found));
    }
    if let Some(sort) = operator.downcast_ref::<SortExec>() {
        let mut details = vec![sort_keys(sort.expr())];
        details.extend(sort.fetch().map(|fetch| format!("Sort Method: top-N heapsort, {fetch} rows")));
        return Some(line("Sort", operator, details));
    }
    if let Some(merge) = operator.downcast_ref::<SortPreservingMergeExec>() {
        return Some(line("Gather Merge", operator, vec![sort_keys(merge.expr())]));
    }
    if operator.is::<CoalescePartitionsExec>() {
        return Some(line("Gather", operator, vec![]));
    }
    if let Some(filter) = operator.downcast_ref::<FilterExec>() {
        return Some(line("Result", operator, vec![format!("Filter: {}", condition(filter.predicate()))]));
    }
    if operator.is::<GlobalLimitExec>() || operator.is::<LocalLimitExec>() || operator.is::<LimitExec>() {
        return Some(line("Limit", operator, vec![]));
    }
    if operator.is::<UnionExec>() {
        return Some(line("Append", operator, vec![]));
    }
    if operator.is::<WindowAggExec>() || operator.is::<BoundedWindowAggExec>() {
        return Some(line("WindowAgg", operator, vec![]));
    }
    if operator.is::<ApplyExec>() {
        let mut described = line("SubPlan", operator, vec![]);
        for ((name, _), title) in described.children.iter_mut().zip(["Rows", "For each row"]) {
            *name = Some(title.to_string());
        }
        return Some(described);
    }
    if let Some(series) = operator.downcast_ref::<GenerateSeriesExec>() {
        let name = if series.is_alone() { "Function Scan on generate_series" } else { "ProjectSet" };
        return Some(line(name, operator, vec![]));
    }
    if operator.is::<UnnestExec>() {
        return Some(line("ProjectSet", operator, vec![]));
    }
    if operator.is::<RecursiveQueryExec>() {
        return Some(line("Recursive Union", operator, vec![]));
    }
    let subqueries = operator.downcast_ref::<ScalarSubqueryExec>()?;
    let (main, rest) = (subqueries.input(), subqueries.subqueries());
    let mut line = describe(main);
    line.children.extend(
        rest.iter()
            .enumerate()
            .map(|(number, link)| (Some(format!("InitPlan {}", number + 1)), Arc::clone(&link.plan))),
    );
    Some(line)
}
