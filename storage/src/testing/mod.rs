//! Test support for this and the upper layers: a memory engine, a simulated environment, the contract suite for
//! every engine, and faults.

pub mod contract;
pub mod delegate;
pub mod emulator;
pub mod faulty;
pub mod memory;
pub mod proxy;
pub mod sim_env;

use crate::timestamp::{Timestamp, TimestampSource};
use std::sync::atomic::{AtomicU64, Ordering};

pub use emulator::Emulator;
pub use faulty::{Faults, FaultyStore};
pub use memory::{MemoryOptions, MemoryStore};
pub use proxy::{Fault, Proxy};
pub use sim_env::SimEnv;

/// A source of timestamps for tests, which counts up by one.
#[derive(Debug)]
pub struct CountingTimestamps(AtomicU64);

impl CountingTimestamps {
    /// A source whose first timestamp is the one after `last`.
    pub fn after(last: Timestamp) -> CountingTimestamps {
        CountingTimestamps(AtomicU64::new(last.0 + 1))
    }

    /// Makes the next timestamp greater than `last`, as an oracle does when a store is opened.
    pub fn raise(&self, last: Timestamp) {
        self.0.fetch_max(last.0 + 1, Ordering::SeqCst);
    }
}

impl TimestampSource for CountingTimestamps {
    fn take(&self, count: u64) -> Timestamp {
        Timestamp(self.0.fetch_add(count, Ordering::SeqCst))
    }

    fn take_at(&self, at: Timestamp) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |next| (next <= at.0).then_some(at.0 + 1)).is_ok()
    }
}
