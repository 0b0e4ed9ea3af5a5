//! Calls with a grammar of their own (func_expr_common_subexpr).

use super::Parser;
use super::expression::Context;
use crate::error::{Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{Argument, CastForm, CurrentValue, Expr, ExprKind, Name, SpecialCall, TrimSide};

impl Parser<'_> {
    /// A call that no plain call is like, if one is next.
    pub(super) fn special_call(&mut self) -> Result<Option<Expr>> {
        let start = self.mark();
        let Some(keyword) = self.keyword() else { return Ok(None) };
        if let Some(value) = self.current_value()? {
            let kind = ExprKind::Special(Box::new(value));
            return Ok(Some(Expr { kind, span: self.span_since(start) }));
        }
        let word = keyword.name();
        let kind = match word {
            "cast" => self.cast()?,
            "collation" if self.is_word_at(1, "for") => {
                self.skip();
                self.skip();
                self.expect_sign('(')?;
                let value = self.expr()?;
                self.expect_sign(')')?;
                ExprKind::Special(Box::new(SpecialCall::CollationFor(value)))
            }
            "xmlconcat" | "xmlelement" | "xmlexists" | "xmlforest" | "xmlparse" | "xmlpi" | "xmlroot"
            | "xmlserialize"
                if self.is_sign_at(1, '(') =>
            {
                return Err(SyntaxError::unsupported(word.to_uppercase()).at(self.here()));
            }
            "substring" | "overlay" if self.is_sign_at(1, '(') => self.part_of_text(word == "substring")?,
            "coalesce" | "greatest" | "least" | "nullif" | "extract" | "position" | "trim" | "normalize" | "treat"
                if self.is_sign_at(1, '(') =>
            {
                self.skip();
                self.skip();
                let call = self.special_arguments(word)?;
                self.expect_sign(')')?;
                ExprKind::Special(Box::new(call))
            }
            _ => return Ok(None),
        };
        Ok(Some(Expr { kind, span: self.span_since(start) }))
    }

    /// What stands in the parentheses of these words.
    fn special_arguments(&mut self, word: &str) -> Result<SpecialCall> {
        Ok(match word {
            "coalesce" => SpecialCall::Coalesce(self.exprs()?),
            "greatest" => SpecialCall::Greatest(self.exprs()?),
            "least" => SpecialCall::Least(self.exprs()?),
            "nullif" => {
                let left = self.expr()?;
                self.expect_sign(',')?;
                SpecialCall::NullIf(left, self.expr()?)
            }
            "extract" => {
                let field = self.extract_field()?;
                self.expect_word("from")?;
                SpecialCall::Extract(field, self.expr()?)
            }
            "position" => {
                let part = self.restricted_expr()?;
                self.expect_word("in")?;
                SpecialCall::Position(part, self.restricted_expr()?)
            }
            "trim" => self.trim()?,
            "normalize" => {
                let value = self.expr()?;
                let form = if self.sign(',') { Some(self.normal_form()?) } else { None };
                SpecialCall::Normalize(value, form)
            }
            _ => {
                let value = self.expr()?;
                self.expect_word("as")?;
                SpecialCall::Treat(value, self.type_name()?)
            }
        })
    }

    fn cast(&mut self) -> Result<ExprKind> {
        let at = self.here();
        self.skip();
        self.expect_sign('(')?;
        let operand = Box::new(self.expr()?);
        self.expect_word("as")?;
        let data_type = self.type_name()?;
        self.expect_sign(')')?;
        Ok(ExprKind::Cast { operand, data_type, form: CastForm::Cast, at })
    }

    /// The field of EXTRACT (extract_arg): a name that is no keyword, a field of intervals, or a string.
    fn extract_field(&mut self) -> Result<String> {
        let field = match &self.peek().kind {
            TokenKind::Name { value, keyword: None, .. } | TokenKind::String(value) => value,
            TokenKind::Name { value, .. }
                if matches!(value.as_str(), "year" | "month" | "day" | "hour" | "minute" | "second") =>
            {
                value
            }
            _ => return Err(self.error()),
        };
        let field = field.to_lowercase();
        self.skip();
        Ok(field)
    }

    fn trim(&mut self) -> Result<SpecialCall> {
        let side = match self.one_word_of(&["both", "leading", "trailing"]) {
            Some(1) => TrimSide::Leading,
            Some(2) => TrimSide::Trailing,
            _ => TrimSide::Both,
        };
        if self.word("from") {
            return Ok(SpecialCall::Trim(side, self.exprs()?));
        }
        let first = self.expr()?;
        let mut arguments = Vec::new();
        if self.word("from") {
            arguments = self.exprs()?;
            arguments.push(first);
        } else {
            arguments.push(first);
            while self.sign(',') {
                arguments.push(self.expr()?);
            }
        }
        Ok(SpecialCall::Trim(side, arguments))
    }

    /// SUBSTRING or OVERLAY, also as a plain call.
    fn part_of_text(&mut self, substring: bool) -> Result<ExprKind> {
        let start = self.mark();
        let word = self.take_ident()?;
        let name = Name { parts: vec![word], span: self.span_since(start) };
        self.expect_sign('(')?;
        if self.is_sign(')') {
            return self.plain_call(name, None);
        }
        if self.is_argument_named() {
            let first = self.argument()?;
            return self.plain_call(name, Some(first));
        }
        let text = self.expr_in(if substring { Context::Substring } else { Context::General })?;
        let special = match () {
            () if substring && self.word("from") => {
                let from = self.expr()?;
                let length = if self.word("for") { Some(self.expr()?) } else { None };
                SpecialCall::Substring(text, Some(from), length)
            }
            () if substring && self.word("for") => {
                let length = self.expr()?;
                let from = if self.word("from") { Some(self.expr()?) } else { None };
                SpecialCall::Substring(text, from, Some(length))
            }
            () if substring && self.word("similar") => {
                let pattern = self.expr()?;
                self.expect_word("escape")?;
                SpecialCall::SubstringSimilar(text, pattern, self.expr()?)
            }
            () if !substring && self.word("placing") => {
                let new = self.expr()?;
                self.expect_word("from")?;
                let from = self.expr()?;
                let length = if self.word("for") { Some(self.expr()?) } else { None };
                SpecialCall::Overlay(text, new, from, length)
            }
            () => return self.plain_call(name, Some(Argument { name: None, value: text })),
        };
        self.expect_sign(')')?;
        Ok(ExprKind::Special(Box::new(special)))
    }

    /// CURRENT_DATE or its kin, if one is next.
    fn current_value(&mut self) -> Result<Option<SpecialCall>> {
        use CurrentValue::*;
        const WORDS: [(&str, CurrentValue, bool); 11] = [
            ("current_date", Date, false),
            ("current_time", Time, true),
            ("current_timestamp", Timestamp, true),
            ("localtime", LocalTime, true),
            ("localtimestamp", LocalTimestamp, true),
            ("current_role", Role, false),
            ("current_user", User, false),
            ("user", PlainUser, false),
            ("session_user", SessionUser, false),
            ("current_catalog", Catalog, false),
            ("current_schema", Schema, false),
        ];
        let Some((_, value, precise)) = WORDS.iter().find(|(word, ..)| self.is_word(word)) else { return Ok(None) };
        // The only one that is a function as well.
        if *value == Schema && matches!(self.peek_at(1).kind, TokenKind::Sign('(') | TokenKind::String(_)) {
            return Ok(None);
        }
        self.skip();
        let precision = if *precise && self.sign('(') {
            let precision = self.small_integer()?;
            self.expect_sign(')')?;
            Some(precision)
        } else {
            None
        };
        Ok(Some(SpecialCall::Current(*value, precision)))
    }
}
