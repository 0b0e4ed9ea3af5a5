//! SELECT: the select list and the clauses behind it (simple_select).

use super::Parser;
use crate::error::Result;
use crate::token::TokenKind;
use crate::tree::{Distinct, Expr, ExprKind, Into, Persistence, Select, Target};

/// The levels that a SELECT counts for. To drop one within others takes more of the stack than brackets do.
const SELECT_LEVELS: usize = 4;

impl Parser<'_> {
    /// Items of a select list or of RETURNING. Errors: 42601.
    pub fn targets(&mut self) -> Result<Vec<Target>> {
        self.list(Parser::target)
    }

    fn target(&mut self) -> Result<Target> {
        if self.operator("*") {
            let value = Expr { kind: ExprKind::Star(Vec::new()), span: self.before() };
            return Ok(Target { value, label: None });
        }
        let value = self.labelled_expr()?;
        let label = match () {
            () if self.is_as_of() => None,
            () if self.word("as") => Some(self.label()?),
            () if self.is_bare_label() => Some(self.take_ident()?),
            () => None,
        };
        Ok(Target { value, label })
    }

    /// RETURNING and its items, if it is next.
    pub(crate) fn optional_returning(&mut self) -> Result<Vec<Target>> {
        if self.word("returning") { self.targets() } else { Ok(Vec::new()) }
    }

    /// SELECT up to WINDOW, and the value of AS OF SYSTEM TIME behind FROM. Errors: 42601.
    pub(super) fn select(&mut self) -> Result<(Select, Option<Expr>)> {
        self.deeper_by(SELECT_LEVELS, Parser::select_clauses)
    }

    fn select_clauses(&mut self) -> Result<(Select, Option<Expr>)> {
        let start = self.mark();
        self.expect_word("select")?;
        let distinct = self.optional_distinct()?;
        let targets = if distinct.is_none() && self.is_behind_targets() { Vec::new() } else { self.targets()? };
        let into = self.optional_into()?;
        let from = if self.word("from") { self.from_items()? } else { Vec::new() };
        let as_of = self.optional_as_of()?;
        let filter = self.optional_where()?;
        let group_by = self.optional_group_by()?;
        let having = if self.word("having") { Some(self.expr()?) } else { None };
        let windows = if self.word("window") { self.list(Parser::named_window)? } else { Vec::new() };
        let span = self.span_since(start);
        Ok((Select { distinct, targets, into, from, filter, group_by, having, windows, span }, as_of))
    }

    /// WHERE, if it is next. Errors: 42601.
    pub(crate) fn optional_where(&mut self) -> Result<Option<Expr>> {
        if self.word("where") { self.expr().map(Some) } else { Ok(None) }
    }

    /// DISTINCT. ALL leaves no trace.
    fn optional_distinct(&mut self) -> Result<Option<Distinct>> {
        if self.word("all") || !self.word("distinct") {
            return Ok(None);
        }
        let span = self.before();
        let on = if self.word("on") { self.list_in_parentheses(Parser::expr)? } else { Vec::new() };
        Ok(Some(Distinct { on, span }))
    }

    /// Whether the next token stands behind an empty select list. All these words are reserved.
    fn is_behind_targets(&self) -> bool {
        const WORDS: [&str; 20] = [
            "into",
            "from",
            "where",
            "group",
            "having",
            "window",
            "union",
            "intersect",
            "except",
            "order",
            "limit",
            "offset",
            "fetch",
            "for",
            "with",
            "on",
            "returning",
            "as",
            // The next element of CREATE SCHEMA.
            "create",
            "grant",
        ];
        match self.peek().kind {
            TokenKind::Name { .. } => WORDS.iter().any(|word| self.is_word(word)),
            TokenKind::End | TokenKind::Sign(')' | ';') => true,
            _ => false,
        }
    }

    fn optional_into(&mut self) -> Result<Option<Into>> {
        if !self.word("into") {
            return Ok(None);
        }
        let span = self.before();
        let persistence = self.persistence_of_into();
        self.word("table");
        Ok(Some(Into { persistence, name: self.qualified_name()?, span }))
    }

    /// The kind of the table of INTO. The words may also be its name: then no further name follows.
    fn persistence_of_into(&mut self) -> Persistence {
        const LOCAL: [&str; 2] = ["local", "global"];
        const TEMPORARY: [&str; 2] = ["temp", "temporary"];
        let names_table = |at| self.is_word_at(at, "table") || self.is_column_name_at(at);
        let is_temporary = |at| TEMPORARY.iter().any(|word| self.is_word_at(at, word));
        let (persistence, words) = match () {
            () if LOCAL.iter().any(|word| self.is_word(word)) && is_temporary(1) => (Persistence::Temporary, 2),
            () if is_temporary(0) && names_table(1) => (Persistence::Temporary, 1),
            () if self.is_word("unlogged") && names_table(1) => (Persistence::Unlogged, 1),
            () => (Persistence::Permanent, 0),
        };
        (0..words).for_each(|_| self.skip());
        persistence
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/select.sql"));
    }
}
