//! Iterates over the matches of a regular expression in PostgreSQL's way. Also regexp_matches, which lists them.

use super::immutable;
use super::regex::{Compiled, Flags, flags_of};
use crate::registry::ScalarFunction;
use crate::typed::Text;
use crate::{Call, Kernel};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{ArrayRef, StringArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::regex::{Captures, Pattern, Subject};
use types::value::ValueRef;

/// The matches in a text from a byte on. The next match may start right behind a match. Behind an empty match, it
/// starts one character later.
pub(super) struct Matches<'r, 's, 't> {
    regex: &'r Pattern,
    subject: &'s Subject<'t>,
    next: Option<usize>,
}

impl<'r, 's, 't> Matches<'r, 's, 't> {
    pub(super) fn new(regex: &'r Pattern, subject: &'s Subject<'t>, from: usize) -> Self {
        Matches { regex, subject, next: (from <= subject.text().len()).then_some(from) }
    }
}

impl<'t> Iterator for Matches<'_, '_, 't> {
    type Item = Result<Captures<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.next.take()?;
        let captures = match self.regex.find(self.subject, from) {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let whole = captures.get(0)?;
        self.next = if whole.is_empty() {
            let rest = self.subject.text().get(whole.end()..);
            let step = rest.and_then(|rest| rest.chars().next()).map(char::len_utf8);
            step.map(|step| whole.end() + step)
        } else {
            Some(whole.end())
        };
        Some(Ok(captures))
    }
}

/// The error 22023 for the flag `g` in a function that implies it or finds one match.
pub(super) fn not_global(flags: Flags, name: &str) -> Result<()> {
    if !flags.is_global() {
        return Ok(());
    }
    let message = format!("{name}() does not support the \"global\" option");
    let error = SqlError::new(state::INVALID_PARAMETER_VALUE, message);
    Err(if name == "regexp_match" { error.hint("Use the regexp_matches function instead.") } else { error })
}

fn invalid(parameter: &str, value: i32) -> SqlError {
    let message = format!("invalid value for parameter \"{parameter}\": {value}");
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// Byte offset of the character with a number, from 1.
pub(super) fn byte_of(text: &str, start: i32) -> Result<usize> {
    let number = usize::try_from(start).ok().filter(|number| *number > 0).ok_or_else(|| invalid("start", start))?;
    let place = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(number - 1);
    // There is no match behind the end.
    Ok(place.unwrap_or(text.len() + 1))
}

/// The number of the wanted match, from 1.
pub(super) fn which(value: i32, least: i32, parameter: &str) -> Result<usize> {
    usize::try_from(value).ok().filter(|_| value >= least).ok_or_else(|| invalid(parameter, value))
}

/// The groups of each match, as the text of an array.
fn matches(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
    let mut compiled = Compiled::default();
    let mut builder = ColumnBuilder::new(SqlType::TEXT.array_of(), call.rows);
    for row in 0..call.rows {
        let (Some(text), Some(pattern), Some(flags)) = (texts.get(row)?, patterns.get(row)?, flags_of(call, 2, row)?)
        else {
            builder.append_null();
            continue;
        };
        let regex = compiled.get(pattern, flags)?;
        let most = if flags.is_global() { usize::MAX } else { 1 };
        let subject = Subject::new(text)?;
        let found: Vec<String> = Matches::new(regex, &subject, 0)
            .take(most)
            .map(|captures| captures.map(|captures| groups(&captures)))
            .collect::<Result<_>>()?;
        builder.append(&ValueRef::array(Arc::new(StringArray::from(found))))?;
    }
    builder.finish()
}

/// The groups of a match, or the whole match if there are none, as the text of an array.
fn groups(captures: &Captures<'_>) -> String {
    let mut out = String::from("{");
    let skip = usize::from(captures.count() > 1);
    for (at, group) in captures.iter().skip(skip).enumerate() {
        if at > 0 {
            out.push(',');
        }
        let Some(group) = group else {
            out.push_str("NULL");
            continue;
        };
        out.push('"');
        for c in group.as_str().chars() {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
    }
    out.push('}');
    out
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, texts) = (SqlType::TEXT, SqlType::TEXT.array_of());
    let kernel: Kernel = Arc::new(matches);
    vec![
        immutable("regexp matches", &[text, text], texts, kernel.clone()),
        immutable("regexp matches", &[text, text, text], texts, kernel),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::Ctype;
    use types::regex::Options;

    #[test]
    fn empty_matches_follow_others() {
        let regex = Pattern::new("x*", Options::new(Ctype::Unicode)).unwrap();
        let subject = Subject::new("axb").unwrap();
        let found: Vec<_> = Matches::new(&regex, &subject, 0)
            .map(|found| found.unwrap().get(0).unwrap())
            .map(|whole| (whole.start(), whole.end()))
            .collect();
        assert_eq!(found, [(0, 0), (1, 2), (2, 2), (3, 3)]);
        let regex = Pattern::new("(a)|(\"b)", Options::new(Ctype::Unicode)).unwrap();
        let subject = Subject::new("a\"b").unwrap();
        assert_eq!(
            Matches::new(&regex, &subject, 0).map(|found| groups(&found.unwrap())).collect::<Vec<_>>(),
            ["{\"a\",NULL}", "{NULL,\"\\\"b\"}"]
        );
        assert_eq!(byte_of("äb", 2).unwrap(), 2);
        assert!(byte_of("a", 0).is_err());
    }
}
