//! Writes dates and timestamps in the four DateStyles.

use super::{DAY, DateFormat, DateOrder, DateStyle, SECOND, TimeZone, civil_from_days, offset_at_utc, weekday};
use std::io::Write;

// Writing to a Vec cannot fail: the results of `write!` are dropped.

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes a number of at most two digits. `write!` takes ten times as long, and many result sets are mostly dates.
fn two_digits(number: i64, out: &mut Vec<u8>) {
    let digit = |digit: i64| b'0' + (digit.unsigned_abs() % 10) as u8;
    out.extend_from_slice(&[digit(number / 10), digit(number)]);
}

fn write_year(year: i64, out: &mut Vec<u8>) {
    if (0..10_000).contains(&year) {
        two_digits(year / 100, out);
        two_digits(year % 100, out);
    } else {
        let _ = write!(out, "{year:04}");
    }
}

/// Writes three two-digit numbers with `between` as the separator.
fn write_parts(parts: [i64; 3], between: u8, out: &mut Vec<u8>) {
    let [first, second, third] = parts;
    two_digits(first, out);
    out.push(between);
    two_digits(second, out);
    out.push(between);
    two_digits(third, out);
}

/// Writes the date of `days` since 2000-01-01. Answers whether the year is BC: the caller appends that at the end.
fn write_day(days: i64, format: DateFormat, out: &mut Vec<u8>) -> bool {
    let civil = civil_from_days(days);
    let before = civil.year <= 0;
    let year = if before { 1 - civil.year } else { civil.year };
    let (first, second) =
        if format.order == DateOrder::Dmy { (civil.day, civil.month) } else { (civil.month, civil.day) };
    let mut written = |parts: [i64; 2], between: u8| {
        for part in parts {
            two_digits(part, out);
            out.push(between);
        }
        write_year(year, out);
    };
    match format.style {
        DateStyle::Iso => {
            write_year(year, out);
            out.push(b'-');
            two_digits(civil.month, out);
            out.push(b'-');
            two_digits(civil.day, out);
        }
        DateStyle::Sql => written([first, second], b'/'),
        DateStyle::Postgres => written([first, second], b'-'),
        DateStyle::German => written([civil.day, civil.month], b'.'),
    }
    before
}

fn write_time(of_day: i64, out: &mut Vec<u8>) {
    let (seconds, micros) = (of_day / SECOND, of_day % SECOND);
    out.push(b' ');
    write_parts([seconds / 3600, seconds / 60 % 60, seconds % 60], b':', out);
    write_fraction(micros.unsigned_abs(), out);
}

/// Writes a local moment. `zone` is the offset in seconds and the abbreviation.
fn write_moment(local: i64, zone: Option<(i64, String)>, format: DateFormat, out: &mut Vec<u8>) {
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let before = if format.style == DateStyle::Postgres {
        let civil = civil_from_days(days);
        let name = WEEKDAYS.get(weekday(days) as usize).copied().unwrap_or_default();
        let month = MONTHS.get((civil.month - 1) as usize).copied().unwrap_or_default();
        let _ = match format.order {
            DateOrder::Dmy => write!(out, "{name} {:02} {month}", civil.day),
            _ => write!(out, "{name} {month} {:02}", civil.day),
        };
        write_time(time, out);
        let _ = write!(out, " {:04}", if civil.year <= 0 { 1 - civil.year } else { civil.year });
        civil.year <= 0
    } else {
        let before = write_day(days, format, out);
        write_time(time, out);
        before
    };
    match zone {
        Some((offset, _)) if format.style == DateStyle::Iso => write_offset(offset, out),
        Some((_, name)) if !name.is_empty() => {
            let _ = write!(out, " {name}");
        }
        Some((offset, _)) => {
            if format.style == DateStyle::Postgres {
                out.push(b' ');
            }
            write_offset(offset, out);
        }
        None => {}
    }
    if before {
        out.extend_from_slice(b" BC");
    }
}

/// Writes a fraction of a second: `.5` for 500000 microseconds, nothing for 0.
pub fn write_fraction(micros: u64, out: &mut Vec<u8>) {
    if micros != 0 {
        out.push(b'.');
        let micros = i64::try_from(micros).unwrap_or(0);
        for part in [micros / 10_000, micros / 100 % 100, micros % 100] {
            two_digits(part, out);
        }
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// Writes a date such as `2024-02-29`, `0044-03-15 BC` or `infinity`.
pub fn write_date(date: i32, format: DateFormat, out: &mut Vec<u8>) {
    match date {
        i32::MIN => out.extend_from_slice(b"-infinity"),
        i32::MAX => out.extend_from_slice(b"infinity"),
        _ => {
            if write_day(i64::from(date), format, out) {
                out.extend_from_slice(b" BC");
            }
        }
    }
}

/// Writes a timestamp such as `2024-02-29 12:30:00.5`.
pub fn write_timestamp(micros: i64, format: DateFormat, out: &mut Vec<u8>) {
    match micros {
        i64::MIN => out.extend_from_slice(b"-infinity"),
        i64::MAX => out.extend_from_slice(b"infinity"),
        _ => write_moment(micros, None, format, out),
    }
}

/// Writes a timestamp by a zone's clock, such as `2024-02-29 12:30:00+01`.
pub fn write_timestamptz(micros: i64, zone: TimeZone, format: DateFormat, out: &mut Vec<u8>) {
    if micros == i64::MIN || micros == i64::MAX {
        return write_timestamp(micros, format, out);
    }
    let offset = offset_at_utc(zone, micros);
    let name = if format.style == DateStyle::Iso { String::new() } else { zone.abbreviation_at(micros) };
    write_moment(micros.saturating_add(offset * SECOND), Some((offset, name)), format, out);
}

/// Writes an offset such as `+01` or `-03:30` from seconds east of UTC.
pub fn write_offset(offset: i64, out: &mut Vec<u8>) {
    let (sign, offset) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
    let _ = write!(out, "{sign}{:02}", offset / 3600);
    if offset % 3600 != 0 {
        let _ = write!(out, ":{:02}", offset / 60 % 60);
        if offset % 60 != 0 {
            let _ = write!(out, ":{:02}", offset % 60);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_style() {
        // Checked against PostgreSQL 15.
        let moment = -30_916_493_500_000;
        let zone = TimeZone::parse("PST8PDT").unwrap();
        for (list, date, stamp, zoned) in [
            ("ISO, DMY", "1999-01-08", "1999-01-08 04:05:06.5", "1999-01-07 20:05:06.5-08"),
            ("SQL, MDY", "01/08/1999", "01/08/1999 04:05:06.5", "01/07/1999 20:05:06.5 PST"),
            ("SQL, DMY", "08/01/1999", "08/01/1999 04:05:06.5", "07/01/1999 20:05:06.5 PST"),
            ("Postgres, MDY", "01-08-1999", "Fri Jan 08 04:05:06.5 1999", "Thu Jan 07 20:05:06.5 1999 PST"),
            ("Postgres, DMY", "08-01-1999", "Fri 08 Jan 04:05:06.5 1999", "Thu 07 Jan 20:05:06.5 1999 PST"),
            ("German", "08.01.1999", "08.01.1999 04:05:06.5", "07.01.1999 20:05:06.5 PST"),
        ] {
            let format = DateFormat::ISO.changed(list).unwrap();
            let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
            write_date(-358, format, &mut a);
            write_timestamp(moment, format, &mut b);
            write_timestamptz(moment, zone, format, &mut c);
            let shown: Vec<String> = [a, b, c].into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
            assert_eq!(shown, [date, stamp, zoned], "{list}");
        }
    }
}
