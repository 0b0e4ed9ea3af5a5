//! Writes expressions.

use super::level::Level;
use super::name::path;
use super::type_name;
use super::writer::{Print, Writer};
use crate::tree::{CastForm, Expr, ExprKind, LikeKind, Literal, Operator, Quantity, Step};

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// An expression that binds more loosely gets parentheses.
    least: Level,
    /// Whether the grammar takes no truth operators here (b_expr).
    restricted: bool,
}

impl Place {
    /// The place of any expression.
    pub(super) const ANY: Place = Place { least: Level::ANY, restricted: false };
    /// The place of a b_expr.
    pub(super) const RESTRICTED: Place = Place { least: Level::ANY, restricted: true };
    /// The place of a c_expr.
    pub(super) const PRIMARY: Place = Place { least: Level::PRIMARY, restricted: false };

    /// Where an expression stands that must bind at least so tightly.
    pub(super) fn at_least(least: Level) -> Place {
        Place { least, restricted: false }
    }

    fn with(self, least: Level) -> Place {
        Place { least, ..self }
    }
}

impl Print for Expr {
    fn print(&self, out: &mut Writer) {
        expr(self, Place::ANY, out);
    }
}

/// Writes an expression, in parentheses if its place needs them.
pub(super) fn expr(node: &Expr, place: Place, out: &mut Writer) {
    out.deeper(|out| {
        if Level::of(&node.kind) < place.least || place.restricted && !Level::is_restricted(&node.kind) {
            out.open();
            kind(&node.kind, Place::ANY, out);
            out.close();
        } else {
            kind(&node.kind, place, out);
        }
    });
}

/// Writes an expression in parentheses.
pub(super) fn in_parentheses(node: &Expr, out: &mut Writer) {
    out.open().node(node).close();
}

fn kind(kind: &ExprKind, place: Place, out: &mut Writer) {
    match kind {
        ExprKind::Column(parts) => path(parts, out),
        ExprKind::Star(parts) if parts.is_empty() => {
            out.word("*");
        }
        ExprKind::Star(parts) => {
            path(parts, out);
            out.sign(".*");
        }
        ExprKind::Literal(literal) => literal.print(out),
        ExprKind::Parameter(number) => {
            out.word(&format!("${number}"));
        }
        ExprKind::Default => {
            out.word("DEFAULT");
        }
        ExprKind::And(operands) => chain(operands, "AND", Level::AND, out),
        ExprKind::Or(operands) => chain(operands, "OR", Level::OR, out),
        ExprKind::Not(operand) => expr(operand, Place::at_least(Level::NOT), out.word("NOT")),
        ExprKind::Unary { op, operand } => unary(op, operand, place, out),
        ExprKind::Binary { op, left, right } => {
            let level = Level::of_operator(op);
            expr(left, place.with(left_of(level)), out);
            expr(right, place.with(level.above()), out.node(op));
        }
        ExprKind::Cast { operand, data_type, form, .. } => cast(operand, data_type, *form, place, out),
        ExprKind::Case { operand, branches, otherwise } => {
            out.word("CASE").optional(operand);
            for (when, then) in branches {
                out.word("WHEN").node(when).word("THEN").node(then);
            }
            out.clause("ELSE", otherwise).word("END");
        }
        ExprKind::Call(call) => call.print(out),
        ExprKind::Special(call) => call.print(out),
        ExprKind::Row { fields, explicit } => row(fields, *explicit, out),
        ExprKind::Array(items) => {
            out.word("ARRAY").tie("[").list(items).sign("]");
        }
        ExprKind::ArrayQuery(query) => {
            out.word("ARRAY").tie("(").node(query).close();
        }
        ExprKind::Query(query) => {
            out.open().node(query).close();
        }
        ExprKind::Exists(query) => {
            out.word("EXISTS").open().node(query).close();
        }
        ExprKind::Path { operand, steps } => {
            operand_of_path(operand, steps, out);
            self::steps(steps, out);
        }
        ExprKind::CurrentOf(cursor) => {
            out.word("CURRENT OF").node(cursor);
        }
        condition => self::condition(condition, place, out),
    }
}

/// Operators with words between or behind their operands.
fn condition(kind: &ExprKind, place: Place, out: &mut Writer) {
    let matched = Place::at_least(Level::MATCH.above());
    match kind {
        ExprKind::IsNull { operand, negated } => {
            expr(operand, Place::at_least(Level::IS.above()), out);
            out.either(*negated, "IS NOT NULL", "IS NULL");
        }
        ExprKind::IsTruth { operand, truth, negated } => {
            expr(operand, Place::at_least(Level::IS.above()), out);
            out.either(*negated, "IS NOT", "IS").word(match truth {
                Some(true) => "TRUE",
                Some(false) => "FALSE",
                None => "UNKNOWN",
            });
        }
        ExprKind::IsDistinct { left, right, negated, .. } => {
            expr(left, place.with(Level::IS.above()), out);
            out.either(*negated, "IS NOT DISTINCT FROM", "IS DISTINCT FROM");
            expr(right, place.with(Level::IS.above()), out);
        }
        ExprKind::IsNormalized { operand, form, negated, .. } => {
            expr(operand, Place::at_least(Level::IS.above()), out);
            out.either(*negated, "IS NOT", "IS").word_if(form.is_some(), form.as_deref().unwrap_or(""));
            out.word("NORMALIZED");
        }
        ExprKind::Between { operand, low, high, symmetric, negated, .. } => {
            expr(operand, matched, out);
            out.word_if(*negated, "NOT").word("BETWEEN").word_if(*symmetric, "SYMMETRIC");
            expr(low, Place::RESTRICTED, out);
            expr(high, matched, out.word("AND"));
        }
        ExprKind::InList { operand, list, negated, .. } => {
            expr(operand, matched, out);
            out.word_if(*negated, "NOT").word("IN").enclosed(list);
        }
        ExprKind::InQuery { operand, query, negated, .. } => {
            expr(operand, matched, out);
            out.word_if(*negated, "NOT").word("IN").open().node(query).close();
        }
        ExprKind::Like { kind, operand, pattern, escape, negated, .. } => {
            expr(operand, matched, out);
            out.word_if(*negated, "NOT").word(match kind {
                LikeKind::Like => "LIKE",
                LikeKind::ILike => "ILIKE",
                LikeKind::SimilarTo => "SIMILAR TO",
            });
            expr(pattern, matched, out);
            if let Some(escape) = escape {
                expr(escape, matched, out.word("ESCAPE"));
            }
        }
        ExprKind::Quantified { left, op, all, right } => {
            expr(left, Place::at_least(left_of(Level::of_operator(op))), out);
            out.node(op).either(*all, "ALL", "ANY").open();
            match right {
                Quantity::Array(array) => array.print(out),
                Quantity::Query(query) => query.print(out),
            }
            out.close();
        }
        ExprKind::Collate { operand, collation, .. } => {
            expr(operand, Place::at_least(Level::COLLATE), out);
            out.word("COLLATE").node(collation);
        }
        ExprKind::AtTimeZone { operand, zone, .. } => {
            expr(operand, Place::at_least(Level::ZONE), out);
            expr(zone, Place::at_least(Level::ZONE.above()), out.word("AT TIME ZONE"));
        }
        ExprKind::Overlaps { left, right, .. } => {
            row(left, left.len() < 2, out);
            out.word("OVERLAPS");
            row(right, right.len() < 2, out);
        }
        // `kind` writes all others.
        _ => {}
    }
}

/// How tightly the left operand of an operator must bind: comparisons do not associate, all others do to the left.
fn left_of(level: Level) -> Level {
    if level == Level::COMPARISON { level.above() } else { level }
}

fn chain(operands: &[Expr], word: &str, level: Level, out: &mut Writer) {
    for (at, operand) in operands.iter().enumerate() {
        out.word_if(at > 0, word);
        expr(operand, Place::at_least(level.above()), out);
    }
}

fn unary(op: &Operator, operand: &Expr, place: Place, out: &mut Writer) {
    let level = Level::of_prefix(op);
    let repeats = matches!(operand.kind, ExprKind::Unary { .. }) || level == Level::SIGN;
    let place = place.with(if repeats { level } else { level.above() });
    if op.schema.is_empty() {
        out.prefix(&op.sign, |out| expr(operand, place, out));
    } else {
        expr(operand, place, out.node(op));
    }
}

fn cast(operand: &Expr, data_type: &crate::tree::TypeName, form: CastForm, place: Place, out: &mut Writer) {
    match form {
        CastForm::Cast => {
            out.word("CAST").tie("(").node(operand).word("AS").node(data_type).close();
        }
        CastForm::DoubleColon => {
            expr(operand, place.with(Level::CAST), out);
            out.tie("::").node(data_type);
        }
        CastForm::Constant => type_name::constant(data_type, operand, out),
    }
}

/// Writes a row of values.
fn row(fields: &[Expr], explicit: bool, out: &mut Writer) {
    if explicit {
        out.word("ROW").arguments(fields);
    } else {
        out.enclosed(fields);
    }
}

/// Only a parameter, and a column before a bracket, go without parentheses.
fn operand_of_path(operand: &Expr, steps: &[Step], out: &mut Writer) {
    let bracket = matches!(steps.first(), Some(Step::Element(_) | Step::Slice(..)));
    match &operand.kind {
        ExprKind::Column(parts) if bracket => path(parts, out),
        ExprKind::Parameter(_) | ExprKind::Query(_) => operand.print(out),
        _ => in_parentheses(operand, out),
    }
}

/// Writes the steps to a part of a value.
pub(super) fn steps(steps: &[Step], out: &mut Writer) {
    for step in steps {
        match step {
            Step::Field(name) => out.tie(".").node(name),
            Step::All(_) => out.sign(".*"),
            Step::Element(index) => out.tie("[").node(index).sign("]"),
            Step::Slice(low, high) => out.tie("[").optional(low).tie(":").optional(high).sign("]"),
        };
    }
}

impl Print for Literal {
    fn print(&self, out: &mut Writer) {
        match self {
            Literal::Null => out.word("NULL"),
            Literal::Boolean(true) => out.word("TRUE"),
            Literal::Boolean(false) => out.word("FALSE"),
            Literal::Integer(digits) | Literal::Decimal(digits) => out.word(digits),
            Literal::String(value) => out.string(value),
            Literal::Bits(digits) => out.word(&format!("B'{digits}'")),
            Literal::HexBits(digits) => out.word(&format!("X'{digits}'")),
        };
    }
}

impl Print for Operator {
    fn print(&self, out: &mut Writer) {
        if self.schema.is_empty() {
            out.word(&self.sign);
        } else {
            out.word("OPERATOR").tie("(");
            path(&self.schema, out);
            out.tie(".").word(&self.sign).close();
        }
    }
}
