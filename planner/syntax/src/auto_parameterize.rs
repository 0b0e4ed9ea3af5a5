//! [`lift`] replaces the whole numbers in a statement's text by parameters. Texts that differ only in them then share a
//! plan. Must not know plans: the caller decides whether the new text means the same.
//!
//! Only numbers that must be values are lifted: after a comparison or assignment, in additions and subtractions, and in
//! lists of VALUES. Elsewhere a number may be a position (ORDER BY 1), a part of a type (varchar(5)) or a limit. Texts
//! with comments, escapes, dollar signs and the like are left alone.

use std::fmt::Write;

/// The greatest number of lifted values. Texts with more hardly recur.
const MOST_VALUES: usize = 64;
/// The longest text in bytes that is lifted.
const MOST_BYTES: usize = 8 << 10;

/// A lifted number, with the type that PostgreSQL gives it (manual, chapter 4.1.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifted {
    /// A number of type `integer`.
    Int4(i32),
    /// A number of type `bigint`.
    Int8(i64),
}

/// The kind of the preceding token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A comparison or assignment.
    Comparison,
    /// `+`, `-` or `*` after a value.
    Arithmetic,
    /// A name, a string, a lifted number, a closing parenthesis.
    Value,
    /// A number that is not lifted. An expression of constants is a constant, which some clauses require.
    Number,
    /// `(` or `,` in VALUES.
    List,
    Other,
}

/// The text with parameters for numbers, and the numbers in order. `None` if nothing can be lifted.
pub fn lift(sql: &str) -> Option<(String, Vec<Lifted>)> {
    let text = sql.trim().trim_end_matches(';').trim_end();
    let verb = text.get(..6)?;
    if text.len() > MOST_BYTES || !["select", "insert", "update", "delete"].iter().any(|w| verb.eq_ignore_ascii_case(w))
    {
        return None;
    }
    let bytes = text.as_bytes();
    if bytes.iter().any(|byte| matches!(byte, b'\\' | b'$' | b';' | b'{' | 0))
        || text.contains("--")
        || text.contains("/*")
    {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let (mut values, mut before, mut in_values) = (Vec::new(), Before::Other, false);
    let mut at = 0;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let run = |from: usize, holds: &dyn Fn(u8) -> bool| {
        from + bytes.iter().skip(from).take_while(|byte| holds(**byte)).count()
    };
    while let Some(byte) = bytes.get(at).copied() {
        let start = at;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                out.push(char::from(byte));
                continue;
            }
            b'\'' | b'"' => {
                // A doubled quote ends one piece and starts the next.
                at = run(at + 1, &|inside| inside != byte) + 1;
                bytes.get(at - 1)?;
                before = Before::Value;
            }
            b'0'..=b'9' => {
                at = run(at, &|digit| digit.is_ascii_digit());
                let whole = bytes.get(at).is_none_or(|next| !is_word(*next) && *next != b'.');
                let is_value = matches!(before, Before::Comparison | Before::Arithmetic | Before::List);
                let lifted = (whole && is_value && !computes(text.get(at..)?))
                    .then(|| number(text.get(start..at)?, false))
                    .flatten();
                before = Before::Number;
                if let Some(lifted) = lifted {
                    before = Before::Value;
                    push(&mut out, &mut values, lifted)?;
                    continue;
                }
                at = run(at, &|rest| is_word(rest) || rest == b'.');
            }
            _ if is_word(byte) => {
                at = run(at, &|rest| is_word(rest) || rest == b'.');
                let word = text.get(start..at)?;
                let in_list = before == Before::List;
                before = Before::Value;
                // Expressions in GROUP BY and in the select list match only if they are written alike, with the same
                // numbers.
                if ["grouping", "rollup", "cube"].iter().any(|sets| word.eq_ignore_ascii_case(sets)) {
                    return None;
                }
                if word.eq_ignore_ascii_case("values") {
                    in_values = true;
                } else if is_keyword(word) {
                    before = Before::Other;
                    in_values &= in_list;
                }
            }
            b'(' | b',' => {
                at += 1;
                before = if in_values { Before::List } else { Before::Other };
            }
            b')' | b']' => {
                at += 1;
                before = Before::Value;
            }
            _ if is_operator(byte) => {
                at = run(at, &is_operator);
                let (behind_value, behind_number) = (before == Before::Value, before == Before::Number);
                before = match text.get(start..at)? {
                    _ if behind_number => Before::Other,
                    "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" => Before::Comparison,
                    "-" if matches!(before, Before::Comparison | Before::Arithmetic | Before::List) => {
                        // A sign belongs to the number, unless an operator binds the number more tightly.
                        let end = run(at, &|digit| digit.is_ascii_digit());
                        let rest = text.get(end..)?;
                        let alone = rest.is_empty() || rest.starts_with([' ', ',', ')', '\n']);
                        let tighter = rest.trim_start().starts_with([':', '[', '^', '.']) || computes(rest);
                        match number(text.get(at..end)?, true).filter(|_| alone && !tighter) {
                            Some(lifted) => {
                                at = end;
                                before = Before::Value;
                                push(&mut out, &mut values, lifted)?;
                                continue;
                            }
                            None => Before::Other,
                        }
                    }
                    "+" | "-" | "*" if behind_value => Before::Arithmetic,
                    _ => Before::Other,
                };
            }
            _ => {
                at += 1;
                before = Before::Other;
            }
        }
        out.push_str(text.get(start..at)?);
    }
    (!values.is_empty()).then_some((out, values))
}

/// Whether the text after a number computes with it. If the other operand is a constant too, the whole is one.
fn computes(rest: &str) -> bool {
    rest.trim_start().starts_with(['+', '-', '*', '/', '%'])
}

fn push(out: &mut String, values: &mut Vec<Lifted>, lifted: Lifted) -> Option<()> {
    values.push(lifted);
    write!(out, "${}", values.len()).ok()?;
    (values.len() <= MOST_VALUES).then_some(())
}

/// The number with these digits. `None` if it does not fit in a bigint.
fn number(digits: &str, negative: bool) -> Option<Lifted> {
    let magnitude: i128 = digits.parse().ok()?;
    let value = if negative { -magnitude } else { magnitude };
    match i32::try_from(value) {
        Ok(value) => Some(Lifted::Int4(value)),
        Err(_) => i64::try_from(value).ok().map(Lifted::Int8),
    }
}

fn is_operator(byte: u8) -> bool {
    b"+-*/<>=~!@#%^&|`?:".contains(&byte)
}

/// Words after which `-` is a sign, and which end a list of VALUES.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 31] = [
        "all",
        "and",
        "any",
        "between",
        "by",
        "case",
        "conflict",
        "distinct",
        "else",
        "except",
        "from",
        "group",
        "having",
        "in",
        "intersect",
        "like",
        "limit",
        "not",
        "offset",
        "on",
        "or",
        "order",
        "returning",
        "select",
        "set",
        "then",
        "union",
        "using",
        "when",
        "where",
        "with",
    ];
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn lifted(sql: &str) -> String {
        match lift(sql) {
            Some((text, values)) => {
                let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
                format!("{text} | {}", values.join(" "))
            }
            None => "as it is".into(),
        }
    }

    #[test]
    fn numbers_that_are_values_are_lifted() {
        let cases = [
            ("SELECT abalance FROM a WHERE aid = 4711;", "SELECT abalance FROM a WHERE aid = $1 | Int4(4711)"),
            ("UPDATE a SET b = b + -5 WHERE c=7", "UPDATE a SET b = b + $1 WHERE c=$2 | Int4(-5) Int4(7)"),
            ("UPDATE a SET b = b - 5", "UPDATE a SET b = b - $1 | Int4(5)"),
            ("INSERT INTO h (t, b) VALUES (1, -2, 'x;1', CURRENT_TIMESTAMP), (3000000000, -2147483648)", "as it is"),
            (
                "insert into h values (1, -2, 'it''s 1', now()), (3000000000, -2147483648) on conflict do nothing",
                "insert into h values ($1, $2, 'it''s 1', now()), ($3, $4) on conflict do nothing | \
                 Int4(1) Int4(-2) Int8(3000000000) Int4(-2147483648)",
            ),
            (
                "delete from t where a>=1 and \"b = 2\" <> 3",
                "delete from t where a>=$1 and \"b = 2\" <> $2 | Int4(1) Int4(3)",
            ),
        ];
        for (sql, expected) in cases {
            assert_eq!(lifted(sql), expected, "{sql}");
        }
    }

    #[test]
    fn all_else_stays() {
        let untouched = [
            "SELECT a FROM t ORDER BY 1 LIMIT 10",
            "SELECT 1, -2 FROM t GROUP BY 1, 2",
            "SELECT a::varchar(5), b::numeric(10, 2) FROM t",
            "SELECT a FROM t WHERE b = 1.5",
            "SELECT a FROM t WHERE b = 1e5",
            "SELECT a FROM t WHERE b = 99999999999999999999",
            "SELECT a FROM t WHERE b = -5::text",
            "SELECT a FROM t WHERE b = -5 ^ 2",
            "SELECT a FROM t WHERE b =-5",
            "SELECT a FROM t WHERE b = $1 AND c = 5",
            "SELECT a FROM t WHERE b = 5 -- five",
            "SELECT a FROM t WHERE b = E'\\'' AND c = 5",
            "SELECT a FROM t WHERE b = 5; SELECT 1",
            "SELECT t1.a2 FROM t1 WHERE a BETWEEN 1 AND 5",
            "SELECT a FROM t WHERE b IN (1, 2)",
            "SELECT f(a => 5) FROM t",
            "SELECT * FROM t FULL JOIN u ON 1 = 2",
            "SELECT 1 + 2 < 3",
            "SELECT a, a + 1 FROM t GROUP BY ROLLUP (a, a + 1)",
            "SELECT a FROM t WHERE b = 1 / 0 OR b = -1/0",
            "UPDATE t SET a = a + 2147483647 + 1",
            "EXPLAIN SELECT a FROM t WHERE b = 5",
            "SELECT 'unfinished = 5",
            "SET x = 5",
            "",
        ];
        for sql in untouched {
            assert_eq!(lifted(sql), "as it is", "{sql}");
        }
        let many = format!("INSERT INTO t VALUES ({})", vec!["1"; MOST_VALUES + 1].join(", "));
        assert_eq!(lifted(&many), "as it is");
    }
}
