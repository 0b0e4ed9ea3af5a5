//! Values in the protocol: result columns and parameters, in text and in PostgreSQL's binary format. `planner::types`
//! defines the text forms.

pub mod binary;
pub mod encode;
pub mod parameters;
