//! EXPLAIN.

use super::Parser;
use crate::error::Result;
use crate::tree::{Explain, OptionItem, Persistence, Statement};

impl Parser<'_> {
    /// EXPLAIN, behind that word. Errors: 42601.
    pub(crate) fn explain(&mut self) -> Result<Statement> {
        let options = if self.is_sign('(') && !self.is_query_in_parentheses() {
            self.utility_options()?
        } else {
            let analyze = self.analyze_option();
            analyze.into_iter().chain(self.word_option("verbose")).collect()
        };
        let start = self.mark();
        let statement = Box::new(self.explainable()?);
        let span = self.span_since(start);
        Ok(Statement::Explain(Box::new(Explain { options, statement, span })))
    }

    /// ANALYZE or ANALYSE, as an option without a value.
    pub(crate) fn analyze_option(&mut self) -> Option<OptionItem> {
        let mut option = self.word_option("analyze").or_else(|| self.word_option("analyse"))?;
        option.name.value = "analyze".into();
        Some(option)
    }

    /// Whether the next parenthesis encloses a query. VALUES may be an option's name.
    fn is_query_in_parentheses(&self) -> bool {
        let word = ["select", "table", "with"].iter().any(|word| self.is_word_at(1, word));
        word || self.is_sign_at(1, '(') || self.is_word_at(1, "values") && self.is_sign_at(2, '(')
    }

    /// ExplainableStmt.
    fn explainable(&mut self) -> Result<Statement> {
        let start = self.mark();
        match () {
            () if self.word("declare") => self.declare_cursor(),
            () if self.word("execute") => self.execute(start),
            () if self.word("create") => self.create_as(start),
            () if self.is_word("refresh") => self.statement(),
            () => self.query_or_write(),
        }
    }

    /// CREATE TABLE AS or CREATE MATERIALIZED VIEW, behind CREATE.
    fn create_as(&mut self, start: usize) -> Result<Statement> {
        let persistence = self.optional_persistence()?;
        if persistence.is_none_or(|persistence| persistence == Persistence::Unlogged) && self.word("materialized") {
            self.expect_word("view")?;
            return self.create_materialized_view(start, persistence.unwrap_or_default());
        }
        self.expect_word("table")?;
        let mark = self.mark();
        let statement = self.create_table(start, persistence.unwrap_or_default())?;
        if matches!(statement, Statement::CreateTableAs(_)) {
            return Ok(statement);
        }
        // A plain CREATE TABLE: the error is where AS could still have come.
        self.back_to(mark);
        self.if_not_exists()?;
        self.qualified_name()?;
        self.optional_columns()?;
        Err(self.error())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/explain.sql"));
    }
}
