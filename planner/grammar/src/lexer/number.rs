//! Numbers and parameters.

use super::{Lexer, continues_name, starts_name};
use crate::error::Result;
use crate::token::TokenKind;

impl Lexer<'_> {
    /// A number, at a digit or at a point before one.
    pub(super) fn number(&mut self) -> Result<TokenKind> {
        let (start, mut whole) = (self.at, true);
        self.skip_digits();
        // 1..2 is a range.
        if self.byte() == b'.' && self.byte_at(1) != b'.' {
            whole = false;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(), b'e' | b'E') {
            let signs = usize::from(matches!(self.byte_at(1), b'+' | b'-'));
            if self.byte_at(1 + signs).is_ascii_digit() {
                whole = false;
                self.at += 1 + signs;
                self.skip_digits();
            } else if signs == 1 {
                self.at += 2;
                return Err(self.error_since("trailing junk after numeric literal", start));
            }
        }
        self.no_junk("numeric literal", start)?;
        let digits = self.since(start).to_string();
        Ok(if whole { TokenKind::Integer(digits) } else { TokenKind::Decimal(digits) })
    }

    /// `$n`, at the dollar.
    pub(super) fn parameter(&mut self) -> Result<TokenKind> {
        let start = self.at;
        self.at += 1;
        self.skip_digits();
        let digits = self.since(start + 1);
        self.no_junk("parameter", start)?;
        // PostgreSQL keeps the lowest 32 bits of what 64 bits hold.
        let number: i64 = digits.parse().unwrap_or(i64::MAX);
        Ok(TokenKind::Parameter(u32::try_from(number & i64::from(u32::MAX)).unwrap_or(u32::MAX)))
    }

    fn skip_digits(&mut self) {
        self.skip_while(|byte| byte.is_ascii_digit());
    }

    /// 42601 if a word begins here.
    fn no_junk(&mut self, after: &str, start: usize) -> Result<()> {
        if !starts_name(self.byte()) || self.at >= self.text.len() {
            return Ok(());
        }
        self.skip_while(continues_name);
        Err(self.error_since(&format!("trailing junk after {after}"), start))
    }
}
