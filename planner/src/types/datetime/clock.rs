//! Text to times of day, without and with a zone.

use super::parse::{Parsed, Reader, Zone, half_day, parse, read_clock, read_zone};
use super::{DAY, offset_at_local, offset_at_utc, to_local};
use crate::error::Result;
use crate::types::time::TimeTz;
use chrono_tz::Tz;

/// A time of day as written, and seconds east of UTC if a zone was.
fn read(text: &str, type_name: &str, session: Tz, now: i64) -> Result<(i64, Option<i64>)> {
    let reader = Reader { text, type_name };
    let lower = text.trim().to_ascii_lowercase();
    match lower.as_str() {
        "now" => return Ok((to_local(now, session).rem_euclid(DAY), Some(offset_at_utc(session, now)))),
        "allballs" => return Ok((0, Some(0))),
        _ => {}
    }
    match bare(&lower, &reader) {
        // Not a time alone: a time of a date, perhaps.
        Err(error) if lower.contains(':') && error.state() == crate::error::state::INVALID_DATETIME_FORMAT => {
            match parse(text, type_name, session, now) {
                Ok(Parsed::Fields { days, time, zone }) => {
                    let offset = zone.map(|zone| match zone {
                        Zone::Fixed(seconds) => seconds,
                        Zone::Named(zone) => offset_at_local(zone, days.saturating_mul(DAY).saturating_add(time)),
                    });
                    Ok((time, offset))
                }
                _ => Err(error),
            }
        }
        read => read,
    }
}

/// A time without a date: `10:00`, `10:00 pm`, `1000`, `100001`, `t10:00`, each perhaps with a zone that is an offset.
fn bare(lower: &str, reader: &Reader<'_>) -> Result<(i64, Option<i64>)> {
    let (mut time, mut offset) = (None, None);
    let mut zoned = |word: &str| -> Result<()> {
        let Zone::Fixed(seconds) = read_zone(word, reader)? else { return Err(reader.syntax()) };
        if offset.replace(seconds).is_some() { Err(reader.syntax()) } else { Ok(()) }
    };
    for (at, word) in lower.split_ascii_whitespace().enumerate() {
        let word = match word.strip_prefix('t') {
            Some(rest) if at == 0 && rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
            _ => word,
        };
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let end = word.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(word.len());
            let (clock, rest) = word.split_at(end);
            let whole = clock.split('.').next().unwrap_or(clock);
            let shaped = match (clock.contains(':'), whole.len()) {
                (true, _) => clock.to_string(),
                (false, 4) if whole == clock => format!("{}:{}", &clock[..2], &clock[2..]),
                (false, 6) => format!("{}:{}:{}", &clock[..2], &clock[2..4], &clock[4..]),
                _ => return Err(reader.syntax()),
            };
            if time.replace(read_clock(&shaped, reader)?).is_some() {
                return Err(reader.syntax());
            }
            match rest {
                "" => {}
                "am" | "pm" => time = Some(half_day(time, rest == "pm", reader)?),
                zone => zoned(zone)?,
            }
        } else if time.is_none() {
            return Err(reader.syntax());
        } else if matches!(word, "am" | "pm") {
            time = Some(half_day(time, word == "pm", reader)?);
        } else {
            zoned(word)?;
        }
    }
    time.map(|time| (time, offset)).ok_or_else(|| reader.syntax())
}

/// Text to a time without time zone, microseconds since midnight; a zone in the text is ignored, as in PostgreSQL.
/// Errors: 22007, 22008, 22009.
pub fn parse_time(text: &str, session: Tz, now: i64) -> Result<i64> {
    read(text, "time", session, now).map(|(time, _)| time)
}

/// Text to a time with time zone; without a zone it has the session's of today.
pub fn parse_timetz(text: &str, session: Tz, now: i64) -> Result<TimeTz> {
    let (micros, offset) = read(text, "time with time zone", session, now)?;
    let offset = offset.unwrap_or_else(|| {
        let today = to_local(now, session).div_euclid(DAY);
        offset_at_local(session, today.saturating_mul(DAY).saturating_add(micros))
    });
    Ok(TimeTz { micros, offset: offset as i32 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::types::time::{write_time, write_timetz};

    #[test]
    fn times_of_every_form() {
        // Checked against PostgreSQL 15.
        for (text, printed) in [
            ("10:00", "10:00:00"),
            ("10:00:01.1234567", "10:00:01.123457"),
            ("24:00", "24:00:00"),
            ("10:00 pm", "22:00:00"),
            ("1000", "10:00:00"),
            ("100001", "10:00:01"),
            ("T1000", "10:00:00"),
            ("040506-08", "04:05:06"),
            ("allballs", "00:00:00"),
            ("2003-04-12 04:05:06 America/New_York", "04:05:06"),
        ] {
            let mut out = Vec::new();
            write_time(parse_time(text, Tz::UTC, 0).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), printed, "{text}");
        }
        for (text, sqlstate) in [
            ("10", "22007"),
            ("25:00", "22008"),
            ("24:00:01", "22008"),
            ("x", "22007"),
            ("", "22007"),
            ("10:00 America/New_York", "22007"),
        ] {
            assert_eq!(parse_time(text, Tz::UTC, 0).unwrap_err().state(), sqlstate, "{text}");
        }
    }

    #[test]
    fn zones_of_times() {
        for (text, printed) in [
            ("10:00+02", "10:00:00+02"),
            ("10:00", "10:00:00+01"),
            ("10:00:00.5-0330", "10:00:00.5-03:30"),
            ("2003-04-12 04:05:06 America/New_York", "04:05:06-04"),
            ("10:00 EST", "10:00:00-05"),
        ] {
            let mut out = Vec::new();
            write_timetz(parse_timetz(text, Tz::Europe__Berlin, 0).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), printed, "{text}");
        }
        assert_eq!(parse_timetz("10:00+16", Tz::UTC, 0).unwrap_err().state(), "22009");
    }
}
