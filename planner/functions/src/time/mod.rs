//! Operators and functions of dates, times, timestamps and intervals.

pub(super) mod compared;
mod extract;
mod extract_span;
mod field;
mod input;
mod make;
mod moment;
mod number;
mod number_template;
mod operator;
mod overlaps;
mod parse;
mod span;
pub(super) mod standard;
mod template;
mod to_char;
mod to_number;
mod truncate;
mod unit;
mod zone;

pub(super) use operator::{is_time, negate, operator};

use super::registry::ScalarFunction;

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [
        extract::functions(),
        extract_span::functions(),
        make::functions(),
        moment::functions(),
        overlaps::functions(),
        span::functions(),
        truncate::functions(),
        to_char::functions(),
        number::functions(),
        parse::functions(),
        to_number::functions(),
        zone::functions(),
    ]
    .concat()
}
