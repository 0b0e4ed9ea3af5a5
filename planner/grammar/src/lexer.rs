//! [`lex`]: from text to tokens (manual, chapter 4.1). One pass over the bytes.

mod literal;
mod number;
mod operator;
#[cfg(test)]
mod tests;

use crate::error::{PROGRAM_LIMIT_EXCEEDED, Result, SyntaxError};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::strings;
use crate::token::{Token, TokenKind};

/// The greatest length of a name in bytes. Longer ones are cut.
const LONGEST_NAME: usize = 63;

/// The settings of a session that change what a text says.
#[derive(Clone, Copy, Debug)]
pub struct LexOptions {
    /// `standard_conforming_strings`. If it is off, plain strings have escapes with backslashes.
    pub standard_strings: bool,
}

impl Default for LexOptions {
    fn default() -> Self {
        LexOptions { standard_strings: true }
    }
}

/// What a text says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexed {
    /// The tokens, ended by [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The names that were cut, folded but whole. PostgreSQL notices each.
    pub long_names: Vec<(String, Span)>,
    /// Without [`LexOptions::standard_strings`]: the plain strings with backslashes, and the character behind the
    /// first backslash of each. PostgreSQL warns of them if `escape_string_warning` is on.
    pub escaped_strings: Vec<(char, Span)>,
}

impl Lexed {
    /// The error of [`TokenKind::Broken`], if the text has one.
    pub fn error(&self) -> Option<&SyntaxError> {
        self.tokens.iter().rev().find_map(|token| match &token.kind {
            TokenKind::Broken(error) => Some(error),
            _ => None,
        })
    }
}

/// Reads a text. Where it is no token, [`TokenKind::Broken`] and the end follow: like in PostgreSQL, the error counts
/// once the parser gets there. Errors: 54000 for texts beyond 4 GiB, 22021 for a zero byte.
pub fn lex(text: &str, options: LexOptions) -> Result<Lexed> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError::new(PROGRAM_LIMIT_EXCEEDED, "statement is too long"));
    }
    if text.bytes().any(|byte| byte == 0) {
        return Err(strings::no_text(&[0]));
    }
    let lexer = Lexer { text, at: 0, options, lexed: Lexed::default(), looks_ahead: false, signs_until: 0 };
    Ok(lexer.run())
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// A place in a text. Texts have no zero bytes.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    options: LexOptions,
    lexed: Lexed,
    /// Whether PostgreSQL reads the token behind the last one together with it.
    looks_ahead: bool,
    /// Up to here stand only signs that are operators by themselves. Otherwise each would be read up to here again.
    signs_until: usize,
}

impl<'t> Lexer<'t> {
    fn run(mut self) -> Lexed {
        loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    if self.looks_ahead {
                        self.lexed.tokens.pop();
                    }
                    let start = self.lexed.tokens.last().map_or(0, |token| token.span.end);
                    let span = error.fields().span.unwrap_or(Span { start, end: offset(self.at) });
                    self.push(
                        TokenKind::Broken(error),
                        Span { start: span.start.max(start), end: span.end.max(start) },
                    );
                    break;
                }
            }
        }
        let end = offset(self.text.len());
        self.push(TokenKind::End, Span { start: end, end });
        self.lexed
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.lexed.tokens.push(Token { kind, span });
    }

    /// Reads a token. Answers whether more may follow.
    fn step(&mut self) -> Result<bool> {
        self.skip_blank()?;
        let start = self.at;
        if start >= self.text.len() {
            return Ok(false);
        }
        // The token before counts no more: an error in this one replaces at most itself.
        let looked_ahead = std::mem::take(&mut self.looks_ahead);
        let kind = match self.token() {
            Ok(kind) => kind,
            Err(error) => {
                self.looks_ahead = looked_ahead;
                return Err(error);
            }
        };
        let span = self.span_since(start);
        if let TokenKind::Name { keyword: Some(keyword), .. } = &kind {
            self.looks_ahead = matches!(keyword.name(), "not" | "nulls" | "with");
        }
        let more = !matches!(kind, TokenKind::Broken(_));
        self.push(kind, span);
        Ok(more)
    }

    /// The token that begins here. A character that begins none is [`TokenKind::Broken`]; broken tokens are errors.
    fn token(&mut self) -> Result<TokenKind> {
        let (first, second) = (self.byte(), self.byte_at(1));
        match first {
            b'\'' => {
                let start = self.at;
                self.at += 1;
                if self.options.standard_strings { self.plain_string(start) } else { self.escaped_string(start, true) }
            }
            b'e' | b'E' if second == b'\'' => {
                let start = self.at;
                self.at += 2;
                self.escaped_string(start, false)
            }
            b'b' | b'B' | b'x' | b'X' if second == b'\'' => self.bits(),
            b'n' | b'N' if second == b'\'' => {
                // PostgreSQL takes N'…' for NCHAR '…'.
                self.at += 1;
                let keyword = Keyword::named("nchar");
                Ok(TokenKind::Name { value: "nchar".into(), keyword, quoted: false })
            }
            b'u' | b'U' if second == b'&' && matches!(self.byte_at(2), b'\'' | b'"') => self.unicode(),
            b'"' => self.quoted_name(),
            b'$' => self.dollar(),
            b'.' if second == b'.' => Ok(self.take(2, TokenKind::DoublePeriod)),
            b'.' if second.is_ascii_digit() => self.number(),
            b'(' | b')' | b'[' | b']' | b',' | b';' | b'.' => Ok(self.take(1, TokenKind::Sign(char::from(first)))),
            b':' if second == b':' => Ok(self.take(2, TokenKind::DoubleColon)),
            b':' if second == b'=' => Ok(self.take(2, TokenKind::ColonEquals)),
            b':' => Ok(self.take(1, TokenKind::Colon)),
            _ if starts_name(first) => Ok(self.word()),
            _ if first.is_ascii_digit() => self.number(),
            _ if operator::is_operator(first) => self.operator(),
            _ => Ok(self.no_token()),
        }
    }

    fn take(&mut self, length: usize, kind: TokenKind) -> TokenKind {
        self.at += length;
        kind
    }

    /// Steps over a character that begins no token.
    fn no_token(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        TokenKind::Broken(self.error_since("syntax error", start))
    }

    /// The next byte, or zero at the end.
    fn byte(&self) -> u8 {
        self.byte_at(0)
    }

    fn byte_at(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The text from an offset to here.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or("")
    }

    fn span_since(&self, start: usize) -> Span {
        Span { start: offset(start), end: offset(self.at) }
    }

    /// Steps over bytes of a kind.
    fn skip_while(&mut self, is: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !is(*byte)).unwrap_or(rest.len());
    }

    /// 42601 with the text from an offset to here.
    fn error_since(&self, what: &str, start: usize) -> SyntaxError {
        let error = match self.since(start) {
            "" => SyntaxError::syntax(format!("{what} at end of input")),
            near => SyntaxError::syntax(format!("{what} at or near \"{near}\"")),
        };
        error.at(self.span_since(start))
    }

    /// The same for a token that the text ends within.
    fn unterminated(&mut self, what: &str, start: usize) -> SyntaxError {
        self.at = self.text.len();
        self.error_since(&format!("unterminated {what}"), start)
    }

    /// Steps over blanks and comments.
    fn skip_blank(&mut self) -> Result<()> {
        loop {
            self.skip_while(is_blank);
            match (self.byte(), self.byte_at(1)) {
                (b'-', b'-') => self.skip_while(|byte| !is_newline(byte)),
                (b'/', b'*') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Steps over a comment with those within it.
    fn skip_comment(&mut self) -> Result<()> {
        let (start, mut depth) = (self.at, 0usize);
        loop {
            match (self.byte(), self.byte_at(1)) {
                (b'/', b'*') => {
                    self.at += 2;
                    depth += 1;
                }
                (b'*', b'/') => {
                    self.at += 2;
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (0, _) => return Err(self.unterminated("/* comment", start)),
                _ => self.at += 1,
            }
        }
    }

    /// A name without quotes, or a keyword.
    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.skip_while(continues_name);
        let value = self.since(start).to_ascii_lowercase();
        match Keyword::named(&value) {
            None => self.name(value, false, start),
            keyword => TokenKind::Name { value, keyword, quoted: false },
        }
    }

    /// The token of a name, which is no keyword. Cuts it.
    fn name(&mut self, mut value: String, quoted: bool, start: usize) -> TokenKind {
        if value.len() > LONGEST_NAME {
            self.lexed.long_names.push((value.clone(), self.span_since(start)));
            value.truncate(value.floor_char_boundary(LONGEST_NAME));
        }
        TokenKind::Name { value, keyword: None, quoted }
    }
}

/// An offset within a text, whose length is checked.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
