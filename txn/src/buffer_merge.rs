//! The sorted sources of a buffer, and the order in which their entries are visited.

use crate::buffer::{Sent, Version};
use crate::error::Result;
use bytes::Bytes;
use std::cmp::Ordering;

pub(crate) type Entries<'a> = Box<dyn Iterator<Item = Result<(Bytes, Vec<Version>)>> + 'a>;

/// A sorted source of the merge.
pub(crate) struct Source<'a> {
    entries: Entries<'a>,
    pub(crate) sent: Sent,
}

/// The next entry of a source. The greatest is the one to visit next: of equal keys that of the oldest source.
pub(crate) struct Head {
    pub(crate) key: Bytes,
    pub(crate) versions: Vec<Version>,
    /// The number of the source.
    pub(crate) number: usize,
    reverse: bool,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        let keys = self.key.cmp(&other.key);
        let keys = if self.reverse { keys } else { keys.reverse() };
        keys.then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

impl<'a> Source<'a> {
    /// A source of entries in the order of the merge.
    pub(crate) fn new(entries: Entries<'a>, sent: Sent) -> Self {
        Source { entries, sent }
    }

    /// Takes the next entry of this source, which has this number.
    pub(crate) fn head(&mut self, number: usize, reverse: bool) -> Result<Option<Head>> {
        let next = self.entries.next().transpose()?;
        Ok(next.map(|(key, versions)| Head { key, versions, number, reverse }))
    }
}
