//! [`Node`]: a regular expression as a tree, and which matches its parts prefer.

use super::class::Set;

/// A place in a text that a pattern asks for.
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
    /// One character.
    Set(Set),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        /// Whether it prefers many; of `{m}`, which leaves that to what is repeated, nothing.
        greedy: Option<bool>,
    },
    /// Parentheses with a number, from 1.
    Group(usize, Box<Node>),
    /// What a group holds, once more.
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

/// What a part of a pattern contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    pub groups: bool,
    pub references: bool,
    pub looks: bool,
    /// Parts that prefer long, and short matches.
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
    /// Whether its parts must be told apart within a match.
    pub(super) fn messy(self) -> bool {
        self.groups || self.references || (self.long && self.short)
    }
}

impl Node {
    /// What it contains.
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

    /// Whether it prefers the longest match, the shortest, or none over another.
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
