//! [`Database`]: what all sessions of a server share: the transactional store, the catalog's store, finished plans.

use super::startup::RoleLogin;
use crate::error::Result;
use std::sync::Arc;
use storage::env::EnvRef;
use txn::TransactionStore;

/// One per server.
pub struct Database {
    transactions: Arc<TransactionStore>,
    env: EnvRef,
}

#[allow(unused_variables, clippy::unimplemented)]
impl Database {
    /// Opens the catalog, creating it in an empty store.
    pub async fn open(transactions: Arc<TransactionStore>, env: EnvRef) -> Result<Arc<Database>> {
        unimplemented!()
    }
    /// How `user` logs in; `None` when there is no such role.
    pub async fn authentication(&self, user: &str) -> Result<Option<RoleLogin>> {
        unimplemented!()
    }
    /// Whether any role has a password: then nobody is trusted.
    pub async fn any_password(&self) -> Result<bool> {
        unimplemented!()
    }
    /// The transactional store.
    pub fn transactions(&self) -> &Arc<TransactionStore> {
        &self.transactions
    }
    /// Time and randomness.
    pub fn env(&self) -> &EnvRef {
        &self.env
    }
}
