//! PostgreSQL's grammar (version 15): from text to [`tree`] and back.
//!
//! [`parse`] reads a text of statements, [`Parser`] reads parts of one, and [`print`](mod@print) writes a tree as text.
//! The crate knows the grammar alone: no names, no types, no session. Depth is handled: where a tree is deep, the
//! stack grows.

pub mod error;
pub mod keyword;
pub mod lexer;
pub mod parser;
pub mod print;
pub mod span;
mod strings;
pub mod token;
pub mod tree;

pub use error::{Result, SyntaxError};
pub use parser::{Parsed, Parser, parse};
pub use span::Span;
