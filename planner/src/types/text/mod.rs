//! Text form of every value, in and out, exactly PostgreSQL's: what casts, COPY and the wire's text format use.
//!
//! Names of relations (regclass) are looked up in the catalog that the contexts carry.

mod float;
mod input;
mod output;
mod record_input;

pub(crate) use float::Leading;
pub use float::{parse_float4, parse_float8};
pub(crate) use input::parse_oid;
pub use input::{input, parse_bool, parse_bytea, parse_integer, parse_uuid, with_input};
pub(crate) use output::quote_identifier;
pub use output::{output, output_datum, output_string, write_bytea, write_float4, write_float8, write_uuid};

use crate::catalog::Catalog;
use crate::execution::StatementContext;
use crate::session::settings::Settings;
use crate::types::datetime::{DateFormat, DateOrder, Reading, TimeZone};
use crate::types::interval::Style;

/// A moment that few texts ask for.
#[derive(Clone, Copy)]
pub enum Moment<'a> {
    /// It is known.
    Is(i64),
    /// It is asked for where it is needed: to read the clock takes as long as to read a number.
    Asked(&'a (dyn Fn() -> i64 + Sync)),
}

impl Moment<'_> {
    fn get(self) -> i64 {
        match self {
            Moment::Is(moment) => moment,
            Moment::Asked(ask) => ask(),
        }
    }
}

/// What the text input of some types depends on.
#[derive(Clone, Copy)]
pub struct InputContext<'a> {
    /// The session's TimeZone.
    pub time_zone: TimeZone,
    /// Start of the transaction: `'now'`, `'today'`.
    pub now: Moment<'a>,
    /// The order of day, month and year (DateStyle).
    pub date_order: DateOrder,
    /// Whether the only sign of an interval, before its first field, is that of all its fields (IntervalStyle sql_standard).
    pub one_sign: bool,
    /// Where regclass and its kin look names up.
    pub catalog: Option<&'a Catalog>,
    /// Schemas searched.
    pub search_path: &'a [String],
}

impl<'a> InputContext<'a> {
    /// UTC, no catalog.
    pub const PLAIN: InputContext<'static> = InputContext {
        time_zone: TimeZone::UTC,
        now: Moment::Is(0),
        date_order: DateOrder::Mdy,
        one_sign: false,
        catalog: None,
        search_path: &[],
    };
    /// From the settings of a session.
    pub fn new(settings: &'a Settings, catalog: &'a Catalog, now: i64) -> Self {
        Self::of_session(settings, Some(catalog), Moment::Is(now))
    }
    /// From the settings of a session, which may have no catalog at hand.
    pub fn of_session(settings: &'a Settings, catalog: Option<&'a Catalog>, now: Moment<'a>) -> Self {
        InputContext {
            time_zone: settings.time_zone(),
            now,
            date_order: settings.date_format().order,
            one_sign: settings.interval_style() == Style::SqlStandard,
            catalog,
            search_path: settings.search_path(),
        }
    }
    /// What dates depend on.
    pub fn reading(&self) -> Reading {
        Reading { zone: self.time_zone, now: self.now.get(), order: self.date_order }
    }
    /// From the statement under way.
    pub fn of_statement(context: &'a StatementContext) -> Self {
        Self::new(&context.settings, &context.catalog, context.transaction_time)
    }
}

/// What the text output of some types depends on.
#[derive(Clone, Copy)]
pub struct OutputContext<'a> {
    /// The session's TimeZone.
    pub time_zone: TimeZone,
    /// Where regclass and its kin look names up; without one they print numbers.
    pub catalog: Option<&'a Catalog>,
    /// Schemas searched: what is found by its bare name prints so.
    pub search_path: &'a [String],
    /// The session's IntervalStyle.
    pub interval_style: Style,
    /// The session's DateStyle.
    pub date_format: DateFormat,
    /// extra_float_digits; above 0 the shortest digits that read back as the same value are written.
    pub float_digits: i32,
    /// Whether bytea is written in its escape form (bytea_output).
    pub bytea_escape: bool,
}

impl<'a> OutputContext<'a> {
    /// UTC, no catalog.
    pub const PLAIN: OutputContext<'static> = OutputContext {
        time_zone: TimeZone::UTC,
        catalog: None,
        search_path: &[],
        interval_style: Style::Postgres,
        date_format: DateFormat::ISO,
        float_digits: 1,
        bytea_escape: false,
    };
    /// From the settings of a session.
    pub fn new(settings: &'a Settings, catalog: &'a Catalog) -> Self {
        Self::of_session(settings, Some(catalog))
    }
    /// From the settings of a session, which may have no catalog at hand.
    pub fn of_session(settings: &'a Settings, catalog: Option<&'a Catalog>) -> Self {
        OutputContext {
            time_zone: settings.time_zone(),
            catalog,
            search_path: settings.search_path(),
            interval_style: settings.interval_style(),
            date_format: settings.date_format(),
            float_digits: settings.extra_float_digits(),
            bytea_escape: settings.bytea_escape(),
        }
    }
    /// From the statement under way.
    pub fn of_statement(context: &'a StatementContext) -> Self {
        Self::new(&context.settings, &context.catalog)
    }
}
