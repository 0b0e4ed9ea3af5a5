//! Parses intervals in the forms of ISO 8601: `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06`, `P00010203T040506`.

use super::Interval;
use super::parse::{Sum, Unit, Wrong};
use crate::datetime::SECOND;
use crate::text::Leading;

const HOUR: Unit = Unit::Time(3600 * SECOND);
const MINUTE: Unit = Unit::Time(60 * SECOND);
const SECONDS: Unit = Unit::Time(SECOND);
/// Numbers above this are out of range.
const LARGEST: f64 = 1e15;

/// A number: its whole part, its fraction, and the number of its leading digits.
struct Number {
    whole: i64,
    fraction: f64,
    width: usize,
}

struct Reader<'a> {
    rest: &'a str,
    sum: Sum,
}

impl Reader<'_> {
    fn number(&mut self) -> Result<Number, Wrong> {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
            return Err(Wrong::Syntax);
        }
        let leading = Leading::of(self.rest).ok_or(Wrong::Syntax)?;
        let value = leading.float8().ok_or(Wrong::Syntax)?;
        if value.is_nan() || value.abs() > LARGEST {
            return Err(Wrong::Range);
        }
        let text = leading.text();
        let width = text.strip_prefix('-').unwrap_or(text).bytes().take_while(u8::is_ascii_digit).count();
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        Ok(Number { whole: value.trunc() as i64, fraction: value.fract(), width })
    }

    /// Takes the character behind a number. `None` at the end.
    fn designator(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    /// Adds a number without separators as three units. All but the first unit have two digits.
    fn run_together(&mut self, number: &Number, units: [Unit; 3]) -> Result<(), Wrong> {
        let parts = [number.whole / 10_000, number.whole / 100 % 100, number.whole % 100];
        parts.into_iter().zip(units).try_for_each(|(part, unit)| self.sum.add(part, 0.0, unit))
    }

    /// Adds `first` and the numbers that follow it, separated by `separator`.
    fn separated(&mut self, first: &Number, separator: char, units: [Unit; 3]) -> Result<(), Wrong> {
        let [unit, others @ ..] = units;
        self.sum.add(first.whole, first.fraction, unit)?;
        for (at, unit) in others.into_iter().enumerate() {
            if at > 0 {
                match self.rest.strip_prefix(separator) {
                    Some(rest) => self.rest = rest,
                    None => break,
                }
            }
            let number = self.number()?;
            self.sum.add(number.whole, number.fraction, unit)?;
        }
        Ok(())
    }

    /// Reads the date, up to `T` or the end.
    fn date(&mut self) -> Result<(), Wrong> {
        const UNITS: [Unit; 3] = [Unit::Years(1), Unit::Months, Unit::Days(1)];
        let mut first = true;
        while !self.rest.is_empty() && !self.rest.starts_with('T') {
            let number = self.number()?;
            let ends = self.rest.is_empty() || self.rest.starts_with('T');
            if ends && first && number.width == 8 {
                self.run_together(&number, UNITS)?;
                return self.sum.add(0, number.fraction, Unit::Days(1));
            }
            if ends && first {
                return self.sum.add(number.whole, number.fraction, Unit::Years(1));
            }
            let unit = match self.designator() {
                Some('Y') => Unit::Years(1),
                Some('M') => Unit::Months,
                Some('W') => Unit::Days(7),
                Some('D') => Unit::Days(1),
                Some('-') if first => {
                    self.separated(&number, '-', UNITS)?;
                    let ends = self.rest.is_empty() || self.rest.starts_with('T');
                    return if ends { Ok(()) } else { Err(Wrong::Syntax) };
                }
                _ => return Err(Wrong::Syntax),
            };
            self.sum.add(number.whole, number.fraction, unit)?;
            first = false;
        }
        Ok(())
    }

    /// Reads the time, up to the end.
    fn time(&mut self) -> Result<(), Wrong> {
        const UNITS: [Unit; 3] = [HOUR, MINUTE, SECONDS];
        let mut first = true;
        while !self.rest.is_empty() {
            if let Some(rest) = self.rest.strip_prefix('T') {
                self.rest = rest;
                first = true;
                continue;
            }
            let number = self.number()?;
            let unit = match self.designator() {
                Some('H') => HOUR,
                Some('M') => MINUTE,
                Some('S') => SECONDS,
                None if first && number.width == 6 => {
                    self.run_together(&number, UNITS)?;
                    // PostgreSQL reads the fraction as part of a microsecond.
                    return self.sum.add(0, number.fraction, Unit::Time(1));
                }
                None if first => return self.sum.add(number.whole, number.fraction, HOUR),
                Some(':') if first => {
                    self.separated(&number, ':', UNITS)?;
                    return if self.rest.is_empty() { Ok(()) } else { Err(Wrong::Syntax) };
                }
                _ => return Err(Wrong::Syntax),
            };
            self.sum.add(number.whole, number.fraction, unit)?;
            first = false;
        }
        Ok(())
    }
}

/// Parses an interval. Designators are upper case.
pub(super) fn parse(text: &str) -> Result<Interval, Wrong> {
    let body = text.strip_prefix('P').filter(|body| !body.is_empty()).ok_or(Wrong::Syntax)?;
    let mut reader = Reader { rest: body, sum: Sum::default() };
    reader.date()?;
    reader.time()?;
    reader.sum.finish(false)
}
