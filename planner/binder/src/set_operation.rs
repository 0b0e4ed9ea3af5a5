//! Set operations: UNION, INTERSECT, EXCEPT.

use super::binder::{Binder, column};
use super::error_position::place_of_target;
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, LogicalPlan, LogicalPlanBuilder, Union, WindowFrame, WindowFunctionDefinition,
};
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{QueryBody, SetOperation, SetOperator};
use types::{BaseType, Datum, SqlType};

/// Most set operations within each other, which a plan is as deep as. A chain of the same UNION is one of them.
const DEEPEST: usize = 128;

impl Binder<'_> {
    /// Binds a chain of one set operation from left to right. Its columns have the names of the first query's. Errors:
    /// 54001, those of the queries.
    pub fn set_operation(&self, set: &SetOperation, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        if depth_of(set) > DEEPEST {
            let error = SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint(format!("Set operations may be {DEEPEST} deep."));
            return Err(self.at(error, set.operators.first().copied().unwrap_or(Span::NONE)));
        }
        let Some((first, others)) = set.arms.split_first() else {
            return Err(SqlError::internal("a set operation without queries"));
        };
        for arm in &set.arms {
            if let QueryBody::Nested(query) = arm {
                self.refuse_locks(&query.locks, "is not allowed with UNION/INTERSECT/EXCEPT")?;
            }
        }
        if set.operator == SetOperator::Union && others.len() > 1 {
            return self.union_row(first, others, set.all, parent);
        }
        let mut bound = self.set_expr(first, parent)?;
        for other in others {
            let right = self.set_expr(other, parent)?;
            bound = self.pair((set.operator, set.all), bound, right, (first, other))?;
        }
        Ok(bound)
    }

    /// Combines two queries. `trees` are the first query of the chain and the right one, for positions.
    fn pair(
        &self,
        (operator, all): (SetOperator, bool),
        left: BoundQuery,
        right: BoundQuery,
        trees: (&QueryBody, &QueryBody),
    ) -> Result<BoundQuery> {
        let name = match operator {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
        };
        let types = self.common_types(name, &left.columns, &right.columns, all, trees)?;
        let left = self.exact(self.cast_columns(left, &types)?)?;
        let right = self.exact(self.cast_columns(right, &types)?)?;
        let columns = left.columns.clone();
        let plan = match operator {
            SetOperator::Union => {
                // DataFusion asks both sides for the names of the left one, where it makes one union of several.
                let names = left.plan.schema().columns().into_iter().map(|column| column.name);
                let renamed = right.columns.iter().zip(names).map(|(column, name)| column.expr.clone().alias(name));
                let right = LogicalPlanBuilder::from(right.plan).project(renamed.collect::<Vec<_>>())?.build()?;
                LogicalPlanBuilder::from(left.plan).union(right)?.build()?
            }
            SetOperator::Intersect => self.matching(left, right, JoinType::LeftSemi, all)?,
            SetOperator::Except => self.matching(left, right, JoinType::LeftAnti, all)?,
        };
        self.united(plan, columns, all)
    }

    /// Binds several queries combined by the same UNION to one node. Each gets the types of all before it, as if these
    /// were its left side.
    fn union_row(
        &self,
        first: &QueryBody,
        others: &[QueryBody],
        all: bool,
        parent: Option<&Scope<'_>>,
    ) -> Result<BoundQuery> {
        let mut arms: Vec<BoundQuery> = Vec::with_capacity(others.len() + 1);
        for tree in std::iter::once(first).chain(others) {
            let mut arm = self.set_expr(tree, parent)?;
            if let Some(begun) = arms.first() {
                let (left, right) = (begun.columns.as_slice(), arm.columns.as_slice());
                let types = self.common_types("UNION", left, right, all, (first, tree))?;
                let changed = left.iter().zip(&types).any(|(column, ty)| column.ty != *ty);
                arm = self.cast_columns(arm, &types)?;
                if changed {
                    arms = arms.into_iter().map(|arm| self.cast_columns(arm, &types)).collect::<Result<_>>()?;
                }
            }
            arms.push(arm);
        }
        let mut columns = Vec::new();
        let mut plans: Vec<Arc<LogicalPlan>> = Vec::with_capacity(arms.len());
        let mut names: Vec<String> = Vec::new();
        for arm in arms {
            let arm = self.exact(arm)?;
            if plans.is_empty() {
                names = arm.plan.schema().columns().into_iter().map(|column| column.name).collect();
                columns = arm.columns.clone();
            }
            // Use the names of the first query, without qualifiers.
            let renamed = arm.columns.iter().zip(&names).map(|(column, name)| column.expr.clone().alias(name));
            plans.push(Arc::new(LogicalPlanBuilder::from(arm.plan).project(renamed.collect::<Vec<_>>())?.build()?));
        }
        self.united(LogicalPlan::Union(Union::try_new_with_loose_types(plans)?), columns, all)
    }

    /// The columns of a set operation's plan. It has the names of the left side, without qualifiers.
    fn united(&self, plan: LogicalPlan, columns: Vec<ScopeColumn>, all: bool) -> Result<BoundQuery> {
        let internal = plan.schema().columns();
        let columns: Vec<ScopeColumn> = columns
            .into_iter()
            .zip(internal)
            .map(|(old, column)| ScopeColumn { expr: Expr::Column(column), table_oid: 0, attnum: 0, ..old })
            .collect();
        let bound = self.all_columns(plan, columns)?;
        if all { Ok(bound) } else { self.distinct(bound) }
    }

    /// The common column types of two queries. The trees are those of the chain's first query and of the right one, for
    /// positions.
    fn common_types(
        &self,
        name: &str,
        left: &[ScopeColumn],
        right: &[ScopeColumn],
        all: bool,
        (first_tree, right_tree): (&QueryBody, &QueryBody),
    ) -> Result<Vec<SqlType>> {
        if left.len() != right.len() {
            let message = format!("each {name} query must have the same number of columns");
            return Err(self.uneven_queries(message, right_tree));
        }
        let mut types = Vec::with_capacity(left.len());
        for (at, (left, right)) in left.iter().zip(right).enumerate() {
            let common = self.resolver.common_type(name, &[left.ty, right.ty]);
            let common = common.map_err(|error| self.at(error, place_of_target(right_tree, at)))?;
            let common = if common == SqlType::UNKNOWN { SqlType::TEXT } else { common };
            if !(all && name == "UNION") && common.base == BaseType::Json {
                // Fails with 42883 if the type has no equality.
                let alike = self.resolver.group_key(TypedExpr::literal(Datum::Null, common));
                alike.map_err(|error| self.at(error, place_of_target(first_tree, at)))?;
            }
            let same = left.ty.base == right.ty.base && left.ty.modifier == right.ty.modifier;
            types.push(if same && left.ty != SqlType::UNKNOWN { left.ty } else { common.plain() });
        }
        Ok(types)
    }

    /// The left rows that do (not) occur on the right, with NULLs equal. ALL compares occurrences: equal rows are
    /// numbered first.
    fn matching(&self, left: BoundQuery, right: BoundQuery, kind: JoinType, all: bool) -> Result<LogicalPlan> {
        let count = left.columns.len();
        let names: Vec<String> = left.plan.schema().columns().into_iter().map(|column| column.name).collect();
        let (left, left_keys) = self.keyed(left, all)?;
        let (right, right_keys) = self.keyed(right, all)?;
        let right =
            LogicalPlanBuilder::from(right).project(right_keys.iter().map(|key| Expr::Column(key.clone())))?.build()?;
        let plan = LogicalPlanBuilder::from(left)
            .join_detailed(right, kind, (left_keys, right_keys), None, NullEquality::NullEqualsNull)?
            .project(names.into_iter().take(count).map(column))?
            .build()?;
        Ok(plan)
    }

    /// The plan with comparable keys in additional columns.
    fn keyed(&self, bound: BoundQuery, all: bool) -> Result<(LogicalPlan, Vec<Column>)> {
        let mut exprs: Vec<Expr> = bound.columns.iter().map(|column| column.expr.clone()).collect();
        let mut keys = Vec::new();
        for column in &bound.columns {
            let name = self.unique("k");
            exprs.push(self.resolver.group_key(column.typed())?.alias(&name));
            keys.push(Column::from_name(name));
        }
        if keys.is_empty() {
            // Rows without columns are all equal.
            let name = self.unique("k");
            exprs.push(datafusion::logical_expr::lit(true).alias(&name));
            keys.push(Column::from_name(name));
        }
        let mut plan = LogicalPlanBuilder::from(bound.plan).project(exprs)?;
        if all {
            let name = self.unique("w");
            let number =
                Expr::from(WindowFunction::new(WindowFunctionDefinition::WindowUDF(row_number_udwf()), Vec::new()))
                    .partition_by(keys.iter().map(|key| Expr::Column(key.clone())).collect())
                    .window_frame(WindowFrame::new(None))
                    .build()?
                    .alias(&name);
            plan = plan.window(vec![number])?;
            keys.push(Column::from_name(name));
        }
        Ok((plan.build()?, keys))
    }

    /// The error 0A000 for an ORDER BY other than names and numbers.
    pub fn invalid_set_order(&self) -> SqlError {
        SqlError::new(state::FEATURE_NOT_SUPPORTED, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
            .detail("Only result column names can be used, not expressions or functions.")
            .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
    }
}

/// How deep the set operations of a tree stand within each other. Each query of a chain but the first adds to it,
/// except in a chain of UNION.
fn depth_of(set: &SetOperation) -> usize {
    let mut deepest = 0;
    let mut open = vec![(set, 0)];
    while let Some((set, above)) = open.pop() {
        let own = if set.operator == SetOperator::Union { 1 } else { set.operators.len() };
        let depth = above + own;
        deepest = deepest.max(depth);
        open.extend(set.arms.iter().filter_map(inner_set).map(|inner| (inner, depth)));
    }
    deepest
}

/// The set operation that a query is, maybe in parentheses.
fn inner_set(body: &QueryBody) -> Option<&SetOperation> {
    let mut body = body;
    while let QueryBody::Nested(query) = body {
        body = &query.body;
    }
    match body {
        QueryBody::Set(set) => Some(set),
        _ => None,
    }
}
