//! The stored form of DEFAULT and CHECK expressions: SQL text with parentheses around every operator, readable by the
//! binder. `pg_catalog::deparse` prints them for `pg_get_expr` and similar functions.

use crate::SYSTEM_COLUMNS;
use crate::unmarked;
use catalog::TableDescriptor;
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArguments, Ident, Spanned, UnaryOperator, Value, Visit,
    Visitor, visit_expressions,
};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;
use syntax::{SYMMETRIC, fold, names::quote};
use types::{BaseType, SqlType};

/// The stored form of a DEFAULT for a column of this type. `None` for NULL, which is no default. Errors: 0A000 for
/// references to columns (42P10 in PostgreSQL's words).
pub fn default_text(expr: &Expr, ty: &SqlType) -> Result<Option<String>> {
    if !referenced(expr)?.is_empty() {
        let message = "cannot use column reference in DEFAULT expression";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).about_part(first_column(expr)));
    }
    Ok(match strip(expr) {
        Expr::Value(value) => match &value.value {
            Value::Null => None,
            // A string gets the column's type without its length: a value that is too long fails when it is used. For
            // an interval the fields are kept, because they are not a length.
            Value::SingleQuotedString(text) if ty.base == BaseType::Interval && !ty.array => {
                Some(format!("{}::{}", literal(text), ty.format()))
            }
            Value::SingleQuotedString(text) => Some(format!("{}::{}", literal(text), stored_name(ty))),
            _ => Some(text(expr)),
        },
        Expr::Cast { expr: inner, data_type, .. } if is_null(inner) => {
            let same = super::type_name::sql_type(data_type).is_ok_and(|cast| cast == *ty && cast == cast.plain());
            (!same).then(|| text(expr))
        }
        _ => Some(text(expr)),
    })
}

fn is_null(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(value) if value.value == Value::Null)
}

/// The position of the first column that an expression names. Empty if it names none.
pub fn first_column(expr: &Expr) -> Span {
    let found = visit_expressions(expr, |part| match part {
        Expr::Identifier(ident) if is_keyword(ident) => ControlFlow::Continue(()),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(part.span()),
        _ => ControlFlow::Continue(()),
    });
    found.break_value().unwrap_or_else(Span::empty)
}

/// The position at which an expression first names this column.
pub fn place_of_column(expr: &Expr, name: &str) -> Option<Span> {
    let found = visit_expressions(expr, |part| {
        let column = match part {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        match column.is_some_and(|column| fold(column) == name) {
            true => ControlFlow::Break(part.span()),
            false => ControlFlow::Continue(()),
        }
    });
    found.break_value()
}

/// Points an error at the first subquery of an expression: at its parenthesis, or the word before it.
pub fn about_subquery(error: SqlError, expr: &Expr) -> SqlError {
    let found = visit_expressions(expr, |part| match part {
        Expr::Subquery(query) => ControlFlow::Break((query.span(), 1)),
        Expr::Exists { subquery, .. } | Expr::InSubquery { subquery, .. } => ControlFlow::Break((subquery.span(), 2)),
        _ => ControlFlow::Continue(()),
    });
    match found.break_value() {
        Some((query, before)) => error.about_before(query, before),
        None => error,
    }
}

/// The stored form of a CHECK expression. Errors: 42703 for an unknown column.
pub fn check_text(expr: &Expr, table: &TableDescriptor) -> Result<String> {
    let subquery = |_| {
        about_subquery(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot use subquery in check constraint"), expr)
    };
    for column in referenced(expr).map_err(subquery)? {
        // The binder decides which system columns a CHECK may use.
        let system = SYSTEM_COLUMNS.iter().any(|(known, ..)| *known == column);
        if table.column_named(&column).is_none() && !system {
            return Err(SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{column}\" does not exist"))
                .about(column.as_str()));
        }
    }
    let text = text(expr);
    Ok(if text.starts_with('(') { text } else { format!("({text})") })
}

/// The columns that an expression names, without duplicates, in order. Errors: 0A000 for subqueries.
pub fn referenced(expr: &Expr) -> Result<Vec<String>> {
    #[derive(Default)]
    struct Columns {
        names: Vec<String>,
        /// The identifiers that are names of arguments, not columns.
        labels: Vec<*const Ident>,
        subquery: bool,
    }
    impl Columns {
        fn add(&mut self, ident: &Ident) {
            let name = fold(ident);
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
    impl Visitor for Columns {
        type Break = ();
        fn pre_visit_query(&mut self, _: &sqlparser::ast::Query) -> ControlFlow<()> {
            self.subquery = true;
            ControlFlow::Break(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(Function { args: FunctionArguments::List(list), .. }) => {
                    for arg in &list.args {
                        if let FunctionArg::ExprNamed { name: Expr::Identifier(label), .. } = arg {
                            self.labels.push(label);
                        }
                    }
                }
                Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value == SYMMETRIC => {}
                Expr::Identifier(ident) if self.labels.contains(&std::ptr::from_ref(ident)) => {}
                Expr::Identifier(ident) if !is_keyword(ident) => self.add(ident),
                Expr::CompoundIdentifier(parts) => {
                    if let Some(last) = parts.last() {
                        self.add(last);
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut columns = Columns::default();
    let _ = expr.visit(&mut columns);
    if columns.subquery {
        let message = "cannot use subquery in DEFAULT expression";
        return Err(about_subquery(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), expr));
    }
    Ok(columns.names)
}

/// Whether an identifier is a keyword with a value, which sqlparser leaves as an identifier.
fn is_keyword(ident: &Ident) -> bool {
    ident.quote_style.is_none()
        && [
            "current_date",
            "current_timestamp",
            "current_time",
            "current_user",
            "session_user",
            "current_role",
            "user",
            "localtimestamp",
            "localtime",
            "current_catalog",
            "current_schema",
        ]
        .contains(&ident.value.to_ascii_lowercase().as_str())
}

/// The expression without its outer parentheses.
fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip(inner),
        other => other,
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(value) if matches!(value.value, Value::Number(..)))
}

/// Quotes a string literal.
pub fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Collects the canonical texts of the operands of AND.
pub fn conjuncts(expr: &Expr, found: &mut Vec<String>) {
    match strip(expr) {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        Expr::Between { expr, negated: false, low, high } if unmarked(low).is_none() => {
            found.push(format!("({} >= {})", text(expr), text(low)));
            found.push(format!("({} <= {})", text(expr), text(high)));
        }
        other => found.push(text(other)),
    }
}

/// The canonical text of an expression.
pub fn text(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) => text(inner),
        Expr::Identifier(ident) if is_keyword(ident) => ident.value.to_ascii_uppercase(),
        Expr::Identifier(ident) => quote(&fold(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|ident| quote(&fold(ident))).unwrap_or_default(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => literal(text),
            Value::Boolean(value) => value.to_string(),
            Value::Null => "NULL".to_string(),
            other => other.to_string(),
        },
        Expr::BinaryOp { left, op, right } => {
            let op = match op {
                BinaryOperator::NotEq => "<>".to_string(),
                other => other.to_string(),
            };
            format!("({} {op} {})", text(left), text(right))
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => format!("(NOT {})", text(expr)),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } if is_number(expr) => format!("(-{})", text(expr)),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => format!("(- {})", text(expr)),
        Expr::IsNull(inner) => format!("({} IS NULL)", text(inner)),
        Expr::IsNotNull(inner) => format!("({} IS NOT NULL)", text(inner)),
        Expr::IsTrue(inner) => format!("({} IS TRUE)", text(inner)),
        Expr::IsFalse(inner) => format!("({} IS FALSE)", text(inner)),
        Expr::Between { expr, negated, low, high } => {
            let not = if *negated { "NOT " } else { "" };
            let (symmetric, low) = match unmarked(low) {
                Some(low) => ("SYMMETRIC ", text(&low)),
                None => ("", text(low)),
            };
            format!("({} {not}BETWEEN {symmetric}{low} AND {})", text(expr), text(high))
        }
        Expr::InList { expr, list, negated } => {
            let list: Vec<String> = list.iter().map(text).collect();
            let not = if *negated { "NOT " } else { "" };
            format!("({} {not}IN ({}))", text(expr), list.join(", "))
        }
        Expr::Cast { expr, data_type, .. } => {
            let name = super::type_name::sql_type(data_type).map_or_else(|_| data_type.to_string(), |ty| ty.format());
            match strip(expr) {
                Expr::Value(value) => match &value.value {
                    Value::SingleQuotedString(text) => format!("{}::{name}", literal(text)),
                    _ => format!("({})::{name}", text(expr)),
                },
                // Parentheses would hide the element types from the cast.
                Expr::Array(array) => format!("{array}::{name}"),
                _ => format!("({})::{name}", text(expr)),
            }
        }
        Expr::Tuple(items) => format!("({})", items.iter().map(text).collect::<Vec<_>>().join(", ")),
        // All other expressions as sqlparser prints them, with parentheses around operators.
        Expr::Function(_) | Expr::Case { .. } | Expr::Substring { .. } | Expr::Trim { .. } | Expr::Extract { .. } => {
            expr.to_string()
        }
        other => format!("({other})"),
    }
}

/// The text with the parentheses that PostgreSQL's pretty printing keeps. It omits them around the whole and around
/// operands of AND and OR where precedence makes them redundant.
pub fn pretty(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) => pretty(inner),
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            let side = |side: &Expr| match strip(side) {
                Expr::BinaryOp { op: BinaryOperator::Or, .. } if *op == BinaryOperator::And => {
                    format!("({})", pretty(side))
                }
                _ => pretty(side),
            };
            format!("{} {op} {}", side(left), side(right))
        }
        other => {
            let text = text(other);
            let outer = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            match (other, outer) {
                (Expr::Cast { .. } | Expr::Function(_), _) | (_, None) => text,
                (_, Some(inner)) => inner.to_string(),
            }
        }
    }
}

/// A stored condition after renaming a column.
pub fn rename_column(stored: &str, old: &str, new: &str) -> Result<String> {
    let text = rename_in(stored, old, new)?;
    Ok(if text.starts_with('(') { text } else { format!("({text})") })
}

/// A stored expression after renaming a column.
pub fn rename_in(stored: &str, old: &str, new: &str) -> Result<String> {
    let (mut expr, _) = syntax::parse_expression(stored)?;
    let _ = sqlparser::ast::visit_expressions_mut(&mut expr, |expr| {
        if let Expr::Identifier(ident) = expr
            && !is_keyword(ident)
            && fold(ident) == old
        {
            *ident = if quote(new) == new { Ident::new(new) } else { Ident::with_quote('"', new) };
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(text(&expr))
}

/// Whether a stored default is a constant: the same for every row and under every setting.
pub fn is_constant(stored: &str) -> bool {
    fn constant(expr: &Expr) -> bool {
        match strip(expr) {
            Expr::Value(_) => true,
            Expr::Cast { expr, .. } => constant(expr),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => is_number(expr),
            _ => false,
        }
    }
    syntax::parse_expression(stored).is_ok_and(|(expr, _)| constant(&expr))
}

/// The default of a column that uses a sequence. It always names the schema, so it does not depend on search_path.
pub fn next_value_text(schema: &str, sequence: &str) -> String {
    let name = format!("{}.{}", quote(schema), quote(sequence));
    format!("nextval({}::regclass)", literal(&name))
}

/// The name of a type in stored expressions.
pub fn stored_name(ty: &SqlType) -> String {
    let BaseType::Enum(labels) = ty.base else {
        // "character" without a modifier would have the length 1.
        return if ty.plain() == SqlType::CHAR { "bpchar".to_string() } else { ty.plain().name() };
    };
    let labels = labels.descriptor();
    let name = format!("{}.{}", quote(&labels.schema), quote(&labels.name));
    if ty.array { format!("{name}[]") } else { name }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use catalog::TableBuilder;
    use syntax::parse_expression;

    #[test]
    fn expressions_have_one_form() {
        for (sql, canonical) in [
            ("a>0 and b < 5", "((a > 0) AND (b < 5))"),
            ("((a)) != 3", "(a <> 3)"),
            ("t.\"A b\" IS NULL", "(\"A b\" IS NULL)"),
            ("a between 1 and 2", "(a BETWEEN 1 AND 2)"),
            ("a between symmetric 2 and 1", "(a BETWEEN SYMMETRIC 2 AND 1)"),
            ("(a, b) = (1, 2)", "((a, b) = (1, 2))"),
            ("array[]::int[] = a", "(ARRAY[]::integer[] = a)"),
            ("'x'::text", "'x'::text"),
            ("a::numeric(10,2) > 1", "((a)::numeric(10,2) > 1)"),
        ] {
            let (expr, _) = parse_expression(sql).unwrap();
            assert_eq!(text(&expr), canonical, "{sql}");
        }
    }

    #[test]
    fn canonical_text_is_a_fixed_point() {
        for sql in ["a+1 > b*2 or not c", "a in (1,2,3)", "lower(a) = 'x'", "a is not null and -b > 1"] {
            let once = text(&parse_expression(sql).unwrap().0);
            assert_eq!(text(&parse_expression(&once).unwrap().0), once, "{sql}");
        }
    }

    #[test]
    fn defaults_are_cast_to_the_column() {
        let of = |sql: &str, ty| default_text(&parse_expression(sql).unwrap().0, &ty).unwrap();
        assert_eq!(of("'it''s'", SqlType::TEXT).unwrap(), "'it''s'::text");
        assert_eq!(of("-1", SqlType::INT4).unwrap(), "(-1)");
        assert_eq!(of("'a'", SqlType::CHAR.with_modifier(9)).unwrap(), "'a'::bpchar");
        assert_eq!(of("0", SqlType::INT4).unwrap(), "0");
        assert_eq!(of("null", SqlType::INT4), None);
        assert_eq!(of("now()", SqlType::TIMESTAMPTZ).unwrap(), "now()");
    }

    #[test]
    fn unknown_columns_are_refused() {
        let table = TableBuilder::new(16384, "t").column("a", SqlType::INT4).build();
        let (expr, _) = parse_expression("a > b").unwrap();
        assert_eq!(check_text(&expr, &table).unwrap_err().state(), state::UNDEFINED_COLUMN);
    }
}
