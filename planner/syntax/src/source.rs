//! [`Source`]: the text of a client, and positions in it as PostgreSQL counts them.

use grammar::lexer::{LexOptions, lex};
use grammar::token::{Token, TokenKind};
use grammar::{Parser, Span, SyntaxError};
use sql_error::{About, Result, SqlError, state};
use std::sync::Arc;

/// The distance in bytes between two marks.
const MARKED: usize = 256;

/// A text that statements were parsed from.
#[derive(Debug)]
pub struct Source {
    text: Arc<str>,
    /// For every [`MARKED`]th byte the number of characters that begin before it. A text of many statements may be one
    /// long line, in which each is looked up.
    marks: Vec<usize>,
    /// Names beyond the maximum length, folded, in order.
    long_names: Vec<String>,
    /// The number of tokens, once they were read.
    tokens_read: usize,
}

/// The number of characters that begin in these bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl Source {
    /// Takes a client's text.
    pub fn new(text: &str) -> Self {
        let mut before = 0;
        let mark = |block: &[u8]| {
            let mark = before;
            before += characters(block);
            mark
        };
        let marks = text.as_bytes().chunks(MARKED).map(mark).collect();
        Source { text: text.into(), marks, long_names: Vec::new(), tokens_read: 0 }
    }

    /// Records what a parser of the text read before it parses.
    pub(crate) fn note(&mut self, parser: &Parser<'_>) {
        self.tokens_read = parser.token_count();
        self.long_names = parser.long_names().iter().map(|(name, _)| name.clone()).collect();
    }

    /// Names beyond the maximum length, folded, in order.
    pub fn long_names(&self) -> &[String] {
        &self.long_names
    }

    /// The number of tokens, once they were read.
    pub fn tokens_read(&self) -> usize {
        self.tokens_read
    }

    /// The whole text, as a shared reference.
    pub fn shared_text(&self) -> &Arc<str> {
        &self.text
    }

    /// The whole text of the client.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of a byte in characters from 1.
    fn position(&self, byte: u32) -> usize {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        let block = byte / MARKED;
        let Some(before) = self.marks.get(block).copied() else {
            // The end of a text whose last block is full.
            let last = self.marks.len().saturating_sub(1);
            let rest = self.text.as_bytes().get(last * MARKED..).unwrap_or_default();
            return self.marks.last().copied().unwrap_or(0) + characters(rest) + 1;
        };
        before + characters(self.text.as_bytes().get(block * MARKED..byte).unwrap_or_default()) + 1
    }

    /// The position of a span's start in characters from 1. `None` for a node that no text says.
    pub fn start(&self, span: Span) -> Option<usize> {
        (!span.is_none()).then(|| self.position(span.start))
    }

    /// The byte range of a span.
    pub fn bytes(&self, span: Span) -> std::ops::Range<usize> {
        let byte = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        byte(span.start)..byte(span.end)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(self.bytes(span)).unwrap_or("")
    }

    /// The tokens without white space and comments, and without the end. Errors: those of the lexer.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        let lexed = lex(&self.text, LexOptions::default()).map_err(|error| self.refused(error))?;
        if let Some(error) = lexed.error() {
            return Err(self.refused(error.clone()));
        }
        Ok(lexed.tokens.into_iter().filter(|token| token.kind != TokenKind::End).collect())
    }

    /// The error of the grammar with its position.
    pub fn refused(&self, error: SyntaxError) -> SqlError {
        // The end of the text is a place too, although its span is empty.
        let position = error.fields().span.map(|span| self.position(span.start));
        positioned(SqlError::from(error), position)
    }

    /// Adds the position of a span to an error.
    pub fn error(&self, error: SqlError, span: Span) -> SqlError {
        positioned(error, self.start(span))
    }

    /// Records which token of this text an error points at, for a later display of this text within another.
    pub fn about_token(&self, error: SqlError) -> SqlError {
        let Some(position) = error.fields().position else { return error };
        let tokens = self.tokens().unwrap_or_default();
        let token = tokens.iter().find(|token| self.start(token.span) == Some(position));
        match token {
            Some(token) => error.about(self.slice(token.span)),
            None => error,
        }
    }

    /// A syntax error with the token in its written form instead of lower case.
    fn as_written(&self, error: SqlError, token: &Token) -> SqlError {
        let text = self.slice(token.span);
        let near = |word: &str| format!("syntax error at or near \"{word}\"");
        match error.fields().message == near(&text.to_lowercase()) {
            true => SqlError::syntax(near(text)),
            false => error,
        }
    }

    /// Adds the position of the part that an error is about. A token must occur once in this text.
    pub fn error_at_its_token(&self, error: SqlError) -> SqlError {
        let fields = error.fields();
        if fields.position.is_some() {
            return error;
        }
        let near = || {
            let near = fields.message.strip_prefix("syntax error at or near \"")?.strip_suffix('"')?;
            Some(About::Token(near.to_string()))
        };
        match fields.about.clone().or_else(near) {
            Some(About::Part(part)) => self.error(error, part),
            Some(About::Token(about)) => {
                let tokens = self.tokens().unwrap_or_default();
                let mut same = tokens.iter().filter(|token| {
                    let text = self.slice(token.span);
                    text.eq_ignore_ascii_case(&about) || text.trim_matches('"') == about
                });
                match (same.next(), same.next()) {
                    (Some(token), None) => self.error(self.as_written(error, token), token.span),
                    _ => error,
                }
            }
            None => error,
        }
    }
}

fn positioned(error: SqlError, position: Option<usize>) -> SqlError {
    match position {
        Some(position) if error.fields().position.is_none() && !error.fields().run_time => error.at(position),
        _ => error,
    }
}

/// 54000: a limit of the statement is exceeded.
pub fn too_large(what: impl Into<String>) -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, what)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_long_lines_and_among_wide_characters() {
        for piece in ["a", "ä", "€x", "\n", "ab\nç", "𝄞yz\n\n"] {
            let text = piece.repeat(3 * MARKED);
            let source = Source::new(&text);
            for (before, (byte, character)) in text.char_indices().enumerate() {
                let start = u32::try_from(byte).unwrap();
                let span = Span { start, end: start + u32::try_from(character.len_utf8()).unwrap() };
                assert_eq!(source.start(span), Some(before + 1), "{piece:?} {byte}");
                assert_eq!(source.slice(span), character.to_string());
            }
            let end = u32::try_from(text.len()).unwrap();
            assert_eq!(source.position(end), text.chars().count() + 1, "{piece:?}");
            assert_eq!(source.position(end + 1000), text.chars().count() + 1, "{piece:?}");
        }
        let empty = Source::new("");
        assert_eq!((empty.position(0), empty.start(Span::NONE), empty.slice(Span::NONE)), (1, None, ""));
    }

    #[test]
    fn an_error_finds_the_only_token_that_it_names() {
        let found = |text: &str, about: &str| {
            let error = SqlError::new(state::UNDEFINED_COLUMN, "no such column").about(about);
            Source::new(text).error_at_its_token(error).fields().position
        };
        assert_eq!(found("select ä, B from t", "b"), Some(11));
        assert_eq!(found("select \"B\"", "B"), Some(8));
        assert_eq!(found("select b, b", "b"), None);
        let error = SqlError::syntax("syntax error at or near \"user\"");
        let error = Source::new("select a USER").error_at_its_token(error);
        assert_eq!(error.fields().message, "syntax error at or near \"USER\"");
        assert_eq!(error.fields().position, Some(10));
    }
}
