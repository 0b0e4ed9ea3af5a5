//! Operators, and how strongly they bind (manual, chapter 4.1.6).

use super::Parser;
use crate::error::Result;
use crate::token::TokenKind;
use crate::tree::{LikeKind, Operator};

/// How strongly an operator binds, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Or,
    And,
    Not,
    Is,
    Comparison,
    Like,
    Other,
    Sum,
    Product,
    Power,
    At,
    Collate,
    Sign,
    Cast,
}

impl Level {
    /// That of an operator between its operands.
    pub(super) fn of(sign: &str) -> Level {
        match sign {
            "<" | ">" | "=" | "<=" | ">=" | "<>" => Level::Comparison,
            "+" | "-" => Level::Sum,
            "*" | "/" | "%" => Level::Product,
            "^" => Level::Power,
            _ => Level::Other,
        }
    }

    /// Whether two of this level may not stand beside each other.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Level::Is | Level::Comparison | Level::Like)
    }
}

/// A word or sign behind an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Or,
    And,
    Is,
    /// ISNULL (false) or NOTNULL (true).
    IsNull(bool),
    Between,
    In,
    Like(LikeKind),
    Escape,
    Operator(Level),
    At,
    Collate,
    Cast,
}

impl Infix {
    pub(super) fn level(self) -> Level {
        match self {
            Infix::Or => Level::Or,
            Infix::And => Level::And,
            Infix::Is | Infix::IsNull(_) => Level::Is,
            Infix::Between | Infix::In | Infix::Like(_) | Infix::Escape => Level::Like,
            Infix::Operator(level) => level,
            Infix::At => Level::At,
            Infix::Collate => Level::Collate,
            Infix::Cast => Level::Cast,
        }
    }
}

impl Parser<'_> {
    /// The infix that is next. Those of truth values do not exist in restricted expressions.
    pub(super) fn infix(&self, restricted: bool) -> Option<Infix> {
        match &self.peek().kind {
            TokenKind::DoubleColon => Some(Infix::Cast),
            TokenKind::Operator(sign) => Some(Infix::Operator(Level::of(sign))),
            TokenKind::Name { value, quoted: false, .. } => match value.as_str() {
                "is" => Some(Infix::Is),
                "operator" => Some(Infix::Operator(Level::Other)),
                _ if restricted => None,
                "or" => Some(Infix::Or),
                "and" => Some(Infix::And),
                "isnull" => Some(Infix::IsNull(false)),
                "notnull" => Some(Infix::IsNull(true)),
                "escape" => Some(Infix::Escape),
                "at" => Some(Infix::At),
                "collate" => Some(Infix::Collate),
                "not" => self.pattern_infix_at(1),
                _ => self.pattern_infix_at(0),
            },
            _ => None,
        }
    }

    /// BETWEEN, IN, LIKE and its kin: the infixes that NOT may precede.
    pub(super) fn pattern_infix_at(&self, offset: usize) -> Option<Infix> {
        let TokenKind::Name { value, quoted: false, .. } = &self.peek_at(offset).kind else { return None };
        match value.as_str() {
            "between" => Some(Infix::Between),
            "in" => Some(Infix::In),
            "like" => Some(Infix::Like(LikeKind::Like)),
            "ilike" => Some(Infix::Like(LikeKind::ILike)),
            "similar" => Some(Infix::Like(LikeKind::SimilarTo)),
            _ => None,
        }
    }

    /// An operator: a sign, or OPERATOR(schema.sign) (qual_all_Op). Errors: 42601.
    pub fn any_operator(&mut self) -> Result<Operator> {
        let start = self.mark();
        if !self.word("operator") {
            return self.sign_operator();
        }
        self.expect_sign('(')?;
        let operator = self.operator_name()?;
        self.expect_sign(')')?;
        Ok(Operator { span: self.span_since(start), ..operator })
    }

    /// An operator's name: a sign that a schema may precede, as in CREATE OPERATOR (any_operator). Errors: 42601.
    pub fn operator_name(&mut self) -> Result<Operator> {
        let start = self.mark();
        let mut schema = Vec::new();
        while !matches!(self.peek().kind, TokenKind::Operator(_)) {
            schema.push(self.column_name()?);
            self.expect_sign('.')?;
        }
        let operator = self.sign_operator()?;
        Ok(Operator { schema, span: self.span_since(start), ..operator })
    }

    fn sign_operator(&mut self) -> Result<Operator> {
        let token = self.peek();
        let TokenKind::Operator(sign) = &token.kind else { return Err(self.error()) };
        let operator = Operator { schema: Vec::new(), sign: sign.clone(), span: token.span };
        self.skip();
        Ok(operator)
    }
}
