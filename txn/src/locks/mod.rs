//! Locks in memory: row locks until the end of a transaction, and locks on other names. On one log, one process has
//! all rows, so locks need not outlive the process.
//!
//! A transaction at snapshot level commits without having locked its rows. Its commit passes a gate. While nobody
//! holds row locks it proceeds at once. Otherwise it locks the rows it writes for the duration of the commit. A row
//! lock waits for commits under way that did not look and that write its row. So the lock's holder reads what all
//! earlier holders left, and nobody else changes the row until the lock is released (`unlooking` has the proof).
//!
//! A transaction that locks many rows moves most of these locks to `spilled`, which keeps them on disk.
//!
//! If several nodes share a store, the oracle's node keeps the locks of all (`keeper`), and the others ask it
//! (`agent`). There the gate is a flag that the oracle sends with each timestamp ([`crate::OracleReading::locked`]).
//!
//! Names are digests, and tags are bytes that describe them to people.

mod call;
mod held_counts;
mod history;
mod kept;
mod lock_client;
mod lock_server;
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

pub use call::{AcquireCall, GivenBack, HeldLock, LockCall, LockReply, LockRequest, SeenLocks, Taken, WantedLock};
pub use history::{EndedWait, LockEvent, WaitEnd};
pub(crate) use lock_client::LockAgent;
pub(crate) use lock_server::LockKeeper;
pub(crate) use locker::Acquired;
pub use locker::Locker;
pub use mode::{LockMode, LockName, ROW};
pub(crate) use table::UnlookingCommit;
pub use table::{CircleMember, LONG_WAIT, LockFailure, LockTable, LockWait, NamedLock, WaitingLock};
