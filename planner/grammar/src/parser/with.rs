//! WITH, and the SEARCH and CYCLE of its queries (with_clause).

use super::Parser;
use crate::error::Result;
use crate::keyword::Category;
use crate::token::TokenKind;
use crate::tree::{CastForm, CommonTable, Cycle, Expr, ExprKind, Search, With};

impl Parser<'_> {
    /// WITH, if it is next. Errors: 42601.
    pub fn optional_with(&mut self) -> Result<Option<With>> {
        let start = self.mark();
        if !self.word("with") {
            return Ok(None);
        }
        // RECURSIVE is a word of its own only where a name follows.
        let recursive = self.is_word("recursive") && self.is_column_name_at(1);
        if recursive {
            self.skip();
        }
        let queries = self.list(Parser::common_table)?;
        Ok(Some(With { recursive, queries, span: self.span_since(start) }))
    }

    fn common_table(&mut self) -> Result<CommonTable> {
        let start = self.mark();
        let name = self.column_name()?;
        let columns = self.optional_columns()?;
        self.expect_word("as")?;
        let materialized = if self.word("not") {
            self.expect_word("materialized")?;
            Some(false)
        } else {
            self.word("materialized").then_some(true)
        };
        self.expect_sign('(')?;
        let statement = Box::new(self.query_or_write()?);
        self.expect_sign(')')?;
        let search = self.optional_search()?;
        let cycle = self.optional_cycle()?;
        Ok(CommonTable { name, columns, materialized, statement, search, cycle, span: self.span_since(start) })
    }

    fn optional_search(&mut self) -> Result<Option<Search>> {
        let start = self.mark();
        if !self.word("search") {
            return Ok(None);
        }
        let Some(order) = self.one_word_of(&["depth", "breadth"]) else { return Err(self.error()) };
        self.expect_words(&["first", "by"])?;
        let columns = self.list(Parser::column_name)?;
        self.expect_word("set")?;
        let sequence = self.column_name()?;
        Ok(Some(Search { breadth_first: order == 1, columns, sequence, span: self.span_since(start) }))
    }

    fn optional_cycle(&mut self) -> Result<Option<Cycle>> {
        let start = self.mark();
        if !self.word("cycle") {
            return Ok(None);
        }
        let columns = self.list(Parser::column_name)?;
        self.expect_word("set")?;
        let mark = self.column_name()?;
        let mut values = None;
        if self.word("to") {
            let to = self.constant()?;
            self.expect_word("default")?;
            values = Some(Box::new((to, self.constant()?)));
        }
        self.expect_word("using")?;
        let path = self.column_name()?;
        Ok(Some(Cycle { columns, mark, values, path, span: self.span_since(start) }))
    }

    /// A constant (AexprConst). Errors: 42601.
    fn constant(&mut self) -> Result<Expr> {
        let error = self.error();
        let other = match &self.peek().kind {
            TokenKind::Name { value, keyword: Some(keyword), .. } => {
                keyword.category() == Category::Reserved && !["null", "true", "false"].contains(&value.as_str())
            }
            kind => matches!(kind, TokenKind::Sign(_) | TokenKind::Parameter(_)),
        };
        if other {
            return Err(error);
        }
        let value = self.operand_alone()?;
        match &value.kind {
            ExprKind::Literal(_) | ExprKind::Cast { form: CastForm::Constant, .. } => Ok(value),
            // These names could be those of types.
            ExprKind::Column(_) | ExprKind::Call(_) => Err(self.error()),
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/with.sql"));
    }
}
