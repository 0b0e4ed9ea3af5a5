//! Values over the wire: result columns and parameters, as text and as PostgreSQL's binary format. The
//! text forms themselves are `planner::types`'.

pub mod binary;
pub mod encode;
pub mod parameters;
