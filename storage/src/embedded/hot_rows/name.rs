//! [`Name`]: by which a row or a leaf is found among those that are kept.

use quick_cache::Equivalent;
use std::hash::{Hash, Hasher};

/// By which something is kept: a row by its key, a leaf by what its keys begin with.
#[derive(Clone, Copy, Debug)]
pub struct Name<'n> {
    /// Of the key.
    pub bytes: &'n [u8],
    /// Whether it is a leaf.
    pub leaf: bool,
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// The same, kept.
#[derive(Debug)]
pub struct OwnName {
    /// Of the key.
    pub bytes: Box<[u8]>,
    /// Whether it is a leaf.
    pub leaf: bool,
}

impl OwnName {
    /// As it is asked for.
    pub fn name(&self) -> Name<'_> {
        Name { bytes: &self.bytes, leaf: self.leaf }
    }
}

impl Hash for OwnName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl PartialEq for OwnName {
    fn eq(&self, other: &OwnName) -> bool {
        self.leaf == other.leaf && self.bytes == other.bytes
    }
}

impl Eq for OwnName {}

impl Equivalent<OwnName> for Name<'_> {
    fn equivalent(&self, own: &OwnName) -> bool {
        self.leaf == own.leaf && *self.bytes == *own.bytes
    }
}

impl<'n> Name<'n> {
    /// Of a row, by its key.
    pub fn row(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: false }
    }

    /// Of a leaf, by what its keys begin with.
    pub fn leaf(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: true }
    }

    /// A copy: the one at hand may be part of a larger piece of memory.
    pub fn own(self) -> OwnName {
        OwnName { bytes: self.bytes.into(), leaf: self.leaf }
    }
}
