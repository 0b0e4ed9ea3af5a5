//! From syntax trees to typed logical plans, by PostgreSQL's rules.
//!
//! Names are looked up in the catalog and in scopes, types resolved by `functions::Resolver`, and DataFusion's
//! `LogicalPlan` is what comes out. Every relation gets a qualifier and every computed column a name that is unique in
//! the statement; the names a client sees stand beside the plan.

mod aggregate;
mod aggregate_call;
mod assignment;
mod binder;
mod call;
mod clauses;
mod collation;
mod column_name;
mod comparison;
mod computed_once;
mod conflict;
mod current_of;
mod delete;
mod distinct;
mod element;
mod expression;
mod frame;
mod from;
mod grouping;
mod grouping_sets;
mod guarded_beneath;
mod hypothetical;
mod insert;
mod join;
mod lateral;
mod literal;
mod lock;
mod mention;
mod merge;
mod missing;
mod named;
mod niladic;
pub mod nullable;
mod order;
mod outer_aggregate;
mod place;
mod postponed;
mod privilege;
mod pushed_lock;
mod query;
mod record;
mod recursion;
mod returning;
mod row_function;
mod sample;
mod scope;
mod search;
mod select;
mod set_operation;
mod spared;
mod special;
mod subquery;
mod system_column;
mod table_arguments;
pub mod table_expression;
mod target;
mod ties;
pub mod type_name;
mod updatable;
mod update;
mod values;
pub mod variadic;
mod view;
mod view_function;
pub mod volatile;
mod window;
mod with;
mod writing_with;

pub use crate::catalog::acl::role_below;
pub use binder::{bind, bind_parameter_values, span_of};
pub use collation::{check_collatable, collation_named};
pub use column_name::column_name as output_name;
pub use comparison::{row_items, unmarked};
pub use current_of::ROW_KEY;
pub use distinct::SINGLE_VALUE;
pub use grouping::called;
pub use literal::interval_type;
pub use privilege::denies_schema;
pub use row_function::is_row_function;
pub use special::all_of;
pub use special::field_name;
pub use subquery::is_ungrouped_aggregate;
pub use system_column::{SYSTEM_COLUMNS, has_system_columns};
pub use table_expression::{
    TableExpression, bind_computed, bind_constant, bind_default, bind_generated, bind_index, bind_stored,
    bind_table_expression, canonical_text, cast_to, is_immutable,
};
pub use type_name::{catalog_type, sql_type};
pub use updatable::{Level, NO_COLUMNS, events, level};
pub use view::{BoundView, bind_stored_view, bind_view, the_query, view_statement};
pub use writing_with::Part;

use crate::catalog::{Catalog, TableDescriptor};
use crate::execution::Slots;
use crate::session::OutputColumn;
use crate::settings::Settings;
use crate::types::SqlType;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use std::sync::Arc;

/// What a statement is bound against.
#[derive(Clone, Copy)]
pub struct BindContext<'a> {
    /// The catalog as the transaction sees it.
    pub catalog: &'a Arc<Catalog>,
    /// Settings: search_path, TimeZone.
    pub settings: &'a Settings,
    /// Slots of the plan instance that is being made: functions keep them.
    pub slots: &'a Arc<Slots>,
    /// Parameter types that the client gave; None or missing ones are inferred.
    pub parameters: &'a [Option<SqlType>],
    /// Start of the transaction: the meaning of `'now'` as a constant.
    pub now: i64,
    /// The source of a table: live columns by name, then the row key.
    pub table_source: &'a dyn Fn(Arc<TableDescriptor>) -> Arc<dyn TableSource>,
}

/// A bound statement.
#[derive(Debug)]
pub struct Bound {
    /// What it does.
    pub kind: BoundKind,
    /// Types of `$1`, `$2`, ….
    pub parameters: Vec<SqlType>,
    /// Data-modifying WITH queries.
    pub parts: Vec<Part>,
    /// Whether two of them, the statement itself counted, write one table.
    pub overlapping: bool,
    /// The relations it reads or writes, each once.
    pub relations: Vec<Arc<TableDescriptor>>,
}

/// What a bound statement does.
#[derive(Debug)]
pub enum BoundKind {
    /// Returns rows.
    Query {
        /// The plan; its columns are `columns`, in order.
        plan: LogicalPlan,
        /// What the client sees.
        columns: Vec<OutputColumn>,
        /// Whether it locks rows (FOR UPDATE and its kin): not in a READ ONLY transaction.
        locks: bool,
    },
    /// Writes rows of a table.
    Dml {
        /// The plan: one row `count`, or the rows of RETURNING.
        plan: LogicalPlan,
        /// RETURNING.
        columns: Option<Vec<OutputColumn>>,
        /// Which statement.
        verb: Verb,
        /// The table written; None where only WITH writes.
        table: Option<Arc<TableDescriptor>>,
    },
}

/// A writing statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Verb {
    Insert,
    Update,
    Delete,
    Merge,
    /// A query whose WITH writes.
    Select,
}

impl Verb {
    /// The command tag for so many rows.
    pub fn tag(self, count: u64) -> String {
        match self {
            Verb::Insert => format!("INSERT 0 {count}"),
            Verb::Update => format!("UPDATE {count}"),
            Verb::Delete => format!("DELETE {count}"),
            Verb::Merge => format!("MERGE {count}"),
            Verb::Select => format!("SELECT {count}"),
        }
    }
    /// The first word of the tag.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Insert => "INSERT",
            Verb::Update => "UPDATE",
            Verb::Delete => "DELETE",
            Verb::Merge => "MERGE",
            Verb::Select => "SELECT",
        }
    }
}

/// What names begin with that are no user's.
pub const INTERNAL: char = '\u{1}';
/// Name of the hidden last column of a table's scan: the row key.
pub const KEY_COLUMN: &str = "\u{1}key";

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
