//! INSERT (InsertStmt).

use super::Parser;
use crate::error::Result;
use crate::tree::{ConflictTarget, ConflictUpdate, Insert, OnConflict, With};

impl Parser<'_> {
    pub(super) fn insert(&mut self, with: Option<With>, start: usize) -> Result<Insert> {
        self.expect_words(&["insert", "into"])?;
        let table = self.qualified_name()?;
        let alias = if self.word("as") { Some(self.column_name()?) } else { None };
        let mut columns = Vec::new();
        let mut overriding = None;
        let mut source = None;
        if self.word("default") {
            self.expect_word("values")?;
        } else {
            // The token behind the parenthesis tells a list of columns from a query.
            if self.is_sign('(') && !self.is_sign_at(1, '(') && !self.starts_query_at(1) {
                columns = self.list_in_parentheses(Parser::column_target)?;
            }
            overriding = self.optional_overriding()?;
            source = Some(Box::new(self.query()?));
        }
        let conflict = self.optional_conflict()?;
        let returning = self.optional_returning()?;
        let span = self.span_since(start);
        Ok(Insert { with, table, alias, columns, overriding, source, conflict, returning, span })
    }

    fn optional_conflict(&mut self) -> Result<Option<OnConflict>> {
        let start = self.mark();
        if !self.word("on") {
            return Ok(None);
        }
        self.expect_word("conflict")?;
        let span = self.span_since(start);
        let target = self.optional_conflict_target()?;
        self.expect_word("do")?;
        let update = if self.word("nothing") {
            None
        } else {
            self.expect_words(&["update", "set"])?;
            let assignments = self.assignments()?;
            Some(ConflictUpdate { assignments, filter: self.optional_where()? })
        };
        Ok(Some(OnConflict { target, update, span }))
    }

    fn optional_conflict_target(&mut self) -> Result<Option<ConflictTarget>> {
        if self.word("on") {
            self.expect_word("constraint")?;
            return Ok(Some(ConflictTarget::Constraint(self.column_name()?)));
        }
        if !self.is_sign('(') {
            return Ok(None);
        }
        let keys = self.list_in_parentheses(Parser::index_key)?;
        Ok(Some(ConflictTarget::Index { keys, predicate: self.optional_where()? }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/insert.sql"));
    }
}
