//! Replaces placeholders by functions that read a plan instance's slots. It runs between logical optimization and
//! physical planning. VALUES with expressions that are not constant become an operator of ours, because DataFusion
//! evaluates VALUES while planning.

use crate::apply::ApplyNode;
use crate::nullable::nullable;
use crate::outer::OuterValues;
use crate::slot_function::SlotFunction;
use crate::slots::Slots;
use crate::table::Table;
use crate::values::ValuesNode;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Extension, Filter, LogicalPlan, Operator};
use functions::{guarded_case, in_list};
use sql_error::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Replaces all placeholders in a plan, including subqueries and extension nodes.
pub fn fill_placeholders(plan: LogicalPlan, slots: &Arc<Slots>) -> Result<LogicalPlan> {
    let outer = outer_slots(&plan)?;
    let filled = plan.transform_up_with_subqueries(|node| {
        use LogicalPlan as P;
        let names = matches!(node, P::Window(_) | P::Projection(_)).then(|| NamePreserver::new(&node));
        // Elsewhere an expression has a name, which the change would alter.
        let filters = matches!(node, P::Filter(_) | P::TableScan(_));
        let final_form = matches!(node, P::Filter(_) | P::Join(_) | P::TableScan(_) | P::Projection(_));
        let node = node.map_expressions(|expression| {
            // The plan above refers to a window function by its name, which contains the keys and their placeholders.
            let name = names.as_ref().map(|names| names.save(&expression));
            let replaced = replace(expression, slots, &outer)?;
            let replaced = if final_form { replaced.transform_data(in_final_form)? } else { replaced };
            let replaced = if filters { replaced.transform_data(without_circles)? } else { replaced };
            Ok(match name {
                Some(name) => replaced.update_data(|expression| name.restore(expression)),
                None => replaced,
            })
        })?;
        node.transform_data(run_values_later)
    })?;
    Ok(filled.data)
}

/// Replaces all placeholders in an expression that one of our nodes holds.
pub fn fill_expression(expression: Expr, slots: &Arc<Slots>) -> Result<Expr> {
    Ok(replace(expression, slots, &OuterSlots::new())?.data)
}

/// The outer row and the position in it, by placeholder.
type OuterSlots = HashMap<String, (Arc<OuterValues>, usize)>;

/// The placeholders of outer columns that the plan's Apply nodes define.
fn outer_slots(plan: &LogicalPlan) -> Result<OuterSlots> {
    let mut found = OuterSlots::new();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Extension(extension) = node
            && let Some(apply) = extension.node.as_any().downcast_ref::<ApplyNode>()
        {
            for (position, id) in apply.placeholders.iter().enumerate() {
                found.insert(id.clone(), (Arc::clone(&apply.outer), position));
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn replace(
    expression: Expr,
    slots: &Arc<Slots>,
    outer: &OuterSlots,
) -> std::result::Result<Transformed<Expr>, DataFusionError> {
    expression.transform_up(|expression| match &expression {
        Expr::Placeholder(placeholder) => {
            let field = placeholder.field.as_ref();
            Ok(Transformed::yes(match outer.get(&placeholder.id) {
                Some((row, position)) => SlotFunction::outer(&placeholder.id, field, row, *position)?,
                None => SlotFunction::expression(&placeholder.id, field, slots)?,
            }))
        }
        _ => Ok(Transformed::no(expression)),
    })
}

/// Replaces expressions that were hidden from DataFusion's rules by DataFusion's own forms.
fn in_final_form(expression: Expr) -> std::result::Result<Transformed<Expr>, DataFusionError> {
    expression.transform_up(|expression| {
        match in_list::constant_list(&expression).or_else(|| guarded_case::plain(&expression)) {
            Some(own) => Ok(Transformed::yes(own)),
            None => Ok(Transformed::no(expression)),
        }
    })
}

/// Wraps a column that is equal to a function of itself (`abs(a) = a`) in a function. Otherwise DataFusion would
/// substitute one for the other in orders endlessly.
fn without_circles(condition: Expr) -> std::result::Result<Transformed<Expr>, DataFusionError> {
    condition.transform_up(|condition| {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = &condition else {
            return Ok(Transformed::no(condition));
        };
        let within = |one: &Expr, other: &Expr| match one {
            Expr::Column(column) => one != other && other.column_refs().contains(column),
            _ => false,
        };
        if !within(left, right) && !within(right, left) {
            return Ok(Transformed::no(condition));
        }
        Ok(Transformed::yes(nullable(condition)))
    })
}

/// Moves filters that DataFusion leaves above scans into them. These are filters with uncorrelated subqueries, and with
/// functions of the session whose values are known when a scan starts.
pub fn filters_to_scans(plan: LogicalPlan) -> Result<LogicalPlan> {
    let moved = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Filter(filter) = node else { return Ok(Transformed::no(node)) };
        let LogicalPlan::TableScan(scan) = filter.input.as_ref() else {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        };
        if !scan.source.is::<Table>() || scan.fetch.is_some() {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        let (stay, go): (Vec<Expr>, Vec<Expr>) =
            split_conjunction_owned(filter.predicate).into_iter().partition(depends_on_outside);
        let mut scan = scan.clone();
        scan.filters.extend(go);
        let scan = LogicalPlan::TableScan(scan);
        Ok(Transformed::yes(match conjunction(stay) {
            Some(predicate) => LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(scan))?),
            None => scan,
        }))
    })?;
    Ok(moved.data)
}

/// Whether an expression needs more than its row and values known in advance.
fn depends_on_outside(expression: &Expr) -> bool {
    expression
        .exists(|inner| {
            Ok(match inner {
                Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) | Expr::OuterReferenceColumn(..) => true,
                Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
                _ => false,
            })
        })
        .unwrap_or(true)
}

fn run_values_later(node: LogicalPlan) -> std::result::Result<Transformed<LogicalPlan>, DataFusionError> {
    match node {
        LogicalPlan::Values(values)
            if !values.values.iter().flatten().all(|expression| matches!(expression, Expr::Literal(..))) =>
        {
            let node = ValuesNode { schema: values.schema, rows: values.values };
            Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(node) })))
        }
        other => Ok(Transformed::no(other)),
    }
}
