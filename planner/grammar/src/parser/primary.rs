//! Operands: what binds most strongly (c_expr).

use super::Parser;
use super::expression::Context;
use super::operator_stack::OPERAND_HEIGHT;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::keyword::Category;
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{CastForm, Expr, ExprKind, Ident, Literal, Name, SpecialCall, Step, TypeName};

impl Parser<'_> {
    /// An operand without operators. Outside of restricted expressions also DEFAULT and OVERLAPS. Leaves its height.
    pub(super) fn primary(&mut self, context: Context) -> Result<Expr> {
        if self.is_sign('(') {
            let start = self.mark();
            let inner = self.parenthesized()?;
            return self.in_parentheses(inner, start, context);
        }
        let operand = self.plain_operand(context)?;
        self.height += if self.height == 0 { 1 } else { OPERAND_HEIGHT };
        Ok(operand)
    }

    fn plain_operand(&mut self, context: Context) -> Result<Expr> {
        let span = self.here();
        let kind = match &self.peek().kind {
            TokenKind::Integer(digits) => ExprKind::Literal(Literal::Integer(digits.clone())),
            TokenKind::Decimal(digits) => ExprKind::Literal(Literal::Decimal(digits.clone())),
            TokenKind::String(value) => ExprKind::Literal(Literal::String(value.clone())),
            TokenKind::Bits(digits) => ExprKind::Literal(Literal::Bits(digits.clone())),
            TokenKind::HexBits(digits) => ExprKind::Literal(Literal::HexBits(digits.clone())),
            TokenKind::Parameter(number) => {
                let parameter = Expr { kind: ExprKind::Parameter(*number), span };
                let start = self.mark();
                self.skip();
                let steps = self.indirection()?;
                if steps.is_empty() {
                    return Ok(parameter);
                }
                let kind = ExprKind::Path { operand: Box::new(parameter), steps };
                return Ok(Expr { kind, span: self.span_since(start) });
            }
            TokenKind::Name { .. } => return self.name_or_word(context),
            _ => return Err(self.error()),
        };
        self.skip();
        Ok(Expr { kind, span })
    }

    /// An operand that begins with a word.
    fn name_or_word(&mut self, context: Context) -> Result<Expr> {
        let start = self.mark();
        let Some(keyword) = self.keyword() else { return self.named() };
        let bracket = self.is_sign_at(1, '(');
        let kind = match keyword.name() {
            "null" => self.word_of(ExprKind::Literal(Literal::Null)),
            "true" => self.word_of(ExprKind::Literal(Literal::Boolean(true))),
            "false" => self.word_of(ExprKind::Literal(Literal::Boolean(false))),
            "default" if context != Context::Restricted => self.word_of(ExprKind::Default),
            "case" => self.case()?,
            "array" => self.array()?,
            "exists" if bracket => {
                self.skip();
                ExprKind::Exists(Box::new(self.query_in_parentheses()?))
            }
            "grouping" if bracket => {
                self.skip();
                ExprKind::Special(Box::new(SpecialCall::Grouping(self.exprs_in_parentheses()?)))
            }
            "row" if bracket => {
                self.skip();
                let fields = self.fields()?;
                return self.row(fields, true, start, context);
            }
            "unique" if context != Context::Restricted => return Err(self.unique_predicate()),
            // The lexer of PostgreSQL makes one token of it, which is no name.
            "nulls" if self.is_word_at(1, "first") || self.is_word_at(1, "last") => return Err(self.error()),
            _ => {
                if let Some(call) = self.special_call()? {
                    return Ok(call);
                }
                return if self.is_constant_type() { self.constant_of_type() } else { self.named() };
            }
        };
        Ok(Expr { kind, span: self.span_since(start) })
    }

    fn word_of(&mut self, kind: ExprKind) -> ExprKind {
        self.skip();
        kind
    }

    /// PostgreSQL knows the words, but not the predicate.
    fn unique_predicate(&mut self) -> SyntaxError {
        let place = self.here();
        self.skip();
        let treatment = self.words(&["nulls", "not"]) || self.word("nulls");
        if treatment && !self.word("distinct") {
            return self.error();
        }
        match self.query_in_parentheses() {
            Ok(_) => SyntaxError::new(FEATURE_NOT_SUPPORTED, "UNIQUE predicate is not yet implemented").at(place),
            Err(error) => error,
        }
    }

    /// An operand that begins with a name: a column, a call, or a constant of a named type.
    fn named(&mut self) -> Result<Expr> {
        let start = self.mark();
        let category = self.keyword().map_or(Category::Unreserved, crate::keyword::Keyword::category);
        if category == Category::Reserved {
            return Err(self.error());
        }
        let first = self.take_ident()?;
        // Words that name functions name no columns, and the other way round.
        let steps = match category {
            Category::TypeOrFunctionName => Vec::new(),
            _ => self.indirection()?,
        };
        let named = steps.iter().all(|step| matches!(step, Step::Field(_)));
        let function = named && (category != Category::ColumnName || !steps.is_empty());
        match self.peek().kind {
            TokenKind::Sign('(') if function => {
                let name = self.name_of(first, steps, start);
                self.call(name, start)
            }
            TokenKind::String(_) if function => {
                let name = self.name_of(first, steps, start);
                let span = name.span;
                let operand = self.string_constant()?;
                Ok(self.constant_cast(operand, Parser::named_type(name, Vec::new(), span), start))
            }
            TokenKind::Sign('(') | TokenKind::String(_) => Err(self.error()),
            _ if category == Category::TypeOrFunctionName => Err(self.error()),
            _ => Ok(self.column_of(first, steps, start)),
        }
    }

    /// The name that fields make.
    pub(super) fn name_of(&self, first: Ident, steps: Vec<Step>, start: usize) -> Name {
        let fields = steps.into_iter().filter_map(|step| match step {
            Step::Field(field) => Some(field),
            _ => None,
        });
        Name { parts: std::iter::once(first).chain(fields).collect(), span: self.span_since(start) }
    }

    /// A string as a constant. Errors: 42601.
    pub(super) fn string_constant(&mut self) -> Result<Expr> {
        let span = self.here();
        let kind = ExprKind::Literal(Literal::String(self.expect_string()?));
        Ok(Expr { kind, span })
    }

    /// A constant of a type, read since `start`.
    pub(super) fn constant_cast(&self, operand: Expr, data_type: TypeName, start: usize) -> Expr {
        let at: Span = data_type.span;
        let kind = ExprKind::Cast { operand: Box::new(operand), data_type, form: CastForm::Constant, at };
        Expr { kind, span: self.span_since(start) }
    }
}
