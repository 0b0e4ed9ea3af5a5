//! [`Interval`]: months, days and microseconds, its arithmetic and its byte encoding. Text forms are in `parse` and
//! `format`.
//!
//! In Arrow, an interval is `Binary` of 18 bytes. First comes a key of ten bytes: the span in microseconds, big-endian
//! with the sign bit inverted. The span counts 30 days a month and 24 hours a day. Then come months and days. Byte
//! order is PostgreSQL's order of intervals. Equal intervals (`1 mon`, `30 days`) share the key and differ in the rest.

mod calculate;
mod format;
mod iso;
mod parse;

pub use format::{Style, write_interval};
pub use parse::{Restriction, parse_interval, parse_interval_signed};

use crate::datetime::DAY;
use sql_error::{Result, SqlError, state};

/// Days in a month, where intervals are compared or split.
pub const DAYS_PER_MONTH: i64 = 30;
const KEY_LENGTH: usize = 10;

/// A span of time whose months and days have no fixed length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Number of months, years included (twelve each).
    pub months: i32,
    /// Number of days, months excluded.
    pub days: i32,
    /// The time part in microseconds.
    pub micros: i64,
}

/// The error 22008, `interval out of range`.
pub fn out_of_range() -> SqlError {
    SqlError::new(state::DATETIME_FIELD_OVERFLOW, "interval out of range")
}

/// The key of an interval's bytes, which equal intervals share.
pub fn key_of(bytes: &[u8]) -> &[u8] {
    bytes.get(..KEY_LENGTH).unwrap_or(bytes)
}

/// Bytes that stand for all intervals equal to this one. They serve comparison only and may not decode.
pub fn canonical(bytes: &[u8]) -> Vec<u8> {
    let mut key = key_of(bytes).to_vec();
    key.resize(KEY_LENGTH + 8, 0);
    key
}

impl Interval {
    /// Makes an interval from its parts.
    pub const fn new(months: i32, days: i32, micros: i64) -> Self {
        Interval { months, days, micros }
    }
    /// The length in microseconds with months of 30 days and days of 24 hours. Intervals are compared by it.
    pub fn span(&self) -> i128 {
        let days = i128::from(self.months) * i128::from(DAYS_PER_MONTH) + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }
    /// The byte encoding that the module head describes.
    pub fn to_bytes(self) -> Vec<u8> {
        // A span fits 80 bits: 2^31 months are less than 2^73 microseconds.
        let span = self.span().to_be_bytes();
        let mut out = Vec::with_capacity(KEY_LENGTH + 8);
        out.extend_from_slice(span.get(span.len() - KEY_LENGTH..).unwrap_or_default());
        if let Some(first) = out.first_mut() {
            *first ^= 0x80;
        }
        out.extend_from_slice(&self.months.to_be_bytes());
        out.extend_from_slice(&self.days.to_be_bytes());
        out
    }
    /// Decodes the bytes of [`Interval::to_bytes`]. Errors: XX001 for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = || SqlError::new(state::DATA_CORRUPTED, "invalid bytes of an interval");
        let (key, rest) = bytes.split_first_chunk::<KEY_LENGTH>().ok_or_else(bad)?;
        let (months, rest) = rest.split_first_chunk::<4>().ok_or_else(bad)?;
        let days = <[u8; 4]>::try_from(rest).map_err(|_| bad())?;
        let mut interval = Interval { months: i32::from_be_bytes(*months), days: i32::from_be_bytes(days), micros: 0 };
        interval.micros = i64::try_from(span_of_key(*key) - interval.span()).map_err(|_| bad())?;
        Ok(interval)
    }
    /// Applies the type's modifier: drops fields it excludes and rounds seconds.
    pub fn restrict(self, modifier: i32) -> Result<Self> {
        Restriction::of_modifier(modifier).apply(self)
    }
}

fn span_of_key(key: [u8; KEY_LENGTH]) -> i128 {
    let negative = key.first().is_some_and(|first| first & 0x80 == 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    for (to, from) in wide.iter_mut().rev().zip(key.iter().rev()) {
        *to = *from;
    }
    if let Some(first) = wide.get_mut(16 - KEY_LENGTH) {
        *first ^= 0x80;
    }
    i128::from_be_bytes(wide)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_value_and_order() {
        let all = [
            Interval::new(i32::MIN, i32::MIN, i64::MIN),
            Interval::new(-12, 0, 0),
            Interval::new(0, -1, 5),
            Interval::new(0, 0, -1),
            Interval::default(),
            Interval::new(0, 0, 1),
            Interval::new(0, 1, -1),
            Interval::new(1, 0, 0),
            Interval::new(1, 0, 1),
            Interval::new(i32::MAX, i32::MAX, i64::MAX),
        ];
        for pair in all.windows(2) {
            let [a, b] = pair else { continue };
            assert!(a.to_bytes() < b.to_bytes(), "{a:?} {b:?}");
        }
        for interval in all {
            assert_eq!(Interval::from_bytes(&interval.to_bytes()).unwrap(), interval);
        }
        let (month, days) = (Interval::new(1, 0, 0), Interval::new(0, 30, 0));
        assert_ne!(month.to_bytes(), days.to_bytes());
        assert_eq!(canonical(&month.to_bytes()), canonical(&days.to_bytes()));
        assert!(Interval::from_bytes(&[1, 2]).is_err());
    }
}
