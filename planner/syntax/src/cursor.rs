//! [`Cursor`]: reads the tokens of one statement, for statements that sqlparser does not read.

use super::names::{fold_text, is_reserved_word};
use super::source::Source;
use sql_error::{Result, SqlError};
use sqlparser::ast::{Ident, ObjectName};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// A position in the tokens of one statement.
pub struct Cursor<'a> {
    /// The text that contains the tokens.
    pub source: &'a Arc<Source>,
    tokens: &'a [TokenWithSpan],
    at: usize,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// The option has no value.
    None,
    /// A string, or a folded word.
    Text(String),
    /// A number in its written form.
    Number(String),
}

impl OptionValue {
    /// The value as a Boolean, for the option `name`. A missing value means true. Errors: 42601.
    pub fn truth(self, name: &str) -> Result<bool> {
        match self {
            OptionValue::None => Ok(true),
            OptionValue::Text(text) | OptionValue::Number(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "1" => Ok(true),
                "false" | "off" | "0" => Ok(false),
                _ => Err(SqlError::syntax(format!("{name} requires a Boolean value"))),
            },
        }
    }
}

/// Whether a token is this unquoted word.
pub fn is_word(token: &TokenWithSpan, word: &str) -> bool {
    matches!(&token.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

impl<'a> Cursor<'a> {
    /// A cursor at the first token.
    pub fn new(source: &'a Arc<Source>, tokens: &'a [TokenWithSpan]) -> Self {
        Cursor { source, tokens, at: 0 }
    }
    /// The present position, for [`Cursor::back_to`].
    pub fn mark(&self) -> usize {
        self.at
    }
    /// The tokens read so far.
    pub fn before(&self) -> &'a [TokenWithSpan] {
        self.tokens.get(..self.at).unwrap_or_default()
    }
    /// Returns to a position from [`Cursor::mark`].
    pub fn back_to(&mut self, mark: usize) {
        self.at = mark;
    }
    /// The next token, which stays unread.
    pub fn peek(&self) -> Option<&'a TokenWithSpan> {
        self.tokens.get(self.at)
    }
    /// Reads the next token.
    pub fn next(&mut self) -> Option<&'a TokenWithSpan> {
        let token = self.tokens.get(self.at);
        self.at += usize::from(token.is_some());
        token
    }
    /// The tokens after the position.
    pub fn rest(&self) -> &'a [TokenWithSpan] {
        self.tokens.get(self.at..).unwrap_or(&[])
    }
    /// Reads all remaining tokens.
    pub fn take_rest(&mut self) -> &'a [TokenWithSpan] {
        let rest = self.rest();
        self.at = self.tokens.len();
        rest
    }
    /// Whether the next token is this word.
    pub fn at_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| is_word(token, word))
    }
    /// Reads the word if it is next. Returns whether it was.
    pub fn word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.at += usize::from(found);
        found
    }
    /// Reads the words if all of them are next. Returns whether they were.
    pub fn words(&mut self, words: &[&str]) -> bool {
        let mark = self.at;
        let found = words.iter().all(|word| self.word(word));
        if !found {
            self.at = mark;
        }
        found
    }
    /// Reads the word. Errors: 42601.
    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.error()) }
    }
    /// Reads the sign if it is next. Returns whether it was.
    pub fn sign(&mut self, sign: &Token) -> bool {
        let found = self.peek().is_some_and(|token| token.token == *sign);
        self.at += usize::from(found);
        found
    }
    /// Reads names in parentheses, separated by commas. Empty if there is no parenthesis.
    pub fn names_in_brackets(&mut self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        if self.sign(&Token::LParen) {
            loop {
                names.push(self.name()?);
                if self.sign(&Token::RParen) {
                    break;
                }
                self.expect_sign(&Token::Comma)?;
            }
        }
        Ok(names)
    }
    /// Reads the sign. Errors: 42601.
    pub fn expect_sign(&mut self, sign: &Token) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.error()) }
    }
    /// Reads a name and folds it. Errors: 42601.
    pub fn name(&mut self) -> Result<String> {
        match self.peek().map(|token| &token.token) {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(fold_text(&word.value, word.quote_style.is_some()))
            }
            _ => Err(self.error()),
        }
    }
    /// Reads a name and folds it. Errors: 42601, also for a reserved word.
    pub fn plain_name(&mut self) -> Result<String> {
        match self.peek().is_some_and(|token| is_reserved_word(&token.token)) {
            true => Err(self.error()),
            false => self.name(),
        }
    }
    /// Reads a name that may be qualified. Errors: 42601.
    pub fn object_name(&mut self) -> Result<ObjectName> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                Some(TokenWithSpan { token: Token::Word(word), span }) => {
                    self.at += 1;
                    parts.push(Ident { value: word.value.clone(), quote_style: word.quote_style, span: *span });
                }
                _ => return Err(self.error()),
            }
            if !self.sign(&Token::Period) {
                return Ok(ObjectName::from(parts));
            }
        }
    }
    /// Reads a string literal, if one is next.
    pub fn string(&mut self) -> Option<String> {
        let text = match &self.peek()?.token {
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => text.clone(),
            _ => return None,
        };
        self.at += 1;
        Some(text)
    }
    /// Reads an integer with an optional sign, if one is next.
    pub fn integer(&mut self) -> Option<i64> {
        let mark = self.at;
        let negative = self.sign(&Token::Minus);
        if !negative {
            self.sign(&Token::Plus);
        }
        if let Some(Token::Number(digits, _)) = self.peek().map(|token| &token.token)
            && let Ok(value) = format!("{}{digits}", if negative { "-" } else { "" }).parse::<i64>()
        {
            self.at += 1;
            return Some(value);
        }
        self.at = mark;
        None
    }
    /// Reads the value of the Boolean option `name`. A missing value means true. Errors: 42601.
    pub fn boolean(&mut self, name: &str) -> Result<bool> {
        self.option_value()?.truth(name)
    }
    /// Reads the value of an option in parentheses. Errors: 42601.
    pub fn option_value(&mut self) -> Result<OptionValue> {
        if let Some(text) = self.string() {
            return Ok(OptionValue::Text(text));
        }
        let mark = self.at;
        let sign = if self.sign(&Token::Minus) {
            "-"
        } else {
            self.sign(&Token::Plus);
            ""
        };
        match self.peek().map(|token| &token.token) {
            Some(Token::Number(digits, _)) => {
                self.at += 1;
                Ok(OptionValue::Number(format!("{sign}{digits}")))
            }
            _ if self.at > mark => Err(self.error()),
            Some(Token::Word(_)) => Ok(OptionValue::Text(self.name()?)),
            _ => Ok(OptionValue::None),
        }
    }
    /// Reads a pair of parentheses and returns the tokens between them. Errors: 42601.
    pub fn bracketed(&mut self) -> Result<&'a [TokenWithSpan]> {
        self.expect_sign(&Token::LParen)?;
        let start = self.at;
        let mut depth = 1;
        while let Some(token) = self.next() {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(self.tokens.get(start..self.at - 1).unwrap_or(&[]));
                    }
                }
                _ => {}
            }
        }
        Err(self.error())
    }
    /// Errors: 42601 if a token follows.
    pub fn end(&self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.error()) }
    }
    /// 42601 at the next token.
    pub fn error(&self) -> SqlError {
        match self.peek() {
            Some(token) => self.source.syntax_error_at(token),
            None => self.source.syntax_error_behind(self.tokens.last()),
        }
    }
}
