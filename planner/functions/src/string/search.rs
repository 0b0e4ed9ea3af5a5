//! regexp_count, regexp_like, regexp_instr, regexp_substr: positions and number of a regular expression's matches.

use super::immutable;
use super::regex::{Compiled, Flags};
use super::regex_find::Matches;
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Int4, SqlWrite, Text};
use crate::{Call, Kernel};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::regex::{Captures, Pattern, Span, Subject};

/// The arguments of a call, with defaults for the optional ones.
struct Question<'a> {
    text: &'a str,
    pattern: &'a str,
    /// Byte offset at which the search starts.
    start: Option<usize>,
    occurrence: i32,
    end: bool,
    flags: Flags,
    group: i32,
}

fn invalid(parameter: &str, value: i32) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{parameter}\": {value}"))
}

/// Positions of the optional arguments: start, N, endoption, flags, subexpr.
type Places = [Option<usize>; 5];

/// Reads a row's arguments. `None` if one is NULL.
fn question<'a>(call: &'a Call<'_>, name: &str, places: Places, row: usize) -> Result<Option<Question<'a>>> {
    let [start, occurrence, end, flags, group] = places;
    let present = |place: Option<usize>| place.filter(|place| *place < call.arguments.len());
    let number = |place: Option<usize>, default: i32| match present(place) {
        Some(place) => call.column::<Int4>(place)?.get(row),
        None => Ok(Some(default)),
    };
    let row_text = |place: usize| -> Result<Option<&'a str>> {
        let array = call.array(place)?;
        let array = array.as_any().downcast_ref::<datafusion::arrow::array::StringArray>();
        let array = array.ok_or_else(|| SqlError::internal("a regular expression's argument is not text"))?;
        let at = if array.len() == 1 { 0 } else { row };
        use datafusion::arrow::array::Array;
        Ok((!array.is_null(at)).then(|| array.value(at)))
    };
    let letters = match present(flags) {
        Some(place) => row_text(place)?,
        None => Some(""),
    };
    let (Some(text), Some(pattern), Some(letters)) = (row_text(0)?, row_text(1)?, letters) else { return Ok(None) };
    let (Some(start), Some(occurrence)) = (number(start, 1)?, number(occurrence, 1)?) else { return Ok(None) };
    let (Some(end), Some(group)) = (number(end, 0)?, number(group, 0)?) else { return Ok(None) };
    if start <= 0 {
        return Err(invalid("start", start));
    }
    if occurrence <= 0 {
        return Err(invalid("n", occurrence));
    }
    if !(0..=1).contains(&end) {
        return Err(invalid("endoption", end));
    }
    if group < 0 {
        return Err(invalid("subexpr", group));
    }
    let flags = Flags::parse(letters, call.ctype()?)?;
    if flags.is_global() {
        let message = format!("{name}() does not support the \"global\" option");
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
    }
    let skip = usize::try_from(start - 1).unwrap_or(usize::MAX);
    let start = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(skip);
    Ok(Some(Question { text, pattern, start, occurrence, end: end == 1, flags, group }))
}

/// The matches from a byte on, none overlapping.
fn matches<'t>(regex: &Pattern, text: &'t str, start: Option<usize>) -> Result<Vec<Captures<'t>>> {
    match start {
        Some(start) => Matches::new(regex, &Subject::new(text)?, start).collect(),
        None => Ok(Vec::new()),
    }
}

fn kernel<R: SqlWrite + 'static>(
    name: &'static str,
    places: Places,
    answer: fn(&Pattern, &Question<'_>) -> Result<Option<R::Owned>>,
) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let mut compiled = Compiled::default();
        let mut builder = R::builder(call.rows);
        for row in 0..call.rows {
            let value = match question(call, name, places, row)? {
                Some(question) => answer(compiled.get(question.pattern, question.flags)?, &question)?,
                None => None,
            };
            R::append(&mut builder, value)?;
        }
        Ok(R::finish(builder))
    })
}

fn number(count: usize) -> Option<i32> {
    i32::try_from(count).ok()
}

/// The range of the wanted group in the wanted match.
fn part<'t>(regex: &Pattern, question: &Question<'t>) -> Result<Option<Span<'t>>> {
    let (Ok(nth), Ok(group)) = (usize::try_from(question.occurrence - 1), usize::try_from(question.group)) else {
        return Ok(None);
    };
    // Without groups, group 1 is the whole match.
    let group = if group == 1 && regex.groups() == 0 { 0 } else { group };
    Ok(matches(regex, question.text, question.start)?.get(nth).and_then(|captures| captures.get(group)))
}

fn position(regex: &Pattern, question: &Question<'_>) -> Result<Option<i32>> {
    let Some(found) = part(regex, question)? else { return Ok(Some(0)) };
    let before = if question.end { found.end() } else { found.start() };
    Ok(question.text.get(..before).and_then(|before| number(before.chars().count() + 1)))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, int4) = (SqlType::TEXT, SqlType::INT4);
    let mut all = Vec::new();
    let like: Places = [None, None, None, Some(2), None];
    let count: Places = [Some(2), None, None, Some(3), None];
    let substring: Places = [Some(2), Some(3), None, Some(4), Some(5)];
    let instr: Places = [Some(2), Some(3), Some(4), Some(5), Some(6)];
    for arguments in [&[text, text][..], &[text, text, text]] {
        let kernel = kernel::<Bool>("regexp_like", like, |regex, question| regex.is_match(question.text).map(Some));
        all.push(immutable("regexp_like", arguments, SqlType::BOOL, kernel));
    }
    for arguments in [&[text, text][..], &[text, text, int4], &[text, text, int4, text]] {
        let kernel = kernel::<Int4>("regexp_count", count, |regex, question| {
            Ok(number(matches(regex, question.text, question.start)?.len()))
        });
        all.push(immutable("regexp_count", arguments, int4, kernel));
    }
    let longest = [text, text, int4, int4, text, int4];
    for length in 2..=longest.len() {
        let kernel = kernel::<Text>("regexp_substr", substring, |regex, question| {
            Ok(part(regex, question)?.map(|found| found.as_str().to_string()))
        });
        all.push(immutable("regexp_substr", longest.get(..length).unwrap_or_default(), text, kernel));
    }
    let longest = [text, text, int4, int4, int4, text, int4];
    for length in 2..=longest.len() {
        let kernel = kernel::<Int4>("regexp_instr", instr, position);
        all.push(immutable("regexp_instr", longest.get(..length).unwrap_or_default(), int4, kernel));
    }
    all
}
