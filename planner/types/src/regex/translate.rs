//! Translates a tree to the syntax of the crate `regex`, if the crate knows all of its parts.

use super::tree::{Node, Test};
use regex::{Regex, RegexBuilder};

/// Largest automaton that the crate may build, in bytes.
const SIZE: usize = 64 << 20;

/// A regular expression with the same matches as the tree. `None` if the crate cannot express it.
pub(super) fn regex(node: &Node) -> Option<Regex> {
    let mut out = String::new();
    write(node, &mut out)?;
    RegexBuilder::new(&out).size_limit(SIZE).dfa_size_limit(SIZE).build().ok()
}

fn write(node: &Node, out: &mut String) -> Option<()> {
    match node {
        Node::Empty => {}
        Node::Set(set) => out.push_str(&set.translated()),
        Node::Concat(nodes) => {
            for node in nodes {
                write(node, out)?;
            }
        }
        Node::Alternate(nodes) => {
            out.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                if at > 0 {
                    out.push('|');
                }
                write(node, out)?;
            }
            out.push(')');
        }
        Node::Repeat { node, min, max, .. } => {
            out.push_str("(?:");
            write(node, out)?;
            match max {
                Some(max) => out.push_str(&format!("){{{min},{max}}}")),
                None => out.push_str(&format!("){{{min},}}")),
            }
        }
        Node::Group(_, node) => {
            out.push_str("(?:");
            write(node, out)?;
            out.push(')');
        }
        Node::Test(test) => out.push_str(match test {
            Test::TextStart => "\\A",
            Test::TextEnd => "\\z",
            Test::LineStart => "(?m:^)",
            Test::LineEnd => "(?m:$)",
            // The crate defines words differently.
            Test::WordStart | Test::WordEnd | Test::WordEdge | Test::NotWordEdge => return None,
        }),
        Node::Reference { .. } | Node::Look { .. } => return None,
    }
    Some(())
}
