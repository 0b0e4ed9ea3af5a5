//! The columns that INSERT, UPDATE and MERGE write (insert_column_item, set_clause).

use super::Parser;
use crate::error::Result;
use crate::tree::{Assignment, ColumnTarget, Overriding};

impl Parser<'_> {
    /// The assignments behind SET. Errors: 42601.
    pub(super) fn assignments(&mut self) -> Result<Vec<Assignment>> {
        self.list(Parser::assignment)
    }

    fn assignment(&mut self) -> Result<Assignment> {
        if self.is_sign('(') {
            let columns = self.list_in_parentheses(Parser::column_target)?;
            self.expect_equals()?;
            return Ok(Assignment::Several(columns, self.expr()?));
        }
        let column = self.column_target()?;
        self.expect_equals()?;
        Ok(Assignment::One(column, self.expr()?))
    }

    fn expect_equals(&mut self) -> Result<()> {
        if self.operator("=") { Ok(()) } else { Err(self.error()) }
    }

    /// A column that is written, with the steps to a part of it. Errors: 42601.
    pub(super) fn column_target(&mut self) -> Result<ColumnTarget> {
        let start = self.mark();
        let column = self.column_name()?;
        let steps = self.indirection()?;
        Ok(ColumnTarget { column, steps, span: self.span_since(start) })
    }

    /// OVERRIDING … VALUE, if it is next. Errors: 42601.
    pub(super) fn optional_overriding(&mut self) -> Result<Option<Overriding>> {
        if !self.word("overriding") {
            return Ok(None);
        }
        let kind = match self.one_word_of(&["system", "user"]) {
            Some(0) => Overriding::System,
            Some(_) => Overriding::User,
            None => return Err(self.error()),
        };
        self.expect_word("value")?;
        Ok(Some(kind))
    }
}
