//! Execution of plans: DataFusion's operators, and our own leaves and writers.

pub mod access_path;
pub mod apply;
pub mod batch_decoder;
pub mod binding;
pub mod bounds;
pub mod computed_indexes;
pub mod condition;
pub mod detached;
pub mod direct;
pub mod dml;
pub(crate) mod evaluation_order;
pub mod extension;
pub mod first_rows;
pub mod generate_series;
pub mod held_rows;
pub(crate) mod implication;
pub mod index_scan;
pub mod interrupt;
pub mod kept_columns;
pub mod key_join;
pub mod key_lookup;
pub mod key_tap;
pub(crate) mod known_orders;
pub mod lateral;
mod lazy_coalesce;
pub(crate) mod lazy_junction;
pub mod leaf;
pub mod limit;
pub mod limits;
pub mod lookup_join;
pub mod lookup_scan;
pub mod new_rows;
mod one_value;
pub mod outer;
pub mod output;
pub mod point_get;
mod projected;
pub mod projection;
pub mod range_reader;
pub mod recheck_rows;
pub mod returned;
pub mod shared_rows;
pub mod slot_function;
pub mod system_view;
pub mod table;
pub mod table_scan;
#[cfg(test)]
#[allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
pub mod testing;
pub mod value;
pub mod values;

pub use binding::with_binding;
pub use context::{Slots, StatementContext, slots, view_rows};
pub use output::KEY_COLUMN;
pub use table::{computed_source, table_source, view_source};
