//! MERGE (MergeStmt).

use super::Parser;
use crate::error::Result;
use crate::tree::{Merge, MergeAction, MergeClause, With};

impl Parser<'_> {
    pub(super) fn merge(&mut self, with: Option<With>, start: usize) -> Result<Merge> {
        self.expect_words(&["merge", "into"])?;
        let table = self.relation_name()?;
        let alias = self.optional_target_alias()?;
        self.expect_word("using")?;
        let source = self.from_item()?;
        self.expect_word("on")?;
        let on = self.expr()?;
        let mut clauses = vec![self.merge_clause()?];
        while self.is_word("when") {
            clauses.push(self.merge_clause()?);
        }
        Ok(Merge { with, table, alias, source, on, clauses, span: self.span_since(start) })
    }

    fn merge_clause(&mut self) -> Result<MergeClause> {
        let start = self.mark();
        self.expect_word("when")?;
        let matched = !self.word("not");
        self.expect_word("matched")?;
        let condition = if self.word("and") { Some(self.expr()?) } else { None };
        self.expect_word("then")?;
        let action = match () {
            () if self.word("do") => self.expect_word("nothing").map(|()| MergeAction::Nothing)?,
            () if matched && self.word("update") => {
                self.expect_word("set")?;
                MergeAction::Update(self.assignments()?)
            }
            () if matched && self.word("delete") => MergeAction::Delete,
            () if !matched && self.word("insert") => self.merge_insert()?,
            () => return Err(self.error()),
        };
        Ok(MergeClause { matched, condition, action, span: self.span_since(start) })
    }

    fn merge_insert(&mut self) -> Result<MergeAction> {
        let (mut columns, mut overriding, mut values) = (Vec::new(), None, None);
        if self.word("default") {
            self.expect_word("values")?;
        } else {
            if self.is_sign('(') {
                columns = self.list_in_parentheses(Parser::column_target)?;
            }
            overriding = self.optional_overriding()?;
            self.expect_word("values")?;
            values = Some(self.list_in_parentheses(Parser::expr)?);
        }
        Ok(MergeAction::Insert { columns, overriding, values })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/merge.sql"));
    }
}
