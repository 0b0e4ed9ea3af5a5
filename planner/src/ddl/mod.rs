//! Data definition: CREATE, ALTER, DROP, TRUNCATE. Everything is written through the statement's
//! transaction, so that it commits and rolls back with it.

use crate::catalog::{Catalog, CatalogStore, HeldLocks};
use crate::error::{Result, SqlError};
use crate::session::settings::Settings;
use crate::session::shared::SessionShared;
use crate::types::Oid;
use sqlparser::ast::Statement;
use std::sync::Arc;
use txn::Transaction;

/// What a DDL statement works with.
pub struct DdlContext {
    /// The stored catalog.
    pub store: Arc<CatalogStore>,
    /// The transaction it is part of.
    pub transaction: Arc<Transaction>,
    /// The catalog as the transaction sees it before the statement.
    pub catalog: Arc<Catalog>,
    /// The transaction's metadata locks.
    pub locks: Arc<HeldLocks>,
    /// Settings: search_path, lock_timeout.
    pub settings: Arc<Settings>,
    /// User, notices.
    pub session: Arc<SessionShared>,
    /// The role that becomes owner.
    pub user: Oid,
}

/// Runs a DDL statement; the answer is its command tag. The caller advances the command number
/// and reads the catalog anew afterwards.
pub async fn execute(_context: &DdlContext, statement: &Statement) -> Result<String> {
    Err(SqlError::unsupported(statement))
}
