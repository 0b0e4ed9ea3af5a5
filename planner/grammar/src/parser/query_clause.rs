//! The clauses behind a query's body: ORDER BY, LIMIT, OFFSET, FETCH, FOR UPDATE and its kin, AS OF SYSTEM TIME.

use super::Parser;
use super::expression::Context;
use super::operator_stack::Operand;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Expr, ExprKind, Limit, Literal, LockClause, LockStrength, LockWait, Operator, Query, SortItem};

/// The clauses as written.
#[derive(Debug, Default)]
pub(super) struct QueryClauses {
    order_by: Vec<SortItem>,
    limit: Option<Limit>,
    /// The place of ALL in LIMIT ALL.
    limit_all: Option<Span>,
    offset: Option<Expr>,
    locks: Vec<LockClause>,
    as_of: Option<Expr>,
}

impl QueryClauses {
    /// Adds AS OF SYSTEM TIME behind FROM.
    pub(super) fn read_at(&mut self, as_of: Expr) -> Result<()> {
        if let Some(second) = &self.as_of {
            return Err(SyntaxError::syntax("multiple AS OF SYSTEM TIME clauses not allowed").at(second.span));
        }
        self.as_of = Some(as_of);
        Ok(())
    }

    /// Adds the clauses to a query, which has its own if it stood in parentheses. Each may be given once.
    pub(super) fn add_to(self, query: &mut Query) -> Result<()> {
        let limits = self.limit.is_some() || self.limit_all.is_some() || self.offset.is_some();
        if let Some(first) = self.order_by.first() {
            once("ORDER BY", query.order_by.is_empty(), first.value.span)?;
            query.order_by = self.order_by;
        }
        query.locks.extend(self.locks);
        if let Some(offset) = self.offset {
            once("OFFSET", query.offset.is_none(), offset.span)?;
            query.offset = Some(offset);
        }
        if let Some(place) = self.limit.as_ref().map(|limit| limit.count.span).or(self.limit_all) {
            once("LIMIT", query.limit.is_none(), place)?;
        }
        if limits && query.limit.as_ref().is_some_and(|limit| limit.with_ties) {
            return Err(SyntaxError::syntax("multiple limit options not allowed"));
        }
        if let Some(limit) = self.limit {
            if limit.with_ties && query.order_by.is_empty() {
                return Err(SyntaxError::syntax("WITH TIES cannot be specified without ORDER BY clause"));
            }
            if limit.with_ties && query.locks.iter().any(|lock| lock.wait == LockWait::SkipLocked) {
                let message = "SKIP LOCKED and WITH TIES options cannot be used together";
                return Err(SyntaxError::syntax(message));
            }
            query.limit = Some(limit);
        }
        if let Some(as_of) = self.as_of {
            once("AS OF SYSTEM TIME", query.as_of.is_none(), as_of.span)?;
            query.as_of = Some(as_of);
        }
        Ok(())
    }
}

fn once(clause: &str, first: bool, place: Span) -> Result<()> {
    if first { Ok(()) } else { Err(SyntaxError::syntax(format!("multiple {clause} clauses not allowed")).at(place)) }
}

impl Parser<'_> {
    pub(super) fn query_clauses(&mut self) -> Result<QueryClauses> {
        let mut clauses = QueryClauses::default();
        if self.word("order") {
            self.expect_word("by")?;
            clauses.order_by = self.sort_items()?;
        }
        let locks_first = self.locks(&mut clauses)?;
        self.limits(&mut clauses)?;
        if !locks_first {
            self.locks(&mut clauses)?;
        }
        clauses.as_of = self.optional_as_of()?;
        Ok(clauses)
    }

    /// Whether AS OF SYSTEM TIME is next, PercoSQL's own clause. PostgreSQL refuses these words everywhere.
    pub(crate) fn is_as_of(&self) -> bool {
        self.are_words(&["as", "of", "system", "time"])
    }

    /// AS OF SYSTEM TIME, if it is next. Errors: 42601.
    pub(crate) fn optional_as_of(&mut self) -> Result<Option<Expr>> {
        if self.words(&["as", "of", "system", "time"]) { self.expr().map(Some) } else { Ok(None) }
    }

    /// LIMIT, OFFSET and FETCH, in either order.
    fn limits(&mut self, clauses: &mut QueryClauses) -> Result<()> {
        let mut limited = false;
        loop {
            let start = self.here();
            if !limited && self.word("limit") {
                limited = true;
                self.limit_value(start, clauses)?;
            } else if !limited && self.word("fetch") {
                limited = true;
                clauses.limit = Some(self.fetch_value(start)?);
            } else if clauses.offset.is_none() && self.word("offset") {
                clauses.offset = Some(self.offset_value()?);
            } else {
                return Ok(());
            }
        }
    }

    fn limit_value(&mut self, span: Span, clauses: &mut QueryClauses) -> Result<()> {
        if self.word("all") {
            clauses.limit_all = Some(self.before());
        } else {
            clauses.limit = Some(Limit { count: self.expr()?, with_ties: false, span });
        }
        if self.sign(',') {
            self.expr()?;
            let error = SyntaxError::syntax("LIMIT #,# syntax is not supported");
            return Err(error.hint("Use separate LIMIT and OFFSET clauses.").at(span));
        }
        Ok(())
    }

    fn fetch_value(&mut self, span: Span) -> Result<Limit> {
        if self.one_word_of(&["first", "next"]).is_none() {
            return Err(self.error());
        }
        let count = if self.is_row_word() && (self.is_word_at(1, "only") || self.is_word_at(1, "with")) {
            // Without a number it is one row.
            Expr { kind: ExprKind::Literal(Literal::Integer("1".into())), span: Span::NONE }
        } else {
            self.row_count()?
        };
        if !self.is_row_word() {
            return Err(self.error());
        }
        self.skip();
        let with_ties = self.word("with");
        self.expect_word(if with_ties { "ties" } else { "only" })?;
        Ok(Limit { count, with_ties, span })
    }

    /// The value of OFFSET. Before ROW and ROWS PostgreSQL takes an operand or a number with a sign alone.
    fn offset_value(&mut self) -> Result<Expr> {
        let value = if self.is_signed_literal() && (self.is_word_at(2, "row") || self.is_word_at(2, "rows")) {
            self.row_count()?
        } else if self.is_prefix() {
            return self.expr();
        } else {
            let start = self.mark();
            let operand = self.primary(Context::General)?;
            if !self.is_row_word() {
                return self.expr_behind(operand, start);
            }
            operand
        };
        self.skip();
        Ok(value)
    }

    fn is_row_word(&self) -> bool {
        self.is_word("row") || self.is_word("rows")
    }

    fn is_signed_literal(&self) -> bool {
        (self.is_operator("+") || self.is_operator("-"))
            && matches!(self.peek_at(1).kind, TokenKind::Integer(_) | TokenKind::Decimal(_))
    }

    /// Whether something is next that begins an expression, but no operand.
    fn is_prefix(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Operator(_))
            || self.is_word("not")
            || self.is_word("default")
            || (self.is_word("operator") && self.is_sign_at(1, '('))
    }

    /// An operand without operators (c_expr).
    pub(super) fn operand_alone(&mut self) -> Result<Expr> {
        self.primary(Context::Restricted)
    }

    /// The rest of an expression whose first operand was read since `start`.
    fn expr_behind(&mut self, expr: Expr, start: usize) -> Result<Expr> {
        let first = Operand { expr, start, height: self.height + 1 };
        self.operators(Some(first), Context::General)
    }

    /// The number of rows of FETCH (select_fetch_first_value).
    fn row_count(&mut self) -> Result<Expr> {
        let sign = self.here();
        let Some(name) = ["+", "-"].into_iter().find(|name| self.operator(name)) else { return self.operand_alone() };
        if !matches!(self.peek().kind, TokenKind::Integer(_) | TokenKind::Decimal(_)) {
            return Err(self.error());
        }
        let operand = self.operand_alone()?;
        let span = sign.to(operand.span);
        let kind = match operand.kind {
            ExprKind::Literal(Literal::Integer(digits)) if name == "-" => {
                ExprKind::Literal(Literal::Integer(format!("-{digits}")))
            }
            ExprKind::Literal(Literal::Decimal(digits)) if name == "-" => {
                ExprKind::Literal(Literal::Decimal(format!("-{digits}")))
            }
            kind => {
                let op = Operator { schema: Vec::new(), sign: name.into(), span: sign };
                ExprKind::Unary { op, operand: Box::new(Expr { kind, span: operand.span }) }
            }
        };
        Ok(Expr { kind, span })
    }

    /// FOR UPDATE and its kin, as many as there are. Answers whether any was there.
    fn locks(&mut self, clauses: &mut QueryClauses) -> Result<bool> {
        if self.words(&["for", "read"]) {
            self.expect_word("only")?;
            return Ok(true);
        }
        while self.is_word("for") {
            let lock = self.lock()?;
            clauses.locks.push(lock);
        }
        Ok(!clauses.locks.is_empty())
    }

    fn lock(&mut self) -> Result<LockClause> {
        let start = self.mark();
        self.expect_word("for")?;
        let strength = match self.one_word_of(&["update", "share", "no", "key"]) {
            Some(0) => LockStrength::Update,
            Some(1) => LockStrength::Share,
            Some(2) => {
                self.expect_words(&["key", "update"])?;
                LockStrength::NoKeyUpdate
            }
            Some(_) => {
                self.expect_word("share")?;
                LockStrength::KeyShare
            }
            None => return Err(self.error()),
        };
        let of = if self.word("of") { self.list(Parser::qualified_name)? } else { Vec::new() };
        let wait = match self.one_word_of(&["nowait", "skip"]) {
            Some(0) => LockWait::NoWait,
            Some(_) => {
                self.expect_word("locked")?;
                LockWait::SkipLocked
            }
            None => LockWait::Wait,
        };
        Ok(LockClause { strength, of, wait, span: self.span_since(start) })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/query_clause.sql"));
    }
}
