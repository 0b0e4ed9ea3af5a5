//! Transactions: BEGIN, COMMIT, ROLLBACK, savepoints, transaction modes, prepared transactions.

use super::Parser;
use crate::error::Result;
use crate::tree::{Ident, IsolationLevel, SetConstraints, Statement, TransactionModes, TransactionStatement};

impl Parser<'_> {
    /// BEGIN, behind that word. Errors: 42601.
    pub(crate) fn begin(&mut self) -> Result<Statement> {
        self.transaction_noise();
        Ok(Statement::Transaction(TransactionStatement::Begin(true, self.optional_modes()?)))
    }

    /// START TRANSACTION, behind START. Errors: 42601.
    pub(crate) fn start_transaction(&mut self) -> Result<Statement> {
        self.expect_word("transaction")?;
        Ok(Statement::Transaction(TransactionStatement::Begin(false, self.optional_modes()?)))
    }

    /// COMMIT or END, behind that word. Errors: 42601.
    pub(crate) fn commit(&mut self, end: bool) -> Result<Statement> {
        if !end && self.word("prepared") {
            return Ok(Statement::Transaction(TransactionStatement::CommitPrepared(self.expect_string()?)));
        }
        self.transaction_noise();
        Ok(Statement::Transaction(TransactionStatement::Commit(self.chain()?)))
    }

    /// ROLLBACK or ABORT, behind that word. Errors: 42601.
    pub(crate) fn rollback(&mut self, abort: bool) -> Result<Statement> {
        if !abort && self.word("prepared") {
            return Ok(Statement::Transaction(TransactionStatement::RollbackPrepared(self.expect_string()?)));
        }
        self.transaction_noise();
        if !abort && self.word("to") {
            return Ok(Statement::Transaction(TransactionStatement::RollbackTo(self.savepoint_name()?)));
        }
        Ok(Statement::Transaction(TransactionStatement::Rollback(self.chain()?)))
    }

    /// SAVEPOINT, behind that word. Errors: 42601.
    pub(crate) fn savepoint(&mut self) -> Result<Statement> {
        Ok(Statement::Transaction(TransactionStatement::Savepoint(self.column_name()?)))
    }

    /// RELEASE, behind that word. Errors: 42601.
    pub(crate) fn release(&mut self) -> Result<Statement> {
        Ok(Statement::Transaction(TransactionStatement::Release(self.savepoint_name()?)))
    }

    /// \[SAVEPOINT\] name. The savepoint may be named so itself.
    fn savepoint_name(&mut self) -> Result<Ident> {
        if self.is_word("savepoint") && self.is_column_name_at(1) {
            self.skip();
        }
        self.column_name()
    }

    fn transaction_noise(&mut self) {
        self.one_word_of(&["work", "transaction"]);
    }

    /// AND \[NO\] CHAIN. Answers whether it is AND CHAIN.
    fn chain(&mut self) -> Result<bool> {
        if !self.word("and") {
            return Ok(false);
        }
        let chain = !self.word("no");
        self.expect_word("chain")?;
        Ok(chain)
    }

    /// Transaction modes, with or without commas between them. Errors: 42601, also without a mode.
    pub(crate) fn transaction_modes(&mut self) -> Result<TransactionModes> {
        let mut modes = TransactionModes::default();
        self.transaction_mode(&mut modes)?;
        loop {
            if self.sign(',') || self.is_transaction_mode() {
                self.transaction_mode(&mut modes)?;
            } else {
                return Ok(modes);
            }
        }
    }

    fn optional_modes(&mut self) -> Result<TransactionModes> {
        if self.is_transaction_mode() { self.transaction_modes() } else { Ok(TransactionModes::default()) }
    }

    fn is_transaction_mode(&self) -> bool {
        ["isolation", "read", "deferrable", "not"].iter().any(|word| self.is_word(word))
    }

    fn transaction_mode(&mut self, modes: &mut TransactionModes) -> Result<()> {
        if self.word("isolation") {
            self.expect_word("level")?;
            modes.isolation = Some(self.isolation_level()?);
        } else if self.word("read") {
            let only = self.one_word_of(&["only", "write"]).ok_or_else(|| self.error())? == 0;
            modes.read_only = Some(only);
        } else {
            let deferrable = !self.word("not");
            self.expect_word("deferrable")?;
            modes.deferrable = Some(deferrable);
        }
        Ok(())
    }

    fn isolation_level(&mut self) -> Result<IsolationLevel> {
        if self.word("serializable") {
            return Ok(IsolationLevel::Serializable);
        }
        if self.word("repeatable") {
            self.expect_word("read")?;
            return Ok(IsolationLevel::RepeatableRead);
        }
        self.expect_word("read")?;
        match self.one_word_of(&["committed", "uncommitted"]) {
            Some(0) => Ok(IsolationLevel::ReadCommitted),
            Some(_) => Ok(IsolationLevel::ReadUncommitted),
            None => Err(self.error()),
        }
    }

    /// SET CONSTRAINTS, behind these words. Errors: 42601.
    pub(crate) fn set_constraints(&mut self) -> Result<Statement> {
        let names = if self.word("all") { None } else { Some(self.list(Parser::qualified_name)?) };
        let deferred = self.one_word_of(&["deferred", "immediate"]).ok_or_else(|| self.error())? == 0;
        Ok(Statement::SetConstraints(SetConstraints { names, deferred }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/transaction.sql"));
    }
}
