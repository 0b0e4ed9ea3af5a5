//! Tests of the finished binary from outside. They use `percosql` through its command line and its socket, as a user
//! does. From `storage` they use only the test doubles around the server: Bigtable's emulator and the proxy that breaks
//! calls to it.

pub mod bigtable;
pub mod clients;
pub mod compat;
pub mod facts;
pub mod histories;
pub mod isolation;
pub mod ledgers;
pub mod postgres;
pub mod random;
pub mod raw;
pub mod server;
pub mod unsynced;

pub use bigtable::Bigtable;
pub use clients::{ClientOutput, pgbench, psql};
pub use postgres::Postgres;
pub use server::Server;
