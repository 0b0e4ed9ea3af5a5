//! Running plans: DataFusion's operators, and our own leaves and writers.

pub mod dml;
pub mod slots;

pub use slots::{Slots, StatementContext};
