//! CREATE SCHEMA.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::tree::{CreateSchema, Statement};

impl Parser<'_> {
    /// CREATE SCHEMA behind SCHEMA (CreateSchemaStmt). Errors: 42601; 0A000 for elements behind IF NOT EXISTS.
    pub(crate) fn create_schema(&mut self, start: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = if self.is_word("authorization") { None } else { Some(self.column_name()?) };
        let owner = if self.word("authorization") { Some(self.role()?) } else { None };
        let first = self.here();
        let mut elements = Vec::new();
        while self.is_word("create") || self.is_word("grant") {
            elements.push(self.deeper(Parser::schema_element)?);
        }
        if if_not_exists && !elements.is_empty() {
            let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
            return Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message).at(first));
        }
        let span = self.span_since(start);
        Ok(Statement::CreateSchema(Box::new(CreateSchema { if_not_exists, name, owner, elements, span })))
    }

    /// A statement within CREATE SCHEMA (schema_stmt).
    fn schema_element(&mut self) -> Result<Statement> {
        let start = self.mark();
        if self.is_word("grant") {
            let statement = self.statement()?;
            if matches!(statement, Statement::Grant(_)) {
                return Ok(statement);
            }
            // It grants roles, which TO shows.
            self.back_to(start);
            while !self.is_word("to") && !self.at_end() {
                self.skip();
            }
            return Err(self.error());
        }
        self.skip();
        let replaces = self.word("or");
        if replaces {
            self.expect_word("replace")?;
        }
        let persistence = self.optional_persistence()?;
        if self.is_word("table") && !replaces {
            self.skip();
            return self.create_plain_table(start, persistence.unwrap_or_default());
        }
        let known = match () {
            () if self.word("recursive") => self.is_word("view"),
            () if self.is_word("view") => true,
            () if self.is_word("sequence") => !replaces,
            () if persistence.is_some() => false,
            () if self.word("constraint") => self.is_word("trigger"),
            () if self.is_word("trigger") => true,
            () if replaces => false,
            () if self.word("unique") => self.is_word("index"),
            () => self.is_word("index"),
        };
        if !known {
            return Err(self.error());
        }
        self.back_to(start);
        self.statement()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/schema.sql"));
    }
}
