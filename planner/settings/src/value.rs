//! Values of settings: validates them and brings them to the canonical form that SHOW prints.

use super::registry::{Definition, Kind, Unit};
use sql_error::{Result, SqlError, state};
use types::datetime::{DateFormat, PosixZone, TimeZone};
use types::encoding::{self, Encoding};
use types::interval::{Restriction, parse_interval};

/// Validates `value` and returns its canonical form.
pub fn canonical(definition: &Definition, value: &str) -> Result<String> {
    match definition.kind {
        Kind::Bool => boolean(value)
            .map(|on| if on { "on" } else { "off" }.to_string())
            .ok_or_else(|| invalid_state(format!("parameter \"{}\" requires a Boolean value", definition.name))),
        Kind::Int { min, max, unit } => {
            let number = integer(definition, value, unit)?;
            if number < min || number > max {
                return Err(invalid_state(format!(
                    "{number}{} is outside the valid range for parameter \"{}\" ({min} .. {max})",
                    suffix(unit),
                    definition.name,
                )));
            }
            Ok(format_integer(number, unit))
        }
        Kind::Real { min, max } => match value.trim().parse::<f64>() {
            Ok(number) if number >= min && number <= max => Ok(number.to_string()),
            Ok(number) if !number.is_nan() => Err(invalid_state(format!(
                "{} is outside the valid range for parameter \"{}\" ({} .. {})",
                shown(number),
                definition.name,
                shown(min),
                shown(max)
            ))),
            _ => Err(invalid(definition, value)),
        },
        Kind::Enum(words) => word(words, value).ok_or_else(|| {
            // `debug` is accepted but not listed. The name is shown in lower case, as it is usually written.
            let shown: Vec<&str> = words.iter().copied().filter(|word| *word != "debug").collect();
            let name = definition.name.to_ascii_lowercase();
            invalid_state(format!("invalid value for parameter \"{name}\": \"{value}\""))
                .hint(format!("Available values: {}.", shown.join(", ")))
        }),
        Kind::Partial(supported, refused) => match (word(supported, value), word(refused, value)) {
            (Some(value), _) => Ok(value),
            (None, Some(value)) => Err(SqlError::unsupported(format!("{} = {value}", definition.name))),
            (None, None) => Err(invalid(definition, value)),
        },
        Kind::OnlyBool(only) => match boolean(value) {
            Some(on) if on == only => Ok(if on { "on" } else { "off" }.to_string()),
            Some(_) => Err(SqlError::unsupported(format!("{} = {value}", definition.name))),
            None => Err(invalid_state(format!("parameter \"{}\" requires a Boolean value", definition.name))),
        },
        // Each byte that is not printable ASCII becomes a question mark, as in PostgreSQL's log.
        Kind::Text if definition.name == "application_name" => {
            let value = syntax::names::fold_text(value, true);
            Ok(value.bytes().map(|byte| if (32..127).contains(&byte) { char::from(byte) } else { '?' }).collect())
        }
        Kind::Text => Ok(value.to_string()),
        Kind::Special => special(definition, value),
    }
}

/// A bound in the format of PostgreSQL's `%g`.
pub fn shown(bound: f64) -> String {
    if bound == f64::MAX { "1.79769e+308".to_string() } else { bound.to_string() }
}

/// Parses `on`, `true`, `yes`, `1`, their opposites, and unique prefixes.
pub fn boolean(value: &str) -> Option<bool> {
    let value = value.trim().to_ascii_lowercase();
    match value.as_str() {
        "" | "o" => None,
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        text if "true".starts_with(text) || "yes".starts_with(text) => Some(true),
        text if "false".starts_with(text) || "no".starts_with(text) => Some(false),
        _ => None,
    }
}

fn word(words: &[&'static str], value: &str) -> Option<String> {
    let value = value.trim();
    words.iter().find(|word| word.eq_ignore_ascii_case(value)).map(|word| (*word).to_string()).or_else(|| {
        // synchronous_commit and similar settings accept Boolean words too.
        let on = if words.contains(&"on") { boolean(value)? } else { return None };
        Some(if on { "on" } else { "off" }.to_string())
    })
}

fn invalid_state(message: String) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

fn invalid(definition: &Definition, value: &str) -> SqlError {
    invalid_state(invalid_text(definition, value))
}

fn invalid_text(definition: &Definition, value: &str) -> String {
    format!("invalid value for parameter \"{}\": \"{value}\"", definition.name)
}

fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::One => "",
        Unit::Milliseconds => " ms",
        Unit::Seconds => " s",
        Unit::Minutes => " min",
        Unit::Bytes => " B",
        Unit::Kilobytes => " kB",
        Unit::Blocks => " 8kB",
        Unit::Megabytes => " MB",
    }
}

/// The names of units and their sizes in the base unit, greatest first.
fn units(unit: Unit) -> &'static [(&'static str, i64)] {
    match unit {
        Unit::One => &[],
        Unit::Milliseconds => &[("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)],
        Unit::Seconds => &[("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)],
        Unit::Minutes => &[("d", 1440), ("h", 60), ("min", 1)],
        Unit::Bytes => &[("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10), ("B", 1)],
        Unit::Kilobytes | Unit::Blocks => &[("TB", 1 << 30), ("GB", 1 << 20), ("MB", 1 << 10), ("kB", 1)],
        Unit::Megabytes => &[("TB", 1 << 20), ("GB", 1 << 10), ("MB", 1)],
    }
}

fn integer(definition: &Definition, value: &str, unit: Unit) -> Result<i64> {
    let value = value.trim();
    let digits = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))).unwrap_or(value.len());
    let (number, name) = value.split_at(digits);
    let number: f64 = number.parse().map_err(|_| invalid(definition, value))?;
    let name = name.trim();
    let known = || units(unit).iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor as f64);
    // Units smaller than the base unit. Values are never shown in them.
    let part = match (unit, name) {
        (_, "") => Some(1.0),
        (Unit::Kilobytes | Unit::Blocks, "B") => Some(1.0 / 1024.0),
        (Unit::Megabytes, "kB") => Some(1.0 / 1024.0),
        (Unit::Megabytes, "B") => Some(1.0 / 1_048_576.0),
        (Unit::Minutes, "s") => Some(1.0 / 60.0),
        (Unit::Minutes, "ms") => Some(1.0 / 60_000.0),
        (Unit::Milliseconds, "us") | (Unit::Seconds, "ms") => Some(1e-3),
        (Unit::Seconds, "us") => Some(1e-6),
        _ => None,
    };
    let factor = part.or_else(known).ok_or_else(|| {
        let error = invalid(definition, value);
        match unit {
            Unit::One => error,
            Unit::Bytes | Unit::Kilobytes | Unit::Blocks | Unit::Megabytes => {
                error.hint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
            }
            Unit::Milliseconds | Unit::Seconds | Unit::Minutes => {
                error.hint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
            }
        }
    })?;
    // A number without a unit counts blocks.
    let blocks = if unit == Unit::Blocks && !name.is_empty() { 1.0 / 8.0 } else { 1.0 };
    let number = (number * factor * blocks).round_ties_even();
    if number > f64::from(i32::MAX) || number < f64::from(i32::MIN) {
        return Err(invalid(definition, value).hint("Value exceeds integer range."));
    }
    Ok(number as i64)
}

fn format_integer(number: i64, unit: Unit) -> String {
    // The units of blocks are multiples of kilobytes.
    let number = if unit == Unit::Blocks && number > 0 { number * 8 } else { number };
    if number <= 0 {
        return number.to_string();
    }
    match units(unit).iter().find(|(_, factor)| number % factor == 0) {
        Some((name, factor)) => format!("{}{name}", number / factor),
        None => number.to_string(),
    }
}

/// The number in a canonical value, in the base unit.
pub fn number(definition: &Definition, value: &str) -> Option<i64> {
    match definition.kind {
        Kind::Int { unit, .. } => integer(definition, value, unit).ok(),
        _ => value.parse().ok(),
    }
}

/// A canonical value as `pg_settings` shows it: a number in the base unit, and the name of that unit.
pub fn in_base_unit(definition: &Definition, value: &str) -> (String, Option<&'static str>) {
    let Kind::Int { unit, .. } = definition.kind else { return (value.to_string(), None) };
    let name = match unit {
        Unit::Blocks => Some("8kB"),
        _ => units(unit).last().map(|(name, _)| *name),
    };
    (integer(definition, value, unit).map_or_else(|_| value.to_string(), |number| number.to_string()), name)
}

fn special(definition: &Definition, value: &str) -> Result<String> {
    match definition.name {
        "client_encoding" => match (Encoding::named(value), encoding::canonical(value)) {
            (Some(encoding), _) => Ok(encoding.name().to_string()),
            (None, Some(known)) => Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, invalid_text(definition, value))
                .detail(format!("Conversion between {known} and UTF8 is not supported."))),
            (None, None) => Err(invalid(definition, value)),
        },
        "DateStyle" => date_style(DateFormat::ISO, value),
        "TimeZone" => time_zone(value).map(|(_, name)| name).map_err(|detail| {
            let error = invalid(definition, value);
            match detail {
                Some(detail) => error.detail(detail),
                None => error,
            }
        }),
        "extra_float_digits" => match value.trim().parse::<i64>() {
            Ok(digits @ -15..=3) => Ok(digits.to_string()),
            _ => Err(invalid_state(format!(
                "{} is outside the valid range for parameter \"extra_float_digits\" (-15 .. 3)",
                value.trim()
            ))),
        },
        "standard_conforming_strings" => match boolean(value) {
            Some(true) => Ok("on".to_string()),
            Some(false) => Ok("off".to_string()),
            None => Err(invalid_state("parameter \"standard_conforming_strings\" requires a Boolean value".into())),
        },
        "lc_messages" | "lc_monetary" | "lc_numeric" | "lc_time" => match value {
            "" | "C" | "POSIX" | "C.UTF-8" | "C.UTF8" | "C.utf8" => Ok(value.to_string()),
            _ => Err(SqlError::unsupported(format!("{} = {value}", definition.name))),
        },
        "default_tablespace" | "temp_tablespaces" => match value {
            "" | "pg_default" => Ok(value.to_string()),
            _ => Err(SqlError::unsupported("tablespaces")),
        },
        "search_path" => {
            split_identifiers(value).ok_or_else(|| invalid(definition, value))?;
            Ok(value.to_string())
        }
        _ => Ok(value.to_string()),
    }
}

/// Applies a list of key words to a DateStyle. Errors: 22023.
pub fn date_style(current: DateFormat, value: &str) -> Result<String> {
    let invalid =
        |detail| invalid_state(format!("invalid value for parameter \"DateStyle\": \"{value}\"")).detail(detail);
    // An empty list changes nothing.
    if value.trim().is_empty() {
        return Ok(current.name());
    }
    Ok(current.changed(value).map_err(invalid)?.name())
}

/// The detail for a time zone too far from UTC.
const FAR: &str = "UTC timezone offset is out of range.";

/// Parses a time zone, and returns it with its name as SHOW prints it. Accepts a name in any case, hours east of UTC,
/// an interval, or a POSIX specification. The error is the detail, if there is one beyond "invalid".
pub fn time_zone(value: &str) -> std::result::Result<(TimeZone, String), Option<&'static str>> {
    let fixed = |east: i64| PosixZone::fixed(east).map(|(zone, name)| (TimeZone::Posix(zone), name)).ok_or(Some(FAR));
    if let Some(interval) = value.get(..8).filter(|word| word.eq_ignore_ascii_case("interval")).and(value.get(8..)) {
        let mut parts = interval.split('\'').skip(1);
        let text = parts.next().ok_or(None)?;
        let fields = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let restriction = match fields.split_once(" to ") {
            _ if fields.is_empty() => Restriction::NONE,
            Some((first, last)) => Restriction::of_fields(first, Some(last), None).ok_or(None)?,
            None => Restriction::of_fields(&fields, None, None).ok_or(None)?,
        };
        let span = parse_interval(text, restriction).map_err(|_| None)?;
        if span.months != 0 {
            return Err(Some("Cannot specify months in time zone interval."));
        }
        if span.days != 0 {
            return Err(Some("Cannot specify days in time zone interval."));
        }
        return fixed(span.micros / types::datetime::SECOND);
    }
    if let Ok(hours) = value.trim_start().parse::<f64>() {
        return if hours.abs() <= 168.0 { fixed((hours * 3600.0) as i64) } else { Err(Some(FAR)) };
    }
    let zone = TimeZone::parse(value).ok_or(None)?;
    let name = match zone {
        TimeZone::Named(zone) => zone.name().to_string(),
        TimeZone::Posix(_) => value.to_ascii_uppercase(),
    };
    Ok((zone, name))
}

/// Splits a list of identifiers as in search_path. Unquoted ones are folded. `None` on bad syntax.
pub fn split_identifiers(value: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = value.trim();
    if rest.is_empty() {
        return Some(names);
    }
    loop {
        let name;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut text = String::new();
            let mut characters = quoted.char_indices();
            let end = loop {
                match characters.next()? {
                    (_, '"') if characters.as_str().starts_with('"') => {
                        characters.next();
                        text.push('"');
                    }
                    (at, '"') => break at + 1,
                    (_, other) => text.push(other),
                }
            };
            name = text;
            rest = quoted.get(end..)?.trim_start();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let word = word.trim();
            if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '"') {
                return None;
            }
            name = word.to_lowercase();
            rest = after;
        }
        names.push(name);
        if rest.is_empty() {
            return Some(names);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::registry::{definitions, find};
    use super::*;

    fn set(name: &str, value: &str) -> Result<String> {
        canonical(find(name).unwrap(), value)
    }

    #[test]
    fn defaults_are_canonical() {
        for definition in definitions() {
            assert_eq!(canonical(definition, definition.default).unwrap(), definition.default, "{}", definition.name);
        }
    }

    #[test]
    fn units_are_read_and_printed() {
        assert_eq!(set("statement_timeout", "10000").unwrap(), "10s");
        assert_eq!(set("statement_timeout", "1min").unwrap(), "1min");
        assert_eq!(set("statement_timeout", "1500ms").unwrap(), "1500ms");
        assert_eq!(set("work_mem", "1024").unwrap(), "1MB");
        assert_eq!(set("statement_timeout", "1 fortnight").unwrap_err().state(), "22023");
        assert_eq!(set("statement_timeout", "-1").unwrap_err().state(), "22023");
    }

    #[test]
    fn words_are_checked() {
        assert_eq!(set("synchronous_commit", "false").unwrap(), "off");
        assert_eq!(set("synchronous_commit", "ON").unwrap(), "on");
        assert_eq!(set("client_min_messages", "loud").unwrap_err().state(), "22023");
        assert_eq!(set("DateStyle", "iso").unwrap(), "ISO, MDY");
        assert_eq!(set("DateStyle", "German").unwrap(), "German, DMY");
        assert_eq!(set("DateStyle", "Martian").unwrap_err().state(), "22023");
        assert_eq!(set("default_transaction_isolation", "SERIALIZABLE").unwrap(), "serializable");
        assert_eq!(set("default_transaction_isolation", "snapshot").unwrap_err().state(), "22023");
        assert_eq!(set("client_encoding", "utf-8").unwrap(), "UTF8");
        assert_eq!(set("client_encoding", "iso-8859-1").unwrap(), "LATIN1");
        assert_eq!(set("client_encoding", "SJIS").unwrap_err().state(), "0A000");
        assert_eq!(set("client_encoding", "nosuch").unwrap_err().state(), "22023");
    }

    #[test]
    fn time_zones() {
        assert_eq!(set("TimeZone", "europe/berlin").unwrap(), "Europe/Berlin");
        // Checked against PostgreSQL 15.
        assert_eq!(set("TimeZone", "2").unwrap(), "<+02>-02");
        assert_eq!(set("TimeZone", "-8.5").unwrap(), "<-08:30>+08:30");
        assert_eq!(set("TimeZone", "pst8pdt").unwrap(), "PST8PDT");
        assert_eq!(set("TimeZone", "utc+3").unwrap(), "UTC+3");
        assert_eq!(set("TimeZone", "INTERVAL '+05:30' HOUR TO MINUTE").unwrap(), "<+05:30>-05:30");
        assert_eq!(set("TimeZone", "INTERVAL '1 day'").unwrap_err().state(), "22023");
        assert_eq!(set("TimeZone", "200").unwrap_err().state(), "22023");
        assert_eq!(set("TimeZone", "PST").unwrap_err().state(), "22023");
        assert_eq!(set("TimeZone", "Mars/Base").unwrap_err().state(), "22023");
    }

    #[test]
    fn identifier_lists() {
        assert_eq!(split_identifiers("\"$user\", Public").unwrap(), ["$user", "public"]);
        assert_eq!(split_identifiers("\"A\"\"b\",c").unwrap(), ["A\"b", "c"]);
        assert_eq!(split_identifiers("").unwrap(), Vec::<String>::new());
        assert!(split_identifiers("a,,b").is_none());
        assert!(split_identifiers("\"a").is_none());
    }
}
