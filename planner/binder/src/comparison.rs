//! Binds operators: chains, AND and OR, rows, lists, BETWEEN, quantified comparisons.

use super::binder::Binder;
use super::expression::Env;
use datafusion::logical_expr::{Expr, Operator};
use functions::{TypedExpr, balanced, in_list};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, ExprKind, Quantity};
use types::SqlType;

/// The operands and details of BETWEEN.
pub struct Between<'e> {
    /// The value.
    pub operand: &'e ast::Expr,
    /// The lower bound.
    pub low: &'e ast::Expr,
    /// The upper bound.
    pub high: &'e ast::Expr,
    /// Whether the bounds may be exchanged.
    pub symmetric: bool,
    /// Whether NOT was written.
    pub negated: bool,
}

impl Binder<'_> {
    /// Binds `a + b + c …`. The tree is left-deep and may be long, so it is walked in a loop.
    pub fn binary_chain(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let mut pending = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary { op, left, right } = &leftmost.kind {
            self.check_collations(left, right)?;
            pending.push((op, right.as_ref()));
            leftmost = left;
        }
        let env = Env { conjunct: false, ..env };
        let compared = match pending.last().copied() {
            Some((op, right)) => {
                self.row_operation(leftmost, op, right, env).map_err(|error| self.at(error, op.span))?
            }
            None => None,
        };
        let mut result = match compared {
            Some(compared) => {
                pending.pop();
                compared
            }
            None => self.expr(leftmost, env)?,
        };
        for (op, right) in pending.into_iter().rev() {
            let at = |error| self.at(error, op.span);
            let symbol = self.operator_symbol(op).map_err(at)?;
            let typed = self.expr(right, env)?;
            result = self.resolver.operator(&symbol, Some(result), typed).map_err(at)?;
        }
        Ok(result)
    }

    /// The comparison of a row with another one, or with a query. `None` for other operands.
    fn row_operation(
        &self,
        left: &ast::Expr,
        op: &ast::Operator,
        right: &ast::Expr,
        env: Env<'_>,
    ) -> Result<Option<TypedExpr>> {
        let Some(left) = row_items(left) else { return Ok(None) };
        if let Some(right) = row_items(right) {
            return self.row_comparison(&left, &self.operator_symbol(op)?, &right, env).map(Some);
        }
        let ExprKind::Query(query) = &right.kind else { return Ok(None) };
        let right = self.row_subquery(query, left.len(), env)?;
        let left: Vec<TypedExpr> = left.into_iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        self.compare_rows(&left, &self.operator_symbol(op)?, &right).map(Some)
    }

    /// Binds operands of AND or of OR to a balanced tree.
    pub fn junction(&self, operands: &[ast::Expr], operator: Operator, env: Env<'_>) -> Result<TypedExpr> {
        let env = Env { conjunct: env.conjunct && operator == Operator::And, ..env };
        let name = if operator == Operator::And { "AND" } else { "OR" };
        let mut bound = Vec::with_capacity(operands.len());
        for operand in operands {
            let before = self.row_functions.borrow().len();
            let typed = self.expr(operand, env)?;
            self.no_set(before, name, operand)?;
            bound.push(self.condition(typed, name, operand)?);
        }
        let bound = if operator == Operator::And { bound } else { in_list::merged(bound) };
        Ok(TypedExpr { expr: balanced(bound, operator), ty: SqlType::BOOL })
    }

    fn row_comparison(
        &self,
        left: &[&ast::Expr],
        symbol: &str,
        right: &[&ast::Expr],
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let env = Env { conjunct: false, ..env };
        if left.len() != right.len() {
            return Err(SqlError::syntax("unequal number of entries in row expressions"));
        }
        let left: Vec<TypedExpr> = left.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        let right: Vec<TypedExpr> = right.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        self.compare_rows(&left, symbol, &right)
    }

    /// Compares rows of equal length by the operator of this sign.
    pub fn compare_rows(&self, left: &[TypedExpr], symbol: &str, right: &[TypedExpr]) -> Result<TypedExpr> {
        let compare = |symbol: &str, at: usize| -> Result<Expr> {
            match (left.get(at), right.get(at)) {
                (Some(left), Some(right)) => {
                    Ok(self.resolver.operator(symbol, Some(left.clone()), right.clone())?.expr)
                }
                _ => Err(SqlError::internal("rows of different lengths")),
            }
        };
        if left.is_empty() {
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot compare rows of zero length"));
        }
        let all = |symbol: &str| -> Result<Vec<Expr>> { (0..left.len()).map(|at| compare(symbol, at)).collect() };
        let expr = match symbol {
            "=" => balanced(all("=")?, Operator::And),
            "<>" => balanced(all("<>")?, Operator::Or),
            "<" | "<=" | ">" | ">=" => {
                let strict = if symbol.starts_with('<') { "<" } else { ">" };
                let last = left.len() - 1;
                let mut result = compare(symbol, last)?;
                for at in (0..last).rev() {
                    result = compare(strict, at)?.or(compare("=", at)?.and(result));
                }
                result
            }
            other => {
                // An operator that the fields lack is reported as missing. PostgreSQL knows others by operator classes.
                all(other)?;
                return Err(SqlError::unsupported(format!("the operator {other} of rows")));
            }
        };
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds `IS [NOT] DISTINCT FROM`.
    pub fn distinct_from(
        &self,
        left: &ast::Expr,
        right: &ast::Expr,
        env: Env<'_>,
        distinct: bool,
    ) -> Result<TypedExpr> {
        let symbol = if distinct { "IS DISTINCT FROM" } else { "IS NOT DISTINCT FROM" };
        if let (Some(left), Some(right)) = (row_items(left), row_items(right)) {
            if left.len() != right.len() {
                return Err(SqlError::syntax("unequal number of entries in row expressions"));
            }
            let mut fields = Vec::new();
            for (left, right) in left.into_iter().zip(right) {
                let (left, right) = (self.expr(left, env)?, self.expr(right, env)?);
                fields.push(self.resolver.operator(symbol, Some(left), right)?.expr);
            }
            let expr = balanced(fields, if distinct { Operator::Or } else { Operator::And });
            return Ok(TypedExpr { expr, ty: SqlType::BOOL });
        }
        let left = self.expr(left, env)?;
        let right = self.expr(right, env)?;
        self.resolver.operator(symbol, Some(left), right)
    }

    /// Binds `IN (list)` and NOT IN.
    pub fn in_list(&self, expr: &ast::Expr, list: &[ast::Expr], negated: bool, env: Env<'_>) -> Result<TypedExpr> {
        if let Some(left) = row_items(expr) {
            let mut any = Vec::new();
            for item in list {
                let Some(right) = row_items(item) else {
                    let ty = self.expr(item, env)?.ty.name();
                    let message = format!("operator does not exist: record = {ty}");
                    return Err(SqlError::new(state::UNDEFINED_FUNCTION, message).hint(
                        "No operator matches the given name and argument types. You might need to add explicit type casts.",
                    ));
                };
                any.push(self.row_comparison(&left, "=", &right, env)?.expr);
            }
            let expr = balanced(any, Operator::Or);
            let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
            return Ok(TypedExpr { expr, ty: SqlType::BOOL });
        }
        let before = self.row_functions.borrow().len();
        let left = self.expr(expr, env)?;
        let items: Vec<TypedExpr> = list.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        if items.len() == 1 {
            // Several items are an array, which may differ from row to row.
            self.no_set(before, "IN", expr)?;
        }
        let tried = negated.then(|| (left.clone(), items.clone()));
        self.resolver.in_list(left, items, negated).map_err(|error| match tried {
            // NOT IN uses the inequality operator.
            Some((left, items)) if error.state() == state::UNDEFINED_FUNCTION => {
                let apart = |item| self.resolver.operator("<>", Some(left.clone()), item).err();
                items.into_iter().find_map(apart).unwrap_or(error)
            }
            _ => error,
        })
    }

    /// Binds `BETWEEN`, also the SYMMETRIC form.
    pub fn between(&self, between: &Between<'_>, env: Env<'_>) -> Result<TypedExpr> {
        let Between { operand, symmetric, negated, .. } = *between;
        let bound = |expr: &ast::Expr| -> Result<Vec<TypedExpr>> {
            match row_items(expr) {
                Some(items) => items.into_iter().map(|item| self.expr(item, env)).collect(),
                None => Ok(vec![self.expr(expr, env)?]),
            }
        };
        let before = self.row_functions.borrow().len();
        let value = bound(operand)?;
        let low = bound(between.low)?;
        let high = bound(between.high)?;
        self.no_set(before, if negated { "OR" } else { "AND" }, operand)?;
        if low.len() != value.len() || high.len() != value.len() {
            return Err(SqlError::syntax("unequal number of entries in row expressions"));
        }
        let (first, second) = if negated { ("<", ">") } else { (">=", "<=") };
        let within = |low: &[TypedExpr], high: &[TypedExpr]| -> Result<Expr> {
            let low = self.compare_rows(&value, first, low)?.expr;
            let high = self.compare_rows(&value, second, high)?.expr;
            Ok(if negated { low.or(high) } else { low.and(high) })
        };
        let mut expr = within(&low, &high)?;
        if symmetric {
            let turned = within(&high, &low)?;
            expr = if negated { expr.and(turned) } else { expr.or(turned) };
        }
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds `text LIKE pattern` and ILIKE, by the operator of this sign.
    pub fn like(
        &self,
        text: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        symbol: &str,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        self.check_collations(text, pattern)?;
        if let (Some(left), Some(right), None) = (row_items(text), row_items(pattern), escape) {
            for (left, right) in left.into_iter().zip(right) {
                let (left, right) = (self.expr(left, env)?, self.expr(right, env)?);
                self.resolver.operator(symbol, Some(left), right)?;
            }
            let message = format!("could not determine interpretation of row comparison operator {symbol}");
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
                .hint("Row comparison operators must be associated with btree operator families."));
        }
        let left = self.expr(text, env)?;
        let mut right = self.expr(pattern, env)?;
        if let Some(escape) = escape {
            let escape = self.expr(escape, env)?;
            right = self.resolver.like_escape(right, escape)?;
        }
        self.resolver.operator(symbol, Some(left), right)
    }

    /// Binds `text SIMILAR TO pattern`.
    pub fn similar(
        &self,
        text: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        negated: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let left = self.expr(text, env)?;
        let mut args = vec![self.expr(pattern, env)?];
        if let Some(escape) = escape {
            args.push(self.expr(escape, env)?);
        }
        let pattern = self.resolver.syntax_function("similar_to_escape", args)?;
        self.resolver.operator(if negated { "!~" } else { "~" }, Some(left), pattern)
    }

    /// Binds `left op ANY|ALL (right)` with a subquery or an array.
    pub fn quantified(
        &self,
        left: &ast::Expr,
        op: &ast::Operator,
        right: &Quantity,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let array = match right {
            Quantity::Query(query) => return self.quantified_subquery(left, op, query, all, env),
            Quantity::Array(array) => array,
        };
        let env = Env { conjunct: false, ..env };
        let symbol = self.operator_symbol(op)?;
        let left = self.expr(left, env)?;
        // An array constructor is a list.
        if let ExprKind::Array(items) = &array.kind
            && !items.is_empty()
            && ((symbol == "=" && !all) || (symbol == "<>" && all))
        {
            let items: Vec<TypedExpr> = items.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
            if !items.iter().any(|item| item.ty.array) {
                return self.resolver.in_array(&symbol, left, items, all);
            }
            let right = self.resolver.array(items)?;
            return self.resolver.quantified(&symbol, left, right, all);
        }
        let array = self.expr(array, env)?;
        self.resolver.quantified(&symbol, left, array, all)
    }
}

/// The items of `(a, b)` or `ROW(a, b)`. `None` for other expressions, and if the items include all columns of a
/// relation.
pub fn row_items(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match &expr.kind {
        ExprKind::Row { fields, .. } if !fields.iter().any(is_star) => Some(fields.iter().collect()),
        _ => None,
    }
}

/// Whether an item of a row stands for several: `t.*` or `(row).*`.
pub fn is_star(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Star(_) => true,
        ExprKind::Path { steps, .. } => matches!(steps.last(), Some(ast::Step::All(_))),
        _ => false,
    }
}
