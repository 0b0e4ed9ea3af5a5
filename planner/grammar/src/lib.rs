//! PostgreSQL's grammar (version 15): from text to [`tree`] and back.
//!
//! [`parse`] reads a text of statements, [`Parser`] reads parts of one, [`print`](mod@print) writes a tree as text, and
//! [`visit`] walks through one.
//! The crate knows the grammar alone: no names, no types, no session. Depth is handled: where a tree is deep, the
//! stack grows.

pub mod error;
pub mod keyword;
pub mod lexer;
pub mod parser;
pub mod print;
pub mod span;
mod stack;
mod strings;
pub mod token;
pub mod tree;
pub mod visit;

pub use error::{Result, SyntaxError};
pub use parser::{Parsed, Parser, parse};
pub use span::Span;
pub use stack::deeper;
