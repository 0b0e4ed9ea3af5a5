//! COPY, with the options of today and those of earlier releases.

use super::Parser;
use super::option_value::option_item;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::tree::{Copy, CopyPeer, CopyTarget, Ident, OptionItem, OptionValue, Statement};

impl Parser<'_> {
    /// COPY, behind that word. Errors: 42601.
    pub(crate) fn copy(&mut self, start: usize) -> Result<Statement> {
        let mut options = Vec::new();
        let of_statement = self.sign('(');
        let target = if of_statement {
            let statement = self.query_or_write()?;
            self.expect_sign(')')?;
            CopyTarget::Statement(Box::new(statement))
        } else {
            options.extend(self.old_binary());
            CopyTarget::Table(self.qualified_name()?, self.optional_columns()?)
        };
        let direction = self.here();
        let from = !of_statement && self.word("from");
        if !from {
            self.expect_word("to")?;
        }
        let program = self.word("program");
        let peer = self.copy_peer(program)?;
        let old_delimiter = self.here();
        let using = self.is_word("using");
        if !of_statement {
            options.extend(self.old_delimiters()?);
        }
        // PostgreSQL points at what follows the word, which is nothing or an old clause.
        let place = if of_statement { Some(direction) } else { using.then_some(old_delimiter) };
        self.word("with");
        self.copy_options(&mut options)?;
        let filter_place = self.here();
        let filter = if !of_statement && self.word("where") { Some(self.expr()?) } else { None };
        let Some(peer) = peer else {
            let error = SyntaxError::syntax("STDIN/STDOUT not allowed with PROGRAM");
            return Err(place.into_iter().fold(error, SyntaxError::at));
        };
        if filter.is_some() && !from {
            return Err(SyntaxError::syntax("WHERE clause not allowed with COPY TO").at(filter_place));
        }
        let span = self.span_since(start);
        Ok(Statement::Copy(Box::new(Copy { target, from, peer, options, filter, span })))
    }

    /// The other end. `None` for a program that is STDIN or STDOUT.
    fn copy_peer(&mut self, program: bool) -> Result<Option<CopyPeer>> {
        if self.one_word_of(&["stdin", "stdout"]).is_some() {
            return Ok((!program).then_some(CopyPeer::Client));
        }
        let text = self.expect_string()?;
        Ok(Some(if program { CopyPeer::Program(text) } else { CopyPeer::File(text) }))
    }

    fn old_binary(&mut self) -> Option<OptionItem> {
        let span = self.here();
        self.word("binary").then(|| old_option("format", Some(OptionValue::Word("binary".into())), span))
    }

    /// \[USING\] DELIMITERS 'x', as before release 7.3.
    fn old_delimiters(&mut self) -> Result<Option<OptionItem>> {
        let using = self.word("using");
        let start = self.mark();
        if !using && !self.is_word("delimiters") {
            return Ok(None);
        }
        self.expect_word("delimiters")?;
        let value = OptionValue::String(self.expect_string()?);
        Ok(Some(old_option("delimiter", Some(value), self.span_since(start))))
    }

    fn copy_options(&mut self, options: &mut Vec<OptionItem>) -> Result<()> {
        if self.is_sign('(') {
            options.extend(self.list_in_parentheses(Parser::copy_option)?);
            return Ok(());
        }
        while let Some(option) = self.old_copy_option()? {
            options.push(option);
        }
        Ok(())
    }

    /// An option in parentheses (copy_generic_opt_elem).
    fn copy_option(&mut self) -> Result<OptionItem> {
        let start = self.mark();
        let name = self.label()?;
        let value = if self.is_sign(',') || self.is_sign(')') {
            None
        } else if self.operator("*") {
            Some(OptionValue::Star)
        } else if self.is_sign('(') {
            Some(OptionValue::List(self.list_in_parentheses(Parser::option_word)?))
        } else {
            Some(self.number_or_word()?)
        };
        Ok(option_item(name, value, self.span_since(start)))
    }

    /// An option as before release 9.0 (copy_opt_item), under its name of today. `None` for another word.
    fn old_copy_option(&mut self) -> Result<Option<OptionItem>> {
        let start = self.mark();
        let (name, value) = match () {
            () if self.word("binary") => ("format", Some(OptionValue::Word("binary".into()))),
            () if self.word("csv") => ("format", Some(OptionValue::Word("csv".into()))),
            () if self.word("freeze") => ("freeze", None),
            () if self.word("header") => ("header", None),
            () if self.word("delimiter") => ("delimiter", Some(self.as_string()?)),
            () if self.word("null") => ("null", Some(self.as_string()?)),
            () if self.word("quote") => ("quote", Some(self.as_string()?)),
            () if self.word("escape") => ("escape", Some(self.as_string()?)),
            () if self.word("encoding") => ("encoding", Some(OptionValue::String(self.expect_string()?))),
            () if self.word("force") => {
                if self.word("quote") {
                    let value = if self.operator("*") { OptionValue::Star } else { self.bare_columns()? };
                    ("force_quote", Some(value))
                } else if self.word("not") {
                    self.expect_word("null")?;
                    ("force_not_null", Some(self.bare_columns()?))
                } else {
                    self.expect_word("null")?;
                    ("force_null", Some(self.bare_columns()?))
                }
            }
            () => return Ok(None),
        };
        Ok(Some(old_option(name, value, self.span_since(start))))
    }

    fn as_string(&mut self) -> Result<OptionValue> {
        self.word("as");
        Ok(OptionValue::String(self.expect_string()?))
    }

    fn bare_columns(&mut self) -> Result<OptionValue> {
        let columns = self.list(|parser| Ok(OptionValue::Word(parser.column_name()?.value)))?;
        Ok(OptionValue::List(columns))
    }
}

fn old_option(name: &str, value: Option<OptionValue>, span: Span) -> OptionItem {
    option_item(Ident { value: name.into(), span }, value, span)
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/copy.sql"));
    }

    #[test]
    fn gives_old_options_their_names_of_today() {
        let pairs = [
            ("COPY BINARY t FROM STDIN", "COPY t FROM STDIN (format binary)"),
            ("COPY t FROM STDIN USING DELIMITERS ';' WITH NULL 'n'", "COPY t FROM STDIN (delimiter ';', null 'n')"),
            ("COPY t FROM 'f' CSV HEADER FREEZE", "COPY t FROM 'f' (format csv, header, freeze)"),
            ("COPY t TO STDOUT CSV FORCE QUOTE *", "COPY t TO STDOUT (format csv, force_quote *)"),
            ("COPY t FROM STDIN FORCE NOT NULL a, b", "COPY t FROM STDIN (force_not_null (a, b))"),
            ("COPY t FROM STDIN QUOTE AS 'q' ESCAPE 'e'", "COPY t FROM STDIN (quote 'q', escape 'e')"),
        ];
        for (old, new) in pairs {
            assert_eq!(super::super::cases::only(old), super::super::cases::only(new), "{old}");
        }
    }
}
