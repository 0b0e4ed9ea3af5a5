//! Parses dates and timestamps (manual, 8.5.1 and appendix B).

use super::decode::decode;
use super::fields::{Fault, Fields};
use super::keyword::Keyword;
use super::words::split;
use super::zone::{TimeZone, ZoneName};
use super::{DAY, DateOrder, SECOND, UNIX_EPOCH, UNIX_EPOCH_DAY, days_from_civil, in_date_range, in_timestamp_range};
use sql_error::{Result, SqlError, state};
use std::cell::Cell;

/// The settings that the meaning of a date text depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The session's time zone.
    pub zone: TimeZone,
    /// The transaction's time; who needs it asks [`Reading::now`].
    pub now: i64,
    /// The order of day, month and year.
    pub order: DateOrder,
}

impl Reading {
    /// A fixed context: UTC, the start of 1970, month before day.
    pub const PLAIN: Reading = Reading { zone: TimeZone::UTC, now: UNIX_EPOCH, order: DateOrder::Mdy };
}

thread_local! {
    /// Whether a text that this thread read depends on the transaction's time.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

impl Reading {
    /// The transaction's time. The call notes that the text's meaning depends on it.
    pub fn now(&self) -> i64 {
        ASKED.set(true);
        self.now
    }

    /// Runs `read` and answers whether it asked for the transaction's time. If so, the same texts may mean something
    /// else in the next transaction. `read` must stay on this thread.
    pub fn asks_for_now<T>(read: impl FnOnce() -> T) -> (T, bool) {
        let before = ASKED.replace(false);
        let answer = read();
        (answer, ASKED.replace(before))
    }
}

/// A parsed point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed {
    /// The word `-infinity` was read.
    NegativeInfinity,
    /// The word `infinity` was read.
    Infinity,
    /// `epoch`, the start of 1970.
    Epoch,
    /// A date and time: days since 2000-01-01, microseconds of the day, and the zone if one was written.
    Fields {
        /// Days since 2000-01-01, negative before.
        days: i64,
        /// Microseconds of the day. 24:00:00 is allowed.
        time: i64,
        /// The zone, if one was written.
        zone: Option<ZoneName>,
    },
}

/// The error for a text that is not of the type `type_name`.
pub(super) fn error(fault: Fault, text: &str, type_name: &str) -> SqlError {
    let field =
        || SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""));
    match fault {
        Fault::Format => SqlError::new(
            state::INVALID_DATETIME_FORMAT,
            format!("invalid input syntax for type {type_name}: \"{text}\""),
        ),
        Fault::Field => field(),
        Fault::MonthOrDay => field().hint("Perhaps you need a different \"datestyle\" setting."),
        Fault::Displacement => SqlError::new("22009", format!("time zone displacement out of range: \"{text}\"")),
        Fault::Zone(name) => {
            SqlError::new(state::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized"))
        }
    }
}

/// Parses any accepted form. Errors: 22007 for other text, 22008 for fields out of range, 22009 and 22023 for zones.
pub fn parse(text: &str, type_name: &str, reading: &Reading) -> Result<Parsed> {
    let fields: Fields = split(text)
        .ok_or(Fault::Format)
        .and_then(|words| decode(&words, reading))
        .map_err(|fault| error(fault, text, type_name))?;
    Ok(match fields.special {
        Some(Keyword::Infinity) => Parsed::Infinity,
        Some(Keyword::NegativeInfinity) => Parsed::NegativeInfinity,
        Some(_) => Parsed::Epoch,
        None => Parsed::Fields {
            days: days_from_civil(fields.year, fields.month, fields.day),
            time: fields.time(),
            zone: fields.zone,
        },
    })
}

fn range_error(what: &str, text: &str) -> SqlError {
    SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("{what} out of range: \"{text}\""))
}

/// Parses a date in days since 2000-01-01.
pub fn parse_date(text: &str, reading: &Reading) -> Result<i32> {
    match parse(text, "date", reading)? {
        Parsed::NegativeInfinity => Ok(i32::MIN),
        Parsed::Infinity => Ok(i32::MAX),
        Parsed::Epoch => Ok(UNIX_EPOCH_DAY as i32),
        Parsed::Fields { days, .. } if in_date_range(days) => Ok(days as i32),
        Parsed::Fields { .. } => Err(range_error("date", text)),
    }
}

fn local(days: i64, time: i64, text: &str) -> Result<i64> {
    days.checked_mul(DAY)
        .and_then(|micros| micros.checked_add(time))
        .filter(|micros| in_timestamp_range(*micros))
        .ok_or_else(|| range_error("timestamp", text))
}

/// Parses a timestamp without time zone. Like PostgreSQL, it ignores a zone in the text.
pub fn parse_timestamp(text: &str, reading: &Reading) -> Result<i64> {
    match parse(text, "timestamp", reading)? {
        Parsed::NegativeInfinity => Ok(i64::MIN),
        Parsed::Infinity => Ok(i64::MAX),
        Parsed::Epoch => Ok(UNIX_EPOCH),
        Parsed::Fields { days, time, .. } => local(days, time, text),
    }
}

/// Parses a timestamp with time zone, in microseconds of UTC.
pub fn parse_timestamptz(text: &str, reading: &Reading) -> Result<i64> {
    match parse(text, "timestamp with time zone", reading)? {
        Parsed::NegativeInfinity => Ok(i64::MIN),
        Parsed::Infinity => Ok(i64::MAX),
        Parsed::Epoch => Ok(UNIX_EPOCH),
        Parsed::Fields { days, time, zone } => {
            // Only the zone's offset may bring the moment into range at the first day.
            let local = days.checked_mul(DAY).and_then(|micros| micros.checked_add(time));
            let local = local.ok_or_else(|| range_error("timestamp", text))?;
            let offset = zone.unwrap_or(ZoneName::Zone(reading.zone)).offset_at_local(local);
            let utc = local.saturating_sub(offset * SECOND);
            if in_timestamp_range(utc) { Ok(utc) } else { Err(range_error("timestamp", text)) }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{DateFormat, write_date, write_timestamp, write_timestamptz};
    use super::*;

    fn date(text: &str) -> String {
        let mut out = Vec::new();
        write_date(
            parse_date(text, &Reading { now: UNIX_EPOCH + DAY * 365, ..Reading::PLAIN }).unwrap(),
            DateFormat::ISO,
            &mut out,
        );
        String::from_utf8(out).unwrap()
    }
    fn stamp(text: &str) -> String {
        let mut out = Vec::new();
        write_timestamp(parse_timestamp(text, &Reading::PLAIN).unwrap(), DateFormat::ISO, &mut out);
        String::from_utf8(out).unwrap()
    }
    fn stamptz(text: &str, zone: &str) -> String {
        let zone = TimeZone::parse(zone).unwrap();
        let mut out = Vec::new();
        write_timestamptz(
            parse_timestamptz(text, &Reading { zone, ..Reading::PLAIN }).unwrap(),
            zone,
            DateFormat::ISO,
            &mut out,
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates() {
        for (text, printed) in [
            ("1999-01-08", "1999-01-08"),
            ("January 8, 1999", "1999-01-08"),
            ("1/8/1999", "1999-01-08"),
            ("1999-Jan-08", "1999-01-08"),
            ("08-Jan-1999", "1999-01-08"),
            ("19990108", "1999-01-08"),
            ("Jan 8 1999", "1999-01-08"),
            ("8 jan 99", "1999-01-08"),
            ("0044-03-15 BC", "0044-03-15 BC"),
            ("infinity", "infinity"),
            ("epoch", "1970-01-01"),
            ("today", "1971-01-01"),
            ("4714-11-24 BC", "4714-11-24 BC"),
            ("5874897-12-31", "5874897-12-31"),
            ("2024-02-29", "2024-02-29"),
            ("Jan-08-1999", "1999-01-08"),
            ("990108", "1999-01-08"),
            ("1999.008", "1999-01-08"),
            ("J2451187", "1999-01-08"),
            ("January 8, 99 BC", "0099-01-08 BC"),
            ("J2451187.5", "1999-01-08"),
            ("1999 Jan 08", "1999-01-08"),
            ("08-Jan-99", "1999-01-08"),
            ("1999-01-08 04:05:06", "1999-01-08"),
            ("20200701 UTC", "2020-07-01"),
            ("2020-07-01Z", "2020-07-01"),
        ] {
            assert_eq!(date(text), printed, "{text}");
        }
        for (text, sqlstate) in [
            ("x", "22007"),
            ("2023-02-29", "22008"),
            ("2024-13-01", "22008"),
            ("5874898-01-01", "22008"),
            ("", "22007"),
            ("2024-01", "22007"),
            ("0000-01-01", "22008"),
            ("4715-01-01 BC", "22008"),
            ("44-03-15 BC", "22008"),
            ("04:05:06 1999-01-08", "22007"),
            ("Fri 1999-01-08", "22007"),
            ("+infinity", "22007"),
            ("now tomorrow", "22007"),
            ("Jan 8", "22007"),
            ("99-08-Jan", "22007"),
            ("99-Jan-08", "22008"),
            ("-44-02-01", "22009"),
            ("2020-01-01 00:00 nowhere/land", "22023"),
            ("é", "22007"),
        ] {
            assert_eq!(parse_date(text, &Reading::PLAIN).unwrap_err().state(), sqlstate, "{text}");
        }
    }

    #[test]
    fn timestamps() {
        for (text, printed) in [
            ("2024-02-29 12:30", "2024-02-29 12:30:00"),
            ("2024-02-29T12:30:00.5", "2024-02-29 12:30:00.5"),
            ("2024-02-29 12:30:00.123456+05", "2024-02-29 12:30:00.123456"),
            ("2024-02-29", "2024-02-29 00:00:00"),
            ("2024-02-29 01:02:03 PM", "2024-02-29 13:02:03"),
            ("2024-02-29 24:00:00", "2024-03-01 00:00:00"),
            ("294276-12-31 23:59:59.999999", "294276-12-31 23:59:59.999999"),
            ("4714-11-24 00:00:00 BC", "4714-11-24 00:00:00 BC"),
            ("0001-01-01 00:00:00 BC", "0001-01-01 00:00:00 BC"),
            ("20240229 123000", "2024-02-29 12:30:00"),
            ("20240229T123000", "2024-02-29 12:30:00"),
            ("y1999m01d08 h04mm05s06", "1999-01-08 04:05:06"),
            ("J2451187.5", "1999-01-08 12:00:00"),
            ("2020-01-01 10:00:60", "2020-01-01 10:01:00"),
            ("2020-01-01 1030", "2020-01-01 10:30:00"),
            ("Wed Jul 01 00:00:00 2020 PDT", "2020-07-01 00:00:00"),
            ("infinity 2020", "infinity"),
            ("tomorrow 10:30", "1970-01-02 10:30:00"),
        ] {
            assert_eq!(stamp(text), printed, "{text}");
        }
        assert_eq!(parse_timestamp("294277-01-01", &Reading::PLAIN).unwrap_err().state(), "22008");
        assert_eq!(parse_timestamp("2024-01-01 25:00", &Reading::PLAIN).unwrap_err().state(), "22008");
    }

    #[test]
    fn zones() {
        assert_eq!(stamptz("2024-07-01 12:00", "Europe/Berlin"), "2024-07-01 12:00:00+02");
        assert_eq!(stamptz("2024-07-01 12:00Z", "Europe/Berlin"), "2024-07-01 14:00:00+02");
        assert_eq!(stamptz("2024-07-01 12:00+05:30", "UTC"), "2024-07-01 06:30:00+00");
        assert_eq!(stamptz("2024-01-01 12:00 America/New_York", "UTC"), "2024-01-01 17:00:00+00");
        assert_eq!(stamptz("2024-01-01 12:00-0800", "Asia/Kolkata"), "2024-01-02 01:30:00+05:30");
        assert_eq!(stamptz("infinity", "UTC"), "infinity");
        // Checked against PostgreSQL 15.
        for (text, printed) in [
            ("2020-07-01 12:00 UTC", "2020-07-01 12:00:00+00"),
            ("2020-01-01Z", "2020-01-01 00:00:00+00"),
            ("J2451187-08", "1999-01-08 08:00:00+00"),
            ("19990108T040506-08", "1999-01-08 12:05:06+00"),
            ("1999-01-08 04:05 MET DST", "1999-01-08 02:05:00+00"),
            ("2020-01-01 10:00 EST5EDT", "2020-01-01 15:00:00+00"),
            ("01 Jul 2020 00:00 MSK", "2020-06-30 21:00:00+00"),
            ("2020-01-01 10:00 utc+3", "2020-01-01 13:00:00+00"),
            ("epoch", "1970-01-01 00:00:00+00"),
        ] {
            assert_eq!(stamptz(text, "UTC"), printed, "{text}");
        }
    }

    #[test]
    fn the_order_of_fields_is_the_sessions() {
        // Checked against PostgreSQL 15.
        for (order, text, printed) in [
            (DateOrder::Dmy, "18/1/1999", "1999-01-18"),
            (DateOrder::Dmy, "1/8/1999", "1999-08-01"),
            (DateOrder::Ymd, "01/02/03", "2001-02-03"),
            (DateOrder::Ymd, "08-Jan-1999", "1999-01-08"),
            (DateOrder::Ymd, "99-Jan-08", "1999-01-08"),
            (DateOrder::Mdy, "01/02/03", "2003-01-02"),
        ] {
            let read = parse_date(text, &Reading { order, ..Reading::PLAIN }).unwrap();
            let mut out = Vec::new();
            write_date(read, DateFormat::ISO, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), printed, "{order:?} {text}");
        }
        assert_eq!(parse_date("18/1/1999", &Reading::PLAIN).unwrap_err().state(), "22008");
    }
}
