//! [`Session`]: a client's conversation below the wire: settings, transaction, statements.
//!
//! `server` talks to this module alone. It must not know messages, sockets or value formats: rows leave as Arrow
//! batches in the form of `types`, parameters come in as [`Datum`](crate::types::Datum).

pub mod cancel;
pub mod copy;
pub mod database;
pub mod outcome;
pub mod prepared;
pub mod settings;
pub mod shared;
pub mod startup;
pub mod statement;

pub use cancel::CancelToken;
pub use copy::{CopyChunk, CopyFormat, CopyIn, CopyOut};
pub use database::Database;
pub use outcome::{Notice, Outcome, OutputColumn, RowsTag, TransactionStatus};
pub use prepared::Prepared;
pub use startup::{RoleLogin, Startup};
pub use statement::Statement;

use crate::catalog::Catalog;
use crate::error::Result;
use crate::types::{Datum, Oid};
use settings::Settings;
use std::sync::Arc;

/// One client's conversation. Everything it does to data happens in its transaction: an explicit block, or an implicit
/// one that the server ends with [`Session::end_implicit`].
pub struct Session {
    database: Arc<Database>,
}

#[allow(unused_variables, clippy::unimplemented)]
impl Session {
    /// Begins a conversation. Errors: 3D000 for an unknown database, 28000 for an unknown role or one that may not log
    /// in, 22023 and the like for bad start-up options.
    pub async fn start(database: Arc<Database>, startup: Startup) -> Result<Session> {
        unimplemented!()
    }
    /// The server's database set.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }
    /// Splits and parses a query string. Empty for an empty query.
    pub fn parse(&self, sql: &str) -> Result<Vec<Arc<Statement>>> {
        unimplemented!()
    }
    /// Determines a statement's parameters and columns. `parameter_oids` are the types the client gave; 0 or a missing
    /// one is inferred. May begin an implicit transaction: it reads the catalog.
    pub async fn prepare(&mut self, statement: Arc<Statement>, parameter_oids: &[Oid]) -> Result<Arc<Prepared>> {
        unimplemented!()
    }
    /// Runs a statement up to its first row. Rows stream out of the outcome, which borrows nothing from the session, so
    /// several portals can be open. After an error call [`Session::fail`].
    pub async fn execute(&mut self, prepared: &Arc<Prepared>, parameters: Vec<Datum>) -> Result<Outcome> {
        unimplemented!()
    }
    /// What ReadyForQuery says.
    pub fn status(&self) -> TransactionStatus {
        unimplemented!()
    }
    /// Commits the implicit transaction, when there is one: at Sync, and at the end of a simple query. An error (40001)
    /// means that nothing was kept.
    pub async fn end_implicit(&mut self) -> Result<()> {
        unimplemented!()
    }
    /// To be called after an error was reported, also one that came out of a row stream: rolls an implicit transaction
    /// back, marks a block failed.
    pub async fn fail(&mut self) {
        unimplemented!()
    }
    /// Notices since the last call, to be sent before the command's completion.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        unimplemented!()
    }
    /// Settings whose values changed since the last call, for ParameterStatus. The first call answers all that are reported.
    pub fn take_parameter_changes(&mut self) -> Vec<(String, String)> {
        unimplemented!()
    }
    /// Settings as they are now.
    pub fn settings(&self) -> Arc<Settings> {
        unimplemented!()
    }
    /// The catalog as last seen by a statement (names of regclass values); `None` before the first.
    pub fn catalog(&self) -> Option<Arc<Catalog>> {
        unimplemented!()
    }
    /// `now()` of the transaction under way, or of the next one: microseconds since the Unix epoch.
    pub fn transaction_time(&self) -> i64 {
        unimplemented!()
    }
    /// Ends the conversation: rolls back what is open.
    pub async fn close(&mut self) {
        unimplemented!()
    }
}
