//! Binds scalar expressions to typed expressions.

use super::binder::Binder;
use super::computed_once::computed_once;
use super::literal::{boolean, null, text};
use super::scope::Scope;
use super::type_name::catalog_type;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, WindowFrameUnits};
use functions::error_position::place_literal;
use functions::{CastContext, TypedExpr, guarded_case};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, BinaryOperator, Spanned, UnaryOperator};
use sqlparser::tokenizer::Span;
use syntax::{fold, fold_name, fold_plain};
use types::SqlType;

/// The environment of an expression: visible names and allowed contents.
#[derive(Clone, Copy)]
pub struct Env<'s> {
    /// The names that are visible.
    pub scope: &'s Scope<'s>,
    /// The clause that contains the expression.
    pub clause: Clause,
    /// Named windows of the query.
    pub windows: &'s [ast::NamedWindowDefinition],
    /// Whether false and NULL have the same effect. This holds for a condition of WHERE or HAVING and for its parts
    /// joined by AND.
    pub conjunct: bool,
}

/// The clause that contains an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Clause {
    Select,
    Where,
    GroupBy,
    Having,
    OrderBy,
    JoinOn,
    Limit,
    Offset,
    Values,
    Check,
    Generated,
    IndexExpression,
    IndexPredicate,
    Transform,
    CopyFrom,
    Default,
    Returning,
    Update,
    MergeWhen,
    Filter,
    Aggregate,
    Window,
    WindowDefinition,
    FromFunction,
    /// A query in FROM that sees the items on its left.
    FromQuery,
    Execute,
    FrameOffset(WindowFrameUnits),
}

impl Clause {
    /// The clause's name in error messages.
    pub fn name(self) -> &'static str {
        match self {
            Clause::Select => "SELECT",
            Clause::Where => "WHERE",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::OrderBy => "ORDER BY",
            Clause::JoinOn => "JOIN/ON",
            Clause::Limit => "LIMIT",
            Clause::Offset => "OFFSET",
            Clause::Values => "VALUES",
            Clause::Check => "check constraints",
            Clause::Generated => "column generation expressions",
            Clause::IndexExpression => "index expressions",
            Clause::IndexPredicate => "index predicates",
            Clause::Transform => "transform expressions",
            Clause::CopyFrom => "COPY FROM WHERE conditions",
            Clause::Default => "DEFAULT expressions",
            Clause::Returning => "RETURNING",
            Clause::Update => "UPDATE",
            Clause::MergeWhen => "MERGE WHEN conditions",
            Clause::Filter => "FILTER",
            Clause::Aggregate => "aggregate function calls",
            Clause::Window | Clause::WindowDefinition => "window definitions",
            Clause::FromFunction => "functions in FROM",
            Clause::FromQuery => "FROM clause of their own query level",
            Clause::Execute => "EXECUTE parameters",
            Clause::FrameOffset(WindowFrameUnits::Rows) => "window ROWS",
            Clause::FrameOffset(WindowFrameUnits::Range) => "window RANGE",
            Clause::FrameOffset(WindowFrameUnits::Groups) => "window GROUPS",
        }
    }
}

impl<'s> Env<'s> {
    /// The environment of a clause without named windows.
    pub fn new(scope: &'s Scope<'s>, clause: Clause) -> Self {
        Env { scope, clause, windows: &[], conjunct: false }
    }
    /// The same environment in another clause.
    pub fn within(self, clause: Clause) -> Self {
        Env { clause, ..self }
    }
}

impl Binder<'_> {
    /// Binds an expression without columns.
    pub fn constant(&self, expr: &ast::Expr, _what: &str) -> Result<TypedExpr> {
        let scope = Scope::empty(None);
        self.expr(expr, Env::new(&scope, Clause::Execute))
    }

    /// Binds the condition of a clause.
    pub fn predicate(&self, expr: &ast::Expr, env: Env<'_>) -> Result<Expr> {
        let conjunct = env.conjunct || matches!(env.clause, Clause::Where | Clause::Having);
        let typed = self.expr(expr, Env { conjunct, ..env })?;
        self.condition(typed, env.clause.name(), expr)
    }

    /// Binds an expression. An error gets the expression's position unless a part of it gave one.
    pub fn expr(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        sql_error::interrupt::step()?;
        self.expr_inner(expr, env)
            .map_err(|error| if error.fields().position.is_some() { error } else { self.at_anchor(error, expr) })
    }

    fn expr_inner(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        use ast::Expr as E;
        let condition = env;
        let env = Env { conjunct: false, ..env };
        match expr {
            E::Identifier(ident) if keyword_value(ident) => {
                self.niladic(&fold(ident))?.ok_or_else(|| SqlError::unsupported(ident.value.to_uppercase()))
            }
            E::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default") => {
                Err(SqlError::syntax("DEFAULT is not allowed in this context"))
            }
            E::Identifier(ident) => {
                let name = self.at_name(ident)?;
                // The name of a relation means its whole row.
                env.scope.column(&name).or_else(|error| match env.scope.find_relation(None, &name) {
                    Ok(_) if error.state() == state::UNDEFINED_COLUMN => self.whole_row(None, &name, env.scope),
                    _ => Err(self.explain_name(error, env.scope, None, &name)),
                })
            }
            E::CompoundIdentifier(parts) => self.compound(parts, env),
            E::Value(value) => Ok(place_literal(self.value(&value.value)?, self.source.start(value.span))),
            E::Nested(inner) => self.expr(inner, condition),
            E::BinaryOp { op: BinaryOperator::And, .. } => self.binary_chain(expr, condition),
            E::BinaryOp { op: BinaryOperator::Overlaps, left, right } => {
                self.overlaps(left, right, env).map_err(|error| self.at_word(error, left, "overlaps"))
            }
            E::BinaryOp { .. } => self.binary_chain(expr, env),
            E::UnaryOp { op, expr } => self.unary(op, expr, env),
            E::IsNull(inner) => Ok(self.null_test(inner, env, false)?),
            E::IsNotNull(inner) => Ok(self.null_test(inner, env, true)?),
            E::IsTrue(inner) => self.truth_test(inner, env, |x| truth(x, Operator::IsNotDistinctFrom, true), "IS TRUE"),
            E::IsNotTrue(inner) => {
                self.truth_test(inner, env, |x| truth(x, Operator::IsDistinctFrom, true), "IS NOT TRUE")
            }
            E::IsFalse(inner) => {
                self.truth_test(inner, env, |x| truth(x, Operator::IsNotDistinctFrom, false), "IS FALSE")
            }
            E::IsNotFalse(inner) => {
                self.truth_test(inner, env, |x| truth(x, Operator::IsDistinctFrom, false), "IS NOT FALSE")
            }
            E::IsUnknown(inner) => self.truth_test(inner, env, Expr::IsNull, "IS UNKNOWN"),
            E::IsNotUnknown(inner) => self.truth_test(inner, env, Expr::IsNotNull, "IS NOT UNKNOWN"),
            E::IsDistinctFrom(left, right) | E::IsNotDistinctFrom(left, right) => {
                let distinct = matches!(expr, E::IsDistinctFrom(..));
                let found = self.distinct_from(left, right, env, distinct);
                found.map_err(|error| self.at_word(error, left, "is"))
            }
            E::InList { expr, list, negated } => {
                self.in_list(expr, list, *negated, env).map_err(|error| self.at_word(error, expr, "in"))
            }
            E::InSubquery { expr: left, subquery, negated } => {
                self.bound_once(expr, condition, || self.in_subquery(left, subquery, *negated, condition))
            }
            E::Between { expr, negated, low, high } => {
                self.between(expr, *negated, low, high, env).map_err(|error| self.at_word(error, expr, "between"))
            }
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), if *negated { "!~~" } else { "~~" }, env)
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), if *negated { "!~~*" } else { "~~*" }, env)
            }
            E::Like { negated, any: true, expr, pattern, escape_char: None } => {
                self.quantified_pattern(expr, if *negated { "!~~" } else { "~~" }, pattern, false, condition)
            }
            E::ILike { negated, any: true, expr, pattern, escape_char: None } => {
                self.quantified_pattern(expr, if *negated { "!~~*" } else { "~~*" }, pattern, false, condition)
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let left = self.expr(expr, env)?;
                let mut args = vec![self.expr(pattern, env)?];
                if let Some(escape) = escape_char {
                    args.push(self.expr(escape, env)?);
                }
                let found = self
                    .resolver
                    .syntax_function("similar_to_escape", args)
                    .and_then(|pattern| self.resolver.operator(if *negated { "!~" } else { "~" }, Some(left), pattern));
                found.map_err(|error| self.at_word(error, expr, "similar"))
            }
            E::AnyOp { left, compare_op, right, is_some: _ } => {
                self.bound_once(expr, condition, || self.quantified(left, compare_op, right, false, condition))
            }
            E::AllOp { left, compare_op, right } => {
                self.bound_once(expr, condition, || self.quantified(left, compare_op, right, true, condition))
            }
            E::Cast {
                kind: kind @ (ast::CastKind::Cast | ast::CastKind::DoubleColon),
                expr,
                data_type,
                format: None,
            } => {
                let to = self.type_of(data_type).map_err(|error| {
                    // `name 'text'` is parsed as a cast; the error's position is the name's.
                    let named = match data_type {
                        ast::DataType::Custom(name, _) => super::binder::span_of(name),
                        _ => Span::empty(),
                    };
                    let before = named != Span::empty() && named.start < expr.span().start;
                    if before { self.at(error, named) } else { self.at_type(error, kind, expr) }
                })?;
                // ARRAY[]::int[] gets its type from the cast.
                if let E::Array(array) = expr.as_ref()
                    && super::special::without_elements(array)
                    && to.array
                {
                    return self.empty_array(to);
                }
                if let Some(array) = self.array_as(expr, to, env)? {
                    let cast = self.resolver.cast(array, to, CastContext::Explicit);
                    return cast.map_err(|error| self.at_cast(error, kind, expr));
                }
                let row = self.row_as(expr, to, env).map_err(|error| match error.state() {
                    state::CANNOT_COERCE => self.at_cast(error, kind, expr),
                    _ => error,
                })?;
                if let Some(row) = row {
                    return Ok(row);
                }
                let inner = self.expr(expr, env)?;
                let cast = self.resolver.cast(inner, to, CastContext::Explicit);
                cast.map_err(|error| self.at_cast(error, kind, expr))
            }
            E::TypedString(typed) => {
                let ast::TypedString { data_type, value, uses_odbc_syntax } = typed;
                if *uses_odbc_syntax {
                    return Err(SqlError::unsupported("the escapes of ODBC"));
                }
                let to = match data_type {
                    // Before a string, char without a length is unlimited.
                    ast::DataType::Char(None) | ast::DataType::Character(None) => SqlType::CHAR,
                    other => self.type_of(other)?,
                };
                let text = place_literal(self.value(&value.value)?, self.source.start(value.span));
                self.resolver.cast(text, to, CastContext::Explicit)
            }
            E::AtTimeZone { timestamp, time_zone } => {
                let zone = self.expr(time_zone, env)?;
                let moment = self.expr(timestamp, env)?;
                let found = self.resolver.syntax_function("timezone", vec![zone, moment]);
                found.map_err(|error| self.at_word(error, timestamp, "at"))
            }
            E::Extract { .. }
            | E::Ceil { .. }
            | E::Floor { .. }
            | E::Position { .. }
            | E::Substring { .. }
            | E::Trim { .. }
            | E::Overlay { .. } => self.special_syntax(expr, env),
            E::IsNormalized { expr, form, negated } => {
                let mut args = vec![self.expr(expr, env)?];
                if let Some(form) = form {
                    args.push(self.word(&form.to_string()));
                }
                let found = self.resolver.syntax_function("is_normalized", args);
                let typed = found.map_err(|error| self.at_word(error, expr, "is"))?;
                Ok(if *negated { TypedExpr::new(Expr::Not(Box::new(typed.expr)), SqlType::BOOL) } else { typed })
            }
            E::Collate { expr, collation } => {
                let typed = self.expr(expr, env)?;
                let place = |error| {
                    let within = (Some(expr.span().end), Some(collation.span().start));
                    let says = |token: &str| token.eq_ignore_ascii_case("collate");
                    self.source.error_at_token(error, within, true, says, collation.span())
                };
                super::check_collatable(typed.ty).map_err(place)?;
                super::collation_named(collation).map_err(place)?;
                Ok(typed)
            }
            E::Function(function) => self.call(function, env),
            E::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), env)
            }
            E::Exists { subquery, negated } => self.bound_once(expr, env, || self.exists(subquery, *negated, env)),
            E::Subquery(query) => self.scalar_subquery(query, env),
            E::Array(array) => self.array(&array.elem, env),
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, env),
            E::Tuple(items) => {
                let fields = items.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
                self.row_value(fields)
            }
            E::QualifiedWildcard(name, _) => {
                let (schema, relation) = fold_name(name)?;
                self.whole_row(schema.as_deref(), &relation, env.scope)
            }
            E::Interval(interval) => self.interval(interval, env),
            E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => Err(SqlError::syntax("syntax error at or near \"(\"")),
            other => Err(SqlError::unsupported(format!("the expression {other}"))),
        }
    }

    /// The name of a column or relation as written. Errors: 42601 for a reserved word, with its position.
    pub fn at_name(&self, ident: &ast::Ident) -> Result<String> {
        fold_plain(ident).map_err(|error| self.at(error, ident.span))
    }

    fn compound(&self, parts: &[ast::Ident], env: Env<'_>) -> Result<TypedExpr> {
        let mut names: Vec<String> = parts.iter().map(fold).collect();
        if let (Some(first), Some(name)) = (parts.first(), names.first_mut()) {
            *name = self.at_name(first)?;
        }
        let (schema, relation, column) = match names.as_slice() {
            [relation, column] => (None, relation, column),
            [schema, relation, column] => (Some(schema.as_str()), relation, column),
            [database, schema, relation, column] => {
                self.own_database(database, &names.join("."))?;
                (Some(schema.as_str()), relation, column)
            }
            _ => {
                let message = format!("improper qualified name (too many dotted names): {}", names.join("."));
                return Err(SqlError::syntax(message));
            }
        };
        let found = env.scope.qualified(schema, relation, column).or_else(|error| match parts {
            [row, field] if error.state() == state::UNDEFINED_COLUMN => {
                self.function_as_field(ast::Expr::Identifier(row.clone()), field, env).ok_or(error)
            }
            _ => Err(error),
        });
        found.map_err(|error| self.explain_name(error, env.scope, Some(relation), column))
    }

    fn unary(&self, op: &UnaryOperator, operand: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        match op {
            UnaryOperator::Not => {
                let before = self.row_functions.borrow().len();
                let typed = self.expr(operand, env)?;
                self.no_set(before, "NOT", operand)?;
                let inner = self.condition(typed, "NOT", operand)?;
                Ok(TypedExpr { expr: Expr::Not(Box::new(inner)), ty: SqlType::BOOL })
            }
            // In PostgreSQL, signs bind more tightly than ^: -2 ^ 2 is (-2) ^ 2.
            UnaryOperator::Minus | UnaryOperator::Plus if is_power(operand) => {
                self.expr(&signed_base(*op, operand), env)
            }
            UnaryOperator::Minus if number(operand).is_some() => {
                self.number(&negated(number(operand).unwrap_or_default()))
            }
            UnaryOperator::PGPostfixFactorial => Err(SqlError::syntax("syntax error at or near \";\"")),
            other => {
                let typed = self.expr(operand, env)?;
                let symbol = other.to_string();
                let found = self.resolver.operator(&symbol, None, typed);
                found.map_err(|error| self.at_operator(error, &symbol, None, operand))
            }
        }
    }

    fn null_test(&self, operand: &ast::Expr, env: Env<'_>, negated: bool) -> Result<TypedExpr> {
        if let Some(items) = super::comparison::row_items(operand) {
            // A row is (not) null if each field is.
            let mut all = boolean(true).expr;
            for (at, item) in items.iter().enumerate() {
                let test = self.null_test(item, env, negated)?.expr;
                all = if at == 0 { test } else { all.and(test) };
            }
            return Ok(TypedExpr { expr: all, ty: SqlType::BOOL });
        }
        let typed = self.expr(operand, env)?;
        self.note_untyped(&typed);
        if typed.ty.as_record().is_some() {
            return Ok(functions::record::null_test(typed, negated));
        }
        let inner = Box::new(typed.expr);
        let expr = if negated { Expr::IsNotNull(inner) } else { Expr::IsNull(inner) };
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    fn truth_test(
        &self,
        operand: &ast::Expr,
        env: Env<'_>,
        make: fn(Box<Expr>) -> Expr,
        name: &str,
    ) -> Result<TypedExpr> {
        let before = self.row_functions.borrow().len();
        let typed = self.expr(operand, env)?;
        self.no_set(before, name, operand)?;
        let inner = self.condition(typed, name, operand)?;
        Ok(TypedExpr { expr: make(Box::new(inner)), ty: SqlType::BOOL })
    }

    fn case(
        &self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        // A bare string is text here, whatever it is compared with.
        let settled = |typed: TypedExpr| if typed.constant().is_some() { self.settle(typed) } else { Ok(typed) };
        let operand = operand.map(|operand| self.expr(operand, env).and_then(settled)).transpose()?;
        let row_functions = self.row_functions.borrow().len();
        let mut whens = Vec::new();
        let mut results = Vec::new();
        for when in conditions {
            let condition = match &operand {
                None => {
                    let typed = self.expr(&when.condition, env)?;
                    self.condition(typed, "CASE/WHEN", &when.condition)?
                }
                Some(operand) => {
                    let value = self.expr(&when.condition, env)?;
                    let equal = self.resolver.operator("=", Some(operand.clone()), value);
                    equal.map_err(|error| self.at_when(error, &when.condition))?.expr
                }
            };
            whens.push(condition);
            results.push(self.expr(&when.result, env)?);
        }
        // PostgreSQL considers ELSE first.
        let first = otherwise.or(conditions.first().map(|when| &when.result)).into_iter();
        let places: Vec<&ast::Expr> = first.chain(conditions.iter().map(|when| &when.result)).collect();
        let results_written = conditions.iter().map(|when| &when.result).chain(otherwise);
        self.check_all_collations(&results_written.collect::<Vec<_>>())?;
        let otherwise = match otherwise {
            Some(expr) => self.expr(expr, env)?,
            None => null(),
        };
        self.no_row_functions(row_functions, "CASE")?;
        let mut types = vec![otherwise.ty];
        types.extend(results.iter().map(|result| result.ty));
        let ty = self.resolver.common_type("CASE", &types);
        let ty = ty.map_err(|error| self.at_mismatch(error, &places, &types))?;
        let mut branches = Vec::new();
        for (when, result) in whens.into_iter().zip(results) {
            branches.push((when, self.coerce(result, ty)?.expr));
        }
        let otherwise = self.coerce(otherwise, ty)?.expr;
        let mut case = guarded_case::case(branches, Some(otherwise));
        if let (Some(_), Expr::Case(case)) = (operand, &mut case)
            && let Some(operand) = computed_once(&mut case.when_then_expr)
        {
            case.expr = Some(operand);
        }
        Ok(TypedExpr { expr: case, ty })
    }

    /// Converts expressions to their common type.
    pub fn unify(&self, context: &str, items: Vec<TypedExpr>) -> Result<(Vec<Expr>, SqlType)> {
        let types: Vec<SqlType> = items.iter().map(|item| item.ty).collect();
        let mut ty = self.resolver.common_type(context, &types)?;
        if ty == SqlType::UNKNOWN {
            ty = SqlType::TEXT;
        }
        let items: Result<Vec<Expr>> = items.into_iter().map(|item| Ok(self.coerce(item, ty)?.expr)).collect();
        Ok((items?, ty))
    }

    /// The type that a name refers to.
    pub fn type_of(&self, name: &ast::DataType) -> Result<SqlType> {
        let path = self.resolver.settings.search_path();
        let ty = catalog_type(name, self.resolver.catalog, path, self.depth > 0)?;
        if ty.row_of().is_some() && (self.kept || !self.looks_into_views()) {
            return Err(SqlError::unsupported("the type of a table's rows in what is kept"));
        }
        Ok(ty)
    }

    /// PostgreSQL's symbol of the operator in `a OPERATOR b`.
    pub fn operator_symbol(&self, op: &BinaryOperator) -> Result<String> {
        let symbol = match op {
            BinaryOperator::PGCustomBinaryOperator(parts) => match parts.as_slice() {
                [symbol] => symbol.clone(),
                [schema, symbol] if schema.eq_ignore_ascii_case("pg_catalog") => symbol.clone(),
                _ => {
                    let message = format!("operator does not exist: {}", parts.join("."));
                    return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
                }
            },
            BinaryOperator::Custom(symbol) => symbol.clone(),
            BinaryOperator::NotEq => "<>".into(),
            BinaryOperator::Overlaps => return Err(SqlError::unsupported("OVERLAPS")),
            other => other.to_string(),
        };
        Ok(symbol)
    }

    /// A text constant as an argument of a function.
    pub fn word(&self, value: &str) -> TypedExpr {
        text(value)
    }
}

/// Whether a name is a keyword with a value that is parsed as a name.
fn keyword_value(ident: &ast::Ident) -> bool {
    let words = ["current_schema", "current_role"];
    ident.quote_style.is_none() && words.iter().any(|word| ident.value.eq_ignore_ascii_case(word))
}

/// IS TRUE and similar tests as comparisons. DataFusion converts its own forms to these later, but first declares them
/// not nullable and then nullable, which is an error.
fn truth(operand: Box<Expr>, operator: Operator, value: bool) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(operand, operator, Box::new(boolean(value).expr)))
}

fn number(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => Some(digits.clone()),
            _ => None,
        },
        ast::Expr::Nested(inner) => number(inner),
        // PostgreSQL's grammar moves the sign into the constant, even through parentheses.
        ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(negated(number(expr)?)),
        _ => None,
    }
}

/// The number with the opposite sign.
fn negated(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(digits) => digits.to_string(),
        None => format!("-{digits}"),
    }
}

fn is_power(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::BinaryOp { op: BinaryOperator::PGExp, .. })
}

/// A chain of powers with the sign moved to its leftmost operand.
fn signed_base(sign: UnaryOperator, expr: &ast::Expr) -> ast::Expr {
    match expr {
        ast::Expr::BinaryOp { left, op: op @ BinaryOperator::PGExp, right } => {
            ast::Expr::BinaryOp { left: Box::new(signed_base(sign, left)), op: op.clone(), right: right.clone() }
        }
        base => ast::Expr::UnaryOp { op: sign, expr: Box::new(base.clone()) },
    }
}
