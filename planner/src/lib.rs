//! SQL: PostgreSQL's semantics on DataFusion's execution. Knows no sockets and no lock records.

pub mod bind;
pub mod ddl;
pub mod explain;
pub mod pg_catalog;
#[cfg(test)]
#[allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod plan_tests;
pub mod session;

pub use catalog;
pub use catalog::encoding;
pub use context::large_object;
pub use error::{Result, SqlError, state};
pub use executor as execution;
pub use executor::statistics;
pub use functions;
pub use optimizer as plan;
pub use settings;
pub use sql_error as error;
pub use sql_error::{interrupt, value_size};
pub use syntax as parse;
pub use types;
pub use types::object_name_type;
