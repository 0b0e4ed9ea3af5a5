//! Locks held in memory, by the transactions and sessions of one process: rows that are locked until their transaction ends,
//! and whatever else is locked by name. Where one log holds every row, one process has them all, so a lock need not
//! outlive it.
//!
//! Who commits without having locked what it writes (a transaction at snapshot level) passes a gate: while nobody holds row
//! locks it goes on at once, else it takes the locks of its writes for as long as the commit lasts. A row lock waits for the
//! commits that did not look and write that row, as it would for their locks. So what is read after a lock was granted is what all
//! who held it before have left, and nobody else changes it until the lock is given back (`unlooking` proves it).
//!
//! A transaction that locks many rows gives most of them to `spilled`, which keeps them on disk.
//!
//! Where several nodes share a store, the one that is the oracle keeps the locks of all (`keeper`), and the others ask it (`agent`).
//! There the gate is what the oracle tells with each timestamp ([`crate::OracleReading::locked`]).
//!
//! Names are digests; tags are bytes for others to read.

mod agent;
mod call;
mod held_counts;
mod history;
mod keeper;
mod kept;
mod locker;
mod mode;
mod registry;
mod spilled;
#[cfg(test)]
mod spilled_tests;
mod table;
#[cfg(test)]
mod tests;
mod unlooking;

pub(crate) use agent::LockAgent;
pub use call::{AcquireCall, GivenBack, HeldLock, LockCall, LockReply, LockRequest, SeenLocks, Taken, WantedLock};
pub use history::{EndedWait, LockEvent, WaitEnd};
pub(crate) use keeper::LockKeeper;
pub(crate) use locker::Acquired;
pub use locker::Locker;
pub use mode::{LockMode, LockName, ROW};
pub(crate) use table::UnlookingCommit;
pub use table::{CircleMember, LONG_WAIT, LockFailure, LockTable, LockWait, NamedLock, WaitingLock};
