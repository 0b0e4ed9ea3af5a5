//! [`Reduced`]: time types with more than six fractional digits. They mean six digits, and PostgreSQL warns. For
//! a column it warns twice: with a position when it reads the type, and without one when it creates the column.
//! So does this module.

use super::cursor::is_word;
use super::source::Source;
use super::tokens::{closing, sign_at, word_at};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A time type whose precision was reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The warning, such as `TIMESTAMP(7) precision reduced to maximum allowed, 6`.
    pub message: String,
    /// The position of the type in characters from 1, if PostgreSQL reports it.
    pub position: Option<usize>,
}

const MOST_DIGITS: &str = "6";

/// The types of a statement with more than six fractional digits, in the order of PostgreSQL's warnings.
pub fn reduced(source: &Source, tokens: &[TokenWithSpan]) -> Vec<Reduced> {
    let (mut columns, mut others) = (Vec::new(), Vec::new());
    for at in 0..tokens.len() {
        let Some((message, place)) = type_at(tokens, at) else { continue };
        let found = |position| Reduced { message: message.clone(), position };
        let position = place.and_then(|token| source.start(token.span));
        match made_by(tokens, at) {
            Made::Column => {
                others.insert(columns.len(), found(None));
                columns.push(found(position));
            }
            Made::Changed => others.extend([found(None), found(None)]),
            Made::No => others.push(found(position)),
        }
    }
    columns.extend(others);
    columns
}

/// The warning for a type that begins at a token, and the token that it points at. CURRENT_TIME and its kin
/// have no such token.
fn type_at(tokens: &[TokenWithSpan], at: usize) -> Option<(String, Option<&TokenWithSpan>)> {
    let Token::Word(word) = &tokens.get(at)?.token else { return None };
    if word.quote_style.is_some()
        || !sign_at(tokens, at + 1, &Token::LParen)
        || !sign_at(tokens, at + 3, &Token::RParen)
    {
        return None;
    }
    let Token::Number(digits, false) = &tokens.get(at + 2)?.token else { return None };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.parse::<i32>().ok()? <= 6 {
        return None;
    }
    let zoned = word_at(tokens, at + 4, &["with"]) && word_at(tokens, at + 5, &["time"]);
    let place = tokens.get(at);
    let (name, zoned, place) = match word.value.to_ascii_lowercase().as_str() {
        "timestamp" => ("TIMESTAMP", zoned, place),
        "timestamptz" => ("TIMESTAMP", true, place),
        "time" => ("TIME", zoned, place),
        "timetz" => ("TIME", true, place),
        "current_timestamp" => ("TIMESTAMP", true, None),
        "localtimestamp" => ("TIMESTAMP", false, None),
        "current_time" => ("TIME", true, None),
        "localtime" => ("TIME", false, None),
        "interval" => ("INTERVAL", false, place),
        "second" => ("INTERVAL", false, Some(interval_before(tokens, at)?)),
        _ => return None,
    };
    let zone = if zoned { " WITH TIME ZONE" } else { "" };
    Some((format!("{name}({digits}){zone} precision reduced to maximum allowed, {MOST_DIGITS}"), place))
}

/// The word INTERVAL that `second`, or `… to second`, belongs to.
fn interval_before(tokens: &[TokenWithSpan], second: usize) -> Option<&TokenWithSpan> {
    let unit = if word_at(tokens, second.checked_sub(1)?, &["to"]) { second.checked_sub(2)? } else { second };
    let before = unit.checked_sub(1)?;
    let literal = matches!(tokens.get(before)?.token, Token::SingleQuotedString(_));
    tokens.get(before - usize::from(literal)).filter(|token| is_word(token, "interval"))
}

/// The relation between a type and a column that the statement defines.
enum Made {
    /// The type of a new column in CREATE TABLE or ADD COLUMN.
    Column,
    /// The new type in ALTER … TYPE.
    Changed,
    /// Not a column's type.
    No,
}

fn made_by(tokens: &[TokenWithSpan], at: usize) -> Made {
    let before = |back: usize, words: &[&str]| at.checked_sub(back).is_some_and(|at| word_at(tokens, at, words));
    if word_at(tokens, 0, &["alter"]) {
        return match () {
            () if before(1, &["type"]) => Made::Changed,
            () if before(2, &["add", "column", "exists"]) => Made::Column,
            () => Made::No,
        };
    }
    let table = (0..4).find(|at| word_at(tokens, *at, &["table"])).filter(|_| word_at(tokens, 0, &["create"]));
    let open = table.and_then(|table| (table..at).find(|at| sign_at(tokens, *at, &Token::LParen)));
    let Some(open) = open.filter(|open| closing(tokens, *open).is_some_and(|close| at < close)) else {
        return Made::No;
    };
    // The column's name precedes its type, and a comma or the parenthesis precedes the name.
    let name = at.checked_sub(2).filter(|before| {
        *before == open || (sign_at(tokens, *before, &Token::Comma) && depth(tokens.get(open..*before)) == 1)
    });
    if name.is_some() { Made::Column } else { Made::No }
}

/// The number of parentheses that remain open after these tokens.
fn depth(tokens: Option<&[TokenWithSpan]>) -> i64 {
    tokens
        .unwrap_or_default()
        .iter()
        .map(|token| match token.token {
            Token::LParen => 1,
            Token::RParen => -1,
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn types_with_too_many_digits() {
        // Checked against PostgreSQL 15.
        for (sql, expected) in [
            ("select 'x'::timestamp(7), time(6) '10:00'", vec![("TIMESTAMP(7)", Some(13))]),
            ("select interval '1' day to second(8)", vec![("INTERVAL(8)", Some(8))]),
            (
                "select current_time(9), timetz(10) '1:00'",
                vec![("TIME(9) WITH TIME ZONE", None), ("TIME(10) WITH TIME ZONE", Some(25))],
            ),
            ("select second(7), \"time\"(8), f(7)", vec![]),
            (
                "create temp table t (a int check (a > f(1)), b timestamp(7) with time zone default current_timestamp(8))",
                vec![
                    ("TIMESTAMP(7) WITH TIME ZONE", Some(48)),
                    ("TIMESTAMP(7) WITH TIME ZONE", None),
                    ("TIMESTAMP(8) WITH TIME ZONE", None),
                ],
            ),
            ("alter table t alter a type time(7)", vec![("TIME(7)", None), ("TIME(7)", None)]),
        ] {
            let source = Source::new(sql);
            let found = reduced(&source, &source.tokens().unwrap());
            let found: Vec<(&str, Option<usize>)> =
                found.iter().map(|one| (one.message.split_once(" precision").unwrap().0, one.position)).collect();
            assert_eq!(found, expected, "{sql}");
        }
    }
}
