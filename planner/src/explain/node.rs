//! The EXPLAIN name of each operator, and the detail lines below it.

use super::structured::{Members, Value};
use super::text::{condition, readable};
use crate::execution::apply::ApplyExec;
use crate::execution::bounds::KeyBounds;
use crate::execution::generate_series::GenerateSeriesExec;
use crate::execution::index_lookup_join::KeyJoinExec;
use crate::execution::index_scan::IndexScanExec;
use crate::execution::interrupt::PaceExec;
use crate::execution::kept_columns::KeptColumnsExec;
use crate::execution::known_orders::KnownOrdersExec;
use crate::execution::limit::LimitExec;
use crate::execution::lookup_join::LookupJoinExec;
use crate::execution::lookup_scan::LookupScanExec;
use crate::execution::point_get::PointGetExec;
use crate::execution::projection::LeanProjectionExec;
use crate::execution::runtime_join_filter::KeyTapExec;
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

/// The description of one operator.
pub struct Line {
    /// The operator's name and its object, as FORMAT TEXT shows them.
    pub text: String,
    /// The same facts as members: the node's type, relation, index, join type and so on.
    pub members: Members,
    /// The detail lines below the name.
    pub details: Members,
    /// The keys that a scan reads.
    pub bounds: Option<Arc<KeyBounds>>,
    /// The inputs of the operator, each with a title where PostgreSQL gives one.
    pub children: Vec<(Option<String>, Arc<dyn ExecutionPlan>)>,
}

/// The input of an operator that EXPLAIN hides.
pub fn transparent(operator: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let hidden = operator.is::<ProjectionExec>()
        || operator.is::<LeanProjectionExec>()
        || operator.is::<CooperativeExec>()
        || operator.is::<KeyTapExec>()
        || operator.is::<KeptColumnsExec>()
        || operator.is::<KnownOrdersExec>()
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

/// The condition and the scan, if the operator is a filter directly above a scan.
pub fn scan_filter(operator: &Arc<dyn ExecutionPlan>) -> Option<(String, Arc<dyn ExecutionPlan>)> {
    let filter = operator.downcast_ref::<FilterExec>()?;
    let mut input = Arc::clone(filter.input());
    while let Some(below) = transparent(&input) {
        input = below;
    }
    is_scan(&input).then(|| (condition(filter.predicate()), input))
}

fn line(text: impl Into<String>, operator: &Arc<dyn ExecutionPlan>, details: Members) -> Line {
    let children = operator.children().into_iter().map(|child| (None, Arc::clone(child))).collect();
    let text = text.into();
    Line { members: vec![("Node Type", Value::Text(text.clone()))], text, details, bounds: None, children }
}

impl Line {
    /// The same line with another node type and more members.
    fn of(self, node_type: &str, more: &[(&'static str, &str)]) -> Line {
        let more = more.iter().map(|(name, value)| (*name, Value::Text((*value).to_string())));
        let members = std::iter::once(("Node Type", Value::Text(node_type.to_string()))).chain(more).collect();
        Line { members, ..self }
    }
}

fn text(text: String) -> Value {
    Value::Text(text)
}

/// Describes an operator for EXPLAIN.
pub fn describe(operator: &Arc<dyn ExecutionPlan>) -> Line {
    scan(operator).or_else(|| join(operator)).or_else(|| other(operator)).unwrap_or_else(|| {
        // Writing operators describe themselves. DataFusion's rare operators appear under their own names.
        let name = displayable(operator.as_ref()).one_line().to_string();
        match name.trim().split_once(": ") {
            Some((verb @ ("Insert" | "Update" | "Delete"), table)) => {
                let members = [("Operation", verb), ("Relation Name", table), ("Alias", table)];
                line(format!("{verb} on {table}"), operator, vec![]).of("ModifyTable", &members)
            }
            Some(("LockRows", _)) => line("LockRows", operator, vec![]),
            _ => line(readable(name.trim()), operator, vec![]),
        }
    })
}

fn index_condition(bounds: &KeyBounds) -> Members {
    if bounds.is_full() { vec![] } else { vec![("Index Cond", text(readable(&bounds.to_string())))] }
}

fn scan(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    let described = |shown: String, bounds: &Arc<KeyBounds>, more: Members, (kind, members): (&str, Vec<_>)| {
        let mut details = index_condition(bounds);
        details.extend(more);
        let members: Vec<(&'static str, &str)> = members;
        Some(
            Line { details, bounds: Some(Arc::clone(bounds)), children: vec![], ..line(shown, operator, vec![]) }
                .of(kind, &members),
        )
    };
    let direction = |reverse: bool| ("Scan Direction", if reverse { "Backward" } else { "Forward" });
    let of_table = |table| [("Relation Name", table), ("Alias", table)];
    if let Some(get) = operator.downcast_ref::<PointGetExec>() {
        let (index, table) = (get.index_name(), get.table_name());
        let mut members = vec![("Index Name", index)];
        members.extend(of_table(table));
        let shown = format!("Point Get using {index} on {table}");
        return described(shown, get.bounds(), vec![], ("Point Get", members));
    }
    if let Some(scan) = operator.downcast_ref::<TableScanExec>() {
        let table = scan.table_name();
        let (shown, kind) = match (scan.index_name(), scan.bounds().is_full(), scan.is_reverse()) {
            (Some(index), _, true) => (format!("Index Scan Backward using {index} on {table}"), "Index Scan"),
            (Some(index), false, false) => (format!("Index Scan using {index} on {table}"), "Index Scan"),
            (None, _, true) => (format!("Seq Scan Backward on {table}"), "Seq Scan"),
            _ if scan.partitions() > 1 => (format!("Parallel Seq Scan on {table}"), "Seq Scan"),
            _ => (format!("Seq Scan on {table}"), "Seq Scan"),
        };
        let mut members = Vec::new();
        if let Some(index) = scan.index_name().filter(|_| kind == "Index Scan") {
            members.extend([direction(scan.is_reverse()), ("Index Name", index)]);
        } else if scan.is_reverse() {
            members.push(direction(true));
        }
        members.extend(of_table(table));
        let workers = (scan.partitions() > 1).then(|| ("Partitions", Value::Number(scan.partitions().to_string())));
        return described(shown, scan.bounds(), workers.into_iter().collect(), (kind, members));
    }
    if let Some(scan) = operator.downcast_ref::<IndexScanExec>() {
        let (index, table) = (scan.index_name(), scan.table_name());
        let kind = if scan.is_index_only() { "Index Only Scan" } else { "Index Scan" };
        let backward = if scan.is_reverse() { " Backward" } else { "" };
        let mut members = vec![direction(scan.is_reverse()), ("Index Name", index)];
        members.extend(of_table(table));
        let shown = format!("{kind}{backward} using {index} on {table}");
        return described(shown, scan.bounds(), vec![], (kind, members));
    }
    if let Some(lookup) = operator.downcast_ref::<LookupScanExec>() {
        let (index, table) = (lookup.index_name(), lookup.table_name());
        let details = vec![("Lookup Keys", text(lookup.key_names().to_string()))];
        let members = [("Index Name", index), ("Relation Name", table), ("Alias", table)];
        return Some(
            line(format!("Index Lookup using {index} on {table}"), operator, details).of("Index Lookup", &members),
        );
    }
    if let Some(view) = operator.downcast_ref::<SystemViewExec>() {
        let name = view.view_name();
        let keys = view.key_names();
        let mut details = if keys.is_empty() { vec![] } else { vec![("Lookup Keys", text(keys))] };
        let examined = view.examined().filter(|rows| *rows > 0);
        details.extend(examined.map(|rows| ("Rows Examined", Value::Number(rows.to_string()))));
        return Some(line(format!("Seq Scan on {name}"), operator, details).of("Seq Scan", &of_table(name)));
    }
    if operator.is::<ValuesExec>() || operator.is::<DataSourceExec>() {
        let alias = [("Alias", "*VALUES*")];
        return Some(line("Values Scan on \"*VALUES*\"", operator, vec![]).of("Values Scan", &alias));
    }
    if let Some(table) = operator.downcast_ref::<WorkTableExec>() {
        let name = table.name();
        let members = [("CTE Name", name), ("Alias", name)];
        return Some(line(format!("WorkTable Scan on {name}"), operator, vec![]).of("WorkTable Scan", &members));
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

/// The members of a join.
fn joining(join_type: JoinType) -> [(&'static str, &'static str); 1] {
    [("Join Type", if join_type == JoinType::Inner { "Inner" } else { join_word(join_type).trim_start() })]
}

fn pairs(
    on: &[(Arc<dyn datafusion::physical_expr::PhysicalExpr>, Arc<dyn datafusion::physical_expr::PhysicalExpr>)],
) -> String {
    let pairs: Vec<_> =
        on.iter().map(|(left, right)| format!("({})", readable(&format!("{left} = {right}")))).collect();
    pairs.join(" AND ")
}

fn join(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    let filtered = |filter: Option<String>| filter.into_iter().map(|filter| ("Join Filter", text(filter)));
    let looked_up = operator.downcast_ref::<LookupJoinExec>().map(LookupJoinExec::join);
    if let Some(join) = looked_up.or_else(|| operator.downcast_ref::<HashJoinExec>()) {
        let mut details = vec![("Hash Cond", text(pairs(join.on())))];
        details.extend(filtered(join.filter().map(|filter| condition(filter.expression()))));
        let shown = format!("Hash{} Join", join_word(*join.join_type()));
        return Some(line(shown, operator, details).of("Hash Join", &joining(*join.join_type())));
    }
    if let Some(joined) = operator.downcast_ref::<KeyJoinExec>() {
        let join = joined.join();
        let word = join_word(*join.join_type());
        let shown = if word.is_empty() { "Nested Loop".to_string() } else { format!("Nested Loop{word} Join") };
        let details = filtered(join.filter().map(|filter| condition(filter.expression()))).collect();
        let mut line = line(shown, operator, details).of("Nested Loop", &joining(*join.join_type()));
        line.children.push((None, Arc::clone(joined.probe())));
        return Some(line);
    }
    if let Some(join) = operator.downcast_ref::<SortMergeJoinExec>() {
        let mut details = vec![("Merge Cond", text(pairs(join.on())))];
        details.extend(filtered(join.filter().as_ref().map(|filter| condition(filter.expression()))));
        let shown = format!("Merge{} Join", join_word(join.join_type()));
        return Some(line(shown, operator, details).of("Merge Join", &joining(join.join_type())));
    }
    if let Some(join) = operator.downcast_ref::<NestedLoopJoinExec>() {
        let word = join_word(*join.join_type());
        let shown = if word.is_empty() { "Nested Loop".to_string() } else { format!("Nested Loop{word} Join") };
        let details = filtered(join.filter().map(|filter| condition(filter.expression()))).collect();
        return Some(line(shown, operator, details).of("Nested Loop", &joining(*join.join_type())));
    }
    let crossed = || line("Nested Loop", operator, vec![]).of("Nested Loop", &joining(JoinType::Inner));
    operator.is::<CrossJoinExec>().then(crossed)
}

fn sort_keys(order: &LexOrdering) -> (&'static str, Value) {
    let keys = order
        .iter()
        .map(|key| {
            let direction = if key.options.descending { " DESC" } else { "" };
            // Shown only if it differs from PostgreSQL's default.
            let nulls = match (key.options.descending, key.options.nulls_first) {
                (false, true) => " NULLS FIRST",
                (true, false) => " NULLS LAST",
                _ => "",
            };
            format!("{}{direction}{nulls}", readable(&key.expr.to_string()))
        })
        .collect();
    ("Sort Key", Value::List(keys))
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
    let strategy = match kind {
        "Aggregate" => "Plain",
        "GroupAggregate" => "Sorted",
        _ => "Hashed",
    };
    let mode = if phase.is_empty() { "Simple" } else { phase.trim_end() };
    let details = if groups.is_empty() { vec![] } else { vec![("Group Key", Value::List(groups))] };
    let members = [("Strategy", strategy), ("Partial Mode", mode)];
    line(format!("{phase}{kind}"), operator, details).of("Aggregate", &members)
}

fn other(operator: &Arc<dyn ExecutionPlan>) -> Option<Line> {
    if let Some(found) = operator.downcast_ref::<AggregateExec>() {
        return Some(aggregate(operator, found));
    }
    if let Some(sort) = operator.downcast_ref::<SortExec>() {
        let mut details = vec![sort_keys(sort.expr())];
        let method = sort.fetch().map(|fetch| ("Sort Method", text(format!("top-N heapsort, {fetch} rows"))));
        details.extend(method);
        return Some(line("Sort", operator, details));
    }
    if let Some(merge) = operator.downcast_ref::<SortPreservingMergeExec>() {
        return Some(line("Gather Merge", operator, vec![sort_keys(merge.expr())]));
    }
    if operator.is::<CoalescePartitionsExec>() {
        return Some(line("Gather", operator, vec![]));
    }
    if let Some(filter) = operator.downcast_ref::<FilterExec>() {
        return Some(line("Result", operator, vec![("Filter", text(condition(filter.predicate())))]));
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
    if let Some(apply) = operator.downcast_ref::<ApplyExec>() {
        let runs = apply.runs().filter(|runs| *runs > 0);
        let details = runs.map(|runs| ("Subplan Runs", Value::Number(runs.to_string()))).into_iter().collect();
        let mut described = line("SubPlan", operator, details);
        for ((name, _), title) in described.children.iter_mut().zip(["Rows", "For each row"]) {
            *name = Some(title.to_string());
        }
        return Some(described);
    }
    if let Some(series) = operator.downcast_ref::<GenerateSeriesExec>() {
        if series.is_alone() {
            let name = [("Function Name", "generate_series"), ("Alias", "generate_series")];
            let shown = line("Function Scan on generate_series", operator, vec![]);
            return Some(shown.of("Function Scan", &name));
        }
        return Some(line("ProjectSet", operator, vec![]));
    }
    if operator.is::<UnnestExec>() {
        return Some(line("ProjectSet", operator, vec![]));
    }
    if operator.is::<RecursiveQueryExec>() {
        return Some(line("Recursive Union", operator, vec![]));
    }
    let subqueries = operator.downcast_ref::<ScalarSubqueryExec>()?;
    let (mut main, rest) = (Arc::clone(subqueries.input()), subqueries.subqueries());
    while let Some(below) = transparent(&main) {
        main = below;
    }
    let mut line = describe(&main);
    line.children.extend(
        rest.iter()
            .enumerate()
            .map(|(number, link)| (Some(format!("InitPlan {}", number + 1)), Arc::clone(&link.plan))),
    );
    Some(line)
}
