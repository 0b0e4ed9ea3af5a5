//! ISO output of dates and timestamps (DateStyle ISO).

use super::{DAY, SECOND, civil_from_days, offset_at_utc};
use chrono_tz::Tz;
use std::io::Write;

// Writing to a Vec cannot fail: the results of `write!` are dropped.

fn write_day(days: i64, out: &mut Vec<u8>) -> bool {
    let civil = civil_from_days(days);
    let before = civil.year <= 0;
    let year = if before { 1 - civil.year } else { civil.year };
    let _ = write!(out, "{year:04}-{:02}-{:02}", civil.month, civil.day);
    before
}

fn write_time(of_day: i64, out: &mut Vec<u8>) {
    let (seconds, micros) = (of_day / SECOND, of_day % SECOND);
    let _ = write!(out, " {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    write_fraction(micros.unsigned_abs(), out);
}

/// `.5` for 500000 microseconds, nothing for none.
pub(crate) fn write_fraction(micros: u64, out: &mut Vec<u8>) {
    if micros != 0 {
        let _ = write!(out, ".{micros:06}");
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// `2024-02-29`, `0044-03-15 BC`, `infinity`.
pub fn write_date(date: i32, out: &mut Vec<u8>) {
    match date {
        i32::MIN => out.extend_from_slice(b"-infinity"),
        i32::MAX => out.extend_from_slice(b"infinity"),
        _ => {
            if write_day(i64::from(date), out) {
                out.extend_from_slice(b" BC");
            }
        }
    }
}

/// `2024-02-29 12:30:00.5`.
pub fn write_timestamp(micros: i64, out: &mut Vec<u8>) {
    match micros {
        i64::MIN => out.extend_from_slice(b"-infinity"),
        i64::MAX => out.extend_from_slice(b"infinity"),
        _ => {
            let before = write_day(micros.div_euclid(DAY), out);
            write_time(micros.rem_euclid(DAY), out);
            if before {
                out.extend_from_slice(b" BC");
            }
        }
    }
}

/// `2024-02-29 12:30:00+01` in a zone.
pub fn write_timestamptz(micros: i64, zone: Tz, out: &mut Vec<u8>) {
    if micros == i64::MIN || micros == i64::MAX {
        return write_timestamp(micros, out);
    }
    let offset = offset_at_utc(zone, micros);
    let local = micros.saturating_add(offset * SECOND);
    let before = write_day(local.div_euclid(DAY), out);
    write_time(local.rem_euclid(DAY), out);
    write_offset(offset, out);
    if before {
        out.extend_from_slice(b" BC");
    }
}

/// `+01`, `-03:30`: seconds east of UTC.
pub(crate) fn write_offset(offset: i64, out: &mut Vec<u8>) {
    let (sign, offset) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
    let _ = write!(out, "{sign}{:02}", offset / 3600);
    if offset % 3600 != 0 {
        let _ = write!(out, ":{:02}", offset / 60 % 60);
        if offset % 60 != 0 {
            let _ = write!(out, ":{:02}", offset % 60);
        }
    }
}
