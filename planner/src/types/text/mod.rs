//! The text form of all values, exactly as in PostgreSQL, both parsed and written. Casts, COPY and the wire's text
//! format use it.
//!
//! The contexts carry the catalog in which relation names (regclass) are looked up.

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

/// The transaction's start, which few texts need.
#[derive(Clone, Copy)]
pub enum Moment<'a> {
    /// The moment is already known.
    Is(i64),
    /// The moment is computed on demand: reading the clock takes as long as parsing a number.
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

/// The settings that the parsing of some types depends on.
#[derive(Clone, Copy)]
pub struct InputContext<'a> {
    /// The session's setting TimeZone.
    pub time_zone: TimeZone,
    /// Start of the transaction, for `'now'` and `'today'`.
    pub now: Moment<'a>,
    /// The order of day, month and year (DateStyle).
    pub date_order: DateOrder,
    /// Whether an interval's only sign, before its first field, applies to all fields (IntervalStyle sql_standard).
    pub one_sign: bool,
    /// The catalog in which regclass and similar types look names up.
    pub catalog: Option<&'a Catalog>,
    /// The schemas that are searched for names.
    pub search_path: &'a [String],
}

impl<'a> InputContext<'a> {
    /// A context with UTC and without a catalog.
    pub const PLAIN: InputContext<'static> = InputContext {
        time_zone: TimeZone::UTC,
        now: Moment::Is(0),
        date_order: DateOrder::Mdy,
        one_sign: false,
        catalog: None,
        search_path: &[],
    };
    /// A context with the settings of a session.
    pub fn new(settings: &'a Settings, catalog: &'a Catalog, now: i64) -> Self {
        Self::of_session(settings, Some(catalog), Moment::Is(now))
    }
    /// A context with the settings of a session that may have no catalog.
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
    /// The settings that dates depend on.
    pub fn reading(&self) -> Reading {
        Reading { zone: self.time_zone, now: self.now.get(), order: self.date_order }
    }
    /// The context of the current statement.
    pub fn of_statement(context: &'a StatementContext) -> Self {
        Self::new(&context.settings, &context.catalog, context.transaction_time)
    }
}

/// The settings that the text output of some types depends on.
#[derive(Clone, Copy)]
pub struct OutputContext<'a> {
    /// The session's setting TimeZone.
    pub time_zone: TimeZone,
    /// The catalog in which regclass and similar types look names up. Without it, they print numbers.
    pub catalog: Option<&'a Catalog>,
    /// The schemas that are searched. An object that is found by its bare name prints without its schema.
    pub search_path: &'a [String],
    /// The session's setting IntervalStyle.
    pub interval_style: Style,
    /// The session's setting DateStyle.
    pub date_format: DateFormat,
    /// The setting extra_float_digits. Above 0, floats print with the shortest digits that read back as the same value.
    pub float_digits: i32,
    /// Whether bytea prints in its escape form (bytea_output).
    pub bytea_escape: bool,
}

impl<'a> OutputContext<'a> {
    /// A context with UTC and without a catalog.
    pub const PLAIN: OutputContext<'static> = OutputContext {
        time_zone: TimeZone::UTC,
        catalog: None,
        search_path: &[],
        interval_style: Style::Postgres,
        date_format: DateFormat::ISO,
        float_digits: 1,
        bytea_escape: false,
    };
    /// A context with the settings of a session.
    pub fn new(settings: &'a Settings, catalog: &'a Catalog) -> Self {
        Self::of_session(settings, Some(catalog))
    }
    /// A context with the settings of a session that may have no catalog.
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
    /// The context of the current statement.
    pub fn of_statement(context: &'a StatementContext) -> Self {
        Self::new(&context.settings, &context.catalog)
    }
}
