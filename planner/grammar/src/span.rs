//! [`Span`]: the place of a node in a client's text.

use std::hash::{Hash, Hasher};

/// The bytes of a text that a node was read from, half open. An empty span at 0 belongs to a node that was made.
///
/// All spans are equal to each other, and hash alike. So two trees are equal if they say the same, wherever they
/// stand. [`Span::is_at`] compares places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The span of a node that no text says.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The span from the start of this one to the end of another.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end.max(self.end) }
    }

    /// The smallest span with both.
    pub fn with(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether no text says the node.
    pub fn is_none(self) -> bool {
        self.start == self.end
    }

    /// Whether both are the same place.
    pub fn is_at(self, other: Span) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl Hash for Span {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
