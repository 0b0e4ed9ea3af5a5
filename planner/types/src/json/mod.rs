//! JSON: reading it, the one form that jsonb keeps, and jsonb's order.
//!
//! A json is its text. A jsonb is text too, in one form: keys once, sorted by length, then bytes; numbers as numerics
//! print; one space behind `,` and `:`. So what is inside a jsonb is a piece of its text. [`key`] makes bytes of a jsonb
//! whose order is PostgreSQL's and which are equal for equal values (1.0 and 1.00).

mod key;
mod parse;
mod write;

pub use key::key;
pub use parse::{Node, Value, check, parse};
pub use write::{array, canonical, number, object, quote, storable, to_jsonb};
