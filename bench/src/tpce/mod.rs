//! A brokerage under load in the style of TPC-E: customers send orders and queries, and a market executes the orders.
//! Schema, numbers and behaviour follow the public description; names, texts and code are our own. The figure is
//! trade-results per second. It is not comparable with published results.

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
