//! The walk through INSERT, UPDATE, DELETE and MERGE.

use super::{fields, variants};
use crate::tree::{
    Assignment, ColumnTarget, ConflictTarget, ConflictUpdate, Delete, IndexKey, Insert, Merge, MergeAction,
    MergeClause, OnConflict, Update,
};

fields! {
    Insert => [with, table, columns, source, conflict, returning];
    ColumnTarget => [steps];
    OnConflict => [target, update];
    ConflictUpdate => [assignments, filter];
    IndexKey => [value];
    Update => [with, table, assignments, from, filter, returning];
    Delete => [with, table, using, filter, returning];
    Merge => [with, table, source, on, clauses];
    MergeClause => [condition, action];
}

variants! {
    ConflictTarget;
    ConflictTarget::Constraint(_) => [],
    ConflictTarget::Index { keys, predicate } => [keys, predicate],
}

variants! {
    Assignment;
    Assignment::One(target, value) => [target, value],
    Assignment::Several(targets, value) => [targets, value],
}

variants! {
    MergeAction;
    MergeAction::Nothing | MergeAction::Delete => [],
    MergeAction::Update(assignments) => [assignments],
    MergeAction::Insert { columns, values, .. } => [columns, values],
}
