//! SQL: PostgreSQL's semantics on DataFusion's execution. Knows no sockets and no lock records.

pub mod bind;
pub mod ddl;
pub mod execution;
pub mod explain;
pub mod pg_catalog;
pub mod plan;
pub mod session;
pub mod statistics;

pub use catalog;
pub use catalog::encoding;
pub use context::large_object;
pub use error::{Result, SqlError, state};
pub use functions;
pub use settings;
pub use sql_error as error;
pub use sql_error::{interrupt, value_size};
pub use syntax as parse;
pub use types;
pub use types::object_name_type;
