//! SQL functions of regular expressions; `functions::regular` matches them.

use super::immutable;
use super::regex_find::{self, Matches, byte_of, not_global};
use super::similar::with_escape;
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Int4, SqlWrite, Text};
use crate::{Call, Kernel};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::StringArray;
use sql_error::interrupt::Steps;
use sql_error::value_size::LongText;
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::sync::Arc;
use types::regex::{Options, Pattern, Subject};
use types::value::ValueRef;
use types::{Ctype, SqlType};

/// The options of a pattern, and whether all matches are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    options: Options,
    global: bool,
}

impl Flags {
    /// The flags of a call without a flags argument.
    fn new(ctype: Ctype) -> Flags {
        Flags { options: Options::new(ctype), global: false }
    }
    /// Parses the flags argument. Errors: 22023.
    pub(super) fn parse(text: &str, ctype: Ctype) -> Result<Flags> {
        let mut flags = Flags::new(ctype);
        for c in text.chars() {
            if c == 'g' {
                flags.global = true;
                continue;
            }
            // PostgreSQL's flag `e` clears all options, which gives basic syntax, unlike `(?e)` in a pattern.
            let letter = if c == 'e' { 'b' } else { c };
            flags.options.letter(letter).ok_or_else(|| {
                let message = format!("invalid regular expression option: \"{c}\"");
                SqlError::new(state::INVALID_PARAMETER_VALUE, message)
            })?;
        }
        Ok(flags)
    }
    /// Whether all matches are wanted.
    pub(super) fn is_global(self) -> bool {
        self.global
    }
}

/// A cache of the last compiled pattern: most calls have only one.
#[derive(Default)]
pub(super) struct Compiled(Option<(String, Flags, Pattern)>);

impl Compiled {
    /// The compiled pattern. Errors: 2201B.
    pub(super) fn get(&mut self, pattern: &str, flags: Flags) -> Result<&Pattern> {
        let fits = self.0.as_ref().is_some_and(|(text, held, _)| text == pattern && *held == flags);
        if !fits {
            self.0 = Some((pattern.to_string(), flags, Pattern::new(pattern, flags.options)?));
        }
        self.0.as_ref().map(|(_, _, regex)| regex).ok_or_else(|| SqlError::internal("a regular expression"))
    }
}

fn matches(insensitive: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        let options = Options { insensitive, ..Options::new(call.ctype()?) };
        let mut compiled = Compiled::default();
        let mut builder = Bool::builder(call.rows);
        for row in 0..call.rows {
            let value = match (texts.get(row)?, patterns.get(row)?) {
                (Some(text), Some(pattern)) => {
                    Some(compiled.get(pattern, Flags { options, global: false })?.is_match(text)?)
                }
                _ => None,
            };
            Bool::append(&mut builder, value)?;
        }
        Ok(Bool::finish(builder))
    })
}

/// Replaces the match with a number (from 1), or all matches, from a byte on.
fn replace(text: &str, regex: &Pattern, replacement: &str, from: usize, number: Option<usize>) -> Result<String> {
    let mut out = LongText::new(text.len())?;
    let mut last = 0;
    let (skip, most) = number.map_or((0, usize::MAX), |number| (number - 1, 1));
    let subject = Subject::new(text)?;
    for captures in Matches::new(regex, &subject, from).skip(skip).take(most) {
        let captures = captures?;
        let Some(whole) = captures.get(0) else { continue };
        out.add(text.get(last..whole.start()).unwrap_or_default())?;
        let mut chars = replacement.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                out.push(c)?;
                continue;
            }
            match chars.next() {
                Some('&') => out.add(whole.as_str())?,
                Some(digit @ '1'..='9') => {
                    let group = digit.to_digit(10).unwrap_or(0) as usize;
                    out.add(captures.get(group).map_or("", |group| group.as_str()))?;
                }
                Some('\\') | None => out.push('\\')?,
                Some(c) => {
                    out.push('\\')?;
                    out.push(c)?;
                }
            }
        }
        last = whole.end();
    }
    out.add(text.get(last..).unwrap_or_default())?;
    Ok(out.finish())
}

/// The flags of a row, from the argument at `at` if the call has it. `None` if an argument is NULL, so that the others
/// are ignored.
pub(super) fn flags_of(call: &Call<'_>, at: usize, row: usize) -> Result<Option<Flags>> {
    if call.arguments.iter().any(|array| array.is_null(Call::row_of(array, row))) {
        return Ok(None);
    }
    if call.arguments.len() <= at {
        return Ok(Some(Flags::new(call.ctype()?)));
    }
    let ctype = call.ctype()?;
    call.column::<Text>(at)?.get(row)?.map(|letters| Flags::parse(letters, ctype)).transpose()
}

/// The kernel of regexp_replace. If `counted`, the fourth argument is the start, the fifth the match number, the sixth
/// the flags.
fn replace_kernel(counted: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let (texts, patterns, replacements) =
            (call.column::<Text>(0)?, call.column::<Text>(1)?, call.column::<Text>(2)?);
        let number = |at: usize, row: usize| match counted && call.arguments.len() > at {
            true => call.column::<Int4>(at)?.get(row),
            false => Ok(Some(1)),
        };
        let mut compiled = Compiled::default();
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let arguments = (texts.get(row)?, patterns.get(row)?, replacements.get(row)?);
            let flags = flags_of(call, if counted { 5 } else { 3 }, row).map_err(|error| {
                let option = error.fields().message.trim_end_matches('"').chars().next_back();
                let number = option.is_some_and(|option| option.is_ascii_digit());
                if counted || !number {
                    return error;
                }
                error.hint(
                    "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer \
                     explicitly.",
                )
            })?;
            let value = match (arguments, number(3, row)?, number(4, row)?, flags) {
                ((Some(text), Some(pattern), Some(replacement)), Some(start), Some(which), Some(flags)) => {
                    let from = byte_of(text, start)?;
                    let which = regex_find::which(which, 0, "n")?;
                    // A match number restricts the replacement to that match.
                    let all = which == 0 || flags.global && !(counted && call.arguments.len() > 4);
                    let which = (!all).then_some(which);
                    Some(replace(text, compiled.get(pattern, flags)?, replacement, from, which)?)
                }
                _ => None,
            };
            Text::append(&mut builder, value)?;
        }
        Ok(Text::finish(builder))
    })
}

/// A function of text and pattern that returns an array of text.
fn parts_kernel(name: &'static str, parts: fn(&str, &Pattern) -> Result<Option<Vec<Option<String>>>>) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        let mut compiled = Compiled::default();
        let mut builder = ColumnBuilder::new(SqlType::TEXT.array_of(), call.rows);
        for row in 0..call.rows {
            let found = match (texts.get(row)?, patterns.get(row)?, flags_of(call, 2, row)?) {
                (Some(text), Some(pattern), Some(flags)) => {
                    not_global(flags, name)?;
                    parts(text, compiled.get(pattern, flags)?)?
                }
                _ => None,
            };
            match found {
                Some(found) => builder.append(&ValueRef::array(Arc::new(StringArray::from(found))))?,
                None => builder.append_null(),
            }
        }
        builder.finish()
    })
}

fn first_match(text: &str, regex: &Pattern) -> Result<Option<Vec<Option<String>>>> {
    let Some(captures) = regex.find(&Subject::new(text)?, 0)? else { return Ok(None) };
    let skip = usize::from(captures.count() > 1);
    Ok(Some(captures.iter().skip(skip).map(|group| group.map(|group| group.as_str().to_string())).collect()))
}

fn split(text: &str, regex: &Pattern) -> Result<Option<Vec<Option<String>>>> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let subject = Subject::new(text)?;
    let mut steps = Steps::default();
    // An empty match at an end of the text, or directly behind the previous separator, splits nothing.
    for found in Matches::new(regex, &subject, 0) {
        let found = found?.get(0);
        steps.step()?;
        let Some(found) = found.filter(|found| found.start() < text.len() && found.end() > from) else { continue };
        parts.push(text.get(from..found.start()).map(str::to_string));
        from = found.end();
    }
    parts.push(text.get(from..).map(str::to_string));
    Ok(Some(parts))
}

/// The kernel of substring. With a third argument, the pattern is SQL's, and the argument is its escape character.
fn substring_kernel() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        let escapes = if call.arguments.len() > 2 { Some(call.column::<Text>(2)?) } else { None };
        let flags = Flags::new(call.ctype()?);
        let mut compiled = Compiled::default();
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let Some(text) = texts.get(row)? else {
                // A NULL argument skips all checks, even that of the escape character.
                Text::append(&mut builder, None)?;
                continue;
            };
            let pattern = match (patterns.get(row)?, &escapes) {
                (Some(pattern), Some(escapes)) => {
                    escapes.get(row)?.map(|escape| with_escape(pattern, escape).map(Cow::Owned)).transpose()?
                }
                (pattern, _) => pattern.map(Cow::Borrowed),
            };
            let value = match pattern.as_deref() {
                Some(pattern) => first_match(text, compiled.get(pattern, flags)?)?
                    .and_then(|groups| groups.into_iter().next().flatten()),
                None => None,
            };
            Text::append(&mut builder, value)?;
        }
        Ok(Text::finish(builder))
    })
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, texts, int4) = (SqlType::TEXT, SqlType::TEXT.array_of(), SqlType::INT4);
    vec![
        immutable("textregexeq", &[text, text], SqlType::BOOL, matches(false)),
        immutable("texticregexeq", &[text, text], SqlType::BOOL, matches(true)),
        immutable("regexp_replace", &[text, text, text], text, replace_kernel(false)),
        immutable("regexp_replace", &[text, text, text, text], text, replace_kernel(false)),
        immutable("regexp_replace", &[text, text, text, int4], text, replace_kernel(true)),
        immutable("regexp_replace", &[text, text, text, int4, int4], text, replace_kernel(true)),
        immutable("regexp_replace", &[text, text, text, int4, int4, text], text, replace_kernel(true)),
        immutable("regexp_match", &[text, text], texts, parts_kernel("regexp_match", first_match)),
        immutable("regexp_match", &[text, text, text], texts, parts_kernel("regexp_match", first_match)),
        immutable("regexp_split_to_array", &[text, text], texts, parts_kernel("regexp_split_to_array", split)),
        immutable("regexp_split_to_array", &[text, text, text], texts, parts_kernel("regexp_split_to_array", split)),
        immutable("regexp split to table", &[text, text], texts, parts_kernel("regexp_split_to_table", split)),
        immutable("regexp split to table", &[text, text, text], texts, parts_kernel("regexp_split_to_table", split)),
        immutable("substring", &[text, text], text, substring_kernel()),
        immutable("substring", &[text, text, text], text, substring_kernel()),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_postgresql() {
        let regex = |pattern: &str| Pattern::new(pattern, Options::new(Ctype::Unicode)).unwrap();
        assert_eq!(replace("Thomas", &regex(".[mN]a."), "M", 0, Some(1)).unwrap(), "ThM");
        assert_eq!(replace("foobarbaz", &regex("b(..)"), "X\\1Y", 0, None).unwrap(), "fooXarYXazY");
        assert_eq!(replace("abc", &regex("b"), "[\\&]", 0, Some(1)).unwrap(), "a[b]c");
        assert!(regex("^(pgbench_.*)$").is_match("pgbench_accounts").unwrap());
        assert!(regex("a.b").is_match("a\nb").unwrap());
        assert_eq!(first_match("foobarbequebaz", &regex("(bar)(beque)")).unwrap().unwrap().len(), 2);
        assert_eq!(split("a,b,,c", &regex(",")).unwrap().unwrap().len(), 4);
        assert_eq!(split("abc", &regex("")).unwrap().unwrap().len(), 3);
    }
}
