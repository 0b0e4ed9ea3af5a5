//! [`Members`]: a hash set of an array's elements, for many lookups. PostgreSQL hashes the array of `= ANY` likewise.

use catalog::encoding::KeyEncoder;
use datafusion::arrow::array::{Array, ArrayRef};
use sql_error::Result;
use sql_error::interrupt;
use std::collections::HashSet;
use types::array::ArrayValue;

/// Smaller arrays are searched linearly, as in PostgreSQL (`MIN_ARRAY_SIZE_FOR_HASHED_SAOP`).
const LEAST: usize = 9;

/// A hash set of an array's elements.
pub(super) struct Members {
    keys: HashSet<Vec<u8>>,
    has_null: bool,
}

impl Members {
    /// The hash set of the elements' keys. `None` for a small array.
    pub(super) fn of(encoder: &KeyEncoder, elements: &ArrayValue) -> Result<Option<Members>> {
        if elements.len() < LEAST {
            return Ok(None);
        }
        let mut members = Members { keys: HashSet::with_capacity(elements.len()), has_null: false };
        for at in 0..elements.len() {
            interrupt::step()?;
            if elements.is_null(at) {
                members.has_null = true;
                continue;
            }
            let mut key = Vec::new();
            encoder.encode_row(std::slice::from_ref(elements.elements()), at, &mut key)?;
            members.keys.insert(key);
        }
        Ok(Some(members))
    }

    /// Whether a value is an element. `None` if the answer is NULL.
    pub(super) fn has(&self, encoder: &KeyEncoder, values: &ArrayRef, at: usize) -> Result<Option<bool>> {
        interrupt::step()?;
        if values.is_null(at) {
            return Ok(None);
        }
        let mut key = Vec::new();
        encoder.encode_row(std::slice::from_ref(values), at, &mut key)?;
        Ok(match self.keys.contains(&key) {
            true => Some(true),
            false if self.has_null => None,
            false => Some(false),
        })
    }
}
