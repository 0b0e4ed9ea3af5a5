//! `percosql`: the server. Speaks PostgreSQL's protocol v3; knows no keys, locks or tablets.
pub mod cli;
pub mod config;
pub mod connection;
pub mod copy;
pub mod error;
pub mod listener;
pub mod protocol;
pub mod query;
pub mod server;
pub mod store;
pub mod types;
