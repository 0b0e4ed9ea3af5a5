//! Random calls.

use super::{Choices, made};
use percosql_grammar::Span;
use percosql_grammar::tree::{
    Argument, Call, CurrentValue, Expr, ExprKind, FrameBound, FrameExclusion, FrameUnits, Over, SpecialCall, TrimSide,
    WindowFrame, WindowSpec,
};

impl Choices {
    /// A call. Without `full` it has no window, as the grammar takes it in FROM.
    pub fn call(&mut self, full: bool) -> Call {
        let name = self.name();
        let star = self.rarely();
        let arguments = if star { Vec::new() } else { self.list(0, Choices::argument) };
        let some = !arguments.is_empty();
        let distinct = some && self.rarely();
        let variadic = some && !distinct && self.rarely();
        let order_by = if some && self.rarely() { self.sort_items() } else { Vec::new() };
        let free = full && order_by.is_empty() && !distinct && !variadic;
        let within_group = if free && self.rarely() { self.sort_items() } else { Vec::new() };
        let filter = if full { self.option(|choices| Box::new(choices.expr())) } else { None };
        let over = if full { self.option(Choices::over) } else { None };
        Call { name, arguments, variadic, star, distinct, order_by, within_group, filter, over }
    }

    fn argument(&mut self) -> Argument {
        let value = match self.below(8) {
            7 => made(ExprKind::Star(self.idents(1))),
            _ => self.expr(),
        };
        Argument { name: self.option(Choices::ident), value }
    }

    fn over(&mut self) -> Over {
        if self.flag() { Over::Named(self.ident()) } else { Over::Spec(self.window_spec()) }
    }

    pub fn window_spec(&mut self) -> WindowSpec {
        WindowSpec {
            base: self.option(Choices::ident),
            partition_by: if self.flag() { self.exprs(1) } else { Vec::new() },
            order_by: if self.flag() { self.sort_items() } else { Vec::new() },
            frame: self.option(Choices::frame),
            span: Span::NONE,
        }
    }

    fn frame(&mut self) -> WindowFrame {
        let units = self.one_of(&[FrameUnits::Range, FrameUnits::Rows, FrameUnits::Groups]);
        let distance = |choices: &mut Self| Box::new(choices.expr());
        let (start, end) = match self.below(6) {
            0 => (FrameBound::UnboundedPreceding, None),
            1 => (FrameBound::CurrentRow, None),
            2 => (FrameBound::Preceding(distance(self)), None),
            3 => (FrameBound::UnboundedPreceding, Some(FrameBound::UnboundedFollowing)),
            4 => (FrameBound::Preceding(distance(self)), Some(FrameBound::Following(distance(self)))),
            _ => (FrameBound::Following(distance(self)), Some(FrameBound::UnboundedFollowing)),
        };
        let exclusions = [FrameExclusion::CurrentRow, FrameExclusion::Group, FrameExclusion::Ties];
        let exclude = self.option(|choices| choices.one_of(&exclusions));
        WindowFrame { units, start, end, exclude, span: Span::NONE }
    }

    pub fn special_call(&mut self) -> SpecialCall {
        let optional = |choices: &mut Self| choices.option(Choices::expr);
        match self.below(15) {
            0 => SpecialCall::Coalesce(self.exprs(1)),
            1 => SpecialCall::Greatest(self.exprs(1)),
            2 => SpecialCall::Least(self.exprs(1)),
            3 => SpecialCall::NullIf(self.expr(), self.expr()),
            4 => SpecialCall::Grouping(self.exprs(1)),
            5 => SpecialCall::Extract(self.one_of(&["year", "dow", "select", "a b", "zone"]).to_owned(), self.expr()),
            6 => SpecialCall::Position(self.expr(), self.expr()),
            7 => SpecialCall::Overlay(self.expr(), self.expr(), self.expr(), optional(self)),
            8 => self.substring(),
            9 => SpecialCall::SubstringSimilar(self.expr(), self.expr(), self.expr()),
            10 => {
                let side = self.one_of(&[TrimSide::Both, TrimSide::Leading, TrimSide::Trailing]);
                SpecialCall::Trim(side, self.exprs(1))
            }
            11 => SpecialCall::Normalize(self.expr(), self.option(|_| "NFC".to_owned())),
            12 => SpecialCall::Treat(self.expr(), self.type_name()),
            13 => SpecialCall::CollationFor(self.expr()),
            _ => self.current(),
        }
    }

    fn substring(&mut self) -> SpecialCall {
        let text = self.expr();
        let (first, second): (Expr, Expr) = (self.expr(), self.expr());
        match self.below(3) {
            0 => SpecialCall::Substring(text, Some(first), None),
            1 => SpecialCall::Substring(text, None, Some(second)),
            _ => SpecialCall::Substring(text, Some(first), Some(second)),
        }
    }

    fn current(&mut self) -> SpecialCall {
        use CurrentValue::*;
        if self.flag() {
            let value = self.one_of(&[Date, Role, User, PlainUser, SessionUser, Catalog, Schema]);
            return SpecialCall::Current(value, None);
        }
        let value = self.one_of(&[Time, Timestamp, LocalTime, LocalTimestamp]);
        SpecialCall::Current(value, self.option(|choices| choices.below(7) as i32))
    }
}
