//! [`Condition`]: a filter's test of one column, in a form that can bound a key. It is derived from DataFusion's
//! expressions.

use super::value::{Conversion, is_slot};
use catalog::{ColumnId, TableDescriptor};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, ScalarUDF, Volatility};
use datafusion::scalar::ScalarValue;
use functions::kernel::{KernelFunction, Stability};
use functions::{INTERVAL_KEY, NUMERIC_KEY, in_list};
use types::BaseType;

/// A filter's test of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The test `column = value`.
    Equal(Expr),
    /// The test `column IN (values)`.
    OneOf(Vec<Expr>),
    /// The test `column = ANY (array)`.
    AnyOf(Expr),
    /// The test `column IS NULL`.
    IsNull,
    /// The test `column > value`, or `>=`.
    Above {
        /// The value that the column is compared with.
        value: Expr,
        /// Whether the test is `>=`.
        inclusive: bool,
    },
    /// The test `column < value`, or `<=`.
    Below {
        /// The value that the column is compared with.
        value: Expr,
        /// Whether the test is `<=`.
        inclusive: bool,
    },
}

/// A test of one column; the whole filter is the conjunction of its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The column under test.
    pub column: ColumnId,
    /// The test of the column.
    pub test: Test,
    /// How the values relate to the column's type.
    pub conversion: Conversion,
}

/// The conditions whose conjunction is the filter. `None` if the filter has another form.
pub fn conditions(filter: &Expr, table: &TableDescriptor) -> Option<Vec<Condition>> {
    let one =
        |column: (ColumnId, Conversion), test| Some(vec![Condition { column: column.0, conversion: column.1, test }]);
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let mut all = conditions(left, table)?;
            all.extend(conditions(right, table)?);
            Some(all)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let (left, right) = (alternatives(left, table)?, alternatives(right, table)?);
            if left.0 != right.0 {
                return None;
            }
            one(left.0, Test::OneOf(left.1.into_iter().chain(right.1).collect()))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (column, op, value) = match (column_of(left, table), column_of(right, table)) {
                (Some(column), None) => (column, *op, right.as_ref()),
                (None, Some(column)) => (column, op.swap()?, left.as_ref()),
                _ => return None,
            };
            if !is_value(value) {
                return None;
            }
            let value = value.clone();
            let test = match op {
                Operator::Eq => Test::Equal(value),
                Operator::Gt => Test::Above { value, inclusive: false },
                Operator::GtEq => Test::Above { value, inclusive: true },
                Operator::Lt => Test::Below { value, inclusive: false },
                Operator::LtEq => Test::Below { value, inclusive: true },
                _ => return None,
            };
            one(column, test)
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let column = column_of(expr, table)?;
            if !is_value(low) || !is_value(high) {
                return None;
            }
            let mut both = one(column, Test::Above { value: low.as_ref().clone(), inclusive: true })?;
            both.extend(one(column, Test::Below { value: high.as_ref().clone(), inclusive: true })?);
            Some(both)
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = column_of(expr, table)?;
            list.iter().all(is_value).then_some(())?;
            one(column, Test::OneOf(list.clone()))
        }
        // `LIKE 'head%'` is a range: texts sort by bytes, which is the order of code points.
        Expr::Like(like) if !like.negated && !like.case_insensitive && like.escape_char.is_none() => {
            let Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) = like.pattern.as_ref() else { return None };
            let column = column_of(&like.expr, table)?;
            matches!(table.column(column.0)?.ty.base, BaseType::Text | BaseType::Varchar).then_some(())?;
            let head = head_of(pattern)?;
            let text = |text: String| Expr::Literal(ScalarValue::Utf8(Some(text)), None);
            let end = first_behind(&head);
            let mut both = one(column, Test::Above { value: text(head), inclusive: true })?;
            if let Some(end) = end {
                both.extend(one(column, Test::Below { value: text(end), inclusive: false })?);
            }
            Some(both)
        }
        // psql looks names up by `~ '^(word)$'`, which matches a single text.
        Expr::ScalarFunction(call) if call.name() == "textregexeq" => {
            let [text, Expr::Literal(ScalarValue::Utf8(Some(pattern)), _)] = call.args.as_slice() else { return None };
            let column = column_of(text, table)?;
            matches!(table.column(column.0)?.ty.base, BaseType::Text | BaseType::Varchar | BaseType::Name)
                .then_some(())?;
            let word = Expr::Literal(ScalarValue::Utf8(Some(only_match(pattern)?.to_owned())), None);
            one(column, Test::Equal(word))
        }
        Expr::IsNull(inner) => {
            let column = column_of(inner, table)?;
            (column.1 == Conversion::None).then_some(())?;
            one(column, Test::IsNull)
        }
        // A boolean column alone, or its negation.
        Expr::Column(_) => {
            let column = column_of(filter, table)?;
            (table.column(column.0)?.ty.arrow() == DataType::Boolean).then_some(())?;
            one(column, Test::Equal(boolean(true)))
        }
        Expr::Not(inner) => {
            let column = column_of(inner, table)?;
            one(column, Test::Equal(boolean(false)))
        }
        listed if in_list::parts(listed).is_some() => {
            let (value, members) = in_list::parts(listed)?;
            let column = column_of(value, table)?;
            members.iter().all(is_value).then_some(())?;
            one(column, Test::OneOf(members.to_vec()))
        }
        Expr::ScalarFunction(call) if call.name() == "= any" => {
            let [element, array] = call.args.as_slice() else { return None };
            let column = column_of(element, table)?;
            is_value(array).then_some(())?;
            one(column, Test::AnyOf(array.clone()))
        }
        _ => None,
    }
}

/// The only text that a regular expression matches, if it is a word between anchors.
fn only_match(pattern: &str) -> Option<&str> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let word = inner.strip_prefix('(').map_or(Some(inner), |inner| inner.strip_suffix(')'))?;
    (!word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(word)
}

/// The prefix of a pattern that tests only for a prefix.
fn head_of(pattern: &str) -> Option<String> {
    let mut head = String::new();
    let mut letters = pattern.strip_suffix('%')?.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' | '_' => return None,
            // A trailing `%` that is escaped does not count.
            '\\' => head.push(letters.next()?),
            letter => head.push(letter),
        }
    }
    (!head.is_empty()).then_some(head)
}

/// The smallest text greater than all texts with the prefix `head`. `None` if there is none.
fn first_behind(head: &str) -> Option<String> {
    let mut letters: Vec<char> = head.chars().collect();
    while let Some(last) = letters.pop() {
        // Surrogates are not characters, but lie between characters.
        if let Some(next) = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32) {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}

fn boolean(value: bool) -> Expr {
    Expr::Literal(ScalarValue::Boolean(Some(value)), None)
}

/// The column and the values of `column = a OR column IN (b, c)`.
fn alternatives(expression: &Expr, table: &TableDescriptor) -> Option<((ColumnId, Conversion), Vec<Expr>)> {
    let mut found = conditions(expression, table)?.into_iter();
    let (condition, None) = (found.next()?, found.next()) else { return None };
    let values = match condition.test {
        Test::Equal(value) => vec![value],
        Test::OneOf(values) => values,
        _ => return None,
    };
    Some(((condition.column, condition.conversion), values))
}

/// The column in an operand that may be widened, or stripped of its scale, for the comparison.
pub fn column_of(expression: &Expr, table: &TableDescriptor) -> Option<(ColumnId, Conversion)> {
    match expression {
        Expr::Column(column) => Some((table.column_named(&column.name)?.id, Conversion::None)),
        Expr::Cast(cast) => {
            let (id, Conversion::None) = column_of(&cast.expr, table)? else { return None };
            let widened = integer_width(cast.field.data_type())? > integer_width(&table.column(id)?.ty.arrow())?;
            widened.then_some((id, Conversion::Integer))
        }
        Expr::ScalarFunction(call) if [NUMERIC_KEY, INTERVAL_KEY].contains(&call.name()) => {
            let (id, Conversion::None) = column_of(call.args.first()?, table)? else { return None };
            Some((id, Conversion::NumericKey))
        }
        // Casts are functions of ours. Widening an integer loses nothing.
        Expr::ScalarFunction(call) => {
            let [argument] = call.args.as_slice() else { return None };
            let width = match call.name() {
                "cast_implicit_bigint" | "cast_explicit_bigint" => 8,
                "cast_implicit_integer" | "cast_explicit_integer" => 4,
                _ => return None,
            };
            let (id, Conversion::None) = column_of(argument, table)? else { return None };
            (width > integer_width(&table.column(id)?.ty.arrow())?).then_some((id, Conversion::Integer))
        }
        _ => None,
    }
}

fn integer_width(data_type: &DataType) -> Option<u8> {
    match data_type {
        DataType::Int16 => Some(2),
        DataType::Int32 => Some(4),
        DataType::Int64 => Some(8),
        _ => None,
    }
}

/// Whether a function that DataFusion considers volatile has one result within a statement.
fn is_stable(function: &ScalarUDF) -> bool {
    let kernel = (function.inner().as_ref() as &dyn std::any::Any).downcast_ref::<KernelFunction>();
    kernel.is_some_and(|kernel| kernel.stability() == Stability::Stable)
}

/// Whether an expression has one value for the whole statement. It must have no columns, no volatile call except slots,
/// and no correlated subquery.
fn is_value(expression: &Expr) -> bool {
    let mut constant = true;
    let walked = expression.apply(|inner| {
        constant = match inner {
            Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::Exists(_) | Expr::InSubquery(_) => false,
            Expr::AggregateFunction(_) | Expr::WindowFunction(_) | Expr::SetComparison(_) | Expr::Unnest(_) => false,
            Expr::ScalarSubquery(subquery) => subquery.outer_ref_columns.is_empty(),
            Expr::ScalarFunction(call) => {
                call.func.signature().volatility != Volatility::Volatile || is_slot(&call.func) || is_stable(&call.func)
            }
            _ => true,
        };
        Ok(if constant { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    walked.is_ok() && constant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_between_anchors_matches_itself_alone() {
        for (pattern, word) in [("^(book)$", Some("book")), ("^a_1$", Some("a_1")), ("^(ä)$", Some("ä"))] {
            assert_eq!(only_match(pattern), word, "{pattern}");
        }
        for pattern in ["book", "^book", "book$", "^(book$", "^b.k$", "^(a|b)$", "^()$", "^a\\$", "^(a)(b)$", "^a*$"] {
            assert_eq!(only_match(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_ask_for_a_beginning() {
        assert_eq!(head_of("ab%").as_deref(), Some("ab"));
        assert_eq!(head_of("a\\%\\_b\\\\%").as_deref(), Some("a%_b\\"));
        for other in ["ab", "%", "a%b%", "a_%", "ab\\%", "%ab%", "ab%%"] {
            assert_eq!(head_of(other), None, "{other}");
        }
    }

    #[test]
    fn what_comes_behind_a_beginning() {
        for (head, behind) in [("ab", "ac"), ("a\u{7f}", "a\u{80}"), ("\u{d7ff}", "\u{e000}"), ("a\u{10ffff}", "b")] {
            assert_eq!(first_behind(head).as_deref(), Some(behind));
            assert!(behind.as_bytes() > head.as_bytes());
        }
        assert_eq!(first_behind("\u{10ffff}"), None);
    }
}
