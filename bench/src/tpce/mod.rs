//! A brokerage under load, TPC-E-style: customers send orders and questions, a market executes the orders. Schema, numbers and
//! behaviour follow the public description; names, texts and code are ours. Its figure is trade-results per second, not comparable with
//! published results.

pub mod calendar;
pub mod check;
pub mod cleanup;
pub mod client;
pub mod compare;
pub mod inputs;
pub mod ledger;
pub mod load;
pub mod market;
pub mod population;
pub mod report;
pub mod run;
pub mod scale;
pub mod schema;
pub mod setting;
pub mod tally;
pub mod transactions;
pub mod words;
