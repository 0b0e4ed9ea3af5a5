//! Set-returning functions such as `generate_series` and `unnest`. Their rows are elements of a list that a plan
//! unnests, or a series that a plan counts through.

use super::binder::{Binder, column};
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::select::replace;
use super::table_arguments::TableFunction;
use datafusion::arrow::datatypes::Field;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, UnnestOptions};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, lit, when};
use executor::generate_series::GenerateSeriesNode;
use functions::array_elements::elements;
use functions::json::{RecordSource, populated};
use functions::{CastContext, TypedExpr, record, series};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::{Span, ast};
use types::{Datum, SqlType};

/// The source of a set-returning function's rows.
pub enum RowSource {
    /// The elements of a list.
    List(TypedExpr),
    /// The elements of several lists in lockstep, with shorter lists filled with NULL, and the column names (empty: the
    /// function's name). In a select list there is only one list.
    Lists(Vec<TypedExpr>, Vec<String>),
    /// The same for functions that return records: each column with its name and type. Arrays of arrays are passed as
    /// text.
    Records(Vec<TypedExpr>, Vec<(String, SqlType)>),
    /// The elements of a list of text, each parsed as a type.
    Texts(TypedExpr, SqlType),
    /// Start, stop and step, of type int8, of a series of an integer type.
    Series(Box<[Expr; 3]>, SqlType),
}

impl RowSource {
    /// The type of the column that the rows form.
    pub fn element_type(&self) -> SqlType {
        match self {
            RowSource::List(list) => list.ty.element(),
            RowSource::Lists(lists, _) => lists.first().map_or(SqlType::TEXT, |list| list.ty.element()),
            RowSource::Records(_, columns) => columns.first().map_or(SqlType::TEXT, |(_, ty)| *ty),
            RowSource::Series(_, ty) | RowSource::Texts(_, ty) => *ty,
        }
    }

    /// The expressions that the rows depend on.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            RowSource::List(list) | RowSource::Texts(list, _) => vec![&list.expr],
            RowSource::Lists(lists, _) | RowSource::Records(lists, _) => lists.iter().map(|list| &list.expr).collect(),
            RowSource::Series(arguments, _) => arguments.iter().collect(),
        }
    }

    /// Whether another call returns the same rows.
    fn is_same(&self, other: &RowSource) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.element_type() == other.element_type()
            && self.expressions() == other.expressions()
    }

    /// The same source with changed expressions.
    pub fn map(self, mut change: impl FnMut(Expr) -> Result<Expr>) -> Result<RowSource> {
        let mut typed = |list: TypedExpr| Ok::<_, SqlError>(TypedExpr { expr: change(list.expr)?, ty: list.ty });
        Ok(match self {
            RowSource::List(list) => RowSource::List(typed(list)?),
            RowSource::Lists(lists, names) => {
                RowSource::Lists(lists.into_iter().map(typed).collect::<Result<_>>()?, names)
            }
            RowSource::Records(lists, columns) => {
                RowSource::Records(lists.into_iter().map(typed).collect::<Result<_>>()?, columns)
            }
            RowSource::Texts(list, ty) => RowSource::Texts(typed(list)?, ty),
            RowSource::Series(arguments, ty) => {
                let [start, stop, step] = *arguments;
                RowSource::Series(Box::new([change(start)?, change(stop)?, change(step)?]), ty)
            }
        })
    }

    /// All rows as an array, of int8 for a series.
    pub fn as_list(&self) -> TypedExpr {
        let ty = match self {
            RowSource::Series(..) => SqlType::INT8,
            RowSource::Texts(..) => SqlType::TEXT,
            _ => self.element_type(),
        };
        TypedExpr { expr: self.list(), ty: ty.array_of() }
    }

    /// All rows as a list.
    fn list(&self) -> Expr {
        match self {
            RowSource::List(list) | RowSource::Texts(list, _) => list.expr.clone(),
            RowSource::Lists(lists, _) | RowSource::Records(lists, _) => {
                lists.first().map_or_else(|| lit(Datum::Null), |list| list.expr.clone())
            }
            RowSource::Series(arguments, _) => {
                let [start, stop, step] = arguments.as_ref().clone();
                series::list(start, stop, step)
            }
        }
    }
}

/// A set-returning call in a select list.
pub struct RowFunction {
    /// Name of the column that will hold its rows.
    name: String,
    /// The source of its rows.
    pub source: RowSource,
    /// The placeholder in the select list until then.
    stand_in: Expr,
    /// Span of the call.
    place: Span,
}

impl RowFunction {
    /// Whether an expression depends on its rows.
    pub fn is_in(&self, expr: &Expr) -> Result<bool> {
        Ok(expr.exists(|part| Ok(*part == self.stand_in))?)
    }

    /// Replaces parts of its arguments.
    pub fn replace(&mut self, parts: &[(Expr, Expr)]) -> Result<()> {
        // The temporary value is not read before it is overwritten.
        let source = std::mem::replace(&mut self.source, RowSource::Lists(Vec::new(), Vec::new()));
        self.source = source.map(|expr| replace(expr, parts))?;
        Ok(())
    }

    /// Replaces its arguments, in the order of [`RowSource::expressions`].
    pub fn set_arguments(&mut self, arguments: &mut impl Iterator<Item = Expr>) -> Result<()> {
        let source = std::mem::replace(&mut self.source, RowSource::Lists(Vec::new(), Vec::new()));
        self.source = source.map(|expr| Ok(arguments.next().unwrap_or(expr)))?;
        Ok(())
    }

    /// The placeholders of this call and of another, if both calls are equal.
    pub fn same_as(&self, other: &RowFunction) -> Option<(Expr, Expr)> {
        self.source.is_same(&other.source).then(|| (self.stand_in.clone(), other.stand_in.clone()))
    }

    /// Whether the arguments of another call depend on its rows.
    pub fn is_within(&self, other: &RowFunction) -> Result<bool> {
        other.source.expressions().into_iter().try_fold(false, |found, expr| Ok(found || self.is_in(expr)?))
    }
}

impl Binder<'_> {
    /// Binds a call of a set-returning function.
    pub fn row_source(&self, name: &str, args: Vec<TypedExpr>) -> Result<RowSource> {
        if name == "generate_series" {
            return self.generate_series(args);
        }
        if name == "generate_subscripts" {
            return self.generate_subscripts(args);
        }
        if name == "regexp_matches" {
            let list = self.resolver.function("regexp matches", args.clone());
            let list = list.map_err(|_| self.resolver.no_function(name, &args))?;
            return Ok(RowSource::Texts(list, SqlType::TEXT.array_of()));
        }
        if let Some(source) = RecordSource::named(name) {
            return Ok(RowSource::List(populated(&self.resolver, name, source, args)?));
        }
        if let Some(list) = list_function(name) {
            let list = self.resolver.function(list, args.clone());
            return Ok(RowSource::List(list.map_err(|error| match error.state() {
                state::UNDEFINED_FUNCTION => self.resolver.no_function(name, &args),
                _ => error,
            })?));
        }
        if self.resolver.is_listed_rows(name) {
            let mut lists = self.resolver.listed_rows(name, args)?;
            return match (lists.pop(), lists.is_empty()) {
                (Some((_, list)), true) => Ok(RowSource::List(list)),
                (Some(last), false) => {
                    lists.push(last);
                    let named = lists.into_iter().map(|(name, list)| (name.to_string(), list)).collect();
                    Ok(RowSource::List(record::rows(named)))
                }
                (None, _) => Err(SqlError::internal("a function of rows without columns")),
            };
        }
        if args.iter().any(|arg| !arg.ty.array) || args.is_empty() {
            if !args.iter().any(TypedExpr::is_unknown) {
                return Err(self.resolver.no_function(name, &args));
            }
            let names: Vec<String> = args.iter().map(|arg| arg.ty.name()).collect();
            let message = format!("function unnest({}) is not unique", names.join(", "));
            return Err(SqlError::new(state::AMBIGUOUS_FUNCTION, message)
                .hint("Could not choose a best candidate function. You might need to add explicit type casts."));
        }
        match <[TypedExpr; 1]>::try_from(args) {
            Ok([array]) => Ok(RowSource::List(array)),
            Err(arrays) => Ok(RowSource::Lists(arrays, Vec::new())),
        }
    }

    /// `generate_subscripts` of one dimension.
    fn generate_subscripts(&self, mut args: Vec<TypedExpr>) -> Result<RowSource> {
        let missing = self.resolver.no_function("generate_subscripts", &args);
        let flag = if args.len() == 3 { args.pop() } else { None };
        let [array, dimension] = <[TypedExpr; 2]>::try_from(args).map_err(|_| missing.clone())?;
        if !array.ty.array {
            return Err(missing);
        }
        let bound = |name: &str| -> Result<Expr> {
            let bound = self.resolver.function(name, vec![array.clone(), dimension.clone()])?;
            Ok(self.coerce(bound, SqlType::INT8)?.expr)
        };
        let (first, last) = (bound("array_lower")?, bound("array_upper")?);
        let Some(flag) = flag else {
            return Ok(RowSource::Series(Box::new([first, last, lit(1i64)]), SqlType::INT4));
        };
        let flag = self.coerce(flag, SqlType::BOOL)?.expr;
        let choose = |yes: Expr, no: Expr| -> Result<Expr> { Ok(when(flag.clone(), yes).otherwise(no)?) };
        let step = choose(lit(-1i64), lit(1i64))?;
        // A NULL flag gives no rows.
        let known =
            |expr: Expr| -> Result<Expr> { Ok(when(flag.clone().is_null(), lit(Datum::Int64(None))).otherwise(expr)?) };
        let bounds = [known(choose(last.clone(), first.clone())?)?, known(choose(first, last)?)?, step];
        Ok(RowSource::Series(Box::new(bounds), SqlType::INT4))
    }

    /// `generate_series` of integers.
    fn generate_series(&self, args: Vec<TypedExpr>) -> Result<RowSource> {
        let args = self.resolver.row_arguments("generate_series", args)?;
        let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
        if types.iter().any(|ty| is_moment(*ty)) || types.get(2).is_some_and(|ty| ty.plain() == SqlType::INTERVAL) {
            return self.series_of_moments(args);
        }
        let common = self.resolver.common_type("generate_series", &types)?.plain();
        let ty = match common {
            SqlType::INT2 | SqlType::INT4 => SqlType::INT4,
            SqlType::INT8 => SqlType::INT8,
            SqlType::NUMERIC => {
                let mut args = args.into_iter().map(|arg| self.coerce(arg, SqlType::NUMERIC));
                let (Some(start), Some(stop)) = (args.next(), args.next()) else {
                    return Err(SqlError::internal("a series without bounds"));
                };
                return Ok(RowSource::List(series::numeric_list(start?, stop?, args.next().transpose()?)));
            }
            other => return Err(SqlError::unsupported(format!("generate_series of type {}", other.name()))),
        };
        let mut values = [lit(1i64), lit(1i64), lit(1i64)];
        for (value, arg) in values.iter_mut().zip(args) {
            let arg = self.coerce(arg, ty)?;
            *value = self.coerce(arg, SqlType::INT8)?.expr;
        }
        Ok(RowSource::Series(Box::new(values), ty))
    }

    /// `generate_series` of timestamps with an interval as step. Dates are treated as timestamps with time zone.
    fn series_of_moments(&self, args: Vec<TypedExpr>) -> Result<RowSource> {
        let missing = self.resolver.no_function("generate_series", &args);
        let Ok([start, stop, step]) = <[TypedExpr; 3]>::try_from(args) else { return Err(missing) };
        let fits = |arg: &TypedExpr| arg.is_unknown() || is_moment(arg.ty);
        let of_time = step.is_unknown() || matches!(step.ty.plain(), SqlType::INTERVAL | SqlType::TIME);
        if !fits(&start) || !fits(&stop) || !of_time {
            return Err(missing);
        }
        // Use timestamp if one argument has it and none has a wider type. Otherwise use the preferred type.
        let moments = [start.ty.plain(), stop.ty.plain()];
        let plain = moments.contains(&SqlType::TIMESTAMP) && !moments.contains(&SqlType::TIMESTAMPTZ);
        let ty = if plain { SqlType::TIMESTAMP } else { SqlType::TIMESTAMPTZ };
        let (start, stop) = (self.coerce(start, ty)?, self.coerce(stop, ty)?);
        let step = self.coerce(step, SqlType::INTERVAL)?;
        Ok(RowSource::List(series::moment_list(start, stop, step, self.resolver.slots)))
    }

    /// Joins the rows of a call, in the column `name`, to the rows of `input`, of which `carried` columns are kept.
    pub fn rows_beside(
        &self,
        input: LogicalPlan,
        carried: Vec<Expr>,
        name: &str,
        source: RowSource,
    ) -> Result<LogicalPlan> {
        let mut exprs = carried;
        match source {
            RowSource::Lists(..) | RowSource::Records(..) => {
                Err(SqlError::unsupported("unnest of several arrays in a select list"))
            }
            RowSource::List(list) | RowSource::Texts(list, _) => {
                exprs.push(elements(list).alias(name));
                let options = UnnestOptions::new().with_preserve_nulls(false);
                let unnested = LogicalPlanBuilder::from(input)
                    .project(exprs)?
                    .unnest_column_with_options(Column::from_name(name), options)?;
                Ok(unnested.build()?)
            }
            RowSource::Series(arguments, ty) => {
                exprs.extend(arguments.into_iter().map(|argument| argument.alias(self.unique("f"))));
                let input = LogicalPlanBuilder::from(input).project(exprs)?.build()?;
                let node = Arc::new(GenerateSeriesNode::new(input, name, ty.arrow())?);
                Ok(LogicalPlan::Extension(Extension { node }))
            }
        }
    }

    /// Joins the elements of lists in lockstep to the rows of `input`, of which `carried` columns are kept. The
    /// ordinality, if wanted, is the last column. Answers a column for each list.
    pub fn lists_beside(
        &self,
        input: LogicalPlan,
        carried: Vec<Expr>,
        mut lists: Vec<TypedExpr>,
        function: &TableFunction<'_>,
    ) -> Result<(LogicalPlan, Vec<TypedExpr>)> {
        if function.ordinality {
            lists.push(self.resolver.function("array ordinals", lists.clone())?);
        }
        if function.outer {
            // An empty list must give one row of NULL: it is replaced by NULL, which is kept.
            for list in &mut lists {
                let count = self.resolver.function("cardinality", vec![list.clone()])?.expr;
                list.expr = when(count.gt(lit(0i32)), list.expr.clone()).end()?;
            }
        }
        let mut exprs = carried;
        let (mut columns, mut items) = (Vec::new(), Vec::new());
        for list in lists {
            let name = self.unique("f");
            let ty = list.ty.element();
            exprs.push(elements(list).alias(&name));
            columns.push(Column::from_name(&name));
            items.push(TypedExpr { expr: column(&name), ty });
        }
        let options = UnnestOptions::new().with_preserve_nulls(function.outer);
        let plan =
            LogicalPlanBuilder::from(input).project(exprs)?.unnest_columns_with_options(columns, options)?.build()?;
        Ok((plan, items))
    }

    /// Converts the int8 elements of a series to a type.
    pub fn row_item(&self, plan: &LogicalPlan, name: &str, ty: SqlType) -> Result<Expr> {
        let item = column(name);
        let have = plan.schema().field_with_unqualified_name(name)?.data_type().clone();
        if have == ty.arrow() {
            return Ok(item);
        }
        let from = if have == SqlType::TEXT.arrow() { SqlType::TEXT } else { SqlType::INT8 };
        Ok(self.resolver.cast(TypedExpr { expr: item, ty: from }, ty, CastContext::Explicit)?.expr)
    }

    /// Binds a call in a select list. [`Binder::unnest_row_functions`] later makes its column.
    pub fn row_function(&self, function: &str, args: Vec<TypedExpr>, place: Span, env: Env<'_>) -> Result<TypedExpr> {
        let calls = match env.clause {
            Clause::Aggregate => Some("aggregate"),
            Clause::Window => Some("window"),
            _ => None,
        };
        if let Some(calls) = calls {
            let message = format!("{calls} function calls cannot contain set-returning function calls");
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
                .hint("You might be able to move the set-returning function into a LATERAL FROM item."));
        }
        let message = match env.clause {
            Clause::Select | Clause::GroupBy | Clause::OrderBy | Clause::WindowDefinition => None,
            Clause::FromFunction => Some("set-returning functions must appear at top level of FROM".to_string()),
            Clause::JoinOn => Some("set-returning functions are not allowed in JOIN conditions".to_string()),
            clause => Some(format!("set-returning functions are not allowed in {}", clause.name())),
        };
        if let Some(message) = message {
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let source = self.row_source(function, args)?;
        let ty = source.element_type();
        if matches!(env.clause, Clause::GroupBy | Clause::OrderBy | Clause::WindowDefinition) {
            // A call in GROUP BY or ORDER BY is the same as one with equal text in the select list.
            let known = self.row_functions.borrow();
            if let Some(same) = known.iter().find(|known| known.source.is_same(&source)) {
                return Ok(TypedExpr { expr: same.stand_in.clone(), ty });
            }
        }
        let name = self.unique("f");
        // It is not a column, so grouped rows do not have it.
        let field = Arc::new(Field::new(&name, ty.arrow(), true));
        let stand_in = Expr::Placeholder(Placeholder::new_with_field(format!("$&{name}"), Some(field)));
        self.row_functions.borrow_mut().push(RowFunction { name, source, stand_in: stand_in.clone(), place });
        Ok(TypedExpr { expr: stand_in, ty })
    }

    /// Rejects set-returning calls that were added since `before`. Errors: 0A000.
    pub fn no_row_functions(&self, before: usize, within: &str) -> Result<()> {
        let Some(place) = self.row_functions.borrow().get(before).map(|function| function.place) else { return Ok(()) };
        let message = format!("set-returning functions are not allowed in {within}");
        let error = SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
            .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
        Err(self.at(error, place))
    }

    /// Rejects set-returning calls that were added since `before` to an operand of a single boolean. Errors: 42804.
    pub fn no_set(&self, before: usize, within: &str, operand: &ast::Expr) -> Result<()> {
        if self.row_functions.borrow().len() == before {
            return Ok(());
        }
        let message = format!("argument of {within} must not return a set");
        Err(self.at(SqlError::new(state::DATATYPE_MISMATCH, message), place_of(operand)))
    }

    /// Joins the rows of the calls in `asked` to a plan, before other expressions are evaluated. It includes calls in
    /// their arguments and equal calls. `exprs` and the remaining calls then refer to the new columns.
    pub fn rows_before(
        &self,
        plan: LogicalPlan,
        calls: Vec<RowFunction>,
        asked: &[Expr],
        exprs: Vec<&mut Expr>,
    ) -> Result<(LogicalPlan, Vec<RowFunction>)> {
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for call in calls {
            let is_asked = asked.iter().try_fold(false, |found, expr| Ok::<_, SqlError>(found || call.is_in(expr)?))?;
            if is_asked { first.push(call) } else { later.push(call) }
        }
        loop {
            let within = |call: &RowFunction| {
                first.iter().try_fold(false, |found, other| Ok::<_, SqlError>(found || call.is_within(other)?))
            };
            let found = later.iter().map(within).collect::<Result<Vec<_>>>()?;
            let Some(at) = found.into_iter().position(|found| found) else { break };
            first.push(later.swap_remove(at));
        }
        if first.is_empty() {
            return Ok((plan, later));
        }
        let mut same = Vec::new();
        later.retain(|call| {
            let found = first.iter().find_map(|other| call.same_as(other));
            same.extend(found.clone());
            found.is_none()
        });
        let (plan, mut stand_ins) = self.unnest_row_functions(plan, first)?;
        for (from, to) in same {
            stand_ins.push((from, replace(to, &stand_ins)?));
        }
        for call in &mut later {
            call.replace(&stand_ins)?;
        }
        for expr in exprs {
            *expr = replace(std::mem::take(expr), &stand_ins)?;
        }
        Ok((plan, later))
    }

    /// Joins the rows of calls to a plan, as PostgreSQL's ProjectSet nodes do. Innermost calls come first, in lockstep,
    /// then the calls around them. Answers the replacement of each call.
    pub fn unnest_row_functions(
        &self,
        mut plan: LogicalPlan,
        mut calls: Vec<RowFunction>,
    ) -> Result<(LogicalPlan, Vec<(Expr, Expr)>)> {
        let mut stand_ins: Vec<(Expr, Expr)> = Vec::new();
        while !calls.is_empty() {
            let mut around = Vec::new();
            for (at, call) in calls.iter().enumerate() {
                let mut others = calls.iter().filter(|other| other.stand_in != call.stand_in);
                if others.try_fold(false, |within, other| Ok::<_, SqlError>(within || other.is_within(call)?))? {
                    around.push(at);
                }
            }
            let (mut ready, mut later) = (Vec::new(), Vec::new());
            for (at, call) in calls.into_iter().enumerate() {
                if around.contains(&at) { later.push(call) } else { ready.push(call) }
            }
            if ready.is_empty() {
                return Err(SqlError::internal("functions that return rows are within each other"));
            }
            let (unnested, items) = self.unnest_in_step(plan, ready)?;
            plan = unnested;
            for call in &mut later {
                call.replace(&items)?;
            }
            stand_ins.extend(items);
            calls = later;
        }
        Ok((plan, stand_ins))
    }

    /// The same for calls that are not nested in each other.
    fn unnest_in_step(&self, plan: LogicalPlan, calls: Vec<RowFunction>) -> Result<(LogicalPlan, Vec<(Expr, Expr)>)> {
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let calls = match <[RowFunction; 1]>::try_from(calls) {
            Ok([RowFunction { name, source, stand_in, .. }]) => {
                let ty = source.element_type();
                let plan = self.rows_beside(plan, exprs, &name, source)?;
                let item = self.row_item(&plan, &name, ty)?;
                return Ok((plan, vec![(stand_in, item)]));
            }
            Err(several) => several,
        };
        let mut columns = Vec::new();
        for call in &calls {
            exprs.push(elements(call.source.as_list()).alias(&call.name));
            columns.push(Column::from_name(&call.name));
        }
        let options = UnnestOptions::new().with_preserve_nulls(false);
        let plan =
            LogicalPlanBuilder::from(plan).project(exprs)?.unnest_columns_with_options(columns, options)?.build()?;
        let mut items = Vec::new();
        for call in calls {
            items.push((call.stand_in, self.row_item(&plan, &call.name, call.source.element_type())?));
        }
        Ok((plan, items))
    }
}

fn is_moment(ty: SqlType) -> bool {
    matches!(ty.plain(), SqlType::DATE | SqlType::TIMESTAMP | SqlType::TIMESTAMPTZ)
}

/// Whether a function returns sets, except functions of json.
pub fn is_row_function(name: &str) -> bool {
    matches!(name, "generate_series" | "generate_subscripts" | "regexp_matches" | "unnest")
        || list_function(name).is_some()
}

/// The function that returns another function's rows as an array.
fn list_function(name: &str) -> Option<&'static str> {
    match name {
        "string_to_table" => Some("string_to_array"),
        "regexp_split_to_table" => Some("regexp split to table"),
        // Tables are never partitioned: the array is NULL, so there are no rows.
        "pg_partition_ancestors" => Some("pg_partition_ancestors"),
        _ => None,
    }
}
