//! Binds operators: chains, AND and OR, rows, lists, BETWEEN, quantified comparisons.

use super::binder::Binder;
use super::expression::Env;
use datafusion::logical_expr::{Expr, Operator};
use functions::{TypedExpr, balanced, in_list};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, BinaryOperator, Spanned, UnaryOperator};
use syntax::SYMMETRIC;
use types::SqlType;

impl Binder<'_> {
    /// Binds `a + b + c …`. The tree is left-deep and may be long, so it is walked in a loop.
    pub fn binary_chain(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        if let ast::Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = expr {
            return self.junction(expr, op, env);
        }
        let mut pending = Vec::new();
        let mut leftmost = expr;
        while let ast::Expr::BinaryOp { left, op, right } = leftmost {
            if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
                break;
            }
            pending.push((op, right.as_ref(), left.as_ref()));
            leftmost = left;
        }
        let compared = |op: &BinaryOperator| {
            use BinaryOperator as B;
            matches!(op, B::Eq | B::NotEq | B::Lt | B::Gt | B::LtEq | B::GtEq)
        };
        let chained =
            pending.iter().zip(pending.iter().skip(1)).find(|((op, ..), (inner, ..))| compared(op) && compared(inner));
        if let Some(((op, right, left), _)) = chained {
            let sign = op.to_string();
            let between = (Some(left.span().end), Some(right.span().start));
            let error = SqlError::syntax(format!("syntax error at or near \"{sign}\""));
            return Err(self.source.error_at_token(error, between, false, |token| token == sign, expr.span()));
        }
        if let (Some(left), [(op, right, _)]) = (row_items(leftmost), pending.as_slice()) {
            let at = |error| self.at_operator(error, &op.to_string(), Some(leftmost), right);
            if let Some(items) = row_items(right) {
                return self.row_comparison(&left, op, &items, env).map_err(at);
            }
            if let ast::Expr::Subquery(query) = right {
                let env = Env { conjunct: false, ..env };
                let right = self.row_subquery(query, left.len(), env)?;
                let left: Vec<TypedExpr> = left.into_iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
                return self.compare_rows(&left, op, &right).map_err(at);
            }
        }
        for (_, right, left) in &pending {
            self.check_collations(left, right)?;
        }
        let env = Env { conjunct: false, ..env };
        // In PostgreSQL, prefix operators except signs bind less tightly than arithmetic: ~ 1 + 2 is ~ (1 + 2).
        let mut prefix = match leftmost {
            ast::Expr::UnaryOp { op, expr }
                if binds_loosely(*op) && pending.iter().any(|(op, ..)| is_arithmetic(op)) =>
            {
                leftmost = expr;
                Some(op.to_string())
            }
            _ => None,
        };
        let mut result = self.expr(leftmost, env)?;
        for (op, right, left) in pending.into_iter().rev() {
            if let Some(symbol) = prefix.take_if(|_| !is_arithmetic(op)) {
                result = self.resolver.operator(&symbol, None, result)?;
            }
            let symbol = self.operator_symbol(op)?;
            let typed = self.expr(right, env)?;
            let found = self.resolver.operator(&symbol, Some(result), typed);
            result = found.map_err(|error| self.at_operator(error, &symbol, Some(left), right))?;
        }
        match prefix {
            Some(symbol) => self.resolver.operator(&symbol, None, result),
            None => Ok(result),
        }
    }

    /// Binds a chain of AND or of OR to a balanced tree.
    fn junction(&self, expr: &ast::Expr, op: &BinaryOperator, env: Env<'_>) -> Result<TypedExpr> {
        let mut operands = Vec::new();
        let mut rest = expr;
        while let ast::Expr::BinaryOp { left, op: other, right } = rest {
            if other != op {
                break;
            }
            operands.push(right.as_ref());
            rest = left;
        }
        operands.push(rest);
        let env = Env { conjunct: env.conjunct && *op == BinaryOperator::And, ..env };
        let name = if *op == BinaryOperator::And { "AND" } else { "OR" };
        let mut bound = Vec::with_capacity(operands.len());
        for operand in operands.into_iter().rev() {
            let before = self.row_functions.borrow().len();
            let typed = self.expr(operand, env)?;
            self.no_set(before, name, operand)?;
            bound.push(self.condition(typed, name, operand)?);
        }
        let (operator, bound) = match op {
            BinaryOperator::And => (Operator::And, bound),
            _ => (Operator::Or, in_list::merged(bound)),
        };
        Ok(TypedExpr { expr: balanced(bound, operator), ty: SqlType::BOOL })
    }

    fn row_comparison(
        &self,
        left: &[&ast::Expr],
        op: &BinaryOperator,
        right: &[&ast::Expr],
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let env = Env { conjunct: false, ..env };
        if left.len() != right.len() {
            return Err(SqlError::syntax("unequal number of entries in row expressions"));
        }
        let left: Vec<TypedExpr> = left.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        let right: Vec<TypedExpr> = right.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        self.compare_rows(&left, op, &right)
    }

    /// Compares rows of equal length.
    pub fn compare_rows(&self, left: &[TypedExpr], op: &BinaryOperator, right: &[TypedExpr]) -> Result<TypedExpr> {
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
        let expr = match op {
            BinaryOperator::Eq => balanced(all("=")?, Operator::And),
            BinaryOperator::NotEq => balanced(all("<>")?, Operator::Or),
            BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq => {
                let strict = if matches!(op, BinaryOperator::Lt | BinaryOperator::LtEq) { "<" } else { ">" };
                let last = left.len() - 1;
                let mut result = compare(&op.to_string(), last)?;
                for at in (0..last).rev() {
                    result = compare(strict, at)?.or(compare("=", at)?.and(result));
                }
                result
            }
            other => {
                // An operator that the fields lack is reported as missing. PostgreSQL knows others by operator classes.
                all(&other.to_string())?;
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
                any.push(self.row_comparison(&left, &BinaryOperator::Eq, &right, env)?.expr);
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
    pub fn between(
        &self,
        expr: &ast::Expr,
        negated: bool,
        low: &ast::Expr,
        high: &ast::Expr,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let unmarked = unmarked(low);
        let symmetric = unmarked.is_some();
        let operand = |expr: &ast::Expr| -> Result<Vec<TypedExpr>> {
            match row_items(expr) {
                Some(items) => items.into_iter().map(|item| self.expr(item, env)).collect(),
                None => Ok(vec![self.expr(expr, env)?]),
            }
        };
        let before = self.row_functions.borrow().len();
        let value = operand(expr)?;
        let low = operand(unmarked.as_ref().unwrap_or(low))?;
        let high = operand(high)?;
        self.no_set(before, if negated { "OR" } else { "AND" }, expr)?;
        if low.len() != value.len() || high.len() != value.len() {
            return Err(SqlError::syntax("unequal number of entries in row expressions"));
        }
        use BinaryOperator::{Gt, GtEq, Lt, LtEq};
        let (first, second) = if negated { (Lt, Gt) } else { (GtEq, LtEq) };
        let between = |low: &[TypedExpr], high: &[TypedExpr]| -> Result<Expr> {
            let low = self.compare_rows(&value, &first, low)?.expr;
            let high = self.compare_rows(&value, &second, high)?.expr;
            Ok(if negated { low.or(high) } else { low.and(high) })
        };
        let mut expr = between(&low, &high)?;
        if symmetric {
            let turned = between(&high, &low)?;
            expr = if negated { expr.and(turned) } else { expr.or(turned) };
        }
        Ok(TypedExpr { expr, ty: SqlType::BOOL })
    }

    /// Binds `x LIKE pattern` and similar operators.
    pub fn like(
        &self,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        operator: &str,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if let (Some(array), None) = (super::special::all_of(pattern), escape) {
            return self.quantified_pattern(expr, operator, array, true, env);
        }
        self.check_collations(expr, pattern)?;
        if let (Some(left), Some(right), None) = (row_items(expr), row_items(pattern), escape) {
            for (left, right) in left.into_iter().zip(right) {
                let (left, right) = (self.expr(left, env)?, self.expr(right, env)?);
                self.resolver
                    .operator(operator, Some(left), right)
                    .map_err(|error| self.at_like(error, expr, pattern))?;
            }
            let message = format!("could not determine interpretation of row comparison operator {operator}");
            let error = SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
                .hint("Row comparison operators must be associated with btree operator families.");
            return Err(self.at_like(error, expr, pattern));
        }
        let left = self.expr(expr, env)?;
        let mut right = self.expr(pattern, env)?;
        if let Some(escape) = escape {
            let escape = self.expr(escape, env)?;
            right = self.resolver.like_escape(right, escape)?;
        }
        self.resolver.operator(operator, Some(left), right).map_err(|error| self.at_like(error, expr, pattern))
    }

    /// Binds `text LIKE ANY (patterns)` and similar forms.
    pub fn quantified_pattern(
        &self,
        expr: &ast::Expr,
        symbol: &str,
        patterns: &ast::Expr,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let mut inner = patterns;
        while let ast::Expr::Nested(nested) = inner {
            inner = nested;
        }
        if let ast::Expr::Subquery(query) = inner {
            let found = self.compared_with_each(expr, symbol, query, all, env);
            return found.map_err(|error| self.at_like(error, expr, patterns));
        }
        let env = Env { conjunct: false, ..env };
        let (left, found) = (self.expr(expr, env)?, self.expr(inner, env)?);
        self.resolver.quantified(symbol, left, found, all).map_err(|error| self.at_like(error, expr, patterns))
    }

    /// Binds `left op ANY|ALL (right)` with a subquery or an array.
    pub fn quantified(
        &self,
        left: &ast::Expr,
        op: &BinaryOperator,
        right: &ast::Expr,
        all: bool,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let mut inner = right;
        while let ast::Expr::Nested(nested) = inner {
            inner = nested;
        }
        if let ast::Expr::Subquery(query) = inner {
            return self.quantified_subquery(left, op, query, all, env);
        }
        let env = Env { conjunct: false, ..env };
        let symbol = self.operator_symbol(op)?;
        let at = |error| self.at_operator(error, &symbol, Some(left), right);
        let left = self.expr(left, env)?;
        // An array constructor is a list.
        if let ast::Expr::Array(array) = inner
            && !array.elem.is_empty()
            && ((symbol == "=" && !all) || (symbol == "<>" && all))
        {
            let items: Vec<TypedExpr> = array.elem.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
            if !items.iter().any(|item| item.ty.array) {
                return self.resolver.in_array(&symbol, left, items, all).map_err(at);
            }
            let right = self.resolver.array(items)?;
            return self.resolver.quantified(&symbol, left, right, all).map_err(at);
        }
        let array = self.expr(inner, env)?;
        self.resolver.quantified(&symbol, left, array, all).map_err(at)
    }
}

/// The lower bound of BETWEEN SYMMETRIC without its mark. `None` for other BETWEENs.
pub fn unmarked(low: &ast::Expr) -> Option<ast::Expr> {
    let ast::Expr::BinaryOp { left, op, right } = low else { return None };
    match left.as_ref() {
        ast::Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value == SYMMETRIC => {
            Some(right.as_ref().clone())
        }
        left => Some(ast::Expr::BinaryOp { left: Box::new(unmarked(left)?), op: op.clone(), right: right.clone() }),
    }
}

/// The items of `(a, b)` or `ROW(a, b)`.
pub fn row_items(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match expr {
        ast::Expr::Nested(inner) => row_items(inner),
        ast::Expr::Tuple(items) => Some(items.iter().collect()),
        ast::Expr::Function(function) if is_row(expr) => {
            let ast::FunctionArguments::List(list) = &function.args else { return None };
            list.args
                .iter()
                .map(|arg| match arg {
                    ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr),
                    _ => None,
                })
                .collect()
        }
        _ => None,
    }
}

/// Whether the expression is `ROW(…)`.
pub fn is_row(expr: &ast::Expr) -> bool {
    let ast::Expr::Function(function) = expr else { return false };
    let named = matches!(function.name.0.as_slice(), [ast::ObjectNamePart::Identifier(ident)]
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("row"));
    let ast::FunctionArguments::List(list) = &function.args else { return false };
    let plain = function.over.is_none() && function.filter.is_none() && function.within_group.is_empty();
    named && plain && list.clauses.is_empty() && list.duplicate_treatment.is_none()
}

/// Whether a prefix operator binds less tightly than arithmetic: all but signs and NOT.
fn binds_loosely(op: UnaryOperator) -> bool {
    !matches!(op, UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not)
}

fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Plus | B::Minus | B::Multiply | B::Divide | B::Modulo | B::PGExp)
}
