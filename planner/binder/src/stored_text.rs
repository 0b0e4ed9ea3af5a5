//! [`Text`]: the text of an expression as the catalog stores it. Every operator with its operands is in parentheses, and
//! columns have no qualifiers. [`syntax::parse_expression`] reads it back to the same meaning.

use std::fmt::{Display, Formatter, Result};
use syntax::ast::{
    Call, CastForm, Expr, ExprKind, Ident, LikeKind, Literal, Quantity, SpecialCall, Step, TrimSide, TypeBase, TypeName,
};
use syntax::deeper;
use syntax::names::quote;
use types::BaseType;

/// An expression, displayed as its stored text.
pub struct Text<'e>(pub &'e Expr);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        deeper(|| expression(self.0, f))
    }
}

/// Expressions with a separator between them.
struct Joined<'e>(&'e [Expr], &'e str);

impl Display for Joined<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, expr) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(self.1)?;
            }
            Text(expr).fmt(f)?;
        }
        Ok(())
    }
}

/// A word before an expression, if there is one.
struct Clause<'e>(&'e str, Option<&'e Expr>);

impl Display for Clause<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.1 {
            Some(expr) => write!(f, " {} {}", self.0, Text(expr)),
            None => Ok(()),
        }
    }
}

/// Whether the text of an expression is in parentheses of its own.
pub fn has_brackets(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::IsTruth { .. }
        | ExprKind::IsDistinct { .. }
        | ExprKind::IsNormalized { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::InQuery { .. }
        | ExprKind::Like { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::Collate { .. }
        | ExprKind::AtTimeZone { .. }
        | ExprKind::Overlaps { .. } => true,
        ExprKind::Literal(Literal::Integer(digits) | Literal::Decimal(digits)) => digits.starts_with('-'),
        _ => false,
    }
}

/// Quotes a string literal.
pub fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

fn expression(expr: &Expr, f: &mut Formatter<'_>) -> Result {
    match &expr.kind {
        ExprKind::Column(names) => column(names, f),
        ExprKind::Literal(value) => constant(value, f),
        ExprKind::And(operands) => write!(f, "({})", Joined(operands, " AND ")),
        ExprKind::Or(operands) => write!(f, "({})", Joined(operands, " OR ")),
        ExprKind::Not(operand) => write!(f, "(NOT {})", Text(operand)),
        ExprKind::Unary { op, operand } => write!(f, "({op} {})", Text(operand)),
        ExprKind::Binary { op, left, right } => write!(f, "({} {op} {})", Text(left), Text(right)),
        ExprKind::Cast { operand, data_type, form, .. } => cast(operand, data_type, *form, f),
        ExprKind::Case { operand, branches, otherwise } => {
            f.write_str("CASE")?;
            if let Some(operand) = operand {
                write!(f, " {}", Text(operand))?;
            }
            for (when, then) in branches {
                write!(f, " WHEN {} THEN {}", Text(when), Text(then))?;
            }
            write!(f, "{} END", Clause("ELSE", otherwise.as_deref()))
        }
        ExprKind::Call(call) => self::call(expr, call, f),
        ExprKind::Special(call) => special(call, f),
        ExprKind::Row { fields, explicit } => {
            write!(f, "{}({})", if *explicit { "ROW" } else { "" }, Joined(fields, ", "))
        }
        ExprKind::Array(items) => write!(f, "ARRAY[{}]", Joined(items, ", ")),
        ExprKind::Path { operand, steps } => path(operand, steps, f),
        // Operators with a query are in parentheses like others.
        ExprKind::InQuery { .. } => write!(f, "({expr})"),
        ExprKind::Star(_)
        | ExprKind::Parameter(_)
        | ExprKind::Default
        | ExprKind::ArrayQuery(_)
        | ExprKind::Query(_)
        | ExprKind::Exists(_)
        | ExprKind::CurrentOf(_) => write!(f, "{expr}"),
        _ => condition(expr, f),
    }
}

/// Operators with words between or behind their operands.
fn condition(expr: &Expr, f: &mut Formatter<'_>) -> Result {
    let not = |negated: bool| if negated { "NOT " } else { "" };
    match &expr.kind {
        ExprKind::IsNull { operand, negated } => write!(f, "({} IS {}NULL)", Text(operand), not(*negated)),
        ExprKind::IsTruth { operand, truth, negated } => {
            let word = match truth {
                Some(true) => "TRUE",
                Some(false) => "FALSE",
                None => "UNKNOWN",
            };
            write!(f, "({} IS {}{word})", Text(operand), not(*negated))
        }
        ExprKind::IsDistinct { left, right, negated, .. } => {
            write!(f, "({} IS {}DISTINCT FROM {})", Text(left), not(*negated), Text(right))
        }
        ExprKind::IsNormalized { operand, form, negated, .. } => {
            write!(f, "({} IS {}", Text(operand), not(*negated))?;
            if let Some(form) = form {
                write!(f, "{form} ")?;
            }
            f.write_str("NORMALIZED)")
        }
        ExprKind::Between { operand, low, high, symmetric, negated, .. } => {
            let symmetric = if *symmetric { "SYMMETRIC " } else { "" };
            let (operand, low, high) = (Text(operand), Text(low), Text(high));
            write!(f, "({operand} {}BETWEEN {symmetric}{low} AND {high})", not(*negated))
        }
        ExprKind::InList { operand, list, negated, .. } => {
            write!(f, "({} {}IN ({}))", Text(operand), not(*negated), Joined(list, ", "))
        }
        ExprKind::Like { kind, operand, pattern, escape, negated, .. } => {
            let word = match kind {
                LikeKind::Like => "LIKE",
                LikeKind::ILike => "ILIKE",
                LikeKind::SimilarTo => "SIMILAR TO",
            };
            let escape = Clause("ESCAPE", escape.as_deref());
            write!(f, "({} {}{word} {}{escape})", Text(operand), not(*negated), Text(pattern))
        }
        ExprKind::Quantified { left, op, all, right: Quantity::Array(array) } => {
            write!(f, "({} {op} {} ({}))", Text(left), if *all { "ALL" } else { "ANY" }, Text(array))
        }
        ExprKind::Collate { operand, collation, .. } => write!(f, "({} COLLATE {collation})", Text(operand)),
        ExprKind::AtTimeZone { operand, zone, .. } => write!(f, "({} AT TIME ZONE {})", Text(operand), Text(zone)),
        ExprKind::Overlaps { left, right, .. } => {
            write!(f, "(({}) OVERLAPS ({}))", Joined(left, ", "), Joined(right, ", "))
        }
        // `expression` writes all others.
        _ => write!(f, "({expr})"),
    }
}

/// A column without its qualifiers.
fn column(names: &[Ident], f: &mut Formatter<'_>) -> Result {
    f.write_str(&names.last().map(|name| quote(&name.value)).unwrap_or_default())
}

fn constant(value: &Literal, f: &mut Formatter<'_>) -> Result {
    match value {
        Literal::Null => f.write_str("NULL"),
        Literal::Boolean(value) => write!(f, "{value}"),
        // Without parentheses the sign would bind less tightly than a cast.
        Literal::Integer(digits) | Literal::Decimal(digits) if digits.starts_with('-') => write!(f, "({digits})"),
        Literal::Integer(digits) | Literal::Decimal(digits) => f.write_str(digits),
        Literal::String(text) => f.write_str(&literal(text)),
        Literal::Bits(_) | Literal::HexBits(_) => write!(f, "{value}"),
    }
}

fn cast(operand: &Expr, data_type: &TypeName, form: CastForm, f: &mut Formatter<'_>) -> Result {
    let name = match (&data_type.base, form) {
        // Before a string, char without a length is unlimited.
        (TypeBase::Char, CastForm::Constant) if data_type.modifiers.is_empty() => "bpchar".to_string(),
        _ => type_text(data_type),
    };
    match &operand.kind {
        ExprKind::Literal(Literal::String(text)) => write!(f, "{}::{name}", literal(text)),
        // Parentheses would be no harm, but the texts had none before.
        ExprKind::Array(_) => write!(f, "{}::{name}", Text(operand)),
        _ => write!(f, "({})::{name}", Text(operand)),
    }
}

/// The name of a type that means the same wherever it is read.
fn type_text(name: &TypeName) -> String {
    match (super::type_name::sql_type(name), &name.base) {
        // "character" without a modifier would have the length 1.
        (Ok(ty), _) if ty.base == BaseType::Char && ty.modifier == -1 => {
            format!("bpchar{}", if ty.array { "[]" } else { "" })
        }
        (Ok(ty), _) => ty.format(),
        (Err(_), TypeBase::Named(parts)) if name.modifiers.is_empty() => {
            let parts: Vec<String> = parts.parts.iter().map(|part| quote(&part.value)).collect();
            format!("{}{}", parts.join("."), if name.array_bounds.is_empty() { "" } else { "[]" })
        }
        (Err(_), _) => name.to_string(),
    }
}

fn call(expr: &Expr, call: &Call, f: &mut Formatter<'_>) -> Result {
    let plain = call.order_by.is_empty() && call.within_group.is_empty() && call.filter.is_none();
    if !plain || call.over.is_some() {
        // Nothing like this is stored.
        return write!(f, "{expr}");
    }
    match call.name.parts.as_slice() {
        // Without quotes these are no names of functions everywhere.
        [only] if matches!(only.value.as_str(), "cube" | "rollup" | "operator") => write!(f, "\"{}\"", only.value)?,
        _ => write!(f, "{}", call.name)?,
    }
    f.write_str(match (call.star, call.distinct) {
        (true, _) => "(*",
        (false, true) => "(DISTINCT ",
        (false, false) => "(",
    })?;
    for (at, argument) in call.arguments.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        if call.variadic && at + 1 == call.arguments.len() {
            f.write_str("VARIADIC ")?;
        }
        if let Some(name) = &argument.name {
            write!(f, "{name} => ")?;
        }
        Text(&argument.value).fmt(f)?;
    }
    f.write_str(")")
}

fn special(call: &SpecialCall, f: &mut Formatter<'_>) -> Result {
    match call {
        SpecialCall::Coalesce(arguments) => write!(f, "COALESCE({})", Joined(arguments, ", ")),
        SpecialCall::Greatest(arguments) => write!(f, "GREATEST({})", Joined(arguments, ", ")),
        SpecialCall::Least(arguments) => write!(f, "LEAST({})", Joined(arguments, ", ")),
        SpecialCall::Grouping(arguments) => write!(f, "GROUPING({})", Joined(arguments, ", ")),
        SpecialCall::NullIf(left, right) => write!(f, "NULLIF({}, {})", Text(left), Text(right)),
        SpecialCall::Extract(field, source) => {
            let field = if is_field(field) { field.clone() } else { literal(field) };
            write!(f, "EXTRACT({field} FROM {})", Text(source))
        }
        SpecialCall::Position(part, whole) => write!(f, "POSITION({} IN {})", Text(part), Text(whole)),
        SpecialCall::Overlay(text, replacement, from, count) => {
            let (text, replacement, from) = (Text(text), Text(replacement), Text(from));
            write!(f, "OVERLAY({text} PLACING {replacement} FROM {from}{})", Clause("FOR", count.as_ref()))
        }
        SpecialCall::Substring(text, from, count) => {
            let (from, count) = (Clause("FROM", from.as_ref()), Clause("FOR", count.as_ref()));
            write!(f, "SUBSTRING({}{from}{count})", Text(text))
        }
        SpecialCall::SubstringSimilar(text, pattern, escape) => {
            write!(f, "SUBSTRING({} SIMILAR {} ESCAPE {})", Text(text), Text(pattern), Text(escape))
        }
        SpecialCall::Trim(side, arguments) => {
            let side = match side {
                TrimSide::Both => "BOTH",
                TrimSide::Leading => "LEADING",
                TrimSide::Trailing => "TRAILING",
            };
            match arguments.as_slice() {
                [text, characters] => write!(f, "TRIM({side} {} FROM {})", Text(characters), Text(text)),
                arguments => write!(f, "TRIM({side} FROM {})", Joined(arguments, ", ")),
            }
        }
        SpecialCall::Normalize(text, form) => match form {
            Some(form) => write!(f, "NORMALIZE({}, {form})", Text(text)),
            None => write!(f, "NORMALIZE({})", Text(text)),
        },
        SpecialCall::Treat(value, data_type) => write!(f, "TREAT({} AS {data_type})", Text(value)),
        SpecialCall::CollationFor(value) => write!(f, "COLLATION FOR ({})", Text(value)),
        SpecialCall::Current(..) => write!(f, "{call}"),
    }
}

/// Whether a field of EXTRACT may stand there as a word.
fn is_field(field: &str) -> bool {
    const FIELDS: [&str; 22] = [
        "century",
        "day",
        "decade",
        "dow",
        "doy",
        "epoch",
        "hour",
        "isodow",
        "isoyear",
        "julian",
        "microseconds",
        "millennium",
        "milliseconds",
        "minute",
        "month",
        "quarter",
        "second",
        "timezone",
        "timezone_hour",
        "timezone_minute",
        "week",
        "year",
    ];
    FIELDS.contains(&field)
}

fn path(operand: &Expr, steps: &[Step], f: &mut Formatter<'_>) -> Result {
    let bracket = matches!(steps.first(), Some(Step::Element(_) | Step::Slice(..)));
    match &operand.kind {
        ExprKind::Column(names) if bracket => column(names, f)?,
        _ => write!(f, "({})", Text(operand))?,
    }
    for step in steps {
        match step {
            Step::Field(name) => write!(f, ".{}", quote(&name.value))?,
            Step::All(_) => f.write_str(".*")?,
            Step::Element(index) => write!(f, "[{}]", Text(index))?,
            Step::Slice(lower, upper) => {
                f.write_str("[")?;
                lower.as_ref().map_or(Ok(()), |lower| Text(lower).fmt(f))?;
                f.write_str(":")?;
                upper.as_ref().map_or(Ok(()), |upper| Text(upper).fmt(f))?;
                f.write_str("]")?;
            }
        }
    }
    Ok(())
}
