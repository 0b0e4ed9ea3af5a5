//! Writes names of types.

use super::name::function_name;
use super::writer::{Print, Writer};
use crate::tree::{IntervalFields, TypeBase, TypeName};

impl Print for TypeName {
    fn print(&self, out: &mut Writer) {
        out.word_if(self.set_of, "SETOF");
        unbounded(self, out);
        for bound in &self.array_bounds {
            match bound {
                Some(size) => out.sign(&format!("[{size}]")),
                None => out.sign("[]"),
            };
        }
    }
}

/// Writes a type without SETOF and bounds.
fn unbounded(data_type: &TypeName, out: &mut Writer) {
    match &data_type.base {
        TypeBase::Time(zoned) => {
            out.word("TIME");
            modifiers(data_type, out);
            out.word_if(*zoned, "WITH TIME ZONE");
        }
        TypeBase::Timestamp(zoned) => {
            out.word("TIMESTAMP");
            modifiers(data_type, out);
            out.word_if(*zoned, "WITH TIME ZONE");
        }
        TypeBase::Interval(fields) => {
            out.word("INTERVAL");
            if let Some(fields) = fields {
                out.word(fields_words(*fields));
            }
            modifiers(data_type, out);
        }
        base => {
            base_name(base, out);
            modifiers(data_type, out);
        }
    }
}

fn modifiers(data_type: &TypeName, out: &mut Writer) {
    if !data_type.modifiers.is_empty() {
        out.arguments(&data_type.modifiers);
    }
}

fn base_name(base: &TypeBase, out: &mut Writer) {
    let word = match base {
        TypeBase::Named(name) => {
            out.node(name);
            return;
        }
        TypeBase::OfColumn(name) => {
            out.node(name).sign("%TYPE");
            return;
        }
        TypeBase::Boolean => "BOOLEAN",
        TypeBase::SmallInt => "SMALLINT",
        TypeBase::Integer => "INTEGER",
        TypeBase::BigInt => "BIGINT",
        TypeBase::Real => "REAL",
        TypeBase::DoublePrecision => "DOUBLE PRECISION",
        TypeBase::Numeric => "NUMERIC",
        TypeBase::Char => "CHAR",
        TypeBase::VarChar => "VARCHAR",
        TypeBase::Bit => "BIT",
        TypeBase::BitVarying => "BIT VARYING",
        TypeBase::Time(_) => "TIME",
        TypeBase::Timestamp(_) => "TIMESTAMP",
        TypeBase::Interval(_) => "INTERVAL",
    };
    out.word(word);
}

/// Writes a constant of a type. The fields of an INTERVAL stand behind its string.
pub(super) fn constant(data_type: &TypeName, value: &impl Print, out: &mut Writer) {
    match &data_type.base {
        TypeBase::Interval(Some(fields)) => {
            out.word("INTERVAL").node(value).word(fields_words(*fields));
            modifiers(data_type, out);
        }
        TypeBase::Named(name) => {
            function_name(name, out);
            modifiers(data_type, out);
            out.node(value);
        }
        _ => {
            unbounded(data_type, out);
            out.node(value);
        }
    }
}

/// The words of an interval's fields.
pub(super) fn fields_words(fields: IntervalFields) -> &'static str {
    match fields {
        IntervalFields::Year => "YEAR",
        IntervalFields::Month => "MONTH",
        IntervalFields::Day => "DAY",
        IntervalFields::Hour => "HOUR",
        IntervalFields::Minute => "MINUTE",
        IntervalFields::Second => "SECOND",
        IntervalFields::YearToMonth => "YEAR TO MONTH",
        IntervalFields::DayToHour => "DAY TO HOUR",
        IntervalFields::DayToMinute => "DAY TO MINUTE",
        IntervalFields::DayToSecond => "DAY TO SECOND",
        IntervalFields::HourToMinute => "HOUR TO MINUTE",
        IntervalFields::HourToSecond => "HOUR TO SECOND",
        IntervalFields::MinuteToSecond => "MINUTE TO SECOND",
    }
}
