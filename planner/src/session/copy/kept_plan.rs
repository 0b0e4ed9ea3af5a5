//! [`KeptPlan`]: the cached INSERT of a session's last COPY FROM STDIN. The next COPY into the same columns reuses it.
//! Without it, clients that copy a few rows at a time would plan longer than they write.

use crate::execution::dml::FeedNode;
use crate::execution::slots::StatementContext;
use crate::plan::PlanInstance;
use crate::session::query::Surroundings;
use crate::types::SqlType;

/// The key of the cached plan: all that it depends on.
#[derive(Debug, PartialEq)]
pub struct CopyKey {
    text: String,
    types: Vec<SqlType>,
    /// The version of the catalog.
    catalog: u64,
    surroundings: Surroundings,
}

impl CopyKey {
    /// The key of an INSERT whose values have these types.
    pub fn new(text: String, types: Vec<SqlType>, context: &StatementContext) -> CopyKey {
        let surroundings = Surroundings::new(&context.catalog, &context.settings);
        CopyKey { text, types, catalog: context.catalog.version(), surroundings }
    }
}

/// The cached INSERT of a session.
pub struct KeptPlan {
    /// The statement, types and catalog version of the plan.
    pub key: CopyKey,
    /// The plan instance, which is not running.
    pub instance: PlanInstance,
    /// The source of its rows.
    pub feed: FeedNode,
}
