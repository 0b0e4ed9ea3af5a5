//! [`Resolver`]: converts names, symbols and typed arguments to typed expressions.

use super::parameters::parameter_number;
use super::{AggregateCall, CastContext, ParameterTypes, TypedExpr, WindowCall};
use builtin::overload_resolution::Kind;
use catalog::Catalog;
use catalog::PG_CATALOG;
use context::Slots;
use datafusion::arrow::datatypes::Field;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use settings::Settings;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::text::{InputContext, Moment};
use types::{BaseType, Ctype, Datum, SqlType};

/// Resolves functions, operators and casts for one statement.
#[derive(Clone, Copy)]
pub struct Resolver<'a> {
    /// Types of the statement's parameters.
    pub parameters: &'a ParameterTypes,
    /// Slots of the plan under construction, which session functions read when they run.
    pub slots: &'a Arc<Slots>,
    /// Settings while binding. Constants of timestamptz are read in their time zone.
    pub settings: &'a Settings,
    /// The catalog while binding, in which constants of regclass are looked up.
    pub catalog: &'a Arc<Catalog>,
    /// Start of the transaction, for `'now'::timestamptz` and `'today'::date`.
    pub now: i64,
}

/// `information_schema._pg_expandarray`, which JDBC calls to find key columns.
const EXPANDED: &str = "_pg_expandarray";

impl<'a> Resolver<'a> {
    /// A resolver for one statement.
    pub fn new(
        parameters: &'a ParameterTypes,
        slots: &'a Arc<Slots>,
        settings: &'a Settings,
        catalog: &'a Arc<Catalog>,
        now: i64,
    ) -> Self {
        Resolver { parameters, slots, settings, catalog, now }
    }

    /// The character classification of the statement's database.
    pub fn ctype(&self) -> Ctype {
        self.catalog.database().ctype()
    }

    /// The expression `$number`, with its type if that is known.
    pub fn parameter(&self, number: usize) -> TypedExpr {
        self.parameters.mention(number);
        let ty = self.parameters.get(number);
        let field = ty.map(|ty| Arc::new(Field::new(format!("${number}"), ty.arrow(), true)));
        TypedExpr::new(
            Expr::Placeholder(Placeholder { id: format!("${number}"), field }),
            ty.unwrap_or(SqlType::UNKNOWN),
        )
    }

    /// Updates the type of a parameter that was open when its expression was made.
    pub(super) fn settle(&self, expr: TypedExpr) -> TypedExpr {
        if !expr.is_unknown() {
            return expr;
        }
        match &expr.expr {
            Expr::Placeholder(placeholder) => match parameter_number(&placeholder.id) {
                Some(number) if self.parameters.get(number).is_some() => self.parameter(number),
                _ => expr,
            },
            _ => expr,
        }
    }

    /// The number of a parameter whose type is still open. `None` for other expressions.
    pub(super) fn open_parameter(&self, expr: &TypedExpr) -> Option<usize> {
        match &expr.expr {
            Expr::Placeholder(placeholder) if expr.is_unknown() => {
                parameter_number(&placeholder.id).filter(|number| self.parameters.get(*number).is_none())
            }
            _ => None,
        }
    }

    pub(super) fn settle_all(&self, exprs: Vec<TypedExpr>) -> Vec<TypedExpr> {
        exprs.into_iter().map(|expr| self.settle(expr)).collect()
    }

    /// The settings for text input while binding.
    pub fn input_context(&self) -> InputContext<'_> {
        self.settings.text_input(Some(self.catalog.as_ref()), Moment::Is(self.now))
    }

    /// Resolves an operator. `left` is absent for prefix operators. `symbol` is PostgreSQL's (`~~` for LIKE, …), or one
    /// of the keywords `LIKE`, `ILIKE`, `NOT LIKE`, `NOT ILIKE`, `AND`, `OR`, `NOT`, `IS DISTINCT FROM`, `IS NOT
    /// DISTINCT FROM`. Errors: 42883 if there is none for these types.
    pub fn operator(&self, symbol: &str, left: Option<TypedExpr>, right: TypedExpr) -> Result<TypedExpr> {
        super::overload_resolution::operator(self, symbol, left.map(|left| self.settle(left)), self.settle(right))
    }

    /// The type to which PostgreSQL's operator converts its left operand. It is the operand's own type if there is no
    /// conversion.
    pub fn left_operand_type(&self, symbol: &str, left: &TypedExpr, right: &TypedExpr) -> SqlType {
        super::overload_resolution::left_operand_type(
            self,
            symbol,
            self.settle(left.clone()).ty,
            self.settle(right.clone()).ty,
        )
    }

    /// A call with VARIADIC: its last arguments are the elements of an array. Errors: 42883 if the function is not
    /// variadic.
    pub fn variadic_function(&self, name: &str, args: Vec<TypedExpr>, array: TypedExpr) -> Result<TypedExpr> {
        super::variadic::resolve(self, name, self.settle_all(args), self.settle(array))
    }

    /// `left symbol ANY (array)`, or `ALL`. `array` is an array, or an unknown literal of one.
    pub fn quantified(&self, symbol: &str, left: TypedExpr, array: TypedExpr, all: bool) -> Result<TypedExpr> {
        super::array::quantified(self, symbol, self.settle(left), self.settle(array), all)
    }

    /// The pattern of `expr LIKE pattern ESCAPE escape` and similar. Combine it with [`Resolver::operator`].
    pub fn like_escape(&self, pattern: TypedExpr, escape: TypedExpr) -> Result<TypedExpr> {
        self.function("like_escape", vec![pattern, escape])
    }

    /// `left IN (list)`, with the operands converted to one type. Errors: 42883.
    pub fn in_list(&self, left: TypedExpr, list: Vec<TypedExpr>, negated: bool) -> Result<TypedExpr> {
        super::comparison::in_list(self, self.settle(left), self.settle_all(list), negated)
    }

    /// `left = ANY (ARRAY[elements])`, or `<>` with ALL. It becomes a list, which indexes can use. Errors: 42883,
    /// 42804.
    pub fn in_array(&self, symbol: &str, left: TypedExpr, elements: Vec<TypedExpr>, all: bool) -> Result<TypedExpr> {
        let (elements, ty) = super::array::common(self, "ARRAY", self.settle_all(elements))?;
        let left = self.settle(left);
        super::overload_resolution::element_operator(self, symbol, left.ty, ty.plain())?;
        super::comparison::listed(self, left, elements, all)
    }

    /// Resolves a scalar function. Errors: 42883 if there is none, 42725 if several match equally.
    pub fn function(&self, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
        let args = self.settle_all(args);
        if let ("pg_typeof", [TypedExpr { expr: Expr::Literal(..), ty: SqlType::UNKNOWN }]) = (name, args.as_slice()) {
            // All other functions read a bare string as text; pg_typeof reports its unknown type.
            let oid = i64::from(SqlType::UNKNOWN.oid());
            let ty = SqlType::of(BaseType::Regtype);
            return Ok(TypedExpr { expr: Expr::Literal(Datum::Int64(Some(oid)), None), ty });
        }
        if let ("to_json" | "to_jsonb", [arg]) = (name, args.as_slice())
            && arg.is_unknown()
            && arg.constant().is_some()
        {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message).of_values());
        }
        if let ("pg_column_size" | "pg_collation_for", [arg]) = (name, args.as_slice())
            && arg.is_unknown()
            && let Some(Datum::Utf8(Some(text))) = arg.constant()
        {
            // A string of unknown type ends in a zero byte and has no collation.
            let size = i32::try_from(text.len() + 1).ok();
            return Ok(match name {
                "pg_column_size" => TypedExpr::literal(Datum::Int32(size), SqlType::INT4),
                _ => TypedExpr::literal(Datum::Utf8(None), SqlType::TEXT),
            });
        }
        super::overload_resolution::function(self, name, args)
    }

    /// Converts the arguments of a set-returning function to its declared types. Errors: 42883, 42725.
    pub fn row_arguments(&self, name: &str, args: Vec<TypedExpr>) -> Result<Vec<TypedExpr>> {
        super::overload_resolution::arguments(self, name, self.settle_all(args), Kind::Plain)
    }

    /// A function that the grammar calls for a special form (`EXTRACT(… FROM …)`). Its errors name its schema.
    pub fn syntax_function(&self, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
        let types: Vec<String> = args.iter().map(|arg| self.settle(arg.clone()).ty.name()).collect();
        self.function(name, args).map_err(|error| match error.state() == state::UNDEFINED_FUNCTION {
            true => missing(&format!("{PG_CATALOG}.{name}"), &types),
            false => error,
        })
    }

    /// Whether a set-returning function has its rows as arrays from [`Resolver::listed_rows`].
    pub fn is_listed_rows(&self, name: &str) -> bool {
        super::json::is_row_function(name)
            || super::options::exists(name)
            || name == EXPANDED
            || crate::catalog_functions::exists(name)
    }

    /// The columns of such a function, with their names (empty: the function's name), as arrays.
    pub fn listed_rows(&self, name: &str, args: Vec<TypedExpr>) -> Result<Vec<(&'static str, TypedExpr)>> {
        let args = self.settle_all(args);
        if super::options::exists(name) {
            return super::options::row_lists(self, &args);
        }
        if name == EXPANDED {
            return self.expanded(args);
        }
        if let Some(lists) = crate::catalog_functions::row_lists(self, name, &args)? {
            return Ok(lists);
        }
        super::json::row_lists(self, name, &args)?.ok_or_else(|| self.no_function(name, &args))
    }

    /// The elements of an array and their positions, from 1.
    fn expanded(&self, args: Vec<TypedExpr>) -> Result<Vec<(&'static str, TypedExpr)>> {
        let [array] = args.as_slice() else { return Err(self.no_function(EXPANDED, &args)) };
        if !array.ty.array {
            return Err(self.no_function(EXPANDED, &args));
        }
        let count = self.function("cardinality", vec![array.clone()])?;
        let count = self.cast(count, SqlType::INT8, CastContext::Explicit)?.expr;
        let one = || Expr::Literal(Datum::Int64(Some(1)), None);
        let places = TypedExpr { expr: super::series::list(one(), count, one()), ty: SqlType::INT8.array_of() };
        let places = self.cast(places, SqlType::INT4.array_of(), CastContext::Explicit)?;
        Ok(vec![("x", array.clone()), ("n", places)])
    }

    /// `ARRAY[a, b, …]`. Errors: 42804 if the elements have no common type.
    pub fn array(&self, elements: Vec<TypedExpr>) -> Result<TypedExpr> {
        super::array::construct(self, self.settle_all(elements))
    }

    /// Whether a scalar function with this name exists.
    pub fn is_function(&self, name: &str) -> bool {
        super::registry::exists(name)
    }

    /// Resolves an aggregate function. Errors: 42883.
    pub fn aggregate(&self, name: &str, call: AggregateCall) -> Result<TypedExpr> {
        let call = AggregateCall { args: self.settle_all(call.args), ..call };
        super::aggregate::resolve(self, name, call)
    }

    /// Names of the aggregate functions that have an ordinary call.
    pub fn aggregate_names() -> impl Iterator<Item = &'static str> {
        super::aggregate::names()
    }

    /// Whether an aggregate function with this name exists.
    pub fn is_aggregate(&self, name: &str) -> bool {
        super::aggregate::exists(name)
    }

    /// Whether an aggregate is called with WITHIN GROUP.
    pub fn is_ordered_set(&self, name: &str) -> bool {
        super::aggregate::is_ordered_set(name)
    }

    /// `name(direct) WITHIN GROUP (ORDER BY value)`. `direct` is float8 or an array of it.
    pub fn ordered_set(
        &self,
        name: &str,
        direct: Option<TypedExpr>,
        value: TypedExpr,
        sort: &datafusion::logical_expr::expr::Sort,
        filter: Option<Expr>,
    ) -> Result<TypedExpr> {
        super::aggregate::ordered_set(self, name, direct, value, sort, filter)
    }

    /// Resolves a window function, or an aggregate over a window. The result may wrap the `Expr::WindowFunction` in a
    /// cast.
    pub fn window_function(&self, name: &str, args: Vec<TypedExpr>, call: WindowCall) -> Result<TypedExpr> {
        super::window::resolve(self, name, self.settle_all(args), call)
    }

    /// Whether a function with this name is a pure window function (`row_number`, …).
    pub fn is_window(&self, name: &str) -> bool {
        super::window::exists(name)
    }

    /// Casts an expression to a type with its modifier. Errors: 42846 or 42804 if PostgreSQL has no such cast in this
    /// context. A constant is folded, so its value may cause errors too.
    pub fn cast(&self, expr: TypedExpr, to: SqlType, context: CastContext) -> Result<TypedExpr> {
        super::cast::cast(self, self.settle(expr), to, context)
    }

    /// Converts an expression of unknown type to text, as a SELECT list does.
    pub fn resolve_unknown(&self, expr: TypedExpr) -> Result<TypedExpr> {
        let expr = self.settle(expr);
        if expr.is_unknown() { self.cast(expr, SqlType::TEXT, CastContext::Implicit) } else { Ok(expr) }
    }

    /// A boolean for WHERE, HAVING, AND and so on. Errors: 42804, which names `what`.
    pub fn boolean(&self, expr: TypedExpr, what: &str) -> Result<Expr> {
        let expr = self.settle(expr);
        if expr.ty != SqlType::BOOL && !expr.is_unknown() {
            return Err(SqlError::new(
                state::DATATYPE_MISMATCH,
                format!("argument of {what} must be type boolean, not type {}", expr.ty.name()),
            ));
        }
        Ok(self.cast(expr, SqlType::BOOL, CastContext::Implicit)?.expr)
    }

    /// The common type of the branches of `context` (`CASE`, `UNION`, `VALUES`, `ARRAY`, `COALESCE`…). Errors: 42804.
    pub fn common_type(&self, context: &str, types: &[SqlType]) -> Result<SqlType> {
        super::cast::common_type(context, types)
    }

    /// The sort key of an expression: its order is PostgreSQL's. Errors: 42883 for a type without an order.
    pub fn sort_key(&self, expr: TypedExpr) -> Result<Expr> {
        let expr = self.settle(expr);
        let ordered = !matches!(expr.ty.base, BaseType::Json | BaseType::Jsonpath | BaseType::Record(_));
        if matches!(expr.ty.base, BaseType::Xid | BaseType::Cid) {
            let message = format!("could not identify an ordering operator for type {}", expr.ty.name());
            let hint = "Use an explicit ordering operator or modify the query.";
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message).hint(hint));
        }
        if expr.ty.array && ordered {
            return Ok(super::array::key::array_order(expr).expr);
        }
        self.key(expr, "ordering").map_err(|error| error.hint("Use an explicit ordering operator or modify the query."))
    }

    /// The key by which an expression is grouped or made distinct: equal values have equal bytes. It has the same type.
    /// Errors: 42883 for a type without equality.
    pub fn group_key(&self, expr: TypedExpr) -> Result<Expr> {
        self.key(expr, "equality")
    }

    /// The key of PARTITION BY: like [`Resolver::group_key`], but the type must also have an order.
    pub fn partition_key(&self, expr: TypedExpr) -> Result<Expr> {
        let (array, key) = (expr.ty.array, self.group_key(expr.clone())?);
        Ok(if array { super::array::key::array_order(self.settle(expr)).expr } else { key })
    }

    fn key(&self, expr: TypedExpr, operator: &str) -> Result<Expr> {
        let expr = self.settle(expr);
        if let BaseType::Record(record) = expr.ty.base {
            super::record::has_order(record)?;
        }
        if matches!(expr.ty.base, BaseType::Json | BaseType::Jsonpath) {
            let message = format!("could not identify an {operator} operator for type {}", expr.ty.name());
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        Ok(super::comparison::canonical(expr).expr)
    }

    /// The error 42883: no function of this name accepts these arguments.
    pub fn no_function(&self, name: &str, args: &[TypedExpr]) -> SqlError {
        let types: Vec<String> = args.iter().map(|arg| arg.ty.name()).collect();
        missing(name, &types)
    }

    /// Whether a type is a character string or unknown.
    pub(super) fn stringlike(ty: SqlType) -> bool {
        ty.is_string() || (!ty.array && ty.base == BaseType::SingleChar)
    }
}

fn missing(name: &str, types: &[String]) -> SqlError {
    SqlError::new(state::UNDEFINED_FUNCTION, format!("function {name}({}) does not exist", types.join(", ")))
        .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
}
