//! Statistics of tables. ANALYZE (`gather`, `sample`, `values`) or the server itself (`automatic`) gathers them. The
//! planner uses them (`selectivity`) as hints only.

pub mod automatic;
pub mod gather;
mod sample;
pub mod selectivity;
mod values;
