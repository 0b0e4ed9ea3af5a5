//! [`RowStream`]: streams rows by keys or by range, over as many `ReadRows` calls as needed. If a stream breaks, the
//! next call begins behind the last whole row, so no row is lost or repeated.

use super::client::Client;
use super::limits::{READ_KEY_BYTES, READ_KEYS};
use super::merge::{MergedRow, RowMerger};
use super::retry::{self, Verdict};
use crate::error::Result;
use bytes::{Bytes, BytesMut};
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tonic::{Status, Streaming};

/// The rows to read, by their Bigtable keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Rows with these keys, which are ascending and distinct.
    Keys(Vec<Bytes>),
    /// Rows from the first key up to, but without, the second.
    Range(Bytes, Bytes),
}

impl Wanted {
    /// Narrows the rows to those behind `last`.
    fn skip_to_after(&mut self, last: &[u8]) {
        match self {
            Wanted::Keys(keys) => keys.retain(|key| key[..] > *last),
            Wanted::Range(start, _) => {
                let mut next = BytesMut::with_capacity(last.len() + 1);
                next.extend_from_slice(last);
                next.extend_from_slice(&[0]);
                *start = next.freeze();
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Wanted::Keys(keys) => keys.is_empty(),
            Wanted::Range(start, end) => start >= end,
        }
    }

    fn row_set(&self) -> bt::RowSet {
        match self {
            Wanted::Keys(keys) => bt::RowSet { row_keys: keys.clone(), row_ranges: Vec::new() },
            Wanted::Range(start, end) => {
                let range = bt::RowRange {
                    start_key: Some(bt::row_range::StartKey::StartKeyClosed(start.clone())),
                    end_key: Some(bt::row_range::EndKey::EndKeyOpen(end.clone())),
                };
                bt::RowSet { row_keys: Vec::new(), row_ranges: vec![range] }
            }
        }
    }
}

/// Splits ascending distinct keys into requests of legal size.
pub fn key_batches(keys: Vec<Bytes>) -> Vec<Vec<Bytes>> {
    let mut batches: Vec<Vec<Bytes>> = Vec::new();
    let mut bytes = 0;
    for key in keys {
        bytes += key.len();
        match batches.last_mut().filter(|batch| batch.len() < READ_KEYS && bytes <= READ_KEY_BYTES) {
            Some(batch) => batch.push(key),
            None => {
                bytes = key.len();
                batches.push(vec![key]);
            }
        }
    }
    batches
}

/// A stream of rows. See the module documentation.
pub struct RowStream {
    client: Arc<Client>,
    wanted: Wanted,
    /// The last key seen. The rest of `wanted` lies behind it.
    last: Option<Bytes>,
    filter: bt::RowFilter,
    /// The number of rows still wanted. `None` for all.
    left: Option<usize>,
    stream: Option<Streaming<bt::ReadRowsResponse>>,
    merger: RowMerger,
    ready: VecDeque<MergedRow>,
    /// Failed attempts since the last received message.
    failures: u32,
    /// The deadline for the next message, by the monotonic clock.
    give_up: Duration,
}

impl RowStream {
    /// A stream of the wanted rows, which has not called Bigtable yet.
    pub fn new(client: Arc<Client>, wanted: Wanted, filter: bt::RowFilter, limit: Option<usize>) -> RowStream {
        RowStream {
            client,
            wanted,
            last: None,
            filter,
            left: limit,
            stream: None,
            merger: RowMerger::default(),
            ready: VecDeque::new(),
            failures: 0,
            give_up: Duration::ZERO,
        }
    }

    /// The next row. `None` at the end.
    pub async fn next(&mut self) -> Result<Option<MergedRow>> {
        // The time limit starts with each call of `next`, so a slow caller does not run into it.
        self.give_up = self.client.env.monotonic() + self.client.options.deadline;
        loop {
            if let Some(row) = self.ready.pop_front() {
                return Ok(Some(row));
            }
            if self.stream.is_none()
                && let Some(last) = self.last.take()
            {
                self.wanted.skip_to_after(&last);
            }
            if self.left == Some(0) || self.wanted.is_empty() {
                self.stream = None;
                return Ok(None);
            }
            match self.receive().await {
                Ok(Some(message)) => {
                    self.failures = 0;
                    self.take(message)?;
                }
                Ok(None) => {
                    self.merger.finish()?;
                    self.left = Some(0);
                }
                Err(status) => self.recover(status).await?,
            }
        }
    }

    /// The next message, from the current stream or from a new one.
    async fn receive(&mut self) -> std::result::Result<Option<bt::ReadRowsResponse>, Status> {
        // A filter that skips many rows stays silent for long, so each further attempt gets more time.
        let limit = self.client.options.attempt * (1 << self.failures.min(3));
        if self.stream.is_none() {
            let request = bt::ReadRowsRequest {
                table_name: self.client.address.table_name(),
                app_profile_id: self.client.address.app_profile.clone(),
                rows: Some(self.wanted.row_set()),
                filter: Some(self.filter.clone()),
                rows_limit: self.left.map_or(0, |left| i64::try_from(left).unwrap_or(0)),
                ..bt::ReadRowsRequest::default()
            };
            self.client.calls.read();
            let open = async { self.client.data().read_rows(self.client.request(request).await?).await };
            let stream = self.client.limited(limit, open).await?.into_inner();
            self.merger = RowMerger::default();
            self.stream = Some(stream);
        }
        let Some(stream) = &mut self.stream else { return Ok(None) };
        self.client.limited(limit, stream.message()).await
    }

    fn take(&mut self, message: bt::ReadRowsResponse) -> Result<()> {
        for chunk in message.chunks {
            if let Some(row) = self.merger.push(chunk)? {
                self.last = Some(row.row_key.clone());
                self.left = self.left.map(|left| left.saturating_sub(1));
                self.ready.push_back(row);
            }
        }
        // Rows that the filter skipped need not be scanned again.
        if !message.last_scanned_row_key.is_empty() {
            self.last = Some(message.last_scanned_row_key);
        }
        Ok(())
    }

    async fn recover(&mut self, status: Status) -> Result<()> {
        self.stream = None;
        self.failures += 1;
        let client = self.client.clone();
        let pause = retry::pause(self.failures, client.env.random());
        let refused = retry::verdict(&status) == Verdict::Refused;
        if refused || client.env.monotonic() + pause >= self.give_up {
            return Err(retry::store_error("reading rows", &status, false));
        }
        tracing::debug!(%status, failures = self.failures, "a reading of rows goes on behind the last one");
        client.calls.repeated();
        client.env.sleep(pause).await;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_goes_on_behind_the_last_row() {
        let keys = |texts: &[&'static str]| texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect();
        let mut wanted = Wanted::Keys(keys(&["a", "b", "c"]));
        wanted.skip_to_after(b"b");
        assert_eq!(wanted, Wanted::Keys(keys(&["c"])));
        let mut range = Wanted::Range(Bytes::from_static(b"a"), Bytes::from_static(b"b\0"));
        range.skip_to_after(b"a");
        assert_eq!(range, Wanted::Range(Bytes::from_static(b"a\0"), Bytes::from_static(b"b\0")));
        assert!(!range.is_empty());
        range.skip_to_after(b"b");
        assert!(range.is_empty());
    }

    #[test]
    fn keys_are_cut_into_requests_that_fit() {
        let keys: Vec<Bytes> = (0..READ_KEYS as u32 + 1).map(|key| Bytes::from(key.to_be_bytes().to_vec())).collect();
        assert_eq!(key_batches(keys.clone()).iter().map(Vec::len).collect::<Vec<_>>(), [READ_KEYS, 1]);
        let long: Vec<Bytes> =
            (0..300).map(|key: u32| [vec![1; 4000], key.to_be_bytes().to_vec()].concat().into()).collect();
        let cut = key_batches(long.clone());
        assert!(cut.len() > 1 && cut.iter().all(|batch| batch.iter().map(Bytes::len).sum::<usize>() <= READ_KEY_BYTES));
        assert_eq!(cut.concat(), long);
    }
}
