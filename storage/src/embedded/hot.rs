//! [`Hot`]: what is kept in memory of rows that were read lately, one by one and by ranges.

use super::dead_runs::DeadRuns;
use super::hot_ranges::HotRanges;
use super::hot_rows::HotRows;
use super::options::EmbeddedOptions;
use crate::committer::Change;
use std::sync::Arc;

/// See the head of the module.
pub struct Hot {
    /// Rows that were asked for by their keys.
    pub rows: HotRows,
    /// Short ranges.
    pub ranges: HotRanges,
    /// Long runs of deleted rows.
    pub dead: Arc<DeadRuns>,
}

impl Hot {
    /// Nothing yet, and room as the options say.
    pub fn new(options: &EmbeddedOptions) -> Hot {
        Hot {
            rows: HotRows::new(options.hot_row_bytes),
            ranges: HotRanges::new(options.hot_range_bytes),
            dead: Arc::default(),
        }
    }

    /// The database has these changes, and nobody was told of them yet.
    pub fn changed(&self, changes: &[Change]) {
        self.rows.changed(changes);
        self.ranges.changed(changes);
        self.dead.changed(changes);
    }

    /// The database took in cells of rows between these keys, both included, beside the committer.
    pub fn loaded(&self, first: &[u8], last: &[u8]) {
        self.rows.loaded(first, last);
        self.ranges.loaded(first, last);
        self.dead.loaded(first, last);
    }
}
