//! What a run measured, shown: as a table, as JSON, as a page.

pub mod html;
pub mod json;
mod svg;
pub mod table;

/// Milliseconds of a histogram's microseconds.
pub fn ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}
