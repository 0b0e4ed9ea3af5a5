//! Operators: as many characters as possible, but no comment within, and seldom a sign of a number at the end.

use super::{LONGEST_NAME, Lexer};
use crate::error::Result;
use crate::token::TokenKind;

pub(super) fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'~' | b'!'
            | b'@'
            | b'#'
            | b'^'
            | b'&'
            | b'|'
            | b'`'
            | b'?'
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b'<'
            | b'>'
            | b'='
    )
}

/// Whether an operator with this character may end with `+` or `-`.
fn keeps_signs(byte: u8) -> bool {
    is_operator(byte) && !matches!(byte, b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=')
}

impl Lexer<'_> {
    /// An operator, at its first character.
    pub(super) fn operator(&mut self) -> Result<TokenKind> {
        let start = self.at;
        if start < self.signs_until {
            self.at += 1;
            return Ok(TokenKind::Operator(self.since(start).into()));
        }
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let mut signs = rest.split(|byte| !is_operator(*byte)).next().unwrap_or_default();
        let comment = signs.windows(2).position(|pair| matches!(pair, b"--" | b"/*"));
        if let Some(comment) = comment {
            signs = signs.get(..comment).unwrap_or_default();
        }
        if !signs.iter().copied().any(keeps_signs) {
            self.signs_until = start + signs.len();
            while let [before @ .., b'+' | b'-'] = signs {
                if before.is_empty() {
                    break;
                }
                signs = before;
            }
        }
        self.at += signs.len();
        let text = self.since(start);
        if text.len() > LONGEST_NAME {
            return Err(self.error_since("operator too long", start));
        }
        Ok(match text {
            "=>" => TokenKind::Arrow,
            "!=" => TokenKind::Operator("<>".into()),
            _ => TokenKind::Operator(text.into()),
        })
    }
}
