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
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier};
use std::sync::Arc;
use types::{BaseType, Datum, SqlType};

impl Binder<'_> {
    /// Binds a set operation. Its columns have the names of the left side's.
    pub fn set_operation(
        &self,
        left: &SetExpr,
        op: &SetOperator,
        quantifier: &SetQuantifier,
        right: &SetExpr,
        parent: Option<&Scope<'_>>,
    ) -> Result<BoundQuery> {
        let all = is_all(quantifier).ok_or_else(|| SqlError::unsupported("BY NAME"))?;
        let name = match op {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
            SetOperator::Minus => return Err(SqlError::unsupported("MINUS")),
        };
        if matches!(op, SetOperator::Union) && row_goes_on(left, all) {
            return self.union_row(left, right, all, parent);
        }
        let (left_tree, right_tree) = (left, right);
        let left = self.set_expr(left, parent)?;
        let right = self.set_expr(right, parent)?;
        let trees = (Some(left_tree), right_tree);
        let types = self.common_types(name, &left.columns, &right.columns, all, trees)?;
        let left = self.exact(self.cast_columns(left, &types)?)?;
        let right = self.exact(self.cast_columns(right, &types)?)?;
        let columns = left.columns.clone();
        let plan = match op {
            SetOperator::Union => {
                // DataFusion asks both sides for the names of the left one, where it makes one union of several.
                let names = left.plan.schema().columns().into_iter().map(|column| column.name);
                let renamed = right.columns.iter().zip(names).map(|(column, name)| column.expr.clone().alias(name));
                let right = LogicalPlanBuilder::from(right.plan).project(renamed.collect::<Vec<_>>())?.build()?;
                LogicalPlanBuilder::from(left.plan).union(right)?.build()?
            }
            SetOperator::Intersect => self.matching(left, right, JoinType::LeftSemi, all)?,
            _ => self.matching(left, right, JoinType::LeftAnti, all)?,
        };
        self.united(plan, columns, all)
    }

    /// Binds several queries combined by the same UNION to one node. Each gets the types of all before it, as if these
    /// were its left side.
    fn union_row(&self, left: &SetExpr, right: &SetExpr, all: bool, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let mut trees = Vec::new();
        row_of(left, all, &mut trees);
        row_of(right, all, &mut trees);
        let mut arms: Vec<BoundQuery> = Vec::with_capacity(trees.len());
        let beginning = trees.first().copied();
        for tree in trees {
            let mut arm = self.set_expr(tree, parent)?;
            if let Some(first) = arms.first() {
                let (left, right) = (first.columns.as_slice(), arm.columns.as_slice());
                let types = self.common_types("UNION", left, right, all, (beginning, tree))?;
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

    /// The common column types of two queries. `trees` are their syntax trees, for positions.
    fn common_types(
        &self,
        name: &str,
        left: &[ScopeColumn],
        right: &[ScopeColumn],
        all: bool,
        (left_tree, right_tree): (Option<&SetExpr>, &SetExpr),
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
                alike.map_err(|error| self.at(error, place_of_target(left_tree.unwrap_or(right_tree), at)))?;
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

/// Whether a set operation's left side is the same UNION.
fn row_goes_on(left: &SetExpr, all: bool) -> bool {
    match left {
        SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, .. } => is_all(set_quantifier) == Some(all),
        _ => false,
    }
}

/// Whether a quantifier is ALL. `None` for quantifiers that PostgreSQL lacks.
fn is_all(quantifier: &SetQuantifier) -> Option<bool> {
    match quantifier {
        SetQuantifier::All => Some(true),
        SetQuantifier::None | SetQuantifier::Distinct => Some(false),
        _ => None,
    }
}

/// Collects the queries of a chain of the same UNION, in order.
fn row_of<'q>(tree: &'q SetExpr, all: bool, row: &mut Vec<&'q SetExpr>) {
    match tree {
        SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, left, right }
            if is_all(set_quantifier) == Some(all) =>
        {
            row_of(left, all, row);
            row_of(right, all, row);
        }
        other => row.push(other),
    }
}
