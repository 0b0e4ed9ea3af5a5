//! [`Changes`]: how many rows were written to a table since its statistics were gathered, by this server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count that all versions of a table's descriptor share. Equal to any other: it describes nothing.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<AtomicU64>);

impl Changes {
    /// So many rows more. Those that are rolled back count too.
    pub fn add(&self, rows: u64) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    /// Forgets so many.
    pub fn forget(&self, rows: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| Some(count.saturating_sub(rows)));
    }
}

impl PartialEq for Changes {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
