//! Expressions. An operand follows another, and a stack of operators says which belong together, as in PostgreSQL's
//! own parser: [`super::operator_stack`].

use super::Parser;
use crate::error::Result;
use crate::tree::Expr;

/// What an expression stands in, which decides where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// Any place for an a_expr.
    General,
    /// A place for a b_expr.
    Restricted,
    /// An item of a select list: a word behind it may be a label, also one that could be an operator.
    Labelled,
    /// The first argument of SUBSTRING: SIMILAR behind it may be SUBSTRING's own.
    Substring,
}

impl Parser<'_> {
    /// An expression (a_expr). Errors: 42601.
    pub fn expr(&mut self) -> Result<Expr> {
        self.expr_in(Context::General)
    }

    /// An expression without the operators of truth values (b_expr). Errors: 42601.
    pub fn restricted_expr(&mut self) -> Result<Expr> {
        self.expr_in(Context::Restricted)
    }

    /// The value of an item of a select list, which a label may follow. Errors: 42601.
    pub(crate) fn labelled_expr(&mut self) -> Result<Expr> {
        self.expr_in(Context::Labelled)
    }

    /// Expressions between commas. Errors: 42601.
    pub fn exprs(&mut self) -> Result<Vec<Expr>> {
        self.list(Parser::expr)
    }

    pub(super) fn expr_in(&mut self, context: Context) -> Result<Expr> {
        self.deeper(|parser| parser.operators(None, context))
    }

    /// Expressions in parentheses, at least one.
    pub(super) fn exprs_in_parentheses(&mut self) -> Result<Vec<Expr>> {
        self.list_in_parentheses(Parser::expr)
    }
}
