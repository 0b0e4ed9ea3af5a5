//! Dates and times in stored texts. A literal is stored as the value that it had when it was written, under its
//! writer's settings. PostgreSQL likewise keeps the value and not the text.

use super::canonical;
use super::evaluate::constant_text;
use functions::times_read::{ReadTime, times_read};
use sql_error::{Result, SqlError};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;
use syntax::source::Source;
use syntax::{Statement, parse, parse_expression};
use types::datetime::Reading;

/// Binds a stored expression. Returns the result of `bind`, and a new text to store if the old one depends on
/// time or settings. `what` names it in messages. Errors: those of `bind`, and 0A000 if the new text would still
/// depend on the time.
pub(super) fn fixed_expression<T>(
    stored: &str,
    what: &str,
    bind: impl Fn(&Expr, &Source) -> Result<T>,
) -> Result<(T, Option<String>)> {
    fixed(stored, what, |text| {
        let (expr, source) = parse_expression(text)?;
        let (bound, times) = times_read(|| bind(&expr, &source));
        Ok((bound?, with_times(text, &source, &times)?))
    })
}

/// The text of a query to store, if it differs.
pub(super) fn fixed_query<T>(
    stored: &str,
    what: &str,
    bind: impl Fn(&Statement) -> Result<T>,
) -> Result<Option<String>> {
    let fixed = fixed(stored, what, |text| {
        let statement = parse(text)?.into_iter().next();
        let statement = statement.ok_or_else(|| SqlError::internal("a query that is not there"))?;
        let (bound, times) = times_read(|| bind(&statement));
        Ok((bound?, with_times(text, &statement.source, &times)?))
    });
    Ok(fixed?.1)
}

fn fixed<T>(
    stored: &str,
    what: &str,
    read: impl Fn(&str) -> Result<(T, Option<String>)>,
) -> Result<(T, Option<String>)> {
    let (answer, moving) = Reading::asks_for_now(|| read(stored));
    let (bound, text) = answer?;
    let Some(text) = text else {
        return if moving { Err(super::evaluate::moving(what)) } else { Ok((bound, None)) };
    };
    // The stored text must not depend on the time of reading.
    match Reading::asks_for_now(|| read(&text)) {
        (answer, false) => Ok((answer?.0, Some(text))),
        (_, true) => Err(super::evaluate::moving(what)),
    }
}

/// A text whose date and time literals do not depend on settings. `None` if nothing changes.
fn with_times(text: &str, source: &Source, times: &[ReadTime]) -> Result<Option<String>> {
    if times.is_empty() {
        return Ok(None);
    }
    let mut new = text.to_string();
    for token in source.tokens()?.iter().rev() {
        let said = match &token.token {
            Token::SingleQuotedString(said) | Token::EscapedStringLiteral(said) | Token::UnicodeStringLiteral(said) => {
                said
            }
            _ => continue,
        };
        let Some(position) = source.start(token.span) else { continue };
        let mut fixed = Vec::new();
        for time in times.iter().filter(|time| time.position == position && time.text == *said) {
            let form = constant_text(time.ty, time.value.to_array()?.as_ref())?;
            if !fixed.contains(&form) {
                fixed.push(form);
            }
        }
        // A literal that was read as two different values is kept: the next reading decides.
        if let [form] = fixed.as_slice()
            && form != said
            && new.get(source.bytes(token.span)).is_some_and(|old| old.ends_with(['\'', '$']))
        {
            new.replace_range(source.bytes(token.span), &canonical::literal(form));
        }
    }
    Ok((new != text).then_some(new))
}
