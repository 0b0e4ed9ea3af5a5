//! Values of options and settings: words, strings and numbers.

use super::Parser;
use crate::error::Result;
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Ident, OptionItem, OptionValue};

/// An option without a namespace.
pub(super) fn option_item(name: Ident, value: Option<OptionValue>, span: Span) -> OptionItem {
    OptionItem { namespace: None, name, value, span }
}

impl Parser<'_> {
    /// Takes this word as an option without a value, if it is next.
    pub(crate) fn word_option(&mut self, word: &str) -> Option<OptionItem> {
        let span = self.here();
        self.word(word).then(|| option_item(Ident { value: word.into(), span }, None, span))
    }

    /// TRUE, FALSE, ON, a word that is not reserved, or a string (opt_boolean_or_string). Errors: 42601.
    pub(crate) fn option_word(&mut self) -> Result<OptionValue> {
        if let Some(text) = self.string() {
            return Ok(OptionValue::String(text));
        }
        let boolean = ["true", "false", "on"].iter().any(|word| self.is_word(word));
        let word = if boolean { self.take_ident()? } else { self.non_reserved_word()? };
        Ok(OptionValue::Word(word.value))
    }

    /// Whether the next token begins a number with an optional sign.
    pub(crate) fn is_signed_number(&self) -> bool {
        let number = matches!(self.peek().kind, TokenKind::Integer(_) | TokenKind::Decimal(_));
        number || self.is_operator("-") || self.is_operator("+")
    }

    /// A number, a word or a string. Errors: 42601.
    pub(crate) fn number_or_word(&mut self) -> Result<OptionValue> {
        match self.is_signed_number() {
            true => Ok(OptionValue::Number(self.signed_number()?.0)),
            false => self.option_word(),
        }
    }

    /// A whole number without a sign, within 32 bits (Iconst). Errors: 42601.
    pub(crate) fn unsigned_integer(&mut self) -> Result<i32> {
        if self.is_operator("-") || self.is_operator("+") { Err(self.error()) } else { self.signed_integer() }
    }
}
