//! Regular expressions as PostgreSQL means them (manual, 9.7.3): its syntax, and which of several matches is meant.
//!
//! A pattern is read into a tree ([`tree::Node`]). Whether and where a match begins does not depend on greediness, so the
//! crate `regex` answers that, in time linear in the text. How far a match reaches and what its groups hold is found by
//! rules that no crate has (the whole match is the longest or the shortest from its start, then each part in turn is, within
//! it), by simulating automata over the text ([`program`], [`dissect`]). Look-around and back references are only known
//! there; a count of steps bounds the time that back references may take.

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
