//! A store's secret for logins of unknown roles. The server derives its answers from it, so that a client cannot tell
//! whether a role exists. PostgreSQL keeps its `mock_authentication_nonce` in pg_control for this purpose. All servers
//! of a store share the secret.

use super::{CatalogStore, keys};
use crate::SqlError;
use crate::state;
use sql_error::Result;
use txn::{LockStrength, OwnWrites, TransactionOptions, TxnError, Write, WriteKind};

/// Length of the secret in bytes.
pub const LOGIN_SECRET_BYTES: usize = 32;

impl CatalogStore {
    /// The secret. The first call on a new store draws it at random.
    pub async fn login_secret(&self) -> Result<[u8; LOGIN_SECRET_BYTES]> {
        loop {
            let transaction = self.transactions().begin(TransactionOptions::default());
            if let Some(value) = transaction.get(&keys::login_secret(), OwnWrites::All).await? {
                transaction.rollback().await;
                return value.as_ref().try_into().map_err(|_| {
                    SqlError::new(state::DATA_CORRUPTED, format!("the login secret has {} bytes", value.len()))
                });
            }
            let mut drawn = [0; LOGIN_SECRET_BYTES];
            for part in drawn.chunks_mut(8) {
                part.copy_from_slice(&self.env().random().to_be_bytes());
            }
            let kind = WriteKind::Put(drawn.to_vec().into());
            transaction.write(vec![Write { key: keys::login_secret(), kind, strength: LockStrength::Update }]).await?;
            match transaction.commit().await {
                Ok(_) => return Ok(drawn),
                // Another server drew one at the same time.
                Err(TxnError::Conflict(_)) => continue,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
