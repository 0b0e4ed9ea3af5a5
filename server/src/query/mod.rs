//! Statements of the simple and the extended protocol: prepared statements and portals, rows, and the repeated run
//! after a conflict.

pub mod extended;
pub mod function_call;
pub mod portal;
pub mod retry;
pub mod rows;
pub mod simple;
pub mod statements;
