//! Turns a bound logical plan into one that runs repeatedly.
//! 1. [`Engine::optimize`] applies DataFusion's rules. Parameters stay placeholders, so that filters reach the tables.
//! 2. [`parameter_binding`] replaces placeholders by functions that read slots.
//! 3. The physical plan is made once and becomes a [`PlanInstance`].
//! 4. A [`PreparedPlan`] pools instances. It fills the slots, runs the plan, and clears the slots.

mod above_joins;
mod alternative_keys;
mod beneath_apply;
mod careful_rule;
mod catalog_scans;
mod column_first;
mod constants;
pub mod correlated;
mod cross_joins;
mod empty_relations;
pub mod engine;
mod filter_barriers;
mod in_order;
pub mod instance;
mod interruptible_rule;
mod join_cost;
mod join_order;
mod kept_orders;
pub mod key_order;
mod lateral_join;
pub mod lookup_join;
mod met_orders;
mod optional_rule;
mod passed_columns;
pub mod prepared;
mod single_rows;
pub use executor::parameter_binding;
mod strict;
mod unsound_steps;
mod view_lookup;
mod written_orders;

pub use engine::{Engine, EngineOptions, NodePlanner, NodePlannerFactory};
pub use instance::PlanInstance;
pub use prepared::{Lease, PlanBuilder, PlanRows, PreparedPlan, Uses};
