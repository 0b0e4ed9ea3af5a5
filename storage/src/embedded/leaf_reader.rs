//! Reads a [`Leaf`] from the database after one of its rows was missed.

use super::iterator_pool::KeptCursors;
use super::maintenance;
use super::newest::{Course, End, Newest};
use super::row_cache::block::{Leaf, MOST_ROWS};
use super::row_cache::{HotRows, Missed};
use crate::contract::{RowRange, TimestampRange};
use crate::error::Result;
use bytes::Bytes;

/// Reads all rows whose keys begin with `prefix` and caches them in `hot`, if `hot` wants them. The missed row's
/// value has `bytes` bytes. Errors: those of the database.
pub fn read(cursors: &KeptCursors, hot: &HotRows, missed: Missed, prefix: &[u8], bytes: usize) -> Result<()> {
    if !hot.wants_leaf(missed, prefix, bytes) {
        return Ok(());
    }
    let bounds = maintenance::bounds(&RowRange::prefix(Bytes::copy_from_slice(prefix)));
    let mut newest = Newest::default();
    // One row more than a leaf holds tells that the rows form no leaf.
    let most = MOST_ROWS + 1;
    newest.begin(most);
    let end = cursors.range(|iterator| {
        iterator.seek(&bounds.lower);
        newest.collect(Course { iterator, within: Some(&bounds), range: TimestampRange::ALL, dead: None }, most)
    })?;
    let leaf = (end == End::Scan).then(|| Leaf::of(prefix, &newest.rows())).flatten();
    hot.keep_leaf(missed, prefix, leaf);
    Ok(())
}
