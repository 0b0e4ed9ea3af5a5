//! Random trees. A list of bytes chooses among all forms, so that fewer and smaller bytes make a smaller tree.
//!
//! Only trees that a text can mean are made. Forms that the parser never gives are left out:
//! - A minus before a number is a part of the number.
//! - AND within the first operand of AND is the same chain, and so is OR, and a set operation within the first arm.
//! - IN and ANY of a query in parentheses are those of the query.
//! - A query in parentheses is the query itself, unless it is an arm of a set operation.
#![allow(dead_code)]

mod call;
mod expression;
mod from;
mod query;
mod type_name;

use percosql_grammar::Span;
use percosql_grammar::tree::{Expr, ExprKind, Ident, Name, Operator};

/// Below this depth there are leaves alone.
const MOST_DEPTH: usize = 6;

/// Names of all kinds: plain, keywords of each category, and such as need quotes.
const NAMES: [&str; 48] = [
    "a",
    "b",
    "c",
    "t",
    "x1",
    "_u",
    "T",
    "select",
    "x y",
    "left",
    "cube",
    "rows",
    "partition",
    "nulls",
    "interval",
    "year",
    "é",
    "a\"b",
    "between",
    "value",
    "unbounded",
    "current",
    "type",
    "first",
    "day",
    "not",
    "with",
    "time",
    "escape",
    "over",
    "filter",
    "within",
    "set",
    "of",
    "at",
    "is",
    "end",
    "double",
    "precision",
    "operator",
    "grouping",
    "sets",
    "ordinality",
    "only",
    "lateral",
    "substring",
    "none",
    "system",
];

/// The choices that make a tree.
pub struct Choices {
    bytes: std::vec::IntoIter<u8>,
    depth: usize,
}

impl Choices {
    pub fn new(bytes: Vec<u8>) -> Self {
        Choices { bytes: bytes.into_iter(), depth: 0 }
    }

    /// A number below `count`. Zero once all bytes are used.
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().unwrap_or(0)) % count
    }

    /// True for one in four.
    fn rarely(&mut self) -> bool {
        self.below(4) == 3
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.rarely() { Some(make(self)) } else { None }
    }

    fn maybe(&mut self) -> Option<bool> {
        [None, Some(false), Some(true)][self.below(3)]
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }

    /// At least so many, and up to two more.
    fn list<T>(&mut self, least: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + [0, 0, 1, 2][self.below(4)];
        (0..count).map(|_| make(self)).collect()
    }

    fn deeper<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let made = make(self);
        self.depth -= 1;
        made
    }

    fn is_deep(&self) -> bool {
        self.depth >= MOST_DEPTH
    }

    fn ident(&mut self) -> Ident {
        Ident::new(self.one_of(&NAMES))
    }

    fn idents(&mut self, least: usize) -> Vec<Ident> {
        self.list(least, Choices::ident)
    }

    fn name(&mut self) -> Name {
        let mut parts = vec![self.ident()];
        parts.extend(self.option(Choices::ident));
        Name { parts, span: Span::NONE }
    }

    /// An operator of any level.
    fn operator(&mut self) -> Operator {
        let signs = ["+", "-", "*", "/", "%", "^", "<", ">", "=", "<=", ">=", "<>", "||", "@", "->", "~", "#", "~~"];
        let sign = self.one_of(&signs);
        let schema = if self.below(8) == 7 { self.idents(1) } else { Vec::new() };
        Operator { schema, sign: sign.to_owned(), span: Span::NONE }
    }
}

/// An expression that no text says.
fn made(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NONE }
}
