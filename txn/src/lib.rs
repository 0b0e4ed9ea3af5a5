//! Percolator transactions over the storage contract. Keys and values are bytes; SQL and types are in other crates.
//!
//! The paper is Peng and Dabek, "Large-scale Incremental Processing Using Distributed Transactions and Notifications"
//! (OSDI 2010). Its parts are here:
//!
//! | paper | here |
//! |---|---|
//! | section 2.2, Figure 6, `Set`: buffer until commit | [`Transaction`], `buffer`, `sorted_run` |
//! | section 2.2, `Get`: look for locks, read the newest write | `snapshot`, `scan`, `lock_resolution` |
//! | section 2.2, `Prewrite` | `prewrite` on one log, `parallel_prewrite` over rows, `pipelined_prewrite` before COMMIT |
//! | section 2.2, `Commit`, the primary decides | `commit`, `distributed_commit`, `rollback` |
//! | section 2.2, cleaning up after a failed client | `resolver`, `intents` |
//! | section 2.3, timestamps | [`Oracle`] |
//! | section 2.4, notifications | not built yet |
//!
//! # Columns
//!
//! A row has four families of cells (Figure 5 of the paper; `r` is split off from `w`):
//!
//! | cell | written by | says |
//! |---|---|---|
//! | `l@start_ts` | prewrite | [`lock::Lock`]: strength, kind, primary, the value when short |
//! | `d@start_ts` | prewrite | a long value |
//! | `w@commit_ts` | commit | [`write::WriteRecord`]: strength, kind, start_ts, the value when short |
//! | `r@commit_ts` | commit | the same for a key that was only locked or checked |
//! | `r@start_ts` | rollback | this transaction will never commit |
//!
//! The first byte of a lock or record is its [`LockStrength`]. So "does any cell here exclude me" is a range of
//! classes, which every engine can test.
//!
//! # Two timestamps
//!
//! A transaction reads at `snapshot_ts`. `start_ts` is its unique identity and the timestamp of its `l`, `d` and `r`
//! cells. Over rows the two are equal. On one log, many transactions share the published snapshot, and start_ts is
//! taken at the first prewrite; so start_ts > snapshot_ts.
//!
//! # The four paths of COMMIT
//!
//! | path | when | how |
//! |---|---|---|
//! | nothing | no writes, and nobody asked for the identity | the snapshot's timestamp |
//! | one phase | the engine commits across rows, and the transaction is small | one batch: conditions, then `w`, `r` stamped by the committer. No lock is ever written. |
//! | in bulk | the engine commits across rows and takes files in; the transaction is large and made no tables | keys are claimed, files made for a later commit_ts and taken in at it (`bulk_commit`). No lock is ever written. |
//! | two phases | large transactions that fit neither; engines that only change one row at a time | below |
//!
//! Over rows, a commit has these steps:
//!
//! 1. All locks in one parallel wave (`parallel_prewrite`).
//! 2. commit_ts.
//! 3. One read of the keys that had to stay unchanged, if there are any.
//! 4. The primary, by a condition on the exact lock (`distributed_commit`). This is the commit.
//! 5. The answer; the secondaries follow.
//!
//! That is two waves of calls, or three with keys that had to stay unchanged. Heartbeats write a later `expires_at`
//! into the primary's lock. They are over before the commit is sent.
//!
//! A reader that meets a live lock pushes it: it writes a `min_commit_ts` above its own snapshot into the primary's
//! lock, and reads beneath. It does so once per snapshot and owner. If others pushed before, it pushes further ahead,
//! so that many readers seldom disturb one owner. The readers of a node share what they learn. A commit that was
//! pushed ahead of the oracle is acknowledged when the oracle has caught up.
//!
//! A transaction whose buffer exceeds a limit writes the locks of what it spills at once (`pipelined_prewrite`). Their primary is
//! the row of its outcome, and heartbeats begin then. COMMIT writes only the locks that are missing or no longer say
//! what remains. A lock is never withdrawn, because a copy of its request may still be under way. It is changed once,
//! on condition of what it said.
//!
//! # Locks before COMMIT
//!
//! A transaction may lock rows as it finds them ([`Transaction::lock_rows`]). At [`Isolation::ReadCommitted`] each
//! statement has its own snapshot. These locks are in memory (`locks`, `row_locks`).
//!
//! # A timeline in two phases
//!
//! Bob has 10 and Joe has 2; T moves 7. Alice reads meanwhile, at 7.
//!
//! ```text
//!            T: snapshot_ts 5                     Bob                              Joe
//!            (a commit at 4 left)                 w@4 10                           w@4 2
//!  1  enter  start_ts 6; intent row (one log)     w@4 10                           w@4 2
//!  2  prewrite the primary                        w@4 10   l@6 3, primary=Bob      w@4 2
//!  3  prewrite the secondary                      w@4 10   l@6 3, primary=Bob      w@4 2   l@6 9, primary=Bob
//!     Alice at 7 meets l@6: pushes min_commit_ts to 8, or asks the intents; reads w@4
//!  4  commit_ts 9, after ALL locks
//!  5  commit the primary: this is the commit      w@9 3    (w@4 10)                w@4 2   l@6 9, primary=Bob
//!     acknowledged. A reader at 9 meets Joe's l@6, finds Bob's w@9 -> 6: sees 9, rolls Joe forward
//!  6  commit the secondary                        w@9 3                            w@9 9   (w@4 2)
//!  7  leave: the intent row goes
//! ```
//!
//! # Where it may crash
//!
//! | after step | what is left | who finishes it, how |
//! |---|---|---|
//! | 1 | an intent | the restart: removes it |
//! | 2, 3 | locks, no `w` at the primary | rolled back. One log: at restart, by the intent. Over rows: by whoever meets a lock past its time to live, at the primary first |
//! | 4 | the same | the same; the timestamp is lost, harmlessly |
//! | 5 | locks, and `w` at the primary | committed. Rolled forward at restart, or by whoever meets a lock |
//! | 6 | an intent without locks | the restart: removes it |
//!
//! Over rows, a node that lives loses no step either. If a commit's answer is lost, the node looks into the primary's
//! row. If the commit is not there, the node prevents it for ever. Only a store that does not answer leaves the outcome
//! undetermined; `outcome` tells it later.
//!
//! In one phase and in bulk there is nothing to finish: the batch or the files are there, or they are not.
//!
//! # Why it is right
//!
//! - commit_ts is taken when every lock is in place. So a reader at or above it meets a lock or the write.
//! - The primary's row changes atomically. So a transaction has one fate, whoever asks.
//! - An excluding write newer than its snapshot refuses a writer. So no update is lost.
//! - On one log the committer validates, stamps and publishes in one order. So a published snapshot misses nothing.
//! - `tests::explorer` runs this code in every order of its steps, with crashes.

pub(crate) mod aged;
mod backoff;
pub(crate) mod buffer;
mod buffer_memory;
mod buffer_merge;
mod bulk;
mod bulk_commit;
mod cas_cell;
pub(crate) mod commit;
mod commit_dependency;
mod commit_memory;
pub(crate) mod concurrency_limiter;
pub mod data;
pub(crate) mod distributed_commit;
pub mod error;
pub mod failpoint;
pub(crate) mod gc;
pub(crate) mod gc_barriers;
pub(crate) mod gc_lease;
pub(crate) mod generator;
pub(crate) mod heartbeat;
pub(crate) mod intents;
pub mod lock;
pub(crate) mod lock_resolution;
pub mod locks;
pub mod options;
pub mod oracle;
pub(crate) mod outcome;
pub mod pairs;
mod parallel_prewrite;
pub(crate) mod pipelined_prewrite;
pub(crate) mod prewrite;
pub mod put_batch;
pub(crate) mod read_set;
mod readers;
pub(crate) mod resolver;
pub(crate) mod rollback;
pub(crate) mod row_locks;
pub(crate) mod scan;
pub(crate) mod snapshot;
pub(crate) mod sorted_run;
pub mod stats;
pub mod store;
pub(crate) mod system;
pub mod transaction;
pub(crate) mod validate;
mod version_table;
pub mod write;

pub use buffer_memory::BufferMemory;
pub use bulk::{BulkWriter, Loaded};
pub use commit_memory::CommitMemory;
pub use error::{Conflict, ConflictKind, Result, TxnError};
pub use failpoint::{FailAction, FailPoints};
pub use lock::LockStrength;
pub use oracle::{Oracle, OracleNode, OracleReading, OracleRequest, OracleTransport};
pub use outcome::Outcome;
pub use pairs::Pairs;
pub use put_batch::Puts;
pub use row_locks::LockedRow;
pub use scan::TxnScanOptions;
pub use stats::TransactionStats;
pub use store::{TransactionStore, TransactionStoreOptions};
pub use transaction::*;

#[cfg(test)]
mod tests;
