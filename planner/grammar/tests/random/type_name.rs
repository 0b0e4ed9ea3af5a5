//! Random types.

use super::{Choices, made};
use percosql_grammar::Span;
use percosql_grammar::tree::{Expr, ExprKind, IntervalFields, Literal, TypeBase, TypeName};

fn number(value: usize) -> Expr {
    made(ExprKind::Literal(Literal::Integer(value.to_string())))
}

impl Choices {
    pub fn type_name(&mut self) -> TypeName {
        let mut made = self.type_without_bounds();
        if self.rarely() {
            made.array_bounds = self.list(1, |choices| choices.option(|choices| choices.below(9) as i32));
        }
        made
    }

    pub fn type_without_bounds(&mut self) -> TypeName {
        let (base, modifiers) = match self.below(14) {
            0..=2 => (TypeBase::Named(self.name()), if self.rarely() { self.exprs(1) } else { Vec::new() }),
            3 => (TypeBase::Boolean, Vec::new()),
            4 => (self.one_of(&[TypeBase::SmallInt, TypeBase::Integer, TypeBase::BigInt]), Vec::new()),
            5 => (self.one_of(&[TypeBase::Real, TypeBase::DoublePrecision]), Vec::new()),
            6 => (TypeBase::Numeric, if self.flag() { self.exprs(1) } else { Vec::new() }),
            7 => (self.one_of(&[TypeBase::Char, TypeBase::VarChar]), self.precision()),
            8 => (TypeBase::Bit, if self.flag() { self.exprs(1) } else { Vec::new() }),
            9 => (TypeBase::BitVarying, if self.flag() { self.exprs(1) } else { Vec::new() }),
            10 => (TypeBase::Time(self.flag()), self.precision()),
            11 => (TypeBase::Timestamp(self.flag()), self.precision()),
            _ => self.interval(),
        };
        TypeName { base, modifiers, array_bounds: Vec::new(), set_of: false, span: Span::NONE }
    }

    fn precision(&mut self) -> Vec<Expr> {
        if self.flag() { vec![number(1 + self.below(6))] } else { Vec::new() }
    }

    /// An INTERVAL. Only seconds have a precision, if there are fields.
    fn interval(&mut self) -> (TypeBase, Vec<Expr>) {
        use IntervalFields::*;
        match self.below(3) {
            0 => (TypeBase::Interval(None), self.precision()),
            1 => {
                let fields = [Year, Month, Day, Hour, Minute, YearToMonth, DayToHour, DayToMinute, HourToMinute];
                (TypeBase::Interval(Some(self.one_of(&fields))), Vec::new())
            }
            _ => {
                let fields = [Second, DayToSecond, HourToSecond, MinuteToSecond];
                (TypeBase::Interval(Some(self.one_of(&fields))), self.precision())
            }
        }
    }
}
