//! Converts correlated subqueries that DataFusion cannot turn into joins to [`ApplyNode`]s, before its optimization.
//! Outer columns become placeholders, so that filters inside can use keys.

pub use executor::subquery::subquery_of;

use super::above_joins::above_joins;
use super::catalog_scans::reads_catalogs_alone;
use super::single_rows::may_fail;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result as DataFusionResult};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::{Case, Exists, InSubquery, Placeholder};
use datafusion::logical_expr::logical_plan::Subquery;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, Extension, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
};
use datafusion::scalar::ScalarValue;
use executor::apply::{ApplyKind, ApplyNode};
use executor::outer::{OuterValues, next_number};
use executor::volatile::{calls, is_volatile_function};
use functions::guarded_case;
use sql_error::Result;
use std::sync::Arc;

/// Converts correlated subqueries to [`ApplyNode`]s: `all` of them, or only those that DataFusion would reject.
pub fn apply_subqueries(plan: LogicalPlan, all: bool) -> Result<LogicalPlan> {
    if !has_subqueries(&plan)? {
        return Ok(plan);
    }
    let applied = plan.transform_down_with_subqueries(|node| rewrite(node, all))?.data;
    Ok(above_joins(applied)?)
}

fn has_subqueries(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply(|node| {
        found |= matches!(node, LogicalPlan::Subquery(_));
        node.apply_expressions(|expression| {
            found |= expression.exists(|inner| Ok(subquery_of(inner).is_some()))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Whether the plan has correlated subqueries that only our operator can run.
pub fn has_correlated(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            found |= expression.exists(|inner| {
                Ok(match inner {
                    Expr::OuterReferenceColumn(..) | Expr::Exists(_) | Expr::InSubquery(_) => true,
                    // This includes a subquery whose outer columns vanished with a condition that is never true: no
                    // operator would run it.
                    Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
                    _ => false,
                })
            })?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

pub(super) fn is_subquery(expression: &Expr) -> bool {
    matches!(expression, Expr::ScalarSubquery(_)) || is_test(expression)
}

/// Whether the expression is EXISTS or IN with a subquery.
fn is_test(expression: &Expr) -> bool {
    matches!(expression, Expr::Exists(_) | Expr::InSubquery(_))
}

fn rewrite(node: LogicalPlan, all: bool) -> DataFusionResult<Transformed<LogicalPlan>> {
    let node = match node {
        LogicalPlan::Join(join) => match super::lateral_join::rewrite(join, all)? {
            Transformed { data, transformed: true, .. } if !matches!(data, LogicalPlan::Join(_)) => {
                return Ok(Transformed::yes(rewrite(data, all)?.data));
            }
            other => return Ok(other),
        },
        node => node,
    };
    let in_filter = matches!(node, LogicalPlan::Filter(_));
    let supported = in_filter
        || matches!(
            node,
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Sort(_) | LogicalPlan::Window(_)
        );
    let expressions = node.expressions();
    let applies = |expression: &Expr| {
        let guarded = expression.exists(|inner| Ok(matches!(inner, Expr::Case(_))))?;
        expression.exists(|inner| Ok(needs_apply(inner, in_filter, all, guarded)))
    };
    let mut any = false;
    for expression in &expressions {
        any |= applies(expression)?;
    }
    let inputs = node.inputs();
    let ([input], true, true) = (inputs.as_slice(), supported, any) else { return Ok(Transformed::no(node)) };
    let mut input: LogicalPlan = LogicalPlan::clone(input);
    let schema = Arc::clone(node.schema());
    if let LogicalPlan::Filter(filter) = &node {
        // Conditions without subqueries are evaluated first.
        let (mut plain, mut rest) = (vec![], vec![]);
        for conjunct in split_conjunction(&filter.predicate) {
            if applies(conjunct)? { rest.push(conjunct.clone()) } else { plain.push(conjunct.clone()) }
        }
        if let Some(predicate) = conjunction(plain) {
            input = LogicalPlanBuilder::from(input).filter(predicate)?.build()?;
        }
        let rest = rest
            .into_iter()
            .map(|e| replace(e, &mut input, in_filter, all, None))
            .collect::<DataFusionResult<Vec<_>>>()?;
        let Some(predicate) = conjunction(rest) else { return Ok(Transformed::yes(input)) };
        let filtered = LogicalPlanBuilder::from(input).filter(predicate)?.build()?;
        return Ok(Transformed::yes(restore(filtered, &schema)?));
    }
    let is_projection = matches!(node, LogicalPlan::Projection(_));
    let mut replaced = Vec::with_capacity(expressions.len());
    for expression in expressions {
        let name = expression.schema_name().to_string();
        let new = replace(expression, &mut input, in_filter, all, None)?;
        let renamed = is_projection && new.schema_name().to_string() != name;
        replaced.push(if renamed { new.alias(name) } else { new });
    }
    let node = node.with_new_exprs(replaced, vec![input])?;
    let node = node.recompute_schema()?;
    Ok(Transformed::yes(restore(node, &schema)?))
}

/// The plan with just the columns of `schema`, which are its own first ones, with their names and qualifiers.
fn restore(plan: LogicalPlan, schema: &DFSchemaRef) -> DataFusionResult<LogicalPlan> {
    if plan.schema() == schema {
        return Ok(plan);
    }
    let columns = plan.schema().columns();
    let restored = schema.iter().zip(columns).map(|((qualifier, field), column)| {
        let same = column.relation.as_ref() == qualifier && column.name == *field.name();
        let expression = Expr::Column(column);
        if same { expression } else { expression.alias_qualified(qualifier.cloned(), field.name()) }
    });
    LogicalPlanBuilder::from(plan).project(restored.collect::<Vec<_>>())?.build()
}

/// Whether a subquery must or should run in an Apply. `guarded` means that only rows of a CASE branch need it, which
/// are few. A join would compute the whole catalog for them.
fn needs_apply(expression: &Expr, in_filter: bool, all: bool, guarded: bool) -> bool {
    match expression {
        Expr::ScalarSubquery(subquery) if subquery.outer_ref_columns.is_empty() => {
            // DataFusion would run it only once for all outer rows.
            sees_outer_row(&subquery.subquery)
        }
        Expr::ScalarSubquery(subquery) => {
            all || sees_outer_row(&subquery.subquery)
                || guarded && reads_catalogs_alone(&subquery.subquery)
                || !becomes_join(&subquery.subquery, true)
        }
        // A join's condition cannot contain such a subquery within the operand.
        Expr::InSubquery(InSubquery { expr, .. }) if expr.exists(|inner| Ok(is_test(inner))).unwrap_or(true) => true,
        // If the operand turns out to be NULL, the join has no key that would find unknown matches.
        Expr::InSubquery(InSubquery { expr, negated: true, .. }) if expr.exists(is_null).unwrap_or(true) => true,
        Expr::Exists(Exists { subquery, .. }) | Expr::InSubquery(InSubquery { subquery, .. }) => {
            !in_filter || !subquery.outer_ref_columns.is_empty() && (all || !becomes_join(&subquery.subquery, false))
        }
        _ => false,
    }
}

fn is_null(expression: &Expr) -> DataFusionResult<bool> {
    Ok(matches!(expression, Expr::Literal(value, _) if value.is_null()))
}

/// Whether a plan reads the outer row of an Apply.
pub(super) fn sees_outer_row(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            found |= expression.exists(|inner| match inner {
                Expr::Placeholder(placeholder) => Ok(placeholder.id.starts_with(OUTER)),
                _ => Ok(false),
            })?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    walked.is_err() || found
}

/// Prefix of the placeholders for outer columns.
const OUTER: &str = "$@";

/// Whether DataFusion turns a correlated subquery into a join. Its outer columns must occur only in filters. For a
/// scalar subquery these must be equalities below one ungrouped aggregate that cannot fail. There must be no limit.
pub(super) fn becomes_join(plan: &LogicalPlan, scalar: bool) -> bool {
    let has_outer =
        |expression: &Expr| expression.exists(|e| Ok(matches!(e, Expr::OuterReferenceColumn(..)))).unwrap_or(true);
    let nested = |expression: &Expr| expression.exists(|e| Ok(is_subquery(e))).unwrap_or(true);
    let (mut aggregates, mut fits, mut correlated_above) = (0, true, false);
    let walked = plan.apply(|node| {
        let expressions = node.expressions();
        fits &= !expressions.iter().any(nested);
        let outer_here = expressions.iter().any(has_outer);
        match node {
            LogicalPlan::Filter(filter) => {
                for conjunct in split_conjunction(&filter.predicate) {
                    if has_outer(conjunct) {
                        correlated_above |= aggregates == 0;
                        fits &= !scalar || is_equality(conjunct, &has_outer);
                    }
                }
            }
            LogicalPlan::Aggregate(aggregate) => {
                aggregates += 1;
                fits &=
                    scalar && aggregates == 1 && aggregate.group_expr.is_empty() && !outer_here && !correlated_above;
                fits &= !may_fail(aggregate);
            }
            LogicalPlan::Projection(_) => {
                // Combined with an aggregate, it would be NULL if there are no rows.
                let constant = |expression: &Expr| expression.column_refs().is_empty();
                let beside = scalar && aggregates == 0 && expressions.iter().any(constant);
                fits &= !(outer_here || beside);
            }
            LogicalPlan::SubqueryAlias(_) | LogicalPlan::TableScan(_) => fits &= !outer_here,
            LogicalPlan::Distinct(Distinct::All(_)) => fits &= !scalar,
            LogicalPlan::Join(join) => fits &= !outer_here && join.join_type == JoinType::Inner,
            _ => fits = false,
        }
        Ok(if fits { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    walked.is_ok() && fits && (!scalar || aggregates == 1) && are_told_apart(plan)
}

/// Whether the names alone distinguish the columns that the join would use: those in correlated conditions and the
/// result columns. The join gives all of them the same qualifier (`FROM a, b WHERE a.id = x AND b.id > y`).
fn are_told_apart(plan: &LogicalPlan) -> bool {
    let mut asked: Vec<Column> = Vec::new();
    if let LogicalPlan::Projection(projection) = plan {
        asked.extend(projection.expr.iter().filter_map(|given| match given {
            Expr::Column(column) => Some(column.clone()),
            Expr::Alias(alias) => Some(Column::new_unqualified(&alias.name)),
            _ => None,
        }));
    }
    let walked = plan.apply(|node| {
        if let LogicalPlan::Filter(filter) = node {
            let correlated = split_conjunction(&filter.predicate).into_iter().filter(|part| {
                part.exists(|inner| Ok(matches!(inner, Expr::OuterReferenceColumn(..)))).unwrap_or(true)
            });
            asked.extend(correlated.flat_map(|part| part.column_refs().into_iter().cloned().collect::<Vec<_>>()));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let clash = |(at, one): (usize, &Column)| {
        asked.iter().skip(at + 1).any(|other| one.name == other.name && one.relation != other.relation)
    };
    walked.is_ok() && !asked.iter().enumerate().any(clash)
}

fn is_equality(expression: &Expr, has_outer: &dyn Fn(&Expr) -> bool) -> bool {
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let sides = (left.as_ref(), right.as_ref());
            match sides {
                (Expr::OuterReferenceColumn(..), inner) | (inner, Expr::OuterReferenceColumn(..)) => {
                    !has_outer(inner) && !inner.column_refs().is_empty()
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Adds an Apply to `input` for each subquery in an expression, which then reads the added columns. `guard` is true for
/// rows for which the expression is evaluated.
fn replace(
    expression: Expr,
    input: &mut LogicalPlan,
    in_filter: bool,
    all: bool,
    guard: Option<&Expr>,
) -> DataFusionResult<Expr> {
    let replaced = expression.transform_down(|inner| {
        if let Expr::Case(case) = inner {
            let guarded = guarded_branches(case, input, in_filter, all, guard)?;
            return Ok(Transformed::new(Expr::Case(guarded), true, TreeNodeRecursion::Jump));
        }
        if !needs_apply(&inner, in_filter, all, guard.is_some()) {
            return Ok(Transformed::no(inner));
        }
        let (kind, subquery, operand) = match inner {
            Expr::ScalarSubquery(subquery) => (ApplyKind::Scalar, subquery, None),
            Expr::Exists(Exists { subquery, negated }) => (ApplyKind::Exists { negated }, subquery, None),
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                (ApplyKind::In { negated }, subquery, Some(replace(*expr, input, false, all, guard)?))
            }
            other => return Ok(Transformed::no(other)),
        };
        let column = apply(input, &subquery, kind, operand, guard)?;
        Ok(Transformed::new(Expr::Column(column), true, TreeNodeRecursion::Jump))
    })?;
    Ok(replaced.data)
}

/// A CASE whose subqueries run only for rows that take their branches.
fn guarded_branches(
    case: Case,
    input: &mut LogicalPlan,
    in_filter: bool,
    all: bool,
    guard: Option<&Expr>,
) -> DataFusionResult<Case> {
    let expr = case.expr.map(|expr| replace(*expr, input, in_filter, all, guard).map(Box::new)).transpose()?;
    // The guard repeats the conditions of the previous branches, so they must be repeatable.
    let again =
        |expr: &Expr| !calls(expr, is_volatile_function) && !expr.exists(|e| Ok(is_subquery(e))).unwrap_or(true);
    // Guards repeat previous conditions, so they are made only if a subquery needs them.
    let asks = |expr: &Expr| expr.exists(|part| Ok(needs_apply(part, in_filter, all, true))).unwrap_or(true);
    let mut known = expr.as_deref().is_none_or(again);
    let truth = |value: bool| Expr::Literal(ScalarValue::Boolean(Some(value)), None);
    let mut branches: Vec<(Box<Expr>, Box<Expr>)> = Vec::new();
    let mut taken: Vec<(Box<Expr>, Box<Expr>)> = Vec::new();
    // The condition for reaching a part of the CASE: true for the first condition, then true if no previous branch was
    // taken.
    let reaching = |taken: &[(Box<Expr>, Box<Expr>)], last: bool| -> Expr {
        let own = Expr::Case(Case {
            expr: expr.clone(),
            when_then_expr: taken.to_vec(),
            else_expr: Some(Box::new(truth(last))),
        });
        match guard {
            Some(guard) => guarded_case::case(vec![(guard.clone(), own)], Some(truth(false))),
            None => own,
        }
    };
    for (position, (when, then)) in case.when_then_expr.into_iter().enumerate() {
        let reached = (known && position > 0 && asks(&when)).then(|| reaching(&taken, true));
        let when = replace(*when, input, in_filter, all, reached.as_ref().or(guard))?;
        known &= again(&when);
        let reached = (known && asks(&then)).then(|| {
            let mut chosen = taken.clone();
            chosen.push((Box::new(when.clone()), Box::new(truth(true))));
            reaching(&chosen, false)
        });
        let then = replace(*then, input, in_filter, all, reached.as_ref().or(guard))?;
        taken.push((Box::new(when.clone()), Box::new(truth(false))));
        branches.push((Box::new(when), Box::new(then)));
    }
    let asked = known && case.else_expr.as_deref().is_some_and(asks);
    let reached = asked.then(|| reaching(&taken, true));
    let otherwise = case
        .else_expr
        .map(|otherwise| replace(*otherwise, input, in_filter, all, reached.as_ref().or(guard)).map(Box::new));
    Ok(Case { when_then_expr: branches, else_expr: otherwise.transpose()?, expr })
}

fn apply(
    input: &mut LogicalPlan,
    subquery: &Subquery,
    kind: ApplyKind,
    operand: Option<Expr>,
    guard: Option<&Expr>,
) -> DataFusionResult<Column> {
    let mut columns: Vec<Column> = vec![];
    let mut placeholders = vec![];
    let schema = Arc::clone(input.schema());
    let plan = outer_to_placeholders(subquery.subquery.as_ref().clone(), &schema, &mut columns, &mut placeholders)?;
    let data_type = match kind {
        ApplyKind::Scalar => plan.schema().fields().first().map_or(DataType::Null, |field| field.data_type().clone()),
        _ => DataType::Boolean,
    };
    let name = format!("__apply_{}", next_number());
    let mut fields: Vec<_> = schema.iter().map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field))).collect();
    fields.push((None, Arc::new(Field::new(&name, data_type, true))));
    let node = ApplyNode {
        input: input.clone(),
        subquery: plan,
        kind,
        columns: columns.into_iter().map(Expr::Column).collect(),
        operand,
        guard: guard.cloned(),
        placeholders,
        outer: OuterValues::new(),
        schema: Arc::new(DFSchema::new_with_metadata(fields, schema.metadata().clone())?),
    };
    *input = LogicalPlan::Extension(Extension { node: Arc::new(node) });
    Ok(Column::new_unqualified(name))
}

/// Replaces the outer columns that `schema` has by placeholders. Columns of outer rows further out stay.
pub(super) fn outer_to_placeholders(
    plan: LogicalPlan,
    schema: &DFSchema,
    columns: &mut Vec<Column>,
    placeholders: &mut Vec<String>,
) -> DataFusionResult<LogicalPlan> {
    let replaced = plan.transform_up_with_subqueries(|node| {
        let before = Arc::clone(node.schema());
        node.map_expressions(|expression| {
            expression.transform_up(|inner| match inner {
                Expr::OuterReferenceColumn(field, column) if schema.has_column(&column) => {
                    let position = match columns.iter().position(|known| *known == column) {
                        Some(position) => position,
                        None => {
                            columns.push(column);
                            placeholders.push(format!("{OUTER}{}", next_number()));
                            columns.len() - 1
                        }
                    };
                    let id = placeholders
                        .get(position)
                        .cloned()
                        .ok_or_else(|| DataFusionError::Internal("an outer column without placeholder".into()))?;
                    let field = Arc::new(field.as_ref().clone().with_nullable(true));
                    Ok(Transformed::yes(Expr::Placeholder(Placeholder::new_with_field(id, Some(field)))))
                }
                // Nested subqueries now depend on fewer columns.
                Expr::ScalarSubquery(subquery) => Ok(Transformed::yes(Expr::ScalarSubquery(refreshed(subquery)?))),
                Expr::Exists(Exists { subquery, negated }) => {
                    Ok(Transformed::yes(Expr::Exists(Exists { subquery: refreshed(subquery)?, negated })))
                }
                Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                    Ok(Transformed::yes(Expr::InSubquery(InSubquery { expr, subquery: refreshed(subquery)?, negated })))
                }
                other => Ok(Transformed::no(other)),
            })
        })?
        .transform_data(|node| match node {
            LogicalPlan::Subquery(subquery) => Ok(Transformed::yes(LogicalPlan::Subquery(refreshed(subquery)?))),
            // An outer column may be NULL, as far as is known. Windows and aggregates are named after their contents.
            other => {
                let plan = other.recompute_schema()?;
                let named = matches!(plan, LogicalPlan::Window(_) | LogicalPlan::Aggregate(_));
                let renamed = named && plan.schema().field_names() != before.field_names();
                Ok(Transformed::yes(if renamed { restore(plan, &before)? } else { plan }))
            }
        })
    })?;
    Ok(replaced.data)
}

fn refreshed(subquery: Subquery) -> DataFusionResult<Subquery> {
    let mut outer = vec![];
    subquery.subquery.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|inner| {
                if matches!(inner, Expr::OuterReferenceColumn(..)) && subquery.outer_ref_columns.contains(inner) {
                    outer.push(inner.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    outer.dedup();
    Ok(Subquery { outer_ref_columns: outer, ..subquery })
}
