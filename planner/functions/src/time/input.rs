//! A text that is parsed by a date template: reads numbers and words.

use sql_error::{Result, SqlError, state};

pub(super) fn wrong(message: String) -> SqlError {
    SqlError::new(state::INVALID_DATETIME_FORMAT, message)
}

/// The rest of the text to parse.
pub(super) struct Input<'a> {
    pub(super) rest: &'a str,
    pub(super) before: Option<char>,
    /// White space skipped in addition to the template's.
    pub(super) extra: i64,
}

impl Input<'_> {
    pub(super) fn skip(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        self.before = Some(c);
        Some(c)
    }
    pub(super) fn blanks(&mut self) {
        while self.rest.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.skip();
            self.extra += 1;
        }
    }

    /// Reads a number of at most `length` characters, or of any length if `open`. Also answers the number of
    /// characters.
    pub(super) fn number(&mut self, pattern: &str, length: usize, open: bool) -> Result<(i64, usize)> {
        let start = self.rest;
        let trimmed = start.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let piece: String = if open { trimmed.to_string() } else { trimmed.chars().take(length).collect() };
        let hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
        if !open && piece.chars().count() < length {
            return Err(wrong(format!("source string too short for \"{pattern}\" formatting field"))
                .detail(format!("Field requires {length} characters, but only {} remain.", piece.chars().count()))
                .hint(hint));
        }
        let unsigned = piece.strip_prefix(['-', '+']).unwrap_or(&piece);
        let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
        let used = if digits == 0 { 0 } else { piece.len() - unsigned.len() + digits };
        let shown: String = piece.chars().take(length).collect();
        if used == 0 {
            return Err(
                wrong(format!("invalid value \"{shown}\" for \"{pattern}\"")).detail("Value must be an integer.")
            );
        }
        if !open && used < length {
            return Err(wrong(format!("invalid value \"{shown}\" for \"{pattern}\""))
                .detail(format!("Field requires {length} characters, but only {used} could be parsed."))
                .hint(hint));
        }
        let value = piece.get(..used).and_then(|digits| digits.parse::<i32>().ok()).ok_or_else(|| {
            let message = format!("value for \"{pattern}\" in source string is out of range");
            SqlError::new(state::DATETIME_FIELD_OVERFLOW, message).detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })?;
        self.rest = trimmed.get(used..).unwrap_or_default();
        Ok((i64::from(value), start.len() - self.rest.len()))
    }

    /// Reads a word of a list. Answers its index.
    pub(super) fn word(&mut self, words: &[&str], pattern: &str) -> Result<usize> {
        let found = words
            .iter()
            .position(|word| self.rest.get(..word.len()).is_some_and(|given| given.eq_ignore_ascii_case(word)));
        let Some(at) = found else {
            let given: String = self.rest.chars().take_while(|c| !c.is_ascii_whitespace()).collect();
            return Err(wrong(format!("invalid value \"{given}\" for \"{pattern}\""))
                .detail("The given value did not match any of the allowed values for this field."));
        };
        let length = words.get(at).map_or(0, |word| word.len());
        self.rest = self.rest.get(length..).unwrap_or_default();
        Ok(at)
    }
}
