//! Templates by the strict rules of the SQL standard, for jsonpath's `.datetime(template)`. All separators must match,
//! no text may be left, and the template's patterns determine the type.

use super::parse::parse;
use super::template::{self, Part};
use sql_error::{Result, SqlError, state};

/// The values that a template read from a text.
pub(crate) struct Reading {
    /// Days since 2000-01-01, if the template has a date.
    pub date: Option<i64>,
    /// Microseconds of the day, if it has a time.
    pub time: Option<i64>,
    /// Seconds east of UTC, if it has a zone. A zone implies a time.
    pub east: Option<i64>,
}

/// The kind of value that a pattern reads.
enum Subject {
    Date,
    Time,
    Zone,
    Nothing,
}

fn subject(name: &str) -> Subject {
    match name.to_ascii_uppercase().as_str() {
        "AM" | "PM" | "A.M." | "P.M." | "HH" | "HH12" | "HH24" | "MI" | "SS" | "MS" | "US" | "FF1" | "FF2" | "FF3"
        | "FF4" | "FF5" | "FF6" | "SSSS" | "SSSSS" => Subject::Time,
        "TZ" | "OF" | "TZH" | "TZM" => Subject::Zone,
        "FX" => Subject::Nothing,
        _ => Subject::Date,
    }
}

/// Reads a text by a template. Errors: 22007 if the template has neither date nor time, or if the text does not match;
/// 22008.
pub(crate) fn read(text: &str, pattern: &str) -> Result<Reading> {
    let wrong = |message: String| Err(SqlError::new(state::INVALID_DATETIME_FORMAT, message));
    let (mut dated, mut timed, mut zoned) = (false, false, false);
    for part in template::parse(pattern) {
        match part {
            Part::Pattern { name, .. } => match subject(name) {
                Subject::Date => dated = true,
                Subject::Time => timed = true,
                Subject::Zone => zoned = true,
                Subject::Nothing => {}
            },
            Part::Literal(_) => {}
            Part::Separator(text) | Part::Bare(text) => {
                if !"-./,':; ".contains(text) {
                    return wrong(format!("invalid datetime format separator: \"{text}\""));
                }
            }
        }
    }
    let (days, time, east) = parse(text, pattern, true)?;
    match (dated, timed, zoned) {
        (false, false, _) => wrong("datetime format is not dated and not timed".into()),
        (true, false, true) => wrong("datetime format is zoned but not timed".into()),
        _ => Ok(Reading {
            date: dated.then_some(days),
            time: timed.then_some(time),
            east: zoned.then_some(east.unwrap_or(0)),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_text_follows_its_template_exactly() {
        // Checked against PostgreSQL 15.
        let reading = read("10-03-2017 12:34 +5:20", "dd-mm-yyyy HH24:MI TZH:TZM").unwrap();
        assert_eq!((reading.date, reading.east), (Some(6278), Some(19200)));
        assert_eq!(read("12:34", "HH24:MI").unwrap().time, Some(45_240_000_000));
        for (text, pattern) in [
            ("10-03-2017", "dd.mm.yyyy"),
            ("10-03-2017 12", "dd-mm-yyyy"),
            ("10-03", "dd-mm-yyyy"),
            ("10x03", "dd\"y\"mm"),
            ("10x03", "ddxmm"),
            ("10", "\"10\""),
            ("2017 +3", "yyyy TZH"),
        ] {
            assert_eq!(read(text, pattern).err().unwrap().state(), "22007", "{text} {pattern}");
        }
    }
}
