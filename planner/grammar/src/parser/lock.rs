//! LOCK and TRUNCATE.

use super::Parser;
use crate::error::Result;
use crate::tree::{LockTable, Statement, TableLockMode, Truncate};

impl Parser<'_> {
    /// LOCK, behind that word. Errors: 42601.
    pub(crate) fn lock_tables(&mut self, start: usize) -> Result<Statement> {
        self.word("table");
        let tables = self.list(Parser::relation_name)?;
        let mode = if self.word("in") {
            let mode = self.lock_mode()?;
            self.expect_word("mode")?;
            mode
        } else {
            TableLockMode::AccessExclusive
        };
        let nowait = self.word("nowait");
        Ok(Statement::LockTable(Box::new(LockTable { tables, mode, nowait, span: self.span_since(start) })))
    }

    fn lock_mode(&mut self) -> Result<TableLockMode> {
        use TableLockMode as M;
        let share_or_exclusive = ["share", "exclusive"];
        Ok(match () {
            () if self.word("access") => match self.one_word_of(&share_or_exclusive) {
                Some(0) => M::AccessShare,
                Some(_) => M::AccessExclusive,
                None => return Err(self.error()),
            },
            () if self.word("row") => match self.one_word_of(&share_or_exclusive) {
                Some(0) => M::RowShare,
                Some(_) => M::RowExclusive,
                None => return Err(self.error()),
            },
            () if self.word("share") => {
                let mode = match self.one_word_of(&["update", "row"]) {
                    Some(0) => M::ShareUpdateExclusive,
                    Some(_) => M::ShareRowExclusive,
                    None => return Ok(M::Share),
                };
                self.expect_word("exclusive")?;
                mode
            }
            () => {
                self.expect_word("exclusive")?;
                M::Exclusive
            }
        })
    }

    /// TRUNCATE, behind that word. Errors: 42601.
    pub(crate) fn truncate(&mut self, start: usize) -> Result<Statement> {
        self.word("table");
        let tables = self.list(Parser::relation_name)?;
        let identity = self.one_word_of(&["continue", "restart"]);
        if identity.is_some() {
            self.expect_word("identity")?;
        }
        let restart_identity = identity == Some(1);
        let cascade = self.cascade();
        let span = self.span_since(start);
        Ok(Statement::Truncate(Box::new(Truncate { tables, restart_identity, cascade, span })))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/lock.sql"));
    }
}
