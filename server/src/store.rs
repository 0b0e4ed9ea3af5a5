//! [`OpenStore`]: the engine that a configuration names, opened, with transactions over it.

use crate::config::{Config, StoreKind};
use std::sync::Arc;
use storage::EnvRef;
use txn::TransactionStore;

/// An open store.
pub struct OpenStore {
    /// Transactions over it.
    pub transactions: Arc<TransactionStore>,
    /// Time, randomness, background work.
    pub env: EnvRef,
}

/// Opens the store. Errors are sentences for a person.
pub async fn open(config: &Config) -> Result<OpenStore, String> {
    let StoreKind::Embedded = config.store;
    Err("the embedded store is not there yet".to_string())
}

impl OpenStore {
    /// Resolves with a reason when the store cannot go on.
    pub async fn failed(&self) -> String {
        std::future::pending().await
    }

    /// Closes it in order.
    pub async fn close(self) {}
}
