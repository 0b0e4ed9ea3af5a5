//! Strings, quoted names and strings of bits.

use super::{Lexer, is_newline, offset, starts_name};
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::strings::{self, Escape, is_surrogate};
use crate::token::TokenKind;

impl Lexer<'_> {
    /// The offset of the next byte that is one of these, or the end of the text.
    fn find(&self, is: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at + rest.iter().position(|byte| is(*byte)).unwrap_or(rest.len())
    }

    /// Behind a quote that ends a string: steps over the quote of its continuation on a later line.
    fn continued(&mut self) -> bool {
        let start = self.at;
        let mut line = false;
        loop {
            match (self.byte(), self.byte_at(1)) {
                (b' ' | b'\t' | b'\x0c', _) => self.at += 1,
                (byte, _) if is_newline(byte) => {
                    line = true;
                    self.at += 1;
                }
                (b'-', b'-') => self.skip_while(|byte| !is_newline(byte)),
                (b'\'', _) if line => {
                    self.at += 1;
                    return true;
                }
                _ => {
                    self.at = start;
                    return false;
                }
            }
        }
    }

    /// Behind the first quote: the text up to the last one. A doubled quote is one, if `doubled`. Strings, but not
    /// names, may be continued. `None` if the text ends before.
    fn quoted(&mut self, quote: u8, doubled: bool) -> Option<String> {
        let mut value = String::new();
        loop {
            let start = self.at;
            self.at = self.find(|byte| byte == quote);
            value.push_str(self.since(start));
            if self.byte() == 0 {
                return None;
            }
            self.at += 1;
            if doubled && self.byte() == quote {
                value.push(char::from(quote));
                self.at += 1;
            } else if quote == b'"' || !self.continued() {
                return Some(value);
            }
        }
    }

    /// `'…'`, behind the quote.
    pub(super) fn plain_string(&mut self, start: usize) -> Result<TokenKind> {
        match self.quoted(b'\'', true) {
            Some(value) => Ok(TokenKind::String(value)),
            None => Err(self.unterminated("quoted string", start)),
        }
    }

    /// `B'…'` or `X'…'`, at the letter.
    pub(super) fn bits(&mut self) -> Result<TokenKind> {
        let start = self.at;
        let binary = matches!(self.byte(), b'b' | b'B');
        self.at += 2;
        match self.quoted(b'\'', false) {
            Some(digits) if binary => Ok(TokenKind::Bits(digits)),
            Some(digits) => Ok(TokenKind::HexBits(digits)),
            None if binary => Err(self.unterminated("bit string literal", start)),
            None => Err(self.unterminated("hexadecimal string literal", start)),
        }
    }

    /// `"…"`, at the quote.
    pub(super) fn quoted_name(&mut self) -> Result<TokenKind> {
        let start = self.at;
        self.at += 1;
        let value = self.name_text(start)?;
        Ok(self.name(value, true, start))
    }

    /// The text of a quoted name, behind the first quote.
    fn name_text(&mut self, start: usize) -> Result<String> {
        match self.quoted(b'"', true) {
            None => Err(self.unterminated("quoted identifier", start)),
            Some(value) if value.is_empty() => Err(self.error_since("zero-length delimited identifier", start)),
            Some(value) => Ok(value),
        }
    }

    /// `$n` or `$tag$…$tag$`, at the dollar.
    pub(super) fn dollar(&mut self) -> Result<TokenKind> {
        if self.byte_at(1).is_ascii_digit() {
            return self.parameter();
        }
        let start = self.at;
        self.at += 1;
        if starts_name(self.byte()) {
            self.skip_while(|byte| starts_name(byte) || byte.is_ascii_digit());
        }
        if self.byte() != b'$' {
            self.at = start;
            return Ok(self.no_token());
        }
        self.at += 1;
        let (tag, inside) = (self.since(start), self.rest());
        let Some((inside, _)) = inside.split_once(tag) else {
            return Err(self.unterminated("dollar-quoted string", start));
        };
        self.at += inside.len() + tag.len();
        Ok(TokenKind::String(inside.into()))
    }

    /// `E'…'`, or a plain string if those have escapes. Behind the quote.
    pub(super) fn escaped_string(&mut self, start: usize, plain: bool) -> Result<TokenKind> {
        const PAIR: &str = "invalid Unicode surrogate pair";
        let (mut bytes, mut high, mut first) = (Vec::new(), None, None);
        loop {
            let from = self.at;
            if high.is_some() && !(self.byte() == b'\\' && matches!(self.byte_at(1), b'u' | b'U')) {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                return Err(self.error_since(PAIR, from));
            }
            self.at = self.find(|byte| matches!(byte, b'\'' | b'\\'));
            bytes.extend_from_slice(self.since(from).as_bytes());
            let from = self.at;
            match (self.byte(), self.byte_at(1)) {
                (b'\'', b'\'') => {
                    bytes.push(b'\'');
                    self.at += 2;
                    continue;
                }
                (b'\'', _) => {
                    self.at += 1;
                    if self.continued() {
                        continue;
                    }
                    break;
                }
                (0, _) | (_, 0) => return Err(self.unterminated("quoted string", start)),
                _ => {}
            }
            let (escape, length) = strings::escape(self.rest());
            first = first.or_else(|| self.rest().chars().nth(1));
            self.at += length;
            match escape {
                Escape::Byte(byte) => bytes.push(byte),
                Escape::Character(character) => push(&mut bytes, character),
                Escape::Broken => {
                    let error = SyntaxError::new(crate::error::INVALID_ESCAPE_SEQUENCE, "invalid Unicode escape")
                        .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.");
                    return Err(error.at(self.span_since(from)));
                }
                Escape::Point(point) => match (high.take(), is_surrogate(point)) {
                    (None, Some(false)) => high = Some(point),
                    (Some(high), Some(true)) => push(&mut bytes, strings::paired(high, point)),
                    (None, None) => match char::from_u32(point).filter(|character| *character != '\0') {
                        Some(character) => push(&mut bytes, character),
                        None => return Err(self.error_since("invalid Unicode escape value", from)),
                    },
                    _ => return Err(self.error_since(PAIR, from)),
                },
            }
        }
        let value = strings::text(bytes)?;
        if let (true, Some(first)) = (plain, first) {
            self.lexed.escaped_strings.push((first, self.span_since(start)));
        }
        Ok(TokenKind::String(value))
    }

    /// `U&'…'` or `U&"…"`, at the letter, with its UESCAPE.
    pub(super) fn unicode(&mut self) -> Result<TokenKind> {
        let start = self.at;
        let (named, raw) = self.unicode_text()?;
        let end = self.at;
        self.skip_blank()?;
        let word = self.at;
        self.skip_while(super::continues_name);
        let escape = if self.since(word).eq_ignore_ascii_case("uescape") {
            self.unicode_escape()?
        } else {
            self.at = end;
            // PostgreSQL reads the next token to look for UESCAPE.
            self.looks_ahead = true;
            '\\'
        };
        let value = strings::unicode(&raw, escape).map_err(|(error, at)| {
            // PostgreSQL counts within the text without doubled quotes and continuations.
            let at = self.text.ceil_char_boundary(start + 3 + at);
            let end = self.text.ceil_char_boundary(at + 1);
            error.at(Span { start: offset(at), end: offset(end) })
        })?;
        Ok(if named { self.name(value, true, start) } else { TokenKind::String(value) })
    }

    /// `U&'…'` or `U&"…"` without decoding its escapes, at the letter. Answers whether it is a name.
    fn unicode_text(&mut self) -> Result<(bool, String)> {
        let start = self.at;
        self.at += 3;
        if self.text.as_bytes().get(start + 2) == Some(&b'"') {
            return Ok((true, self.name_text(start)?));
        }
        if !self.options.standard_strings {
            let message = "unsafe use of string constant with Unicode escapes";
            let detail =
                "String constants with Unicode escapes cannot be used when standard_conforming_strings is off.";
            let error = SyntaxError::new(crate::error::FEATURE_NOT_SUPPORTED, message).detail(detail);
            return Err(error.at(self.span_since(start)));
        }
        match self.quoted(b'\'', true) {
            Some(value) => Ok((false, value)),
            None => Err(self.unterminated("quoted string", start)),
        }
    }

    /// The character behind UESCAPE.
    fn unicode_escape(&mut self) -> Result<char> {
        self.skip_blank()?;
        let start = self.at;
        let unicode = matches!(self.byte(), b'u' | b'U') && self.byte_at(1) == b'&';
        let value = if unicode && matches!(self.byte_at(2), b'\'' | b'"') {
            self.unicode_text()?;
            None
        } else if self.rest().is_empty() {
            None
        } else {
            match self.token()? {
                TokenKind::String(value) => Some(value),
                _ => None,
            }
        };
        let Some(value) = value else {
            return Err(self.error_since("UESCAPE must be followed by a simple string literal", start));
        };
        match value.as_bytes() {
            [byte] if strings::may_escape(*byte) => Ok(char::from(*byte)),
            _ => Err(self.error_since("invalid Unicode escape character", start)),
        }
    }
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
