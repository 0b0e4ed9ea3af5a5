//! [`KeptPlan`]: the INSERT of a session's last COPY FROM STDIN, so that the next COPY into the same columns does not plan it again.
//! Clients that copy a few rows at a time would plan longer than they write.

use crate::execution::dml::FeedNode;
use crate::execution::slots::StatementContext;
use crate::plan::PlanInstance;
use crate::session::query::Surroundings;
use crate::types::SqlType;

/// All that the plan depends on.
#[derive(Debug, PartialEq)]
pub struct CopyKey {
    text: String,
    types: Vec<SqlType>,
    /// Version of the catalog.
    catalog: u64,
    surroundings: Surroundings,
}

impl CopyKey {
    /// Of an INSERT of values of these types.
    pub fn new(text: String, types: Vec<SqlType>, context: &StatementContext) -> CopyKey {
        let surroundings = Surroundings::new(&context.catalog, &context.settings);
        CopyKey { text, types, catalog: context.catalog.version(), surroundings }
    }
}

/// See the head of the module.
pub struct KeptPlan {
    /// What it depends on.
    pub key: CopyKey,
    /// The plan, which does not run.
    pub instance: PlanInstance,
    /// Where its rows come from.
    pub feed: FeedNode,
}
