//! SQL: PostgreSQL's semantics on DataFusion's execution. Knows no sockets and no lock records.

pub mod bind;
pub mod catalog;
pub mod ddl;
pub mod encoding;
pub mod error;
pub mod execution;
pub mod explain;
pub mod functions;
pub mod interrupt;
pub mod large_object;
pub mod parse;
pub mod pg_catalog;
pub mod plan;
pub mod session;
pub mod statistics;
#[cfg(test)]
mod test_store;
pub mod types;
pub mod value_size;

pub use error::{Result, SqlError, state};
