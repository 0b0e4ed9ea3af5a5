//! [`TimeZone`]: a zone named in the time zone database or given by POSIX rules, with its offsets and abbreviations.

use super::abbreviation::{Abbreviation, abbreviation};
use super::european::EuropeanZone;
use super::posix::PosixZone;
use super::{DAY, SECOND, civil_from_days, days_from_civil, days_in_month, to_unix};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{OffsetName, Tz};
use sql_error::{Result, SqlError, state};

/// A time zone: named, or given by POSIX rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeZone {
    /// A zone of the time zone database.
    Named(Tz),
    /// A zone given by POSIX rules.
    Posix(PosixZone),
}

impl TimeZone {
    /// The zone UTC itself.
    pub const UTC: TimeZone = TimeZone::Named(Tz::UTC);

    /// Parses a zone as SET TIME ZONE takes it: a name in any case, or a POSIX specification.
    pub fn parse(name: &str) -> Option<TimeZone> {
        let name = name.strip_prefix("posix/").unwrap_or(name);
        name.parse()
            .ok()
            .or_else(|| chrono_tz::TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name)).copied())
            .map(TimeZone::Named)
            .or_else(|| PosixZone::parse(name).map(TimeZone::Posix))
    }

    /// The abbreviation in use at a moment of UTC.
    pub fn abbreviation_at(&self, utc: i64) -> String {
        match self {
            TimeZone::Named(zone) if let Some(zone) = EuropeanZone::of(*zone) => zone.abbreviation_at(utc).to_string(),
            TimeZone::Named(zone) => match standard_time(*zone, utc) {
                Some((_, standard)) => standard.to_string(),
                None => match zone.offset_from_utc_datetime(&chrono_moment(utc)).abbreviation() {
                    Some(abbreviation) => abbreviation.to_string(),
                    // The zone has no letters for its abbreviation.
                    None => numeric_abbreviation(offset_at_utc(*self, utc)),
                },
            },
            TimeZone::Posix(zone) => zone.abbreviation_at(utc.div_euclid(SECOND)),
        }
    }

    /// Seconds east of UTC that the abbreviation `name` means in this zone around a local time. If the zone never used
    /// it, the zone's own offset.
    pub fn offset_of_abbreviation(&self, name: &str, local: i64) -> i64 {
        let utc = local.saturating_sub(offset_at_local(*self, local) * SECOND);
        // Prefer the last use before, then the first after. Rules change only a few times a year.
        let probes = (0..1200).map(|at| -at * 30).chain((1..1200).map(|at| at * 30));
        for days in probes {
            let moment = utc.saturating_add(days * DAY);
            if self.abbreviation_at(moment).eq_ignore_ascii_case(name) {
                return offset_at_utc(*self, moment);
            }
        }
        offset_at_local(*self, local)
    }
}

/// A zone as input texts and AT TIME ZONE name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneName {
    /// An offset in seconds east of UTC.
    Fixed(i64),
    /// A zone with its own rules.
    Zone(TimeZone),
    /// An abbreviation whose offset depends on the zone and the time.
    Dynamic(&'static str, TimeZone),
}

impl ZoneName {
    /// Looks up a lower-case abbreviation.
    pub fn of_abbreviation(name: &str) -> Option<ZoneName> {
        match abbreviation(name)? {
            Abbreviation::Fixed(east, _) => Some(ZoneName::Fixed(i64::from(east))),
            Abbreviation::Dynamic(zone) => {
                let known = super::abbreviation::ABBREVIATIONS.iter().find(|(known, _)| *known == name)?.0;
                TimeZone::parse(zone).map(|zone| ZoneName::Dynamic(known, zone))
            }
        }
    }
    /// Seconds east of UTC at a local time.
    pub fn offset_at_local(&self, local: i64) -> i64 {
        match self {
            ZoneName::Fixed(east) => *east,
            ZoneName::Zone(zone) => offset_at_local(*zone, local),
            ZoneName::Dynamic(name, zone) => zone.offset_of_abbreviation(name, local),
        }
    }
    /// Seconds east of UTC at a moment of UTC.
    pub fn offset_at_utc(&self, utc: i64) -> i64 {
        match self {
            ZoneName::Fixed(east) => *east,
            ZoneName::Zone(zone) => offset_at_utc(*zone, utc),
            ZoneName::Dynamic(name, zone) => zone.offset_of_abbreviation(name, utc),
        }
    }
    /// The local time of a moment of UTC. Infinities stay.
    pub fn to_local(&self, utc: i64) -> i64 {
        if super::is_finite(utc) { utc.saturating_add(self.offset_at_utc(utc) * SECOND) } else { utc }
    }
    /// The moment of UTC of a local time. Infinities stay.
    pub fn to_utc(&self, local: i64) -> i64 {
        if super::is_finite(local) { local.saturating_sub(self.offset_at_local(local) * SECOND) } else { local }
    }
}

/// Parses a zone as AT TIME ZONE takes it: an abbreviation, a name or a POSIX specification. Errors: 22023.
pub fn zone(name: &str) -> Result<ZoneName> {
    ZoneName::of_abbreviation(&name.to_ascii_lowercase())
        .or_else(|| TimeZone::parse(name).map(ZoneName::Zone))
        .ok_or_else(|| SqlError::new(state::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized")))
}

/// Zones that follow no city: standard offset and abbreviation, and whether the rules of the United States apply. Later
/// editions of the time zone database link these zones to cities, with local mean time and local rules.
const WITHOUT_CITY: [(Tz, i64, &str, bool); 7] = [
    (Tz::PST8PDT, -8 * 3600, "PST", true),
    (Tz::EST5EDT, -5 * 3600, "EST", true),
    (Tz::CST6CDT, -6 * 3600, "CST", true),
    (Tz::MST7MDT, -7 * 3600, "MST", true),
    (Tz::EST, -5 * 3600, "EST", false),
    (Tz::MST, -7 * 3600, "MST", false),
    (Tz::HST, -10 * 3600, "HST", false),
];

/// Offset (seconds east of UTC) and abbreviation of a zone without a city, in years without nationwide rules. In those
/// years, the linked city may differ. No clock change is near the turn of a year, so `moment` may be local time.
fn standard_time(zone: Tz, moment: i64) -> Option<(i64, &'static str)> {
    let (_, east, abbreviation, rules) = *WITHOUT_CITY.iter().find(|(known, ..)| *known == zone)?;
    let year = civil_from_days(moment.div_euclid(DAY)).year;
    let ruled = matches!(year, 1918 | 1919 | 1942..=1945) || year >= 1967;
    (!rules || !ruled).then_some((east, abbreviation))
}

/// An offset as the time zone database writes it for zones without letters, such as `-0430`.
fn numeric_abbreviation(east: i64) -> String {
    let (sign, east) = (if east < 0 { '-' } else { '+' }, east.abs());
    let (hours, minutes, seconds) = (east / 3600, east / 60 % 60, east % 60);
    match (minutes, seconds) {
        (0, 0) => format!("{sign}{hours:02}"),
        (_, 0) => format!("{sign}{hours:02}{minutes:02}"),
        _ => format!("{sign}{hours:02}{minutes:02}{seconds:02}"),
    }
}

/// Seconds east of UTC at a moment of UTC, in microseconds since 2000.
pub fn offset_at_utc(zone: TimeZone, micros: i64) -> i64 {
    match zone {
        TimeZone::UTC => 0,
        TimeZone::Named(zone) if let Some(zone) = EuropeanZone::of(zone) => zone.offset_at_utc(micros),
        TimeZone::Named(zone) => match standard_time(zone, micros) {
            Some((east, _)) => east,
            None => i64::from(zone.offset_from_utc_datetime(&chrono_moment(micros)).fix().local_minus_utc()),
        },
        TimeZone::Posix(zone) => zone.offset_at(micros.div_euclid(SECOND)),
    }
}

/// Seconds east of UTC at a local time, as in PostgreSQL. In the gap of a clock put forward, it is the offset before
/// it. In the overlap of a clock put back, it is the standard (later) one.
pub fn offset_at_local(zone: TimeZone, local: i64) -> i64 {
    use chrono::LocalResult;
    match zone {
        TimeZone::UTC => 0,
        TimeZone::Named(named) if let Some(zone) = EuropeanZone::of(named) => zone.offset_at_local(local),
        TimeZone::Named(named) if standard_time(named, local).is_some() => {
            standard_time(named, local).map_or(0, |(east, _)| east)
        }
        TimeZone::Named(named) => match named.offset_from_local_datetime(&chrono_moment(local)) {
            LocalResult::Single(offset) => i64::from(offset.fix().local_minus_utc()),
            LocalResult::Ambiguous(_, later) => i64::from(later.fix().local_minus_utc()),
            LocalResult::None => offset_at_utc(zone, local.saturating_sub(DAY)),
        },
        TimeZone::Posix(zone) => zone.offset_at_local(local.div_euclid(SECOND)),
    }
}

/// `LAST_YEAR` is the last year with rules in the compiled time zone database. The 28 years from `CYCLE` on have every
/// calendar: each first weekday, with and without a leap day.
const LAST_YEAR: i64 = 2090;
const CYCLE: i64 = 2050;

/// Converts a moment for chrono, whose years end near 262142. A year beyond the database is replaced by one with the
/// same calendar.
pub fn chrono_moment(micros: i64) -> NaiveDateTime {
    const LIMIT: i64 = 200_000 * 366 * DAY / 2;
    let days = micros.div_euclid(DAY);
    let year = civil_from_days(days).year;
    let micros = if year > LAST_YEAR {
        let first = days_from_civil(year, 1, 1);
        let alike = |candidate: &i64| {
            (days_from_civil(*candidate, 1, 1) - first).rem_euclid(7) == 0
                && days_in_month(*candidate, 2) == days_in_month(year, 2)
        };
        let candidate = (CYCLE..CYCLE + 28).find(alike).unwrap_or(CYCLE);
        micros.saturating_sub((first - days_from_civil(candidate, 1, 1)).saturating_mul(DAY))
    } else {
        micros
    };
    DateTime::from_timestamp_micros(to_unix(micros.clamp(-LIMIT, LIMIT)))
        .map(|moment| moment.naive_utc())
        .unwrap_or_else(|| NaiveDate::default().and_time(chrono::NaiveTime::MIN))
}

/// The local time of a timestamptz in a zone. Infinities stay.
pub fn to_local(micros: i64, zone: TimeZone) -> i64 {
    ZoneName::Zone(zone).to_local(micros)
}

/// The moment of UTC of a local time in a zone. Infinities stay.
pub fn to_utc(local: i64, zone: TimeZone) -> i64 {
    ZoneName::Zone(zone).to_utc(local)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn zones_know_summer() {
        let zone = TimeZone::parse("europe/berlin").unwrap();
        for year in [2024, 2095, 2400, 9999] {
            let summer = days_from_civil(year, 7, 1) * DAY;
            assert_eq!(offset_at_utc(zone, summer), 7200, "{year}");
            assert_eq!(offset_at_utc(zone, days_from_civil(year, 1, 1) * DAY), 3600, "{year}");
            assert_eq!(to_utc(to_local(summer, zone), zone), summer);
        }
        assert_eq!(zone.abbreviation_at(days_from_civil(2024, 7, 1) * DAY), "CEST");
    }

    #[test]
    fn zones_without_city_have_no_local_mean_time() {
        let at = |year| days_from_civil(year, 7, 1) * DAY;
        let pacific = TimeZone::parse("PST8PDT").unwrap();
        let shown = |zone: TimeZone, year| (offset_at_utc(zone, at(year)) / 3600, zone.abbreviation_at(at(year)));
        for (year, hours, name) in [(97, -8, "PST"), (1950, -8, "PST"), (1943, -7, "PWT"), (2000, -7, "PDT")] {
            assert_eq!(shown(pacific, year), (hours, name.to_string()), "{year}");
            assert_eq!(offset_at_local(pacific, at(year)), hours * 3600, "{year}");
        }
        assert_eq!(shown(TimeZone::parse("est").unwrap(), 1800), (-5, "EST".to_string()));
        assert_eq!(TimeZone::parse("America/Caracas").unwrap().abbreviation_at(at(2010)), "-0430");
        assert_eq!(TimeZone::parse("America/Caracas").unwrap().abbreviation_at(at(2020)), "-04");
    }

    #[test]
    fn abbreviations_mean_what_they_meant() {
        let at = |year| days_from_civil(year, 7, 1) * DAY;
        assert_eq!(zone("PST").unwrap().offset_at_utc(at(2020)), -8 * 3600);
        assert_eq!(zone("+02").unwrap().offset_at_utc(at(2020)), -2 * 3600);
        // Moscow changed its offset twice.
        assert_eq!(zone("msk").unwrap().offset_at_local(at(2012)), 4 * 3600);
        assert_eq!(zone("MSK").unwrap().offset_at_local(at(2020)), 3 * 3600);
        assert_eq!(zone("nowhere").unwrap_err().state(), state::INVALID_PARAMETER_VALUE);
    }
}
