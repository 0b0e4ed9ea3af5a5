//! CREATE DATABASE and ALTER DATABASE.

use super::Parser;
use super::option_value::option_item;
use crate::error::Result;
use crate::token::TokenKind;
use crate::tree::{
    AlterObject, AlterSetting, DatabaseAction, DatabaseStatement, Ident, ObjectChange, ObjectReference, OptionItem,
    PlainKind, SettingOwner, Statement,
};

impl Parser<'_> {
    /// CREATE DATABASE, behind these words. Errors: 42601.
    pub(crate) fn create_database(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        self.word("with");
        let action = DatabaseAction::Create(self.database_options()?);
        Ok(Statement::Database(Box::new(DatabaseStatement { name, action, span: self.span_since(start) })))
    }

    /// ALTER DATABASE, behind these words. Errors: 42601.
    pub(crate) fn alter_database(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        let change = if self.word("rename") {
            self.expect_word("to")?;
            Some(ObjectChange::Rename(self.column_name()?))
        } else if self.words(&["owner", "to"]) {
            Some(ObjectChange::Owner(self.role()?))
        } else {
            None
        };
        if let Some(change) = change {
            let object = ObjectReference::Plain(PlainKind::Database, name);
            let span = self.span_since(start);
            return Ok(Statement::AlterObject(Box::new(AlterObject { object, if_exists: false, change, span })));
        }
        let action = if self.are_words(&["set", "tablespace"]) && self.is_column_name_at(2) {
            self.words(&["set", "tablespace"]);
            DatabaseAction::Tablespace(self.column_name()?)
        } else if let Some(change) = self.setting_change()? {
            let of = SettingOwner::Database(name);
            let span = self.span_since(start);
            return Ok(Statement::AlterSetting(Box::new(AlterSetting { of, change, span })));
        } else if self.word("refresh") {
            self.expect_words(&["collation", "version"])?;
            DatabaseAction::RefreshCollation
        } else {
            self.word("with");
            DatabaseAction::Alter(self.database_options()?)
        };
        Ok(Statement::Database(Box::new(DatabaseStatement { name, action, span: self.span_since(start) })))
    }

    fn database_options(&mut self) -> Result<Vec<OptionItem>> {
        let mut options = Vec::new();
        loop {
            let start = self.mark();
            let Some(name) = self.database_option()? else { return Ok(options) };
            self.operator("=");
            let value = if self.word("default") { None } else { Some(self.number_or_word()?) };
            options.push(option_item(name, value, self.span_since(start)));
        }
    }

    /// The name of an option of a database. `None`, with nothing read, for a token that is none.
    fn database_option(&mut self) -> Result<Option<Ident>> {
        let start = self.mark();
        if self.word("connection") {
            self.expect_word("limit")?;
            return Ok(Some(Ident { value: "connection_limit".into(), span: self.span_since(start) }));
        }
        let words = ["encoding", "location", "owner", "tablespace", "template"];
        let known = words.iter().any(|word| self.is_word(word));
        let plain = matches!(self.peek().kind, TokenKind::Name { keyword: None, .. });
        if known || plain { self.take_ident().map(Some) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/database.sql"));
    }
}
