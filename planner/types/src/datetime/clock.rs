//! Parses times of day, without and with a zone.

use super::decode::decode_time;
use super::fields::{Fault, Fields, field};
use super::parse::{Reading, error};
use super::words::split;
use super::zone::{TimeZone, ZoneName};
use super::{DAY, days_from_civil, offset_at_local, offset_at_utc, to_local};
use crate::time::TimeTz;
use sql_error::Result;

/// Parses a time of day to microseconds since midnight and seconds east of UTC. Without a written zone, the session's
/// zone applies on the written date, or else today.
fn read(text: &str, type_name: &str, reading: &Reading) -> Result<(i64, i64)> {
    split(text)
        .ok_or(Fault::Format)
        .and_then(|words| decode_time(&words, reading))
        .and_then(|fields| zoned(&fields, reading))
        .map_err(|fault| error(fault, text, type_name))
}

fn zoned(fields: &Fields, reading: &Reading) -> std::result::Result<(i64, i64), Fault> {
    let time = fields.time();
    let dated = fields.has(field::DATE);
    let same_always = match fields.zone {
        None => reading.zone == TimeZone::UTC,
        Some(zone) => matches!(zone, ZoneName::Fixed(_)),
    };
    let days = if dated {
        days_from_civil(fields.year, fields.month, fields.day)
    } else if same_always {
        0
    } else {
        to_local(reading.now(), reading.zone).div_euclid(DAY)
    };
    let local = days.saturating_mul(DAY).saturating_add(time);
    Ok((
        time,
        match fields.zone {
            None => offset_at_local(reading.zone, local),
            Some(ZoneName::Zone(zone)) if !dated && changes(zone) => return Err(Fault::Format),
            Some(zone) => zone.offset_at_local(local),
        },
    ))
}

/// Whether the offset of a zone ever changed. If so, a time without a date has no offset there.
fn changes(zone: TimeZone) -> bool {
    let now = offset_at_utc(zone, 0);
    (1800..2040)
        .any(|year| [1, 7].iter().any(|month| offset_at_utc(zone, days_from_civil(year, *month, 1) * DAY) != now))
}

/// Parses a time without time zone, in microseconds since midnight. Like PostgreSQL, it ignores a zone in the text.
/// Errors: 22007, 22008, 22009.
pub fn parse_time(text: &str, reading: &Reading) -> Result<i64> {
    read(text, "time", reading).map(|(time, _)| time)
}

/// Parses a time with time zone. Without a zone, it takes the session's offset on the written date, or else today.
pub fn parse_timetz(text: &str, reading: &Reading) -> Result<TimeTz> {
    let (micros, offset) = read(text, "time with time zone", reading)?;
    Ok(TimeTz { micros, offset: offset as i32 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::time::{write_time, write_timetz};

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
            ("h04mm05s06.5", "04:05:06.5"),
            ("23:59:60", "24:00:00"),
            ("040506.5", "04:05:06.5"),
            ("2003-04-12 04:05:06 America/New_York", "04:05:06"),
        ] {
            let mut out = Vec::new();
            write_time(parse_time(text, &Reading::PLAIN).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), printed, "{text}");
        }
        for (text, sqlstate) in [
            ("10", "22007"),
            ("25:00", "22008"),
            ("24:00:01", "22008"),
            ("x", "22007"),
            ("", "22007"),
            ("h04mm05s06", "22007"),
            ("1 pm", "22007"),
            ("04.5", "22007"),
            ("today", "22007"),
            ("2020-01-01", "22007"),
            ("10:00 America/New_York", "22007"),
        ] {
            assert_eq!(parse_time(text, &Reading::PLAIN).unwrap_err().state(), sqlstate, "{text}");
        }
    }

    #[test]
    fn zones_of_times() {
        let berlin = Reading { zone: TimeZone::parse("Europe/Berlin").unwrap(), ..Reading::PLAIN };
        for (text, printed) in [
            ("10:00+02", "10:00:00+02"),
            ("10:00", "10:00:00+01"),
            ("10:00:00.5-0330", "10:00:00.5-03:30"),
            ("2003-04-12 04:05:06 America/New_York", "04:05:06-04"),
            ("10:00 EST", "10:00:00-05"),
            ("04:05 utc", "04:05:00+00"),
            ("2024-07-01 4:5", "04:05:00+02"),
            ("10:00 +05:30:15", "10:00:00+05:30:15"),
        ] {
            let mut out = Vec::new();
            write_timetz(parse_timetz(text, &berlin).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), printed, "{text}");
        }
        assert_eq!(parse_timetz("10:00+16", &Reading::PLAIN).unwrap_err().state(), "22009");
    }
}
