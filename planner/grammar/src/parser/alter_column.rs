//! ALTER COLUMN of ALTER TABLE.

use super::Parser;
use crate::error::{INVALID_PARAMETER_VALUE, Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{AlterColumn, ColumnReference, SequenceOption};

impl Parser<'_> {
    /// A column and its change, behind ALTER COLUMN (alter_table_cmd). Errors: 42601, 0A000; 22023 for a number that no
    /// column has.
    pub(crate) fn alter_column(&mut self) -> Result<(ColumnReference, AlterColumn)> {
        if matches!(self.peek().kind, TokenKind::Integer(_)) {
            return self.alter_numbered_column();
        }
        let name = self.column_name()?;
        if self.is_identity_change() {
            return Ok((ColumnReference::Name(name), self.alter_identity()?));
        }
        let here = self.here();
        let change = match self.one_word_of(&["set", "drop", "type", "reset", "add", "options"]) {
            Some(0) => self.set_of_column()?,
            Some(1) => self.drop_of_column()?,
            Some(2) => self.type_of_column()?,
            Some(3) => AlterColumn::ResetOptions(self.storage_options()?),
            Some(4) => {
                self.expect_word("generated")?;
                let always = self.generated_when()?;
                self.expect_words(&["as", "identity"])?;
                AlterColumn::AddIdentity { always, options: self.identity_options()? }
            }
            Some(_) => {
                self.expect_sign('(')?;
                return Err(SyntaxError::unsupported("OPTIONS of a column").at(here));
            }
            None => return Err(self.error()),
        };
        Ok((ColumnReference::Name(name), change))
    }

    /// SET STATISTICS of a column of an index, which has a number alone.
    fn alter_numbered_column(&mut self) -> Result<(ColumnReference, AlterColumn)> {
        let number = self.signed_integer()?;
        let span = self.before();
        self.expect_words(&["set", "statistics"])?;
        let target = self.signed_integer()?;
        if !(1..=i32::from(i16::MAX)).contains(&number) {
            let message = "column number must be in range from 1 to 32767";
            return Err(SyntaxError::new(INVALID_PARAMETER_VALUE, message).at(span));
        }
        Ok((ColumnReference::Number(number, span), AlterColumn::SetStatistics(target)))
    }

    /// What stands behind SET.
    fn set_of_column(&mut self) -> Result<AlterColumn> {
        if self.is_sign('(') {
            return Ok(AlterColumn::SetOptions(self.storage_options()?));
        }
        Ok(match self.one_word_of(&["default", "not", "statistics", "storage", "compression", "data"]) {
            Some(0) => AlterColumn::SetDefault(self.expr()?),
            Some(1) => {
                self.expect_word("null")?;
                AlterColumn::SetNotNull
            }
            Some(2) => AlterColumn::SetStatistics(self.signed_integer()?),
            Some(3) => AlterColumn::SetStorage(self.column_name()?),
            Some(4) => AlterColumn::SetCompression(self.compression()?),
            Some(_) => {
                self.expect_word("type")?;
                self.type_of_column()?
            }
            None => return Err(self.error()),
        })
    }

    /// What stands behind DROP.
    fn drop_of_column(&mut self) -> Result<AlterColumn> {
        Ok(match self.one_word_of(&["default", "not", "expression", "identity"]) {
            Some(0) => AlterColumn::DropDefault,
            Some(1) => {
                self.expect_word("null")?;
                AlterColumn::DropNotNull
            }
            Some(at) => {
                let if_exists = self.word("if");
                if if_exists {
                    self.expect_word("exists")?;
                }
                if at == 2 { AlterColumn::DropExpression(if_exists) } else { AlterColumn::DropIdentity(if_exists) }
            }
            None => return Err(self.error()),
        })
    }

    /// What stands behind TYPE.
    fn type_of_column(&mut self) -> Result<AlterColumn> {
        let data_type = self.type_name()?;
        let collation = self.optional_collation()?;
        let using = if self.word("using") { Some(self.expr()?) } else { None };
        Ok(AlterColumn::Type { data_type, collation, using })
    }

    /// Whether a change of an identity is next (alter_identity_column_option).
    fn is_identity_change(&self) -> bool {
        self.is_word("restart")
            || self.is_word("set") && (self.is_word_at(1, "generated") || self.is_sequence_option_at(1))
    }

    /// SET GENERATED, SET of an option, and RESTART, in any order (alter_identity_column_option_list).
    fn alter_identity(&mut self) -> Result<AlterColumn> {
        let mut always = None;
        let mut redundant = false;
        let mut options = Vec::new();
        while self.is_word("set") || self.is_word("restart") {
            let set = self.word("set");
            if set && self.word("generated") {
                redundant |= always.is_some();
                always = Some(self.generated_when()?);
                continue;
            }
            let start = self.mark();
            let Some(option) = self.sequence_option()? else { return Err(self.error()) };
            if let Some(word) = refused(&option).filter(|_| set) {
                let message = format!("sequence option \"{word}\" not supported here");
                return Err(SyntaxError::syntax(message).at(self.span_since(start)));
            }
            options.push(option);
        }
        if redundant {
            // PostgreSQL says so when it runs the statement. The tree cannot say it.
            return Err(SyntaxError::syntax("conflicting or redundant options"));
        }
        Ok(AlterColumn::SetIdentity { always, options })
    }
}

/// The name of an option that SET of an identity column does not take.
fn refused(option: &SequenceOption) -> Option<&'static str> {
    match option {
        SequenceOption::As(_) => Some("as"),
        SequenceOption::Restart(..) => Some("restart"),
        SequenceOption::OwnedBy(..) => Some("owned_by"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/alter_column.sql"));
    }
}
