//! Random expressions.

use super::{Choices, made};
use percosql_grammar::Span;
use percosql_grammar::tree::{CastForm, Expr, ExprKind, Ident, LikeKind, Literal, Operator, Quantity, Step};

impl Choices {
    pub fn expr(&mut self) -> Expr {
        made(if self.is_deep() { self.leaf() } else { self.deeper(Choices::kind) })
    }

    fn boxed(&mut self) -> Box<Expr> {
        Box::new(self.expr())
    }

    fn optional_expr(&mut self) -> Option<Expr> {
        self.option(Choices::expr)
    }

    pub fn exprs(&mut self, least: usize) -> Vec<Expr> {
        self.list(least, Choices::expr)
    }

    fn leaf(&mut self) -> ExprKind {
        match self.below(8) {
            0..=2 => ExprKind::Column(self.idents(1)),
            3 => ExprKind::Parameter(1 + self.below(9) as u32),
            4 if self.rarely() => ExprKind::Default,
            _ => ExprKind::Literal(self.literal()),
        }
    }

    fn literal(&mut self) -> Literal {
        let strings = ["", "a", "it's", "\\", "a\nb", "é", "--"];
        match self.below(8) {
            0 => Literal::Integer(self.one_of(&["1", "0", "-5", "007", "99999999999999999999"]).to_owned()),
            1 => Literal::Decimal(self.one_of(&["1.5", "-.5", "1e10", "2.", "-1.5e-3"]).to_owned()),
            2 => Literal::Null,
            3 => Literal::Boolean(self.flag()),
            4 => Literal::Bits(self.one_of(&["", "101"]).to_owned()),
            5 => Literal::HexBits(self.one_of(&["", "1F"]).to_owned()),
            _ => Literal::String(self.one_of(&strings).to_owned()),
        }
    }

    fn kind(&mut self) -> ExprKind {
        let at = Span::NONE;
        match self.below(40) {
            0..=4 => self.leaf(),
            5 | 6 => self.chain(|kind| matches!(kind, ExprKind::And(_)), ExprKind::And),
            7 | 8 => self.chain(|kind| matches!(kind, ExprKind::Or(_)), ExprKind::Or),
            9 => ExprKind::Not(self.boxed()),
            10 | 11 => self.unary(),
            12..=15 => ExprKind::Binary { op: self.operator(), left: self.boxed(), right: self.boxed() },
            16 => ExprKind::IsNull { operand: self.boxed(), negated: self.flag() },
            17 => ExprKind::IsTruth { operand: self.boxed(), truth: self.maybe(), negated: self.flag() },
            18 => ExprKind::IsDistinct { left: self.boxed(), right: self.boxed(), negated: self.flag(), at },
            19 => {
                let form = self.option(|choices| choices.one_of(&["NFC", "NFKD"]).to_owned());
                ExprKind::IsNormalized { operand: self.boxed(), form, negated: self.flag(), at }
            }
            20 | 21 => {
                let (operand, low, high) = (self.boxed(), self.boxed(), self.boxed());
                ExprKind::Between { operand, low, high, symmetric: self.flag(), negated: self.flag(), at }
            }
            22 => self.in_list(),
            23 => ExprKind::InQuery { operand: self.boxed(), query: Box::new(self.query()), negated: self.flag(), at },
            24 | 25 => ExprKind::Like {
                kind: self.one_of(&[LikeKind::Like, LikeKind::ILike, LikeKind::SimilarTo]),
                operand: self.boxed(),
                pattern: self.boxed(),
                escape: self.option(Choices::boxed),
                negated: self.flag(),
                at,
            },
            26 => ExprKind::Quantified {
                left: self.boxed(),
                op: self.operator(),
                all: self.flag(),
                right: self.quantity(),
            },
            27 | 28 => self.cast(),
            29 => ExprKind::Collate { operand: self.boxed(), collation: self.name(), at },
            30 => ExprKind::AtTimeZone { operand: self.boxed(), zone: self.boxed(), at },
            31 => {
                let left = vec![self.expr(), self.expr()];
                ExprKind::Overlaps { left, right: vec![self.expr(), self.expr()], at }
            }
            32 => ExprKind::Case {
                operand: self.option(Choices::boxed),
                branches: self.list(1, |choices| (choices.expr(), choices.expr())),
                otherwise: self.option(Choices::boxed),
            },
            33 | 34 => ExprKind::Call(Box::new(self.call(true))),
            35 => ExprKind::Special(Box::new(self.special_call())),
            36 => {
                let explicit = self.flag();
                ExprKind::Row { fields: self.exprs(if explicit { 0 } else { 2 }), explicit }
            }
            37 => ExprKind::Array(self.exprs(0)),
            38 => match self.below(3) {
                0 => ExprKind::Query(Box::new(self.query())),
                1 => ExprKind::Exists(Box::new(self.query())),
                _ => ExprKind::ArrayQuery(Box::new(self.query())),
            },
            _ => ExprKind::Path { operand: self.boxed(), steps: self.steps(1) },
        }
    }

    /// A chain, whose first operand is none of its own kind.
    fn chain(&mut self, is_same: fn(&ExprKind) -> bool, kind: fn(Vec<Expr>) -> ExprKind) -> ExprKind {
        let mut operands = self.exprs(2);
        if is_same(&operands[0].kind) {
            operands[0] = made(self.leaf());
        }
        kind(operands)
    }

    fn unary(&mut self) -> ExprKind {
        let schema = if self.rarely() { self.idents(1) } else { Vec::new() };
        let sign = self.one_of(&["-", "+", "@", "~", "||/"]).to_owned();
        let mut operand = self.boxed();
        let number = matches!(operand.kind, ExprKind::Literal(Literal::Integer(_) | Literal::Decimal(_)));
        if sign == "-" && schema.is_empty() && number {
            operand = Box::new(made(ExprKind::Column(vec![Ident::new("a")])));
        }
        ExprKind::Unary { op: Operator { schema, sign, span: Span::NONE }, operand }
    }

    fn in_list(&mut self) -> ExprKind {
        let operand = self.boxed();
        let mut list = self.exprs(1);
        if list.len() == 1 && matches!(list[0].kind, ExprKind::Query(_)) {
            list.push(made(self.leaf()));
        }
        ExprKind::InList { operand, list, negated: self.flag(), at: Span::NONE }
    }

    fn quantity(&mut self) -> Quantity {
        if self.flag() {
            return Quantity::Query(Box::new(self.query()));
        }
        match self.expr() {
            Expr { kind: ExprKind::Query(query), .. } => Quantity::Query(query),
            array => Quantity::Array(Box::new(array)),
        }
    }

    fn cast(&mut self) -> ExprKind {
        let at = Span::NONE;
        match self.below(3) {
            0 => ExprKind::Cast { operand: self.boxed(), data_type: self.type_name(), form: CastForm::DoubleColon, at },
            1 => ExprKind::Cast { operand: self.boxed(), data_type: self.type_name(), form: CastForm::Cast, at },
            _ => {
                let operand = Box::new(made(ExprKind::Literal(Literal::String("1".to_owned()))));
                let data_type = self.type_without_bounds();
                ExprKind::Cast { operand, data_type, form: CastForm::Constant, at }
            }
        }
    }

    /// Steps to a part. `.*` may only be the last.
    pub fn steps(&mut self, least: usize) -> Vec<Step> {
        let mut steps = self.list(least, |choices| match choices.below(4) {
            0 | 1 => Step::Element(choices.expr()),
            2 => Step::Field(choices.ident()),
            _ => Step::Slice(choices.optional_expr(), choices.optional_expr()),
        });
        if self.rarely() && !steps.is_empty() {
            steps.push(Step::All(Span::NONE));
        }
        steps
    }
}
