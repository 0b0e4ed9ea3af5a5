//! The store: rows of timestamped cells, in tablets. Knows no transactions, no locks, no SQL.
//!
//! - [`contract`]: the vocabulary that every engine honours.
//! - [`env`]: clock, randomness, spawning.

pub mod contract;
pub mod env;
pub mod error;
pub mod timestamp;

pub use contract::*;
pub use env::{BoxFuture, Env, EnvRef};
pub use error::{Result, StoreError};
pub use timestamp::{Timestamp, TimestampSource};
