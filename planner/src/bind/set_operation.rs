//! UNION, INTERSECT, EXCEPT.

use super::binder::{Binder, column};
use super::place::place_of_target;
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use crate::error::{Result, SqlError, state};
use crate::functions::TypedExpr;
use crate::types::{BaseType, Datum, SqlType};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, LogicalPlan, LogicalPlanBuilder, WindowFrame, WindowFunctionDefinition,
};
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier};

impl Binder<'_> {
    /// A set operation; its columns have the names of the left side's.
    pub fn set_operation(
        &self,
        left: &SetExpr,
        op: &SetOperator,
        quantifier: &SetQuantifier,
        right: &SetExpr,
        parent: Option<&Scope<'_>>,
    ) -> Result<BoundQuery> {
        let all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => return Err(SqlError::unsupported("BY NAME")),
        };
        let name = match op {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
            SetOperator::Minus => return Err(SqlError::unsupported("MINUS")),
        };
        let (left_tree, right_tree) = (left, right);
        let left = self.set_expr(left, parent)?;
        let right = self.set_expr(right, parent)?;
        if left.columns.len() != right.columns.len() {
            let message = format!("each {name} query must have the same number of columns");
            return Err(self.at(SqlError::syntax(message), place_of_target(right_tree, 0)));
        }
        let mut types = Vec::new();
        for (at, (left, right)) in left.columns.iter().zip(&right.columns).enumerate() {
            let common = self.resolver.common_type(name, &[left.ty, right.ty]);
            let common = common.map_err(|error| self.at(error, place_of_target(right_tree, at)))?;
            let common = if common == SqlType::UNKNOWN { SqlType::TEXT } else { common };
            if !(all && name == "UNION") && common.base == BaseType::Json {
                // 42883 where there is no equality.
                let alike = self.resolver.group_key(TypedExpr::literal(Datum::Null, common));
                alike.map_err(|error| self.at(error, place_of_target(left_tree, at)))?;
            }
            let same = left.ty.base == right.ty.base && left.ty.modifier == right.ty.modifier;
            types.push(if same && left.ty != SqlType::UNKNOWN { left.ty } else { common.plain() });
        }
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
        // Names of the plan are the left side's, without qualifiers.
        let internal = plan.schema().columns();
        let columns: Vec<ScopeColumn> = columns
            .into_iter()
            .zip(internal)
            .map(|(old, column)| ScopeColumn { expr: Expr::Column(column), table_oid: 0, attnum: 0, ..old })
            .collect();
        let bound = self.all_columns(plan, columns)?;
        if all { Ok(bound) } else { self.distinct(bound) }
    }

    /// The rows of the left that (do not) stand on the right, NULLs being alike. With ALL as often as they stand there:
    /// rows are numbered among their equals first.
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

    /// The plan with comparable keys beside its columns.
    fn keyed(&self, bound: BoundQuery, all: bool) -> Result<(LogicalPlan, Vec<Column>)> {
        let mut exprs: Vec<Expr> = bound.columns.iter().map(|column| column.expr.clone()).collect();
        let mut keys = Vec::new();
        for column in &bound.columns {
            let name = self.unique("k");
            exprs.push(self.resolver.group_key(column.typed())?.alias(&name));
            keys.push(Column::from_name(name));
        }
        if keys.is_empty() {
            // Rows without columns are all alike.
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

    /// 0A000 for an ORDER BY that is more than names and numbers.
    pub fn invalid_set_order(&self) -> SqlError {
        SqlError::new(state::FEATURE_NOT_SUPPORTED, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
            .detail("Only result column names can be used, not expressions or functions.")
            .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
    }
}
