//! The store: rows of timestamped cells, in tablets. It knows neither transactions nor SQL.
//!
//! - [`contract`]: the vocabulary of every engine: [`Store`], and [`AtomicCommit`] of [`atomic`] for engines with one
//!   log for all rows.
//! - [`committer`]: the path of every change on such an engine: validate, stamp, log, publish, answer.
//! - [`embedded`]: the engine of one machine, over RocksDB.
//! - [`bigtable`]: the engine of many nodes, over Google Cloud Bigtable.
//! - `testing` (a feature, for tests): the engine in memory, a simulated environment, the contract suite, faults.
//! - [`mod@env`]: clock, randomness, spawning.
//!
//! The caller hands the store its source of commit timestamps when it opens the store. The store itself registers
//! readers and their timestamps ([`AtomicCommit::snapshot`]).

pub mod atomic;
pub mod bigtable;
pub mod bulk;
pub mod committer;
pub mod contract;
pub mod embedded;
pub mod env;
pub mod error;
pub mod packed;
pub mod packed_bytes;
mod snapshot_guard;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timestamp;

pub use bigtable::{BigtableAddress, BigtableOptions, BigtableStore};
pub use bulk::CellBlock;
pub use contract::*;
pub use embedded::{EmbeddedOptions, EmbeddedStore};
pub use env::{BoxFuture, Env, EnvRef, SystemEnv};
pub use error::{Result, StoreError};
pub use packed::PackedRows;
pub use packed_bytes::Strings;
pub use timestamp::{Timestamp, TimestampSource};
