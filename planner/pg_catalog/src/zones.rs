//! `pg_timezone_names` and `pg_timezone_abbrevs`: the time zones known to TimeZone and dates, with their offsets
//! at the transaction's start.

use super::definition::{Definition, Fill, Rows, value};
use chrono::TimeZone as _;
use chrono_tz::{OffsetComponents, TZ_VARIANTS, Tz};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;
use types::datetime::abbreviation::{ABBREVIATIONS, Abbreviation};
use types::datetime::{TimeZone, chrono_moment, offset_at_utc};
use types::interval::Interval;

pub(super) const NAMES: Definition = Definition {
    oid: 12126,
    name: "pg_catalog.pg_timezone_names",
    columns: "name text, abbrev text, utc_offset interval, is_dst bool",
    fill: Fill::Now(names),
};

pub(super) const ABBREVIATIONS_VIEW: Definition = Definition {
    oid: 12122,
    name: "pg_catalog.pg_timezone_abbrevs",
    columns: "abbrev text, utc_offset interval, is_dst bool",
    fill: Fill::Now(abbreviations),
};

fn span(seconds: i64) -> Datum {
    Datum::Binary(Some(Interval::new(0, 0, seconds * 1_000_000).to_bytes()))
}

/// Whether a zone has daylight saving time at a moment of UTC.
fn is_summer(zone: Tz, utc: i64) -> bool {
    !zone.offset_from_utc_datetime(&chrono_moment(utc)).dst_offset().is_zero()
}

fn names(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let now = context.transaction_time;
    for zone in TZ_VARIANTS {
        let known = TimeZone::Named(zone);
        rows.add([
            ("name", value::text(zone.name())),
            ("abbrev", value::text(known.abbreviation_at(now))),
            ("utc_offset", span(offset_at_utc(known, now))),
            ("is_dst", Datum::from(is_summer(zone, now))),
        ])?;
    }
    Ok(())
}

fn abbreviations(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let now = context.transaction_time;
    for (name, meaning) in ABBREVIATIONS {
        let (seconds, summer) = match meaning {
            Abbreviation::Fixed(seconds, summer) => (i64::from(*seconds), *summer),
            Abbreviation::Dynamic(zone) => {
                let Ok(zone) = zone.parse::<Tz>() else { continue };
                let known = TimeZone::Named(zone);
                let seconds = known.offset_of_abbreviation(name, now);
                let shown = known.abbreviation_at(now).eq_ignore_ascii_case(name);
                (seconds, shown && is_summer(zone, now))
            }
        };
        rows.add([
            ("abbrev", value::text(name.to_ascii_uppercase())),
            ("utc_offset", span(seconds)),
            ("is_dst", Datum::from(summer)),
        ])?;
    }
    Ok(())
}
