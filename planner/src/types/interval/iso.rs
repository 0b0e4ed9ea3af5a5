//! Intervals in the forms of ISO 8601: `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06`, `P00010203T040506`.

use super::Interval;
use super::parse::{Sum, Unit, Wrong, clock, number};
use crate::types::datetime::SECOND;

/// Reads one; designators are upper case.
pub(super) fn parse(text: &str) -> Result<Interval, Wrong> {
    let body = text.strip_prefix('P').filter(|body| !body.is_empty()).ok_or(Wrong::Syntax)?;
    let (date, time) = match body.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (body, None),
    };
    let mut sum = Sum::default();
    read_date(date, &mut sum)?;
    if let Some(time) = time {
        read_time(time, &mut sum)?;
    }
    sum.finish(false)
}

/// Numbers with designators.
fn designated(mut rest: &str, unit: fn(char) -> Option<Unit>, sum: &mut Sum) -> Result<(), Wrong> {
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or(Wrong::Syntax)?;
        let (digits, tail) = rest.split_at(end);
        let unit = tail.chars().next().and_then(unit).ok_or(Wrong::Syntax)?;
        let (whole, fraction) = number(digits)?;
        sum.add(whole, fraction, unit)?;
        rest = tail.get(1..).unwrap_or_default();
    }
    Ok(())
}

fn read_date(date: &str, sum: &mut Sum) -> Result<(), Wrong> {
    if date.contains(|c: char| c.is_ascii_alphabetic()) {
        return designated(
            date,
            |c| match c {
                'Y' => Some(Unit::Years(1)),
                'M' => Some(Unit::Months),
                'W' => Some(Unit::Days(7)),
                'D' => Some(Unit::Days(1)),
                _ => None,
            },
            sum,
        );
    }
    let units = [Unit::Years(1), Unit::Months, Unit::Days(1)];
    if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) {
        for (range, unit) in [0..4, 4..6, 6..8].into_iter().zip(units) {
            sum.add(number(date.get(range).unwrap_or_default())?.0, 0.0, unit)?;
        }
        return Ok(());
    }
    if date.is_empty() {
        return Ok(());
    }
    let (sign, body) = match date.strip_prefix('-') {
        Some(body) => (-1, body),
        None => (1, date),
    };
    let parts: Vec<&str> = body.split('-').collect();
    if parts.len() > 3 {
        return Err(Wrong::Syntax);
    }
    for (at, (part, unit)) in parts.iter().zip(units).enumerate() {
        let sign = if at == 0 { sign } else { 1 };
        sum.add(sign * number(part)?.0, 0.0, unit)?;
    }
    Ok(())
}

fn read_time(time: &str, sum: &mut Sum) -> Result<(), Wrong> {
    if time.is_empty() {
        return Ok(());
    }
    if time.contains(|c: char| c.is_ascii_alphabetic()) {
        return designated(
            time,
            |c| match c {
                'H' => Some(Unit::Time(3600 * SECOND)),
                'M' => Some(Unit::Time(60 * SECOND)),
                'S' => Some(Unit::Time(SECOND)),
                _ => None,
            },
            sum,
        );
    }
    if time.contains(':') {
        return sum.add(clock(time, false)?, 0.0, Unit::Time(1));
    }
    let (digits, fraction) = time.split_at(time.find('.').unwrap_or(time.len()));
    if digits.len() != 6 && fraction.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return sum.add(number(digits)?.0, 0.0, Unit::Time(3600 * SECOND));
    }
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Wrong::Syntax);
    }
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or_default();
    let shaped = format!("{}:{}:{}{fraction}", part(0..2), part(2..4), part(4..6));
    sum.add(clock(&shaped, false)?, 0.0, Unit::Time(1))
}
