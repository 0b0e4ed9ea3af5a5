//! GROUP BY (group_clause).

use super::Parser;
use crate::error::Result;
use crate::tree::{GroupBy, GroupItem};

impl Parser<'_> {
    /// GROUP BY, if it is next. Errors: 42601.
    pub(super) fn optional_group_by(&mut self) -> Result<Option<GroupBy>> {
        if !self.word("group") {
            return Ok(None);
        }
        self.expect_word("by")?;
        let distinct = self.one_word_of(&["all", "distinct"]) == Some(1);
        Ok(Some(GroupBy { distinct, items: self.list(Parser::group_item)? }))
    }

    fn group_item(&mut self) -> Result<GroupItem> {
        let start = self.mark();
        if self.is_sign('(') && self.is_sign_at(1, ')') {
            self.skip();
            self.skip();
            return Ok(GroupItem::Empty(self.span_since(start)));
        }
        if self.are_words(&["grouping", "sets"]) {
            return self.deeper(|parser| {
                parser.skip();
                parser.skip();
                let items = parser.list_in_parentheses(Parser::group_item)?;
                Ok(GroupItem::Sets(items, parser.span_since(start)))
            });
        }
        // Before a parenthesis both words are no names of functions here.
        if self.is_sign_at(1, '(') {
            if self.word("rollup") {
                let items = self.list_in_parentheses(Parser::expr)?;
                return Ok(GroupItem::Rollup(items, self.span_since(start)));
            }
            if self.word("cube") {
                let items = self.list_in_parentheses(Parser::expr)?;
                return Ok(GroupItem::Cube(items, self.span_since(start)));
            }
        }
        self.expr().map(GroupItem::Expr)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/group_by.sql"));
    }
}
