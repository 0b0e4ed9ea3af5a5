//! Aggregate calls without OVER: DISTINCT, ORDER BY and FILTER within them.

use super::aggregate_filter_guard::spare_filtered;
use super::binder::Binder;
use super::call::{Arguments, grouped_call_allowed};
use super::error_position::{place_of, written_place};
use super::expression::{Clause, Env};
use datafusion::logical_expr::expr::Sort;
use functions::{AggregateCall, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::{Span, ast};
use types::SqlType;

impl Binder<'_> {
    /// Binds an aggregate without OVER.
    pub fn aggregate_call(&self, function: &ast::Call, name: &str, env: Env<'_>) -> Result<TypedExpr> {
        let typed = self.bound_aggregate(function, name, env.within(Clause::Aggregate))?;
        self.placed_aggregate(typed, env)
    }

    /// GROUPING: tells which of its arguments the group is not grouped by.
    pub fn grouping(&self, arguments: &[ast::Expr], env: Env<'_>) -> Result<TypedExpr> {
        grouped_call_allowed(env.clause, "grouping operations")?;
        let inner = env.within(Clause::Aggregate);
        let values = arguments.iter().map(|argument| self.expr(argument, inner)).collect::<Result<_>>()?;
        super::grouping_sets::grouping_call(values)
    }

    /// Binds an aggregate whose arguments are bound in `inner`.
    pub fn bound_aggregate(&self, function: &ast::Call, name: &str, inner: Env<'_>) -> Result<TypedExpr> {
        let arguments = self.arguments(function, inner)?;
        let filter = self.filter(function, inner)?;
        if arguments.star && name != "count" {
            return Err(self.resolver.no_function(name, &[]));
        }
        if name == "count" && arguments.values.is_empty() && !arguments.star {
            return Err(SqlError::new(
                state::WRONG_OBJECT_TYPE,
                "count(*) must be used to call a parameterless aggregate function",
            ));
        }
        let Arguments { values, star: _, distinct, order_by, order_types, variadic: _, missing: _ } = arguments;
        let told_apart = distinct.then(|| (values.clone(), order_by.clone()));
        let mut call = AggregateCall { args: values, distinct, filter, order_by };
        if let (Some(filter), false) = (&call.filter, distinct) {
            let exprs = call.args.iter_mut().map(|argument| &mut argument.expr);
            spare_filtered(filter, exprs.chain(call.order_by.iter_mut().map(|sort| &mut sort.expr)));
        }
        let typed = self.resolver.aggregate(name, call);
        let is_equality = |error: &SqlError| error.fields().message.contains(" equality operator ");
        if let Some((values, order_by)) = told_apart
            && typed.as_ref().err().is_none_or(is_equality)
        {
            self.check_distinct(function, &values, &order_by, &order_types)?;
        }
        typed
    }

    /// Checks DISTINCT within a call. Its sort keys must be among its arguments, which must have equality and an order.
    /// Errors: 42P10, 42883.
    fn check_distinct(
        &self,
        function: &ast::Call,
        values: &[TypedExpr],
        order_by: &[Sort],
        order_types: &[SqlType],
    ) -> Result<()> {
        for (at, (sort, ty)) in order_by.iter().zip(order_types).enumerate() {
            // A cast makes another expression of an argument.
            let is_argued = |value: &TypedExpr| {
                value.ty == *ty && self.resolver.sort_key(value.clone()).is_ok_and(|key| key == sort.expr)
            };
            if !values.iter().any(is_argued) {
                let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
                let error = SqlError::new(state::INVALID_COLUMN_REFERENCE, message);
                let place = function.order_by.get(at).map_or(function.name.span, |item| written_place(&item.value));
                return Err(self.at(error, place));
            }
        }
        for (at, value) in values.iter().enumerate() {
            let place = function.arguments.get(at).map_or(Span::NONE, |argument| place_of(&argument.value));
            self.resolver.group_key(value.clone()).map_err(|error| self.at(error, place))?;
            if let Err(error) = self.resolver.sort_key(value.clone()) {
                let message = error.fields().message.clone();
                let error = SqlError::new(error.state(), message)
                    .detail("Aggregates with DISTINCT must be able to sort their inputs.");
                return Err(self.at(error, place));
            }
        }
        Ok(())
    }
}
