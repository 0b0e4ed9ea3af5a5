//! CREATE DOMAIN and ALTER DOMAIN.

use super::Parser;
use super::column::Qualities;
use crate::error::Result;
use crate::tree::{AlterDomain, CreateDomain, ObjectReference, Statement};

impl Parser<'_> {
    /// CREATE DOMAIN behind DOMAIN (CreateDomainStmt). Errors: 42601.
    pub(crate) fn create_domain(&mut self, start: usize) -> Result<Statement> {
        let name = self.name()?;
        self.word("as");
        let data_type = self.type_name()?;
        let Qualities { collation, constraints } = self.qualities(true)?;
        let span = self.span_since(start);
        Ok(Statement::CreateDomain(Box::new(CreateDomain { name, data_type, collation, constraints, span })))
    }

    /// ALTER DOMAIN behind DOMAIN (AlterDomainStmt). Errors: 42601.
    pub(crate) fn alter_domain(&mut self, start: usize) -> Result<Statement> {
        let name = self.type_by_name()?;
        if let Some(change) = self.change_of_object()? {
            return Ok(self.altered(start, ObjectReference::Domain(name), change));
        }
        let action = match self.one_word_of(&["set", "drop", "add", "validate", "rename"]) {
            Some(0) => match self.one_word_of(&["default", "not"]) {
                Some(0) => AlterDomain::Default(Some(self.expr()?)),
                Some(_) => {
                    self.expect_word("null")?;
                    AlterDomain::NotNull(true)
                }
                None => return Err(self.error()),
            },
            Some(1) => match self.one_word_of(&["default", "not", "constraint"]) {
                Some(0) => AlterDomain::Default(None),
                Some(1) => {
                    self.expect_word("null")?;
                    AlterDomain::NotNull(false)
                }
                Some(_) => {
                    let if_exists = self.if_exists();
                    let name = self.column_name()?;
                    AlterDomain::DropConstraint { if_exists, name, cascade: self.cascade() }
                }
                None => return Err(self.error()),
            },
            Some(2) => AlterDomain::AddConstraint(self.table_constraint()?),
            Some(3) => {
                self.expect_word("constraint")?;
                AlterDomain::ValidateConstraint(self.column_name()?)
            }
            Some(_) => {
                self.expect_word("constraint")?;
                let old = self.column_name()?;
                self.expect_word("to")?;
                AlterDomain::RenameConstraint(old, self.column_name()?)
            }
            None => return Err(self.error()),
        };
        Ok(Statement::AlterDomain(Box::new((name, action))))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/domain.sql"));
    }
}
