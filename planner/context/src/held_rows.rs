//! [`HeldRows`]: what the parts of a statement with data-modifying WITH leave for each other.

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use parking_lot::Mutex;
use sql_error::{Result, SqlError};
use std::collections::{HashMap, HashSet};

/// What one execution of a statement holds for its parts.
#[derive(Default)]
pub struct HeldRows {
    returned: Mutex<HashMap<usize, Vec<RecordBatch>>>,
    /// Keys of rows written by any part; None when no two parts write one table.
    written: Mutex<Option<HashSet<Bytes>>>,
}

impl HeldRows {
    /// Two parts write one table: which rows are written is remembered from now on.
    pub fn remember_written(&self) {
        *self.written.lock() = Some(HashSet::new());
    }
    /// Whether it is remembered which rows are written.
    pub fn remembers_written(&self) -> bool {
        self.written.lock().is_some()
    }
    /// Notes that a row is written; false when it was before. Always true when nothing is remembered.
    pub fn note_written(&self, key: &Bytes) -> bool {
        self.written.lock().as_mut().is_none_or(|written| written.insert(key.clone()))
    }
    /// Keeps the rows that a part has returned.
    pub fn put(&self, part: usize, batches: Vec<RecordBatch>) {
        self.returned.lock().insert(part, batches);
    }
    /// The rows that a part has returned. Errors: XX000 before it ran.
    pub fn get(&self, part: usize) -> Result<Vec<RecordBatch>> {
        let returned = self.returned.lock();
        returned.get(&part).cloned().ok_or_else(|| SqlError::internal("a part of a statement has not run yet"))
    }
}
