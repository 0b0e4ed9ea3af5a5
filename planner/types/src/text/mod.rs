//! The text form of all values, exactly as in PostgreSQL, both parsed and written. Casts, COPY and the wire's text
//! format use it.
//!
//! The contexts carry the catalog in which relation names (regclass) are looked up.

mod float;
mod input;
mod output;
mod record_input;

pub use float::Leading;
pub use float::{parse_float4, parse_float8};
pub use input::parse_oid;
pub use input::{input, parse_bool, parse_bytea, parse_integer, parse_uuid, with_input};
pub use output::quote_identifier;
pub use output::{output, output_datum, output_string, write_bytea, write_float4, write_float8, write_uuid};

use crate::datetime::{DateFormat, DateOrder, Reading, TimeZone};
use crate::interval::Style;
use crate::{BaseType, Oid};
use sql_error::{Result, SqlError};
use std::sync::OnceLock;

/// Names of objects: what values of `regclass` and its kin are written as.
pub trait ObjectNames: Sync {
    /// The OID behind a name in its text form. Errors: 42883, 42704, 42725, 42P01, 3F000, 42602, 22P02.
    fn oid_of(&self, base: BaseType, text: &str, search_path: &[String]) -> Result<i64>;
    /// The name of an object, as short as the search path allows; `None` when there is no such object.
    fn name_of(&self, base: BaseType, oid: Oid, search_path: &[String]) -> Option<String>;
    /// The OID of a relation by its name; digits are a name too. Errors: 42P01, 3F000, 42602.
    fn relation_oid(&self, name: &str, search_path: &[String]) -> Result<i64>;
}

/// The names that every database has, for contexts without a catalog.
static SYSTEM_NAMES: OnceLock<&'static dyn ObjectNames> = OnceLock::new();

/// Makes the names of the system's own objects known to the whole process. The first call counts.
pub fn install_system_names(names: &'static dyn ObjectNames) {
    let _ = SYSTEM_NAMES.set(names);
}

/// No names: values of `regclass` and its kin are written as numbers, which can be read without a catalog.
#[derive(Debug)]
pub struct Numbers;

impl ObjectNames for Numbers {
    fn oid_of(&self, _base: BaseType, _text: &str, _search_path: &[String]) -> Result<i64> {
        Err(SqlError::unsupported("looking up a name here"))
    }
    fn name_of(&self, _base: BaseType, _oid: Oid, _search_path: &[String]) -> Option<String> {
        None
    }
    fn relation_oid(&self, _name: &str, _search_path: &[String]) -> Result<i64> {
        Err(SqlError::unsupported("looking up a name here"))
    }
}

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
    /// Where regclass and its kin look names up.
    pub names: Option<&'a dyn ObjectNames>,
    /// Schemas searched.
    pub search_path: &'a [String],
}

impl InputContext<'_> {
    /// UTC, no names of objects.
    pub const PLAIN: InputContext<'static> = InputContext {
        time_zone: TimeZone::UTC,
        now: Moment::Is(0),
        date_order: DateOrder::Mdy,
        one_sign: false,
        names: None,
        search_path: &[],
    };
    /// What dates depend on.
    pub fn reading(&self) -> Reading {
        Reading { zone: self.time_zone, now: self.now.get(), order: self.date_order }
    }
}

/// The settings that the text output of some types depends on.
#[derive(Clone, Copy)]
pub struct OutputContext<'a> {
    /// The session's setting TimeZone.
    pub time_zone: TimeZone,
    /// Where regclass and its kin look names up. Without it, only the names that every database has are written.
    pub names: Option<&'a dyn ObjectNames>,
    /// Schemas searched: what is found by its bare name prints so.
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

impl OutputContext<'_> {
    /// UTC, no names of objects.
    pub const PLAIN: OutputContext<'static> = OutputContext {
        time_zone: TimeZone::UTC,
        names: None,
        search_path: &[],
        interval_style: Style::Postgres,
        date_format: DateFormat::ISO,
        float_digits: 1,
        bytea_escape: false,
    };
}
