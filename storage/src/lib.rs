//! The store: rows of timestamped cells, in tablets. Knows no transactions, no locks, no SQL.
//!
//! - [`contract`]: the vocabulary that every engine honours: [`Store`], and [`atomic`]'s [`AtomicCommit`] where one log
//!   holds every row.
//! - [`committer`]: the path of every change, whatever the engine: validate, stamp, log, publish, answer.
//! - [`embedded`]: the engine of one machine, over RocksDB.
//! - [`bigtable`]: the engine of many nodes, over Google Cloud Bigtable.
//! - [`testing`]: the engine in memory, a simulated environment, the contract suite, faults.
//! - [`env`]: clock, randomness, spawning.
//!
//! What the store needs from above, the source of commit timestamps, is handed to it when it is
//! opened; who reads at which timestamp it registers itself ([`AtomicCommit::snapshot`]).

pub mod atomic;
pub mod bigtable;
pub mod bulk;
pub mod committer;
pub mod contract;
pub mod embedded;
pub mod env;
pub mod error;
pub mod packed;
mod snapshot_guard;
pub mod strings;
pub mod testing;
pub mod timestamp;

pub use bigtable::{BigtableAddress, BigtableOptions, BigtableStore};
pub use bulk::CellBlock;
pub use contract::*;
pub use embedded::{EmbeddedOptions, EmbeddedStore};
pub use env::{BoxFuture, Env, EnvRef, SystemEnv};
pub use error::{Result, StoreError};
pub use packed::PackedRows;
pub use strings::Strings;
pub use timestamp::{Timestamp, TimestampSource};
