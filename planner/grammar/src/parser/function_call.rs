//! Calls of functions by name.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::keyword::{Category, Keyword};
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Argument, Call, Expr, ExprKind, Name, Over, Step};

/// A call without what follows its parentheses.
struct Application {
    call: Call,
    /// The place of ORDER BY.
    order: Span,
    /// Whether the parentheses hold nothing that a type's modifiers cannot be. They may still be named or sorted.
    plain: bool,
}

impl Parser<'_> {
    /// A call of a function, of any form (func_expr_windowless): `f(…)`, COALESCE and its kin, CAST. Errors: 42601.
    pub fn call_without_window(&mut self) -> Result<Expr> {
        if let Some(call) = self.special_call()? {
            return Ok(call);
        }
        let start = self.mark();
        let category = self.keyword().map_or(Category::Unreserved, Keyword::category);
        if category == Category::Reserved {
            return Err(self.error());
        }
        let first = self.take_ident()?;
        let steps = if category == Category::TypeOrFunctionName { Vec::new() } else { self.indirection()? };
        let named = steps.iter().all(|step| matches!(step, Step::Field(_)));
        if !named || category == Category::ColumnName && steps.is_empty() || !self.is_sign('(') {
            return Err(self.error());
        }
        let name = self.name_of(first, steps, start);
        let call = self.application(name)?.call;
        Ok(Expr { kind: ExprKind::Call(Box::new(call)), span: self.span_since(start) })
    }

    /// A call whose name was read since `start`, or a constant of a type with modifiers (func_expr, AexprConst).
    pub(super) fn call(&mut self, name: Name, start: usize) -> Result<Expr> {
        let application = self.application(name)?;
        if application.plain && matches!(self.peek().kind, TokenKind::String(_)) {
            return self.constant_with_modifiers(application, start);
        }
        let mut call = application.call;
        let within = self.here();
        if self.word("within") {
            self.expect_word("group")?;
            self.expect_sign('(')?;
            self.expect_words(&["order", "by"])?;
            call.within_group = self.sort_items()?;
            self.expect_sign(')')?;
        }
        if self.word("filter") {
            self.expect_sign('(')?;
            self.expect_word("where")?;
            call.filter = Some(Box::new(self.expr()?));
            self.expect_sign(')')?;
        }
        if self.word("over") {
            let spec = self.is_sign('(');
            call.over = Some(if spec { Over::Spec(self.window_spec()?) } else { Over::Named(self.column_name()?) });
        }
        if !call.within_group.is_empty() {
            let wrong = match () {
                () if !call.order_by.is_empty() => Some("multiple ORDER BY clauses"),
                () if call.distinct => Some("DISTINCT"),
                () if call.variadic => Some("VARIADIC"),
                () => None,
            };
            if let Some(what) = wrong {
                return Err(SyntaxError::syntax(format!("cannot use {what} with WITHIN GROUP")).at(within));
            }
        }
        Ok(Expr { kind: ExprKind::Call(Box::new(call)), span: self.span_since(start) })
    }

    /// The string behind `name(modifiers)`.
    fn constant_with_modifiers(&mut self, application: Application, start: usize) -> Result<Expr> {
        let Application { call, order, .. } = application;
        let data_type_span = self.span_since(start);
        let operand = self.string_constant()?;
        let mut modifiers = Vec::new();
        for argument in call.arguments {
            if let Some(name) = argument.name {
                return Err(SyntaxError::syntax("type modifier cannot have parameter name").at(name.span));
            }
            modifiers.push(argument.value);
        }
        if !call.order_by.is_empty() {
            return Err(SyntaxError::syntax("type modifier cannot have ORDER BY").at(order));
        }
        let data_type = Parser::named_type(call.name, modifiers, data_type_span);
        Ok(self.constant_cast(operand, data_type, start))
    }

    /// The parentheses of a call and what stands in them (func_application).
    fn application(&mut self, name: Name) -> Result<Application> {
        let mut call = empty_call(name);
        let mut order = Span::NONE;
        let mut plain = false;
        self.expect_sign('(')?;
        if self.operator("*") {
            call.star = true;
        } else if !self.is_sign(')') {
            call.distinct = self.word("distinct");
            let quantified = call.distinct || self.word("all");
            loop {
                call.variadic = !quantified && self.word("variadic");
                call.arguments.push(self.argument()?);
                if call.variadic || !self.sign(',') {
                    break;
                }
            }
            plain = !quantified && !call.variadic;
            order = self.here();
            if self.word("order") {
                self.expect_word("by")?;
                call.order_by = self.sort_items()?;
            }
        }
        self.expect_sign(')')?;
        Ok(Application { call, order, plain })
    }

    /// An argument, which a name may precede (func_arg_expr).
    pub(super) fn argument(&mut self) -> Result<Argument> {
        let named = self.is_argument_named();
        let name = if named { Some(self.function_name_word()?) } else { None };
        if named {
            self.skip();
        }
        Ok(Argument { name, value: self.expr()? })
    }

    /// Whether an argument with its name is next.
    pub(super) fn is_argument_named(&self) -> bool {
        self.is_function_name_at(0) && matches!(self.peek_at(1).kind, TokenKind::ColonEquals | TokenKind::Arrow)
    }

    /// The rest of a plain call of a function with a grammar of its own. Its first argument was read already.
    pub(super) fn plain_call(&mut self, name: Name, first: Option<Argument>) -> Result<ExprKind> {
        let mut call = empty_call(name);
        call.arguments.extend(first);
        while !call.arguments.is_empty() && self.sign(',') {
            call.arguments.push(self.argument()?);
        }
        self.expect_sign(')')?;
        Ok(ExprKind::Call(Box::new(call)))
    }
}

fn empty_call(name: Name) -> Call {
    Call {
        name,
        arguments: Vec::new(),
        variadic: false,
        star: false,
        distinct: false,
        order_by: Vec::new(),
        within_group: Vec::new(),
        filter: None,
        over: None,
    }
}
