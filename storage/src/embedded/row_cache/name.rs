//! [`Name`]: the cache key of a row or of a leaf.

use quick_cache::Equivalent;
use std::hash::{Hash, Hasher};

/// The cache key: the key of a row, or the prefix of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Name<'n> {
    /// The row's key or the leaf's prefix.
    pub bytes: &'n [u8],
    /// Whether this names a leaf.
    pub leaf: bool,
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// An owned [`Name`], as the cache stores it.
#[derive(Debug)]
pub struct OwnName {
    /// The row's key or the leaf's prefix.
    pub bytes: Box<[u8]>,
    /// Whether this names a leaf.
    pub leaf: bool,
}

impl OwnName {
    /// The borrowed name, for look-ups.
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
    /// The name of the row with this key.
    pub fn row(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: false }
    }

    /// The name of the leaf with this prefix.
    pub fn leaf(bytes: &'n [u8]) -> Name<'n> {
        Name { bytes, leaf: true }
    }

    /// An owned copy, which does not keep the larger buffer of a key alive.
    pub fn own(self) -> OwnName {
        OwnName { bytes: self.bytes.into(), leaf: self.leaf }
    }
}
