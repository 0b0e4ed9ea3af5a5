//! PREPARE, EXECUTE and DEALLOCATE.

use super::Parser;
use crate::error::Result;
use crate::token::TokenKind;
use crate::tree::{Execute, Prepare, Statement, TransactionStatement};

impl Parser<'_> {
    /// PREPARE of a statement or a transaction, behind that word. Errors: 42601.
    pub(crate) fn prepare(&mut self) -> Result<Statement> {
        if self.is_word("transaction") && matches!(self.peek_at(1).kind, TokenKind::String(_)) {
            self.skip();
            return Ok(Statement::Transaction(TransactionStatement::Prepare(self.expect_string()?)));
        }
        let name = self.column_name()?;
        let types = if self.is_sign('(') { self.list_in_parentheses(Parser::type_name)? } else { Vec::new() };
        self.expect_word("as")?;
        let start = self.mark();
        let statement = Box::new(self.query_or_write()?);
        let span = self.span_since(start);
        Ok(Statement::Prepare(Box::new(Prepare { name, types, statement, span })))
    }

    /// EXECUTE, behind that word. Errors: 42601.
    pub(crate) fn execute(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        let mut parameters = Vec::new();
        if self.sign('(') {
            parameters = self.exprs()?;
            self.expect_sign(')')?;
        }
        Ok(Statement::Execute(Box::new(Execute { name, parameters, span: self.span_since(start) })))
    }

    /// DEALLOCATE, behind that word. Errors: 42601.
    pub(crate) fn deallocate(&mut self) -> Result<Statement> {
        if self.is_word("prepare") && (self.is_column_name_at(1) || self.is_word_at(1, "all")) {
            self.skip();
        }
        Ok(Statement::Deallocate(if self.word("all") { None } else { Some(self.column_name()?) }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/prepare.sql"));
    }
}
