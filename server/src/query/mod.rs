//! Statements over the wire: the simple and the extended protocol, prepared statements and portals, rows,
//! and running again what conflicted.

pub mod extended;
pub mod function_call;
pub mod portal;
pub mod retry;
pub mod rows;
pub mod simple;
pub mod statements;
