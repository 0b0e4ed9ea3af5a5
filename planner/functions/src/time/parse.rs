//! to_date and to_timestamp: parse a text by a template.

use super::input::{Input, wrong};
use super::template::{self, Part};
use super::to_char::{DAYS, MONTHS, ROMAN};
use crate::kernel::{Call, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Date, SqlWrite, Text, Timestamptz, binary};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{
    DAY, SECOND, ZoneName, civil_from_days, days_from_civil, days_from_julian, days_in_month, in_date_range,
    in_timestamp_range, round_timestamp, weekday,
};

/// The fields read by a template. As in PostgreSQL, 0 means not given.
#[derive(Default)]
struct Read {
    values: [i64; 16],
    /// Number of letters in the year's pattern; 4 is a full year.
    year_digits: usize,
    before_christ: bool,
    after_noon: bool,
    half_day: bool,
    /// Whether the template uses ISO weeks. `None` until a pattern decides.
    iso: Option<bool>,
    zone_sign: i64,
    /// Whether a zone's minutes are out of range.
    zone_fault: bool,
}

/// Indexes of [`Read::values`].
#[derive(Clone, Copy)]
enum Field {
    Hour,
    Minute,
    Second,
    SecondOfDay,
    Weekday,
    Day,
    DayOfYear,
    Month,
    Milliseconds,
    Microseconds,
    Year,
    Century,
    Julian,
    Week,
    WeekOfMonth,
    ZoneHour,
}

impl Read {
    fn get(&self, field: Field) -> i64 {
        self.values.get(field as usize).copied().unwrap_or(0)
    }
    fn set(&mut self, field: Field, value: i64, pattern: &str) -> Result<()> {
        if let Some(slot) = self.values.get_mut(field as usize) {
            if *slot != 0 && *slot != value {
                return Err(contradiction(pattern));
            }
            *slot = value;
        }
        Ok(())
    }
    /// Sets a field that is stored in another form than it is read. The value read is compared with a previous one.
    fn set_as(&mut self, field: Field, read: i64, kept: i64, pattern: &str) -> Result<()> {
        self.set(field, read, pattern)?;
        if let Some(slot) = self.values.get_mut(field as usize) {
            *slot = kept;
        }
        Ok(())
    }
}

/// The error 22007: two patterns read different values for one field.
fn contradiction(pattern: &str) -> SqlError {
    wrong(format!("conflicting values for \"{pattern}\" field in formatting string"))
        .detail("This value contradicts a previous setting for the same field type.")
}

/// Whether the next part ends the digits of a pattern.
fn ends_digits(part: &Part<'_>, next: Option<&Part<'_>>) -> bool {
    if matches!(part, Part::Pattern { ordinal: Some(_), .. }) {
        return true;
    }
    match next {
        Some(Part::Pattern { name, .. }) => !template::is_number(name),
        Some(Part::Literal(text) | Part::Bare(text)) => !text.starts_with(|c: char| c.is_ascii_digit()),
        Some(Part::Separator(_)) | None => true,
    }
}

/// Years of fewer than four digits are completed to the nearest year to 2020, as are signed ones.
fn nearest_2020(year: i64) -> i64 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}

/// Reads the value of one pattern.
fn field(name: &str, part: &Part<'_>, next: Option<&Part<'_>>, input: &mut Input<'_>, read: &mut Read) -> Result<()> {
    let fill = matches!(part, Part::Pattern { fill: true, .. });
    let open = fill || ends_digits(part, next);
    let upper = name.to_ascii_uppercase();
    let iso = match upper.as_str() {
        "IYYY" | "IYY" | "IY" | "I" | "IDDD" | "ID" | "IW" => Some(true),
        "YYYY" | "YYY" | "YY" | "Y" | "Y,YYY" | "MM" | "MON" | "MONTH" | "DDD" | "DD" | "D" | "WW" | "W" | "RM" => {
            Some(false)
        }
        _ => None,
    };
    if let Some(iso) = iso {
        if read.iso.is_some_and(|before| before != iso) {
            return Err(wrong("invalid combination of date conventions".into())
                .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
        }
        read.iso = Some(iso);
    }
    let number = |input: &mut Input<'_>, length: usize| input.number(name, length, open);
    match upper.as_str() {
        "AM" | "PM" | "A.M." | "P.M." => {
            let words = if upper.len() > 2 { ["a.m.", "p.m."] } else { ["am", "pm"] };
            let after_noon = input.word(&words, name)? == 1;
            // PostgreSQL counts from 0, and 0 means not given.
            if read.after_noon && !after_noon {
                return Err(contradiction(name));
            }
            read.after_noon = after_noon;
            read.half_day = true;
        }
        "AD" | "BC" | "A.D." | "B.C." => {
            let words = if upper.len() > 2 { ["a.d.", "b.c."] } else { ["ad", "bc"] };
            let before_christ = input.word(&words, name)? == 1;
            if read.before_christ && !before_christ {
                return Err(contradiction(name));
            }
            read.before_christ = before_christ;
        }
        "HH" | "HH12" => {
            let (value, _) = number(input, 2)?;
            read.set(Field::Hour, value, name)?;
            read.half_day = true;
        }
        "HH24" => read.set(Field::Hour, number(input, 2)?.0, name)?,
        "MI" => read.set(Field::Minute, number(input, 2)?.0, name)?,
        "SS" => read.set(Field::Second, number(input, 2)?.0, name)?,
        "MS" => {
            let (value, length) = number(input, 3)?;
            let scale = [1, 100, 10].get(length).copied().unwrap_or(1);
            read.set_as(Field::Milliseconds, value, value.saturating_mul(scale), name)?;
        }
        "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
            let digits = upper.strip_prefix("FF").and_then(|digits| digits.parse().ok()).unwrap_or(6);
            let (value, length) = number(input, digits)?;
            let scale = 10i64.pow(6u32.saturating_sub(length as u32));
            read.set_as(Field::Microseconds, value, value.saturating_mul(scale), name)?;
        }
        "SSSS" | "SSSSS" => read.set(Field::SecondOfDay, number(input, upper.len())?.0, name)?,
        "TZ" | "OF" => {
            let message = format!("formatting field \"{name}\" is only supported in to_char");
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        "TZH" => {
            // The sign may have been skipped as a separator.
            read.zone_sign = match input.rest.chars().next() {
                Some(sign @ ('+' | '-' | ' ')) => {
                    input.skip();
                    if sign == '-' { -1 } else { 1 }
                }
                _ if input.extra > 0 && input.before == Some('-') => -1,
                _ => 1,
            };
            read.set(Field::ZoneHour, number(input, 2)?.0 * 3600, name)?;
        }
        "TZM" => {
            if read.zone_sign == 0 {
                read.zone_sign = 1;
            }
            let hours = read.get(Field::ZoneHour);
            let minutes = number(input, 2)?.0;
            read.zone_fault |= !(0..60).contains(&minutes);
            if let Some(slot) = read.values.get_mut(Field::ZoneHour as usize) {
                *slot = hours + minutes * 60;
            }
        }
        "MONTH" | "MON" => {
            let short = MONTHS.map(|name| name.get(..3).unwrap_or(name));
            let at = input.word(if upper == "MON" { &short } else { &MONTHS }, name)?;
            read.set(Field::Month, at as i64 + 1, name)?;
        }
        "RM" => {
            // Match longer numerals first: VIII before VII.
            let mut order: Vec<usize> = (0..12).collect();
            order.sort_by_key(|at| std::cmp::Reverse(ROMAN.get(*at).map_or(0, |name| name.len())));
            let words: Vec<&str> = order.iter().filter_map(|at| ROMAN.get(*at).copied()).collect();
            let at = input.word(&words, name)?;
            read.set(Field::Month, order.get(at).copied().unwrap_or(0) as i64 + 1, name)?;
        }
        "MM" => read.set(Field::Month, number(input, 2)?.0, name)?,
        "DAY" | "DY" => {
            let short = DAYS.map(|name| name.get(..3).unwrap_or(name));
            let at = input.word(if upper == "DY" { &short } else { &DAYS }, name)?;
            read.set(Field::Weekday, at as i64 + 1, name)?;
        }
        "DDD" | "IDDD" => read.set(Field::DayOfYear, number(input, 3)?.0, name)?,
        "DD" => read.set(Field::Day, number(input, 2)?.0, name)?,
        "D" => read.set(Field::Weekday, number(input, 1)?.0, name)?,
        "ID" => {
            let day = number(input, 1)?.0;
            read.set_as(Field::Weekday, day, if day >= 7 { 1 } else { day + 1 }, name)?;
        }
        "WW" | "IW" => read.set(Field::Week, number(input, 2)?.0, name)?,
        "W" => read.set(Field::WeekOfMonth, number(input, 1)?.0, name)?,
        // A quarter does not determine a day.
        "Q" => {
            number(input, 1)?;
        }
        "CC" => read.set(Field::Century, number(input, 2)?.0, name)?,
        "J" => read.set(Field::Julian, number(input, 1)?.0, name)?,
        "Y,YYY" => {
            let bad = || wrong("invalid input string for \"Y,YYY\"".to_string());
            let (millennia, rest) = input.rest.split_once(',').ok_or_else(bad)?;
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()).min(3);
            let years: i64 = rest.get(..digits).and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
            let millennia: i64 = millennia.trim().parse::<i32>().map_err(|_| bad())?.into();
            input.rest = rest.get(digits..).unwrap_or_default();
            read.set(Field::Year, millennia * 1000 + years, name)?;
            read.year_digits = 4;
        }
        _ => {
            // The patterns YYYY, YYY, YY, Y, and those of the ISO year.
            let digits = upper.len();
            let (value, length) = number(input, digits)?;
            let year = if digits < 4 && length < 4 { nearest_2020(value) } else { value };
            read.set_as(Field::Year, value, year, name)?;
            read.year_digits = digits;
        }
    }
    Ok(())
}

/// Reads a text by a template. `standard` applies the strict rules of the SQL standard.
fn read(text: &str, pattern: &str, standard: bool) -> Result<Read> {
    let parts = template::parse(pattern);
    let mut input = Input { rest: text, before: None, extra: 0 };
    let mut read = Read::default();
    let mut fixed = standard;
    for (at, part) in parts.iter().enumerate() {
        if input.rest.is_empty() {
            if standard {
                return Err(wrong("input string is too short for datetime format".into()));
            }
            break;
        }
        if let (true, Part::Separator(text) | Part::Literal(text)) = (standard, part)
            && !input.rest.starts_with(text)
        {
            let what = if matches!(part, Part::Literal(_)) { "character" } else { "separator" };
            return Err(wrong(format!("unmatched format {what} \"{text}\"")));
        }
        let is_fixed = matches!(part, Part::Pattern { name: "FX" | "fx", .. });
        if !fixed && !is_fixed && (matches!(part, Part::Pattern { .. }) || at == 0) {
            input.blanks();
        }
        match part {
            Part::Separator(_) if fixed => {
                input.skip();
            }
            Part::Separator(_) => {
                // A separator of the template matches any one separator, or none.
                input.extra -= 1;
                if input.rest.starts_with(|c: char| c.is_ascii_punctuation() || c.is_ascii_whitespace()) {
                    input.skip();
                    input.extra += 1;
                }
            }
            Part::Literal(_) | Part::Bare(_) if !fixed && input.extra > 0 => input.extra -= 1,
            Part::Literal(_) | Part::Bare(_) => {
                input.skip();
            }
            Part::Pattern { .. } if is_fixed => fixed = true,
            Part::Pattern { name, ordinal, .. } => {
                field(name, part, parts.get(at + 1), &mut input, &mut read)?;
                if ordinal.is_some() {
                    input.skip();
                    input.skip();
                }
                if !fixed {
                    input.extra = 0;
                    input.blanks();
                }
            }
        }
    }
    if standard && !input.rest.trim_start_matches(|c: char| c.is_ascii_whitespace()).is_empty() {
        return Err(wrong("trailing characters remain in input string after datetime format".into()));
    }
    Ok(read)
}

/// The first day of an ISO year's first week, in days since 2000-01-01.
fn iso_start(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - weekday(fourth - 1)
}

/// Parses a text. Answers days since 2000-01-01, microseconds of the day, and seconds east of UTC if a zone is given.
pub(super) fn parse(text: &str, pattern: &str, standard: bool) -> Result<(i64, i64, Option<i64>)> {
    let read = read(text, pattern, standard)?;
    let of_day = read.get(Field::SecondOfDay);
    let (mut hour, mut minute, mut second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    for (field, slot) in [(Field::Hour, &mut hour), (Field::Minute, &mut minute), (Field::Second, &mut second)] {
        if read.get(field) != 0 {
            *slot = read.get(field);
        }
    }
    if read.half_day {
        if !(1..=12).contains(&hour) {
            return Err(wrong(format!("hour \"{hour}\" is invalid for the 12-hour clock"))
                .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        hour = hour % 12 + if read.after_noon { 12 } else { 0 };
    }
    let (mut year, mut month, mut day) = (0, 1, 1);
    let (mut has_month, mut has_day, mut has_year) = (false, false, true);
    let mut century = read.get(Field::Century);
    if read.before_christ && (read.get(Field::Year) == 0 || read.year_digits <= 2) {
        century = -century;
    }
    if read.get(Field::Year) != 0 {
        if century != 0 && read.year_digits <= 2 {
            year = read.get(Field::Year) % 100;
            year = match (year, century >= 0) {
                (0, true) => century * 100,
                (0, false) => century * 100 + 1,
                (_, true) => year + (century - 1) * 100,
                (_, false) => (century + 1) * 100 - year + 1,
            };
        } else {
            year = read.get(Field::Year);
            if read.before_christ {
                year = -year;
            }
            if year < 0 {
                year += 1;
            }
        }
    } else if century != 0 {
        year = if century >= 0 { (century - 1) * 100 + 1 } else { century * 100 + 1 };
    } else {
        has_year = false;
    }
    let mut whole = None;
    if read.get(Field::Julian) != 0 {
        let days = days_from_julian(read.get(Field::Julian));
        // An ISO week determines the year.
        year = civil_from_days(days).year;
        whole = Some(days);
    }
    let mut of_year = read.get(Field::DayOfYear);
    let week = read.get(Field::Week);
    if week != 0 {
        if read.iso == Some(true) {
            let weekday = match read.get(Field::Weekday) {
                0 => 0,
                1 => 6,
                weekday => weekday - 2,
            };
            whole = Some(iso_start(year) + (week - 1) * 7 + weekday);
        } else {
            of_year = (week - 1) * 7 + 1;
        }
    }
    if let Some(days) = whole {
        let civil = civil_from_days(days);
        (year, month, day) = (civil.year, civil.month, civil.day);
        (has_year, has_month, has_day) = (true, true, true);
    }
    let mut said_day = read.get(Field::Day);
    if read.get(Field::WeekOfMonth) != 0 {
        said_day = (read.get(Field::WeekOfMonth) - 1) * 7 + 1;
    }
    if said_day != 0 {
        (day, has_day) = (said_day, true);
    }
    if read.get(Field::Month) != 0 {
        (month, has_month) = (read.get(Field::Month), true);
    }
    if of_year != 0 && (month <= 1 || day <= 1) {
        if year == 0 && !read.before_christ {
            return Err(wrong("cannot calculate day of year without year information".into()));
        }
        let first = if read.iso == Some(true) { iso_start(year) } else { days_from_civil(year, 1, 1) };
        let civil = civil_from_days(first + of_year - 1);
        let within = read.iso == Some(true) || civil.year == year;
        if read.iso == Some(true) {
            (year, month, day) = (civil.year, civil.month, civil.day);
        } else {
            month = if within { if month <= 1 { civil.month } else { month } } else { 13 };
            day = if day <= 1 { civil.day } else { day };
        }
        (has_month, has_day) = (true, true);
    }
    let out_of_range =
        || SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""));
    let micros = read.get(Field::Milliseconds) * 1000 + read.get(Field::Microseconds);
    if has_month && !(1..=12).contains(&month)
        || has_day && !(1..=31).contains(&day)
        || has_year && has_month && has_day && day > days_in_month(year, month)
        || !(0..24).contains(&hour)
        || !(0..60).contains(&minute)
        || !(0..60).contains(&second)
        || !(0..SECOND).contains(&micros)
    {
        return Err(out_of_range());
    }
    let zone = match read.zone_sign {
        0 => None,
        sign => Some(sign * read.get(Field::ZoneHour)),
    };
    if read.zone_fault || read.get(Field::ZoneHour) < 0 || zone.is_some_and(|east| east.abs() >= 16 * 3600) {
        return Err(SqlError::new("22009", format!("time zone displacement out of range: \"{text}\"")));
    }
    let time = ((hour * 60 + minute) * 60 + second) * SECOND + micros;
    Ok((days_from_civil(year, month, 1) + day - 1, time, zone))
}

/// Number of digits of seconds by `FF1` to `FF6`. The result is rounded to them.
fn digits(pattern: &str) -> Option<i32> {
    template::parse(pattern).into_iter().find_map(|part| match part {
        Part::Pattern { name, .. } => name.to_ascii_uppercase().strip_prefix("FF")?.parse().ok(),
        _ => None,
    })
}

fn to_date(text: &str, pattern: &str) -> Result<i32> {
    let (days, ..) = parse(text, pattern, false)?;
    if in_date_range(days) {
        Ok(days as i32)
    } else {
        Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let date = binary::<Text, Text, Date, _>(to_date);
    vec![
        ScalarFunction::new("to_date", &[text, text], SqlType::DATE, Stability::Immutable, date),
        ScalarFunction::new(
            "to_timestamp",
            &[text, text],
            SqlType::TIMESTAMPTZ,
            Stability::Stable,
            Arc::new(|call: &Call<'_>| {
                let session = ZoneName::Zone(call.context()?.settings.time_zone());
                let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
                let mut builder = Timestamptz::builder(call.rows);
                for row in 0..call.rows {
                    let value = match (texts.get(row)?, patterns.get(row)?) {
                        (Some(text), Some(pattern)) => {
                            let (days, time, east) = parse(text, pattern, false)?;
                            let local = days.checked_mul(DAY).and_then(|day| day.checked_add(time));
                            let zone = east.map_or(session, ZoneName::Fixed);
                            let utc = local.map(|local| zone.to_utc(local)).filter(|utc| in_timestamp_range(*utc));
                            let utc = utc.ok_or_else(|| types::datetime::out_of_range("timestamp"))?;
                            Some(digits(pattern).map_or(utc, |digits| round_timestamp(utc, digits)))
                        }
                        _ => None,
                    };
                    Timestamptz::append(&mut builder, value)?;
                }
                Ok(Timestamptz::finish(builder))
            }),
        ),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::datetime::{DateFormat, write_timestamp};

    fn shown(text: &str, pattern: &str) -> String {
        let (days, time, zone) = parse(text, pattern, false).unwrap();
        let mut out = Vec::new();
        write_timestamp(days * DAY + time - zone.unwrap_or(0) * SECOND, DateFormat::ISO, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_by_their_templates() {
        // Checked against PostgreSQL 15.
        for (text, pattern, printed) in [
            ("05 Dec 2000", "DD Mon YYYY", "2000-12-05 00:00:00"),
            ("20001205", "YYYYMMDD", "2000-12-05 00:00:00"),
            ("2000-12-05 01:02:03.5 PM", "YYYY-MM-DD HH12:MI:SS.MS AM", "2000-12-05 13:02:03.5"),
            ("44-03-15 BC", "YYYY-MM-DD BC", "0044-03-15 00:00:00 BC"),
            ("2020-W05", "IYYY-\"W\"IW", "2020-01-27 00:00:00"),
            ("2020-05-7", "IYYY-IW-ID", "2020-02-02 00:00:00"),
            ("2020-01-01 05 +03", "YYYY-MM-DD HH24 TZH", "2020-01-01 02:00:00"),
            ("2020 060", "YYYY DDD", "2020-02-29 00:00:00"),
            ("97/2/16", "YY/MM/DD", "1997-02-16 00:00:00"),
            ("1,582nd VIII 21", "Y,YYYth FMRM DD", "1582-08-21 00:00:00"),
            ("2451187", "J", "1999-01-08 00:00:00"),
            ("21 05", "CC YY", "2005-01-01 00:00:00"),
            ("  2000   JUN", "YYYY MON", "2000-06-01 00:00:00"),
            ("2000/JUN", "YYYY MON", "2000-06-01 00:00:00"),
            ("15:12:02.020.001230", "HH24:MI:SS.MS.US", "0001-01-01 15:12:02.02123 BC"),
        ] {
            assert_eq!(shown(text, pattern), printed, "{text} {pattern}");
        }
        for (text, pattern, sqlstate) in [
            ("2000-13-05", "YYYY-MM-DD", "22008"),
            ("x", "YYYY", "22007"),
            ("13:30 PM", "HH12:MI AM", "22007"),
            ("2005 27", "YYYY IW", "22007"),
            ("19971", "YYYYMMDD", "22007"),
            ("19971)24", "YYYYMMDD", "22007"),
            ("Friday 1-January-1999", "DY DD MON YYYY", "22007"),
            ("1997-11-Jan-16", "YYYY-MM-Mon-DD", "22007"),
            ("199711xy", "YYYYMMDD", "22007"),
            ("10000000000", "FMYYYY", "22008"),
            ("2015 366", "YYYY DDD", "22008"),
            ("2015-02-11 86400", "YYYY-MM-DD SSSSS", "22008"),
            ("2020 CET", "YYYY TZ", "0A000"),
        ] {
            assert_eq!(parse(text, pattern, false).unwrap_err().state(), sqlstate, "{text} {pattern}");
        }
    }
}
