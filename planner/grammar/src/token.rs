//! [`Token`]: a word or sign of a statement.

use crate::error::SyntaxError;
use crate::keyword::Keyword;
use crate::span::Span;

/// A word or sign, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of tokens (manual, chapter 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name. Folded to lower case unless it was quoted, and at most 63 bytes long.
    Name {
        /// The folded name.
        value: String,
        /// The keyword that it is, unless it was quoted.
        keyword: Option<Keyword>,
        /// Whether it was quoted.
        quoted: bool,
    },
    /// A whole number in its digits, of any length.
    Integer(String),
    /// A number with a point or an exponent, as written.
    Decimal(String),
    /// A string of any form, decoded. Strings that continue each other are one.
    String(String),
    /// `B'…'`: the digits.
    Bits(String),
    /// `X'…'`: the digits.
    HexBits(String),
    /// `$n`.
    Parameter(u32),
    /// An operator of one or more characters, among them `<`, `=`, `*`, `+`. `!=` is `<>`.
    Operator(String),
    /// One of `( ) [ ] , ; .`.
    Sign(char),
    /// `:`, for slices.
    Colon,
    /// `::`.
    DoubleColon,
    /// `:=`.
    ColonEquals,
    /// `=>`.
    Arrow,
    /// `..`, for ranges of PL/pgSQL.
    DoublePeriod,
    /// No token. It fits nowhere, and [`Parser::error`](crate::Parser::error) answers its error. Only the end follows.
    Broken(SyntaxError),
    /// The end of the text. The last token of every text is one, with an empty span.
    End,
}
