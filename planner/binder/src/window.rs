//! Window functions: OVER, named windows, frames.

use super::binder::{Binder, column};
use super::expression::{Clause, Env};
use super::frame::WindowOrder;
use super::row_function::is_row_function;
use super::short_circuit_projection::is_guarded;
use super::table_expression::has_subquery;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::{compare_sort_expr, group_window_expr_by_sort_keys};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::{TypedExpr, WindowCall};
use sql_error::{Result, SqlError, state};
use std::cmp::Ordering;
use syntax::Span;
use syntax::ast::{self, Over};

/// The parts of a window definition.
struct Window<'w> {
    partition_by: &'w [ast::Expr],
    order_by: &'w [ast::SortItem],
    frame: Option<&'w ast::WindowFrame>,
    /// The place of the definition that has the frame.
    place: Span,
}

impl Binder<'_> {
    /// Binds a call with OVER.
    pub fn window_call(&self, function: &ast::Call, name: &str, over: &Over, env: Env<'_>) -> Result<TypedExpr> {
        if env.clause == Clause::Aggregate {
            let message = "aggregate function calls cannot contain window function calls";
            return Err(SqlError::new(state::GROUPING_ERROR, message));
        }
        if !matches!(env.clause, Clause::Select | Clause::OrderBy) {
            let message = match env.clause {
                Clause::Window => "window function calls cannot be nested".to_string(),
                Clause::JoinOn => "window functions are not allowed in JOIN conditions".to_string(),
                Clause::FrameOffset(_) => "window functions are not allowed in window definitions".to_string(),
                clause => format!("window functions are not allowed in {}", clause.name()),
            };
            return Err(SqlError::new(state::WINDOWING_ERROR, message));
        }
        if is_row_function(name) {
            let message = format!("OVER specified, but {name} is not a window function nor an aggregate function");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        let inner = env.within(Clause::Window);
        let definition = env.within(Clause::WindowDefinition);
        let mut arguments = self.arguments(function, inner)?;
        if !arguments.order_by.is_empty() {
            let message = "aggregate ORDER BY is not implemented for window functions";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let filter = match &function.filter {
            Some(filter) => {
                let typed = self.expr(filter, inner)?;
                Some(self.condition(typed, "FILTER", filter)?)
            }
            None => None,
        };
        if name == "count" && arguments.values.is_empty() && !arguments.star {
            let message = "count(*) must be used to call a parameterless aggregate function";
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if arguments.star && name != "count" {
            let message = format!("function {name}() does not exist");
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        let window = match over {
            Over::Named(name) => named(&name.value, env.windows).map_err(|error| self.at(error, name.span))?,
            Over::Spec(spec) => specified(spec, env.windows, true).map_err(|error| self.at(error, spec.span))?,
        };
        let mut partition_by = Vec::new();
        for expr in window.partition_by {
            let typed = self.settled_expr(expr, definition)?;
            partition_by.push(self.resolver.partition_key(typed)?);
        }
        let mut order = WindowOrder { sorts: Vec::new(), types: Vec::new() };
        for item in window.order_by {
            let (sort, ty) = self.typed_sort_item(item, definition)?;
            // A repeated sort key has no effect, whatever its direction.
            if order.sorts.iter().all(|before| before.expr != sort.expr) {
                order.sorts.push(sort);
                order.types.push(ty);
            }
        }
        let frame = self.frame(window.frame, window.place, &mut order, definition)?;
        if let (Some(filter), false) = (&filter, arguments.distinct) {
            super::aggregate_filter_guard::spare_filtered(
                filter,
                arguments.values.iter_mut().map(|value| &mut value.expr),
            );
        }
        let order_by = order.sorts;
        let call = WindowCall { partition_by, order_by, frame, filter, distinct: arguments.distinct };
        self.resolver.window_function(name, arguments.values, call)
    }

    /// Moves window keys into a projection below, so that windows with equal keys share a column. DataFusion extracts
    /// common parts of window functions one by one, and then does not recognize equal keys.
    pub fn window_keys(&self, plan: LogicalPlan, exprs: Vec<&mut Expr>) -> Result<LogicalPlan> {
        let mut keys: Vec<(Expr, String)> = Vec::new();
        for expr in exprs {
            let taken = std::mem::take(expr).transform_up(|inner| {
                let Expr::WindowFunction(mut function) = inner else { return Ok(Transformed::no(inner)) };
                let params = &mut function.params;
                let sorted = params.order_by.iter_mut().map(|sort| &mut sort.expr);
                for key in params.partition_by.iter_mut().chain(sorted) {
                    let plain = matches!(key, Expr::Column(_) | Expr::Literal(..));
                    if !plain && !leaves_query(key) {
                        self.beneath(key, &mut keys);
                    }
                }
                // A subquery cannot be evaluated within a window function.
                let filter = params.filter.iter_mut().map(|filter| &mut **filter);
                for argument in params.args.iter_mut().chain(filter) {
                    let known = keys.iter().any(|(key, _)| key == argument);
                    if known || is_guarded(argument) || (has_subquery(argument) && !leaves_query(argument)) {
                        self.beneath(argument, &mut keys);
                    }
                }
                Ok(Transformed::yes(Expr::WindowFunction(function)))
            })?;
            *expr = taken.data;
        }
        if keys.is_empty() {
            return Ok(plan);
        }
        let columns = plan.schema().columns().into_iter().map(Expr::Column);
        let exprs: Vec<Expr> = columns.chain(keys.into_iter().map(|(key, name)| key.alias(name))).collect();
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// Replaces an expression by the column that will hold its value, and records it in `computed`.
    pub fn beneath(&self, expr: &mut Expr, computed: &mut Vec<(Expr, String)>) {
        let known = computed.iter().find(|(known, _)| known == expr).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = self.unique("o");
            computed.push((expr.clone(), name.clone()));
            name
        });
        *expr = column(name);
    }

    /// Checks every window of a WINDOW clause, whether or not a call uses it.
    pub fn check_windows(&self, env: Env<'_>) -> Result<()> {
        for (at, definition) in env.windows.iter().enumerate() {
            let (name, place) = (&definition.name.value, definition.spec.span);
            if env.windows.iter().take(at).any(|other| other.name.value == *name) {
                let message = format!("window \"{name}\" is already defined");
                return Err(self.at(SqlError::new(state::WINDOWING_ERROR, message), place));
            }
            let window = named(name, env.windows).map_err(|error| self.at(error, place))?;
            let inner = env.within(Clause::WindowDefinition);
            for expr in window.partition_by {
                self.settled_expr(expr, inner)?;
            }
            for item in window.order_by {
                self.sort_item(item, inner)?;
            }
        }
        Ok(())
    }

    /// Binds an expression and converts unknown types to text.
    pub fn settled_expr(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let typed = self.expr(expr, env)?;
        self.settle(typed)
    }
}

/// Evaluates window functions over a plan. Each gets a unique column name: DataFusion names a call by part of its
/// contents, so different calls may share a name.
pub fn windows_over(mut plan: LogicalPlan, calls: Vec<(Expr, String)>) -> Result<LogicalPlan> {
    let mut groups = group_window_expr_by_sort_keys(calls.iter().map(|(call, _)| call.clone()))?;
    // Among orders with a common start, the longest comes first and serves the others.
    groups.sort_by(|(one, _), (other, _)| {
        let keys = one.iter().zip(other).map(|((one, _), (other, _))| compare_sort_expr(one, other, plan.schema()));
        keys.fold(Ordering::Equal, Ordering::then).then(other.len().cmp(&one.len()))
    });
    for (_, group) in groups {
        let named = group.into_iter().map(|call| {
            let name = calls.iter().find(|(known, _)| *known == call).map(|(_, name)| name.clone());
            let name = name.ok_or_else(|| SqlError::internal("a window function without a name"))?;
            Ok(call.alias(name))
        });
        let named = named.collect::<Result<Vec<_>>>()?;
        plan = LogicalPlanBuilder::from(plan).window(named)?.build()?;
    }
    Ok(plan)
}

/// Whether an expression refers to an outer query.
pub fn leaves_query(expr: &Expr) -> bool {
    // The visitor cannot fail.
    expr.exists(|inner| Ok(matches!(inner, Expr::OuterReferenceColumn(..)))).unwrap_or(true)
}

/// Looks up a named window. A definition can see only earlier ones.
fn named<'w>(name: &str, windows: &'w [ast::NamedWindow]) -> Result<Window<'w>> {
    let found = windows.iter().position(|window| window.name.value == name);
    let before = windows.get(..found.unwrap_or(0)).unwrap_or_default();
    match found.and_then(|at| windows.get(at)) {
        Some(window) => specified(&window.spec, before, false),
        None => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("window \"{name}\" does not exist"))),
    }
}

/// Binds a window specification. `over` says whether it follows OVER.
fn specified<'w>(spec: &'w ast::WindowSpec, windows: &'w [ast::NamedWindow], over: bool) -> Result<Window<'w>> {
    let ast::WindowSpec { base, partition_by, order_by, frame, span } = spec;
    let (frame, place) = (frame.as_ref(), *span);
    let Some(base) = base else {
        return Ok(Window { partition_by, order_by, frame, place });
    };
    let name = &base.value;
    let base = named(name, windows)?;
    let error = |message: String| Err(SqlError::new(state::WINDOWING_ERROR, message));
    if !partition_by.is_empty() {
        return error(format!("cannot override PARTITION BY clause of window \"{name}\""));
    }
    if !order_by.is_empty() && !base.order_by.is_empty() {
        return error(format!("cannot override ORDER BY clause of window \"{name}\""));
    }
    if base.frame.is_some() {
        let message = format!("cannot copy window \"{name}\" because it has a frame clause");
        let copied = SqlError::new(state::WINDOWING_ERROR, message);
        let bare = over && order_by.is_empty() && frame.is_none();
        return Err(if bare { copied.hint("Omit the parentheses in this OVER clause.") } else { copied });
    }
    let order_by: &[ast::SortItem] = if order_by.is_empty() { base.order_by } else { order_by };
    Ok(Window { partition_by: base.partition_by, order_by, frame, place })
}
