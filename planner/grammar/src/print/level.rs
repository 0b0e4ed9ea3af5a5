//! [`Level`]: how tightly an expression binds (manual, table 4.2).

use crate::tree::{ExprKind, Literal, Operator};

/// How tightly an expression binds its operands. The loosest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(u8);

impl Level {
    pub(super) const ANY: Level = Level(0);
    pub(super) const OR: Level = Level(1);
    pub(super) const AND: Level = Level(2);
    pub(super) const NOT: Level = Level(3);
    pub(super) const IS: Level = Level(4);
    pub(super) const COMPARISON: Level = Level(5);
    pub(super) const MATCH: Level = Level(6);
    pub(super) const OPERATOR: Level = Level(7);
    pub(super) const SUM: Level = Level(8);
    pub(super) const PRODUCT: Level = Level(9);
    pub(super) const POWER: Level = Level(10);
    pub(super) const ZONE: Level = Level(11);
    pub(super) const COLLATE: Level = Level(12);
    pub(super) const SIGN: Level = Level(13);
    pub(super) const CAST: Level = Level(14);
    pub(super) const PRIMARY: Level = Level(15);

    /// The next tighter level.
    pub(super) fn above(self) -> Level {
        Level(self.0 + 1)
    }

    /// The level of an operator between its operands.
    pub(super) fn of_operator(op: &Operator) -> Level {
        if !op.schema.is_empty() {
            return Level::OPERATOR;
        }
        match op.sign.as_str() {
            "<" | ">" | "=" | "<=" | ">=" | "<>" => Level::COMPARISON,
            "+" | "-" => Level::SUM,
            "*" | "/" | "%" => Level::PRODUCT,
            "^" => Level::POWER,
            _ => Level::OPERATOR,
        }
    }

    /// The level of an operator before its operand.
    pub(super) fn of_prefix(op: &Operator) -> Level {
        if op.schema.is_empty() && matches!(op.sign.as_str(), "+" | "-") { Level::SIGN } else { Level::OPERATOR }
    }

    /// The level of an expression.
    pub(super) fn of(kind: &ExprKind) -> Level {
        match kind {
            ExprKind::Or(_) => Level::OR,
            ExprKind::And(_) => Level::AND,
            ExprKind::Not(_) => Level::NOT,
            ExprKind::IsNull { .. }
            | ExprKind::IsTruth { .. }
            | ExprKind::IsDistinct { .. }
            | ExprKind::IsNormalized { .. } => Level::IS,
            ExprKind::Between { .. }
            | ExprKind::InList { .. }
            | ExprKind::InQuery { .. }
            | ExprKind::Like { .. }
            | ExprKind::Overlaps { .. } => Level::MATCH,
            ExprKind::Unary { op, .. } => Level::of_prefix(op),
            ExprKind::Binary { op, .. } | ExprKind::Quantified { op, .. } => Level::of_operator(op),
            ExprKind::AtTimeZone { .. } => Level::ZONE,
            ExprKind::Collate { .. } => Level::COLLATE,
            ExprKind::Cast { form: crate::tree::CastForm::DoubleColon, .. } | ExprKind::Default => Level::CAST,
            ExprKind::Literal(Literal::Integer(digits) | Literal::Decimal(digits)) if digits.starts_with('-') => {
                Level::SIGN
            }
            _ => Level::PRIMARY,
        }
    }

    /// Whether an expression stands where the grammar takes no truth operators (b_expr), its operands aside.
    pub(super) fn is_restricted(kind: &ExprKind) -> bool {
        !matches!(
            kind,
            ExprKind::Or(_)
                | ExprKind::And(_)
                | ExprKind::Not(_)
                | ExprKind::IsNull { .. }
                | ExprKind::IsTruth { .. }
                | ExprKind::IsNormalized { .. }
                | ExprKind::Between { .. }
                | ExprKind::InList { .. }
                | ExprKind::InQuery { .. }
                | ExprKind::Like { .. }
                | ExprKind::Overlaps { .. }
                | ExprKind::Quantified { .. }
                | ExprKind::AtTimeZone { .. }
                | ExprKind::Collate { .. }
                | ExprKind::Default
        )
    }
}
