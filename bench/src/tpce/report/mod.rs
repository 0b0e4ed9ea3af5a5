//! The measurements of a run as a table, as JSON and as a page.

pub mod html;
pub mod json;
mod svg;
pub mod table;

/// Converts a histogram's microseconds to milliseconds.
pub fn ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}
