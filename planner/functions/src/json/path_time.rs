//! Dates and times in jsonpath: parsing for `.datetime()`, and comparison.

use crate::time::standard::{self, Reading};
use sql_error::{Result, SqlError};
use std::cmp::Ordering;
use types::datetime::{
    DAY, DateFormat, SECOND, TimeZone, days_from_civil, days_in_month, in_date_range, in_timestamp_range, out_of_range,
    to_utc, write_date, write_timestamp,
};
use types::time::{TimeTz, write_time, write_timetz};

/// A date or time, with its offset from UTC in seconds if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Date(i64),
    Time(i64),
    TimeTz(TimeTz),
    Timestamp(i64),
    /// Microseconds of UTC, and the offset that was written.
    Timestamptz(i64, i64),
}

fn two(text: &str) -> Option<(i64, &str)> {
    let digits = text.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some((digits.parse().ok()?, text.get(2..)?))
}

/// Reads `hh:mm:ss[.ffffff]` as microseconds.
fn clock(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = two(text)?;
    let (minute, rest) = two(rest.strip_prefix(':')?)?;
    let (second, mut rest) = two(rest.strip_prefix(':')?)?;
    let mut micros = 0;
    if let Some(tail) = rest.strip_prefix('.') {
        let length = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let digits = tail.get(..length.min(6)).filter(|digits| !digits.is_empty())?;
        micros = format!("{digits:0<6}").parse().ok()?;
        rest = tail.get(length..)?;
    }
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then_some((((hour * 60 + minute) * 60 + second) * SECOND + micros, rest))
}

/// Reads `+hh[:mm]` as seconds east of UTC. A space also counts as a plus sign, and another `+` may follow it.
fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        b' ' => (1, text.trim_start_matches(' ')),
        _ => return None,
    };
    let rest = if text.starts_with(' ') { rest.strip_prefix('+').unwrap_or(rest) } else { rest };
    let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let hours: i64 = rest.get(..length).filter(|digits| (1..=2).contains(&digits.len()))?.parse().ok()?;
    let minutes = match rest.get(length..)? {
        "" => 0,
        tail => two(tail.strip_prefix(':')?).filter(|(minutes, rest)| *minutes < 60 && rest.is_empty())?.0,
    };
    (hours < 16).then_some(sign * (hours * 3600 + minutes * 60))
}

impl Moment {
    /// Reads the ISO 8601 forms that jsonpath accepts.
    pub(super) fn read(text: &str) -> Option<Moment> {
        if let Some((time, rest)) = clock(text) {
            return if rest.is_empty() {
                Some(Moment::Time(time))
            } else {
                offset(rest).map(|offset| Moment::TimeTz(TimeTz { micros: time, offset: offset as i32 }))
            };
        }
        let (year, rest) = text.split_once('-').filter(|(year, _)| year.len() == 4)?;
        let year: i64 = year.parse().ok()?;
        let (month, rest) = two(rest)?;
        let (day, rest) = two(rest.strip_prefix('-')?)?;
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        let days = days_from_civil(year, month, day);
        if rest.is_empty() {
            return Some(Moment::Date(days));
        }
        let (time, rest) = clock(rest.strip_prefix([' ', 'T'])?)?;
        let local = days * DAY + time;
        if rest.is_empty() {
            return Some(Moment::Timestamp(local));
        }
        let east = offset(rest)?;
        Some(Moment::Timestamptz(local - east * SECOND, east))
    }

    /// Reads a text by a template. Errors: 22007, 22008.
    pub(super) fn by_template(text: &str, template: &str) -> Result<Moment> {
        let Reading { date, time, east } = standard::read(text, template)?;
        let local = date.unwrap_or(0).checked_mul(DAY).and_then(|day| day.checked_add(time.unwrap_or(0)));
        let utc = local.map(|local| local - east.unwrap_or(0) * SECOND).filter(|utc| in_timestamp_range(*utc));
        let utc = || utc.ok_or_else(|| out_of_range("timestamp"));
        Ok(match (date, time, east) {
            (None, Some(micros), Some(east)) => Moment::TimeTz(TimeTz { micros, offset: east as i32 }),
            (None, time, _) => Moment::Time(time.unwrap_or(0)),
            (Some(days), None, _) if in_date_range(days) => Moment::Date(days),
            (Some(_), None, _) => return Err(out_of_range("date")),
            (Some(_), Some(_), Some(east)) => Moment::Timestamptz(utc()?, east),
            (Some(_), Some(_), None) => Moment::Timestamp(utc()?),
        })
    }

    /// The ISO 8601 form, with a `T`.
    pub(super) fn text(&self) -> String {
        let mut out = Vec::new();
        match self {
            Moment::Date(days) => write_date(*days as i32, DateFormat::ISO, &mut out),
            Moment::Time(micros) => write_time(*micros, &mut out),
            Moment::TimeTz(time) => write_timetz(*time, &mut out),
            Moment::Timestamp(micros) => write_timestamp(*micros, DateFormat::ISO, &mut out),
            Moment::Timestamptz(utc, east) => write_timestamp(utc + east * SECOND, DateFormat::ISO, &mut out),
        }
        let mut text = String::from_utf8(out).unwrap_or_default().replacen(' ', "T", 1);
        // In JSON, offsets include minutes.
        let zone = match self {
            Moment::TimeTz(time) => {
                text.truncate(text.find(['+', '-']).unwrap_or(text.len()));
                Some(i64::from(time.offset))
            }
            Moment::Timestamptz(_, east) => Some(*east),
            _ => None,
        };
        if let Some(east) = zone {
            let sign = if east < 0 { '-' } else { '+' };
            text += &format!("{sign}{:02}:{:02}", east.abs() / 3600, east.abs() / 60 % 60);
        }
        text
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Moment::Date(_) => "date",
            Moment::Time(_) => "time without time zone",
            Moment::TimeTz(_) => "time with time zone",
            Moment::Timestamp(_) => "timestamp without time zone",
            Moment::Timestamptz(..) => "timestamp with time zone",
        }
    }

    fn is_zoned(&self) -> bool {
        matches!(self, Moment::TimeTz(_) | Moment::Timestamptz(..))
    }

    fn is_time(&self) -> bool {
        matches!(self, Moment::Time(_) | Moment::TimeTz(_))
    }

    /// Microseconds of UTC. A moment without an offset is read in `zone`.
    fn micros(&self, zone: Option<TimeZone>) -> i64 {
        let local = |local: i64| zone.map_or(local, |zone| to_utc(local, zone));
        match self {
            Moment::Date(days) => local(days.saturating_mul(DAY)),
            Moment::Timestamp(micros) => local(*micros),
            Moment::Timestamptz(utc, _) => *utc,
            Moment::Time(micros) => *micros,
            Moment::TimeTz(time) => time.micros - i64::from(time.offset) * SECOND,
        }
    }

    /// Compares two moments. `None` for a date and a time. `zone` is the session's zone, if it may be used. Errors:
    /// 0A000 if a zone is needed and may not be used.
    pub(super) fn compare(&self, other: &Moment, zone: Option<TimeZone>) -> Result<Option<Ordering>> {
        if self.is_time() != other.is_time() {
            return Ok(None);
        }
        if self.is_zoned() == other.is_zoned() {
            let by_offset = match (self, other) {
                (Moment::TimeTz(a), Moment::TimeTz(b)) => b.offset.cmp(&a.offset),
                _ => Ordering::Equal,
            };
            return Ok(Some(self.micros(None).cmp(&other.micros(None)).then(by_offset)));
        }
        let Some(zone) = zone else {
            let (from, to) = if self.is_zoned() { (other, self) } else { (self, other) };
            let short = |moment: &Moment| match moment {
                Moment::Date(_) => "date",
                Moment::Time(_) => "time",
                Moment::TimeTz(_) => "timetz",
                Moment::Timestamp(_) => "timestamp",
                Moment::Timestamptz(..) => "timestamptz",
            };
            let message = format!("cannot convert value from {} to {} without time zone usage", short(from), short(to));
            return Err(SqlError::new(sql_error::state::FEATURE_NOT_SUPPORTED, message)
                .hint("Use *_tz() function for time zone support."));
        };
        if self.is_time() {
            let offset = types::datetime::offset_at_utc(zone, 0) * SECOND;
            let of = |moment: &Moment| moment.micros(None) - if moment.is_zoned() { 0 } else { offset };
            return Ok(Some(of(self).cmp(&of(other))));
        }
        Ok(Some(self.micros(Some(zone)).cmp(&other.micros(Some(zone)))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_iso() {
        // Checked against PostgreSQL 15.
        for (text, shown, name) in [
            ("2017-03-10", "2017-03-10", "date"),
            ("2017-03-10 12:34:56", "2017-03-10T12:34:56", "timestamp without time zone"),
            ("2017-03-10T12:34:56.789 +3", "2017-03-10T12:34:56.789+03:00", "timestamp with time zone"),
            ("12:34:56", "12:34:56", "time without time zone"),
            ("12:34:56 +05:20", "12:34:56+05:20", "time with time zone"),
        ] {
            let moment = Moment::read(text).unwrap();
            assert_eq!((moment.text().as_str(), moment.type_name()), (shown, name), "{text}");
        }
        for bad in
            ["", "x", "2017-13-01", "2017-02-30", "25:00", "2017-03-10 12", "12:34:56 x", "12:34:56 -05", "12:34"]
        {
            assert!(Moment::read(bad).is_none(), "{bad}");
        }
        let (a, b) = (Moment::read("12:00:00").unwrap(), Moment::read("12:00:00+01").unwrap());
        assert_eq!(a.compare(&b, None).unwrap_err().state(), "0A000");
        assert_eq!(a.compare(&b, Some(TimeZone::UTC)).unwrap(), Some(Ordering::Greater));
    }
}
