//! [`Group`]: the changes of the requests admitted so far and not yet written. Later requests of the same group
//! are validated over them.

use super::{Change, VersionReader};
use crate::contract::{Family, TimestampRange};
use crate::error::Result;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};

/// The unwritten changes of a group of requests.
#[derive(Default)]
pub struct Group {
    changes: Vec<Change>,
    max_timestamp: Timestamp,
    /// Positions in `changes[..indexed]` by row key. Built on first use.
    by_key: HashMap<Bytes, Vec<usize>>,
    /// Positions in `changes` of range removals.
    ranges: Vec<usize>,
    indexed: usize,
}

impl Group {
    /// Appends a change, which applies after the earlier ones.
    pub fn push(&mut self, change: Change) {
        if let Change::Set { timestamp, .. } = &change {
            self.max_timestamp = self.max_timestamp.max(*timestamp);
        }
        self.changes.push(change);
    }

    /// Whether the group has no change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes in the order in which they apply.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The greatest timestamp of any cell that the group sets.
    pub fn max_timestamp(&self) -> Timestamp {
        self.max_timestamp
    }

    /// Does what [`VersionReader::versions`] will do once the group is written.
    pub fn versions<R: VersionReader>(
        &mut self,
        reader: &mut R,
        key: &Bytes,
        family: Family,
        range: TimestampRange,
        visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
    ) -> Result<()> {
        self.index();
        let mut positions: Vec<usize> = self.by_key.get(key).cloned().unwrap_or_default();
        positions.extend_from_slice(&self.ranges);
        if positions.is_empty() {
            return reader.versions(key, family, range, visit);
        }
        positions.sort_unstable();
        let mut cells: BTreeMap<Timestamp, Bytes> = BTreeMap::new();
        reader.versions(key, family, range, &mut |timestamp, value| {
            cells.insert(timestamp, Bytes::copy_from_slice(value));
            true
        })?;
        for change in positions.into_iter().filter_map(|position| self.changes.get(position)) {
            match change {
                Change::Set { family: of, timestamp, value, .. } if *of == family && range.contains(*timestamp) => {
                    cells.insert(*timestamp, value.clone());
                }
                Change::Remove { family: of, timestamp, .. } if *of == family => {
                    cells.remove(timestamp);
                }
                Change::RemoveRange(rows) if rows.contains(key) => cells.clear(),
                _ => {}
            }
        }
        for (timestamp, value) in cells.iter().rev() {
            if !visit(*timestamp, value) {
                break;
            }
        }
        Ok(())
    }

    fn index(&mut self) {
        for (position, change) in self.changes.iter().enumerate().skip(self.indexed) {
            match change {
                Change::Set { key, .. } | Change::Remove { key, .. } => {
                    self.by_key.entry(key.clone()).or_default().push(position);
                }
                Change::RemoveRange(_) => self.ranges.push(position),
            }
        }
        self.indexed = self.changes.len();
    }
}
