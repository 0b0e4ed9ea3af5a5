//! [`Fields`]: the parts of a date and time, and how single words fill them (manual, appendix B.1).

use super::keyword::{Keyword, Unit, keyword};
use super::style::DateOrder;
use super::zone::{TimeZone, ZoneName};
use super::{
    DAY, Reading, SECOND, civil_from_days, days_from_civil, days_from_julian, days_in_month, offset_at_utc, to_local,
};

/// Why a text is not a date or time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text has no known form.
    Format,
    /// A field is outside its range.
    Field,
    /// Month or day is out of range. Another DateStyle may read the text.
    MonthOrDay,
    /// The offset is too far from UTC.
    Displacement,
    /// No time zone has this name.
    Zone(String),
}

pub(super) type Decoded<T> = std::result::Result<T, Fault>;

/// Bits of the fields that were seen.
pub(super) mod field {
    pub const YEAR: u32 = 1;
    pub const MONTH: u32 = 1 << 1;
    pub const DAY: u32 = 1 << 2;
    pub const OF_YEAR: u32 = 1 << 3;
    pub const HOUR: u32 = 1 << 4;
    pub const MINUTE: u32 = 1 << 5;
    pub const SECOND: u32 = 1 << 6;
    pub const FRACTION: u32 = 1 << 7;
    pub const ZONE: u32 = 1 << 8;
    pub const SUMMER: u32 = 1 << 9;
    pub const HALF_DAY: u32 = 1 << 10;
    pub const ERA: u32 = 1 << 11;
    pub const WEEKDAY: u32 = 1 << 12;
    /// A word that is a whole value, such as `infinity`.
    pub const RESERVED: u32 = 1 << 13;
    pub const DATE: u32 = YEAR | MONTH | DAY;
    pub const TIME: u32 = HOUR | MINUTE | SECOND | FRACTION;
}
use field as f;

/// The fields that were read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    of_year: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micros: i64,
    pub zone: Option<ZoneName>,
    /// `dst` followed a zone.
    summer: bool,
    /// A word that is a whole value, such as `infinity`.
    pub special: Option<Keyword>,
    two_digits: bool,
    julian: bool,
    before_christ: bool,
    after_noon: Option<bool>,
    pub month_by_name: bool,
    pub seen: u32,
}

/// Reads an integer of 32 bits. Also answers the rest of the text.
pub(super) fn number(text: &str) -> Decoded<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err(Fault::Format);
    }
    digits.parse::<i32>().map(|value| (i64::from(value), rest)).map_err(|_| Fault::Field)
}

/// Like [`number`], but no digits are 0, as in `1::5`.
fn number_or_zero(text: &str) -> Decoded<(i64, &str)> {
    if text.starts_with(|c: char| c.is_ascii_digit()) { number(text) } else { Ok((0, text)) }
}

/// Reads a fraction of a second, such as `.5`, in microseconds.
fn fraction(text: &str) -> Decoded<i64> {
    let digits = text.strip_prefix('.').ok_or(Fault::Format)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Format);
    }
    let value: f64 = if digits.is_empty() { 0.0 } else { format!("0.{digits}").parse().map_err(|_| Fault::Format)? };
    Ok((value * 1e6).round_ties_even() as i64)
}

/// Reads an offset (`+05`, `-0330`, `+01:30:20`) in seconds east of UTC.
pub(super) fn displacement(text: &str) -> Decoded<i64> {
    let negative = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(Fault::Format),
    };
    let (mut hours, mut rest) = number(text.get(1..).unwrap_or_default()).map_err(|fault| match fault {
        Fault::Field => Fault::Displacement,
        other => other,
    })?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minutes, rest) = number(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (seconds, rest) = number(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    if hours > 15 || minutes > 59 || seconds > 59 {
        return Err(Fault::Displacement);
    }
    if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let east = (hours * 60 + minutes) * 60 + seconds;
    Ok(if negative { -east } else { east })
}

/// Looks up a zone by its full name.
pub(super) fn named(text: &str) -> Option<ZoneName> {
    TimeZone::parse(text).map(ZoneName::Zone)
}

impl Fields {
    pub(super) fn mark(&mut self, mask: u32) -> Decoded<()> {
        if self.seen & mask != 0 {
            return Err(Fault::Format);
        }
        self.seen |= mask;
        Ok(())
    }

    pub(super) fn has(&self, mask: u32) -> bool {
        self.seen & mask == mask
    }

    /// Reads a time of day: `hh:mm`, `hh:mm:ss.ffffff`, `mm:ss.ffffff`.
    pub(super) fn clock(&mut self, text: &str) -> Decoded<()> {
        let (hour, rest) = number(text)?;
        let (minute, rest) = number_or_zero(rest.strip_prefix(':').ok_or(Fault::Format)?)?;
        (self.hour, self.minute, self.second, self.micros) = (hour, minute, 0, 0);
        if rest.starts_with('.') {
            (self.hour, self.minute, self.second) = (0, hour, minute);
            self.micros = fraction(rest)?;
        } else if let Some(rest) = rest.strip_prefix(':') {
            let (second, rest) = number_or_zero(rest)?;
            self.second = second;
            if !rest.is_empty() {
                self.micros = fraction(rest)?;
            }
        } else if !rest.is_empty() {
            return Err(Fault::Format);
        }
        if self.minute > 59 || self.second > 60 {
            return Err(Fault::Field);
        }
        self.mark(f::TIME)
    }

    /// Reads digits without separators: `yyyymmdd`, `yymmdd`, `hhmmss`, `hhmm`. `seen` has the fields read before.
    pub(super) fn run_together(&mut self, text: &str, seen: u32) -> Decoded<u32> {
        let part = |from: usize, to: usize| -> Decoded<i64> {
            let digits = text.get(from..to).ok_or(Fault::Format)?;
            digits.parse::<i32>().map(i64::from).map_err(|_| Fault::Format)
        };
        let whole = match text.find('.') {
            Some(point) => {
                self.micros = fraction(text.get(point..).unwrap_or_default())?;
                point
            }
            None => {
                let length = text.len();
                if seen & f::DATE != f::DATE && length >= 6 {
                    self.day = part(length - 2, length)?;
                    self.month = part(length - 4, length - 2)?;
                    self.year = part(0, length - 4)?;
                    self.two_digits |= length == 6;
                    self.mark(f::DATE)?;
                    return Ok(f::DATE);
                }
                length
            }
        };
        if seen & f::TIME != f::TIME && (whole == 6 || whole == 4) {
            self.hour = part(0, 2)?;
            self.minute = part(2, 4)?;
            self.second = if whole == 6 { part(4, 6)? } else { 0 };
            self.mark(f::TIME)?;
            return Ok(f::TIME);
        }
        Err(Fault::Format)
    }

    /// Reads a number. Its position determines the field.
    pub(super) fn lone_number(&mut self, text: &str, seen: u32, order: DateOrder, by_name: bool) -> Decoded<()> {
        let (value, rest) = number(text)?;
        let length = text.len();
        if rest.starts_with('.') {
            if length - rest.len() > 2 {
                self.run_together(text, seen | f::DATE)?;
                return Ok(());
            }
            self.micros = fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(Fault::Format);
        }
        let date = seen & f::DATE;
        if length == 3 && date == f::YEAR && (1..=366).contains(&value) {
            self.of_year = value;
            return self.mark(f::OF_YEAR | f::MONTH | f::DAY);
        }
        let year_first = length >= 3 || order == DateOrder::Ymd;
        let mask = if date == 0 {
            match order {
                _ if year_first => f::YEAR,
                DateOrder::Dmy => f::DAY,
                _ => f::MONTH,
            }
        } else if date == f::YEAR || date == f::DAY {
            f::MONTH
        } else if date == f::MONTH {
            if by_name && year_first { f::YEAR } else { f::DAY }
        } else if date == f::YEAR | f::MONTH {
            if by_name && length >= 3 && self.two_digits {
                // The number taken for the year is the day, as in 08-Jan-1999 with the order YMD.
                self.day = self.year;
                self.year = value;
                self.two_digits = false;
                return self.mark(f::DAY);
            }
            f::DAY
        } else if date == f::MONTH | f::DAY {
            f::YEAR
        } else if date == f::DATE {
            self.run_together(text, seen)?;
            return Ok(());
        } else {
            return Err(Fault::Format);
        };
        match mask {
            f::YEAR => {
                self.year = value;
                self.two_digits = length <= 2;
            }
            f::MONTH => self.month = value,
            _ => self.day = value,
        }
        self.mark(mask)
    }

    /// Reads a date whose parts have separators between them.
    pub(super) fn date(&mut self, text: &str, order: DateOrder) -> Decoded<()> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            let first = rest.chars().next().ok_or(Fault::Format)?;
            let digits = first.is_ascii_digit();
            let end = rest.find(|c: char| if digits { !c.is_ascii_digit() } else { !c.is_ascii_alphabetic() });
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            parts.push((part, digits));
            // A letter or digit behind the part begins the next part. A separator is skipped.
            rest = match after.chars().next() {
                Some(c) if !c.is_ascii_alphanumeric() => after.get(c.len_utf8()..).unwrap_or_default(),
                _ => after,
            };
        }
        let mut by_name = false;
        for (part, _) in parts.iter().filter(|(_, digits)| !digits) {
            match keyword(part) {
                Some(Keyword::Ignored) => {}
                Some(Keyword::Month(month)) => {
                    self.mark(f::MONTH)?;
                    self.month = month;
                    by_name = true;
                }
                _ => return Err(Fault::Format),
            }
        }
        for (part, _) in parts.iter().filter(|(_, digits)| *digits) {
            self.lone_number(part, self.seen, order, by_name)?;
        }
        if self.seen & (f::DATE | f::OF_YEAR) & !f::OF_YEAR == f::DATE
            && self.seen & !(f::DATE | f::OF_YEAR | f::ZONE) == 0
        {
            Ok(())
        } else {
            Err(Fault::Format)
        }
    }

    /// Reads `hhmmss-zz` if a date was read before.
    pub(super) fn clock_with_zone(&mut self, text: &str, seen: u32) -> Decoded<()> {
        if self.has(f::TIME) {
            return Err(Fault::Format);
        }
        let at = text.find('-').ok_or(Fault::Format)?;
        let (clock, zone) = text.split_at(at);
        self.zone = Some(ZoneName::Fixed(displacement(zone)?));
        self.run_together(clock, seen)?;
        self.mark(f::ZONE)
    }

    pub(super) fn set_julian(&mut self, day: i64) {
        let civil = civil_from_days(days_from_julian(day));
        (self.year, self.month, self.day) = (civil.year, civil.month, civil.day);
        self.julian = true;
    }

    /// Reads a number behind the letter that names its unit.
    pub(super) fn labelled(&mut self, unit: Unit, text: &str) -> Decoded<()> {
        let (value, rest) = number(text)?;
        if !rest.is_empty() && !rest.starts_with('.') {
            return Err(Fault::Format);
        }
        match unit {
            Unit::Year => {
                self.year = value;
                self.mark(f::YEAR)
            }
            // A month behind both a month and an hour is a minute.
            Unit::Month if self.has(f::MONTH | f::HOUR) => {
                self.minute = value;
                self.mark(f::MINUTE)
            }
            Unit::Month => {
                self.month = value;
                self.mark(f::MONTH)
            }
            Unit::Day => {
                self.day = value;
                self.mark(f::DAY)
            }
            Unit::Hour => {
                self.hour = value;
                self.mark(f::HOUR)
            }
            Unit::Minute => {
                self.minute = value;
                self.mark(f::MINUTE)
            }
            Unit::Second => {
                self.second = value;
                if rest.is_empty() {
                    return self.mark(f::SECOND);
                }
                self.micros = fraction(rest)?;
                self.mark(f::SECOND | f::FRACTION)
            }
            Unit::Julian => {
                self.set_julian(value);
                self.mark(f::DATE)?;
                if rest.is_empty() {
                    return Ok(());
                }
                let part: f64 = format!("0{rest}").parse().map_err(|_| Fault::Format)?;
                let micros = (part * DAY as f64) as i64;
                (self.hour, self.minute) = (micros / (3600 * SECOND), micros / (60 * SECOND) % 60);
                (self.second, self.micros) = (micros / SECOND % 60, micros % SECOND);
                self.mark(f::TIME)
            }
            Unit::Other => Err(Fault::Format),
        }
    }

    fn set_day(&mut self, days: i64) {
        let civil = civil_from_days(days);
        (self.year, self.month, self.day) = (civil.year, civil.month, civil.day);
    }

    fn set_time(&mut self, micros: i64) {
        let seconds = micros / SECOND;
        (self.hour, self.minute, self.second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        self.micros = micros % SECOND;
    }

    /// Reads a word of letters.
    pub(super) fn word(&mut self, text: &str, reading: &Reading, time_only: bool) -> Decoded<Option<Keyword>> {
        if let Some(zone) = ZoneName::of_abbreviation(text) {
            self.zone = Some(zone);
            self.mark(f::ZONE)?;
            return Ok(None);
        }
        let Some(meaning) = keyword(text.get(..10).unwrap_or(text)) else {
            self.zone = Some(named(text).ok_or(Fault::Format)?);
            self.mark(f::ZONE)?;
            return Ok(None);
        };
        let local = || to_local(reading.now(), reading.zone);
        match meaning {
            Keyword::Ignored => {}
            Keyword::Now if time_only => {
                self.set_time(local().rem_euclid(DAY));
                self.mark(f::TIME)?;
            }
            Keyword::AllBalls => {
                self.set_time(0);
                self.zone = Some(ZoneName::Fixed(0));
                self.mark(f::TIME | f::ZONE)?;
            }
            Keyword::Infinity
            | Keyword::NegativeInfinity
            | Keyword::Epoch
            | Keyword::Today
            | Keyword::Tomorrow
            | Keyword::Yesterday
            | Keyword::Month(_)
            | Keyword::DayOfWeek
                if time_only =>
            {
                return Err(Fault::Format);
            }
            Keyword::Infinity | Keyword::NegativeInfinity | Keyword::Epoch => {
                self.special = Some(meaning);
                self.mark(f::RESERVED)?;
            }
            Keyword::Now => {
                self.set_day(local().div_euclid(DAY));
                self.set_time(local().rem_euclid(DAY));
                self.zone = Some(ZoneName::Fixed(offset_at_utc(reading.zone, reading.now())));
                self.mark(f::DATE | f::TIME | f::ZONE)?;
            }
            Keyword::Today | Keyword::Tomorrow | Keyword::Yesterday => {
                let days = match meaning {
                    Keyword::Tomorrow => 1,
                    Keyword::Yesterday => -1,
                    _ => 0,
                };
                self.set_day(local().div_euclid(DAY) + days);
                self.mark(f::DATE)?;
            }
            Keyword::Month(month) => {
                // The number taken for the month is the day.
                if self.has(f::MONTH) && !self.month_by_name && !self.has(f::DAY) && (1..=31).contains(&self.month) {
                    self.day = self.month;
                    self.mark(f::DAY)?;
                } else {
                    self.mark(f::MONTH)?;
                }
                self.month_by_name = true;
                self.month = month;
            }
            Keyword::DayOfWeek => self.mark(f::WEEKDAY)?,
            Keyword::HalfDay(after) => {
                self.mark(f::HALF_DAY)?;
                self.after_noon = Some(after);
            }
            Keyword::Era(before) => {
                self.mark(f::ERA)?;
                self.before_christ = before;
            }
            Keyword::Summer => {
                self.mark(f::SUMMER)?;
                self.summer = true;
            }
            Keyword::Unit(_) | Keyword::Time => return Ok(Some(meaning)),
        }
        Ok(None)
    }

    /// Checks and combines the fields once all words are read.
    pub(super) fn finish(&mut self) -> Decoded<()> {
        if self.has(f::YEAR) && !self.julian {
            if self.before_christ {
                if self.year <= 0 {
                    return Err(Fault::Field);
                }
                self.year = 1 - self.year;
            } else if self.two_digits {
                match self.year {
                    0..=69 => self.year += 2000,
                    70..=99 => self.year += 1900,
                    _ => {}
                }
            } else if self.year <= 0 {
                return Err(Fault::Field);
            }
        }
        if self.has(f::OF_YEAR) {
            let civil = civil_from_days(days_from_civil(self.year, 1, 1) + self.of_year - 1);
            (self.year, self.month, self.day) = (civil.year, civil.month, civil.day);
        }
        if self.has(f::MONTH) && !(1..=12).contains(&self.month) || self.has(f::DAY) && !(1..=31).contains(&self.day) {
            return Err(Fault::MonthOrDay);
        }
        if self.has(f::DATE) && self.special.is_none() && self.day > days_in_month(self.year, self.month) {
            return Err(Fault::Field);
        }
        if let Some(after) = self.after_noon {
            if self.hour > 12 {
                return Err(Fault::Field);
            }
            self.hour = self.hour % 12 + if after { 12 } else { 0 };
        }
        if self.summer {
            match &mut self.zone {
                Some(ZoneName::Fixed(east)) => *east += 3600,
                _ => return Err(Fault::Format),
            }
        }
        Ok(())
    }

    /// Whether the time of day exceeds 24 hours.
    pub(super) fn overflows(&self) -> bool {
        let micros = ((self.hour * 60 + self.minute) * 60 + self.second) * SECOND + self.micros;
        self.hour > 24 || self.minute > 59 || self.second > 60 || micros > DAY
    }

    /// The time of day in microseconds since midnight.
    pub(super) fn time(&self) -> i64 {
        ((self.hour * 60 + self.minute) * 60 + self.second) * SECOND + self.micros
    }
}
