//! The explorer: runs the real protocol over the real committer in every order of its steps, up
//! to a number of departures from the default order, and with a crash at every step, and checks
//! each run's history. Nothing here knows how the protocol works.
//!
//! A step is one poll of one actor: a transaction's script, a task that it spawned, or a request
//! on its way to the store. Requests are actors of their own, so that they arrive at any time,
//! even after whoever sent them has died.

mod checks;
mod scenarios;
mod scheduler;
mod stepping_store;
