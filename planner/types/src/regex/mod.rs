//! PostgreSQL's regular expressions (manual, 9.7.3): their syntax, and the choice among several matches.
//!
//! A pattern is parsed to a tree ([`tree::Node`]). Whether and where a match starts does not depend on greediness. The
//! crate `regex` answers that, in time linear in the text. No crate has the rules for a match's end and its groups. The
//! whole match is the longest or the shortest from its start; within it, each part in turn is too. These are found by
//! simulating automata over the text ([`program`], [`dissect`]). Only this simulation handles look-around and back
//! references. A limit on steps bounds the time that back references may take.

mod basic;
mod class;
mod dissect;
mod matcher;
mod parse;
mod program;
mod translate;
mod tree;

pub use matcher::{Captures, Pattern, Span, Subject};
pub use parse::{Options, Syntax};
