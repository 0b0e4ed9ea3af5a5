//! A tree in the syntax of the crate `regex`, where it has no parts that the crate does not know.

use super::tree::{Node, Test};
use regex::{Regex, RegexBuilder};

/// Largest automaton that the crate may build.
const SIZE: usize = 64 << 20;

/// A regular expression that matches where the tree does; `None` where the crate cannot say.
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
            // The crate's words are not quite ours.
            Test::WordStart | Test::WordEnd | Test::WordEdge | Test::NotWordEdge => return None,
        }),
        Node::Reference { .. } | Node::Look { .. } => return None,
    }
    Some(())
}
