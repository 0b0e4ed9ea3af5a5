//! Definitions among several sessions and servers.

mod concurrent;
mod concurrent_level;
mod nodes;
mod online;
