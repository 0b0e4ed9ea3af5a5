//! [`TypeName`]: the name of a type with its modifiers.

use super::{Expr, Name};
use crate::span::Span;

/// A type in a statement, such as `numeric(10, 2)[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeName {
    /// The type without modifiers.
    pub base: TypeBase,
    /// The modifiers in parentheses. Those of INTERVAL and of time types are their precision alone.
    pub modifiers: Vec<Expr>,
    /// The bounds of `[]`, `[3]` or ARRAY. PostgreSQL ignores their sizes. Empty for no array.
    pub array_bounds: Vec<Option<i32>>,
    /// Whether SETOF was written.
    pub set_of: bool,
    /// Its place.
    pub span: Span,
}

/// The types with a grammar of their own, and all others by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeBase {
    /// A type by its name.
    Named(Name),
    /// `table.column%TYPE`.
    OfColumn(Name),
    /// BOOLEAN.
    Boolean,
    /// SMALLINT.
    SmallInt,
    /// INT or INTEGER.
    Integer,
    /// BIGINT.
    BigInt,
    /// REAL, or FLOAT of at most 24 bits.
    Real,
    /// DOUBLE PRECISION, or FLOAT of more bits or none.
    DoublePrecision,
    /// NUMERIC, DECIMAL or DEC.
    Numeric,
    /// CHARACTER, CHAR, NATIONAL CHARACTER or NCHAR. Without a modifier, its length is 1 except before a string.
    Char,
    /// CHARACTER VARYING, VARCHAR and their kin.
    VarChar,
    /// BIT.
    Bit,
    /// BIT VARYING.
    BitVarying,
    /// TIME: whether WITH TIME ZONE was written.
    Time(bool),
    /// TIMESTAMP: whether WITH TIME ZONE was written.
    Timestamp(bool),
    /// INTERVAL with its fields.
    Interval(Option<IntervalFields>),
}

impl TypeBase {
    /// The name in `pg_catalog` of a type with a grammar of its own.
    pub fn catalog_name(&self) -> Option<&'static str> {
        Some(match self {
            TypeBase::Named(_) | TypeBase::OfColumn(_) => return None,
            TypeBase::Boolean => "bool",
            TypeBase::SmallInt => "int2",
            TypeBase::Integer => "int4",
            TypeBase::BigInt => "int8",
            TypeBase::Real => "float4",
            TypeBase::DoublePrecision => "float8",
            TypeBase::Numeric => "numeric",
            TypeBase::Char => "bpchar",
            TypeBase::VarChar => "varchar",
            TypeBase::Bit => "bit",
            TypeBase::BitVarying => "varbit",
            TypeBase::Time(false) => "time",
            TypeBase::Time(true) => "timetz",
            TypeBase::Timestamp(false) => "timestamp",
            TypeBase::Timestamp(true) => "timestamptz",
            TypeBase::Interval(_) => "interval",
        })
    }
}

/// The fields of an INTERVAL (manual, chapter 8.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalFields {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    YearToMonth,
    DayToHour,
    DayToMinute,
    DayToSecond,
    HourToMinute,
    HourToSecond,
    MinuteToSecond,
}
