//! LISTEN, NOTIFY and UNLISTEN.

use super::Parser;
use crate::error::Result;
use crate::tree::{Notify, Statement};

impl Parser<'_> {
    /// LISTEN, behind that word. Errors: 42601.
    pub(crate) fn listen(&mut self) -> Result<Statement> {
        Ok(Statement::Listen(self.column_name()?))
    }

    /// NOTIFY, behind that word. Errors: 42601.
    pub(crate) fn notify(&mut self) -> Result<Statement> {
        let channel = self.column_name()?;
        let payload = if self.sign(',') { Some(self.expect_string()?) } else { None };
        Ok(Statement::Notify(Notify { channel, payload }))
    }

    /// UNLISTEN, behind that word. Errors: 42601.
    pub(crate) fn unlisten(&mut self) -> Result<Statement> {
        Ok(Statement::Unlisten(if self.operator("*") { None } else { Some(self.column_name()?) }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/notify.sql"));
    }
}
