//! [`BigtableStore`]: the contract over Google Cloud Bigtable. Any number of nodes share one table, and none of our
//! code runs in the store.
//!
//! - [`address`]: `bigtable://PROJECT/INSTANCE/TABLE`; [`schema`]: the table and its families.
//! - `client`, `retry`: connections, credentials, deadlines, repetitions; `calls` counts.
//! - `proto`: translates the contract to google.bigtable.v2; `limits`: what Bigtable refuses.
//! - `read`, `merge`: streams of rows; `write`: changes; `tablets`: sampled row keys.
//!
//! Limits: no atomic commit across rows, no snapshot and no reverse scan. The layers above change one row at a time.

pub mod address;
pub mod calls;
mod client;
#[cfg(test)]
mod fault_tests;
mod limits;
mod merge;
mod proto;
mod read;
mod retry;
pub mod schema;
mod tablets;
#[cfg(test)]
mod tests;
mod write;

pub use address::BigtableAddress;
pub use calls::CallCounts;
pub use client::BigtableOptions;
pub use schema::{Initialized, init_store};

use crate::contract::{
    AtomicCommit, Condition, Mutation, ReadFilter, Row, RowMutation, RowRange, ScanOptions, Store, TabletInfo,
};
use crate::env::{BoxFuture, EnvRef};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use client::Client;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use read::{RowStream, Wanted};
use std::sync::Arc;

/// The named value that tells which program wrote the table.
const FORMAT_NAME: &str = "format";
/// The format that this version reads and writes.
const FORMAT: &[u8] = b"percosql 2";
/// Approximate bytes of values in one batch of a scan, whatever the number of rows.
const BATCH_BYTES: usize = 4 << 20;
/// Concurrent `ReadRows` calls of one request.
const READS_AT_A_TIME: usize = 8;

/// A store in a Bigtable table. See the module documentation.
pub struct BigtableStore {
    client: Arc<Client>,
    samples: tablets::Samples,
}

impl BigtableStore {
    /// Opens a table that [`init_store`] made. Must run within a tokio runtime, which carries the connections.
    /// Errors: no credentials; no such table; a foreign table; a table with rules of garbage collection.
    pub async fn open(address: BigtableAddress, options: BigtableOptions, env: EnvRef) -> Result<Arc<BigtableStore>> {
        let client = Client::new(address, options, env).await?;
        schema::check(&client).await?;
        let store = BigtableStore { client, samples: tablets::Samples::default() };
        let mut format = store.get_meta(FORMAT_NAME).await?;
        if format.is_none() && store.has_rows().await? {
            // Another node may have started meanwhile. A node writes the format before anything else.
            format = store.get_meta(FORMAT_NAME).await?;
            if format.is_none() {
                return Err(StoreError::Format(format!("{} holds rows of something else", store.client.address)));
            }
        }
        match format {
            Some(format) if format == FORMAT => {}
            Some(format) => {
                let format = String::from_utf8_lossy(&format).into_owned();
                return Err(StoreError::Format(format!("{} was written by {format:?}", store.client.address)));
            }
            None => store.put_meta(FORMAT_NAME, Bytes::from_static(FORMAT)).await?,
        }
        Ok(Arc::new(store))
    }

    /// Whether the table has any row.
    async fn has_rows(&self) -> Result<bool> {
        let all = Wanted::Range(Bytes::new(), Bytes::from_static(&[0xff]));
        let mut rows = RowStream::new(self.client.clone(), all, proto::keys_only(), Some(1));
        Ok(rows.next().await?.is_some())
    }

    /// The number of calls since the store was opened.
    pub fn calls(&self) -> CallCounts {
        self.client.calls.counts()
    }

    async fn read_keys(&self, keys: &[Bytes], filter: bt::RowFilter) -> Result<Vec<Row>> {
        for key in keys {
            limits::check_key(key)?;
        }
        let mut sorted: Vec<Bytes> = keys.iter().map(|key| proto::row_key(key)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let calls = read::key_batches(sorted).into_iter().map(|batch| {
            let mut stream = RowStream::new(self.client.clone(), Wanted::Keys(batch), filter.clone(), None);
            async move {
                let mut rows = Vec::new();
                while let Some(row) = stream.next().await? {
                    rows.extend(row.into_row());
                }
                Ok::<_, StoreError>(rows)
            }
        });
        let rows: Vec<Vec<Row>> = stream::iter(calls).buffered(READS_AT_A_TIME).try_collect().await?;
        let rows: Vec<Row> = rows.into_iter().flatten().collect();
        // In the order of the requested keys. A key that occurs twice gets its row twice.
        let row = |key: &Bytes| rows.binary_search_by(|row| row.key.cmp(key)).ok().and_then(|at| rows.get(at)).cloned();
        Ok(keys.iter().filter_map(row).collect())
    }
}

/// Reads the next batch of a scan.
async fn next_batch(rows: &mut RowStream, batch_rows: usize) -> Result<Vec<Row>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < batch_rows && bytes < BATCH_BYTES {
        let Some(row) = rows.next().await? else { break };
        bytes += row.cells.iter().map(|cell| cell.value.len()).sum::<usize>();
        batch.extend(row.into_row());
    }
    Ok(batch)
}

impl Store for BigtableStore {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        async move {
            match proto::read_filter(filter)? {
                Some(filter) if !keys.is_empty() => self.read_keys(keys, filter).await,
                _ => Ok(Vec::new()),
            }
        }
        .boxed()
    }

    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        let filter = match proto::read_filter(&filter) {
            Ok(_) if options.reverse => Err(StoreError::Unsupported("reverse scans".to_owned())),
            other => other,
        };
        let rows = match filter {
            Err(error) => return stream::once(async move { Err(error) }).boxed(),
            Ok(None) => return stream::empty().boxed(),
            Ok(Some(_)) if range.is_empty() => return stream::empty().boxed(),
            Ok(Some(filter)) => {
                let (start, end) = proto::bounds(&range);
                RowStream::new(self.client.clone(), Wanted::Range(start, end), filter, options.limit)
            }
        };
        stream::unfold(Some(rows), move |rows| async move {
            let mut rows = rows?;
            match next_batch(&mut rows, options.batch_rows.max(1)).await {
                Ok(batch) if batch.is_empty() => None,
                Ok(batch) => Some((Ok(batch), Some(rows))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }

    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        async move { write::check_and_mutate(&self.client, &key, &conditions, &mutations).await }.boxed()
    }

    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        write::mutate_rows(&self.client, rows).boxed()
    }

    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        async move { write::delete_range(&self.client, &range).await }.boxed()
    }

    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<TabletInfo>>> {
        self.samples.tablets(&self.client, range).boxed()
    }

    fn can_scan_reverse(&self) -> bool {
        false
    }

    fn atomic(&self) -> Option<&dyn AtomicCommit> {
        None
    }

    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>> {
        async move {
            let wanted = Wanted::Keys(vec![proto::name_key(name)]);
            let mut rows = RowStream::new(self.client.clone(), wanted, proto::named_value(), None);
            let row = rows.next().await?;
            Ok(row.and_then(|row| row.cells.into_iter().next()).map(|cell| cell.value))
        }
        .boxed()
    }

    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>> {
        async move {
            let set = Mutation::Set { family: crate::Family::Data, timestamp: Timestamp::ZERO, value };
            let entry = bt::mutate_rows_request::Entry {
                row_key: proto::name_key(name),
                mutations: proto::mutations(&[set]),
                idempotency: None,
            };
            write::mutate_entries(&self.client, vec![entry]).await
        }
        .boxed()
    }

    fn recovered_max_timestamp(&self) -> Timestamp {
        Timestamp::ZERO
    }

    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>> {
        self.samples.bytes(&self.client, range).boxed()
    }
}
