//! The unit names of extract, date_part and date_trunc.

use sql_error::{Result, SqlError, state};

/// Only this many letters of a name are compared.
const LETTERS: usize = 10;

/// Units of length, with all their names.
const SPANS: [(&str, &[&str]); 16] = [
    ("microseconds", &["microsecon", "us", "usec", "usecond", "useconds", "usecs"]),
    ("milliseconds", &["millisecon", "ms", "msec", "msecond", "mseconds", "msecs"]),
    ("second", &["s", "sec", "second", "seconds", "secs"]),
    ("minute", &["m", "min", "mins", "minute", "minutes"]),
    ("hour", &["h", "hour", "hours", "hr", "hrs"]),
    ("day", &["d", "day", "days"]),
    ("week", &["w", "week", "weeks"]),
    ("month", &["mon", "mons", "month", "months"]),
    ("quarter", &["qtr", "quarter"]),
    ("year", &["y", "year", "years", "yr", "yrs"]),
    ("decade", &["dec", "decade", "decades", "decs"]),
    ("century", &["c", "cent", "centuries", "century"]),
    ("millennium", &["mil", "millennia", "millennium", "mils"]),
    ("timezone", &["timezone"]),
    ("timezone_hour", &["timezone_h"]),
    ("timezone_minute", &["timezone_m"]),
];
/// Fields that only moments have.
const FIELDS: [(&str, &[&str]); 6] = [
    ("epoch", &["epoch"]),
    ("dow", &["dow"]),
    ("doy", &["doy"]),
    ("isodow", &["isodow"]),
    ("isoyear", &["isoyear"]),
    ("julian", &["j", "jd", "julian"]),
];

fn find(table: &[(&'static str, &[&str])], name: &str) -> Option<&'static str> {
    let end = name.char_indices().nth(LETTERS).map_or(name.len(), |(at, _)| at);
    let name = name.get(..end).unwrap_or(name);
    table.iter().find(|(_, names)| names.contains(&name)).map(|(unit, _)| *unit)
}

/// The canonical name of a unit of length. Errors: 22023, which names the type.
pub(super) fn span(name: &str, type_name: &str) -> Result<&'static str> {
    find(&SPANS, &name.to_ascii_lowercase()).ok_or_else(|| unknown(name, type_name))
}

/// The canonical name of a unit or field. Errors: 22023, which names the type.
pub(super) fn field(name: &str, type_name: &str) -> Result<&'static str> {
    let lower = name.to_ascii_lowercase();
    find(&SPANS, &lower).or_else(|| find(&FIELDS, &lower)).ok_or_else(|| unknown(name, type_name))
}

fn unknown(name: &str, type_name: &str) -> SqlError {
    let message = format!("unit \"{}\" not recognized for type {type_name}", name.to_ascii_lowercase());
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The error 0A000 for a unit that this type does not support.
pub(super) fn unsupported(name: &str, type_name: &str) -> SqlError {
    let message = format!("unit \"{}\" not supported for type {type_name}", name.to_ascii_lowercase());
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_units() {
        assert_eq!(span("HRS", "x").ok(), Some("hour"));
        assert_eq!(span("millisecondes", "x").ok(), Some("milliseconds"));
        assert_eq!(field("jd", "x").ok(), Some("julian"));
        assert!(span("dow", "x").is_err() && field("fortnight", "x").is_err());
    }
}
