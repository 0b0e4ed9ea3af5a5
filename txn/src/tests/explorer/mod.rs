//! The explorer runs the real protocol over the real committer in many orders of its steps, and checks each run's
//! history. It tries every order up to a number of departures from the default one, with a crash at every step. It
//! knows nothing of how the protocol works.
//!
//! A step is one poll of one actor. Actors are a transaction's script, a task that it spawned, or a request on its
//! way to the store. So a request may arrive at any time, even after its sender has died.

mod checks;
mod scenarios;
mod scheduler;
mod stepping_store;
