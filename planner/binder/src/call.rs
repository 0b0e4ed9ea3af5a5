//! Binds function calls: scalar functions here, aggregates in `aggregate_call`, window functions in `window`.

use super::binder::Binder;
use super::error_position::{place_of, written_place};
use super::expression::{Clause, Env};
use super::type_name::{casts, sql_type};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Sort;
use functions::json::{RecordSource, populated};
use functions::{AggregateCall, CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, ExprKind, TypeBase};
use syntax::{Span, fold_name};
use types::SqlType;

/// PostgreSQL's limit on arguments (`FUNC_MAX_ARGS`).
const MOST_ARGUMENTS: usize = 100;

/// The bound arguments of a call.
pub struct Arguments {
    /// Argument values, in order.
    pub values: Vec<TypedExpr>,
    /// Whether the argument is `*`.
    pub star: bool,
    /// Whether the call has DISTINCT.
    pub distinct: bool,
    /// ORDER BY within the call.
    pub order_by: Vec<Sort>,
    /// Types of the ORDER BY keys.
    pub order_types: Vec<SqlType>,
    /// VARIADIC: whether the last value is an array of the remaining arguments.
    pub variadic: bool,
    /// The error to report if no function accepts the named arguments.
    pub missing: Option<SqlError>,
}

/// Converts 42883 to 0A000 for a function that PostgreSQL has and PercoSQL lacks.
pub fn or_unsupported(error: SqlError, name: &str) -> SqlError {
    if error.state() == state::UNDEFINED_FUNCTION && functions::catalog_functions::is_missing(name) {
        return SqlError::unsupported(format!("the function {name}"));
    }
    error
}

impl Binder<'_> {
    /// Binds a call of a function by name.
    pub fn call(&self, function: &ast::Call, env: Env<'_>) -> Result<TypedExpr> {
        let (schema, name) = fold_name(&function.name)?;
        if !function.within_group.is_empty() {
            if function.over.is_some() {
                let message = format!("OVER is not supported for ordered-set aggregate {name}");
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
            }
            return self.ordered_set(function, &name, env);
        }
        let builtin = schema.as_deref().is_none_or(|schema| schema == "pg_catalog" || schema == "information_schema");
        if let (true, Some(typed)) = (builtin && no_arguments(function), stable(&name)) {
            return Ok(typed);
        }
        let aggregate = builtin && self.resolver.is_aggregate(&name);
        if let Some(over) = &function.over {
            return self.window_call(function, &name, over, env);
        }
        let hypothetical = builtin && super::hypothetical::is_hypothetical(&name) && !no_arguments(function);
        if hypothetical {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if builtin && self.resolver.is_window(&name) && !aggregate {
            let message = format!("window function {name} requires an OVER clause");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if aggregate {
            return self.aggregate_call(function, &name, env);
        }
        if name == "pg_collation_for"
            && let [ast::Argument { name: None, value }] = function.arguments.as_slice()
            && matches!(value.kind, ExprKind::Collate { .. })
        {
            return self.collation_for(value, env);
        }
        let mut arguments = self.arguments(function, env)?;
        let of_aggregate =
            function.filter.is_some() || arguments.distinct || !arguments.order_by.is_empty() || arguments.star;
        if of_aggregate && !super::row_function::is_row_function(&name) {
            // A function that does not exist at all is reported first.
            match self.resolver.function(&name, arguments.values.clone()) {
                Err(error) if error.state() == state::UNDEFINED_FUNCTION => return Err(or_unsupported(error, &name)),
                _ => {}
            }
        }
        if function.filter.is_some() {
            let message = format!("FILTER specified, but {name} is not an aggregate function");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if arguments.distinct {
            let message = format!("DISTINCT specified, but {name} is not an aggregate function");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if !arguments.order_by.is_empty() {
            let message = format!("ORDER BY specified, but {name} is not an aggregate function");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if arguments.star {
            let message = format!("{name}(*) specified, but {name} is not an aggregate function");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        if let Some(schema) = schema.as_ref().filter(|schema| !builtin && self.context.catalog.schema(schema).is_none())
        {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(SqlError::new(state::INVALID_SCHEMA_NAME, message));
        }
        if !builtin || functions::is_internal(&name) {
            let shown = schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"));
            return Err(self.resolver.no_function(&shown, &arguments.values));
        }
        let missing = arguments.missing.take();
        if let Some(field) = self.field_called(function, &name, &arguments, env) {
            return Ok(field);
        }
        self.called(function, &name, arguments, env).map_err(|error| match missing {
            Some(missing) if error.state() == state::UNDEFINED_FUNCTION => or_unsupported(missing, &name),
            _ => error,
        })
    }

    /// `f(t)` for `(t).f`: a field of a row may be written as a call, unless a function has the name.
    fn field_called(&self, function: &ast::Call, name: &str, arguments: &Arguments, env: Env<'_>) -> Option<TypedExpr> {
        let [value] = arguments.values.as_slice() else { return None };
        let [ast::Argument { name: None, value: row }] = function.arguments.as_slice() else { return None };
        let [field] = function.name.parts.as_slice() else { return None };
        if value.ty.as_record().is_none() || self.resolver.function(name, arguments.values.clone()).is_ok() {
            return None;
        }
        self.access(row, &[ast::Step::Field(field.clone())], env).ok()
    }

    /// Calls one of our functions.
    fn called(&self, function: &ast::Call, name: &str, arguments: Arguments, env: Env<'_>) -> Result<TypedExpr> {
        if arguments.variadic {
            return self.variadic_call(name, arguments.values);
        }
        if let Some(source) = RecordSource::named(name) {
            return match source.set && source.populate {
                true => self.row_function(name, arguments.values, function.name.span, env),
                false => populated(&self.resolver, name, source, arguments.values),
            };
        }
        if super::row_function::is_row_function(name) || self.resolver.is_listed_rows(name) {
            return self.row_function(name, arguments.values, function.name.span, env);
        }
        let single = arguments.values.first().cloned().filter(|_| arguments.values.len() == 1);
        self.resolver.function(name, arguments.values).or_else(|error| {
            // A type's name called as a function is a cast: `int8(x)`, `text(x)`.
            let ty = type_called(&function.name);
            match (single.filter(|value| casts(value.ty, &error)), sql_type(&ty)) {
                (Some(value), Ok(ty)) => self.resolver.cast(value, ty, CastContext::Explicit),
                _ => Err(or_unsupported(error, name)),
            }
        })
    }

    /// Binds ordered-set aggregates such as `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`.
    fn ordered_set(&self, function: &ast::Call, name: &str, env: Env<'_>) -> Result<TypedExpr> {
        let hypothetical = super::hypothetical::is_hypothetical(name);
        if !hypothetical && !self.resolver.is_ordered_set(name) {
            return Err(self.no_ordered_set(function, name, env));
        }
        let inner = env.within(Clause::Aggregate);
        let arguments = self.arguments(function, inner)?;
        if hypothetical {
            let mut keys = Vec::new();
            for item in &function.within_group {
                let (asc, nulls_first) = self.direction(item)?;
                let key = self.expr(&item.value, inner)?;
                let sort = Sort { expr: key.expr.clone(), asc, nulls_first };
                keys.push((key, sort));
            }
            let filter = self.filter(function, inner)?;
            let typed = self.hypothetical(name, arguments.values, keys, filter)?;
            return self.placed_aggregate(typed, env);
        }
        let [item] = function.within_group.as_slice() else {
            return Err(self.resolver.no_function(name, &arguments.values));
        };
        let (asc, nulls_first) = self.direction(item)?;
        let value = self.expr(&item.value, inner)?;
        let filter = self.filter(function, inner)?;
        let direct = match arguments.values.as_slice() {
            [] => None,
            [fraction] => {
                let array = fraction.ty.array;
                let ty = if array { SqlType::FLOAT8.array_of() } else { SqlType::FLOAT8 };
                let cast = self.resolver.cast(fraction.clone(), ty, CastContext::Implicit);
                let cast = cast.map_err(|_| self.resolver.no_function(name, &[fraction.clone(), value.clone()]))?;
                Some(TypedExpr::new(self.folded(cast.expr)?, ty))
            }
            several => return Err(self.resolver.no_function(name, several)),
        };
        let sort = Sort { expr: value.expr.clone(), asc, nulls_first };
        let given: Vec<TypedExpr> = arguments.values.iter().chain([&value]).cloned().collect();
        let typed = self.resolver.ordered_set(name, direct, value, &sort, filter).map_err(|error| {
            // The error shows the types as written.
            let unknown = error.state() == state::UNDEFINED_FUNCTION && error.fields().message.starts_with("function ");
            match error.fields().message.contains(" ordering operator ") {
                true => self.at(error, written_place(&item.value)),
                false if unknown => self.resolver.no_function(name, &given),
                false => error,
            }
        })?;
        self.placed_aggregate(typed, env)
    }

    /// The error for WITHIN GROUP on a function that does not allow it.
    fn no_ordered_set(&self, function: &ast::Call, name: &str, env: Env<'_>) -> SqlError {
        let inner = env.within(Clause::Aggregate);
        let bound = self.arguments(function, inner).and_then(|arguments| {
            let mut values = arguments.values;
            for item in &function.within_group {
                values.push(self.expr(&item.value, inner)?);
            }
            if self.resolver.is_aggregate(name) {
                let call = AggregateCall { args: values, distinct: false, filter: None, order_by: Vec::new() };
                self.resolver.aggregate(name, call)?;
                return Ok(format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"));
            }
            self.resolver.function(name, values)?;
            Ok(format!("WITHIN GROUP specified, but {name} is not an aggregate function"))
        });
        match bound {
            Ok(message) => SqlError::new(state::WRONG_OBJECT_TYPE, message),
            Err(error) => error,
        }
    }

    /// The FILTER of a call, bound in `inner`.
    pub fn filter(&self, function: &ast::Call, inner: Env<'_>) -> Result<Option<Expr>> {
        let Some(filter) = &function.filter else { return Ok(None) };
        let typed = self.expr(filter, Env { clause: Clause::Filter, ..inner })?;
        Ok(Some(self.condition(typed, "FILTER", filter)?))
    }

    /// Binds the arguments of a call.
    pub fn arguments(&self, function: &ast::Call, env: Env<'_>) -> Result<Arguments> {
        let mut arguments = Arguments {
            values: Vec::new(),
            star: function.star,
            distinct: function.distinct,
            order_by: Vec::new(),
            order_types: Vec::new(),
            variadic: false,
            missing: None,
        };
        if function.arguments.len() > MOST_ARGUMENTS {
            let message = format!("cannot pass more than {MOST_ARGUMENTS} arguments to a function");
            return Err(self.at(SqlError::new("54023", message), function.name.span));
        }
        let mut named: Vec<(String, TypedExpr)> = Vec::new();
        let mut written = Vec::with_capacity(function.arguments.len());
        for (at, argument) in function.arguments.iter().enumerate() {
            let value = &argument.value;
            if function.variadic && at + 1 == function.arguments.len() {
                self.variadic(value, &mut arguments, env)?;
                continue;
            }
            match &argument.name {
                None if !named.is_empty() => {
                    let error = SqlError::syntax("positional argument cannot follow named argument");
                    return Err(self.at(error, place_of(value)));
                }
                None => {
                    let typed = self.expr(value, env)?;
                    // With WITHIN GROUP, the number of arguments determines their kind.
                    if !function.within_group.is_empty() || !is_output(&typed) {
                        arguments.values.push(typed);
                    }
                    written.push(value);
                }
                Some(name) => {
                    if named.iter().any(|(known, _)| *known == name.value) {
                        let message = format!("argument name \"{}\" used more than once", name.value);
                        return Err(self.at(SqlError::syntax(message), name.span));
                    }
                    let typed = self.expr(value, env)?;
                    if !is_output(&typed) {
                        named.push((name.value.clone(), typed));
                    }
                }
            }
        }
        self.check_all_collations(&written)?;
        if !named.is_empty() {
            let (_, called) = fold_name(&function.name)?;
            let (values, missing) = self.in_places(&called, arguments.values, named)?;
            (arguments.values, arguments.missing) = (values, Some(missing));
        }
        for item in &function.order_by {
            let (sort, ty) = self.typed_sort_item(item, env)?;
            arguments.order_by.push(sort);
            arguments.order_types.push(ty);
        }
        Ok(arguments)
    }
}

/// Whether an argument is a parameter of type void. It stands for a procedure's output and is left out of a call. So
/// PostgreSQL's JDBC driver need not distinguish input from output parameters.
pub fn is_output(argument: &TypedExpr) -> bool {
    let parameter = |id: &str| functions::parameter_number(id).is_some();
    argument.ty == SqlType::VOID
        && matches!(&argument.expr, Expr::Placeholder(placeholder) if parameter(&placeholder.id))
}

/// The type that has the name of a function.
fn type_called(name: &ast::Name) -> ast::TypeName {
    ast::TypeName {
        base: TypeBase::Named(name.clone()),
        modifiers: Vec::new(),
        array_bounds: Vec::new(),
        set_of: false,
        span: Span::NONE,
    }
}

/// The error 42803 for an aggregate or window function in a clause that does not allow it.
pub fn grouped_call_allowed(clause: Clause, what: &str) -> Result<()> {
    let message = match clause {
        Clause::Select | Clause::Having | Clause::OrderBy | Clause::Window | Clause::WindowDefinition => return Ok(()),
        Clause::Aggregate => "aggregate function calls cannot be nested".to_string(),
        Clause::JoinOn => format!("{what} are not allowed in JOIN conditions"),
        clause => format!("{what} are not allowed in {}", clause.name()),
    };
    Err(SqlError::new(state::GROUPING_ERROR, message))
}

fn no_arguments(function: &ast::Call) -> bool {
    function.arguments.is_empty() && !function.star && function.order_by.is_empty() && function.over.is_none()
}

/// Values of the session such as `CURRENT_USER`, which a statement does not change.
fn stable(name: &str) -> Option<TypedExpr> {
    let known = ["current_user", "user", "current_role", "session_user", "current_catalog", "current_database"];
    let expr = known.contains(&name).then(|| executor::slot_function::stable_placeholder(name))??;
    Some(TypedExpr { expr, ty: SqlType::NAME })
}

/// Whether an expression contains an aggregate of its own query that is not a window function.
pub fn has_aggregate(expr: &Expr) -> bool {
    contains(expr, |expr| matches!(expr, Expr::AggregateFunction(_)) && !super::outer_aggregate::is_outer(expr))
}

/// Whether an expression contains a window function.
pub fn has_window(expr: &Expr) -> bool {
    contains(expr, |expr| matches!(expr, Expr::WindowFunction(_)))
}

fn contains(expr: &Expr, test: fn(&Expr) -> bool) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if test(inner) {
            found = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}
