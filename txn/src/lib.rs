//! Percolator transactions over the storage contract. Knows no SQL and no types.

pub(crate) mod backoff;
pub(crate) mod buffer;
pub(crate) mod commit;
pub mod data;
pub mod error;
pub mod failpoint;
pub(crate) mod gc;
pub(crate) mod generator;
pub(crate) mod intents;
pub mod lock;
pub mod oracle;
pub(crate) mod prewrite;
pub(crate) mod resolver;
pub(crate) mod rollback;
pub(crate) mod scan;
pub(crate) mod snapshot;
pub(crate) mod sorted_run;
pub mod store;
pub(crate) mod system;
pub mod transaction;
pub mod write;

pub use error::{Conflict, ConflictKind, Result, TxnError};
pub use failpoint::{FailAction, FailPoints};
pub use lock::LockStrength;
pub use oracle::{Oracle, OracleReading};
pub use store::{Outcome, TransactionStore, TransactionStoreOptions};
pub use transaction::*;

#[cfg(test)]
mod tests;
