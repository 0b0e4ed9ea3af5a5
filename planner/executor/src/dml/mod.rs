//! Writing: the logical nodes that the binder builds, and their operators.
//!
//! A batch of rows is checked and encoded by column and buffered with one call. Nothing reaches the store before
//! COMMIT. Uniqueness is checked at the statement's end: rows may exchange keys within one UPDATE.

mod check;
mod claims;
mod codec;
pub mod computed;
mod conflict;
mod copy_source;
mod lock_rows;
mod merge;
pub mod node;
mod operator;
mod planner;
mod recheck;
pub mod reference_queue;
mod references;
mod row_locks;
mod run;
mod update;

pub use check::{key_text, live_schema, unique_violation};
pub use codec::Arena;
pub use computed::{Computed, IndexExpressions, IndexWriter, RowComputer, Rules};
pub use conflict::ROW_NUMBER;
pub use copy_source::FeedNode;
pub use lock_rows::LockRowsExec;
pub use node::{
    DeleteNode, InsertNode, LockRowsNode, LockedTable, MergeAction, MergeAgain, MergeNode, OnConflict, RowWait,
    UpdateNode, conflict_schema, excluded, table_schema,
};
pub use operator::{DirectWrite, WriteExec};
pub use planner::DmlPlanner;
pub use references::{KeyChange, MIXED, Pending, dangling};
pub use row_locks::{patience, reads_newest};
pub use run::hold_table;
