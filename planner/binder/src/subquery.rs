//! Binds subqueries in expressions: scalar, EXISTS, IN, ANY, ALL, ARRAY.

use super::binder::{Binder, column};
use super::comparison::row_items;
use super::expression::{Clause, Env};
use super::outer_aggregate::seen_from_within;
use super::query::BoundQuery;
use datafusion::common::Spans;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier, Sort};
use datafusion::logical_expr::{BinaryExpr, Case, Expr, LogicalPlan, LogicalPlanBuilder, Operator, Subquery};
pub use executor::subquery::{is_ungrouped_aggregate, outer_columns};
use functions::{AggregateCall, TypedExpr, balanced};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast;
use types::{Datum, SqlType};

impl Binder<'_> {
    /// Binds `(SELECT …)` as a value.
    pub fn scalar_subquery(&self, query: &ast::Query, env: Env<'_>) -> Result<TypedExpr> {
        let text = self.subqueries.borrow().is_some().then(|| query.to_string());
        let known = text.as_ref().and_then(|text| self.subqueries.borrow().as_ref()?.get(text).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let bound = self.inner_query(query, env)?;
        let (plan, ty) = self.single_column(bound)?;
        let repeatable = !super::volatile::is_volatile(&plan)?;
        let plan = self.at_most_one_row(plan)?;
        let typed = TypedExpr { expr: Expr::ScalarSubquery(subquery(plan)), ty };
        if let (Some(text), Some(known), true) = (text, self.subqueries.borrow_mut().as_mut(), repeatable) {
            known.insert(text, typed.clone());
        }
        Ok(typed)
    }

    /// Binds a condition with a subquery. In a grouped query, conditions with equal text are bound once.
    pub fn bound_once(
        &self,
        written: &ast::Expr,
        env: Env<'_>,
        bind: impl FnOnce() -> Result<TypedExpr>,
    ) -> Result<TypedExpr> {
        if self.subqueries.borrow().is_none() {
            return bind();
        }
        // Conditions that filter rows are bound differently from values.
        let filters = env.conjunct || matches!(env.clause, Clause::Where | Clause::Having | Clause::JoinOn);
        let text = format!("{filters} {written}");
        let known = self.subqueries.borrow().as_ref().and_then(|known| known.get(&text).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let typed = bind()?;
        let mut repeatable = true;
        typed.expr.apply(|part| {
            if let Some(subquery) = executor::subquery::subquery_of(part) {
                repeatable &= !super::volatile::is_volatile(&subquery.subquery)?;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if let (Some(known), true) = (self.subqueries.borrow_mut().as_mut(), repeatable) {
            known.insert(text, typed.clone());
        }
        Ok(typed)
    }

    fn single_column(&self, bound: BoundQuery) -> Result<(LogicalPlan, SqlType)> {
        let [only] = bound.columns.as_slice() else {
            return Err(SqlError::syntax("subquery must return only one column"));
        };
        let ty = only.ty;
        if bound.plan.schema().fields().len() == 1 {
            return Ok((bound.plan, ty));
        }
        // Its sort keys are not part of its value.
        let value = only.expr.clone().alias(self.unique("c"));
        Ok((LogicalPlanBuilder::from(bound.plan).project(vec![value])?.build()?, ty))
    }

    /// Reports 21000 for more than one row. It becomes an aggregate, which DataFusion also needs to decorrelate.
    fn at_most_one_row(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        // Without a row the value is NULL, so a plan that may be empty must not be declared not nullable. Its columns'
        // nullability is not enough. Conditions turn outer joins into inner ones, and expressions may turn into
        // constants.
        if is_one_row(&plan) && outer_columns(&plan).is_empty() {
            return Ok(plan);
        }
        if is_ungrouped_aggregate(&plan) {
            return Ok(plan);
        }
        let Some((qualifier, field)) = plan.schema().iter().next() else {
            return Err(SqlError::internal("a subquery without columns"));
        };
        let value = Expr::Column(datafusion::common::Column::new(qualifier.cloned(), field.name()));
        let single = super::distinct::single_value(value).alias(self.unique("s"));
        Ok(LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![single])?.build()?)
    }

    /// The number of rows of a plan, as a value.
    fn count_of(&self, plan: LogicalPlan) -> Result<Expr> {
        let one = Expr::Literal(Datum::Int64(Some(1)), None);
        let count = count_udaf().call(vec![one]).alias(self.unique("n"));
        let plan = LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![count])?.build()?;
        Ok(Expr::ScalarSubquery(subquery(plan)))
    }

    /// Binds EXISTS or NOT EXISTS.
    pub fn exists(&self, query: &ast::Query, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        let bound = self.inner_query(query, env)?;
        self.exists_plan(bound.plan, negated, env)
    }

    fn exists_plan(&self, plan: LogicalPlan, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        let expr = if env.conjunct || matches!(env.clause, Clause::Where | Clause::Having | Clause::JoinOn) {
            Expr::Exists(Exists { subquery: subquery(plan), negated })
        } else {
            // DataFusion cannot plan EXISTS outside filters.
            let zero = Expr::Literal(Datum::Int64(Some(0)), None);
            let count = self.count_of(plan)?;
            if negated { count.eq(zero) } else { count.gt(zero) }
        };
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds `IN (SELECT …)`, also with a row on the left.
    pub fn in_subquery(&self, left: &ast::Expr, query: &ast::Query, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        if let Some(items) = row_items(left) {
            return self.row_in(&items, query, negated, env);
        }
        let left = self.expr(left, Env { conjunct: false, ..env })?;
        let bound = self.inner_query(query, env)?;
        let (left, plan) = self.matched(left, "=", bound)?;
        self.in_plan(left, plan, negated, env)
    }

    /// Converts a value and a subquery's single column to one type, in a form in which equal values have equal bytes.
    fn matched(&self, left: TypedExpr, symbol: &str, bound: BoundQuery) -> Result<(Expr, LogicalPlan)> {
        let [only] = bound.columns.as_slice() else {
            return Err(SqlError::syntax("subquery has too many columns"));
        };
        // Use the operator's conversions: equal values of both sides then have equal bytes.
        let compared = self.resolver.operator(symbol, Some(left), only.typed())?.expr;
        let Expr::BinaryExpr(BinaryExpr { left, op: _, right }) = compared else {
            return Err(SqlError::unsupported("a comparison of these types with a subquery"));
        };
        let (left, right) = (*left, *right);
        // The rule that turns such subqueries into joins expects an expression at their top.
        let alone = bound.plan.schema().fields().len() == 1 && bound.plan.head_output_expr()?.is_some();
        let plan = if right == only.expr && alone {
            bound.plan
        } else {
            LogicalPlanBuilder::from(bound.plan).project(vec![right.alias(self.unique("c"))])?.build()?
        };
        Ok((left, plan))
    }

    fn in_plan(&self, left: Expr, plan: LogicalPlan, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        // NOT IN becomes a join that handles NULLs if it has a key and no other condition.
        let joins = !negated || (outer_columns(&plan).is_empty() && super::lateral::has_column(&left));
        if env.conjunct && joins {
            let expr = Expr::InSubquery(InSubquery { expr: Box::new(left), subquery: subquery(plan), negated });
            return Ok(TypedExpr { expr, ty: SqlType::BOOL });
        }
        self.counted(left, plan, Operator::Eq, false, negated, env)
    }

    /// `left op ANY (plan)`, or ALL, by counting, where NULL differs from false. ANY is true if the comparison holds
    /// for some row. It is NULL if there are rows and a NULL, otherwise false. ALL means that the negated comparison
    /// holds for no row.
    fn counted(
        &self,
        left: Expr,
        plan: LogicalPlan,
        op: Operator,
        all: bool,
        negated: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let Some(name) = plan.schema().fields().first().map(|field| field.name().clone()) else {
            return Err(SqlError::internal("a subquery without columns"));
        };
        let item = column(name);
        let outer = seen_from_within(left.clone(), env.scope.schema.as_deref())?;
        let op = if all { op.negate() } else { Some(op) };
        let op = op.ok_or_else(|| SqlError::internal("a comparison without its opposite"))?;
        let comparison = Expr::BinaryExpr(BinaryExpr::new(Box::new(outer), op, Box::new(item.clone())));
        let negated = negated != all;
        let zero = || Expr::Literal(Datum::Int64(Some(0)), None);
        let fits = LogicalPlanBuilder::from(plan.clone()).filter(comparison)?.build()?;
        let nulls = LogicalPlanBuilder::from(plan.clone()).filter(item.is_null())?.build()?;
        let found = self.count_of(fits)?.gt(zero());
        let open = self.count_of(nulls)?.gt(zero()).or(left.is_null().and(self.count_of(plan)?.gt(zero())));
        Ok(three_valued(found, open, negated))
    }

    /// Binds `(a, b) IN (SELECT …)`. It is true if an equal row exists, and NULL if one may be equal.
    fn row_in(&self, items: &[&ast::Expr], query: &ast::Query, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        let bound = self.inner_query(query, env)?;
        if bound.columns.len() != items.len() {
            let few = if bound.columns.len() < items.len() { "few" } else { "many" };
            return Err(SqlError::syntax(format!("subquery has too {few} columns")));
        }
        let mut parts = Vec::new();
        for (item, right) in items.iter().zip(&bound.columns) {
            let left = self.expr(item, Env { conjunct: false, ..env })?;
            let left = TypedExpr { expr: seen_from_within(left.expr, env.scope.schema.as_deref())?, ty: left.ty };
            // Errors show the operands as written.
            let written = || self.resolver.operator("=", Some(left.clone()), right.typed());
            parts.push(self.resolver.operator("=", Some(right.typed()), left.clone()).or_else(|_| written())?.expr);
        }
        let equal = balanced(parts, Operator::And);
        let fits = LogicalPlanBuilder::from(bound.plan.clone()).filter(equal.clone())?.build()?;
        if env.conjunct && !negated {
            return self.exists_plan(fits, false, env);
        }
        let open = LogicalPlanBuilder::from(bound.plan).filter(equal.is_null())?.build()?;
        let zero = || Expr::Literal(Datum::Int64(Some(0)), None);
        let (found, open) = (self.count_of(fits)?.gt(zero()), self.count_of(open)?.gt(zero()));
        Ok(three_valued(found, open, negated))
    }

    /// Binds `(a, b) op ANY|ALL (SELECT …)`.
    fn row_quantified(
        &self,
        items: &[&ast::Expr],
        symbol: &str,
        query: &ast::Query,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let bound = self.inner_query(query, env)?;
        if bound.columns.len() != items.len() {
            let few = if bound.columns.len() < items.len() { "few" } else { "many" };
            return Err(SqlError::syntax(format!("subquery has too {few} columns")));
        }
        let mut left = Vec::new();
        for item in items {
            let typed = self.expr(item, Env { conjunct: false, ..env })?;
            left.push(TypedExpr { expr: seen_from_within(typed.expr, env.scope.schema.as_deref())?, ty: typed.ty });
        }
        let right: Vec<TypedExpr> = bound.columns.iter().map(super::scope::ScopeColumn::typed).collect();
        let compared = self.compare_rows(&left, symbol, &right)?.expr;
        self.decided(compared, bound.plan, all, env)
    }

    /// Binds `left op ANY|ALL (SELECT …)` for an operator that is not a comparison, such as a pattern match or
    /// containment.
    pub fn compared_with_each(
        &self,
        left: &ast::Expr,
        symbol: &str,
        query: &ast::Query,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let left = self.expr(left, Env { conjunct: false, ..env })?;
        let left = TypedExpr { expr: seen_from_within(left.expr, env.scope.schema.as_deref())?, ty: left.ty };
        let bound = self.inner_query(query, env)?;
        let [only] = bound.columns.as_slice() else {
            return Err(SqlError::syntax("subquery has too many columns"));
        };
        let compared = self.resolver.operator(symbol, Some(left), only.typed())?;
        if compared.ty.plain() != SqlType::BOOL {
            let message =
                format!("row comparison operator must yield type boolean, not type {}", compared.ty.plain().name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        self.decided(compared.expr, bound.plan, all, env)
    }

    /// Whether a comparison holds for some row of a plan, or for all rows.
    fn decided(&self, compared: Expr, plan: LogicalPlan, all: bool, env: Env<'_>) -> Result<TypedExpr> {
        let decides = if all { Expr::Not(Box::new(compared.clone())) } else { compared.clone() };
        let fits = LogicalPlanBuilder::from(plan.clone()).filter(decides)?.build()?;
        if env.conjunct && !all {
            return self.exists_plan(fits, false, env);
        }
        let open = LogicalPlanBuilder::from(plan).filter(compared.is_null())?.build()?;
        let zero = || Expr::Literal(Datum::Int64(Some(0)), None);
        let (found, open) = (self.count_of(fits)?.gt(zero()), self.count_of(open)?.gt(zero()));
        Ok(three_valued(found, open, all))
    }

    /// Binds a subquery with one row to its columns as values.
    pub fn row_subquery(&self, query: &ast::Query, width: usize, env: Env<'_>) -> Result<Vec<TypedExpr>> {
        let bound = self.inner_query(query, env)?;
        if bound.columns.len() != width {
            let few = if bound.columns.len() < width { "few" } else { "many" };
            return Err(SqlError::syntax(format!("subquery has too {few} columns")));
        }
        let mut values = Vec::new();
        for only in &bound.columns {
            let name = self.unique("c");
            let plan = LogicalPlanBuilder::from(bound.plan.clone()).project([only.expr.clone().alias(name)])?;
            let plan = self.at_most_one_row(plan.build()?)?;
            values.push(TypedExpr { expr: Expr::ScalarSubquery(subquery(plan)), ty: only.ty });
        }
        Ok(values)
    }

    /// Binds `left op ANY|ALL (SELECT …)`.
    pub fn quantified_subquery(
        &self,
        left: &ast::Expr,
        op: &ast::Operator,
        query: &ast::Query,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        self.compared_with_any(left, op, query, all, env).map_err(|error| self.at(error, op.span))
    }

    fn compared_with_any(
        &self,
        left: &ast::Expr,
        op: &ast::Operator,
        query: &ast::Query,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let symbol = self.operator_symbol(op)?;
        if matches!((symbol.as_str(), all), ("=", false) | ("<>", true)) {
            return self.in_subquery(left, query, all, env);
        }
        if let Some(items) = row_items(left) {
            return self.row_quantified(&items, &symbol, query, all, env);
        }
        let operator = match symbol.as_str() {
            "<>" => Operator::NotEq,
            "<" => Operator::Lt,
            "<=" => Operator::LtEq,
            ">" => Operator::Gt,
            ">=" => Operator::GtEq,
            "=" => Operator::Eq,
            _ => return self.compared_with_each(left, &symbol, query, all, env),
        };
        let left = self.expr(left, Env { conjunct: false, ..env })?;
        let bound = self.inner_query(query, env)?;
        let (left, plan) = self.matched(left, &symbol, bound)?;
        // A subquery on the left would be moved into the right one, where its outer columns are not visible.
        let nested = left.exists(|inner| Ok(executor::subquery::subquery_of(inner).is_some()))?;
        if !env.conjunct || nested || !outer_columns(&plan).is_empty() {
            return self.counted(left, plan, operator, all, false, env);
        }
        let expr = Expr::SetComparison(SetComparison {
            expr: Box::new(left),
            subquery: subquery(plan),
            op: operator,
            quantifier: if all { SetQuantifier::All } else { SetQuantifier::Any },
        });
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds an array constructor `ARRAY(SELECT …)`.
    pub fn array_subquery(&self, query: &ast::Query, env: Env<'_>) -> Result<TypedExpr> {
        let bound = self.inner_query(query, env)?;
        let [only] = bound.columns.as_slice() else {
            return Err(SqlError::syntax("subquery must return only one column"));
        };
        // An aggregate takes its rows in any order unless it has an ORDER BY.
        let call =
            AggregateCall { args: vec![only.typed()], distinct: false, filter: None, order_by: order_of(&bound.plan) };
        let collected = self.resolver.aggregate("array_agg", call)?;
        let ty = collected.ty;
        let plan = LogicalPlanBuilder::from(bound.plan)
            .aggregate(Vec::<Expr>::new(), vec![collected.expr.alias(self.unique("a"))])?
            .build()?;
        let value = Expr::ScalarSubquery(subquery(plan));
        let empty = self.empty_array(ty)?.expr;
        Ok(TypedExpr { expr: functions::coalesce(vec![value, empty]), ty })
    }
}

/// The sort order at the top of a plan.
pub fn order_of(plan: &LogicalPlan) -> Vec<Sort> {
    match plan {
        LogicalPlan::Sort(sort) => sort.expr.clone(),
        LogicalPlan::Limit(limit) => order_of(&limit.input),
        LogicalPlan::Filter(filter) => order_of(&filter.input),
        _ => Vec::new(),
    }
}

/// True if `found`, NULL if `open`, otherwise false. Optionally negated.
fn three_valued(found: Expr, open: Expr, negated: bool) -> TypedExpr {
    let answer = |value: Option<bool>| Box::new(Expr::Literal(Datum::Boolean(value), None));
    let case = Case {
        expr: None,
        when_then_expr: vec![(Box::new(found), answer(Some(!negated))), (Box::new(open), answer(None))],
        else_expr: Some(answer(Some(negated))),
    };
    TypedExpr { expr: Expr::Case(case), ty: SqlType::BOOL }
}

/// Wraps a plan as a subquery of an expression.
pub fn subquery(plan: LogicalPlan) -> Subquery {
    let outer_ref_columns = outer_columns(&plan);
    Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: Spans::new() }
}

/// Whether a plan is a SELECT without FROM, which always has one row.
fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::EmptyRelation(empty) => empty.produce_one_row,
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        _ => false,
    }
}
