//! [`EuropeanZone`]: CET, MET, EET and WET, zones of the time zone database that follow no city. They have the European
//! Union's summer time since 1977. Central Europe also had summer time in both wars. Later editions of the database
//! link these zones to cities.

use super::{DAY, SECOND, civil_from_days, days_from_civil, days_in_month, weekday};
use chrono_tz::Tz;

const HOUR: i64 = 3600 * SECOND;

/// A European zone that follows no city.
#[derive(Clone, Copy, Debug)]
pub struct EuropeanZone {
    /// Seconds east of UTC in winter.
    east: i64,
    names: [&'static str; 2],
    /// Whether the zone had summer time in both wars.
    central: bool,
}

/// Summer times of Central Europe before 1977: the dates of begin and end, and the hour in UTC.
const OF_THE_WARS: [[(i64, i64, i64, i64); 2]; 7] = [
    [(1916, 4, 30, 22), (1916, 9, 30, 23)],
    [(1917, 4, 16, 1), (1917, 9, 17, 1)],
    [(1918, 4, 15, 1), (1918, 9, 16, 1)],
    [(1940, 4, 1, 1), (1942, 11, 2, 1)],
    [(1943, 3, 29, 1), (1943, 10, 4, 1)],
    [(1944, 4, 3, 1), (1944, 10, 2, 1)],
    [(1945, 4, 2, 1), (1945, 9, 16, 1)],
];

impl EuropeanZone {
    /// The European zone of `zone`, if it is one of the four.
    pub fn of(zone: Tz) -> Option<EuropeanZone> {
        let (hours, names, central) = match zone {
            Tz::CET => (1, ["CET", "CEST"], true),
            Tz::MET => (1, ["MET", "MEST"], true),
            Tz::EET => (2, ["EET", "EEST"], false),
            Tz::WET => (0, ["WET", "WEST"], false),
            _ => return None,
        };
        Some(EuropeanZone { east: hours * 3600, names, central })
    }

    fn is_summer(&self, utc: i64) -> bool {
        let year = civil_from_days(utc.div_euclid(DAY)).year;
        if year >= 1977 {
            let begin = match year {
                1977..=1980 => first_sunday(year, 4),
                _ => last_sunday(year, 3),
            };
            let end = match year {
                1978 => days_from_civil(1978, 10, 1),
                1977..=1995 => last_sunday(year, 9),
                _ => last_sunday(year, 10),
            };
            return (begin * DAY + HOUR..end * DAY + HOUR).contains(&utc);
        }
        let moment =
            |(year, month, day, hour): (i64, i64, i64, i64)| days_from_civil(year, month, day) * DAY + hour * HOUR;
        self.central && OF_THE_WARS.iter().any(|[begin, end]| (moment(*begin)..moment(*end)).contains(&utc))
    }

    /// Seconds east of UTC at a moment of UTC, in microseconds since 2000.
    pub fn offset_at_utc(&self, utc: i64) -> i64 {
        self.east + if self.is_summer(utc) { 3600 } else { 0 }
    }

    /// Seconds east of UTC at a local time. A gap takes the offset before it; an overlap takes the later one.
    pub fn offset_at_local(&self, local: i64) -> i64 {
        let utc = local.saturating_sub(self.east * SECOND);
        let summer = self.is_summer(utc) && self.is_summer(utc.saturating_sub(HOUR));
        self.east + if summer { 3600 } else { 0 }
    }

    /// The abbreviation in use at a moment of UTC, in microseconds since 2000.
    pub fn abbreviation_at(&self, utc: i64) -> &'static str {
        let [winter, summer] = self.names;
        if self.is_summer(utc) { summer } else { winter }
    }
}

fn first_sunday(year: i64, month: i64) -> i64 {
    let first = days_from_civil(year, month, 1);
    first + (-weekday(first)).rem_euclid(7)
}

fn last_sunday(year: i64, month: i64) -> i64 {
    let last = days_from_civil(year, month, 1) + days_in_month(year, month) - 1;
    last - weekday(last)
}
