//! CREATE VIEW, CREATE MATERIALIZED VIEW and REFRESH.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::tree::{CheckOption, CreateTableAs, CreateView, Persistence, Refresh, Statement, TableStorage};

impl Parser<'_> {
    /// CREATE VIEW behind VIEW (ViewStmt). Errors: 42601; 0A000 for WITH CHECK OPTION of a recursive view.
    pub(crate) fn create_view(
        &mut self,
        start: usize,
        or_replace: bool,
        temporary: bool,
        recursive: bool,
    ) -> Result<Statement> {
        let name = self.qualified_name()?;
        if recursive && !self.is_sign('(') {
            return Err(self.error());
        }
        let columns = self.optional_columns()?;
        let options = self.optional_storage_options()?;
        self.expect_word("as")?;
        let query = Box::new(self.query()?);
        let behind = self.mark();
        let check_option = self.check_option()?;
        if recursive && check_option.is_some() {
            let message = "WITH CHECK OPTION not supported on recursive views";
            return Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message).at(self.span_since(behind)));
        }
        let span = self.span_since(start);
        Ok(Statement::CreateView(Box::new(CreateView {
            or_replace,
            temporary,
            recursive,
            name,
            columns,
            options,
            query,
            check_option,
            span,
        })))
    }

    /// WITH CHECK OPTION, if it is next (opt_check_option).
    fn check_option(&mut self) -> Result<Option<CheckOption>> {
        if !self.plain_with() {
            return Ok(None);
        }
        let local = self.one_word_of(&["local", "cascaded"]) == Some(0);
        self.expect_words(&["check", "option"])?;
        Ok(Some(if local { CheckOption::Local } else { CheckOption::Cascaded }))
    }

    /// CREATE MATERIALIZED VIEW behind VIEW (CreateMatViewStmt). Errors: 42601.
    pub(crate) fn create_materialized_view(&mut self, start: usize, persistence: Persistence) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name()?;
        let columns = self.optional_columns()?;
        let method = self.access_method()?;
        let options = self.optional_storage_options()?;
        let tablespace = self.tablespace()?;
        self.expect_word("as")?;
        let source = Box::new(Statement::Query(Box::new(self.query()?)));
        let with_data = self.with_data()?;
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            persistence,
            materialized_view: true,
            if_not_exists,
            name,
            columns,
            storage: TableStorage { method, options, on_commit: None, tablespace },
            source,
            with_data,
            span: self.span_since(start),
        })))
    }

    /// REFRESH MATERIALIZED VIEW behind REFRESH (RefreshMatViewStmt). Errors: 42601.
    pub(crate) fn refresh(&mut self, start: usize) -> Result<Statement> {
        self.expect_words(&["materialized", "view"])?;
        let concurrently = self.word("concurrently");
        let name = self.qualified_name()?;
        let with_data = self.with_data()?;
        let span = self.span_since(start);
        Ok(Statement::Refresh(Box::new(Refresh { concurrently, name, with_data, span })))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/view.sql"));
    }
}
