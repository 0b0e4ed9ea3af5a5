//! JSON: reading it, the one form that jsonb keeps, and jsonb's order.
//!
//! A json is its text. A jsonb is text in one canonical form. Keys occur once, sorted by length, then by bytes. Numbers
//! print as numerics do. One space follows `,` and `:`. So each part of a jsonb is a substring of its text. [`mod@key`]
//! gives a jsonb's sort key: its byte order is PostgreSQL's order, and equal values (1.0 and 1.00) have equal keys.

mod key;
mod parse;
mod write;

pub use key::key;
pub use parse::{Node, Value, check, parse};
pub use write::{array, canonical, number, object, quote, storable, to_jsonb};
