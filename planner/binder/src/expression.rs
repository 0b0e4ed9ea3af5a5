//! Binds scalar expressions to typed expressions.

use super::binder::Binder;
use super::comparison::{Between, row_items};
use super::computed_once::computed_once;
use super::literal::{boolean, null, text};
use super::record::relation_of;
use super::scope::Scope;
use super::type_name::catalog_type;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, WindowFrameUnits};
use functions::error_position::place_literal;
use functions::{CastContext, TypedExpr, guarded_case};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, CastForm, ExprKind, LikeKind, TypeBase};
use syntax::{Span, deeper};
use types::SqlType;

/// The environment of an expression: visible names and allowed contents.
#[derive(Clone, Copy)]
pub struct Env<'s> {
    /// The names that are visible.
    pub scope: &'s Scope<'s>,
    /// The clause that contains the expression.
    pub clause: Clause,
    /// Named windows of the query.
    pub windows: &'s [ast::NamedWindow],
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
        deeper(|| self.expr_inner(expr, env)).map_err(|error| self.at_anchor(error, expr))
    }

    fn expr_inner(&self, expr: &ast::Expr, condition: Env<'_>) -> Result<TypedExpr> {
        let env = Env { conjunct: false, ..condition };
        match &expr.kind {
            ExprKind::Column(names) => self.column(names, env),
            ExprKind::Star(names) => {
                let (schema, relation) = relation_of(names)?;
                self.whole_row(schema, relation, env.scope)
            }
            ExprKind::Literal(value) => Ok(place_literal(self.value(value)?, self.source.start(expr.span))),
            ExprKind::Parameter(number) => self.parameter(*number),
            ExprKind::Default => Err(SqlError::syntax("DEFAULT is not allowed in this context")),
            ExprKind::And(operands) => self.junction(operands, Operator::And, condition),
            ExprKind::Or(operands) => self.junction(operands, Operator::Or, env),
            ExprKind::Not(operand) => match &operand.kind {
                ExprKind::Exists(query) => self.bound_once(expr, env, || self.exists(query, true, env)),
                _ => self.not(operand, env),
            },
            ExprKind::Unary { op, operand } => {
                let typed = self.expr(operand, env)?;
                self.resolver.operator(&self.operator_symbol(op)?, None, typed)
            }
            ExprKind::Binary { .. } => self.binary_chain(expr, env),
            ExprKind::IsNull { operand, negated } => self.null_test(operand, env, *negated),
            ExprKind::IsTruth { operand, truth, negated } => self.truth_test(operand, *truth, *negated, env),
            ExprKind::IsDistinct { left, right, negated, .. } => self.distinct_from(left, right, env, !*negated),
            ExprKind::IsNormalized { operand, form, negated, .. } => {
                let mut args = vec![self.expr(operand, env)?];
                if let Some(form) = form {
                    args.push(self.word(form));
                }
                let typed = self.resolver.syntax_function("is_normalized", args)?;
                Ok(if *negated { TypedExpr::new(Expr::Not(Box::new(typed.expr)), SqlType::BOOL) } else { typed })
            }
            ExprKind::Between { operand, low, high, symmetric, negated, .. } => {
                let (symmetric, negated) = (*symmetric, *negated);
                self.between(&Between { operand, low, high, symmetric, negated }, env)
            }
            ExprKind::InList { operand, list, negated, .. } => self.in_list(operand, list, *negated, env),
            ExprKind::InQuery { operand, query, negated, .. } => {
                self.bound_once(expr, condition, || self.in_subquery(operand, query, *negated, condition))
            }
            ExprKind::Like { kind, operand, pattern, escape, negated, .. } => {
                let escape = escape.as_deref();
                match (kind, negated) {
                    (LikeKind::Like, false) => self.like(operand, pattern, escape, "~~", env),
                    (LikeKind::Like, true) => self.like(operand, pattern, escape, "!~~", env),
                    (LikeKind::ILike, false) => self.like(operand, pattern, escape, "~~*", env),
                    (LikeKind::ILike, true) => self.like(operand, pattern, escape, "!~~*", env),
                    (LikeKind::SimilarTo, negated) => self.similar(operand, pattern, escape, *negated, env),
                }
            }
            ExprKind::Quantified { left, op, all, right } => {
                self.bound_once(expr, condition, || self.quantified(left, op, right, *all, condition))
            }
            ExprKind::Cast { operand, data_type, form, .. } => self.cast(operand, data_type, *form, env),
            ExprKind::Collate { operand, collation, .. } => {
                let typed = self.expr(operand, env)?;
                super::check_collatable(typed.ty)?;
                super::collation_named(collation)?;
                Ok(typed)
            }
            ExprKind::AtTimeZone { operand, zone, .. } => {
                let zone = self.expr(zone, env)?;
                let moment = self.expr(operand, env)?;
                self.resolver.syntax_function("timezone", vec![zone, moment])
            }
            ExprKind::Overlaps { left, right, .. } => self.overlaps(left, right, env),
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), env)
            }
            ExprKind::Call(call) => self.call(call, env),
            ExprKind::Special(call) => self.special(call, env),
            ExprKind::Row { fields, .. } => self.row_value(self.row_fields(fields, env)?),
            ExprKind::Array(items) => self.array(items, env),
            ExprKind::ArrayQuery(query) => self.array_subquery(query, env),
            ExprKind::Query(query) => self.scalar_subquery(query, env),
            ExprKind::Exists(query) => self.bound_once(expr, env, || self.exists(query, false, env)),
            ExprKind::Path { operand, steps } => self.access(operand, steps, env),
            ExprKind::CurrentOf(cursor) => self.current_of(cursor, env),
        }
    }

    /// Binds the name of a column, or of a field of a row.
    fn column(&self, names: &[ast::Ident], env: Env<'_>) -> Result<TypedExpr> {
        let (schema, relation, column) = match names {
            [name] => {
                let name = name.value.as_str();
                // The name of a relation means its whole row.
                return env.scope.column(name).or_else(|error| match env.scope.find_relation(None, name) {
                    Ok(_) if error.state() == state::UNDEFINED_COLUMN => self.whole_row(None, name, env.scope),
                    _ => Err(self.explain_name(error, env.scope, None, name)),
                });
            }
            [relation, column] => (None, relation.value.as_str(), column.value.as_str()),
            [schema, relation, column] => (Some(schema.value.as_str()), relation.value.as_str(), column.value.as_str()),
            [database, schema, relation, column] => {
                self.own_database(&database.value, &dotted(names))?;
                (Some(schema.value.as_str()), relation.value.as_str(), column.value.as_str())
            }
            _ => {
                let message = format!("improper qualified name (too many dotted names): {}", dotted(names));
                return Err(SqlError::syntax(message));
            }
        };
        let found = env.scope.qualified(schema, relation, column).or_else(|error| match names {
            [row, field] if error.state() == state::UNDEFINED_COLUMN => {
                let row = ast::Expr { kind: ExprKind::Column(vec![row.clone()]), span: row.span };
                self.function_as_field(row, field, env).ok_or(error)
            }
            _ => Err(error),
        });
        found.map_err(|error| self.explain_name(error, env.scope, Some(relation), column))
    }

    fn not(&self, operand: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let before = self.row_functions.borrow().len();
        let typed = self.expr(operand, env)?;
        self.no_set(before, "NOT", operand)?;
        let inner = self.condition(typed, "NOT", operand)?;
        Ok(TypedExpr { expr: Expr::Not(Box::new(inner)), ty: SqlType::BOOL })
    }

    fn null_test(&self, operand: &ast::Expr, env: Env<'_>, negated: bool) -> Result<TypedExpr> {
        if let Some(items) = row_items(operand) {
            // A row is (not) null if each field is.
            let mut all = boolean(true).expr;
            for (at, item) in items.iter().enumerate() {
                let test = deeper(|| self.null_test(item, env, negated))?.expr;
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

    /// IS TRUE and similar tests; UNKNOWN is `None`.
    fn truth_test(&self, operand: &ast::Expr, truth: Option<bool>, negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        let name = match (truth, negated) {
            (Some(true), false) => "IS TRUE",
            (Some(true), true) => "IS NOT TRUE",
            (Some(false), false) => "IS FALSE",
            (Some(false), true) => "IS NOT FALSE",
            (None, false) => "IS UNKNOWN",
            (None, true) => "IS NOT UNKNOWN",
        };
        let before = self.row_functions.borrow().len();
        let typed = self.expr(operand, env)?;
        self.no_set(before, name, operand)?;
        let inner = Box::new(self.condition(typed, name, operand)?);
        let expr = match truth {
            // DataFusion converts its own forms to comparisons later, but first declares them not nullable and then
            // nullable, which is an error.
            Some(value) => {
                let operator = if negated { Operator::IsDistinctFrom } else { Operator::IsNotDistinctFrom };
                Expr::BinaryExpr(BinaryExpr::new(inner, operator, Box::new(boolean(value).expr)))
            }
            None if negated => Expr::IsNotNull(inner),
            None => Expr::IsNull(inner),
        };
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds a cast of any form.
    fn cast(&self, operand: &ast::Expr, data_type: &ast::TypeName, form: CastForm, env: Env<'_>) -> Result<TypedExpr> {
        let to = match (&data_type.base, form) {
            // Before a string, char without a length is unlimited.
            (TypeBase::Char, CastForm::Constant) if data_type.modifiers.is_empty() => SqlType::CHAR,
            _ => self.type_of(data_type).map_err(|error| self.at(error, data_type.span))?,
        };
        // ARRAY[]::int[] gets its type from the cast.
        if let ExprKind::Array(items) = &operand.kind
            && super::special::without_elements(items)
            && to.array
        {
            return self.empty_array(to);
        }
        if let Some(array) = self.array_as(operand, to, env)? {
            return self.resolver.cast(array, to, CastContext::Explicit);
        }
        if let Some(row) = self.row_as(operand, to, env)? {
            return Ok(row);
        }
        let inner = self.expr(operand, env)?;
        self.resolver.cast(inner, to, CastContext::Explicit)
    }

    fn case(
        &self,
        written: Option<&ast::Expr>,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        // A bare string is text here, whatever it is compared with.
        let settled = |typed: TypedExpr| if typed.constant().is_some() { self.settle(typed) } else { Ok(typed) };
        let operand = written.map(|operand| self.expr(operand, env).and_then(settled)).transpose()?;
        let row_functions = self.row_functions.borrow().len();
        let mut whens = Vec::new();
        let mut results = Vec::new();
        let mut before = written.map_or(Span::NONE, |operand| operand.span);
        for (when, then) in branches {
            let condition = match &operand {
                None => {
                    let typed = self.expr(when, env)?;
                    self.condition(typed, "CASE/WHEN", when)?
                }
                Some(operand) => {
                    let value = self.expr(when, env)?;
                    let equal = self.resolver.operator("=", Some(operand.clone()), value);
                    equal.map_err(|error| self.at_when(error, before, when))?.expr
                }
            };
            whens.push(condition);
            results.push(self.expr(then, env)?);
            before = then.span;
        }
        // PostgreSQL considers ELSE first.
        let first = otherwise.or(branches.first().map(|(_, then)| then)).into_iter();
        let places: Vec<&ast::Expr> = first.chain(branches.iter().map(|(_, then)| then)).collect();
        let results_written = branches.iter().map(|(_, then)| then).chain(otherwise);
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
    pub fn type_of(&self, name: &ast::TypeName) -> Result<SqlType> {
        let path = self.resolver.settings.search_path();
        let ty = catalog_type(name, self.resolver.catalog, path, self.depth > 0)?;
        if ty.row_of().is_some() && (self.kept || !self.looks_into_views()) {
            return Err(SqlError::unsupported("the type of a table's rows in what is kept"));
        }
        Ok(ty)
    }

    /// The sign of an operator. Errors: 42883 for one of a schema other than `pg_catalog`.
    pub fn operator_symbol(&self, op: &ast::Operator) -> Result<String> {
        match op.schema.as_slice() {
            [] => Ok(op.sign.clone()),
            [schema] if schema.value == "pg_catalog" => Ok(op.sign.clone()),
            schema => {
                let message = format!("operator does not exist: {}.{}", dotted(schema), op.sign);
                Err(SqlError::new(state::UNDEFINED_FUNCTION, message))
            }
        }
    }

    /// A text constant as an argument of a function.
    pub fn word(&self, value: &str) -> TypedExpr {
        text(value)
    }
}

/// Names with points between them, without quotes.
fn dotted(names: &[ast::Ident]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
    names.join(".")
}
