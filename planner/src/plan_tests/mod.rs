//! Tests of plans over a store in memory.

mod correlated;
mod repeated;
pub mod testing;
