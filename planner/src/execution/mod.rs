//! Running plans: DataFusion's operators, and our own leaves and writers.

pub mod dml;
pub mod extension;
pub mod leaf;
pub mod limit;
pub mod slot_function;
pub mod slots;
pub mod values;

pub use slots::{Slots, StatementContext};
