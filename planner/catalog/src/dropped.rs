//! Removes dropped data in the background. DROP, TRUNCATE and rewrites record storage ids as rows of the catalog, in
//! the same transaction. Their rows are removed once no snapshot can reach them. The values of restarted sequences are
//! removed likewise.

use super::store::{parse, scan_all};
use super::{CatalogStore, StorageId, keys};
use sql_error::Result;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use storage::Timestamp;
use txn::{LockStrength, OwnWrites, TransactionOptions, TxnError, Write, WriteKind};

/// Interval between two passes of the background task.
const REST: Duration = Duration::from_secs(10);

/// Number of cached sequences that one pass checks for existence.
const SEQUENCES_AT_A_TIME: usize = 256;

impl CatalogStore {
    /// Makes one pass over the dropped storage ids and answers how many were removed. `seen` keeps, from pass to pass,
    /// a snapshot at which each was found dropped. Errors: those of the store; the next pass tries again.
    pub async fn remove_dropped(&self, seen: &mut HashMap<StorageId, Timestamp>) -> Result<usize> {
        let transactions = self.transactions();
        let reader = transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
        let snapshot = reader.snapshot_ts().await?;
        let rows = scan_all(&reader, keys::all_dropped()).await?;
        reader.rollback().await;
        drop(reader);
        let mut gone = 0;
        for (key, value) in rows {
            let storage_id: StorageId = parse(&value)?;
            // The drop was committed at or before the snapshot that contains it.
            let since = *seen.entry(storage_id).or_insert(snapshot);
            if !transactions.remove_range(keys::rows_of(storage_id), since).await? {
                continue;
            }
            let transaction = transactions.begin(TransactionOptions::default());
            let delete = |key| Write { key, kind: WriteKind::Delete, strength: LockStrength::Update };
            let mut writes = vec![delete(key)];
            let sequence = keys::sequence(storage_id);
            if transaction.get(&sequence, OwnWrites::All).await?.is_some() {
                writes.push(delete(sequence));
            }
            transaction.write(writes).await?;
            match transaction.commit().await {
                Ok(_) => {
                    seen.remove(&storage_id);
                    gone += 1;
                }
                // Another node removed it too.
                Err(TxnError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(gone)
    }

    /// Runs [`CatalogStore::remove_dropped`] periodically in the background, until the store is closed.
    pub fn start_cleaner(self: &Arc<Self>) {
        let (store, env) = (Arc::downgrade(self), Arc::clone(self.env()));
        let task = async move {
            let mut seen = HashMap::new();
            let mut sequences = StorageId::default();
            loop {
                let rest = match store.upgrade() {
                    Some(store) => store.env().sleep(REST),
                    None => return,
                };
                rest.await;
                let Some(store) = store.upgrade() else { return };
                match store.sequences().forget_removed(sequences, SEQUENCES_AT_A_TIME).await {
                    Ok(next) => sequences = next,
                    Err(error) => tracing::warn!(%error, "looking for dropped sequences failed; it is tried again"),
                }
                if store.nodes().is_some_and(|nodes| !nodes.is_first()) {
                    // Another node does it.
                    continue;
                }
                if let Err(error) = store.remove_dropped(&mut seen).await {
                    tracing::warn!(%error, "removing dropped tables failed; it is tried again");
                }
            }
        };
        env.spawn("catalog cleaner", Box::pin(task));
    }
}
