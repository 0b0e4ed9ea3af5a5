//! Tests of whole transactions, on both commit paths.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod ahead;
mod basic;
pub(crate) mod bench;
mod bigtable;
mod bulk_commit;
mod by_row;
mod chaos;
mod definitions;
mod early;
mod election;
mod embedded;
mod explorer;
mod gc_by_row;
mod giving_way;
pub(crate) mod harness;
pub(crate) mod hooked;
mod kept_locks;
pub(crate) mod nodes;
mod oracle;
mod ordered;
mod paths;
mod pitfalls;
mod row_locks;
mod scripts;
mod serializable;
mod status;
