//! Writing: the logical nodes that the binder builds and the operators behind them. Must not know SQL text.

pub mod node;

pub use node::{DeleteNode, InsertNode, LockRowsNode, OnConflict, UpdateNode, conflict_schema, table_schema};
