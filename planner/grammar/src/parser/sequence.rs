//! CREATE SEQUENCE, and the options of sequences and identity columns.

use super::Parser;
use crate::error::Result;
use crate::tree::{CreateSequence, Persistence, SequenceOption, Statement, TypeName};

/// The first words of a sequence's options.
const WORDS: &[&str] = &[
    "as",
    "cache",
    "cycle",
    "increment",
    "logged",
    "maxvalue",
    "minvalue",
    "no",
    "owned",
    "restart",
    "sequence",
    "start",
    "unlogged",
];

impl Parser<'_> {
    /// CREATE SEQUENCE behind SEQUENCE (CreateSeqStmt). Errors: 42601.
    pub(crate) fn create_sequence(&mut self, start: usize, persistence: Persistence) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name()?;
        let options = self.sequence_options()?;
        let span = self.span_since(start);
        Ok(Statement::CreateSequence(Box::new(CreateSequence { persistence, if_not_exists, name, options, span })))
    }

    /// The options of a sequence, until another word comes. Errors: 42601.
    pub fn sequence_options(&mut self) -> Result<Vec<SequenceOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(options)
    }

    /// The options of an identity column in parentheses, if there are any (OptParenthesizedSeqOptList). Errors: 42601.
    pub(crate) fn identity_options(&mut self) -> Result<Vec<SequenceOption>> {
        if !self.sign('(') {
            return Ok(Vec::new());
        }
        let options = self.sequence_options()?;
        if options.is_empty() {
            return Err(self.error());
        }
        self.expect_sign(')')?;
        Ok(options)
    }

    /// Whether a later token begins an option of a sequence.
    pub(crate) fn is_sequence_option_at(&self, offset: usize) -> bool {
        WORDS.iter().any(|word| self.is_word_at(offset, word))
    }

    /// An option of a sequence, if one is next (SeqOptElem). Errors: 42601.
    pub(crate) fn sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        let start = self.mark();
        let Some(word) = WORDS.iter().find(|word| self.is_word(word)) else { return Ok(None) };
        self.skip();
        Ok(Some(match *word {
            "as" => SequenceOption::As(self.simple_type()?),
            "cache" => SequenceOption::Cache(self.signed_number()?.0, self.span_since(start)),
            "cycle" => SequenceOption::Cycle(true, self.span_since(start)),
            "increment" => {
                self.word("by");
                SequenceOption::Increment(self.signed_number()?.0, self.span_since(start))
            }
            "maxvalue" => SequenceOption::MaxValue(Some(self.signed_number()?.0), self.span_since(start)),
            "minvalue" => SequenceOption::MinValue(Some(self.signed_number()?.0), self.span_since(start)),
            "owned" => {
                self.expect_word("by")?;
                SequenceOption::OwnedBy(self.name()?, self.span_since(start))
            }
            "sequence" => {
                self.expect_word("name")?;
                SequenceOption::SequenceName(self.name()?, self.span_since(start))
            }
            "start" => {
                self.word("with");
                SequenceOption::Start(self.signed_number()?.0, self.span_since(start))
            }
            "restart" => {
                let value =
                    if self.word("with") || self.is_signed_number() { Some(self.signed_number()?.0) } else { None };
                SequenceOption::Restart(value, self.span_since(start))
            }
            "logged" => SequenceOption::Logged(true, self.span_since(start)),
            "unlogged" => SequenceOption::Logged(false, self.span_since(start)),
            _ => match self.one_word_of(&["maxvalue", "minvalue", "cycle"]) {
                Some(0) => SequenceOption::MaxValue(None, self.span_since(start)),
                Some(1) => SequenceOption::MinValue(None, self.span_since(start)),
                Some(_) => SequenceOption::Cycle(false, self.span_since(start)),
                None => return Err(self.error()),
            },
        }))
    }

    /// A type without SETOF and without bounds (SimpleTypename).
    fn simple_type(&mut self) -> Result<TypeName> {
        let start = self.mark();
        if self.is_word("setof") {
            return Err(self.error());
        }
        let data_type = self.type_name()?;
        if data_type.array_bounds.is_empty() {
            return Ok(data_type);
        }
        // The error points at the first bound, behind the modifiers.
        self.back_to(start);
        let mut depth = 0;
        while depth > 0 || !(self.is_sign('[') || self.is_word("array")) {
            depth += i32::from(self.is_sign('(')) - i32::from(self.is_sign(')'));
            if self.at_end() {
                break;
            }
            self.skip();
        }
        Err(self.error())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/sequence.sql"));
    }
}
