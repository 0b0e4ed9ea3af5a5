//! A brokerage under load, TPC-E-style: customers send orders and questions, a market executes the orders. Schema, numbers and
//! behaviour follow the public description; names, texts and code are ours. Its figure is trade-results per second, not comparable with
//! published results.

pub mod calendar;
pub mod cleanup;
pub mod load;
pub mod population;
pub mod scale;
pub mod schema;
pub mod setting;
pub mod words;
