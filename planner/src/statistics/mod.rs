//! What is known of tables' rows: gathered by ANALYZE (`gather`, `sample`, `values`) or by the server itself (`automatic`), asked when a
//! statement is planned (`selectivity`). Hints only.

pub mod automatic;
pub mod gather;
mod sample;
pub mod selectivity;
mod values;
