//! Times of day, without and with a zone.
//!
//! `time` is microseconds since midnight, as an Int64 in Arrow; a whole day is 24:00:00. [`TimeTz`] is `Binary` of 12
//! bytes in Arrow: microseconds of UTC, then seconds west of UTC. Both are big-endian with the sign bit inverted. So
//! byte order is PostgreSQL's order: by the moment, then by the zone.

use super::datetime::{DAY, SECOND, round_seconds, write_fraction};
use sql_error::{Result, SqlError, state};
use std::io::Write;

/// A time of day with a time zone offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeTz {
    /// Microseconds since midnight, by the zone's clock.
    pub micros: i64,
    /// Offset in seconds east of UTC.
    pub offset: i32,
}

impl TimeTz {
    /// The byte encoding that the module head describes.
    pub fn to_bytes(self) -> Vec<u8> {
        let moment = self.micros - i64::from(self.offset) * SECOND;
        let mut out = Vec::with_capacity(12);
        out.extend_from_slice(&(moment as u64 ^ 1 << 63).to_be_bytes());
        out.extend_from_slice(&(self.offset.wrapping_neg() as u32 ^ 1 << 31).to_be_bytes());
        out
    }
    /// Decodes the bytes of [`TimeTz::to_bytes`]. Errors: XX001 for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = || SqlError::new(state::DATA_CORRUPTED, "invalid bytes of a time with time zone");
        let (moment, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let west = <[u8; 4]>::try_from(rest).map_err(|_| bad())?;
        let moment = (u64::from_be_bytes(*moment) ^ 1 << 63) as i64;
        let offset = ((u32::from_be_bytes(west) ^ 1 << 31) as i32).wrapping_neg();
        let micros = i64::from(offset).checked_mul(SECOND).and_then(|offset| moment.checked_add(offset));
        Ok(TimeTz { micros: micros.ok_or_else(bad)?, offset })
    }
    /// The same moment by the clock of another offset.
    pub fn at_offset(self, offset: i32) -> Self {
        let moved = self.micros + (i64::from(offset) - i64::from(self.offset)) * SECOND;
        TimeTz { micros: moved.rem_euclid(DAY), offset }
    }
}

/// Rounds a time to the digits of its type's modifier.
pub fn round_time(micros: i64, modifier: i32) -> i64 {
    round_seconds(micros, modifier).unwrap_or(micros)
}

/// Writes a time such as `12:30:00.5`.
pub fn write_time(micros: i64, out: &mut Vec<u8>) {
    let seconds = micros / SECOND;
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    write_fraction((micros % SECOND).unsigned_abs(), out);
}

/// Writes a time with its zone, such as `12:30:00+01`.
pub fn write_timetz(time: TimeTz, out: &mut Vec<u8>) {
    write_time(time.micros, out);
    super::datetime::write_offset(i64::from(time.offset), out);
}

/// Makes a time from hours, minutes and seconds. Errors: 22008.
pub fn make_time(hour: i32, minute: i32, seconds: f64) -> Result<i64> {
    let fields = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60.0).contains(&seconds);
    let micros = fields
        .then(|| (i64::from(hour) * 60 + i64::from(minute)) * 60 * SECOND + (seconds * 1e6).round_ties_even() as i64);
    micros.filter(|micros| *micros <= DAY).ok_or_else(|| {
        let seconds = format!("{seconds:02}");
        SqlError::new(
            state::DATETIME_FIELD_OVERFLOW,
            format!("time field value out of range: {hour}:{minute:02}:{seconds}"),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_value_and_order() {
        let noon = 12 * 3600 * SECOND;
        let times = [
            TimeTz { micros: 0, offset: 57_540 },
            TimeTz { micros: noon, offset: 3600 },
            TimeTz { micros: noon, offset: 0 },
            TimeTz { micros: noon - 3600 * SECOND, offset: -3600 },
            TimeTz { micros: DAY, offset: -57_540 },
        ];
        for pair in times.windows(2) {
            let [a, b] = pair else { continue };
            assert!(a.to_bytes() < b.to_bytes(), "{a:?} {b:?}");
        }
        for time in times {
            assert_eq!(TimeTz::from_bytes(&time.to_bytes()).unwrap(), time);
        }
    }

    #[test]
    fn clocks() {
        let noon = TimeTz { micros: 12 * 3600 * SECOND, offset: 0 };
        let mut out = Vec::new();
        write_timetz(noon.at_offset(19_800), &mut out);
        assert_eq!(out, b"17:30:00+05:30");
        assert_eq!(round_time(1_500_000, 0), 2_000_000);
        assert_eq!(make_time(24, 0, 1.0).unwrap_err().state(), "22008");
        assert_eq!(make_time(1, 0, 1e300).unwrap_err().state(), "22008");
        let far = TimeTz { micros: 0, offset: -57_540 }.at_offset(i32::MAX);
        assert_eq!((far.micros, far.offset), (69_187 * SECOND, i32::MAX));
    }
}
