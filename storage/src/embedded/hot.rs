//! [`Hot`]: the caches of recently read rows, by key and by range.

use super::dead_runs::DeadRuns;
use super::options::EmbeddedOptions;
use super::range_cache::HotRanges;
use super::row_cache::HotRows;
use crate::committer::Change;
use std::sync::Arc;

/// The caches of recently read rows, and the known runs of deleted rows.
pub struct Hot {
    /// The newest cells of rows that were read by key.
    pub rows: HotRows,
    /// The newest cells of short ranges.
    pub ranges: HotRanges,
    /// Long runs of deleted rows, which scans skip.
    pub dead: Arc<DeadRuns>,
}

impl Hot {
    /// Empty caches of the sizes in `options`.
    pub fn new(options: &EmbeddedOptions) -> Hot {
        Hot {
            rows: HotRows::new(options.hot_row_bytes),
            ranges: HotRanges::new(options.hot_range_bytes),
            dead: Arc::default(),
        }
    }

    /// Applies changes that are in the database and not published yet.
    pub fn changed(&self, changes: &[Change]) {
        self.rows.changed(changes);
        self.ranges.changed(changes);
        self.dead.changed(changes);
    }

    /// Notes that the database ingested rows between these keys, both included.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        self.rows.loaded(first, last);
        self.ranges.loaded(first, last);
        self.dead.loaded(first, last);
    }
}
