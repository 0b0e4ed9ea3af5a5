//! [`Node`]: a regular expression as a tree, and the preferences of its parts.

use super::class::Set;

/// A condition on a position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    WordEdge,
    NotWordEdge,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Empty,
    /// One character of a set.
    Set(Set),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        /// Whether it prefers many repetitions. `None` for `{m}`, which has the preference of its operand.
        greedy: Option<bool>,
    },
    /// A capturing group with its number, from 1.
    Group(usize, Box<Node>),
    /// A back reference to a group's contents.
    Reference {
        group: usize,
        insensitive: bool,
    },
    Test(Test),
    Look {
        behind: bool,
        negative: bool,
        node: Box<Node>,
    },
}

/// Properties of a part of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    pub groups: bool,
    pub references: bool,
    pub looks: bool,
    /// Whether some part prefers long matches, and some part short ones.
    pub long: bool,
    pub short: bool,
}

impl Traits {
    fn and(self, other: Traits) -> Traits {
        Traits {
            groups: self.groups || other.groups,
            references: self.references || other.references,
            looks: self.looks || other.looks,
            long: self.long || other.long,
            short: self.short || other.short,
        }
    }
    /// Whether a match must be divided among the parts.
    pub(super) fn messy(self) -> bool {
        self.groups || self.references || (self.long && self.short)
    }
}

impl Node {
    /// The properties of all its parts.
    pub(super) fn traits(&self) -> Traits {
        let all = |nodes: &[Node]| nodes.iter().fold(Traits::default(), |all, node| all.and(node.traits()));
        match self {
            Node::Empty | Node::Set(_) | Node::Test(_) => Traits::default(),
            Node::Concat(nodes) => all(nodes),
            Node::Alternate(nodes) => Traits { long: true, ..all(nodes) },
            Node::Repeat { node, greedy, .. } => {
                let inner = node.traits();
                Traits {
                    long: inner.long || *greedy == Some(true),
                    short: inner.short || *greedy == Some(false),
                    ..inner
                }
            }
            Node::Group(_, node) => Traits { groups: true, ..node.traits() },
            Node::Reference { .. } => Traits { references: true, ..Traits::default() },
            Node::Look { .. } => Traits { looks: true, ..Traits::default() },
        }
    }

    /// Whether it prefers the longest match (true) or the shortest. `None` if it has no preference.
    pub(super) fn greedy(&self) -> Option<bool> {
        match self {
            Node::Empty | Node::Set(_) | Node::Test(_) | Node::Reference { .. } | Node::Look { .. } => None,
            Node::Concat(nodes) => nodes.iter().find_map(Node::greedy),
            Node::Alternate(_) => Some(true),
            Node::Repeat { node, greedy, .. } => greedy.or_else(|| node.greedy()),
            Node::Group(_, node) => node.greedy(),
        }
    }
}
