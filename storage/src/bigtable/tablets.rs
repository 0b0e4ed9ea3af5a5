//! [`Samples`]: Bigtable's sampled row keys, cached for a while. Outdated samples cost nothing but balance, and a
//! call for every scan would double its round trips.

use super::client::Client;
use super::proto;
use crate::contract::{RowRange, TabletInfo};
use crate::error::{Result, StoreError};
use bytes::Bytes;
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// How long samples are cached.
const FRESH: Duration = Duration::from_secs(30);
/// The least size, in bytes, of a tablet that gets its own partition of a scan.
const TABLET_BYTES: u64 = 16 << 20;

/// Keys that divide the table, each with the number of bytes before it.
type Cuts = Arc<Vec<(Bytes, u64)>>;

/// The cached samples of a table.
#[derive(Default)]
pub struct Samples {
    latest: Mutex<Option<(Duration, Cuts)>>,
}

impl Samples {
    async fn cuts(&self, client: &Arc<Client>) -> Result<Cuts> {
        let now = client.env.monotonic();
        if let Some((taken, cuts)) = self.latest.lock().as_ref()
            && now.saturating_sub(*taken) < FRESH
        {
            return Ok(cuts.clone());
        }
        let request = bt::SampleRowKeysRequest {
            table_name: client.address.table_name(),
            app_profile_id: client.address.app_profile.clone(),
            ..bt::SampleRowKeysRequest::default()
        };
        client.calls.other();
        let sample = async |request| {
            let mut answers = client.data().sample_row_keys(request).await?.into_inner();
            let mut cuts = Vec::new();
            while let Some(answer) = answers.message().await? {
                // The last sample has no key: it stands for the table's end and its total size.
                cuts.push((answer.row_key, u64::try_from(answer.offset_bytes).unwrap_or(0)));
            }
            Ok(cuts)
        };
        let answer = client.call("sampling row keys", &request, sample).await;
        let sampled = answer.map_err(|error| match error {
            StoreError::Undetermined(text) => StoreError::Unavailable(text),
            other => other,
        })?;
        let cuts = Arc::new(of_rows(sampled.value));
        *self.latest.lock() = Some((client.env.monotonic(), cuts.clone()));
        Ok(cuts)
    }

    /// The tablets that overlap `range`.
    pub async fn tablets(&self, client: &Arc<Client>, range: &RowRange) -> Result<Vec<TabletInfo>> {
        let tablets = divide(&self.cuts(client).await?);
        Ok(tablets.into_iter().filter(|tablet| !tablet.range.intersect(range).is_empty()).collect())
    }

    /// The approximate bytes of `range`, by the samples inside it.
    pub async fn bytes(&self, client: &Arc<Client>, range: &RowRange) -> Result<u64> {
        let cuts = self.cuts(client).await?;
        let mut before = 0;
        let mut total = 0;
        for (key, bytes) in cuts.iter() {
            // The bytes between two samples count for the later key. An empty key is the table's end.
            if (!key.is_empty() && range.contains(key)) || (key.is_empty() && range.end.is_none()) {
                total += bytes.saturating_sub(before);
            }
            before = *bytes;
        }
        Ok(total)
    }
}

/// The samples as keys of our rows, ascending. An empty key stands for the end.
fn of_rows(sampled: Vec<(Bytes, u64)>) -> Vec<(Bytes, u64)> {
    let mut cuts = Vec::new();
    for (row_key, bytes) in sampled {
        match proto::key_of(&row_key) {
            Some(key) if !key.is_empty() => cuts.push((key, bytes)),
            _ if row_key.is_empty() => cuts.push((Bytes::new(), bytes)),
            _ => {}
        }
    }
    cuts
}

fn divide(cuts: &[(Bytes, u64)]) -> Vec<TabletInfo> {
    let mut tablets = Vec::new();
    let mut start = Bytes::new();
    let mut before = 0;
    let mut tablet = |start: &Bytes, end: Option<Bytes>, bytes| {
        // A tablet is identified by its first key.
        let id = u64::from(crc32c::crc32c(start));
        let range = RowRange { start: start.clone(), end };
        tablets.push(TabletInfo { id, range, bytes, reads: 0, writes: 0 });
    };
    for (key, bytes) in cuts {
        let size = bytes.saturating_sub(before);
        if !key.is_empty() && *key > start && size >= TABLET_BYTES {
            tablet(&start, Some(key.clone()), size);
            start = key.clone();
            before = *bytes;
        }
    }
    let all = cuts.last().map_or(0, |(_, bytes)| *bytes);
    tablet(&start, None, all.saturating_sub(before));
    tablets
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn sample(key: &'static str, megabytes: u64) -> (Bytes, u64) {
        (Bytes::from_static(key.as_bytes()), megabytes << 20)
    }

    #[test]
    fn tablets_are_divided_where_it_pays() {
        let cuts = of_rows(vec![
            sample("mark", 0),
            sample("ra", 1),
            sample("rb", 20),
            sample("rc", 21),
            sample("rd", 50),
            sample("", 70),
        ]);
        let tablets = divide(&cuts);
        let ends: Vec<Option<Bytes>> = tablets.iter().map(|tablet| tablet.range.end.clone()).collect();
        assert_eq!(ends, [Some(Bytes::from_static(b"b")), Some(Bytes::from_static(b"d")), None]);
        assert_eq!(tablets.iter().map(|tablet| tablet.bytes >> 20).collect::<Vec<_>>(), [20, 30, 20]);
        assert!(tablets.windows(2).all(|pair| pair[0].range.end.as_ref() == Some(&pair[1].range.start)));
        assert_eq!(divide(&[]).len(), 1);
    }
}
