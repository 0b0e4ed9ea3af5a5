//! [`PosixZone`]: a time zone in POSIX syntax, such as `EST5EDT,M3.2.0,M11.1.0`, `<+0530>-5:30` or `+02`. Offsets in
//! the syntax count west of UTC.

use super::{civil_from_days, days_from_civil, days_in_month, weekday};

/// Seconds in a day.
const DAY: i64 = 86_400;
/// The rules of summer time if a zone names none: those of the United States, as in PostgreSQL.
const DEFAULT_RULES: &str = ",M3.2.0,M11.1.0";

/// A zone's abbreviation, stored inline: at most 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name([u8; 16]);

impl Name {
    fn new(text: &str) -> Option<Name> {
        let mut bytes = [0; 16];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Name(bytes))
    }
    /// The abbreviation as text.
    pub fn text(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        std::str::from_utf8(self.0.get(..end).unwrap_or_default()).unwrap_or_default()
    }
}

/// The day of a clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Day {
    /// Day of the year from 1, February 29 not counted.
    Julian(i64),
    /// Day of the year, counted from 0.
    OfYear(i64),
    /// Month, week (5 is the last one) and weekday (0 is Sunday).
    OfMonth(i64, i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Change {
    day: Day,
    /// Local time of the change, in seconds after midnight.
    time: i64,
}

impl Change {
    /// The change in a year, in local seconds since 2000.
    fn in_year(&self, year: i64) -> i64 {
        let first = days_from_civil(year, 1, 1);
        let day = match self.day {
            Day::Julian(day) => first + day - 1 + i64::from(day > 59 && days_in_month(year, 2) == 29),
            Day::OfYear(day) => first + day,
            Day::OfMonth(month, week, wanted) => {
                let start = days_from_civil(year, month, 1);
                let mut day = start + (wanted - weekday(start)).rem_euclid(7) + (week - 1) * 7;
                while day >= start + days_in_month(year, month) {
                    day -= 7;
                }
                day
            }
        };
        day * DAY + self.time
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Daylight {
    name: Name,
    offset: i64,
    start: Change,
    end: Change,
}

/// A time zone given by its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PosixZone {
    standard: Name,
    /// Seconds east of UTC.
    offset: i64,
    daylight: Option<Daylight>,
}

struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn sign(&mut self, sign: char) -> bool {
        match self.0.strip_prefix(sign) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }
    fn name(&mut self) -> Option<&'a str> {
        let (name, rest) = match self.0.strip_prefix('<') {
            Some(quoted) => quoted.split_once('>')?,
            None => {
                let end = self.0.find(|c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+'));
                self.0.split_at(end.unwrap_or(self.0.len()))
            }
        };
        self.0 = rest;
        Some(name)
    }
    fn number(&mut self, min: i64, max: i64) -> Option<i64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse().ok().filter(|number| (min..=max).contains(number))
    }
    /// Reads `[+-]hh[:mm[:ss]]` in seconds.
    fn time(&mut self) -> Option<i64> {
        let negative = self.sign('-');
        if !negative {
            self.sign('+');
        }
        let mut seconds = self.number(0, 167)? * 3600;
        if self.sign(':') {
            seconds += self.number(0, 59)? * 60;
            if self.sign(':') {
                seconds += self.number(0, 60)?;
            }
        }
        Some(if negative { -seconds } else { seconds })
    }
    fn change(&mut self) -> Option<Change> {
        let day = if self.sign('J') {
            Day::Julian(self.number(1, 365)?)
        } else if self.sign('M') {
            let month = self.number(1, 12)?;
            let week = if self.sign('.') { self.number(1, 5)? } else { return None };
            let weekday = if self.sign('.') { self.number(0, 6)? } else { return None };
            Day::OfMonth(month, week, weekday)
        } else {
            Day::OfYear(self.number(0, 365)?)
        };
        let time = if self.sign('/') { self.time()? } else { 2 * 3600 };
        Some(Change { day, time })
    }
}

impl PosixZone {
    /// Parses a specification. `None` if the text is not one.
    pub fn parse(text: &str) -> Option<PosixZone> {
        let upper = text.to_ascii_uppercase();
        let mut text = Text(&upper);
        let standard = Name::new(text.name()?)?;
        let offset = -text.time()?;
        if text.0.is_empty() {
            return Some(PosixZone { standard, offset, daylight: None });
        }
        let name = Name::new(text.name().filter(|name| !name.is_empty())?)?;
        let summer = if text.0.is_empty() || text.0.starts_with([',', ';']) { offset + 3600 } else { -text.time()? };
        if text.0.is_empty() {
            text = Text(DEFAULT_RULES);
        }
        if !text.sign(',') && !text.sign(';') {
            return None;
        }
        let start = text.change()?;
        let end = if text.sign(',') { text.change()? } else { return None };
        let daylight = Daylight { name, offset: summer, start, end };
        text.0.is_empty().then_some(PosixZone { standard, offset, daylight: Some(daylight) })
    }

    /// A zone `east` seconds east of UTC, and its name. `None` if the offset is beyond the limit of POSIX zones.
    pub fn fixed(east: i64) -> Option<(PosixZone, String)> {
        if east.abs() > 167 * 3600 {
            return None;
        }
        let part = |sign: char| {
            let east = east.abs();
            let mut text = format!("{sign}{:02}", east / 3600);
            if east % 3600 != 0 {
                text += &format!(":{:02}", east / 60 % 60);
                if east % 60 != 0 {
                    text += &format!(":{:02}", east % 60);
                }
            }
            text
        };
        let (shown, west) = if east < 0 { (part('-'), part('+')) } else { (part('+'), part('-')) };
        let zone = PosixZone { standard: Name::new(&shown)?, offset: east, daylight: None };
        Some((zone, format!("<{shown}>{west}")))
    }

    fn summer_at(&self, utc: i64) -> Option<&Daylight> {
        let daylight = self.daylight.as_ref()?;
        let year = civil_from_days((utc + self.offset).div_euclid(DAY)).year;
        let start = daylight.start.in_year(year) - self.offset;
        let end = daylight.end.in_year(year) - daylight.offset;
        let summer = if start < end { (start..end).contains(&utc) } else { !(end..start).contains(&utc) };
        summer.then_some(daylight)
    }

    /// Seconds east of UTC at a moment in seconds since 2000.
    pub fn offset_at(&self, utc: i64) -> i64 {
        self.summer_at(utc).map_or(self.offset, |daylight| daylight.offset)
    }

    /// The abbreviation in use at a moment in seconds since 2000.
    pub fn abbreviation_at(&self, utc: i64) -> String {
        self.summer_at(utc).map_or(&self.standard, |daylight| &daylight.name).text().to_string()
    }

    /// Seconds east of UTC at a local time in seconds since 2000. A gap takes the offset before it; an overlap takes
    /// the later one.
    pub fn offset_at_local(&self, local: i64) -> i64 {
        match &self.daylight {
            Some(daylight) => {
                let standard = self.offset_at(local - self.offset) == self.offset;
                let summer = self.offset_at(local - daylight.offset) == daylight.offset;
                if summer && !standard { daylight.offset } else { self.offset }
            }
            None => self.offset,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(year: i64, month: i64, day: i64) -> i64 {
        days_from_civil(year, month, day) * DAY
    }

    #[test]
    fn zones_by_rules() {
        // Checked against PostgreSQL 15.
        for (text, month, offset, name) in [
            ("FOO5", 7, -5 * 3600, "FOO"),
            ("FOO5BAR", 7, -4 * 3600, "BAR"),
            ("foo5bar", 1, -5 * 3600, "FOO"),
            ("<+03>-3", 1, 3 * 3600, "+03"),
            ("+02", 1, -2 * 3600, ""),
            ("CST7CDT,M4.1.0,M10.5.0", 7, -6 * 3600, "CDT"),
            ("CST7CDT,M4.1.0,M10.5.0", 12, -7 * 3600, "CST"),
            ("NZST-12NZDT,M9.5.0,M4.1.0/3", 1, 13 * 3600, "NZDT"),
        ] {
            let zone = PosixZone::parse(text).unwrap();
            assert_eq!(zone.offset_at(at(2020, month, 1)), offset, "{text}");
            assert_eq!(zone.abbreviation_at(at(2020, month, 1)), name, "{text}");
        }
        for text in ["PST", "", "foo/bar", "FOO5BAR,M3", "FOO200"] {
            assert!(PosixZone::parse(text).is_none(), "{text}");
        }
        assert_eq!(PosixZone::fixed(-8 * 3600 - 1800).unwrap().1, "<-08:30>+08:30");
        assert_eq!(PosixZone::fixed(5 * 3600).unwrap().1, "<+05>-05");
    }

    #[test]
    fn local_times() {
        let zone = PosixZone::parse("EST5EDT").unwrap();
        let gap = at(2020, 3, 8) + 2 * 3600 + 1800;
        assert_eq!(zone.offset_at_local(gap), -5 * 3600);
        let twice = at(2020, 11, 1) + 3600 + 1800;
        assert_eq!(zone.offset_at_local(twice), -5 * 3600);
        assert_eq!(zone.offset_at_local(at(2020, 7, 1)), -4 * 3600);
    }
}
