//! GROUP BY: computes groups, and rejects expressions that groups do not determine.

use super::binder::{Binder, column};
use super::grouping::GroupBy;
use super::grouping_sets::{grouping_places, is_grouping, of_real_rows};
use super::hypothetical::{asked_about, of_group};
use super::scope::{Scope, ScopeRelation, outer_references};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, Sort, WindowFunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery, WindowFunctionDefinition};
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::visit::Visit;
use syntax::{Span, ast};
use types::{BaseType, Datum, SqlType};

/// Maps expressions over the rows to expressions over the groups.
pub struct Grouping {
    replaced: Vec<(Expr, Expr)>,
    /// The same mapping for subqueries, which refer to outer columns.
    outer: Vec<(Expr, Expr)>,
    /// Schema of the rows.
    rows: DFSchemaRef,
}

/// A column that is neither grouped by nor aggregated.
pub struct Ungrouped {
    column: Column,
    /// Whether a subquery refers to it.
    within: bool,
}

impl Grouping {
    fn new(replaced: Vec<(Expr, Expr)>, rows: DFSchemaRef, groups: &DFSchemaRef) -> Result<Self> {
        let mut outer = Vec::new();
        for (from, to) in &replaced {
            let from = outer_references(from.clone(), Some(&rows))?;
            // An expression without columns is the subquery's own, unless it is marked: its count(*) does not count the
            // groups.
            let to = outer_references(to.clone(), Some(groups))?;
            if matches!(from, Expr::AggregateFunction(_)) {
                outer.push((super::outer_aggregate::marked(from.clone()), to.clone()));
            }
            if from.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))))? {
                outer.push((from, to));
            }
        }
        Ok(Grouping { replaced, outer, rows })
    }

    /// Converts an expression over the rows to one over the groups. Otherwise answers a column that is not grouped by.
    pub fn rebase(&self, expr: Expr) -> Result<std::result::Result<Expr, Ungrouped>> {
        if let Some((_, to)) = self.replaced.iter().find(|(from, _)| *from == expr) {
            return Ok(Ok(to.clone()));
        }
        let mut left_over = None;
        let rebased = expr
            .transform_down(|expr| {
                // A constant key matches only the whole expression, not a part of one.
                let key = |(from, _): &&(Expr, Expr)| *from == expr && !matches!(from, Expr::Literal(..));
                if let Some((_, to)) = self.replaced.iter().find(key) {
                    return Ok(Transformed::new(to.clone(), true, TreeNodeRecursion::Jump));
                }
                if let Expr::Column(column) = &expr {
                    left_over.get_or_insert(Ungrouped { column: column.clone(), within: false });
                }
                self.within_subquery(expr, &mut left_over)
            })?
            .data;
        Ok(match left_over {
            Some(column) => Err(column),
            None => Ok(rebased),
        })
    }

    /// Converts the outer columns in a subquery expression's plan to columns of the groups.
    fn within_subquery(
        &self,
        expr: Expr,
        left_over: &mut Option<Ungrouped>,
    ) -> datafusion::common::Result<Transformed<Expr>> {
        let mut plan = |old: Subquery| -> datafusion::common::Result<Subquery> {
            let plan = Arc::unwrap_or_clone(old.subquery);
            Ok(super::subquery::subquery(self.plan(plan, left_over)?))
        };
        Ok(match expr {
            Expr::ScalarSubquery(subquery) => Transformed::yes(Expr::ScalarSubquery(plan(subquery)?)),
            Expr::Exists(Exists { subquery, negated }) => {
                Transformed::yes(Expr::Exists(Exists { subquery: plan(subquery)?, negated }))
            }
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                Transformed::yes(Expr::InSubquery(InSubquery { expr, subquery: plan(subquery)?, negated }))
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let subquery = plan(subquery)?;
                Transformed::yes(Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }))
            }
            other => Transformed::no(other),
        })
    }

    fn plan(&self, plan: LogicalPlan, left_over: &mut Option<Ungrouped>) -> datafusion::common::Result<LogicalPlan> {
        let rebased = plan.transform_up(|node| {
            node.map_expressions(|expr| {
                expr.transform_down(|expr| {
                    if let Some((_, to)) = self.outer.iter().find(|(from, _)| is_same(from, &expr)) {
                        return Ok(Transformed::new(to.clone(), true, TreeNodeRecursion::Jump));
                    }
                    if let Expr::OuterReferenceColumn(_, column) = &expr
                        && self.rows.has_column(column)
                    {
                        left_over.get_or_insert(Ungrouped { column: column.clone(), within: true });
                    }
                    self.within_subquery(expr, left_over)
                })
            })
        })?;
        Ok(rebased.data)
    }
}

/// Whether two expressions of a subquery are equal. For outer columns, nullability is ignored.
fn is_same(one: &Expr, other: &Expr) -> bool {
    match (one, other) {
        (Expr::OuterReferenceColumn(_, one), Expr::OuterReferenceColumn(_, other)) => one == other,
        _ => one == other,
    }
}

impl Binder<'_> {
    /// Groups a plan. `used` are the expressions that will be evaluated over the groups.
    pub fn group(
        &self,
        plan: LogicalPlan,
        scope: &Scope<'_>,
        group_by: GroupBy,
        used: &[&Expr],
    ) -> Result<(LogicalPlan, Grouping)> {
        let order = super::subquery::order_of(&plan);
        let mut calls = Vec::new();
        for expr in used {
            collect(expr, &mut |call| {
                if !calls.contains(call) {
                    calls.push(call.clone());
                }
            })?;
            super::outer_aggregate::claimed(expr, plan.schema(), &mut calls)?;
        }
        let (groupings, calls): (Vec<Expr>, Vec<Expr>) = calls.into_iter().partition(is_grouping);
        let mut group_by = group_by;
        let given = group_by.keys.len();
        for typed in &group_by.keys {
            // Fails with 42883 if the type has no equality.
            self.resolver.group_key(typed.clone())?;
        }
        for typed in self.dependent(scope, &group_by, used) {
            let place = group_by.keys.len();
            group_by.keys.push(typed);
            group_by.sets.iter_mut().for_each(|set| set.push(place));
        }
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut replaced: Vec<(Expr, Expr)> = Vec::new();
        let mut plan = plan;
        let mut order = order;
        if order.is_empty() && calls.iter().any(is_ordered) && calls.iter().any(shows_order) {
            // The rows are sorted for one of the calls. Another call takes them in their previous order.
            let name = self.unique("w");
            let number =
                Expr::from(WindowFunction::new(WindowFunctionDefinition::WindowUDF(row_number_udwf()), Vec::new()));
            plan = LogicalPlanBuilder::from(plan).window(vec![number.alias(&name)])?.build()?;
            order = vec![Sort::new(column(name), true, false)];
        }
        let mut real = None;
        let pairs: Vec<(Expr, Expr)> = if group_by.sets.len() > 1 {
            let multiplied = self.multiply(plan, &group_by, &groupings)?;
            plan = multiplied.plan;
            real = multiplied.real;
            keys.extend(multiplied.set);
            replaced.extend(multiplied.groupings);
            multiplied.keys
        } else {
            for call in groupings {
                grouping_places(&call, &group_by.keys)?;
                replaced.push((call, Expr::Literal(Datum::Int32(Some(0)), None)));
            }
            let pair = |typed: &TypedExpr| Ok((self.compared(typed)?, typed.expr.clone()));
            group_by.keys.iter().map(pair).collect::<Result<_>>()?
        };
        self.check_asked(scope, &calls, &group_by)?;
        // With several grouping sets, a key that a group is not grouped by is NULL.
        let of_groups: Vec<(Expr, Expr)> =
            group_by.keys.iter().zip(&pairs).map(|(typed, (_, shown))| (typed.expr.clone(), shown.clone())).collect();
        for (at, (typed, (key, shown))) in group_by.keys.into_iter().zip(pairs).enumerate() {
            let first = |value: Expr| of_real_rows(first_value_udaf().call(vec![value]), real.as_ref());
            // A column that depends on the keys is equal within a group, so it need not be compared.
            if at >= given && typed.ty.base == BaseType::Json {
                let name = self.unique("a");
                values.push(first(shown).alias(&name));
                replaced.push((typed.expr, column(name)));
                continue;
            }
            let key_name = self.unique("g");
            // Equal values may look different (numeric 1.0 and 1.00): one of them is shown.
            let shown = if key == shown {
                key_name.clone()
            } else {
                let name = self.unique("a");
                values.push(first(shown).alias(&name));
                name
            };
            keys.push(key.alias(&key_name));
            replaced.push((typed.expr, column(shown)));
        }
        for call in calls {
            if replaced.iter().any(|(from, _)| *from == call) {
                continue;
            }
            let name = self.unique("a");
            let computed = of_group(call.clone(), &of_groups)?;
            values.push(of_real_rows(in_order(computed, &order), real.as_ref()).alias(&name));
            replaced.push((call, column(name)));
        }
        if keys.is_empty() && values.is_empty() {
            // HAVING alone makes one group of all rows.
            let one = Expr::Literal(Datum::Int64(Some(1)), None);
            values.push(count_udaf().call(vec![one]).alias(self.unique("a")));
        }
        let plan = self.guarded_beneath(plan, &mut keys, &mut values)?;
        let rows = plan.schema().clone();
        let plan = LogicalPlanBuilder::from(plan).aggregate(keys, values)?.build()?;
        let grouping = Grouping::new(replaced, rows, plan.schema())?;
        Ok((plan, grouping))
    }

    /// The error 42803 for a column in the direct arguments of a hypothetical-set aggregate that is not grouped by.
    fn check_asked(&self, scope: &Scope<'_>, calls: &[Expr], group_by: &GroupBy) -> Result<()> {
        let keys: Vec<(Expr, Expr)> =
            group_by.keys.iter().map(|typed| (typed.expr.clone(), Expr::Literal(Datum::Null, None))).collect();
        for call in calls {
            for value in asked_about(call)? {
                let left_over = super::select::replace(value, &keys)?;
                if let Some(column) = left_over.column_refs().into_iter().next().cloned() {
                    let nowhere: &[ast::Expr] = &[];
                    let error = self.ungrouped(scope, &Ungrouped { column, within: false }, nowhere);
                    return Err(
                        error.detail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
                    );
                }
            }
        }
        Ok(())
    }

    /// The expression by which a key is compared. A json is compared as it is; it can only be a dependent column.
    pub fn compared(&self, key: &TypedExpr) -> Result<Expr> {
        if key.ty.base == BaseType::Json {
            return Ok(key.expr.clone());
        }
        self.resolver.group_key(key.clone())
    }

    /// The columns that depend on a table's primary key, if every set groups by all of it. They may be used too.
    fn dependent(&self, scope: &Scope<'_>, group_by: &GroupBy, used: &[&Expr]) -> Vec<TypedExpr> {
        let common = group_by.common();
        let mut found: Vec<TypedExpr> = Vec::new();
        for relation in &scope.relations {
            let Some(primary) = relation.table.as_ref().and_then(|table| table.primary_key()) else { continue };
            let whole = primary.columns.iter().all(|key| {
                relation
                    .columns
                    .iter()
                    .find(|column| column.attnum == key.column)
                    .is_some_and(|column| common.iter().any(|typed| typed.expr == column.expr))
            });
            if !whole {
                continue;
            }
            // A whole row is used: its row key tells whether there is a row.
            let row_key = relation.key.clone().map(|key| TypedExpr::new(Expr::Column(key), SqlType::BYTEA));
            for typed in relation.columns.iter().map(|column| column.typed()).chain(row_key) {
                let asked = used.iter().any(|expr| mentions_outside_aggregates(expr, &typed.expr));
                let known = group_by.keys.iter().chain(&found).any(|known| known.expr == typed.expr);
                if asked && !known {
                    self.note_key(primary.constraint);
                    found.push(typed);
                }
            }
        }
        found
    }

    /// The error 42803 for a column that is neither grouped by nor aggregated. `part` is the part of the statement that
    /// contains it.
    pub fn ungrouped(&self, scope: &Scope<'_>, left_over: &Ungrouped, part: &(impl Visit + ?Sized)) -> SqlError {
        let Ungrouped { column, within } = left_over;
        let expr = Expr::Column(column.clone());
        let found = scope.relations.iter().find_map(|relation| {
            let found = relation.columns.iter().find(|candidate| candidate.expr == expr)?;
            Some((
                format!("{}.{}", relation.name, found.name),
                self.mention_of_column(part, &relation.name, &found.name, *within),
            ))
        });
        // A whole row is read by its row key.
        let of_row = |relation: &&ScopeRelation| relation.key.as_ref() == Some(column);
        let whole = || {
            let relation = scope.relations.iter().find(of_row)?;
            Some((format!("{}.*", relation.name), self.mention_of_column(part, "", &relation.name, *within)))
        };
        let (name, mention) = found.or_else(whole).unwrap_or_else(|| (column.name.clone(), None));
        // The left operand of a subquery comparison is used in the subquery's plan, but is not written in it.
        let message = if *within && mention.is_none_or(|mention| mention.within) {
            format!("subquery uses ungrouped column \"{name}\" from outer query")
        } else {
            format!("column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function")
        };
        self.at(SqlError::new(state::GROUPING_ERROR, message), mention.map_or(Span::NONE, |mention| mention.place))
    }
}

fn collect(expr: &Expr, found: &mut dyn FnMut(&Expr)) -> Result<()> {
    expr.apply(|inner| {
        if matches!(inner, Expr::AggregateFunction(_)) {
            if !super::outer_aggregate::is_outer(inner) {
                found(inner);
            }
            return Ok(TreeNodeRecursion::Jump);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn mentions_outside_aggregates(expr: &Expr, column: &Expr) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if matches!(inner, Expr::AggregateFunction(_)) {
            return Ok(TreeNodeRecursion::Jump);
        }
        found |= inner == column || seen_by_subquery(inner, column);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// Whether an expression is a subquery that refers to a column of the outer rows.
fn seen_by_subquery(expr: &Expr, column: &Expr) -> bool {
    let Some(subquery) = executor::subquery::subquery_of(expr) else { return false };
    subquery.outer_ref_columns.iter().any(|outer| match (outer, column) {
        (Expr::OuterReferenceColumn(_, outer), Expr::Column(column)) => outer == column,
        _ => false,
    })
}

/// Aggregates whose result depends on the order of their rows.
const ORDERED: [&str; 2] = ["array_agg", "string_agg"];

/// Whether a call has an ORDER BY of its own.
fn is_ordered(call: &Expr) -> bool {
    matches!(call, Expr::AggregateFunction(call) if !call.params.order_by.is_empty())
}

/// Whether a call without ORDER BY depends on the order of its rows.
fn shows_order(call: &Expr) -> bool {
    match call {
        Expr::AggregateFunction(call) => {
            call.params.order_by.is_empty() && !call.params.distinct && ORDERED.contains(&call.func.name())
        }
        _ => false,
    }
}

/// Gives an aggregate the order of its input subquery, if its result depends on the order.
fn in_order(call: Expr, order: &[Sort]) -> Expr {
    match call {
        Expr::AggregateFunction(mut call)
            if !order.is_empty()
                && call.params.order_by.is_empty()
                && !call.params.distinct
                && ORDERED.contains(&call.func.name()) =>
        {
            call.params.order_by = order.to_vec();
            Expr::AggregateFunction(call)
        }
        other => other,
    }
}
