//! The stored form of DEFAULT and CHECK expressions: SQL text with parentheses around every operator, readable by the
//! binder. `pg_catalog::deparse` prints them for `pg_get_expr` and similar functions.

use super::stored_text::{Text, has_brackets};
use crate::SYSTEM_COLUMNS;
use catalog::TableDescriptor;
use sql_error::{Result, SqlError, state};
use std::ops::ControlFlow;
use syntax::ast::{Expr, ExprKind, Literal, Quantity};
use syntax::names::quote;
use syntax::visit::{visit_expressions, visit_expressions_mut};
use syntax::{Span, deeper};
use types::{BaseType, SqlType};

pub use super::stored_text::literal;

/// The stored form of a DEFAULT for a column of this type. `None` for NULL, which is no default. Errors: 0A000 for
/// references to columns (42P10 in PostgreSQL's words).
pub fn default_text(expr: &Expr, ty: &SqlType) -> Result<Option<String>> {
    if !referenced(expr)?.is_empty() {
        let message = "cannot use column reference in DEFAULT expression";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).about_part(first_column(expr)));
    }
    Ok(match &expr.kind {
        ExprKind::Literal(Literal::Null) => None,
        // A string gets the column's type without its length: a value that is too long fails when it is used. For an
        // interval the fields are kept, because they are not a length.
        ExprKind::Literal(Literal::String(text)) if ty.base == BaseType::Interval && !ty.array => {
            Some(format!("{}::{}", literal(text), ty.format()))
        }
        ExprKind::Literal(Literal::String(text)) => Some(format!("{}::{}", literal(text), stored_name(ty))),
        ExprKind::Cast { operand, data_type, .. } if matches!(operand.kind, ExprKind::Literal(Literal::Null)) => {
            let same = super::type_name::sql_type(data_type).is_ok_and(|cast| cast == *ty && cast == cast.plain());
            (!same).then(|| text(expr))
        }
        _ => Some(text(expr)),
    })
}

/// The place of the first column that an expression names. [`Span::NONE`] if it names none.
pub fn first_column(expr: &Expr) -> Span {
    let found = visit_expressions(expr, |part| match &part.kind {
        ExprKind::Column(_) => ControlFlow::Break(part.span),
        _ => ControlFlow::Continue(()),
    });
    found.break_value().unwrap_or(Span::NONE)
}

/// The place at which an expression first names this column.
pub fn place_of_column(expr: &Expr, name: &str) -> Option<Span> {
    let found = visit_expressions(expr, |part| match &part.kind {
        ExprKind::Column(names) if names.last().is_some_and(|column| column.value == name) => {
            ControlFlow::Break(part.span)
        }
        _ => ControlFlow::Continue(()),
    });
    found.break_value()
}

/// The place of the first subquery of an expression: its parenthesis, or the word or operator before it.
pub fn first_subquery(expr: &Expr) -> Option<Span> {
    let found = visit_expressions(expr, |part| match &part.kind {
        ExprKind::Query(_) | ExprKind::Exists(_) | ExprKind::ArrayQuery(_) => ControlFlow::Break(part.span),
        ExprKind::InQuery { at, .. } => ControlFlow::Break(*at),
        ExprKind::Quantified { op, right: Quantity::Query(_), .. } => ControlFlow::Break(op.span),
        _ => ControlFlow::Continue(()),
    });
    found.break_value()
}

/// Points an error at the first subquery of an expression.
pub fn about_subquery(error: SqlError, expr: &Expr) -> SqlError {
    match first_subquery(expr) {
        Some(place) => error.about_part(place),
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
            let error = SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{column}\" does not exist"));
            return Err(error.about_part(place_of_column(expr, &column).unwrap_or(Span::NONE)));
        }
    }
    Ok(in_brackets(text(expr)))
}

/// The columns that an expression names, without duplicates, in order. Errors: 0A000 for subqueries.
pub fn referenced(expr: &Expr) -> Result<Vec<String>> {
    if let Some(place) = first_subquery(expr) {
        let message = "cannot use subquery in DEFAULT expression";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).about_part(place));
    }
    let mut found: Vec<String> = Vec::new();
    let _ = visit_expressions(expr, |part| {
        if let ExprKind::Column(names) = &part.kind
            && let Some(name) = names.last()
            && !found.contains(&name.value)
        {
            found.push(name.value.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(found)
}

/// Collects the canonical texts of the operands of AND.
pub fn conjuncts(expr: &Expr, found: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::And(operands) => deeper(|| operands.iter().for_each(|operand| conjuncts(operand, found))),
        ExprKind::Between { operand, low, high, symmetric: false, negated: false, .. } => {
            found.push(format!("({} >= {})", Text(operand), Text(low)));
            found.push(format!("({} <= {})", Text(operand), Text(high)));
        }
        _ => found.push(text(expr)),
    }
}

/// The canonical text of an expression.
pub fn text(expr: &Expr) -> String {
    Text(expr).to_string()
}

/// The text with the parentheses that PostgreSQL's pretty printing keeps. It omits them around the whole and around
/// operands of AND and OR where precedence makes them redundant.
pub fn pretty(expr: &Expr) -> String {
    deeper(|| match &expr.kind {
        ExprKind::And(operands) => {
            let operand = |operand: &Expr| match operand.kind {
                ExprKind::Or(_) => format!("({})", pretty(operand)),
                _ => pretty(operand),
            };
            operands.iter().map(operand).collect::<Vec<_>>().join(" AND ")
        }
        ExprKind::Or(operands) => operands.iter().map(pretty).collect::<Vec<_>>().join(" OR "),
        kind => {
            let text = text(expr);
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            inner.filter(|_| has_brackets(kind)).map(str::to_string).unwrap_or(text)
        }
    })
}

/// A stored condition after renaming a column.
pub fn rename_column(stored: &str, old: &str, new: &str) -> Result<String> {
    rename_in(stored, old, new).map(in_brackets)
}

/// A stored expression after renaming a column.
pub fn rename_in(stored: &str, old: &str, new: &str) -> Result<String> {
    let (mut expr, _) = syntax::parse_expression(stored)?;
    let _ = visit_expressions_mut(&mut expr, |part| {
        if let ExprKind::Column(names) = &mut part.kind
            && let Some(name) = names.last_mut()
            && name.value == old
        {
            name.value = new.to_string();
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(text(&expr))
}

/// The text of a condition, which is always in parentheses.
fn in_brackets(text: String) -> String {
    if text.starts_with('(') { text } else { format!("({text})") }
}

/// Whether a stored default is a constant: the same for every row and under every setting.
pub fn is_constant(stored: &str) -> bool {
    let Ok((expr, _)) = syntax::parse_expression(stored) else { return false };
    let mut value = &expr;
    while let ExprKind::Cast { operand, .. } = &value.kind {
        value = operand;
    }
    matches!(value.kind, ExprKind::Literal(_))
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
            ("a and (b and c) and d or not e", "((a AND (b AND c) AND d) OR (NOT e))"),
            ("Lower(t.a || 'x')", "lower((a || 'x'))"),
            ("- a + -1", "((- a) + (-1))"),
            ("char 'x'", "'x'::bpchar"),
            ("interval '1' day", "'1'::interval day"),
            ("coalesce(a, 1) is not distinct from $$it's$$", "(COALESCE(a, 1) IS NOT DISTINCT FROM 'it''s')"),
            ("case a when 1 then 'x' else b end", "CASE a WHEN 1 THEN 'x' ELSE b END"),
            ("a[1:2] = any (array[b, c])", "(a[1:2] = ANY (ARRAY[b, c]))"),
            ("current_user", "CURRENT_USER"),
        ] {
            let (expr, _) = parse_expression(sql).unwrap();
            assert_eq!(text(&expr), canonical, "{sql}");
        }
    }

    #[test]
    fn canonical_text_is_a_fixed_point() {
        for sql in [
            "a+1 > b*2 or not c",
            "a in (1,2,3)",
            "lower(a) = 'x'",
            "a is not null and -b > 1",
            "a not like b escape '#' and a similar to 'x+' or a not ilike all (b)",
            "(t).f[1].g is unknown and a not between symmetric b and -1",
            "extract(year from a) > 1 and position('a' in b) = 1 and substring(a from 1 for 2) = trim(leading 'x' from b)",
            "(a, b) overlaps (c, d) and a at time zone 'UTC' < now() and a collate \"C\" > b",
            "a operator(pg_catalog.+) b = make_interval(days => 1) and f(variadic array[a, b])",
            "a is nfc normalized and row(a) is not null and nullif(a, b)::char(3) = '\\x'",
        ] {
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
