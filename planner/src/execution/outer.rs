//! [`OuterValues`]: the columns of the row for which a correlated subquery runs.

use crate::error::{Result, SqlError};
use crate::types::Datum;
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The values of one outer row, read by the subquery's slots.
#[derive(Debug, Default)]
pub struct OuterValues {
    values: RwLock<Vec<Datum>>,
}

impl OuterValues {
    /// Empty: no row yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Moves on to another row.
    pub fn set(&self, values: Vec<Datum>) {
        *self.values.write() = values;
    }

    /// The value at a position.
    pub fn get(&self, position: usize) -> Result<Datum> {
        let values = self.values.read();
        values.get(position).cloned().ok_or_else(|| SqlError::internal("a subquery ran without its outer row"))
    }
}

/// A number that no other placeholder of an outer column has.
pub fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
