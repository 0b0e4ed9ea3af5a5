//! The statements of PREPARE and WITH (PreparableStmt), and what UPDATE and DELETE say.

use super::Parser;
use crate::error::Result;
use crate::tree::{Delete, Expr, ExprKind, Statement, Update, With};

impl Parser<'_> {
    /// SELECT, INSERT, UPDATE, DELETE or MERGE (PreparableStmt). Errors: 42601.
    pub fn query_or_write(&mut self) -> Result<Statement> {
        self.deeper(|parser| {
            let start = parser.mark();
            let with = parser.optional_with()?;
            if parser.is_word("insert") {
                return parser.insert(with, start).map(|insert| Statement::Insert(Box::new(insert)));
            }
            if parser.is_word("update") {
                return parser.update(with, start).map(|update| Statement::Update(Box::new(update)));
            }
            if parser.is_word("delete") {
                return parser.delete(with, start).map(|delete| Statement::Delete(Box::new(delete)));
            }
            if parser.is_word("merge") {
                return parser.merge(with, start).map(|merge| Statement::Merge(Box::new(merge)));
            }
            parser.query_behind_with(with, start).map(|query| Statement::Query(Box::new(query)))
        })
    }

    fn update(&mut self, with: Option<With>, start: usize) -> Result<Update> {
        self.expect_word("update")?;
        let table = self.relation_name()?;
        let alias = self.optional_target_alias()?;
        self.expect_word("set")?;
        let assignments = self.assignments()?;
        let from = if self.word("from") { self.from_items()? } else { Vec::new() };
        let filter = self.optional_where_or_cursor()?;
        let returning = self.optional_returning()?;
        Ok(Update { with, table, alias, assignments, from, filter, returning, span: self.span_since(start) })
    }

    fn delete(&mut self, with: Option<With>, start: usize) -> Result<Delete> {
        self.expect_words(&["delete", "from"])?;
        let table = self.relation_name()?;
        let alias = self.optional_target_alias()?;
        let using = if self.word("using") { self.from_items()? } else { Vec::new() };
        let filter = self.optional_where_or_cursor()?;
        let returning = self.optional_returning()?;
        Ok(Delete { with, table, alias, using, filter, returning, span: self.span_since(start) })
    }

    /// WHERE, maybe with CURRENT OF.
    fn optional_where_or_cursor(&mut self) -> Result<Option<Expr>> {
        if !self.are_words(&["where", "current", "of"]) {
            return self.optional_where();
        }
        self.skip();
        let start = self.mark();
        self.skip();
        self.skip();
        let kind = ExprKind::CurrentOf(self.column_name()?);
        Ok(Some(Expr { kind, span: self.span_since(start) }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/update.sql"));
    }
}
