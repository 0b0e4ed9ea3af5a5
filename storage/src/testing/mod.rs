//! What tests of this and the upper layers build on: an engine in memory, an environment under
//! control, the contract suite that every engine passes, and faults.

pub mod memory;
pub mod sim_env;

pub use memory::{MemoryOptions, MemoryStore};
pub use sim_env::SimEnv;
