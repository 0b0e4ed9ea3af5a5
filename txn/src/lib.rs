//! Percolator transactions over the storage contract. Knows no SQL and no types.

pub mod error;
pub mod lock;
pub mod transaction;

pub use error::{Conflict, ConflictKind, Result, TxnError};
pub use lock::LockStrength;
pub use transaction::*;
