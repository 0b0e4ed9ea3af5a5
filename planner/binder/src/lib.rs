//! Binds syntax trees to typed logical plans, by PostgreSQL's rules.
//!
//! Names are looked up in the catalog and in scopes. `functions::Resolver` resolves types. The result is DataFusion's
//! `LogicalPlan`. Every relation gets a unique qualifier, and every computed column a unique name. The names that a
//! client sees are kept beside the plan.

mod aggregate;
mod aggregate_call;
mod assignment;
mod binder;
pub mod binding;
mod call;
pub mod canonical;
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
mod hypothetical;
mod insert;
mod join;
mod lateral;
mod literal;
mod lock;
mod merge;
mod name_suggestions;
mod named;
mod niladic;
mod short_circuit_projection;
mod ungrouped_column;
use executor::nullable;
mod aggregate_filter_guard;
mod deferred_projection;
mod error_position;
mod order;
mod outer_aggregate;
mod privilege;
mod pushed_lock;
mod query;
mod record;
mod recursion;
mod returning;
mod row_function;
mod sample;
mod scope;
mod search_cycle;
mod select;
mod set_operation;
mod special;
mod stored_text;
mod subquery;
mod system_column;
mod table_arguments;
pub mod table_expression;
mod target;
pub mod type_name;
mod updatable;
mod update;
mod values;
pub mod variadic;
mod view;
mod view_function;
mod with_ties;
use executor::volatile;
mod window;
mod with;
mod writing_with;

pub use binder::{bind, bind_parameter_values};
pub use binding::with_binding;
pub use catalog::acl::role_below;
pub use collation::{check_collatable, collation_named};
pub use column_name::column_name as output_name;
pub use current_of::Identified;
pub use distinct::SINGLE_VALUE;
pub use privilege::denies_schema;
pub use row_function::is_row_function;
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

use catalog::{Catalog, TableDescriptor};
use context::output_column::OutputColumn;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use executor::Slots;
use settings::Settings;
use std::sync::Arc;
use types::SqlType;

/// The context in which a statement is bound.
#[derive(Clone, Copy)]
pub struct BindContext<'a> {
    /// The catalog as the transaction sees it.
    pub catalog: &'a Arc<Catalog>,
    /// Settings such as search_path and TimeZone.
    pub settings: &'a Settings,
    /// Slots of the plan instance that is being made. Functions keep a reference to them.
    pub slots: &'a Arc<Slots>,
    /// Parameter types that the client gave. `None` or missing types are inferred.
    pub parameters: &'a [Option<SqlType>],
    /// Start of the transaction, which determines constants such as `'now'`.
    pub now: i64,
    /// The tables whose rows the plan identifies by further columns: those of a cursor's query.
    pub identified: Option<Identified<'a>>,
    /// Makes the source of a table: its live columns by name, then the row key.
    pub table_source: &'a dyn Fn(Arc<TableDescriptor>) -> Arc<dyn TableSource>,
}

/// A bound statement with its plans.
#[derive(Debug)]
pub struct Bound {
    /// The effect of the statement, with its plan.
    pub kind: BoundKind,
    /// Types of the parameters `$1`, `$2`, ….
    pub parameters: Vec<SqlType>,
    /// Data-modifying WITH queries, in order.
    pub parts: Vec<Part>,
    /// Whether two parts, including the statement itself, write the same table.
    pub overlapping: bool,
    /// The distinct relations that it reads or writes.
    pub relations: Vec<Arc<TableDescriptor>>,
}

/// The effect of a bound statement.
#[derive(Debug)]
pub enum BoundKind {
    /// It returns rows without writing.
    Query {
        /// The plan, whose columns are `columns`, in order.
        plan: LogicalPlan,
        /// The columns that the client sees.
        columns: Vec<OutputColumn>,
        /// Whether it locks rows (FOR UPDATE and similar), which a READ ONLY transaction rejects.
        locks: bool,
    },
    /// It writes rows of a table.
    Dml {
        /// The plan. It returns one row `count`, or the rows of RETURNING.
        plan: LogicalPlan,
        /// The columns of RETURNING, if any.
        columns: Option<Vec<OutputColumn>>,
        /// The kind of statement.
        verb: Verb,
        /// The written table. `None` if only WITH writes.
        table: Option<Arc<TableDescriptor>>,
    },
}

/// The kind of a writing statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Verb {
    Insert,
    Update,
    Delete,
    Merge,
    /// A SELECT whose WITH queries write.
    Select,
}

impl Verb {
    /// The command tag for a number of rows.
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

pub use executor::expression_text::INTERNAL;
/// Name of the hidden last column of a table's scan: the row key.
pub const KEY_COLUMN: &str = "\0key";
