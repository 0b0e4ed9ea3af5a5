//! Binds function calls: scalar functions here, aggregates in `aggregate_call`, window functions in `window`.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::type_name::{casts, sql_type};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Sort;
use functions::json::{RecordSource, populated};
use functions::{AggregateCall, CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{
    self, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Spanned,
};
use syntax::{CURRENT_OF, VARIADIC, fold, fold_name};
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
    /// Binds a function call of any kind.
    pub fn call(&self, function: &ast::Function, env: Env<'_>) -> Result<TypedExpr> {
        let ast::Function {
            name,
            uses_odbc_syntax,
            parameters,
            args: _,
            filter: _,
            null_treatment,
            over,
            within_group,
        } = function;
        if null_treatment.is_some() {
            return Err(SqlError::unsupported("RESPECT NULLS and IGNORE NULLS"));
        }
        if *uses_odbc_syntax || !matches!(parameters, FunctionArguments::None) {
            return Err(SqlError::unsupported(format!("the expression {function}")));
        }
        let (schema, name) = fold_name(name)?;
        if !within_group.is_empty() {
            if over.is_some() {
                let message = format!("OVER is not supported for ordered-set aggregate {name}");
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
            }
            return self.ordered_set(function, &name, env);
        }
        // Rows, and VALUES of one value, are parsed as calls.
        if schema.is_none() && name == "grouping" && over.is_none() {
            return self.grouping(function, env);
        }
        if let (CURRENT_OF | super::ROW_KEY, FunctionArguments::List(list)) = (name.as_str(), &function.args)
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] = list.args.as_slice()
        {
            return if name == CURRENT_OF { self.current_of(argument, env) } else { self.row_key(argument, env) };
        }
        if schema.is_none()
            && name == "row"
            && over.is_none()
            && let FunctionArguments::List(list) = &function.args
        {
            let fields = self.row_fields(&list.args, env)?;
            return self.row_value(fields);
        }
        if schema.is_none()
            && name == "values"
            && let FunctionArguments::List(list) = &function.args
        {
            return match list.args.as_slice() {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(value))] => self.settled_expr(value, env),
                _ => Err(SqlError::syntax("subquery must return only one column")),
            };
        }
        if schema.is_none()
            && function.over.is_none()
            && matches!(function.args, FunctionArguments::None)
            && let Some(value) = self.niladic(&name)?
        {
            return Ok(value);
        }
        if schema.is_none()
            && function.over.is_none()
            && let Some(value) = self.niladic_with_precision(&name, function)?
        {
            return Ok(value);
        }
        if let FunctionArguments::Subquery(query) = &function.args {
            if name == "array" && schema.is_none() {
                return self.array_subquery(query, env);
            }
            return Err(SqlError::unsupported(format!("a subquery as the argument of {name}")));
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
        if schema.is_none() && is_type_keyword(&function.name) {
            // As in PostgreSQL's grammar, a single string may not be in its parentheses.
            if let FunctionArguments::List(list) = &function.args
                && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(only @ ast::Expr::Value(value)))] =
                    list.args.as_slice()
                && matches!(value.value, ast::Value::SingleQuotedString(_))
            {
                return Err(self.at(SqlError::syntax(format!("syntax error at or near \"{only}\"")), only.span()));
            }
            return Err(self.at(SqlError::syntax("syntax error: a type is not a function"), function.name.span()));
        }
        let row_functions = self.row_functions.borrow().len();
        if name == "normalize"
            && let Some(typed) = self.normalize(function, env)?
        {
            return Ok(typed);
        }
        if name == "pg_collation_for"
            && let FunctionArguments::List(list) = &function.args
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Collate { expr, .. }))] = list.args.as_slice()
        {
            // "C" is the only collation that is accepted.
            self.expr(expr, env)?;
            return Ok(TypedExpr::literal(types::Datum::from("\"C\""), SqlType::TEXT));
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
        if schema.is_none() && name == "coalesce" {
            self.no_row_functions(row_functions, "COALESCE")?;
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
        self.called(function, schema.is_none(), &name, arguments, env).map_err(|error| match missing {
            Some(missing) if error.state() == state::UNDEFINED_FUNCTION => or_unsupported(missing, &name),
            _ => error,
        })
    }

    /// `f(t)` for `(t).f`: a field of a row may be written as a call, unless a function has the name.
    fn field_called(
        &self,
        function: &ast::Function,
        name: &str,
        arguments: &Arguments,
        env: Env<'_>,
    ) -> Option<TypedExpr> {
        let [value] = arguments.values.as_slice() else { return None };
        let FunctionArguments::List(list) = &function.args else { return None };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(row))] = list.args.as_slice() else { return None };
        let [ast::ObjectNamePart::Identifier(field)] = function.name.0.as_slice() else { return None };
        if value.ty.as_record().is_none() || self.resolver.function(name, arguments.values.clone()).is_ok() {
            return None;
        }
        let chain = [ast::AccessExpr::Dot(ast::Expr::Identifier(field.clone()))];
        self.access(&ast::Expr::Nested(Box::new(row.clone())), &chain, env).ok()
    }

    /// Calls one of our functions. `unqualified` says that the name has no schema.
    fn called(
        &self,
        function: &ast::Function,
        unqualified: bool,
        name: &str,
        arguments: Arguments,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if arguments.variadic {
            return self.variadic_call(name, arguments.values);
        }
        if let Some(source) = RecordSource::named(name) {
            return match source.set && source.populate {
                true => self.row_function(name, arguments.values, function.name.span(), env),
                false => populated(&self.resolver, name, source, arguments.values),
            };
        }
        if super::row_function::is_row_function(name) || self.resolver.is_listed_rows(name) {
            return self.row_function(name, arguments.values, function.name.span(), env);
        }
        if unqualified
            && matches!(name, "coalesce" | "nullif" | "greatest" | "least")
            && let Some(typed) = self.conditional(name, arguments.values.clone()).map_err(|error| match name {
                "nullif" => error,
                _ => self.at_argument(error, function, &arguments.values),
            })?
        {
            return Ok(typed);
        }
        let single = arguments.values.first().cloned().filter(|_| arguments.values.len() == 1);
        self.resolver.function(name, arguments.values).or_else(|error| {
            // A type's name called as a function is a cast: `int8(x)`, `text(x)`.
            let ty = ast::DataType::Custom(function.name.clone(), Vec::new());
            match (single.filter(|value| casts(value.ty, &error)), sql_type(&ty)) {
                (Some(value), Ok(ty)) => self.resolver.cast(value, ty, CastContext::Explicit),
                _ => Err(or_unsupported(error, name)),
            }
        })
    }

    /// Adds the position of the first argument whose type does not fit the previous ones to an error.
    fn at_argument(&self, error: SqlError, function: &ast::Function, values: &[TypedExpr]) -> SqlError {
        let FunctionArguments::List(list) = &function.args else { return error };
        let place = |arg| match arg {
            &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
            _ => None,
        };
        let places: Vec<&ast::Expr> = list.args.iter().filter_map(place).collect();
        let types: Vec<SqlType> = values.iter().map(|value| value.ty).collect();
        if places.len() == types.len() { self.at_mismatch(error, &places, &types) } else { error }
    }

    /// Binds ordered-set aggregates such as `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`.
    fn ordered_set(&self, function: &ast::Function, name: &str, env: Env<'_>) -> Result<TypedExpr> {
        let hypothetical = super::hypothetical::is_hypothetical(name);
        if !hypothetical && !self.resolver.is_ordered_set(name) {
            return Err(self.no_ordered_set(function, name, env));
        }
        let inner = env.within(Clause::Aggregate);
        let arguments = self.arguments(function, inner)?;
        if arguments.distinct {
            let error = SqlError::syntax("cannot use DISTINCT with WITHIN GROUP");
            return Err(self.at_behind(error, "within", function.name.span()));
        }
        if !arguments.order_by.is_empty() {
            return Err(SqlError::syntax("cannot use multiple ORDER BY clauses with WITHIN GROUP"));
        }
        if hypothetical {
            let mut keys = Vec::new();
            for item in &function.within_group {
                let (asc, nulls_first) = self.direction(item)?;
                let key = self.expr(&item.expr, inner)?;
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
        let value = self.expr(&item.expr, inner)?;
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
                true => self.at(error, self.start_of(&item.expr)),
                false if unknown => self.resolver.no_function(name, &given),
                false => error,
            }
        })?;
        self.placed_aggregate(typed, env)
    }

    /// The error for WITHIN GROUP on a function that does not allow it.
    fn no_ordered_set(&self, function: &ast::Function, name: &str, env: Env<'_>) -> SqlError {
        let inner = env.within(Clause::Aggregate);
        let bound = self.arguments(function, inner).and_then(|arguments| {
            let mut values = arguments.values;
            for item in &function.within_group {
                values.push(self.expr(&item.expr, inner)?);
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
    pub fn filter(&self, function: &ast::Function, inner: Env<'_>) -> Result<Option<Expr>> {
        let Some(filter) = &function.filter else { return Ok(None) };
        let typed = self.expr(filter, Env { clause: Clause::Filter, ..inner })?;
        Ok(Some(self.condition(typed, "FILTER", filter)?))
    }

    /// Binds the arguments of a call.
    pub fn arguments(&self, function: &ast::Function, env: Env<'_>) -> Result<Arguments> {
        let mut arguments = Arguments {
            values: Vec::new(),
            star: false,
            distinct: false,
            order_by: Vec::new(),
            order_types: Vec::new(),
            variadic: false,
            missing: None,
        };
        let list = match &function.args {
            FunctionArguments::None => return Ok(arguments),
            FunctionArguments::Subquery(_) => return Err(SqlError::unsupported("a subquery as an argument")),
            FunctionArguments::List(list) => list,
        };
        let ast::FunctionArgumentList { duplicate_treatment, args, clauses } = list;
        arguments.distinct = match duplicate_treatment {
            None | Some(DuplicateTreatment::All) => false,
            Some(DuplicateTreatment::Distinct) => true,
        };
        if args.len() > 1 && args.iter().any(|arg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Wildcard))) {
            return Err(SqlError::syntax("syntax error at or near \",\""));
        }
        if duplicate_treatment.is_some() && matches!(args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)])
        {
            return Err(SqlError::syntax("syntax error at or near \"*\""));
        }
        if args.len() > MOST_ARGUMENTS && !is_listed_values(&function.name) {
            let message = format!("cannot pass more than {MOST_ARGUMENTS} arguments to a function");
            let error = SqlError::new("54023", message);
            return Err(self.at(error, super::binder::span_of(&function.name)));
        }
        let mut named: Vec<(String, TypedExpr)> = Vec::new();
        for arg in args {
            match arg {
                FunctionArg::Unnamed(_) if !named.is_empty() => {
                    let error = SqlError::syntax("positional argument cannot follow named argument");
                    return Err(self.at(error, arg.span()));
                }
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => {
                    let value = self.expr(expr, env)?;
                    // With WITHIN GROUP, the number of arguments determines their kind.
                    let kept = !function.within_group.is_empty() || is_listed_values(&function.name);
                    if kept || !is_output(&value) {
                        arguments.values.push(value);
                    }
                }
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => arguments.star = true,
                FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) => {
                    let (schema, relation) = fold_name(name)?;
                    arguments.values.push(self.whole_row(schema.as_deref(), &relation, env.scope)?);
                }
                FunctionArg::Unnamed(_) => return Err(SqlError::unsupported("this form of an argument")),
                FunctionArg::ExprNamed {
                    name: ast::Expr::Identifier(name),
                    arg: FunctionArgExpr::Expr(expr),
                    operator: _,
                }
                | FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), operator: _ } => {
                    if name.value == VARIADIC && name.quote_style.is_none() {
                        self.variadic(expr, &mut arguments, env)?;
                        continue;
                    }
                    let name = fold(name);
                    if named.iter().any(|(known, _)| *known == name) {
                        let error = SqlError::syntax(format!("argument name \"{name}\" used more than once"));
                        return Err(self.at(error, arg.span()));
                    }
                    let value = self.expr(expr, env)?;
                    if !is_output(&value) {
                        named.push((name, value));
                    }
                }
                FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } => {
                    return Err(SqlError::unsupported("named arguments"));
                }
            }
        }
        let written = |arg| match arg {
            &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
            _ => None,
        };
        self.check_all_collations(&args.iter().filter_map(written).collect::<Vec<_>>())?;
        if !named.is_empty() {
            let (_, called) = fold_name(&function.name)?;
            let (values, missing) = self.in_places(&called, arguments.values, named)?;
            (arguments.values, arguments.missing) = (values, Some(missing));
        }
        for clause in clauses {
            match clause {
                FunctionArgumentClause::OrderBy(order) => {
                    for item in order {
                        let (sort, ty) = self.typed_sort_item(item, env)?;
                        arguments.order_by.push(sort);
                        arguments.order_types.push(ty);
                    }
                }
                other => return Err(SqlError::unsupported(format!("{other} in a function call"))),
            }
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

/// Whether a name is a keyword that can only be a type.
fn is_type_keyword(name: &ast::ObjectName) -> bool {
    const WORDS: [&str; 19] = [
        "bigint",
        "bit",
        "boolean",
        "char",
        "character",
        "dec",
        "decimal",
        "float",
        "int",
        "integer",
        "interval",
        "national",
        "nchar",
        "numeric",
        "real",
        "smallint",
        "time",
        "timestamp",
        "varchar",
    ];
    match name.0.as_slice() {
        [ast::ObjectNamePart::Identifier(ident)] => {
            ident.quote_style.is_none() && WORDS.iter().any(|word| ident.value.eq_ignore_ascii_case(word))
        }
        _ => false,
    }
}

/// Whether a name is a special form of PostgreSQL's grammar with a list of values.
fn is_listed_values(name: &ast::ObjectName) -> bool {
    let words = ["coalesce", "greatest", "least", "grouping"];
    fold_name(name).is_ok_and(|(schema, name)| schema.is_none() && words.contains(&name.as_str()))
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

fn no_arguments(function: &ast::Function) -> bool {
    match &function.args {
        FunctionArguments::None => true,
        FunctionArguments::List(list) => list.args.is_empty() && list.clauses.is_empty() && function.over.is_none(),
        FunctionArguments::Subquery(_) => false,
    }
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
