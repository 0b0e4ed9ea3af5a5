//! `percosql`: the server. It implements PostgreSQL's protocol v3 and value formats; keys, locks and tablets belong to
//! the crates below.
//!
//! # The life of an INSERT
//!
//! `INSERT INTO t VALUES ($1, $2)` from a driver arrives as Parse, Bind, Describe, Execute and Sync.
//!
//! 1. [`listener`] accepted the socket and gave it a task on one of the [`reactor`]s; [`connection::startup`] negotiated TLS and the protocol
//!    version, [`connection::auth`] found out who it is, and `planner::session::Session` began.
//! 2. [`protocol::frontend`] cuts **Parse** off the input, every length checked. [`query::extended`] hands the
//!    text to the session: `planner::parse` and `planner::bind` make a typed DataFusion plan of it, by PostgreSQL's
//!    rules, and so determine the types of `$1` and `$2`. [`query::statements`] keeps it by name. `ParseComplete` goes to
//!    [`protocol::output`], which holds all replies until Sync, Flush or 64 KiB.
//! 3. **Bind** brings values. [`types::parameters`] turns each, text or binary, into the Arrow form of its type; they
//!    wait in a portal ([`query::portal`]).
//! 4. **Execute** runs it. The session begins an implicit transaction (`txn`: a snapshot and a buffer), puts
//!    parameters and transaction into the slots of a finished plan, and runs that. `planner::execution::dml`
//!    encodes the row and its index entries (`planner::encoding`) and writes them into the transaction's buffer.
//!    Nothing has reached the store. The answer, `INSERT 0 1`, waits in the output buffer.
//! 5. **Sync** ends the implicit transaction: `Transaction::commit`. `txn` prewrites and commits by Percolator's
//!    rules; on the embedded engine both collapse into one `commit_atomic`: the committer in `storage` validates every key
//!    against newer commits, stamps the cells with the commit timestamp, syncs them to the log and publishes them. The row
//!    now lives in the tablet that holds its key.
//! 6. Only then is the buffer flushed: `CommandComplete` and `ReadyForQuery` leave in one write. Had another
//!    transaction committed to the same key first, nothing of this batch would have been sent, and the server would run it
//!    again from its kept messages ([`query::retry`]).
//!
//! A simple query takes the same way without portals ([`query::simple`]); rows stream back batch by batch
//! ([`query::rows`]), COPY data goes through [`copy`].

pub mod allocator;
pub mod cli;
pub mod config;
pub mod connection;
pub mod copy;
pub mod data_directory;
pub mod error;
pub mod listener;
mod log_text;
mod memory_limit;
pub mod oracle;
pub mod protocol;
pub mod query;
pub mod reactor;
mod reserve;
mod runtime;
mod runtime_watchdog;
pub mod server;
pub mod store;
mod thread_time;
pub mod types;
mod waiting_room;
