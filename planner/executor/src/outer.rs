//! [`OuterValues`]: the columns of the outer row for which a correlated subquery runs.

use parking_lot::RwLock;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use types::Datum;

/// The values of one outer row, which the subquery's slots read.
#[derive(Debug, Default)]
pub struct OuterValues {
    values: RwLock<Vec<Datum>>,
}

impl OuterValues {
    /// Starts without a row.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Sets the values of the next outer row.
    pub fn set(&self, values: Vec<Datum>) {
        *self.values.write() = values;
    }

    /// The value at a position. Errors: XX000 if there is none.
    pub fn get(&self, position: usize) -> Result<Datum> {
        let values = self.values.read();
        values.get(position).cloned().ok_or_else(|| SqlError::internal("a subquery ran without its outer row"))
    }
}

/// A number that is unique among placeholders of outer columns.
pub fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
